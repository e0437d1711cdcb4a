"""Where is a file written before it takes the place of another, and what becomes of it when its process is killed?"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import stat
from contextlib import suppress
from pathlib import Path

from compactor.errors import OutputError


def temporary_for(target: Path, model: os.stat_result | None) -> tuple[int, Path]:
    """Create a file beside `target` that never lets more people in than what it will replace.

    It is locked as long as its process lives. Raises OutputError if another run is writing the same target.
    """
    temporary = _beside(target)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    while True:
        try:
            descriptor = os.open(temporary, flags, 0o600 if model else 0o666)
        except FileExistsError:
            _sweep(temporary)
            continue
        if _locked(descriptor) and os.fstat(descriptor).st_nlink:
            break
        os.close(descriptor)  # another run took it for one that was left
    if model:
        with suppress(OSError):  # only the superuser may give a file away
            os.fchown(descriptor, model.st_uid, model.st_gid)
        with suppress(OSError):  # some file systems have no mode bits
            os.fchmod(descriptor, stat.S_IMODE(model.st_mode))
    return descriptor, temporary


def swept(path: Path) -> None:
    """Remove what a killed run has left beside `path`. Raises OutputError if the run that writes it is alive."""
    _sweep(_beside(Path(os.path.realpath(path))))


def _beside(target: Path) -> Path:
    """Name the file that is to take the place of `target`: always the same, so that it is found after a crash."""
    # 48 characters of the target's name are at most 192 of the 255 bytes that a name may have.
    digest = hashlib.blake2b(os.fsencode(target.name), digest_size=6).hexdigest()
    return target.with_name(f".{target.name[:48]}.{digest}.tmp")


def _sweep(temporary: Path) -> None:
    """Remove what a killed run has left. Raises OutputError if the run that writes it is alive."""
    with suppress(FileNotFoundError):  # just finished
        descriptor = os.open(temporary, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            if not _locked(descriptor):
                raise OutputError(f"{temporary}: another run is writing it", "wait for it, and run again")
            if os.path.samestat(os.fstat(descriptor), temporary.lstat()):
                temporary.unlink()
        finally:
            os.close(descriptor)


def _locked(descriptor: int) -> bool:
    """Lock a file as long as this process lives; False if another one has. What cannot be locked counts as locked."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.ENOTSUP):  # some network file systems
            raise
    return True
