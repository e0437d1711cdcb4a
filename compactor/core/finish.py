"""What came of a plan? The result is assembled and checked against the promises, or rejected with the reason."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from compactor.core.handoff import Notes
from compactor.core.messages import Handoff, Kept, Role, chain, digest
from compactor.core.plan import Plan, Step
from compactor.core.scene import Scene, by_message
from compactor.core.settings import OnFailure, Settings
from compactor.core.state import Covered, Generation
from compactor.core.tokens import Count, message_cost
from compactor.core.verify import broken, result_messages

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from compactor.core.merge import Merged
    from compactor.core.messages import Message, Piece
    from compactor.core.results import Spot


@dataclass(frozen=True, slots=True)
class Compacted:
    """A result that keeps the promises: its pieces, its tokens, and the new generation if there was a summary."""

    pieces: tuple[Piece, ...]
    after: int
    generation: Generation | None = None


@dataclass(frozen=True, slots=True)
class Rejected:
    """Why a result is not to be written; `missed` if it is not what was asked for (`target_tokens`)."""

    why: str
    missed: bool = False


def finish(
    plan: Plan, kept: Merged | None, made: Mapping[str, object], settings: Settings, count: Count
) -> Compacted | Rejected:
    """Assemble the result of a plan and check it against the promises.

    `kept` is None if no summary was asked for, or none could be had: then `on_failure` decides about the middle.
    `made` goes into the new generation. Rejected means that the conversation leaves as it came.
    """
    if plan.scene is None or plan.step is Step.UNTOUCHED:
        return _over(plan, plan.sizes.effective, settings) or Rejected(plan.why)
    new = _generation(plan, plan.scene, kept, made) if kept else None
    pieces = tuple(_pieces(plan, plan.scene, new, settings))
    after = _after(plan.scene, pieces, count)
    if rejected := _unfit(plan, pieces, after, settings) or _vain(plan, new, after):
        return rejected
    tokens = {"before": plan.sizes.before, "after": after}
    return Compacted(pieces, after, replace(new, made={**made, "tokens": tokens}) if new else None)


def _unfit(plan: Plan, pieces: Sequence[Piece], after: int, settings: Settings) -> Rejected | None:
    """Tell what a result of `after` tokens does not keep: a promise, or the target that was set for it."""
    if laws := broken(plan.conversation, pieces):
        return Rejected(f"the result would break a promise: {laws[0]}")
    return _over(plan, after, settings)


def _over(plan: Plan, after: int, settings: Settings) -> Rejected | None:
    if not settings.target_tokens or after <= settings.target_tokens:
        return None
    why = f"it would still have {after:,} tokens where {settings.target_tokens:,} are asked for"
    return Rejected(why if plan.step is Step.SUMMARISE else f"{why}: {plan.why}", missed=True)


def _vain(plan: Plan, new: Generation | None, after: int) -> Rejected | None:
    """Tell whether a result of `after` tokens is no gain."""
    before = plan.sizes.before
    if after >= before:
        return Rejected(f"the result would not be smaller ({before:,} tokens before, {after:,} after)")
    if new and after >= plan.sizes.pruned:
        return Rejected("the summary saves nothing over pruning")
    return None


def _pieces(plan: Plan, scene: Scene, new: Generation | None, settings: Settings) -> Iterable[Piece]:
    kept = _kept(plan, scene)
    if plan.step is Step.SUMMARISE and (new or settings.on_failure is OnFailure.DROP):
        cut, rest = plan.head, plan.tail
    else:
        cut = rest = scene.base.at
    yield from (k for p, k in kept.items() if p < cut)
    if new:
        yield Handoff(plan.role, new.handoff)
    elif scene.base.handoff is not None:
        yield Kept(scene.base.handoff)
    elif scene.base.generation:
        yield Handoff(scene.base.role, scene.base.generation.handoff)
    yield from (k for p, k in kept.items() if p >= rest)


def _kept(plan: Plan, scene: Scene) -> dict[int, Kept]:
    """Say what stays of each turn: stubs for results, and no call or result that has lost its partner."""
    stubs = by_message(plan.stubs)
    calls, orphans = _strays(scene, plan.conversation.gaps)
    kept = {}
    for place, message in enumerate(scene.turns):
        lost = frozenset(orphans.get(place, ()))
        if lost and len(lost) == len(message.results) and not _speaks(message):
            continue
        kept[place] = Kept(scene.base.view[place], stubs.get(place, {}), frozenset(calls.get(place, ())), lost)
    return kept


def _speaks(message: Message) -> bool:
    """Tell whether a message has more to say than what its results say."""
    more = message.text.strip() or message.other or message.image_tokens or message.calls
    return bool(more) and message.role is not Role.TOOL


def _strays(scene: Scene, gaps: frozenset[int]) -> tuple[dict[int, tuple[int, ...]], dict[int, list[int]]]:
    calls: dict[int, tuple[int, ...]] = {}
    orphans: dict[int, list[int]] = {}
    for group in scene.groups:
        before = scene.base.view[group.start] - 1
        if before in gaps or any(scene.base.view[p] in gaps for p in range(group.start, group.stop)):
            continue
        last = scene.turns[group.stop - 1]
        apart = bool(last.results) and sum(m == group.stop - 1 for m, _ in group.orphans) == len(last.results)
        if group.open and (group.stop < len(scene.turns) or (apart and _speaks(last))):
            calls[group.start] = group.open
        for place, ordinal in group.orphans:
            orphans.setdefault(place, []).append(ordinal)
    return calls, orphans


def _after(scene: Scene, pieces: Sequence[Piece], count: Count) -> int:
    total = scene.fixed
    for piece, message in zip(pieces, result_messages(scene.conversation, pieces), strict=True):
        unchanged = isinstance(piece, Kept) and message is scene.conversation.messages[piece.index]
        total += scene.cost_of[piece.index] if isinstance(piece, Kept) and unchanged else message_cost(message, count)
    return total


def _generation(plan: Plan, scene: Scene, kept: Merged, made: Mapping[str, object]) -> Generation:
    new = scene.turns[plan.head : plan.tail]
    earlier = scene.base.generation
    old = earlier.covered if earlier else Covered(0, 0, digest(new[0]), "", scene.base.view[plan.head])
    tokens = old.tokens + plan.sizes.middle - scene.handoff
    covered = Covered(old.count + len(new), tokens, old.first, chain(new, old.chain), old.start)
    stubbed = tuple((s.message - plan.tail, s.result) for s in sorted(plan.stubs, key=_order) if s.message >= plan.tail)
    number = earlier.number + 1 if earlier else 1 + (scene.base.notes is not None)
    return Generation(number, covered, plan.role, Notes(kept.summary, plan.quote), stubbed, made, kept.ledger)


def _order(spot: Spot) -> tuple[int, int]:
    return spot.message, spot.result
