"""How do two runs on the same file keep out of each other's way?

A lock is taken on a file in the user's runtime folder, named by the transcript's real path. The system lets go of it
when a process ends, however it ends, so that a dead process blocks nobody; nothing is left beside the transcript.
"""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import os
import tempfile
import time
from pathlib import Path

from compactor.errors import OutputError

PAUSE = 0.05  # seconds between two tries


async def taken(path: Path, patience: float, stop: asyncio.Event) -> int | None:
    """Keep other runs away from `path` until the handle is closed; wait at most `patience` seconds for one at it.

    None if `stop` is set meanwhile. Raises OutputError if it does not come free.
    """
    until = time.monotonic() + patience
    while (handle := _tried(path)) is None:
        if stop.is_set():
            return None
        if time.monotonic() >= until:
            raise OutputError(f"{path}: another run is at it", "wait for it, or raise --lock-timeout")
        await asyncio.sleep(PAUSE)
    return handle


def _tried(path: Path) -> int | None:
    handle = os.open(_lock_file(path), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return None
    return handle


def _lock_file(path: Path) -> Path:
    named = os.environ.get("XDG_RUNTIME_DIR", "")
    base = named if os.access(named, os.W_OK | os.X_OK) else tempfile.gettempdir()  # after `su` it is another user's
    folder = Path(base, f"compactor-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    name = hashlib.blake2b(os.fsencode(os.path.realpath(path)), digest_size=16).hexdigest()
    return folder / f"{name}.lock"
