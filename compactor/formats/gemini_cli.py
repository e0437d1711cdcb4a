"""How is a session of gemini-cli read, and what is written so that the client resumes it?

Two layouts: JSON Lines (gemini_session says by which rules they count), and the single JSON object of versions
before 0.40. What the client would not send is no message (gemini_turns).

Rewritten, a session is what the client writes itself: the lines that say what it is, then its messages, one a line.
What had no say any more goes: versions of a message that were replaced, what was rewound, what stood before the last
checkpoint, a `$set` of which all is set again. Notes (info, error, warning, commands) stay where the message
before them stays. What cannot be read stays. A byte order mark goes and the last line ends, because the client appends
to it. Appended, the same messages stand in the client's own checkpoint, after all that there was. Of the single object
nothing but the array of messages changes; it has no mark to append.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple
from uuid import NAMESPACE_OID, uuid5

from compactor.core.handoff import is_handoff
from compactor.core.messages import Conversation
from compactor.formats.answers import with_answers
from compactor.formats.gemini_edits import text_part
from compactor.formats.gemini_places import (
    Holds,
    New,
    Slot,
    bridges,
    placed,
    summary_text,
    unchanged,
)
from compactor.formats.gemini_session import Live, checkpoint, is_event, is_session, standing
from compactor.formats.gemini_turn_edits import Counts, changed
from compactor.formats.gemini_turns import repeats, turns
from compactor.formats.jsonbytes import BOM, members, patched, quoted, rebuilt, whole
from compactor.formats.records import MISSING
from compactor.formats.row import Array, Fault, Format
from compactor.formats.values import MalformedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from compactor.core.messages import Message, Piece
    from compactor.formats.gemini_places import Stay
    from compactor.formats.gemini_session import Standing
    from compactor.formats.records import Record
    from compactor.formats.row import Row, Sheet


def detect(values: Sequence[Mapping[str, object]]) -> bool:
    """Tell from the first objects of a file whether it is a session."""
    return any(is_session(value) or is_event(value) for value in values)


def read(records: Iterable[Record], name: str, sheet: Sheet) -> Iterator[Row]:
    """Read the records of a file: one session, or sessions of the old layout, each a record."""
    found = tuple(records)
    values = [r.value for r in found if r.value is not MISSING]
    if isinstance(sheet, Array) or (values and all(isinstance(v.get("messages"), list) for v in values)):
        for record in found:
            session = _session((record,), name)
            yield SessionObject(record.raw, session.conversation, session.faults, session.slots)
    elif found:
        yield SessionLines(found, _session(found, name))


class Session(NamedTuple):
    """What a session holds: what stands where, what a model would have read, and what nobody could read."""

    slots: tuple[Slot, ...]
    conversation: Conversation | None
    faults: tuple[Fault, ...]


@dataclass(frozen=True, slots=True)
class SessionLines:
    """A whole file of JSON Lines."""

    records: tuple[Record, ...]
    session: Session

    @property
    def raw(self) -> bytes:
        """The bytes as they came."""
        return b"".join(record.raw for record in self.records)

    @property
    def conversation(self) -> Conversation | None:
        """What a model would have read."""
        return self.session.conversation

    @property
    def faults(self) -> Sequence[Fault]:
        """The records that could not be read."""
        return self.session.faults

    def render(self, pieces: Sequence[Piece]) -> bytes:
        """Write the session anew, or as it came if all of it stays."""
        messages = self.conversation.messages if self.conversation else ()
        if unchanged(pieces, len(messages)):
            return self.raw
        end = self._line_end()
        chosen = (raw for _, raw in _chosen(self.session.slots, pieces, messages))
        return b"".join(raw.removeprefix(BOM).removesuffix(b"\n").removesuffix(b"\r") + end for raw in chosen)

    def append(self, pieces: Sequence[Piece]) -> bytes:
        """Write all records as they came, then a checkpoint with the messages that stay."""
        messages = self.conversation.messages if self.conversation else ()
        slots = [s for s in self.session.slots if s.holds is not Holds.RECORD]
        listed = b",".join(raw for _, raw in _chosen(slots, pieces, messages))
        before = self.raw if self.raw.endswith(b"\n") else self.raw + self._line_end()
        return before + b'{"$set":{"messages":[' + listed + b"]}}" + self._line_end()

    def _line_end(self) -> bytes:
        first = next((r.raw for r in self.records if r.raw.endswith(b"\n")), b"")
        return b"\r\n" if first.endswith(b"\r\n") else b"\n"


@dataclass(frozen=True, slots=True)
class SessionObject:
    """A session that is one JSON object."""

    raw: bytes
    conversation: Conversation | None
    faults: Sequence[Fault]
    slots: tuple[Slot, ...]

    def render(self, pieces: Sequence[Piece]) -> bytes:
        """Write the object with `pieces` for its messages, or as it came if all of it stays."""
        messages = self.conversation.messages if self.conversation else ()
        if unchanged(pieces, len(messages)):
            return self.raw
        raw = self.raw[whole(self.raw).start :]
        span = members(raw, whole(raw))["messages"]
        chosen = _chosen([s for s in self.slots if s.origin is not None], pieces, messages)
        return patched(raw, [(span, rebuilt(raw, span, chosen))])


def _session(records: Sequence[Record], name: str) -> Session:
    """Lay out a session; what follows a summary only to hand the word on is one message with it."""
    messages: list[Message] = []
    slots: list[Slot] = []
    faults: list[Fault] = []
    gaps: set[int] = set()
    before: Live | None = None  # the record of the last message
    joined = False  # that record belongs to the summary before it
    rebuilt_at = checkpoint(records)
    for item in standing(records, name):
        found, fault = _read(item)
        first = len(messages)
        if fault:
            faults.append(fault)
            gaps |= {first - 1} if item.key.record >= rebuilt_at else set()
        if not found or not isinstance(item, Live):
            slots.append(_slot(item, Holds.RECORD if fault or not isinstance(item, Live) else Holds.ASIDE))
            continue
        if repeats(item.value, before.value if before else None):
            slots.append(_slot(item, Holds.COPY))
            continue
        joined = len(found) == 1 and bool(messages) and not joined and bridges(messages[-1], found[0])
        if not joined:
            messages += found
        elif not is_handoff(messages[-1]):
            messages[-1] = replace(messages[-1], text=summary_text(messages[-1].text))
        slots.append(_slot(item, Holds.MESSAGES, first - joined, len(messages)))
        before = item
    conversation = Conversation(with_answers(tuple(messages)), gaps=frozenset(gaps), name=name)
    return Session(tuple(slots), conversation if messages else None, tuple(faults))


def _read(item: Standing) -> tuple[tuple[Message, ...], Fault | None]:
    if not isinstance(item, Live):
        return (), Fault(item.where, item.problem) if item.problem else None
    try:
        return turns(item.value), None
    except MalformedError as error:
        return (), Fault(f"{item.where}: {item.path}{error.path.removeprefix('$')}", error.what)


def _slot(item: Standing, holds: Holds, start: int = 0, stop: int = 0) -> Slot:
    origin = item.key.element if item.key.element >= 0 else None
    if not isinstance(item, Live):
        return Slot(item.raw, holds, origin)
    speaker = "model" if item.value.get("type") == "gemini" else "user"
    said = (str(item.value.get(key) or "") for key in ("id", "timestamp"))
    return Slot(item.raw, holds, origin, start, stop, speaker, *said)


def _chosen(
    slots: Sequence[Slot], pieces: Sequence[Piece], messages: Sequence[Message]
) -> list[tuple[int | None, bytes]]:
    places = placed(slots, pieces)
    counts = Counts.GO if any(isinstance(place, New) for place in places) else Counts.STAY
    began = next((slot.time for slot in slots if slot.time), "")
    return [
        (None, _new(place, began)) if isinstance(place, New) else (place.slot.origin, _kept(place, messages, counts))
        for place in places
    ]


def _new(turn: New, began: str) -> bytes:
    """Write a message record; it repeats the time of the one before it, and its id says what it is and where."""
    before = turn.after.id if turn.after else ""
    head = b'{"id":' + quoted(str(uuid5(NAMESPACE_OID, f"{before}|{turn.text}")))
    head += b',"timestamp":' + quoted(turn.after.time if turn.after else began)
    kind = b"gemini" if turn.speaker == "model" else b"user"
    return head + b',"type":"' + kind + b'","content":[' + text_part(turn.text) + b"]}"


def _kept(stay: Stay, messages: Sequence[Message], counts: Counts) -> bytes:
    slot = stay.slot
    if slot.holds is Holds.RECORD:
        return slot.raw
    pairs = [(messages[n], stay.kept.get(n)) for n in range(slot.start, slot.stop)]
    return changed(slot.raw, pairs, counts)


FORMAT = Format(
    name="gemini-cli",
    title="gemini-cli session",
    expects='JSON Lines that begin with {"sessionId": ..., "projectHash": ...}, or one such object with "messages"',
    detect=detect,
    read=read,
    mark='{"$set": {"messages": [...]}}',
    resumes="gemini-cli",
)
