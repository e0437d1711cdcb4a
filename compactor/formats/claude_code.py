"""What does a Claude Code session hold, and how is it written so that the client goes on from it?

Every record is kept byte for byte except by these rules. Appended: the old records, then the client's own mark of a
compaction (`compact_boundary` and a summary), then a copy of the tail with ids of its own, which older clients read as
well as newer ones. Rewritten: the mark and the tail in place, without what `staying` lets go. In both, results that
were pruned lose their copy for the screen, and the sizes of the context that answers after the first change report
are set to nothing, or the client would compact again at once. Titles, queues and other records without links stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from compactor.core.messages import Conversation, Handoff, Kept, Opening
from compactor.formats import claude_code_edits as edits
from compactor.formats.answers import with_answers
from compactor.formats.anthropic_edits import Change
from compactor.formats.claude_code_messages import Turn, turns
from compactor.formats.claude_code_staying import cut, staying
from compactor.formats.claude_code_tree import tree
from compactor.formats.row import Fault, Format

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from compactor.core.messages import Piece
    from compactor.formats.claude_code_tree import Tree
    from compactor.formats.records import Record
    from compactor.formats.row import Row, Sheet

# Records that no other tool writes, by type, and what else they then have.
_OWN = {
    "user": "message",
    "assistant": "message",
    "system": "subtype",
    "progress": "data",
    "attachment": "attachment",
    "summary": "leafUuid",
    "file-history-snapshot": "snapshot",
    "queue-operation": "operation",
    "last-prompt": "lastPrompt",
}
_TIES = frozenset({"uuid", "parentUuid", "sessionId", "leafUuid", "messageId"})


def detect(values: Sequence[Mapping[str, object]]) -> bool:
    """Tell from the first objects of a file whether it is ours: a known type with its member, and a tie."""
    return any(_is_own(value) for value in values)


def _is_own(value: Mapping[str, object]) -> bool:
    kind = value.get("type")
    return isinstance(kind, str) and _OWN.get(kind) in value and not _TIES.isdisjoint(value)


def read(records: Iterable[Record], name: str, sheet: Sheet) -> Iterator[Row]:
    """Read the records of a file into one row."""
    listed = tuple(records)
    grown = tree(listed)
    found, bad = turns(grown)
    faults, faulty = [], []
    for n, record in enumerate(listed):
        if record.problem:
            faults.append(Fault(f"{name}:{record.line}", record.problem))
        elif n in bad:
            faults.append(Fault(f"{name}:{record.line}: {bad[n].path}", bad[n].what))
        else:
            continue
        faulty.append(n)
    messages = with_answers(tuple(turn.message for turn in found))
    gaps = _gaps(found, [n for n in faulty if grown.boundary is None or n > grown.boundary])
    conversation = Conversation(messages, "", gaps, name, Opening.HANDOFF) if messages else None
    yield Session(listed, grown, found, conversation, tuple(faults), sheet)


def _gaps(found: Sequence[Turn], faulty: Iterable[int]) -> frozenset[int]:
    starts = [min(turn.records) for turn in found]
    return frozenset(max((i for i, start in enumerate(starts) if start < n), default=-1) for n in faulty)


@dataclass(frozen=True, slots=True)
class Session:
    """A whole file; `turns` are its messages with the records that each stands for."""

    records: tuple[Record, ...]
    tree: Tree
    turns: tuple[Turn, ...]
    conversation: Conversation | None
    faults: tuple[Fault, ...]
    sheet: Sheet

    @property
    def raw(self) -> bytes:
        """The bytes as they came."""
        return self.sheet.raw(self.records)

    def render(self, pieces: Sequence[Piece]) -> bytes:
        """Write the smaller file."""
        changes = self._changes(pieces)
        handoff = next((piece for piece in pieces if isinstance(piece, Handoff)), None)
        kept = {n for n, change in changes.items() if not edits.empties(self.records[n].raw, change)}
        messages = {n for turn in self.turns for n in turn.records}
        if not handoff and kept == messages and not any(changes.values()):
            return self.raw
        mark = self._mark(handoff, kept) if handoff else None
        plan = staying(self.records, self.tree, messages, kept, mark.summary_id if mark else "")
        stale = self._stale(pieces)
        chosen: list[tuple[int | None, bytes]] = []
        for n, record in enumerate(self.records):
            if n == plan.start and mark:
                chosen += [(None, mark.boundary), (None, mark.summary)]
            if n in plan.ordinals:
                fields = {"parentUuid": edits.link(plan.parents[n])} if n in plan.parents else {}
                usage = edits.lowered_usage(record.raw) if n in stale else {}
                chosen.append((n, edits.edited(record.raw, changes.get(n, Change()), fields, usage)))
        return self.sheet.write(self.records, self.sheet.apart(chosen))

    def append(self, pieces: Sequence[Piece]) -> bytes:
        """Write the file as it came, then the mark, then a copy of the tail. `pieces` must have a handoff."""
        changes = self._changes(pieces)
        place, handoff = next((n, piece) for n, piece in enumerate(pieces) if isinstance(piece, Handoff))
        mark = self._mark(handoff, set(changes))
        tail = [n for piece in pieces[place:] if isinstance(piece, Kept) for n in self.turns[piece.index].records]
        copies = edits.copies([(self.records[n], changes[n]) for n in tail], mark.summary_id)
        chosen = [(n, record.raw) for n, record in enumerate(self.records)]
        new = [(None, raw) for raw in (mark.boundary, mark.summary, *copies)]
        return self.sheet.write(self.records, [*chosen, *new])

    def _changes(self, pieces: Sequence[Piece]) -> dict[int, Change]:
        """Say what changes in each record of the messages that are kept."""
        found: dict[int, Change] = {}
        for piece in pieces:
            if isinstance(piece, Kept):
                turn = self.turns[piece.index]
                values = [self.tree.nodes[n].value for n in turn.records]
                found.update(zip(turn.records, edits.changes(values, turn.message, piece), strict=True))
        return found

    def _mark(self, handoff: Handoff, kept: set[int]) -> edits.Mark:
        path = self.tree.path
        place = cut(self.tree, kept)
        before = self.tree.nodes[path[place - 1]].uuid if place else ""
        tokens = edits.context_tokens(self.tree.nodes[n].value for n in self.tree.live)
        return edits.mark(self.records[path[place]].raw, handoff.text, before, tokens)

    def _stale(self, pieces: Sequence[Piece]) -> set[int]:
        """Find the records of all messages that stand after the first change."""
        first = next((n for n, piece in enumerate(pieces) if piece != Kept(n)), len(pieces))
        return {n for piece in pieces[first:] if isinstance(piece, Kept) for n in self.turns[piece.index].records}


FORMAT = Format(
    name="claude-code",
    title="Claude Code session",
    expects='linked records, one a line ({"type": "user", "uuid": ..., "parentUuid": ..., "message": {...}})',
    detect=detect,
    read=read,
    mark="compact_boundary, isCompactSummary",
    resumes="Claude Code",
)
