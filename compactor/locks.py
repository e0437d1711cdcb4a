"""How do two runs on the same file keep out of each other's way?

A lock is taken on a file in the user's runtime folder, named by the transcript's real path. The system lets go of it
when a process ends, however it ends, so that a dead process blocks nobody. Nothing is left beside the transcript, and
no lock file when a run has ended.
"""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import os
import tempfile
import time
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from compactor.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

PAUSE = 0.05  # seconds between two tries


@asynccontextmanager
async def held(path: Path, patience: float, stop: asyncio.Event) -> AsyncIterator[bool]:
    """Keep other runs away from `path` during the block; wait at most `patience` seconds for one at it.

    False if `stop` is set meanwhile. Raises OutputError if it does not come free.
    """
    file = _lock_file(path)
    until = time.monotonic() + patience
    while (handle := _tried(file)) is None:
        if stop.is_set():
            yield False
            return
        if time.monotonic() >= until:
            raise OutputError(f"{path}: another run is at it", "wait for it, or raise --lock-timeout")
        await asyncio.sleep(PAUSE)
    try:
        yield True
    finally:
        with suppress(OSError):  # one that is left locks nobody out
            file.unlink()  # while it is held: whoever waits for it sees that it has gone
        os.close(handle)


def _tried(file: Path) -> int | None:
    """Lock the file of that name; None if another process has. One that has lost its name meanwhile locks nothing."""
    while True:
        handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            return None
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(handle), file.stat()):
                return handle
        os.close(handle)


def _lock_file(path: Path) -> Path:
    named = os.environ.get("XDG_RUNTIME_DIR", "")
    base = named if os.access(named, os.W_OK | os.X_OK) else tempfile.gettempdir()  # after `su` it is another user's
    folder = Path(base, f"compactor-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    name = hashlib.blake2b(os.fsencode(os.path.realpath(path)), digest_size=16).hexdigest()
    return folder / f"{name}.lock"
