"""What has an in-place run taken out of a file, and how is the full transcript had back?

`NAME.archive` is only ever appended to: one frame for each row that a run changed, with the bytes before and after. A
frame is a line with its length and SHA-256, then that many bytes of gzip. Going back through the frames of a row undoes
one compaction after another; turns that were added in between are found as what stands in the row and not in the bytes
that the run had left, and are put into the same place of the bytes before.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from compactor.errors import OutputError, StateError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_HEADER = re.compile(rb"compactor-archive 1 (\d+) ([0-9a-f]{64})\n")
_LONGEST_HEADER = 120


@dataclass(frozen=True, slots=True)
class Frame:
    """A row that a run changed: its place among the rows of the file, from 0, and its bytes."""

    row: int
    before: bytes
    after: bytes


def append(path: Path, frame: Frame, mode: int) -> None:
    """Add a frame at the end, on disk at once; a frame that a crash cut off is cut away first.

    `mode` are the permission bits of a new archive. Raises OutputError if it cannot be written.
    """
    body = gzip.compress(b"%d %d\n" % (frame.row, len(frame.before)) + frame.before + frame.after, mtime=0)
    header = b"compactor-archive 1 %d %s\n" % (len(body), hashlib.sha256(body).hexdigest().encode())
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, mode)
        with os.fdopen(handle, "r+b") as file:
            file.seek(_sound(path))
            file.truncate()
            file.write(header + body)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        what = f"{path}: cannot be written ({error.strerror})"
        raise OutputError(what, "free some space, or see --no-archive") from error


def frames(path: Path) -> Iterator[Frame]:
    """Read the frames, oldest first; one that a crash cut off at the very end is left out.

    Raises StateError if what stands there is no archive, or was changed.
    """
    if not path.exists():
        return
    with path.open("rb") as file:
        while header := file.readline(_LONGEST_HEADER):
            found = _HEADER.fullmatch(header)
            body = file.read(int(found[1])) if found else b""
            if found and len(body) < int(found[1]):
                return
            if not found or hashlib.sha256(body).hexdigest().encode() != found[2]:
                if not file.read(1) and not found:
                    return  # a header that was cut off
                raise StateError(
                    f"{path}: damaged", "restore it from a copy; what it held cannot be had back otherwise"
                )
            yield _frame(gzip.decompress(body))


def _sound(path: Path) -> int:
    """Count the bytes up to the end of the last whole frame."""
    end = 0
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        while found := _HEADER.fullmatch(file.readline(_LONGEST_HEADER)):
            stop = file.tell() + int(found[1])
            if stop > size:
                break
            file.seek(stop)
            end = stop
    return end


def _frame(content: bytes) -> Frame:
    head, _, rest = content.partition(b"\n")
    row, size = map(int, head.split())
    return Frame(row, rest[:size], rest[size:])


def restored(now: bytes, history: Sequence[Frame]) -> bytes | None:
    """Undo the frames of one row, oldest first, on the bytes that stand there now; None if they do not fit.

    A frame whose run was stopped before it replaced the file has no effect.
    """
    for frame in reversed(history):
        undone = grafted(now, frame.after, frame.before)
        if undone is not None:
            now = undone
        elif grafted(now, frame.before, frame.before) is None:
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
