"""What does every format offer: how it is told, what it reads, and how what was read writes itself back?

A format is one module with a value `FORMAT`. Its `read` turns records into rows, each one conversation with the bytes
that it came as; a row renders itself from pieces. Nothing here knows of any format in particular.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

from compactor.formats.jsonbytes import patched, rebuilt, whole
from compactor.formats.order import joined

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from compactor.core.messages import Conversation, Piece
    from compactor.formats.records import Record


@dataclass(frozen=True, slots=True)
class Fault:
    """A record that could not be read: where it stands (`chat.jsonl:7: $.content`) and what is wrong."""

    where: str
    what: str

    def __str__(self) -> str:
        """One line for people."""
        return f"{self.where}: {self.what}"


class Row(Protocol):
    """A conversation where it stands in its file, with the bytes that it came as.

    `conversation` is None if nothing in it can be compacted; it then leaves as `raw`.
    """

    @property
    def raw(self) -> bytes:
        """The bytes as they came, final newline included if there was one."""

    @property
    def conversation(self) -> Conversation | None:
        """What a model would have read."""

    @property
    def faults(self) -> Sequence[Fault]:
        """The records in it that could not be read; they stay in `raw` and in what `render` gives."""

    def render(self, pieces: Sequence[Piece]) -> bytes:
        """Write the conversation with `pieces` for its messages, all else byte for byte."""


@runtime_checkable
class Marked(Protocol):
    """A row of a format that has a mark of its own for a compaction and keeps the old records before it."""

    def append(self, pieces: Sequence[Piece]) -> bytes:
        """Write all old records as they came, then the mark, then what has to stand after it."""


@dataclass(frozen=True, slots=True)
class Lines:
    """Records are lines of a file."""

    def raw(self, records: Sequence[Record]) -> bytes:
        """Give the bytes that the records came as."""
        return b"".join(record.raw for record in records)

    def write(self, records: Sequence[Record], chosen: Sequence[tuple[int | None, bytes]]) -> bytes:
        """Write a file of `chosen`: (ordinal of the record that it was, None for a new one; its bytes)."""
        return joined([record.raw for record in records], chosen)

    def apart(self, chosen: Sequence[tuple[int | None, bytes]]) -> list[tuple[int | None, bytes]]:
        """Put objects that were glued together on lines of their own: clients read none of such a line."""
        return [(n, raw if raw.endswith(b"\n") else raw.rstrip() + b"\n") for n, raw in chosen]


@dataclass(frozen=True, slots=True)
class Array:
    """Records are elements of the one array that is the file."""

    document: bytes

    def raw(self, records: Sequence[Record]) -> bytes:  # noqa: ARG002 - as Lines
        """Give the bytes that the records came as."""
        return self.document

    def write(self, records: Sequence[Record], chosen: Sequence[tuple[int | None, bytes]]) -> bytes:  # noqa: ARG002
        """Write a file of `chosen`: (ordinal of the element that it was, None for a new one; its bytes)."""
        span = whole(self.document)
        return patched(self.document, [(span, rebuilt(self.document, span, chosen))])

    def apart(self, chosen: Sequence[tuple[int | None, bytes]]) -> list[tuple[int | None, bytes]]:
        """Leave elements as they are."""
        return list(chosen)


Sheet = Lines | Array
Values: TypeAlias = "Sequence[Mapping[str, object]]"


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of transcript. `detect` looks at the first objects of a file; `expects` says what it looks for.

    `mark` says how a compaction is marked natively ("" if by a handoff message), `resumes` names the tool that goes
    on from the written file ("" if none does).
    """

    name: str
    title: str
    expects: str
    detect: Callable[[Values], bool]
    read: Callable[[Iterable[Record], str, Sheet], Iterator[Row]]
    mark: str = ""
    resumes: str = ""
