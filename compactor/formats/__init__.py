"""Which on-disk format is this, and how is a conversation read from it and written back to it?

A format is one module with a value `FORMAT` (see `row`); it is listed in `FORMATS`, and that is all.
"""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from itertools import chain
from typing import TYPE_CHECKING

from compactor.errors import InputError, NotATranscript, UsageError
from compactor.formats import (
    anthropic,
    claude_code,
    codex,
    gemini_cli,
    gemini_contents,
    langchain,
    openai_chat,
    openai_responses,
    openhands,
    pi,
    records,
    sharegpt,
)
from compactor.formats.documents import Document, document
from compactor.formats.layouts import ListLine
from compactor.formats.row import Fault, Format, Lines, Marked, Row
from compactor.formats.strangers import stranger

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from compactor.core.messages import Conversation, Piece
    from compactor.formats.records import Record

__all__ = ["FORMATS", "Fault", "Format", "Marked", "Row", "Standing", "format_named", "rows"]

# The last one is for whatever is no other: plain messages with a role.
FORMATS: tuple[Format, ...] = (
    anthropic.FORMAT,
    claude_code.FORMAT,
    codex.FORMAT,
    gemini_cli.FORMAT,
    gemini_contents.FORMAT,
    langchain.FORMAT,
    openai_responses.FORMAT,
    openhands.FORMAT,
    pi.FORMAT,
    sharegpt.FORMAT,
    openai_chat.FORMAT,
)

# A file tells what it is in its beginning: so many lines, or so many bytes, whichever comes first.
LOOK_AHEAD_LINES = 100
LOOK_AHEAD_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Standing:
    """A row in its file: its format, and the bytes around it that separate it from its neighbours."""

    row: Row
    format: Format
    before: bytes = b""
    after: bytes = b""

    @property
    def raw(self) -> bytes:
        """The bytes as they came."""
        return self.before + self.row.raw + self.after

    @property
    def conversation(self) -> Conversation | None:
        """What a model would have read."""
        return self.row.conversation

    @property
    def faults(self) -> Sequence[Fault]:
        """The records in it that could not be read."""
        return self.row.faults

    def render(self, pieces: Sequence[Piece]) -> bytes:
        """Write it anew with `pieces` for its messages."""
        return self.before + self.row.render(pieces) + self.after

    def append(self, pieces: Sequence[Piece]) -> bytes | None:
        """Write it with the format's own mark after the old records; None if the format has no such mark."""
        return self.before + self.row.append(pieces) + self.after if isinstance(self.row, Marked) else None

    def read_back(self, content: bytes) -> Conversation | None:
        """Read what `render` or `append` gave."""
        inner = content.removeprefix(self.before).removesuffix(self.after)
        found = next(iter(rows(BytesIO(inner), "", self.format)), None)
        return found.conversation if found else None


def format_named(name: str) -> Format:
    """Find a format by its name. Raises UsageError for an unknown one."""
    found = next((f for f in FORMATS if f.name == name), None)
    if found is None:
        raise UsageError(f"there is no format {name!r}", f"known are {', '.join(f.name for f in FORMATS)}")
    return found


def rows(lines: Iterable[bytes], name: str, form: Format | None = None) -> Iterator[Standing]:
    """Read a file, given as lines with their line ends, into rows; the format is told by content unless given.

    A file of nothing but blanks is one row without a conversation. Raises InputError for what we do not know, and
    for what could be two things.
    """
    rest = iter(lines)
    found = records.read(rest)
    ahead = _ahead(found)
    if _is_document(ahead):
        raw = b"".join((*(record.raw for record in ahead), *rest))
        if whole := document(raw):
            yield from _of_document(whole, name, form)
            return
        found = records.read(BytesIO(raw))
        ahead = _ahead(found)
    values = [record.value for record in ahead if record.value is not records.MISSING]
    if not any(record.raw.strip() for record in ahead):
        blank = ListLine(openai_chat.TURNS, b"".join(record.raw for record in ahead))
        yield from [Standing(blank, openai_chat.FORMAT)][: len(ahead)]
        return
    form = form or _told(values, name, ahead)
    for row in form.read(chain(ahead, found), name, Lines()):
        yield Standing(row, form)


def _of_document(whole: Document, name: str, form: Format | None) -> Iterator[Standing]:
    """Read a file that is one JSON value: one row for all of it, or one for each element of the array."""
    raw = whole.raw
    values = [record.value for record in whole.elements if record.value is not records.MISSING]
    form = form or _told(values, name, whole.elements)
    found = list(form.read(whole.elements, name, whole.sheet))
    if len(found) == 1 and found[0].raw == raw:
        yield Standing(found[0], form)
        return
    end = 0
    for number, row in enumerate(found, 1):
        start = raw.index(row.raw, end)
        before, end = raw[end:start], start + len(row.raw)
        yield Standing(row, form, before, raw[end:] if number == len(found) else b"")


def _is_document(ahead: Sequence[Record]) -> bool:
    """Tell whether the first line opens a JSON value that goes on in the next, or is an array."""
    first = next((record for record in ahead if record.raw.strip()), None)
    opens = first is not None and first.raw.lstrip(b"\xef\xbb\xbf \t").startswith((b"[", b"{"))
    if not (opens and first):
        return False
    return bool(first.problem) or (first.value is not records.MISSING and records.BARE in first.value)


def _ahead(found: Iterator[Record]) -> list[Record]:
    ahead: list[Record] = []
    size = 0
    for record in found:
        ahead.append(record)
        size += len(record.raw)
        if len(ahead) >= LOOK_AHEAD_LINES or size >= LOOK_AHEAD_BYTES:
            break
    return ahead


def _told(values: Sequence[Mapping[str, object]], name: str, ahead: Sequence[Record]) -> Format:
    """Tell the format by the first objects; the last of FORMATS only if no other knows them."""
    *special, general = FORMATS
    found = [f for f in special if f.detect(values)] or [f for f in (general,) if f.detect(values)]
    if len(found) > 1:
        names = " or ".join(f.name for f in found)
        raise InputError(f"{name}: this could be {names}", "say which with --format")
    if not found and (known_as := stranger(values)):
        raise NotATranscript(f"{name}: {known_as.what}", known_as.next_step)
    if not found:
        known = "; ".join(f"{f.title}: {f.expects}" for f in FORMATS)
        raise NotATranscript(f"{name}: {_seen(ahead, values)}", f"expected one of: {known}")
    return found[0]


def _seen(ahead: Sequence[Record], values: Sequence[Mapping[str, object]]) -> str:
    if values:
        kind = openai_chat.foreign(values)
        keys = f"the first object has the keys {', '.join(values[0])}" if values[0] else "the first object is empty"
        return f'{keys}; "{kind}" belongs to another API' if kind else keys
    first = next(record for record in ahead if record.raw.strip())
    if b"\0" in first.raw or "UTF-8" in first.problem:
        return "binary data, or text that is not UTF-8"
    return f"no JSON object in the first lines ({first.problem})"
