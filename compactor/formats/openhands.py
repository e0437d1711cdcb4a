"""What does an OpenHands conversation hold, and how is it written so that the tool goes on from it?

A log has an event a line or an element; an evaluation has a conversation a line, its events under `history`. The
tool's own mark is the `Condensation`, which says what the model no longer reads and what it reads instead.

Appended: the log as it came, then copies with ids of their own of the kept events, from the first on that changes or
has lost an event that the tool reads together with it, then a condensation. Rewritten: what the model no longer reads
goes, so do earlier condensations and requests for one, and the new one stands where its summary does. All other events
stay, and are linked to what is left.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from compactor.core.messages import Conversation, Kept, Role
from compactor.formats import openhands_edits as edits
from compactor.formats.answers import with_answers
from compactor.formats.jsonbytes import elements, members, patched, rebuilt, whole
from compactor.formats.openhands_events import CONDENSATION, SPOKEN, kind
from compactor.formats.openhands_log import appended, rewritten
from compactor.formats.openhands_view import View, view
from compactor.formats.records import MISSING, Record
from compactor.formats.records import read as read_records
from compactor.formats.row import Fault, Format
from compactor.formats.values import compact

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from compactor.core.messages import Piece
    from compactor.formats.row import Row, Sheet

_SOURCES = frozenset({"agent", "user", "environment", "hook"})
_OTHERS = frozenset({CONDENSATION, "CondensationRequest", "ConversationStateUpdateEvent", "PauseEvent"})


def detect(values: Sequence[Mapping[str, object]]) -> bool:
    """Tell from the first objects of a file whether it is ours: an event, or an instance with a history of events."""
    return any(_is_event(value) or _is_instance(value) for value in values)


def _is_event(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    return kind(value) in SPOKEN | _OTHERS and value.get("source") in _SOURCES


def _is_instance(value: Mapping[str, object]) -> bool:
    listed = value.get("history")
    if isinstance(listed, list) and any(map(_is_event, listed)):
        return True
    return "instance_id" in value and "history" in value and "test_result" in value


def read(records: Iterable[Record], name: str, sheet: Sheet) -> Iterator[Row]:
    """Read the records of a file into one row, or into one for each instance of an evaluation."""
    ahead: list[Record] = []
    rest = iter(records)
    for record in rest:
        ahead.append(record)
        if record.value is not MISSING and _is_instance(record.value):
            yield from (_instance(r, f"{name}:{r.line}") for r in chain(ahead, rest))
            return
        if record.value is not MISSING and _is_event(record.value):
            break
    if ahead:
        listed = tuple(chain(ahead, rest))
        yield _log(listed, name, sheet, [f"{name}:{record.line}" for record in listed])


def _instance(record: Record, where: str) -> EventLog:
    """Read one line of an evaluation; a history may be null."""
    sheet = History(record.raw)
    listed = record.value.get("history") if record.value is not MISSING else None
    if not isinstance(listed, list):
        faults = (Fault(where, record.problem),) if record.problem else ()
        return EventLog((), View((), (), (), {}), None, faults, sheet)
    if listed and not any(map(_is_event, listed)):
        fault = Fault(f"{where}: $.history", "its events have no `kind`: those of OpenHands before 1.0 are not read")
        return EventLog((), View((), (), (), {}), None, (fault,), sheet)
    span = members(record.raw, whole(record.raw))["history"]
    found = [next(iter(read_records([place.of(record.raw)]))) for place in elements(record.raw, span)]
    places = [f"{where}: $.history[{n}]" for n in range(len(found))]
    return _log(tuple(found), where, sheet, places)


def _log(records: tuple[Record, ...], name: str, sheet: Sheet | History, places: Sequence[str]) -> EventLog:
    seen = view(records)
    faults, faulty = [], []
    for n, record in enumerate(records):
        if n in seen.faulty:
            faults.append(Fault(f"{places[n]}: {seen.faulty[n].path}", seen.faulty[n].what))
        elif record.problem:
            faults.append(Fault(places[n], record.problem))
        else:
            continue
        faulty.append(n)
    starts = [turn.events[0] for turn in seen.turns]
    gaps = frozenset(max((i for i, start in enumerate(starts) if start < n), default=-1) for n in faulty)
    messages = with_answers(tuple(turn.message for turn in seen.turns))
    conversation = Conversation(messages, _tools(records, seen), gaps, name, voice=Role.USER) if messages else None
    return EventLog(records, seen, conversation, tuple(faults), sheet)


def _tools(records: Sequence[Record], seen: View) -> str:
    """Give the tool schemas that the model is charged for."""
    values = [records[n].value for n in seen.shown]
    listed = next((v["tools"] for v in values if v is not MISSING and v.get("tools")), None)
    return compact(listed, "$.tools") if isinstance(listed, list) else ""


@dataclass(frozen=True, slots=True)
class History:
    """Records are the elements of the list under `history` in one line of an evaluation."""

    line: bytes

    def raw(self, records: Sequence[Record]) -> bytes:  # noqa: ARG002 - as Lines
        """Give the bytes that the records came as."""
        return self.line

    def write(self, records: Sequence[Record], chosen: Sequence[tuple[int | None, bytes]]) -> bytes:  # noqa: ARG002
        """Write the line with `chosen` for its history."""
        span = members(self.line, whole(self.line))["history"]
        return patched(self.line, [(span, rebuilt(self.line, span, chosen))])


@dataclass(frozen=True, slots=True)
class EventLog:
    """A conversation: its events, and what the model reads of them now."""

    records: tuple[Record, ...]
    seen: View
    conversation: Conversation | None
    faults: tuple[Fault, ...]
    sheet: Sheet | History

    @property
    def raw(self) -> bytes:
        """The bytes as they came."""
        return self.sheet.raw(self.records)

    def render(self, pieces: Sequence[Piece]) -> bytes:
        """Write the log with `pieces` for its messages."""
        changed = edits.changed(self.records, self.seen.turns, pieces)
        if [p.index if isinstance(p, Kept) else None for p in pieces] != list(range(len(self.seen.turns))):
            return self.sheet.write(self.records, rewritten(self.records, self.seen, pieces, changed))
        if not changed:
            return self.raw
        return self.sheet.write(self.records, [(n, changed.get(n, r.raw)) for n, r in enumerate(self.records)])

    def append(self, pieces: Sequence[Piece]) -> bytes:
        """Write the log as it came, then the mark, then what has to stand after it. `pieces` must have a handoff."""
        changed = edits.changed(self.records, self.seen.turns, pieces)
        old = [(n, record.raw) for n, record in enumerate(self.records)]
        new = [(None, raw) for raw in appended(self.records, self.seen, pieces, changed)]
        return self.sheet.write(self.records, [*old, *new])


FORMAT = Format(
    name="openhands",
    title="OpenHands events",
    expects='one event a line ({"kind": "MessageEvent", "id": ..., "source": ...}), or one instance of an evaluation '
    'a line ({"instance_id": ..., "history": [...]})',
    detect=detect,
    read=read,
    mark="Condensation",
)
