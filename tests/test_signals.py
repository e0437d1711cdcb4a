"""What is left when a run is stopped: by Ctrl-C, by a closed pipe, or by a kill at any moment?"""

import json
import os
import shlex
import signal
import subprocess
import time
from contextlib import contextmanager

import pytest

from tests.running import PROGRAM, SMALL, ask, compact, entries, environment, handoffs, lined, row, talk
from tests.standin import Standin

PROMPT = 5.0  # seconds; a stop is obeyed in a fraction of one, but the machine may be busy


@contextmanager
def started(cwd, *words, **streams):
    """Run `compactor compact` beside the test; it is killed if the test leaves it."""
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
    words = [*PROGRAM, "compact", *SMALL, *map(str, words)]
    with subprocess.Popen(words, cwd=cwd, env=environment(), **streams) as process:
        try:
            yield process
        finally:
            process.kill()


def until(condition, process):
    while not condition():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)


def stopped(process, number=signal.SIGINT):
    """Send a signal; give exit code, output, what was said, and the seconds that it took."""
    before = time.monotonic()
    process.send_signal(number)
    out, said = process.communicate(timeout=60)
    said = said.decode()
    assert "Traceback" not in said, said
    assert "never" not in said, said
    return process.returncode, out, said, time.monotonic() - before


def rows(count):
    return b"".join(row(talk(41, topic=f"pump{n}"), id=n) for n in range(count))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_a_stop_during_eight_slow_calls_keeps_what_is_finished(tmp_path, number):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(rows(10))
    with Standin("good,good,hang") as endpoint:
        with started(tmp_path, path, "-i", *ask(endpoint), "-j", "8") as process:
            state = tmp_path / "rows.jsonl.state"
            until(lambda: endpoint.hits == 10 and state.exists() and state.read_bytes().count(b"\n") == 2, process)
            code, out, said, seconds = stopped(process, number)
        assert code == 130
        assert seconds < PROMPT
        assert out == b""
        assert "8 left" in said
        # Two rows are compacted in the file and known to the sidecar; the others stand in it as they came.
        result = path.read_bytes().splitlines(keepends=True)
        done = [n for n, line in enumerate(result) if handoffs(json.loads(line)["messages"])]
        assert len(done) == 2
        assert [line for n, line in enumerate(result) if n not in done] == [
            line for n, line in enumerate(rows(10).splitlines(keepends=True)) if n not in done
        ]
        assert len(entries(tmp_path / "rows.jsonl.state")) == 2
        # The next run asks for the rest only.
        endpoint.behaviour = "good"
        ran = compact(tmp_path, path, "-i", *ask(endpoint))
        assert ran.code == 0
        assert endpoint.hits == 10 + 8
    assert [len(handoffs(json.loads(line)["messages"])) for line in path.read_bytes().splitlines()] == [1] * 10


def test_the_same_with_the_output_elsewhere_asks_for_the_rest_only(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(rows(4))
    state = tmp_path / "rows.jsonl.state"
    with Standin("good,hang") as endpoint:
        with started(tmp_path, path, "-o", "out.jsonl", *ask(endpoint), "-j", "8") as process:
            until(lambda: endpoint.hits == 4 and state.exists() and state.read_bytes().endswith(b"\n"), process)
            assert stopped(process)[0] == 130
        assert path.read_bytes() == rows(4)
        assert len((tmp_path / "out.jsonl").read_bytes().splitlines()) == 4
        endpoint.behaviour = "good"
        assert compact(tmp_path, path, "-o", "out.jsonl", *ask(endpoint)).code == 0
        assert endpoint.hits == 4 + 3
    assert (tmp_path / "out.jsonl").read_bytes().count(b"CONTEXT COMPACTION] Earlier") == 4


def test_a_stop_before_anything_is_finished_leaves_every_file_as_it_was(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(lined(talk(41)))
    with Standin("hang") as endpoint, started(tmp_path, path, "-i", *ask(endpoint)) as process:
        until(lambda: endpoint.hits, process)
        code, out, _, seconds = stopped(process)
    assert (code, out) == (130, b"")
    assert seconds < PROMPT
    assert path.read_bytes() == lined(talk(41))
    assert [p.name for p in tmp_path.iterdir()] == ["log.jsonl"]


def test_stopped_output_to_stdout_ends_at_a_row(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(row(talk(9)) + rows(3))
    with Standin("hang") as endpoint, started(tmp_path, path, *ask(endpoint)) as process:
        until(lambda: endpoint.hits == 3, process)
        code, out, _, seconds = stopped(process)
    assert code == 130
    assert seconds < PROMPT
    assert out in (b"", row(talk(9)))


def test_a_dry_run_can_be_stopped_too(tmp_path):
    (tmp_path / "rows.jsonl").write_bytes(rows(300))
    with started(tmp_path, "rows.jsonl", "-n", "--json") as process:
        time.sleep(0.6)
        code, out, _, seconds = stopped(process)
    assert code in (130, 0, -signal.SIGINT)  # at that moment it counts, has ended, or has not begun
    assert seconds < PROMPT
    assert all(json.loads(line) for line in out.splitlines())


PRESSED_WHILE_IMPORTING = """
import os, signal, sys

def hook(event, args):
    if event == "import" and args[0] == "typer":
        os.kill(os.getpid(), signal.SIGINT)

sys.addaudithook(hook)
"""


@pytest.mark.parametrize(("shell", "code"), [("", -signal.SIGINT), ("trap '' INT; ", 0)], ids=["heard", "ignored"])
def test_an_interrupt_before_anything_has_begun_ends_it_without_a_word(tmp_path, shell, code):
    (tmp_path / "sitecustomize.py").write_text(PRESSED_WHILE_IMPORTING)
    env = environment()
    env["PYTHONPATH"] += f"{os.pathsep}{tmp_path}"
    words = shlex.join([*PROGRAM, "--version"])
    done = subprocess.run(["sh", "-c", f"{shell}exec {words}"], env=env, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (code, b"")


@pytest.mark.xfail(
    strict=True,
    reason="standard input is read in the event loop's own thread: a signal is not seen before the next byte comes",
)
def test_a_stop_while_waiting_for_input_is_obeyed(tmp_path):
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb", 0) as sink, started(tmp_path, stdin=reading) as process:
        os.close(reading)
        sink.write(lined(talk(1)))
        time.sleep(1.0)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=2) == 130


def test_a_stop_while_another_run_holds_the_file_is_obeyed(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(lined(talk(41)))
    with Standin("hang") as endpoint, started(tmp_path, path, "-i", *ask(endpoint)) as first:
        until(lambda: endpoint.hits, first)
        with started(tmp_path, path, "-i", *ask(endpoint), "--lock-timeout", "60") as second:
            time.sleep(1.0)
            code, out, _, seconds = stopped(second)
            assert (code, out) == (130, b"")
            assert seconds < PROMPT
        assert endpoint.hits == 1


# A closed pipe.


def test_a_reader_that_has_enough_ends_the_run_quietly(tmp_path):
    (tmp_path / "big.jsonl").write_bytes(lined(talk(2_000)))
    program = " ".join(PROGRAM)
    line = f"{program} compact big.jsonl --threshold 1.0 | head -c 100; echo ${{PIPESTATUS[0]}}"
    words = ["bash", "-c", line]
    done = subprocess.run(words, cwd=tmp_path, env=environment(), capture_output=True, timeout=60, check=False)
    assert done.stdout == lined(talk(2_000))[:100] + b"141\n"
    assert done.stderr == b""


@pytest.mark.parametrize("words", [(), ("-n",), ("-n", "--json")], ids=["transcript", "table", "json"])
def test_a_reader_that_does_not_read_at_all_is_no_trouble(tmp_path, words):
    (tmp_path / "log.jsonl").write_bytes(lined(talk(41)))
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as stdout, started(tmp_path, "log.jsonl", *words, stdout=stdout) as process:
        _, said = process.communicate(timeout=60)
    assert said == b""
    assert process.returncode == 141


# kill -9.


def test_a_kill_at_any_moment_leaves_the_old_file_or_the_new(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(rows(6))
    new = compact(tmp_path, path).out
    state = (tmp_path / "rows.jsonl.state").read_bytes()
    assert new != rows(6)
    seen = set()
    for step in range(6):
        (tmp_path / "rows.jsonl.state").unlink(missing_ok=True)
        path.write_bytes(rows(6))
        with started(tmp_path, path, "-i") as process:
            time.sleep(0.2 + step * 0.13)
            process.kill()
            process.wait()
        assert path.read_bytes() in (rows(6), new)
        seen.add(path.read_bytes())
        # Whatever was left, the next run comes to the same end.
        if step % 3 == 2:
            assert compact(tmp_path, path, "-i").code == 0
            assert path.read_bytes() == new
            assert entries(tmp_path / "rows.jsonl.state").keys() == {
                json.loads(line)["key"] for line in state.splitlines()
            }
    assert rows(6) in seen


def test_a_kill_during_calls_loses_no_summary_that_was_paid_for(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(rows(4))
    state = tmp_path / "rows.jsonl.state"
    with Standin("good,good,hang") as endpoint:
        with started(tmp_path, path, "-i", *ask(endpoint)) as process:
            until(lambda: endpoint.hits == 4 and state.exists() and state.read_bytes().count(b"\n") == 2, process)
            process.kill()
            process.wait()
        assert path.read_bytes() == rows(4)
        endpoint.behaviour = "good"
        assert compact(tmp_path, path, "-i", *ask(endpoint)).code == 0
        assert endpoint.hits == 4 + 2


def test_two_kills_in_the_middle_of_a_line_do_not_break_the_sidecar(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(rows(3))
    state = tmp_path / "rows.jsonl.state"
    state.touch()
    for known in (1, 2):
        endpoint = Standin("good,hang")
        with endpoint, started(tmp_path, path, "-i", *ask(endpoint), "-j", "1") as process:
            until(lambda: endpoint.hits == 2, process)  # noqa: B023 - called here and now
            until(lambda: state.read_bytes().count(b"\n") == known, process)  # noqa: B023 - as above
            process.kill()
            process.wait()
        state.write_bytes(state.read_bytes() + b'{"version":1,"key":"0123')
    with Standin() as endpoint:
        ran = compact(tmp_path, path, "-i", *ask(endpoint))
        assert endpoint.hits == 1
    assert ran.code == 0, ran.said
    assert len(entries(state)) == 3
