"""Does a lock keep others out, and does a dead process block nobody?"""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from compactor.errors import OutputError
from compactor.locks import held
from tests.running import environment

HOLD = """
import asyncio, sys, time
from pathlib import Path
from compactor.locks import held

async def main():
    async with held(Path(sys.argv[1]), 0, asyncio.Event()):
        print("held", flush=True)
        time.sleep(60)

asyncio.run(main())
"""


def locked(path, patience, work=lambda: None, stop=None):
    """Do `work` with the lock; give whether it was held."""

    async def alone():
        async with held(path, patience, stop or asyncio.Event()) as is_held:
            if is_held:
                work()
            return is_held

    return asyncio.run(alone())


def lock_files():
    return list(Path(tempfile.gettempdir(), f"compactor-{os.getuid()}").glob("*.lock"))


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """Put locks where no other test has any."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))


@pytest.fixture
def holder(tmp_path):
    path = tmp_path / "chat.jsonl"
    path.write_text("x")
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    yield path, process
    process.kill()
    process.wait()
    process.stdout.close()


def test_another_run_fails_cleanly(holder):
    with pytest.raises(OutputError, match="another run is at it"):
        locked(holder[0], 0.1)


def test_the_same_file_by_another_name_is_the_same(holder, tmp_path):
    (tmp_path / "link").symlink_to(holder[0])
    with pytest.raises(OutputError):
        locked(tmp_path / "link", 0)


def test_it_waits_for_its_turn(holder):
    path, process = holder
    subprocess.Popen([sys.executable, "-c", f"import os, time; time.sleep(0.3); os.kill({process.pid}, 9)"]).wait()
    assert locked(path, 30)
    assert process.wait() == -signal.SIGKILL


def test_a_stop_ends_the_waiting(holder):
    stop = asyncio.Event()
    stop.set()
    assert not locked(holder[0], 30, stop=stop)


def test_a_dead_process_blocks_nobody_and_its_lock_file_goes_with_the_next_run(holder):
    path, process = holder
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert len(lock_files()) == 1
    assert locked(path, 5)
    assert lock_files() == []


def test_a_lock_is_free_again_after_an_error(tmp_path):
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            locked(tmp_path / "x", 0, lambda: 1 / 0)
    assert lock_files() == []


COUNT_UP = """
import asyncio, sys
from pathlib import Path
from compactor import locks

locks.PAUSE = 0  # so that they meet as often as can be
path = Path(sys.argv[1])

async def main():
    for _ in range(int(sys.argv[2])):
        async with locks.held(path, 600, asyncio.Event()):
            number = int(path.read_text())
            await asyncio.sleep(0)
            path.write_text(str(number + 1))

asyncio.run(main())
"""


def test_of_many_processes_that_take_turns_none_loses_a_step(tmp_path):
    path = tmp_path / "number"
    path.write_text("0")
    words = [sys.executable, "-c", COUNT_UP, str(path), "60"]
    processes = [subprocess.Popen(words, env=environment(TMPDIR=str(tmp_path))) for _ in range(8)]
    assert [process.wait() for process in processes] == [0] * 8
    assert path.read_text() == str(8 * 60)
    assert lock_files() == []
