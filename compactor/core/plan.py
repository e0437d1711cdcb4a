"""What is to be done with a conversation, stage by stage, before any model is asked?

`make_plan` decides all that needs no model; `finish` takes it from there. A dry run is `make_plan` alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from compactor.core.handoff import Notes, role_between
from compactor.core.messages import Opening, Role
from compactor.core.prompt import Request, request
from compactor.core.prune import prunable
from compactor.core.results import Spot
from compactor.core.scene import Scene, between, by_message, handoff_cost, latest_words, scene, stubbed, stubbed_costs
from compactor.core.settings import Settings, Trigger
from compactor.core.split import anchors, head_end, tail_start, tail_start_by_count, widened
from compactor.core.state import locate
from compactor.core.summary import Summary, render
from compactor.core.tokens import upper_bound

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from compactor.core.messages import Conversation
    from compactor.core.state import Entry
    from compactor.core.tokens import Count

# A handoff with bare headings has about 160 tokens; a summary of fewer than this is not worth a call.
LEAST_SUMMARY = 160
LAST_NUMBER = 999_999  # stands for the number of the last message that a handoff speaks of, when it is priced


class Step(StrEnum):
    """What a plan comes to."""

    UNTOUCHED = "untouched"  # leaves byte for byte
    REUSE = "reuse"  # head, the handoff of an earlier run, and everything since
    PRUNE = "prune"  # stubs for old tool results are enough
    SUMMARISE = "summarise"  # one model call


@dataclass(frozen=True, slots=True)
class Sizes:
    """Tokens: all messages of the input; what a model would be given now; that after pruning; the three parts.

    `floor` and `ceiling` are the least and the most that a summary is expected to take, `wrapper` what goes around it.
    """

    before: int = 0
    effective: int = 0
    pruned: int = 0
    head: int = 0
    middle: int = 0
    tail: int = 0
    floor: int = 0
    ceiling: int = 0
    wrapper: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done, why, and the parts to do it with; `head` and `tail` are places in the scene's turns."""

    conversation: Conversation
    step: Step
    why: str
    sizes: Sizes = Sizes()
    scene: Scene | None = None
    head: int = 0
    tail: int = 0
    role: Role = Role.USER
    quote: str = ""
    stubs: Mapping[Spot, str] = field(default_factory=dict)
    request: Request | None = None

    @property
    def expected(self) -> tuple[int, int]:
        """Tokens after, at least and at most: as pruned, or with a summary between its floor and its ceiling."""
        if self.request is None:
            return (self.sizes.pruned, self.sizes.pruned)
        rest = self.sizes.head + self.sizes.tail + self.sizes.wrapper
        return (rest + self.sizes.floor, rest + self.sizes.ceiling)


def make_plan(conversation: Conversation, entries: Iterable[Entry], settings: Settings, count: Count) -> Plan:
    """Decide what to do with a conversation, given what the sidecar knows of it.

    Counts nothing if the length of the text alone says that it is below the trigger.
    """
    base = locate(conversation.messages, entries)
    standing = base.notes is None or base.handoff is not None
    forced = settings.trigger_mode is Trigger.FORCE
    if not conversation.messages:
        return Plan(conversation, Step.UNTOUCHED, "it has no messages")
    if standing and not forced and not settings.triggers(upper_bound(conversation)):
        return Plan(conversation, Step.UNTOUCHED, "below the trigger")
    return _decided(scene(conversation, base, settings, count), settings, count)


def _decided(on: Scene, settings: Settings, count: Count) -> Plan:
    forced = settings.trigger_mode is Trigger.FORCE
    effective = on.fixed + on.handoff + sum(on.costs)
    as_is = _as_is(on, Sizes(on.fixed + sum(on.cost_of), effective, effective))
    if not forced and not settings.triggers(effective):
        return as_is
    settings = _fitted(on, settings, count)
    head, start = _ends(on, settings)
    stubs = {**on.carried, **prunable(on.turns, on.groups, head, start, settings)}
    pruned = _pruned(as_is, on, stubs, count)
    if not forced and not settings.triggers(pruned.sizes.pruned):
        return pruned
    return _split(pruned, on, head, start, settings, count)


def _as_is(on: Scene, sizes: Sizes) -> Plan:
    again = on.base.notes is not None and on.base.handoff is None
    step = Step.REUSE if again else Step.UNTOUCHED
    return Plan(on.conversation, step, "below the trigger", sizes, on, role=on.base.role, stubs=on.carried)


def _pruned(plan: Plan, on: Scene, stubs: Mapping[Spot, str], count: Count) -> Plan:
    if stubs == on.carried:
        return plan
    total = on.fixed + on.handoff + sum(stubbed_costs(on.turns, on.costs, stubs, count))
    sizes = replace(plan.sizes, pruned=total)
    return replace(plan, step=Step.PRUNE, why="pruning is enough", sizes=sizes, stubs=stubs)


def _ends(on: Scene, settings: Settings) -> tuple[int, int]:
    """Where the head ends, and where the tail begins by its budget alone."""
    whole = on.conversation.opening is Opening.HEAD
    head = head_end(on.turns, on.groups, settings.protect_first) if whole else 0
    if on.base.generation is not None and whole:
        head = on.base.at  # what stands before covered turns was the head; the fold of digests goes on after them only
    elif on.base.notes is not None:
        head = min(head, on.base.at)
    floor = max(head, on.base.at)
    if settings.tail_messages:
        return head, tail_start_by_count(on.groups, settings.tail_messages, floor)
    return head, tail_start(on.groups, on.costs, settings.tail_budget, floor)


def _fitted(on: Scene, settings: Settings, count: Count) -> Settings:
    """Shorten the tail to what a target leaves it beside head and summary."""
    head, _ = _ends(on, settings)
    taken = on.fixed + sum(on.costs[:head]) + handoff_cost(Notes(Summary({})), LAST_NUMBER, count)
    return settings.fitted(taken, _ceiling(on, sum(on.costs[head:]), settings, count))


def _split(  # noqa: PLR0913 - where head and tail stand, and what decides about them
    pruned: Plan, on: Scene, head: int, start: int, settings: Settings, count: Count
) -> Plan:
    whole = 0 if settings.tail_messages else len(on.turns)
    demotable = prunable(on.turns, on.groups, head, whole, settings)
    least = stubbed_costs(on.turns, on.costs, demotable, count)
    tail, role = _tail(on, settings, head, start, least)
    stubs = _demoted(pruned.stubs, demotable, on.costs, least, tail, settings.tail_budget)
    pruned = _pruned(pruned, on, stubs, count)
    if settings.trigger_mode is not Trigger.FORCE and not settings.triggers(pruned.sizes.pruned):
        return pruned
    costs = stubbed_costs(on.turns, on.costs, stubs, count)
    middle, quote = sum(costs[head:tail]) + on.handoff, latest_words(on, head, tail)
    wrapper = handoff_cost(Notes(Summary({}), quote), LAST_NUMBER, count)
    beside = on.fixed + sum(costs[:head]) + sum(costs[tail:]) + wrapper
    ceiling = min(_ceiling(on, sum(costs[head:tail]), settings, count), settings.left_beside(beside))
    if why := _pointless(on, head, tail, Sizes(middle=middle, ceiling=ceiling, wrapper=wrapper), beside, settings):
        return replace(pruned, why=why)
    ceiling = min(ceiling, middle - wrapper - 1)  # what is bought is smaller than what it replaces
    sizes = replace(
        pruned.sizes,
        head=on.fixed + sum(costs[:head]),
        middle=middle,
        tail=sum(costs[tail:]),
        floor=min(settings.summary_min, ceiling // 2),
        ceiling=ceiling,
        wrapper=wrapper,
    )
    known = on.base.notes.summary if on.base.notes else None
    asked = request(between(on, head, tail), known, on.turns[:head], on.turns[tail:], ceiling, settings)
    left = tuple(stubbed(on.turns, stubs))[tail:]
    asked = replace(asked, left=left, ledger=on.base.generation.ledger if on.base.generation else None)
    return Plan(on.conversation, Step.SUMMARISE, "at the trigger", sizes, on, head, tail, role, quote, stubs, asked)


def _pointless(  # noqa: PLR0913 - where head and tail stand, and what there is
    on: Scene, head: int, tail: int, sizes: Sizes, beside: int, settings: Settings
) -> str:
    """Say why no summary is to be asked for, "" if one is; `beside` are the tokens of what stays besides it."""
    if tail <= max(head, on.base.at) and on.base.at <= head:
        return "nothing to summarise: head and tail hold everything"
    if tail == len(on.turns):
        return "nothing to summarise: no turn would stand after the summary"
    if sizes.ceiling < LEAST_SUMMARY and settings.target_tokens:
        return f"head, tail and the user's latest message alone take {beside:,} tokens"
    if sizes.ceiling < LEAST_SUMMARY:
        return f"the {sizes.middle:,} tokens between head and tail are too few to summarise"
    if sizes.wrapper + LEAST_SUMMARY >= sizes.middle:
        return f"a handoff would take more than the {sizes.middle:,} tokens between head and tail"
    return ""


def _ceiling(on: Scene, new: int, settings: Settings, count: Count) -> int:
    previous = count(render(on.base.notes.summary)) if on.base.notes else 0
    covered = on.base.generation.covered.tokens if on.base.generation else 0
    return settings.summary_budget(new, previous, covered)


def _tail(on: Scene, settings: Settings, head: int, start: int, least: Sequence[int]) -> tuple[int, Role]:
    """Where the tail begins, with the last user message and reply in it if they fit, and the handoff's role.

    It begins a little earlier than it must, or else a group later than it may, if roles only then alternate.
    """
    floor = max(head, on.base.at)
    budget = 0 if settings.tail_messages else settings.tail_budget
    wanted = [a for a in anchors(on.turns) if a is not None and a >= floor]
    start = widened(on.groups, least, start, budget, wanted)
    latest = min([a for a in wanted if a >= start] or [len(on.turns) - 1])
    starts = [g.start for g in on.groups if floor <= g.start <= latest]
    earlier = [s for s in reversed(starts) if s == start or (s < start and sum(least[s:]) <= budget)]
    later = [s for s in starts if s > start and not settings.tail_messages]
    for begin in () if on.conversation.voice else (*earlier, *later):
        role, alternates = role_between(on.turns[:head], on.turns[begin:])
        if alternates:
            return begin, role
    return start, on.conversation.voice or role_between(on.turns[:head], on.turns[start:])[0]


def _demoted(  # noqa: PLR0913 - both price lists, and the stubs there are and could be
    stubs: Mapping[Spot, str],
    demotable: Mapping[Spot, str],
    costs: Sequence[int],
    least: Sequence[int],
    tail: int,
    budget: int,
) -> dict[Spot, str]:
    """Stub results in the tail, oldest first, until it fits its budget; the newest is the last to go."""
    chosen = dict(stubs)
    stubbed = by_message(stubs)
    spent = sum(least[p] if p in stubbed else costs[p] for p in range(tail, len(costs)))
    for place, texts in sorted(by_message(demotable).items()):
        if place < tail or place in stubbed:
            continue
        if spent <= budget:
            break
        chosen |= {Spot(place, ordinal): text for ordinal, text in texts.items()}
        spent -= costs[place] - least[place]
    return chosen
