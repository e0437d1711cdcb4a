"""Stage 5: what does an earlier run know about this conversation, and does it really belong to it?

Two ways of use are told apart by content. Either the source keeps growing and the output is another file: then
the messages that a summary covers are still there, and are found by the fold of their digests. Or the output has
replaced the source: then the handoff itself stands in the conversation. A conversation that was rewound matches an
earlier generation.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from compactor.core.handoff import Notes, is_handoff, read, write
from compactor.core.messages import Role, chain, digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from compactor.core.messages import Message
    from compactor.core.summary import Summary

KEEP_GENERATIONS = 8  # a rewound conversation goes on from one of these; each holds one summary


@dataclass(frozen=True, slots=True)
class Covered:
    """The messages that a summary covers: how many, their tokens when pruned, the digest of the first, the fold of all.

    The messages before them are not part of it, so a new system prompt changes nothing; `start`, where they stood
    at first, is only where they are looked for first.
    """

    count: int
    tokens: int
    first: str
    chain: str
    start: int = 0

    @property
    def last(self) -> int:
        """The number of the last message covered, counted from 1 as it stood at first."""
        return self.start + self.count


@dataclass(frozen=True, slots=True)
class Generation:
    """One compaction of a conversation.

    `stubbed` names the results in the tail that were stubbed, as (messages after the covered ones, ordinal), so
    that a later run repeats the same bytes. `made` tells how: summarizer, encoding, usage, token counts. `ledger` holds
    the facts that code keeps, by section; only the newest generation carries one.
    """

    number: int
    covered: Covered
    role: Role
    notes: Notes
    stubbed: tuple[tuple[int, int], ...] = ()
    made: Mapping[str, object] = field(default_factory=dict)
    ledger: Summary | None = None

    @property
    def handoff(self) -> str:
        """The text of the handoff that this compaction wrote."""
        return write(self.notes, self.covered.last)


@dataclass(frozen=True, slots=True)
class Failure:
    """The last attempt failed: when (seconds since the epoch), why, and what it cost all the same ({} if nothing)."""

    at: float
    why: str
    spent: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Entry:
    """All that the sidecar knows of one conversation; generations oldest first, at most KEEP_GENERATIONS."""

    key: str
    generations: tuple[Generation, ...] = ()
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class Base:
    """What a summary covers already, found in a conversation.

    `view` are the indices of the messages that still stand as turns, `at` is the place among them where the handoff
    belongs, `handoff` the index of a handoff that stands in the conversation itself. Without an earlier compaction
    `notes` is None and `view` is everything. `lost` says that something was covered of which nothing is found.
    """

    view: tuple[int, ...]
    at: int = 0
    notes: Notes | None = None
    role: Role = Role.USER
    handoff: int | None = None
    generation: Generation | None = None
    said: str = ""
    lost: bool = False


def key_of(messages: Sequence[Message]) -> str:
    """Name a conversation by its first real user message, which stays in every generation: 16 hex digits."""
    users = (m for m in messages if m.role is Role.USER and not is_handoff(m))
    first = next(users, messages[0] if messages else None)
    text = first.text if first else ""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def locate(messages: Sequence[Message], entries: Iterable[Entry]) -> Base:
    """Find what is covered already: by a handoff in the conversation, else by the covered messages themselves.

    `entries` are those the sidecar has for conversations with this opening; the one that covers most wins. If none
    fits (rewound too far, edited, or another conversation that begins alike), nothing is gone on from: it is `lost`.
    One after which no turn stands is not gone on from either, as a handoff is never last.
    """
    known = [g for entry in entries for g in reversed(entry.generations)]
    handoffs = [i for i, m in enumerate(messages) if is_handoff(m)]
    if handoffs:
        return _at_handoff(messages, handoffs, known)
    runs = [(g.covered.count, -n, g, at) for n, g in enumerate(known) if (at := _find(messages, g)) is not None]
    followed = [run for run in runs if run[3] + run[0] < len(messages)]
    if followed:
        _, rank, generation, at = max(followed, key=lambda run: run[:2])
        said = "" if rank == 0 else f"goes on from generation {generation.number}: the turns after it have changed"
        view = (*range(at), *range(at + generation.covered.count, len(messages)))
        return Base(view, at, generation.notes, generation.role, None, generation, said)
    why = "no turn stands after what earlier runs covered" if runs else "what earlier runs covered is not in it"
    return Base(
        tuple(range(len(messages))), said=f"starts afresh: {why}" if known else "", lost=bool(known) and not runs
    )


def _at_handoff(messages: Sequence[Message], handoffs: Sequence[int], known: Sequence[Generation]) -> Base:
    """Go on from the newest handoff, or from what a later run covered after it without replacing the source."""
    newest = handoffs[-1]
    text = messages[newest].text
    own = next((g for g in known if g.handoff == text), None)
    later, count = _later(messages[newest + 1 :], own, known)
    gone = {*handoffs, *range(newest + 1, newest + 1 + count)}
    said = "" if own or later or not known else "goes on from the handoff in the transcript; the sidecar is older"
    generation = later or own
    return Base(
        view=tuple(i for i in range(len(messages)) if i not in gone),
        at=newest - (len(handoffs) - 1),
        notes=generation.notes if generation else read(text),
        role=later.role if later else messages[newest].role,
        handoff=None if later else newest,
        generation=generation,
        said=said,
    )


def _later(
    after: Sequence[Message], own: Generation | None, known: Sequence[Generation]
) -> tuple[Generation | None, int]:
    """Find the generation that covers most of the messages after a handoff, and how many of them it covers."""
    seed, covered = (own.covered.chain, own.covered.count) if own else ("", 0)
    counts = [(g.covered.count - covered, g) for g in known if g.covered.count > covered]
    for count, generation in sorted(counts, key=lambda pair: -pair[0]):
        if count < len(after) and chain(after[:count], seed) == generation.covered.chain:
            return generation, count
    return None, 0


def _find(messages: Sequence[Message], generation: Generation) -> int | None:
    covered = generation.covered
    places = sorted(range(len(messages) - covered.count + 1), key=lambda n: n != covered.start)
    starts = (i for i in places if digest(messages[i]) == covered.first)
    return next((i for i in starts if chain(messages[i : i + covered.count]) == covered.chain), None)


def extended(entry: Entry, generation: Generation) -> Entry:
    """Add to `entry` one more generation after the one it went on from; a failure before it is forgotten."""
    earlier = tuple(replace(g, ledger=None) for g in entry.generations if g.number < generation.number)
    return Entry(entry.key, (*earlier, generation)[-KEEP_GENERATIONS:])


def cooling(entry: Entry | None, now: float, cooldown: float) -> float:
    """Give the seconds for which a failed conversation is still left alone; 0 if it may be tried."""
    if entry is None or entry.failure is None:
        return 0.0
    return max(0.0, entry.failure.at + cooldown - now)
