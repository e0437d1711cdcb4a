"""Which on-disk format is this, and how is a conversation read from it and written back to it?

A format is one module with `NAME`, `detect` and `read`; what `read` yields can write itself back.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Protocol

from compactor.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from compactor.core.messages import Conversation, Piece


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


# The formats build on what stands above.
from compactor.formats import openai_chat, records  # noqa: E402

# A file tells what it is in its beginning: so many lines, or so many bytes, whichever comes first.
LOOK_AHEAD_LINES = 100
LOOK_AHEAD_BYTES = 1 << 20
EXPECTED = (
    'expected OpenAI chat as JSON Lines: one message a line ({"role": ..., "content": ...}) or one conversation '
    'a line ({"messages": [...]})'
)


def rows(lines: Iterable[bytes], name: str) -> Iterator[Row]:
    """Read a file, given as lines with their line ends, into rows; the format is told by content.

    A file of nothing but blanks is one row without a conversation. Raises InputError for what we do not know.
    """
    rest = records.read(lines)
    ahead = _ahead(rest)
    values = [record.value for record in ahead if record.value is not records.MISSING]
    if openai_chat.detect(values):
        yield from openai_chat.read(chain(ahead, rest), name)
    elif any(record.raw.strip() for record in ahead):
        raise InputError(f"{name}: {_seen(ahead, values)}", EXPECTED)
    elif ahead:
        yield openai_chat.ConversationLine(b"".join(record.raw for record in ahead))


def _ahead(found: Iterator[records.Record]) -> list[records.Record]:
    ahead: list[records.Record] = []
    size = 0
    for record in found:
        ahead.append(record)
        size += len(record.raw)
        if len(ahead) >= LOOK_AHEAD_LINES or size >= LOOK_AHEAD_BYTES:
            break
    return ahead


def _seen(ahead: Sequence[records.Record], values: Sequence[Mapping[str, object]]) -> str:
    if values:
        kind = openai_chat.foreign(values)
        keys = f"the first object has the keys {', '.join(values[0])}" if values[0] else "the first object is empty"
        return f'{keys}; "{kind}" belongs to another API' if kind else keys
    first = next(record for record in ahead if record.raw.strip())
    if b"\0" in first.raw or "UTF-8" in first.problem:
        return "binary data, or text that is not UTF-8"
    if first.raw.lstrip().startswith((b"[", b"{")):
        return f"no JSON object in the first lines, perhaps one JSON document over several ({first.problem})"
    return f"no JSON object in the first lines ({first.problem})"
