"""Which conversations of OpenAI's Responses API does this file hold, and how are they written back?

Items one a line or in an array, or one conversation a record: a request with `input`, or a response with `output`. An
item of compaction is opaque; the API reads nothing before it, so items before it are no messages, and it is never
replaced by a stub. There is no mark that others could write: a handoff is a message.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from compactor.core.messages import Conversation, Handoff, Kept
from compactor.formats.answers import with_answers
from compactor.formats.jsonbytes import elements, members, patched, rebuilt, whole
from compactor.formats.openai_messages import MalformedError, compact
from compactor.formats.order import arranged
from compactor.formats.records import BARE, MISSING, brief
from compactor.formats.responses_edits import handoff_bytes, kept_bytes
from compactor.formats.responses_items import COMPACTIONS, ITEM_TYPES, Entry, bundled, item, kind_of
from compactor.formats.row import Fault, Format

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from compactor.core.messages import Message, Piece
    from compactor.formats.records import Record
    from compactor.formats.responses_items import Item
    from compactor.formats.row import Row, Sheet

LISTS = ("input", "output", BARE)


def detect(values: Sequence[Mapping[str, object]]) -> bool:
    """Tell from the first objects of a file whether it holds items, or lists of them; calls of chat say it does not."""
    if any("tool_calls" in value or value.get("role") == "tool" for value in values):
        return False
    return any(_is_item(one) for value in values for one in (_listed(value) or [value]))


def _is_item(value: object) -> bool:
    """Tell items from messages of other APIs: by their type, and for messages by the type of their parts."""
    if not isinstance(value, dict) or value.get("type") not in ITEM_TYPES:
        return False
    if value["type"] == "message":
        return isinstance(value.get("role"), str) and _is_content(value.get("content"))
    if value["type"] in COMPACTIONS:
        return isinstance(value.get("encrypted_content"), str)
    if value["type"] == "reasoning":
        return isinstance(value.get("summary", value.get("content")), list)
    return True


def _is_content(content: object) -> bool:
    """Tell the content of a message from that of other APIs, whose parts have other types."""
    parts = content if isinstance(content, list) else []
    kinds = [str(part.get("type")) for part in parts if isinstance(part, dict)]
    return isinstance(content, str) or any(kind.startswith(("input_", "output_", "refusal")) for kind in kinds)


def _listed(value: Mapping[str, object]) -> list[object] | None:
    found = (value.get(key) for key in LISTS)
    return next((listed for listed in found if isinstance(listed, list)), None)


def read(records: Iterable[Record], name: str, sheet: Sheet) -> Iterator[Row]:
    """Read the records of a file into rows: all of them one row, or each its own."""
    ahead: list[Record] = []
    rest = iter(records)
    for record in rest:
        ahead.append(record)
        if record.value is not MISSING and _listed(record.value) is not None:
            yield from (_items_line(r, name) for r in chain(ahead, rest))
            return
        if record.value is not MISSING and kind_of(record.value) in ITEM_TYPES:
            break
    if ahead:
        yield _item_lines(tuple(chain(ahead, rest)), name, sheet)


@dataclass(frozen=True, slots=True)
class ItemLines:
    """A whole file, one item a record."""

    records: tuple[Record, ...]
    entries: tuple[Entry | None, ...]
    conversation: Conversation | None
    faults: tuple[Fault, ...]
    sheet: Sheet

    @property
    def raw(self) -> bytes:
        """The bytes as they came."""
        return self.sheet.raw(self.records)

    def render(self, pieces: Sequence[Piece]) -> bytes:
        """Write the file with `pieces` for its messages."""
        messages = self.conversation.messages if self.conversation else ()
        raws = [record.raw for record in self.records]
        return self.sheet.write(self.records, chosen(raws, self.entries, pieces, messages))


@dataclass(frozen=True, slots=True)
class ItemsLine:
    """One record that holds a list of items under `key`."""

    raw: bytes
    conversation: Conversation | None = None
    faults: tuple[Fault, ...] = ()
    entries: tuple[Entry | None, ...] = ()
    key: str = BARE

    def render(self, pieces: Sequence[Piece]) -> bytes:
        """Write the record with `pieces` for its messages; nothing but the list of items changes."""
        if self.conversation is None:
            return self.raw
        span = whole(self.raw) if self.key == BARE else members(self.raw, whole(self.raw))[self.key]
        raws = [element.of(self.raw) for element in elements(self.raw, span)]
        places = chosen(raws, self.entries, pieces, self.conversation.messages)
        return patched(self.raw, [(span, rebuilt(self.raw, span, places))])


def chosen(
    raws: Sequence[bytes], entries: Sequence[Entry | None], pieces: Sequence[Piece], messages: Sequence[Message]
) -> list[tuple[int | None, bytes]]:
    """Give the items that stay and the new one, in order: (ordinal of the original, bytes)."""
    found: list[tuple[int | None, bytes | None]] = []
    for origin, piece in arranged([entry.index if entry else None for entry in entries], pieces):
        if origin is None and isinstance(piece, Handoff):
            found.append((None, handoff_bytes(piece)))
        elif origin is not None:
            entry = entries[origin]
            if entry and isinstance(piece, Kept):
                found.append((origin, kept_bytes(raws[origin], entry, messages[entry.index], piece)))
            else:
                found.append((origin, raws[origin]))
    return [(origin, raw) for origin, raw in found if raw is not None]


def _item_lines(records: tuple[Record, ...], name: str, sheet: Sheet) -> ItemLines:
    read_items: list[Item | Fault | None] = []
    for record in records:
        where = f"{name}:{record.line}"
        if record.value is MISSING:
            read_items.append(Fault(where, record.problem) if record.problem else None)
            continue
        try:
            read_items.append(item(record.value))
        except MalformedError as error:
            read_items.append(Fault(f"{where}: {error.path}", error.what))
    values = [None if record.value is MISSING else record.value for record in records]
    messages, entries, gaps = laid_out(read_items, values)
    faults = tuple(one for one in read_items if isinstance(one, Fault))
    conversation = Conversation(messages, "", gaps, name) if messages else None
    return ItemLines(records, entries, conversation, faults, sheet)


def laid_out(
    found: Sequence[Item | Fault | None], values: Sequence[Mapping[str, object] | None]
) -> tuple[tuple[Message, ...], tuple[Entry | None, ...], frozenset[int]]:
    """Join items into messages from the newest compaction on; also the messages after which something is unreadable."""
    marks = [n for n, value in enumerate(values) if value is not None and kind_of(value) in COMPACTIONS]
    start = marks[-1] if marks else 0
    standing = [None if n < start or isinstance(one, Fault) else one for n, one in enumerate(found)]
    messages, entries = bundled(standing)
    gaps: set[int] = set()
    last = -1
    for one, entry in zip(found, entries, strict=True):
        last = entry.index if entry else last
        if isinstance(one, Fault):
            gaps.add(last)
    return with_answers(messages), entries, frozenset(gaps)


def _items_line(record: Record, name: str) -> ItemsLine:
    where = f"{name}:{record.line}"
    if record.value is MISSING:
        return ItemsLine(record.raw, faults=(Fault(where, record.problem),) if record.problem else ())
    key = next((key for key in LISTS if isinstance(record.value.get(key), list)), None)
    try:
        if key is None:
            what = f"missing; there is {', '.join(record.value) or 'nothing'}"
            raise MalformedError("$.input", what)  # noqa: TRY301 - reported like all the others
        listed = record.value[key]
        found = [_element(value, f"${f'.{key}' if key else ''}[{n}]") for n, value in enumerate(_list(listed))]
        preamble = _preamble(record.value)
    except MalformedError as error:
        return ItemsLine(record.raw, faults=(Fault(f"{where}: {error.path}", error.what),))
    values = [value for value in _list(listed) if isinstance(value, dict)]
    messages, entries, gaps = laid_out(found, values)
    return ItemsLine(record.raw, Conversation(messages, preamble, gaps, where), (), entries, key)


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _element(value: object, path: str) -> Item | None:
    if not isinstance(value, dict):
        raise MalformedError(path, f"{brief(value)} is not an object")
    try:
        return item(value)
    except MalformedError as error:
        raise MalformedError(path + error.path.removeprefix("$"), error.what) from None


def _preamble(value: Mapping[str, object]) -> str:
    """Give what a request says beside its items: the instructions, as text, and the tools, as JSON."""
    told = value.get("instructions")
    tools = value.get("tools")
    schemas = compact(tools, "$.tools") if isinstance(tools, list) and tools else ""
    return "\n".join(filter(None, (told if isinstance(told, str) else "", schemas)))


FORMAT = Format(
    name="openai-responses",
    title="OpenAI Responses",
    expects='items ({"type": "message" or "function_call" or ...}) one a line or in an array, or under "input" or '
    '"output"',
    detect=detect,
    read=read,
)
