"""Which events stand in an OpenHands log after a compaction, in which order, and how are they linked?

Works on ordinals of the events as they came. `changed` holds the bytes of those that change.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from compactor.core.messages import Handoff, Kept
from compactor.formats import openhands_edits as edits
from compactor.formats.openhands_events import CONDENSATION, SPOKEN, kind
from compactor.formats.records import MISSING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from compactor.core.messages import Piece
    from compactor.formats.openhands_view import View
    from compactor.formats.records import Record

_GOES = frozenset({CONDENSATION, "CondensationRequest"})


def _values(records: Sequence[Record]) -> list[Mapping[str, object]]:
    return [{} if record.value is MISSING else record.value for record in records]


def _events(seen: View, pieces: Sequence[Piece]) -> list[int]:
    """List the events of the messages that are kept."""
    return [n for piece in pieces if isinstance(piece, Kept) for n in seen.turns[piece.index].events]


def rewritten(
    records: Sequence[Record], seen: View, pieces: Sequence[Piece], changed: Mapping[int, bytes]
) -> list[tuple[int | None, bytes]]:
    """Give the smaller log: (ordinal of the event that it was, None for a new one; its bytes)."""
    values = _values(records)
    kept = set(_events(seen, pieces))
    gone = {n for turn in seen.turns for n in turn.events}
    gone |= {n for n in seen.path if kind(values[n]) in SPOKEN and n not in seen.shown}
    gone |= {n for n, value in enumerate(values) if kind(value) in _GOES}
    others = [n for n in range(len(records)) if n not in gone | kept]
    log = _Written(values, seen, any(isinstance(value.get("parent_id"), str) for value in values))
    for number, piece in enumerate(pieces):
        if isinstance(piece, Handoff):
            near = next(iter(_events(seen, pieces[number:])), seen.path[-1])
            log.put_mark(piece.text, near)
            continue
        for n in seen.turns[piece.index].events:
            while others and others[0] < n:
                other = others.pop(0)
                log.put(other, records[other].raw)
            log.put(n, changed.get(n, records[n].raw))
    for n in others:
        log.put(n, records[n].raw)
    return log.chosen


@dataclass(slots=True)
class _Written:
    """What has been written so far: the events, the id of the last on the path, and how many the model reads."""

    values: Sequence[Mapping[str, object]]
    seen: View
    tree: bool
    chosen: list[tuple[int | None, bytes]] = field(default_factory=list)
    names: set[object] = field(default_factory=set)
    last: str = ""
    spoken: int = 0

    def put_mark(self, text: str, near: int) -> None:
        mark = edits.condensation(self.values, near, self.last if self.tree else "", [], text, self.spoken)
        self.chosen.append((None, mark.raw))
        self._stands(mark.name)

    def put(self, n: int, raw: bytes) -> None:
        value, on_path = self.values[n], n in self.seen.path
        if kind(value) == CONDENSATION:
            raw = edits.moved(raw, self.spoken, self.last if self.tree else "")
        elif isinstance(parent := value.get("parent_id"), str):
            lost = parent != self.last if on_path and self.last else parent in self._gone()
            raw = edits.linked(raw, {"parent_id": self.last}) if lost else raw
        self.chosen.append((n, raw))
        self.names.add(value.get("id"))
        if on_path:
            self._stands(str(value.get("id") or ""))
            self.spoken += kind(value) in SPOKEN

    def _gone(self) -> set[object]:
        return {value.get("id") for value in self.values} - self.names

    def _stands(self, name: str) -> None:
        self.last = name or self.last
        self.names.add(name)


def appended(
    records: Sequence[Record], seen: View, pieces: Sequence[Piece], changed: Mapping[int, bytes]
) -> list[bytes]:
    """Give what stands after the old log: the mark, and copies of the tail from the first event on that changes."""
    values = _values(records)
    place, handoff = next((n, piece) for n, piece in enumerate(pieces) if isinstance(piece, Handoff))
    head = _events(seen, pieces[:place])
    stays, copied = _tail(head, _events(seen, pieces[place:]), changed)
    end = max(n for turn in seen.turns for n in turn.events)
    forgotten = [_name(values[n]) for n in seen.shown if n <= end and n not in {*head, *stays}]
    last = seen.path[-1]
    tree = isinstance(values[last].get("parent_id"), str)
    parent = str(values[last].get("id") or "") if tree else ""
    mark = edits.condensation(values, last, parent, forgotten, handoff.text, len(head))
    names = {str(values[n].get(key)) for n in copied for key in ("id", "llm_response_id") if values[n].get(key)}
    new = {name: edits.new_name(mark.name, name) for name in names}
    made = [mark.raw]
    parent = mark.name
    for n in copied:
        links = {k: new[str(values[n][k])] for k in ("id", "action_id", "llm_response_id") if values[n].get(k) in new}
        links |= {"parent_id": parent} if tree else {}
        made.append(edits.linked(changed.get(n, records[n].raw), links).strip())
        parent = links["id"]
    return made


def _tail(head: Sequence[int], tail: Sequence[int], changed: Mapping[int, bytes]) -> tuple[list[int], list[int]]:
    """Divide the events of the tail into those that may stay where they are, and those that have to come anew."""
    newest = max(head, default=-1)
    for at, n in enumerate(tail):
        if n in changed or n < newest:
            return list(tail[:at]), list(tail[at:])
        newest = n
    return list(tail), []


def _name(value: Mapping[str, object]) -> str:
    """Name an event as condensations do; the summary of an earlier one has a name of its own."""
    return f"{value.get('id')}-summary" if kind(value) == CONDENSATION else str(value.get("id"))
