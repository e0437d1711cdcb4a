"""How is a Codex session read, and what is written so that the client resumes it?

A session is the records of one file; `codex_session` says which items are in force. Rewritten: the client's own mark of
a compaction, a `compacted` record whose `replacement_history` holds head and handoff, and after it the tail as it came;
`codex_staying` says what else stays. Appended: the old records as they came, then the mark, a copy of the tail, and the
newest token count, lowered. After either the client puts its instructions into the context anew. Changes without
a new handoff are made in place. A byte order mark goes, since the client does not read one, and every record ends its
line, since the client appends to the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import NAMESPACE_OID, uuid5

from compactor.core.messages import Handoff, Kept
from compactor.formats.codex_session import event_of, is_injected, payload_of, replay
from compactor.formats.codex_staying import about, around, lowered, repeated
from compactor.formats.jsonbytes import BOM, Span, elements, members, patched, quoted, rebuilt, whole
from compactor.formats.openai_responses import conversation_of
from compactor.formats.records import MISSING
from compactor.formats.responses_edits import plan, words
from compactor.formats.responses_turns import reading
from compactor.formats.row import Fault, Format, Lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from compactor.core.messages import Conversation, Piece
    from compactor.formats.codex_session import Replay
    from compactor.formats.records import Record
    from compactor.formats.responses_edits import Plan
    from compactor.formats.responses_turns import Reading
    from compactor.formats.row import Row, Sheet

_KINDS = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})


def detect(values: Sequence[Mapping[str, object]]) -> bool:
    """Tell from the first objects of a file whether it is ours: a known type and what it carries."""
    return any(value.get("type") in _KINDS and isinstance(value.get("payload"), dict) for value in values)


def read(records: Iterable[Record], name: str, sheet: Sheet) -> Iterator[Row]:
    """Read the records of a file into one row."""
    listed = tuple(records)
    live = replay(listed)
    found = reading(
        [item.value for item in live.items],
        frozenset(n for n, item in enumerate(live.items) if is_injected(item)),
    )
    faults = sorted(_faults(listed, live, found, name))
    after = [n for n, record in enumerate(listed) if record.problem and n > live.mark]
    gaps = [sum(item.record < n for item in live.items) for n in after]
    unread = [n for n, item in enumerate(live.items) if n in found.bad or item.problem]
    conversation = conversation_of(found, [*gaps, *unread], name)
    yield Session(listed, live, found, conversation, tuple(fault for _, fault in faults), sheet)


def _faults(
    records: Sequence[Record], live: Replay, found: Reading, name: str
) -> Iterator[tuple[tuple[int, int], Fault]]:
    """Give each fault with the place at which it stands."""
    for n, record in enumerate(records):
        if record.problem:
            yield (n, -1), Fault(f"{name}:{record.line}", record.problem)
    for n, item in enumerate(live.items):
        at = "$.payload" if item.element < 0 else f"$.payload.replacement_history[{item.element}]"
        where = f"{name}:{records[item.record].line}: {at}"
        if n in found.bad:
            yield (item.record, item.element), Fault(where + found.bad[n].path.removeprefix("$"), found.bad[n].what)
        elif item.problem:
            yield (item.record, item.element), Fault(where, item.problem)


@dataclass(frozen=True, slots=True)
class Session:
    """A whole file."""

    records: tuple[Record, ...]
    replay: Replay
    reading: Reading
    conversation: Conversation | None
    faults: tuple[Fault, ...]
    sheet: Sheet

    @property
    def raw(self) -> bytes:
        """The bytes as they came."""
        return self.sheet.raw(self.records)

    def render(self, pieces: Sequence[Piece]) -> bytes:
        """Write the smaller file."""
        what = plan(self.reading.turns, [item.raw for item in self.replay.items], pieces)
        if what.handoff:
            return self._marked(what, what.handoff, pieces)
        changes = {n: raw for n, raw in what.items.items() if raw != self.replay.items[n].raw}
        return self._edited(changes, pieces) if changes else self.raw

    def append(self, pieces: Sequence[Piece]) -> bytes:
        """Write the file as it came, then the mark and the tail. `pieces` must have a handoff."""
        what = plan(self.reading.turns, [item.raw for item in self.replay.items], pieces)
        time = next((t for record in reversed(self.records) if (t := _time(record))), b"")
        own = self._own(what)
        new = [self._mark(what, what.handoff, time, own.values())] if what.handoff else []
        if any(event_of(record) == "thread_rolled_back" for record in self.records):
            new.insert(0, _begun(new, time))  # else the client would take the mark back together with a turn before it
        counts = [record for record in self.records if event_of(record) == "token_count" and _counted(record)]
        new += [self._record(n, what.items[item]) for n, item in sorted(own.items())]
        new += [lowered(record) for record in counts[-1:]]
        chosen = [(n, record.raw) for n, record in enumerate(self.records)]
        return self._file([*chosen, *((None, raw) for raw in new)])

    def _marked(self, what: Plan, handoff: Handoff, pieces: Sequence[Piece]) -> bytes:
        """Write a new mark, the head in it, and what stays around it."""
        items, own = self.replay.items, self._own(what)
        whole_tail = sum(raw is not None for raw in what.items.values()) - len(what.head)
        begin = self.replay.mark + 1 if len(own) < whole_tail else min(own, default=len(self.records))
        head = items[what.at].record if what.at < len(items) else len(self.records)
        unread = {items[n].record for n in self._unread()}
        stay = around(self.records, head if self.replay.mark < 0 else 0, begin, unread | own.keys())
        neighbours = [self.records[n] for n in (*stay.after, *reversed(stay.before))]
        time = next((t for record in neighbours if (t := _time(record))), b"")
        mark = self._mark(what, handoff, time, own.values())
        pruned = self._pruned(pieces)
        after = [n for n in stay.after if not about(self.records[n], pruned)]
        chosen: list[tuple[int | None, bytes]] = [(n, self.records[n].raw) for n in stay.before]
        chosen.append((None, mark))
        chosen += [(n, self._record(n, what.items[own[n]]) if n in own else lowered(self.records[n])) for n in after]
        return self._file(chosen)

    def _own(self, what: Plan) -> dict[int, int]:
        """Find the items of the tail that are records of their own: by record, the ordinal of the item."""
        tail = (n for n, raw in what.items.items() if raw is not None and n not in what.head)
        return {self.replay.items[n].record: n for n in tail if self.replay.items[n].element < 0}

    def _unread(self) -> frozenset[int]:
        """Find the items that could not be read and are records of their own."""
        items = self.replay.items
        return frozenset(n for n, i in enumerate(items) if i.element < 0 and (n in self.reading.bad or i.problem))

    def _mark(self, what: Plan, handoff: Handoff, time: bytes, tail: Iterable[int]) -> bytes:
        """Write a mark; `tail` are the items that stand after it."""
        apart = self._unread().union(tail)
        history: list[bytes] = []
        for n, item in enumerate(self.replay.items):
            if n == what.at:
                history.append(words(handoff.role, handoff.text))
            raw = what.items.get(n, item.raw)
            if raw is not None and n not in self.reading.lapsed and n not in apart:
                history.append(whole(raw).of(raw))
        head = b'{"timestamp":' + time + b',"type":"compacted"' if time else b'{"type":"compacted"'
        body = b'{"message":' + quoted(handoff.text) + b',"replacement_history":[' + b",".join(history) + b"]}"
        return head + b',"payload":' + body + b"}"

    def _edited(self, changes: Mapping[int, bytes | None], pieces: Sequence[Piece]) -> bytes:
        """Write the file with items changed in place."""
        items = self.replay.items
        own = {items[n].record: raw for n, raw in changes.items() if items[n].element < 0}
        inside = {items[n].element: raw for n, raw in changes.items() if items[n].element >= 0}
        first = min(items[n].record for n in changes)
        gone, pruned = repeated(self.records), self._pruned(pieces)
        chosen: list[tuple[int | None, bytes]] = []
        for n, record in enumerate(self.records):
            if n in own:
                raw = own[n]
                chosen += [] if raw is None else [(n, self._record(n, raw))]
            elif n == self.replay.mark and inside:
                chosen.append((n, _history(record.raw, inside)))
            elif n not in gone and not (n > self.replay.mark and about(record, pruned)):
                chosen.append((n, lowered(record) if n > first else record.raw))
        return self._file(chosen)

    def _record(self, ordinal: int, item: bytes | None) -> bytes:
        """Write the record of an item that stays."""
        raw = self.records[ordinal].raw
        return patched(raw, [(members(raw, whole(raw))["payload"], item or b"null")])

    def _pruned(self, pieces: Iterable[Piece]) -> frozenset[str]:
        """Find the calls whose results have been pruned, by id."""
        turns = self.reading.turns
        stubbed = [turns[p.index].message for p in pieces if isinstance(p, Kept) and p.stubs]
        return frozenset(result.call_id for message in stubbed for result in message.results) - {""}

    def _file(self, chosen: Sequence[tuple[int | None, bytes]]) -> bytes:
        if not isinstance(self.sheet, Lines):
            return self.sheet.write(self.records, chosen)
        first = next((record.raw for record in self.records if record.raw.endswith(b"\n")), b"\n")
        end = b"\r\n" if first.endswith(b"\r\n") else b"\n"
        raws = (raw.removeprefix(BOM) for _, raw in chosen)
        return b"".join(raw if raw.endswith(b"\n") else raw + end for raw in raws)


def _time(record: Record) -> bytes:
    stamp = None if record.value is MISSING else record.value.get("timestamp")
    return quoted(stamp) if isinstance(stamp, str) else b""


def _counted(record: Record) -> bool:
    return isinstance(payload_of(record).get("info"), dict)


def _begun(about_to_come: Sequence[bytes], time: bytes) -> bytes:
    """Write the event with which a turn begins."""
    turn = quoted(str(uuid5(NAMESPACE_OID, b"".join(about_to_come).decode("utf-8", "replace"))))
    body = b'{"type":"task_started","turn_id":' + turn + b',"model_context_window":null}'
    return b'{"timestamp":' + (time or b'""') + b',"type":"event_msg","payload":' + body + b"}"


def _history(raw: bytes, changes: Mapping[int, bytes | None]) -> bytes:
    """Write a mark with some elements of its history changed or gone, and with them what is said of them."""
    inner = members(raw, members(raw, whole(raw))["payload"])
    place = inner["replacement_history"]
    spans = elements(raw, place)
    listed = [(n, changes.get(n, span.of(raw))) for n, span in enumerate(spans)]
    kept = [(n, new) for n, new in listed if new is not None]
    patches: list[tuple[Span, bytes]] = [(place, rebuilt(raw, place, kept))]
    beside = inner.get("replacement_history_metadata")
    if beside and beside.of(raw).startswith(b"[") and len(told := elements(raw, beside)) == len(spans):
        patches.append((beside, rebuilt(raw, beside, [(n, told[n].of(raw)) for n, _ in kept])))
    return patched(raw, patches)


FORMAT = Format(
    name="codex",
    title="Codex session",
    expects='records with a payload, one a line ({"timestamp": ..., "type": "response_item", "payload": {...}})',
    detect=detect,
    read=read,
    mark="compacted, replacement_history",
    resumes="Codex",
)
