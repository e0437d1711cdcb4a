"""Does a lock keep others out, and does a dead process block nobody?"""

import asyncio
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

from compactor.errors import OutputError
from compactor.locks import taken

HOLD = """
import asyncio, sys, time
from pathlib import Path
from compactor.locks import taken
asyncio.run(taken(Path(sys.argv[1]), 0, asyncio.Event()))
print("held", flush=True)
time.sleep(60)
"""


@contextmanager
def locked(path, patience):
    handle = asyncio.run(taken(path, patience, asyncio.Event()))
    try:
        yield
    finally:
        os.close(handle)


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
    with pytest.raises(OutputError, match="another run is at it"), locked(holder[0], 0.1):
        pass


def test_the_same_file_by_another_name_is_the_same(holder, tmp_path):
    (tmp_path / "link").symlink_to(holder[0])
    with pytest.raises(OutputError), locked(tmp_path / "link", 0):
        pass


def test_it_waits_for_its_turn(holder):
    path, process = holder
    started = time.monotonic()
    subprocess.Popen([sys.executable, "-c", f"import os, time; time.sleep(0.3); os.kill({process.pid}, 9)"]).wait()
    with locked(path, 30):
        assert time.monotonic() - started >= 0.3


def test_a_dead_process_blocks_nobody(holder):
    path, process = holder
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    with locked(path, 5):
        pass


def test_a_lock_is_free_again_after_an_error(tmp_path):
    for _ in range(2):
        with pytest.raises(ZeroDivisionError), locked(tmp_path / "x", 0):
            raise ZeroDivisionError
