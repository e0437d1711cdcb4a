"""Does what a killed run has left beside a file go with the next one, and nothing of a run that is alive?"""

import os
import signal
import subprocess
import sys

import pytest

from compactor.errors import OutputError
from compactor.files import atomic
from compactor.temporaries import swept

WRITE = """
import os, pathlib, signal, sys
from compactor.files import atomic
with atomic(pathlib.Path(sys.argv[1])) as file:
    file.write(b"new" * 1_000_000)
    print("writing", flush=True)
    signal.pause()
"""


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "chat.jsonl"
    path.write_bytes(b"old")
    return path


@pytest.fixture
def writer(path):
    with subprocess.Popen([sys.executable, "-c", WRITE, path], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "writing\n"
        yield process
        process.kill()


def killed(process):
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


def hidden(path):
    return [child for child in path.parent.iterdir() if child.name.startswith(".")]


def written(path, content=b"newer"):
    with atomic(path) as file:
        file.write(content)
    assert path.read_bytes() == content


def test_what_a_killed_run_left_goes_with_the_next(path, writer):
    killed(writer)
    assert len(hidden(path)) == 1
    written(path)
    assert hidden(path) == []


def test_it_goes_if_the_next_run_has_nothing_to_write(path, writer):
    killed(writer)
    swept(path)
    assert hidden(path) == []
    assert path.read_bytes() == b"old"


def test_a_run_that_is_alive_keeps_its_own(path, writer):
    for work in (written, swept):
        with pytest.raises(OutputError, match="another run is writing it"):
            work(path)
    assert len(hidden(path)) == 1
    assert path.read_bytes() == b"old"


def test_files_of_others_are_not_touched(path, writer):
    """Names like it, and that of a file whose first 48 characters are the same."""
    killed(writer)
    (mine,) = hidden(path)
    others = [path.with_name(name) for name in (f"{mine.name}.bak", ".chat.jsonl.0123456789ab.tmp", ".other.tmp")]
    for other in others:
        other.touch()
    written(path)
    assert all(other.exists() for other in others)


def test_names_with_the_same_beginning_are_kept_apart(tmp_path):
    first, second = (tmp_path / ("x" * 60 + ending) for ending in "ab")
    with atomic(first) as one, atomic(second) as other:
        one.write(b"1")
        other.write(b"2")
    assert (first.read_bytes(), second.read_bytes()) == (b"1", b"2")


def test_two_writers_of_one_file_in_one_process_are_two_as_well(path):
    with atomic(path) as file, pytest.raises(OutputError, match="another run"), atomic(path):
        file.write(b"first")
    assert hidden(path) == []


def test_a_link_in_its_place_is_not_followed(path, tmp_path):
    with atomic(path):
        (mine,) = hidden(path)
    victim = tmp_path / "victim"
    victim.write_bytes(b"mine")
    mine.symlink_to(victim)
    with pytest.raises(OutputError), atomic(path):
        pass
    assert victim.read_bytes() == b"mine"


MANY = """
import pathlib, sys
from compactor.errors import OutputError
from compactor.files import atomic
done = 0
while done < 40:
    try:
        with atomic(pathlib.Path(sys.argv[1])) as file:
            file.write(sys.argv[2].encode() * 50_000)
        done += 1
    except OutputError:
        pass
"""


def test_of_many_writers_at_once_each_write_is_whole(path):
    processes = [subprocess.Popen([sys.executable, "-c", MANY, path, letter]) for letter in "abcdef"]
    assert [process.wait() for process in processes] == [0] * 6
    content = path.read_bytes()
    assert content == content[:1] * 50_000
    assert hidden(path) == []
