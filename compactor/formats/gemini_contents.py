"""Which Gemini API conversations does this file hold, and how are they written back?

One content a line or in an array, or one conversation a line: a request with `contents`, or a `history`. The
system instruction and tool schemas of a request are charged for, and stay as they came. Whatever is no content stays
among its neighbours. There is no mark for a compaction: the handoff is a content, followed by a short one of the other
role where the next would have the same (see gemini_places).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

from compactor.core.handoff import is_handoff
from compactor.core.messages import Conversation
from compactor.formats import gemini_parts
from compactor.formats.answers import with_answers
from compactor.formats.gemini_edits import text_part, with_parts
from compactor.formats.gemini_parts import find
from compactor.formats.gemini_places import Holds, New, Slot, bridges, placed, speaker, summary_text
from compactor.formats.jsonbytes import elements, members, patched, quoted, rebuilt, whole
from compactor.formats.records import MISSING, brief
from compactor.formats.row import Fault, Format
from compactor.formats.values import MalformedError, compact

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from compactor.core.messages import Message, Piece
    from compactor.formats.gemini_places import Place, Stay
    from compactor.formats.records import Record
    from compactor.formats.row import Row, Sheet

# "function" is what early libraries called the one who answers a function call.
SPEAKERS = frozenset({"user", "model", "function"})
LISTS = ("contents", "history")


def detect(values: Sequence[Mapping[str, object]]) -> bool:
    """Tell from the first objects of a file whether it holds contents, or lists of them."""
    return any(_is_content(value) or _holds_contents(value) for value in values)


def _is_content(value: Mapping[str, object]) -> bool:
    return isinstance(value.get("parts"), list) and value.get("role") in SPEAKERS


def _holds_contents(value: Mapping[str, object]) -> bool:
    listed = _list(value)
    return isinstance(listed, list) and any(isinstance(c, dict) and isinstance(c.get("parts"), list) for c in listed)


def _list(value: Mapping[str, object]) -> object:
    return next((value[key] for key in LISTS if isinstance(value.get(key), list)), None)


def read(records: Iterable[Record], name: str, sheet: Sheet) -> Iterator[Row]:
    """Read the records of a file into rows: all of them one row, or each its own."""
    ahead: list[Record] = []
    rest = iter(records)
    for record in rest:
        ahead.append(record)
        if record.value is MISSING:
            continue
        if _list(record.value) is not None:
            yield from (_contents_line(r, name) for r in chain(ahead, rest))
            return
        if "parts" in record.value:
            break
    if ahead:
        yield _content_lines(tuple(chain(ahead, rest)), name, sheet)


@dataclass(frozen=True, slots=True)
class ContentLines:
    """A whole file, one content a record."""

    records: tuple[Record, ...]
    slots: tuple[Slot, ...]
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
        return self.sheet.write(self.records, _chosen(self.slots, pieces, messages))


@dataclass(frozen=True, slots=True)
class ContentsLine:
    """One record that holds a whole conversation."""

    raw: bytes
    conversation: Conversation | None = None
    faults: tuple[Fault, ...] = ()
    slots: tuple[Slot, ...] = ()

    def render(self, pieces: Sequence[Piece]) -> bytes:
        """Write the record with `pieces` for its messages; nothing but the list of contents changes."""
        if self.conversation is None:
            return self.raw
        found = members(self.raw, whole(self.raw))
        span = next(found[key] for key in LISTS if key in found and found[key].of(self.raw).startswith(b"["))
        chosen = _chosen(self.slots, pieces, self.conversation.messages)
        return patched(self.raw, [(span, rebuilt(self.raw, span, chosen))])


def _chosen(
    slots: Sequence[Slot], pieces: Sequence[Piece], messages: Sequence[Message]
) -> list[tuple[int | None, bytes]]:
    return [_written(place, messages) for place in placed(slots, pieces)]


def _written(place: Place, messages: Sequence[Message]) -> tuple[int | None, bytes]:
    if isinstance(place, New):
        return None, b'{"role":' + quoted(place.speaker) + b',"parts":[' + text_part(place.text) + b"]}"
    return place.slot.origin, _kept_bytes(place, messages)


def _kept_bytes(stay: Stay, messages: Sequence[Message]) -> bytes:
    raw = stay.slot.raw
    for index, kept in stay.kept.items():
        if kept.stubs or kept.without_calls or kept.without_results:
            span = members(raw, whole(raw))["parts"]
            raw = patched(raw, [(span, with_parts(span.of(raw), messages[index], kept))])
    return raw


def _content_lines(records: tuple[Record, ...], name: str, sheet: Sheet) -> ContentLines:
    turns: list[Message | Fault | None] = []
    for record in records:
        where = f"{name}:{record.line}"
        try:
            turns.append(_record(record, where))
        except MalformedError as error:
            turns.append(Fault(f"{where}: {error.path}", error.what))
    slots, conversation = _laid_out([r.raw for r in records], turns, name)
    faults = tuple(turn for turn in turns if isinstance(turn, Fault))
    return ContentLines(records, slots, conversation if conversation.messages else None, faults, sheet)


def _record(record: Record, where: str) -> Message | Fault | None:
    if record.value is MISSING:
        return Fault(where, record.problem) if record.problem else None
    return _turn(record.value, "$") if "parts" in record.value and "role" in record.value else None


def _turn(value: Mapping[str, object], path: str) -> Message:
    """Read one content; without a role it is the user's, as the API has it."""
    role = value.get("role") or "user"
    if role not in SPEAKERS:
        raise MalformedError(f"{path}.role", f"{brief(role)} is none of {', '.join(sorted(SPEAKERS))}")
    found = value.get("parts")
    if found is not None and not isinstance(found, list):
        raise MalformedError(f"{path}.parts", f"{brief(found)} is not an array")
    return gemini_parts.message(str(role), gemini_parts.parts(found, f"{path}.parts"))


def _laid_out(
    raws: Sequence[bytes], turns: Sequence[Message | Fault | None], name: str, preamble: str = ""
) -> tuple[tuple[Slot, ...], Conversation]:
    """Say what stands where; what follows a summary only to hand the word on is one message with it."""
    messages: list[Message] = []
    slots: list[Slot] = []
    gaps: set[int] = set()
    joined = False  # the last record was a summary and nothing has followed it
    for origin, (raw, turn) in enumerate(zip(raws, turns, strict=True)):
        if not isinstance(turn, Fault) and turn is not None:
            joined = bool(messages) and not joined and bridges(messages[-1], turn)
            if not joined:
                messages.append(turn)
            elif not is_handoff(messages[-1]):
                messages[-1] = replace(messages[-1], text=summary_text(messages[-1].text))
            last = len(messages) - 1
            slots.append(Slot(raw, Holds.MESSAGES, origin, last, last + 1, speaker(turn.role)))
            continue
        if turn is not None:
            gaps.add(len(messages) - 1)
        slots.append(Slot(raw, Holds.RECORD, origin))
    return tuple(slots), Conversation(with_answers(tuple(messages)), preamble, frozenset(gaps), name)


def _contents_line(record: Record, name: str) -> ContentsLine:
    where = f"{name}:{record.line}"
    if record.value is MISSING:
        return ContentsLine(record.raw, faults=(Fault(where, record.problem),) if record.problem else ())
    try:
        key = next((k for k in LISTS if isinstance(record.value.get(k), list)), "")
        if not key:
            what = f"missing; there is {', '.join(record.value) or 'nothing'}"
            raise MalformedError("$.contents", what)  # noqa: TRY301 - reported like all the others
        listed = record.value[key]
        turns: list[Message | Fault | None] = [
            _turn(gemini_parts.mapping(value, f"$.{key}[{n}]"), f"$.{key}[{n}]")
            for n, value in enumerate(listed if isinstance(listed, list) else ())
        ]
        preamble = _preamble(record.value)
    except MalformedError as error:
        return ContentsLine(record.raw, faults=(Fault(f"{where}: {error.path}", error.what),))
    raws = [span.of(record.raw) for span in elements(record.raw, members(record.raw, whole(record.raw))[key])]
    slots, conversation = _laid_out(raws, turns, where, preamble)
    return ContentsLine(record.raw, conversation, slots=slots)


def _preamble(value: Mapping[str, object]) -> str:
    """Give what a request says beside its contents: the instruction, as text, and the tools, as JSON."""
    instruction = find(value, "systemInstruction")
    said = instruction.get("parts") if isinstance(instruction, dict) else instruction
    words = [part.text for part in gemini_parts.parts(said, "$.systemInstruction")]
    tools = [compact(value["tools"], "$.tools")] if value.get("tools") else []
    return "\n".join(filter(None, (*words, *tools)))


FORMAT = Format(
    name="gemini-contents",
    title="Gemini contents",
    expects='contents ({"role": "user" or "model", "parts": [...]}) in an array or one a line, or requests '
    '({"contents": [...]}) one a line',
    detect=detect,
    read=read,
)
