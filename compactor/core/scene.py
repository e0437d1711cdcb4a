"""What of a conversation stands before the stages, and what does each turn cost?

The turns that an earlier summary covers are out of it; what an earlier run stubbed in its tail is stubbed again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from compactor.core.handoff import Notes, write
from compactor.core.messages import Group, Kept, Message, Role, applied, groups, well_formed
from compactor.core.prompt import Turns
from compactor.core.prune import prunable
from compactor.core.results import Spot
from compactor.core.split import anchors
from compactor.core.tokens import Count, costs, message_cost, preamble_cost

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from compactor.core.messages import Conversation
    from compactor.core.settings import Settings
    from compactor.core.state import Base


@dataclass(frozen=True, slots=True)
class Scene:
    """A conversation as the stages see it: the messages that still stand as turns, and what they cost.

    Indices of `turns`, `groups` and `costs` are places in `base.view`; `cost_of` is by message index. `carried` are
    the stubs that an earlier run left in its tail; `costs` have them in.
    """

    conversation: Conversation
    base: Base
    turns: tuple[Message, ...]
    groups: tuple[Group, ...]
    carried: Mapping[Spot, str]
    costs: tuple[int, ...]
    cost_of: tuple[int, ...]
    fixed: int
    handoff: int


def scene(conversation: Conversation, base: Base, settings: Settings, count: Count) -> Scene:
    """Lay out `conversation` as the stages see it, counting every message once."""
    turns = tuple(conversation.messages[i] for i in base.view)
    cost_of = costs(conversation.messages, count)
    grouped = _grouped(turns, base.at)
    carried = _carried(base, turns, grouped, settings)
    now = stubbed_costs(turns, [cost_of[i] for i in base.view], carried, count)
    written = handoff_cost(base.notes, base.generation.covered.last, count) if base.notes and base.generation else 0
    handoff = cost_of[base.handoff] if base.handoff is not None else written
    fixed = preamble_cost(conversation, count)
    return Scene(conversation, base, turns, grouped, carried, now, cost_of, fixed, handoff)


def _grouped(turns: tuple[Message, ...], at: int) -> tuple[Group, ...]:
    """Group the turns before the handoff and those after it apart: a call on one side has no result on the other."""
    after = groups(turns[at:])
    moved = (Group(g.start + at, g.stop + at, g.open, tuple((m + at, n) for m, n in g.orphans)) for g in after)
    return (*groups(turns[:at]), *moved)


def _carried(base: Base, turns: tuple[Message, ...], grouped: tuple[Group, ...], settings: Settings) -> dict[Spot, str]:
    if base.generation is None or base.handoff is not None:
        return {}
    wanted = {Spot(base.at + after, ordinal) for after, ordinal in base.generation.stubbed}
    stubs = prunable(turns, grouped, base.at, len(turns), settings)
    return {spot: text for spot, text in stubs.items() if spot in wanted}


def stubbed_costs(
    turns: Sequence[Message], costs: Sequence[int], stubs: Mapping[Spot, str], count: Count
) -> tuple[int, ...]:
    """Give what each turn costs with `stubs` in place of its results, in tokens; `costs` is without them."""
    return tuple(
        cost if now is before else message_cost(now, count)
        for before, now, cost in zip(turns, stubbed(turns, stubs), costs, strict=True)
    )


def stubbed(turns: Sequence[Message], stubs: Mapping[Spot, str]) -> Iterator[Message]:
    """Give each turn with `stubs` in place of its results; one without any is the very same object."""
    changed = by_message(stubs)
    for place, message in enumerate(turns):
        yield applied(message, Kept(place, changed[place])) if place in changed else message


def by_message(stubs: Mapping[Spot, str]) -> dict[int, dict[int, str]]:
    """Sort stubs by message, then by the ordinal of the result."""
    found: dict[int, dict[int, str]] = {}
    for spot, text in stubs.items():
        found.setdefault(spot.message, {})[spot.result] = text
    return found


def handoff_cost(notes: Notes, as_of: int, count: Count) -> int:
    """Price a handoff that says `notes` as of message `as_of`, in tokens."""
    return message_cost(Message(Role.USER, write(notes, as_of)), count)


def latest_words(on: Scene, head: int, tail: int) -> str:
    """Give the user's latest message if it goes into the middle or is known from the last handoff only, else ""."""
    user, _ = anchors(on.turns)
    if user is not None and user >= tail:
        return ""
    carried = on.base.notes.quote if on.base.notes else ""
    if user is None or user < head or (carried and user < on.base.at):
        return carried
    return well_formed(on.turns[user].text)


def between(on: Scene, head: int, tail: int) -> Turns:
    """Give the turns between head and tail, numbered as if no handoff had taken the place of any before them."""
    new = on.turns[head:tail]
    known = on.base.generation if on.base.handoff is not None else None
    return Turns(new, groups(new), on.base.view[head] + (known.covered.count - 1 if known else 0))
