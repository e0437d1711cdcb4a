"""What does a pi session hold, and how is it written so that pi goes on from it?

Everything stays byte for byte except by these rules. A new compaction is pi's own entry, last in the file, and names
the first entry of the tail, so that it and the tail are the context. Appended: the old records, then the entry; where
something in the tail has changed, copies of it with ids of their own follow, and the entry keeps nothing before it.
Rewritten: without what `pi_staying` lets go, the rest linked anew, results stubbed in place; answers after the first
change no longer say how full the context was, or pi might compact again. A file of version 1 stays one, and what its
compactions name by place is counted anew. The header is always first: pi empties a file without it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from compactor.core.messages import Conversation, Handoff, Kept, Opening
from compactor.formats import pi_edits as edits
from compactor.formats.answers import with_answers
from compactor.formats.jsonbytes import quoted, whole
from compactor.formats.pi_messages import message_of
from compactor.formats.pi_staying import staying
from compactor.formats.pi_tree import COMPACTION, tree
from compactor.formats.records import MISSING
from compactor.formats.row import Fault, Format
from compactor.formats.values import MalformedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from compactor.core.messages import Message, Piece
    from compactor.formats.pi_staying import Staying
    from compactor.formats.pi_tree import Tree
    from compactor.formats.records import Record
    from compactor.formats.row import Row, Sheet


HEADLESS = 'not the header of a session ({"type": "session", "id": ...}); pi would empty the file: put the header back'


def detect(values: Sequence[Mapping[str, object]]) -> bool:
    """Tell from the first objects of a file whether it is ours: the first is the header of a session."""
    return bool(values) and values[0].get("type") == "session" and isinstance(values[0].get("id"), str)


def read(records: Iterable[Record], name: str, sheet: Sheet) -> Iterator[Row]:
    """Read the records of a file into one row."""
    listed = tuple(records)
    grown = tree(listed)
    turns, bad = _turns(grown)
    faults = {n: Fault(f"{name}:{r.line}", r.problem) for n, r in enumerate(listed) if r.problem}
    faults |= {n: Fault(f"{name}:{listed[n].line}: {error.path}", error.what) for n, error in bad.items()}
    found = [(n, record.value) for n, record in enumerate(listed) if record.value is not MISSING]
    if found and not detect([found[0][1]]):
        first, _ = found[0]
        faults[first] = Fault(f"{name}:{listed[first].line}", HEADLESS)
        turns = ()
    messages = with_answers(tuple(turn.message for turn in turns))
    begin = min(grown.live) if grown.path != grown.live else -1
    gaps = _gaps(turns, [n for n in faults if n > begin])
    conversation = Conversation(messages, "", gaps, name, Opening.HANDOFF) if messages else None
    yield Session(listed, grown, turns, conversation, tuple(faults[n] for n in sorted(faults)), frozenset(bad), sheet)


class Turn(NamedTuple):
    """One message and the ordinal of the record that it stands in."""

    record: int
    message: Message


def _turns(grown: Tree) -> tuple[tuple[Turn, ...], Mapping[int, MalformedError]]:
    """Read what pi sends, in its order; and the records on the path that cannot be read."""
    found: list[Turn] = []
    bad: dict[int, MalformedError] = {}
    for n in grown.live:
        try:
            message = message_of(grown.entries[n])
        except MalformedError as error:
            bad[n] = error
            continue
        if message is not None:
            found.append(Turn(n, message))
    return tuple(found), bad


def _gaps(turns: Sequence[Turn], faulty: Iterable[int]) -> frozenset[int]:
    return frozenset(max((i for i, turn in enumerate(turns) if turn.record < n), default=-1) for n in faulty)


@dataclass(frozen=True, slots=True)
class Session:
    """A whole file; `turns` are its messages in the order in which pi sends them. `faulty` cannot be read."""

    records: tuple[Record, ...]
    tree: Tree
    turns: tuple[Turn, ...]
    conversation: Conversation | None
    faults: tuple[Fault, ...]
    faulty: frozenset[int]
    sheet: Sheet

    @property
    def raw(self) -> bytes:
        """The bytes as they came."""
        return self.sheet.raw(self.records)

    def render(self, pieces: Sequence[Piece]) -> bytes:
        """Write the smaller file."""
        kept = {self.turns[p.index].record: self._kept(p) for p in pieces if isinstance(p, Kept)}
        unsaid = {turn.record for turn in self.turns} - set(kept)
        if not unsaid and all(raw == self.records[n].raw for n, raw in kept.items()) and len(kept) == len(pieces):
            return self.raw
        handoff, start, stale = self._parts(pieces)
        plan = staying(self.tree, unsaid, self.faulty, start if handoff else None)
        order = self._order(plan.lost)
        read = [n for n in order if self.records[n].value is not MISSING]
        places = dict(zip(read, range(len(read)), strict=True))
        chosen: list[tuple[int | None, bytes]] = []
        for n in order:
            raw = kept.get(n, self.records[n].raw)
            raw = edits.lowered(raw) if n in stale else raw
            chosen.append((n, edits.with_members(raw, self._links(n, plan, places))))
        if handoff:
            below = [n for n in self.tree.path if n not in plan.lost]
            chosen.append((None, self._mark(handoff, below[-1], start, places)))
        return self.sheet.write(self.records, self.sheet.apart(chosen))

    def append(self, pieces: Sequence[Piece]) -> bytes:
        """Write the file as it came, then the mark, then copies of the tail if anything in it changes."""
        handoff, start, _ = self._parts(pieces)
        if handoff is None:
            raise ValueError("there is nothing to append without a handoff")
        tail = [piece for piece in pieces[pieces.index(handoff) :] if isinstance(piece, Kept)]
        known = [n for n in self.tree.path if n in self.tree.places and (self.tree.linear or self.tree.entries[n].id)]
        whole_tail = tail == [Kept(n) for n in range(tail[0].index, len(self.turns))]
        if whole_tail and set(self.tree.path[self.tree.path.index(start) :]) <= set(known):
            new = [self._mark(handoff, known[-1], start, self.tree.places)]
        else:
            mark = self._mark(handoff, known[-1] if known else None, None, self.tree.places)
            new = [mark, *self._copies(tail, self._mark_id(handoff, None))]
        chosen = [(n, record.raw) for n, record in enumerate(self.records)]
        return self.sheet.write(self.records, [*chosen, *((None, raw) for raw in new)])

    def _kept(self, piece: Kept) -> bytes:
        turn = self.turns[piece.index]
        return edits.kept_bytes(self.records[turn.record].raw, turn.message, piece)

    def _parts(self, pieces: Sequence[Piece]) -> tuple[Handoff | None, int, frozenset[int]]:
        """Find the handoff, the first record of the tail after it, and all of the path from the first change on."""
        handoff = next((piece for piece in pieces if isinstance(piece, Handoff)), None)
        after = pieces[pieces.index(handoff) + 1 :] if handoff else pieces
        start = self._first(after)
        changed = [piece for n, piece in enumerate(pieces) if piece != Kept(n)]
        first = start if handoff else self._first(changed)
        path = self.tree.path
        return handoff, start, frozenset(path[path.index(first) :] if first in path else ())

    def _first(self, pieces: Iterable[Piece]) -> int:
        """Give the record of the first message of `pieces`, -1 if there is none."""
        return next((self.turns[piece.index].record for piece in pieces if isinstance(piece, Kept)), -1)

    def _order(self, lost: frozenset[int]) -> list[int]:
        """Put what stays into the order of the file; the end of the path leads and so comes after all branches."""
        order = [n for n in range(len(self.records)) if n not in lost]
        below = [n for n in self.tree.path if n not in lost]
        if below and max(self.tree.entries.keys() - lost) != below[-1]:
            order.remove(below[-1])
            order.append(below[-1])
        return order

    def _id(self, n: int) -> str:
        """Give the id of an entry; the last one may lack it, and then gets one where something hangs on it."""
        return self.tree.entries[n].id or edits.new_id(self.tree.named, "last")

    def _links(self, n: int, plan: Staying, places: Mapping[int, int]) -> dict[str, bytes | None]:
        """Say which links of an entry change: its parent, and what a compaction keeps."""
        if n not in self.tree.entries:
            return {}
        entry, changes = self.tree.entries[n], dict[str, bytes | None]()
        if n in plan.parents and not self.tree.linear:
            parent = plan.parents[n]
            changes["parentId"] = b"null" if parent is None else quoted(self._id(parent))
        if n == self.tree.path[-1] and not entry.id and not self.tree.linear:
            changes["id"] = quoted(self._id(n))
        return changes | self._first_kept(n, plan, places) if entry.kind == COMPACTION else changes

    def _first_kept(self, n: int, plan: Staying, places: Mapping[int, int]) -> dict[str, bytes | None]:
        before, now = self.tree.first_kept(n), self.tree.first_kept(n, plan.lost)
        if self.tree.linear:
            place = self.tree.entries[n].value.get("firstKeptEntryIndex")
            wanted = places[n if now is None else now]
            return {"firstKeptEntryIndex": b"%d" % wanted} if type(place) is int and 0 != place != wanted else {}
        return {"firstKeptEntryId": quoted(self._id(now))} if now not in {None, before} and now is not None else {}

    def _mark_id(self, handoff: Handoff, start: int | None) -> str:
        return edits.new_id(self.tree.named, handoff.text, "" if start is None else self._id(start))

    def _mark(self, handoff: Handoff, parent: int | None, start: int | None, places: Mapping[int, int]) -> bytes:
        """Write the mark, the last of the file so far; it keeps nothing before it if `start` is None."""
        times = (r.value.get("timestamp") for r in reversed(self.records) if r.value is not MISSING)
        stamp = quoted(next((time for time in times if isinstance(time, str)), ""))
        tokens = edits.context_tokens(self.tree.entries[n].value for n in self.tree.live)
        if self.tree.linear:
            place = len(places) if start is None else places[start]
            return edits.mark(handoff.text, {}, {"firstKeptEntryIndex": b"%d" % place}, stamp, tokens)
        own = self._mark_id(handoff, start)
        links = {"id": quoted(own), "parentId": b"null" if parent is None else quoted(self._id(parent))}
        first = {"firstKeptEntryId": quoted(own if start is None else self._id(start))}
        return edits.mark(handoff.text, links, first, stamp, tokens)

    def _copies(self, tail: Sequence[Kept], parent: str) -> Iterator[bytes]:
        """Copy what is kept with ids of their own, each hanging on the one before, the first on `parent`."""
        known = {*self.tree.named, parent}
        for piece in tail:
            raw = edits.lowered(self._kept(piece))
            links: dict[str, bytes | None] = {}
            if not self.tree.linear:
                own = edits.new_id(known, parent)
                links = {"id": quoted(own), "parentId": quoted(parent)}
                parent = own
                known.add(own)
            raw = edits.with_members(raw, links)
            yield whole(raw).of(raw)


FORMAT = Format(
    name="pi",
    title="pi session",
    expects='a header, then entries ({"type": "session", "id": ...}, {"type": "message", "message": {...}})',
    detect=detect,
    read=read,
    mark="compaction",
    resumes="pi",
)
