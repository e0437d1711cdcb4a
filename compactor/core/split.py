"""Stages 2 and 3: where does the protected head end, and where does the protected tail begin?

Both cut only between tool groups. Sizes are tokens.

>>> from compactor.core.messages import Message, Role, groups
>>> talk = tuple(Message(Role.USER if n % 2 == 0 else Role.ASSISTANT, f"turn {n}") for n in range(8))
>>> head_end(talk, groups(talk), protect_first=3)
3
>>> tail_start(groups(talk), (10,) * 8, budget=25, floor=3)
6
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from compactor.core.handoff import is_spoken
from compactor.core.messages import Role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compactor.core.messages import Group, Message


def head_end(messages: Sequence[Message], groups: Sequence[Group], protect_first: int) -> int:
    """Find the index after the last message of the head: a group that would be cut stays out.

    System messages at the very beginning count as one, however many a tool splits its instructions into.
    """
    system = next((n for n, m in enumerate(messages) if m.role is not Role.SYSTEM), len(messages))
    limit = protect_first + max(system - 1, 0) if protect_first else 0
    return max((g.stop for g in groups if g.stop <= limit), default=0)


def tail_start(groups: Sequence[Group], costs: Sequence[int], budget: int, floor: int) -> int:
    """Find the first message of the tail: whole groups from the end while they fit `budget`.

    The last group that is no stray result always belongs to it, whatever it costs; nothing before `floor` does.
    """
    start, spent, held = len(costs), 0, False
    for group in reversed(groups):
        spent += sum(costs[group.start : group.stop])
        if group.start < floor or (spent > budget and held):
            break
        start = group.start
        held = held or not any(message == group.start for message, _ in group.orphans)  # a stray result will go
    return start


def tail_start_by_count(groups: Sequence[Group], messages: int, floor: int) -> int:
    """Find the first message of a tail of at least `messages` messages, in whole groups, not before `floor`."""
    length = groups[-1].stop if groups else 0
    starts = [g.start for g in groups if floor <= g.start <= max(length - messages, floor)]
    return max(starts, default=length)


def anchors(messages: Sequence[Message]) -> tuple[int | None, int | None]:
    """Find the last real user message and the last assistant reply with words, by index; None where there is none.

    Real means neither blank nor a handoff.
    """
    user = [i for i, m in enumerate(messages) if m.role is Role.USER and is_spoken(m)]
    reply = [i for i, m in enumerate(messages) if m.role is Role.ASSISTANT and is_spoken(m)]
    return (user[-1] if user else None), (reply[-1] if reply else None)


def widened(groups: Sequence[Group], least: Sequence[int], start: int, budget: int, wanted: Sequence[int]) -> int:
    """Move the tail's start back to take in as many `wanted` messages as `budget` allows.

    `least` is what each message costs when every result in it that may be stubbed is: those are stubbed if the
    wider tail needs it.
    """
    for anchor in sorted(wanted):
        if anchor >= start:
            break
        begin = next(g.start for g in groups if g.start <= anchor < g.stop)
        if sum(least[begin:]) <= budget:
            return begin
    return start
