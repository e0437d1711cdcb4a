"""Which events stand in an OpenHands log after a compaction, in which order, and how are they linked?

Works on ordinals of the events as they came. `changed` holds the bytes of those that change.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from compactor.core.messages import Handoff, Kept
from compactor.formats import openhands_edits as edits
from compactor.formats.openhands_events import CONDENSATION, SPOKEN, kind
from compactor.formats.openhands_view import loops
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
    gone |= _forgotten(values, seen)
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


def _forgotten(values: Sequence[Mapping[str, object]], seen: View) -> set[int]:
    """Find the events that a condensation took out of view, and those that it left there without their partner."""
    gone = {n for n in seen.path if kind(values[n]) in SPOKEN and n not in seen.shown}
    names = {values[n].get(key) for n in gone for key in ("id", "action_id") if values[n].get(key)}
    read = {n for turn in seen.turns for n in turn.events}
    left = {n for n in seen.shown if n not in read and names & {values[n].get("id"), values[n].get("action_id")}}
    return gone | left


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
    """Give what stands after the old log: copies of kept events from the first on that cannot stay, then the mark."""
    values = _values(records)
    place, handoff = next((n, piece) for n, piece in enumerate(pieces) if isinstance(piece, Handoff))
    head = _events(seen, pieces[:place])
    kept = [*head, *_events(seen, pieces[place:])]
    stays = _staying(values, seen, kept, changed)
    copied = kept[stays:]
    last = seen.path[-1]
    tree = any(isinstance(value.get("parent_id"), str) for value in values)
    parent = str(values[last].get("id") or "")
    names = [str(values[n][key]) for n in copied for key in ("id", "llm_response_id") if values[n].get(key)]
    new = {name: edits.new_name(f"{parent} {handoff.text}", name) for name in names}
    made = []
    for n in copied:
        links = {k: new[str(values[n][k])] for k in ("id", "action_id", "llm_response_id") if values[n].get(k) in new}
        made.append(
            edits.linked(changed.get(n, records[n].raw), links | ({"parent_id": parent} if tree else {})).strip()
        )
        parent = links["id"]
    end = max(n for turn in seen.turns for n in turn.events)
    forgotten = [_name(values[n]) for n in seen.shown if n <= end and n not in kept[:stays]]
    mark = edits.condensation(values, last, parent if tree else "", forgotten, handoff.text, len(head))
    return [*made, mark.raw]


def _staying(
    values: Sequence[Mapping[str, object]], seen: View, kept: Sequence[int], changed: Mapping[int, bytes]
) -> int:
    """Count the first of the kept events that may stay where they are: unchanged, in order, and in whole groups."""
    torn = {n for loop in loops(values, seen.path) if not loop <= set(kept) for n in loop}
    newest = -1
    for at, n in enumerate(kept):
        if n in changed or n in torn or n < newest:
            return at
        newest = n
    return len(kept)


def _name(value: Mapping[str, object]) -> str:
    """Name an event as condensations do; the summary of an earlier one has a name of its own."""
    return f"{value.get('id')}-summary" if kind(value) == CONDENSATION else str(value.get("id"))
