"""Which OpenAI chat conversations does this file hold: one message a line, or one conversation a line?

The layouts are told apart by content: the first object that has a `messages` array, or a `role`, decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from compactor.core.messages import Conversation, Handoff, Kept
from compactor.formats.answers import with_answers
from compactor.formats.jsonbytes import elements, members, patched, rebuilt, whole
from compactor.formats.openai_edits import handoff_bytes, kept_bytes
from compactor.formats.openai_messages import (
    FOREIGN_PARTS,
    MalformedError,
    compact,
    is_message,
    message,
)
from compactor.formats.order import arranged
from compactor.formats.records import MISSING, brief
from compactor.formats.row import Fault, Format

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from compactor.core.messages import Message, Piece
    from compactor.formats.order import Place
    from compactor.formats.records import Record
    from compactor.formats.row import Row, Sheet


def detect(values: Sequence[Mapping[str, object]]) -> bool:
    """Tell from the first objects of a file whether it is ours; blocks of another API say that it is not."""
    return any(_is_turn(v) or _holds_turns(v) for v in values) and not foreign(values)


def foreign(values: Sequence[Mapping[str, object]]) -> str:
    """Name the first type of block in `values` that belongs to another API, or give ""."""
    for value in values:
        listed = value["messages"] if _holds_messages(value) else [value]
        for item in listed if isinstance(listed, list) else ():
            kinds = [item.get("type"), *_part_types(item)] if isinstance(item, dict) else []
            for kind in kinds:
                if isinstance(kind, str) and kind in FOREIGN_PARTS:
                    return kind
    return ""


def _part_types(item: Mapping[str, object]) -> list[object]:
    content = item.get("content")
    return [p.get("type") for p in content if isinstance(p, dict)] if isinstance(content, list) else []


def _holds_messages(value: Mapping[str, object]) -> bool:
    return isinstance(value.get("messages"), list)


def _holds_turns(value: Mapping[str, object]) -> bool:
    listed = value.get("messages")
    return isinstance(listed, list) and (not listed or any(isinstance(m, dict) and _is_turn(m) for m in listed))


def _is_turn(value: Mapping[str, object]) -> bool:
    return isinstance(value.get("role"), str)


def read(records: Iterable[Record], name: str, sheet: Sheet) -> Iterator[Row]:
    """Read the records of a file into rows: all of them one row, or each its own; `name` says where they stand."""
    ahead: list[Record] = []
    rest = iter(records)
    for record in rest:
        ahead.append(record)
        if record.value is not MISSING and _holds_messages(record.value):
            yield from (_conversation_line(r, name) for r in chain(ahead, rest))
            return
        if record.value is not MISSING and _is_turn(record.value):
            break
    if ahead:
        yield _message_lines(tuple(chain(ahead, rest)), name, sheet)


@dataclass(frozen=True, slots=True)
class MessageLines:
    """A whole file, one message a line; `indexes` holds the message index of each record, None for others."""

    records: tuple[Record, ...]
    indexes: tuple[int | None, ...]
    conversation: Conversation | None
    faults: tuple[Fault, ...]
    sheet: Sheet

    @property
    def raw(self) -> bytes:
        """The bytes as they came."""
        return self.sheet.raw(self.records)

    def render(self, pieces: Sequence[Piece]) -> bytes:
        """Write the file with `pieces` for its messages; records that are none stay among their neighbours."""
        raws = [record.raw for record in self.records]
        messages = self.conversation.messages if self.conversation else ()
        chosen = [(p.origin, _written(p, raws, messages)) for p in arranged(self.indexes, pieces)]
        return self.sheet.write(self.records, chosen)


def _written(place: Place, raws: Sequence[bytes], messages: Sequence[Message]) -> bytes:
    if isinstance(place.piece, Handoff):
        return handoff_bytes(place.piece)
    raw = raws[place.origin or 0]
    return kept_bytes(raw, messages[place.piece.index], place.piece) if isinstance(place.piece, Kept) else raw


class _Line(NamedTuple):
    """What one record of a file with a message a line holds."""

    message: Message | None = None
    preamble: str = ""
    fault: Fault | None = None


def _message_lines(records: tuple[Record, ...], name: str, sheet: Sheet) -> MessageLines:
    messages: list[Message] = []
    indexes: list[int | None] = []
    gaps: set[int] = set()
    read_lines = [_line(record, f"{name}:{record.line}") for record in records]
    for line in read_lines:
        if line.fault:
            gaps.add(len(messages) - 1)
        indexes.append(len(messages) if line.message else None)
        messages += [line.message] if line.message else []
    # Tool schemas stand in records that are no messages, such as `session_meta`; the last ones hold.
    preamble = next((line.preamble for line in reversed(read_lines) if line.preamble), "")
    conversation = Conversation(with_answers(tuple(messages)), preamble, frozenset(gaps), name)
    faults = tuple(line.fault for line in read_lines if line.fault)
    return MessageLines(records, tuple(indexes), conversation if messages else None, faults, sheet)


def _line(record: Record, where: str) -> _Line:
    if record.value is MISSING:
        return _Line(fault=Fault(where, record.problem) if record.problem else None)
    try:
        if is_message(record.value):
            return _Line(message(record.value))
        return _Line(preamble=_preamble(record.value))
    except MalformedError as error:
        return _Line(fault=Fault(f"{where}: {error.path}", error.what))


def _preamble(value: Mapping[str, object]) -> str:
    tools = value.get("tools") or value.get("functions")
    if isinstance(tools, list):
        return compact(tools, "$.tools")
    return tools if isinstance(tools, str) else ""


@dataclass(frozen=True, slots=True)
class ConversationLine:
    """One line that holds a whole conversation; `indexes` holds the message index of each element, or None."""

    raw: bytes
    conversation: Conversation | None = None
    faults: tuple[Fault, ...] = ()
    indexes: tuple[int | None, ...] = ()

    def render(self, pieces: Sequence[Piece]) -> bytes:
        """Write the line with `pieces` for its messages; nothing but the `messages` array changes."""
        if self.conversation is None:
            return self.raw
        span = members(self.raw, whole(self.raw))["messages"]
        raws = [element.of(self.raw) for element in elements(self.raw, span)]
        places = arranged(self.indexes, pieces)
        chosen = [(p.origin, _written(p, raws, self.conversation.messages)) for p in places]
        return patched(self.raw, [(span, rebuilt(self.raw, span, chosen))])


def _conversation_line(record: Record, name: str) -> ConversationLine:
    where = f"{name}:{record.line}"
    if record.value is MISSING:
        faults = (Fault(where, record.problem),) if record.problem else ()
        return ConversationLine(record.raw, faults=faults)
    try:
        listed = _listed(record.value)
        found = [_element(value, f"$.messages[{n}]") for n, value in enumerate(listed)]
        preamble = _preamble(record.value)
    except MalformedError as error:
        return ConversationLine(record.raw, faults=(Fault(f"{where}: {error.path}", error.what),))
    messages = tuple(m for m in found if m)
    ordinals = iter(range(len(messages)))
    indexes = tuple(next(ordinals) if m else None for m in found)
    conversation = Conversation(with_answers(messages), preamble, name=where)
    return ConversationLine(record.raw, conversation, indexes=indexes)


def _listed(value: Mapping[str, object]) -> list[object]:
    listed = value.get("messages")
    if "messages" not in value:
        raise MalformedError("$.messages", f"missing; there is {', '.join(value) or 'nothing'}")
    if not isinstance(listed, list):
        raise MalformedError("$.messages", f"{brief(listed)} is not an array")
    return listed


def _element(value: object, path: str) -> Message | None:
    if not isinstance(value, dict):
        raise MalformedError(path, f"{brief(value)} is not an object")
    if "role" not in value:
        raise MalformedError(f"{path}.role", "missing")
    try:
        return message(value) if is_message(value) else None
    except MalformedError as error:
        raise MalformedError(path + error.path.removeprefix("$"), error.what) from None


FORMAT = Format(
    name="openai-chat",
    title="OpenAI chat",
    expects='one message a line ({"role": ..., "content": ...}), or one conversation a line ({"messages": [...]})',
    detect=detect,
    read=read,
)
