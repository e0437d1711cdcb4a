"""How is a session of Codex read, and what is written so that the client resumes it?

A line is `{"timestamp", "type", "payload"}`; the payloads of `response_item` lines are items of the Responses API, and
they are what a model is given. `event_msg` repeats them for the screen, `turn_context` says under which settings a turn
ran. A `compacted` line is the client's own compaction: its `replacement_history` stands for all items before it.

Rewritten, a session is the lines `session_meta`, the items that stay with the handoff among them, and of the rest what
stands among the items of the tail, with the last `turn_context`. Counts of tokens (`token_count`,
`token_usage_record`) go, or the client would compact again at once; so does a byte order mark, which it refuses.
Appended, the same items stand in a `compacted` line of our own after all that there was.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from compactor.core.messages import Conversation, Handoff, Kept
from compactor.formats.jsonbytes import BOM, elements, members, patched, quoted, rebuilt, whole
from compactor.formats.openai_messages import MalformedError
from compactor.formats.openai_responses import laid_out
from compactor.formats.order import arranged, joined
from compactor.formats.records import MISSING
from compactor.formats.responses_edits import handoff_bytes, kept_bytes
from compactor.formats.responses_items import item
from compactor.formats.row import Fault, Format

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from compactor.core.messages import Piece
    from compactor.formats.records import Record
    from compactor.formats.responses_items import Entry, Item
    from compactor.formats.row import Row, Sheet

LINES = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
COUNTS = frozenset({"token_count", "token_usage_record"})


def detect(values: Sequence[Mapping[str, object]]) -> bool:
    """Tell from the first objects of a file whether it is a session."""
    return any(value.get("type") in LINES and isinstance(value.get("payload"), dict) for value in values)


def read(records: Iterable[Record], name: str, sheet: Sheet) -> Iterator[Row]:
    """Read the records of a file as one session."""
    yield _session(tuple(records), name, sheet)


class Unit(NamedTuple):
    """An item, or a record that is none: the ordinal of its record, its bytes, its place in a compaction's list."""

    record: int
    raw: bytes
    inner: int | None = None


@dataclass(frozen=True, slots=True)
class Session:
    """A session: its records, the units in them with an entry for each that is a message's, what could not be read."""

    records: tuple[Record, ...]
    units: tuple[Unit, ...]
    entries: tuple[Entry | None, ...]
    conversation: Conversation | None
    faults: tuple[Fault, ...]
    sheet: Sheet

    @property
    def raw(self) -> bytes:
        """The bytes as they came."""
        return self.sheet.raw(self.records)

    def render(self, pieces: Sequence[Piece]) -> bytes:
        """Write the session with `pieces` for its messages; with a handoff, what has no say any more goes."""
        if any(isinstance(piece, Handoff) for piece in pieces):
            return _rewritten(self, pieces)
        changed: dict[int, list[tuple[Unit, bytes]]] = {}
        gone = {
            unit.record for unit, entry in zip(self.units, self.entries, strict=True) if entry and unit.inner is None
        }
        for unit, new in _placed(self, pieces):
            if unit is not None:
                changed.setdefault(unit.record, []).append((unit, new))
                gone.discard(unit.record)
        lines = [(n, _line(r, changed.get(n, ()))) for n, r in enumerate(self.records) if n not in gone]
        return self.sheet.write(self.records, lines)

    def append(self, pieces: Sequence[Piece]) -> bytes:
        """Write all that there was, then a compaction of the client's own kind that holds what stays."""
        counts = {unit for unit, entry in zip(self.units, self.entries, strict=True) if entry}
        items = [new for unit, new in _placed(self, pieces) if unit is None or unit in counts]
        text = next(piece.text for piece in pieces if isinstance(piece, Handoff))
        history = b"[" + b",".join(items) + b"]"
        payload = b'{"message":' + quoted(text) + b',"replacement_history":' + history + b"}"
        new = _record_bytes(_timestamp(self.records[-1:]), b"compacted", payload)
        raws = [record.raw for record in self.records]
        return joined(raws, [*enumerate(raws), (None, new)])


def _placed(session: Session, pieces: Sequence[Piece]) -> list[tuple[Unit | None, bytes]]:
    """Give what stays, in order: its unit (None for the handoff) and its bytes, those of the item for items."""
    messages = session.conversation.messages if session.conversation else ()
    found: list[tuple[Unit | None, bytes]] = []
    for origin, piece in arranged([entry.index if entry else None for entry in session.entries], pieces):
        if origin is None:
            found += [(None, handoff_bytes(piece))] if isinstance(piece, Handoff) else []
            continue
        unit, entry = session.units[origin], session.entries[origin]
        new: bytes | None = unit.raw
        if entry and isinstance(piece, Kept):
            new = kept_bytes(unit.raw, entry, messages[entry.index], piece)
        found += [(unit, new)] if new is not None else []
    return found


def _line(record: Record, units: Sequence[tuple[Unit, bytes]]) -> bytes:
    """Write a record with what its units are now."""
    if all(unit.raw == new for unit, new in units) and (not units or units[0][0].inner is None):
        return record.raw
    if units[0][0].inner is None:
        return _with_payload(record.raw, units[0][1])
    payload = members(record.raw, whole(record.raw))["payload"]
    history = members(record.raw, payload)["replacement_history"]
    kept = [(unit.inner, new) for unit, new in units]
    return patched(record.raw, [(history, rebuilt(record.raw, history, kept))])


def _with_payload(raw: bytes, payload: bytes) -> bytes:
    return patched(raw, [(members(raw, whole(raw))["payload"], payload)])


def _rewritten(session: Session, pieces: Sequence[Piece]) -> bytes:
    placed = _placed(session, pieces)
    at = next(n for n, (unit, _) in enumerate(placed) if unit is None)
    message = {session.units[n]: entry for n, entry in enumerate(session.entries)}
    tail = min([u.record for u, _ in placed[at + 1 :] if u and message[u]] or [len(session.records)])
    context = [n for n, r in enumerate(session.records) if _type(r) == "turn_context"]
    latest = {n for n in context[-1:] if n < tail}
    lines: list[tuple[int | None, bytes]] = []
    for unit, new in placed:
        if unit is None:
            lines.append(
                (None, _record_bytes(_timestamp(session.records[tail:] or session.records), b"response_item", new))
            )
        elif message[unit]:
            record = session.records[unit.record]
            one = unit.inner is None
            line = _with_payload(record.raw, new) if one else _record_bytes(_timestamp([record]), b"response_item", new)
            lines.append((unit.record if one else None, line))
        elif _stays(session.records[unit.record], unit.record, tail) or unit.record in latest:
            lines.append((unit.record, unit.raw))
    return joined([r.raw for r in session.records], lines).removeprefix(BOM)


def _stays(record: Record, ordinal: int, tail: int) -> bool:
    """Tell whether a record that is no message stays in a session that is rewritten with a tail from `tail` on."""
    kind = _type(record)
    if record.value is MISSING:
        return bool(record.problem)
    payload = record.value.get("payload")
    counts = kind in COUNTS or (isinstance(payload, dict) and payload.get("type") in COUNTS)
    return kind == "session_meta" or (ordinal >= tail and kind != "compacted" and not counts)


def _type(record: Record) -> str:
    return "" if record.value is MISSING else str(record.value.get("type"))


def _timestamp(records: Sequence[Record]) -> str:
    values = [record.value for record in records if record.value is not MISSING]
    found = [value["timestamp"] for value in values if isinstance(value.get("timestamp"), str)]
    return str(found[0]) if found else ""


def _record_bytes(timestamp: str, kind: bytes, payload: bytes) -> bytes:
    return b'{"timestamp":' + quoted(timestamp) + b',"type":"' + kind + b'","payload":' + payload + b"}"


def _session(records: tuple[Record, ...], name: str, sheet: Sheet) -> Session:
    marks = [n for n, record in enumerate(records) if _history(record) is not None]
    start = marks[-1] if marks else 0
    units: list[Unit] = []
    found: list[Item | Fault | None] = []
    for n, record in enumerate(records):
        for unit, one in _units(n, record, f"{name}:{record.line}"):
            units.append(unit)
            found.append(one if n >= start or isinstance(one, Fault) else None)
    messages, entries, gaps = laid_out(found, [None] * len(found))
    faults = tuple(one for one in found if isinstance(one, Fault))
    conversation = Conversation(messages, _instructions(records), gaps, name) if messages else None
    return Session(records, tuple(units), entries, conversation, faults, sheet)


def _history(record: Record) -> list[object] | None:
    """Give what a compaction put in the place of everything before it."""
    payload = record.value.get("payload") if record.value is not MISSING else None
    listed = payload.get("replacement_history") if isinstance(payload, dict) else None
    return listed if _type(record) == "compacted" and isinstance(listed, list) else None


def _units(n: int, record: Record, where: str) -> Iterator[tuple[Unit, Item | Fault | None]]:
    if record.value is MISSING:
        yield Unit(n, record.raw), Fault(where, record.problem) if record.problem else None
        return
    payload = record.value.get("payload")
    if (history := _history(record)) is not None:
        span = members(record.raw, members(record.raw, whole(record.raw))["payload"])["replacement_history"]
        for inner, (place, value) in enumerate(zip(elements(record.raw, span), history, strict=True)):
            path = f"$.payload.replacement_history[{inner}]"
            yield Unit(n, place.of(record.raw), inner), _item(value, where, path)
        return
    if _type(record) == "response_item" and isinstance(payload, dict):
        raw = members(record.raw, whole(record.raw))["payload"].of(record.raw)
        one = _item(payload, where, "$.payload")
        yield Unit(n, raw if one and not isinstance(one, Fault) else record.raw), one
        return
    yield Unit(n, record.raw), None


def _item(value: object, where: str, path: str) -> Item | Fault | None:
    if not isinstance(value, dict):
        return None
    try:
        return item(value)
    except MalformedError as error:
        return Fault(f"{where}: {path}{error.path.removeprefix('$')}", error.what)


def _instructions(records: Sequence[Record]) -> str:
    """Give the instructions that every request begins with, where the session says them."""
    for record in records:
        payload = record.value.get("payload") if record.value is not MISSING else None
        told = payload.get("base_instructions") if isinstance(payload, dict) else None
        if _type(record) == "session_meta" and isinstance(told, dict) and isinstance(told.get("text"), str):
            return str(told["text"])
    return ""


FORMAT = Format(
    name="codex",
    title="Codex session",
    expects='lines {"timestamp": ..., "type": "session_meta" or "response_item" or ..., "payload": {...}}',
    detect=detect,
    read=read,
    mark="compacted",
    resumes="Codex",
)
