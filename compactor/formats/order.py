"""In which order do the pieces of a compacted conversation leave, among records that are no messages?

Works on ordinals alone, so that it serves lines of a file and elements of an array.

>>> from compactor.core.messages import Handoff, Role
>>> stay = [None, 0, 1, None, 2]  # a header, two messages, a note, a message
>>> [place.origin for place in arranged(stay, [Kept(0), Handoff(Role.USER, "..."), Kept(2)])]
[0, 1, None, 3, 4]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from compactor.core.messages import Kept
from compactor.formats.jsonbytes import BOM

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from compactor.core.messages import Piece


class Place(NamedTuple):
    """What stands next: which original (None: a new one), and the piece that it is (None: no message)."""

    origin: int | None
    piece: Piece | None


def arranged(indexes: Sequence[int | None], pieces: Iterable[Piece]) -> list[Place]:
    """Put `pieces` into the order of the originals; `indexes` holds the message index of each, or None.

    Originals without a message all stay: before a handoff those that stood before the first message it
    stands for, after it those that stood among the messages that are gone.
    """
    places: list[Place] = []
    ordinal_of = {index: ordinal for ordinal, index in enumerate(indexes) if index is not None}
    position = 0
    for piece in pieces:
        if isinstance(piece, Kept):
            stop = ordinal_of[piece.index]
            places += _others(indexes, position, stop)
            places.append(Place(stop, piece))
            position = stop + 1
        else:
            stop = next((n for n in range(position, len(indexes)) if indexes[n] is not None), len(indexes))
            places += _others(indexes, position, stop)
            places.append(Place(None, piece))
            position = stop
    return places + _others(indexes, position, len(indexes))


def _others(indexes: Sequence[int | None], start: int, stop: int) -> list[Place]:
    return [Place(n, None) for n in range(start, stop) if indexes[n] is None]


def joined(originals: Sequence[bytes], chosen: Sequence[tuple[int | None, bytes]]) -> bytes:
    """Join lines, each (ordinal of its original or None, bytes), into a file like the one of `originals`.

    What is new gets that file's line end; lines that had none between them (objects glued together) stay so
    only side by side; the result ends in a line end if and only if the originals did.
    """
    first = next((raw for raw in originals if raw.endswith(b"\n")), b"\n")
    line_end = b"\r\n" if first.endswith(b"\r\n") else b"\n"
    parts: list[bytes] = []
    before: int | None = None
    for origin, line in chosen:
        neighbours = origin is not None and before == origin - 1
        if parts and not parts[-1].endswith(b"\n") and not neighbours:
            parts.append(line_end)
        parts.append(line.removeprefix(BOM) if parts and origin == 0 else line)
        before = origin
    text = b"".join(parts)
    ended = not originals or originals[-1].endswith(b"\n")
    if text.endswith(b"\n") == ended or not text:
        return text
    return text + line_end if ended else text.rstrip(b"\r\n")
