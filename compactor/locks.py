"""How do two runs on the same file keep out of each other's way?

A lock is taken on a file in the user's runtime folder, named by the transcript's real path. The system lets go of it
when a process ends, however it ends, so that a dead process blocks nobody; nothing is left beside the transcript.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import tempfile
import time
from pathlib import Path

from compactor.errors import OutputError

PAUSE = 0.05  # seconds between two tries


def take(path: Path, patience: float) -> int:
    """Keep other runs away from `path` until the handle is closed; wait at most `patience` seconds for one at it.

    Raises OutputError if it does not come free.
    """
    handle = os.open(_lock_file(path), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _wait(handle, path, time.monotonic() + patience)
    except BaseException:
        os.close(handle)
        raise
    return handle


def _lock_file(path: Path) -> Path:
    base = Path(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir())
    folder = base / f"compactor-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    name = hashlib.blake2b(os.fsencode(os.path.realpath(path)), digest_size=16).hexdigest()
    return folder / f"{name}.lock"


def _wait(handle: int, path: Path, until: float) -> None:
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                raise OutputError(f"{path}: another run is at it", "wait for it, or raise --lock-timeout") from None
            time.sleep(PAUSE)
        else:
            return
