"""Which lines go in when not all fit?

Room is apportioned as seats are in a parliament (D'Hondt): the next line is that of the family with the highest
weight per token spent. No family can eat the budget, and what one does not need the others get.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from compactor.core.tokens import Count

SEPARATOR = "; "  # between the facts of a list line


@dataclass(frozen=True, slots=True)
class Claim:
    """A line that wants in. `parts` are the facts of a list line: those said elsewhere are left out of it."""

    line: str
    parts: tuple[str, ...] = ()

    def without(self, already: str) -> str:
        """Take out the parts that `already` says; "" if nothing is left."""
        if not self.parts:
            return self.line
        left = [p for p in self.parts if p not in already]
        return self.line.replace(SEPARATOR.join(self.parts), SEPARATOR.join(left)) if left else ""


def apportion(
    queues: Mapping[str, Sequence[Claim]], weights: Mapping[str, float], room: int, count: Count
) -> dict[tuple[str, int], str]:
    """Choose the lines that fit `room` tokens, by family and place in its queue; the best of each queue come first.

    Two rounds: what a list line repeats of lines that came in after it is taken out, and the room given again.
    """
    taken: dict[tuple[str, int], str] = {}
    for _ in range(2):
        taken = _round(queues, weights, room, count, taken)
        spoken = "\n".join(t for (f, n), t in taken.items() if not queues[f][n].parts)
        for family, n in [k for k in taken if queues[k[0]][k[1]].parts]:
            taken[family, n] = queues[family][n].without(spoken)
    return {place: text for place, text in taken.items() if text}


def _round(
    queues: Mapping[str, Sequence[Claim]], weights: Mapping[str, float], room: int, count: Count,
    before: Mapping[tuple[str, int], str],
) -> dict[tuple[str, int], str]:  # fmt: skip
    taken = dict(before)
    spent = dict.fromkeys(queues, 0)
    for (family, _), text in taken.items():
        cost = count(text + "\n") if text else 0
        spent[family] += cost
        room -= cost
    order = {family: n for n, family in enumerate(queues)}
    heap: list[tuple[float, int, str, int, int, str]] = []

    def offer(family: str, place: int) -> None:
        for n in range(place, len(queues[family])):
            line = "" if (family, n) in taken else queues[family][n].line
            if queues[family][n].parts and line:
                line = queues[family][n].without("\n".join(taken.values()))
            if line:
                cost = count(line + "\n")
                heappush(heap, (-weights[family] / (spent[family] + cost), order[family], family, n, cost, line))
                return

    for family in queues:
        offer(family, 0)
    while heap:
        _, _, family, place, cost, line = heappop(heap)
        if cost <= room:
            room -= cost
            spent[family] += cost
            taken[family, place] = line
        offer(family, place + 1)
    return taken
