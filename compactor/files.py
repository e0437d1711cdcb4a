"""How do bytes come in, and how do they go out so that nothing on disk is ever half written?

Compressed input is told by its first bytes, compressed output by the ending of its name.
"""

from __future__ import annotations

import errno
import gzip
import io
import os
import stat
import sys
import zlib
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from compactor.errors import InputError, OutputError
from compactor.temporaries import temporary_for

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from _typeshed import WriteableBuffer

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
BUFFER_BYTES = 1 << 20
# gzip's own default on the command line; 9 takes three times as long for 1 % (measured on transcripts).
GZIP_LEVEL = 6

_INPUT_HELP = {
    errno.ENOENT: ("does not exist", "check the path"),
    errno.EISDIR: ("is a directory", "name the files in it, for example DIR/*.jsonl"),
    errno.EACCES: ("may not be read", "check its permissions"),
}
_OUTPUT_HELP = {
    errno.ENOENT: "create the directory first",
    errno.ENOTDIR: "part of the path is a file: choose another",
    errno.EACCES: "choose a directory that you may write to",
    errno.EPERM: "choose a directory that you may write to",
    errno.EROFS: "choose a directory on a file system that is not read-only",
    errno.ENOSPC: "free some space, or write somewhere else",
    errno.EDQUOT: "free some space, or write somewhere else",
    errno.EFBIG: "raise the limit on file sizes, or write somewhere else",
    errno.EIO: "check the disk, or write somewhere else",
    errno.ENAMETOOLONG: "choose a shorter name",
}
# What writing itself may run into; any other OSError under way is somebody else's.
_WRITING = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO)


def lines(source: Path | IO[bytes]) -> Iterator[bytes]:
    """Read the lines of a file, or of an open stream such as standard input; each keeps its line end.

    gzip and zstd are decompressed. Raises InputError if it cannot be read to its end.
    """
    name = str(source) if isinstance(source, Path) else "standard input"
    try:
        if isinstance(source, Path):
            with source.open("rb") as stream:
                yield from _plain(stream)
        else:
            yield from _plain(source)
    except EOFError as error:
        raise InputError(f"{name}: the compressed data is cut off", "copy or compress it again") from error
    except (gzip.BadGzipFile, zlib.error, zstd.ZstdError) as error:
        raise InputError(f"{name}: the compressed data is damaged ({error})", "copy or compress it again") from error
    except OSError as error:
        what, next_step = _INPUT_HELP.get(error.errno or 0, (f"cannot be read ({error.strerror})", ""))
        raise InputError(f"{name}: {what}", next_step) from error


class _Replayed(io.RawIOBase):
    """A stream whose first bytes have been looked at already; works for pipes, which cannot seek."""

    def __init__(self, first: bytes, rest: IO[bytes]) -> None:
        self._first = first
        # What a pipe has now, where the stream can say so; `read` would wait for a whole buffer.
        self._more = getattr(rest, "read1", rest.read)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        room = memoryview(buffer)
        got = self._first[: len(room)] or self._more(len(room))
        self._first = self._first[len(got) :]
        room[: len(got)] = got
        return len(got)


def _plain(stream: IO[bytes]) -> Iterator[bytes]:
    first = stream.read(len(ZSTD_MAGIC))
    replayed = io.BufferedReader(_Replayed(first, stream), BUFFER_BYTES)
    if first.startswith(GZIP_MAGIC):
        return iter(io.BufferedReader(gzip.GzipFile(fileobj=replayed), BUFFER_BYTES))
    if first == ZSTD_MAGIC:
        return iter(io.BufferedReader(zstd.ZstdFile(replayed), BUFFER_BYTES))
    return iter(replayed)


@contextmanager
def atomic(path: Path, *, like: Path | None = None, ready: Callable[[], object] = bool) -> Iterator[IO[bytes]]:
    """Open a file that takes the place of `path` when the block ends well, and leaves no trace when it does not.

    It is written beside the target (a symbolic link is followed), flushed to disk and renamed; `.gz` and `.zst`
    are compressed, with the same bytes every time. Mode bits, and the owner where that is allowed, are those of
    the file that is replaced, or else of `like`. `ready` is asked right before it is renamed; if it raises, the target
    stays. Raises OutputError if it cannot be written, or another run is writing it.
    """
    target = Path(os.path.realpath(path))
    with _told(path):
        model = _model(target, like)
        descriptor, temporary = temporary_for(target, model)
    with _told(path, *_WRITING), os.fdopen(descriptor, "wb", BUFFER_BYTES) as raw:
        try:
            with _compressed(raw, target) as stream:
                yield stream
            raw.flush()
            os.fsync(raw.fileno())
            ready()
            with _told(path):
                temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)  # before it is closed: then the name may be another run's
            raise
    with _told(path):
        flush_directory(target.parent)


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """As `atomic`, for a file that is read while it is replaced. Raises OutputError if it was changed meanwhile."""
    seen = _stamp(path)

    def unchanged() -> None:
        if _stamp(path) != seen:
            raise OutputError(f"{path}: it was changed meanwhile", "run again; nothing was replaced")

    with atomic(path, ready=unchanged) as file:
        yield file


def _stamp(path: Path) -> tuple[int, ...]:
    """Tell one state of a file from another: where it is, its size, its last change."""
    found = path.stat()
    return (found.st_ino, found.st_size, found.st_mtime_ns)


@contextmanager
def _told(path: Path, *only: int) -> Iterator[None]:
    """Turn an OSError (if `only` is given: of these numbers) into one that says what to do."""
    try:
        yield
    except OSError as error:
        if only and error.errno not in only:
            raise
        next_step = _OUTPUT_HELP.get(error.errno or 0, "")
        raise OutputError(f"{path}: cannot be written ({error.strerror or error})", next_step) from error


def _model(target: Path, like: Path | None) -> os.stat_result | None:
    """Find whose mode and owner the new file gets."""
    for path in (target, like):
        with suppress(FileNotFoundError, NotADirectoryError):
            if path is not None:
                found = path.stat()
                if path is target and not stat.S_ISREG(found.st_mode):
                    kind = "a directory" if stat.S_ISDIR(found.st_mode) else "not a regular file"
                    raise OutputError(
                        f"{path}: cannot be replaced, it is {kind}", "name a file, or use standard output"
                    )
                return found
    return None


@contextmanager
def _compressed(raw: IO[bytes], target: Path) -> Iterator[IO[bytes]]:
    if target.suffix == ".gz":
        with gzip.GzipFile("", "wb", GZIP_LEVEL, raw, mtime=0) as stream:
            yield cast("IO[bytes]", stream)
    elif target.suffix == ".zst":
        with zstd.ZstdFile(raw, "wb") as stream:
            yield cast("IO[bytes]", stream)
    else:
        yield raw


def flush_directory(directory: Path) -> None:
    """Make the new name survive a power cut as well as the bytes do."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
