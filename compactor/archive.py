"""What has an in-place run taken out of a file, and how is the full transcript had back?

`NAME.archive` is only ever appended to: one frame for each row that a run changed, with the bytes before and after. A
frame is a line with its length and SHA-256, then that many bytes of gzip. Going back through the frames of a row undoes
one compaction after another; turns that were added in between are found as what stands in the row and not in the bytes
that the run had left, and are put into the same place of the bytes before.
"""

from __future__ import annotations

import errno
import gzip
import hashlib
import os
import re
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from compactor.errors import OutputError, StateError
from compactor.files import flush_directory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

_MAGIC = b"compactor-archive 1 "
_HEADER = re.compile(_MAGIC + rb"(\d+) ([0-9a-f]{64})\n")
_LONGEST_HEADER = 120


@dataclass(frozen=True, slots=True)
class Frame:
    """A row that a run changed: its place among the rows of the file, from 0, and its bytes."""

    row: int
    before: bytes
    after: bytes


def archive_of(file: Path) -> Path:
    """Name the archive that stands beside a file."""
    return file.with_name(f"{file.name}.archive")


def in_full(row: int) -> Frame:
    """Say that a row stands there in full: frames before it are of the past."""
    return Frame(row, b"", b"")


@contextmanager
def appended(path: Path, like: Path) -> Iterator[Callable[[Frame], object]]:
    """Add frames at the end, all of them on disk when the block has ended; one that a crash cut off is cut away first.

    One that stands there is opened at once; else the first frame makes it, with the permission bits of `like`. Raises
    OutputError if it cannot be written, and StateError if what stands there is no archive.
    """
    file: BinaryIO | None = None

    def add(frame: Frame) -> None:
        nonlocal file
        with _told(path):
            file = file or _opened(path, like)
            packed = memoryview(_packed(frame))
            while packed:
                packed = packed[os.write(file.fileno(), packed) :]

    if path.exists():
        with _told(path):
            file = _opened(path, like)
    try:
        yield add
    finally:
        if file:
            with _told(path), file:
                os.fsync(file.fileno())


@contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        next_step = "free some space" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "make it writable"
        what = f"{path}: cannot be written ({error.strerror})"
        raise OutputError(what, f"{next_step}, or see --no-archive") from error


def _opened(path: Path, like: Path) -> BinaryIO:
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
    file = os.fdopen(os.open(path, flags, like.stat().st_mode & 0o777), "r+b")
    try:
        flush_directory(path.parent)
        end = 0
        for place in _places(file, path):
            end = place.start + place.size
        file.truncate(end)
    except BaseException:
        file.close()
        raise
    return file


def _packed(frame: Frame) -> bytes:
    body = gzip.compress(b"%d %d\n" % (frame.row, len(frame.before)) + frame.before + frame.after, mtime=0)
    return _MAGIC + b"%d %s\n" % (len(body), hashlib.sha256(body).hexdigest().encode()) + body


class Place(NamedTuple):
    """Where the body of a frame stands in an archive, in bytes, and its SHA-256."""

    start: int
    size: int
    digest: bytes


def _places(file: BinaryIO, path: Path) -> Iterator[Place]:
    """Find the frames that are whole, oldest first; one that a crash cut off at the very end is none.

    Raises StateError if what stands there is no archive.
    """
    size = os.fstat(file.fileno()).st_size
    end = 0
    while end < size:
        file.seek(end)
        header = file.readline(_LONGEST_HEADER)
        start = end + len(header)
        found = _HEADER.fullmatch(header)
        if not found and start == size and header.startswith(_MAGIC[: len(header)]):
            return
        if not found:
            raise _damaged(path)
        end = start + int(found[1])
        if end <= size:
            yield Place(start, int(found[1]), found[2])


def history(path: Path) -> Callable[[int], list[Frame]]:
    """Give a function that reads the frames of a row, oldest first; there are none if there is no archive.

    Raises StateError if what stands there is no archive, or was changed.
    """
    places: dict[int, list[Place]] = {}
    if path.exists():
        with path.open("rb") as file:
            for place in _places(file, path):
                with gzip.open(BytesIO(_body(file, place, path))) as body:
                    places.setdefault(int(body.readline().split()[0]), []).append(place)
    return lambda row: [_frame_at(path, place) for place in places.get(row, ())]


def _frame_at(path: Path, place: Place) -> Frame:
    with path.open("rb") as file:
        head, _, rest = gzip.decompress(_body(file, place, path)).partition(b"\n")
    row, size = map(int, head.split())
    return Frame(row, rest[:size], rest[size:])


def _body(file: BinaryIO, place: Place, path: Path) -> bytes:
    file.seek(place.start)
    body = file.read(place.size)
    if hashlib.sha256(body).hexdigest().encode() != place.digest:
        raise _damaged(path)
    return body


def _damaged(path: Path) -> StateError:
    return StateError(f"{path}: damaged", "restore it from a copy; what it held cannot be had back otherwise")


def restored(now: bytes, history: Sequence[Frame]) -> bytes | None:
    """Undo the frames of one row, oldest first, on the bytes that stand there now; None if they do not fit.

    A frame whose run was stopped before it replaced the file has no effect.
    """
    for frame in reversed(history):
        if frame == in_full(frame.row):
            break
        undone = grafted(now, frame.after, frame.before)
        if undone is not None:
            now = undone
        elif grafted(now, frame.before, frame.before) is None and not _never_was(frame, now):
            return None
    return now


def grafted(now: bytes, known: bytes, other: bytes) -> bytes | None:
    """Put into `other` what `now` has over `known`, before the same end; None if more than one place was changed.

    >>> grafted(b'[1,9,2,3]', b'[1,9,2]', b'[1,5,6,7,2]')
    b'[1,5,6,7,2,3]'
    """
    start = _common(now, known)
    end = len(known) - start
    if len(now) < len(known) or now[len(now) - end :] != known[start:] or not other.endswith(known[start:]):
        return None
    inserted = now[start : len(now) - end]
    cut = len(other) - end
    return other[:cut] + inserted + other[cut:]


def _never_was(frame: Frame, now: bytes) -> bool:
    """Tell whether the row, however edited, holds some of what the run took out, and nothing that the run put in."""
    before, after, stands = _parts(frame.before), _parts(frame.after), _parts(now)
    return bool(stands & (before - after)) and not stands & (after - before)


def _parts(row: bytes) -> set[bytes]:
    """Take a row apart where its strings and lines begin and end."""
    return set(re.split(rb'["\n]', row))


def _common(a: bytes, b: bytes) -> int:
    """Count the bytes that `a` and `b` have in common at their beginning."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[:middle] == b[:middle]:
            low = middle
        else:
            high = middle - 1
    return low
