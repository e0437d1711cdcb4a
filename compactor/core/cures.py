"""Which of the things that failed went well later?

A success answers a failure of the same sort of work, and checks that pass answer checks that failed, however they were
run. A run whose exit status a pipe hides has not passed if it printed failures.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from compactor.core import facts
from compactor.core.commands import kind, only_looks

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from compactor.core.acts import Act


@dataclass(frozen=True, slots=True)
class Cures:
    """The last success of each sort of work, by the number of its message; `checks` is the sort that passed last."""

    successes: Mapping[str, int]
    checks: str = ""

    def of(self, act: Act) -> str:
        """Name the sort of work whose success came after `act`, which failed; "" if there was none."""
        return self.after(kind(act.subject), act.number, checked=bool(facts.verdict(act.output)))

    def after(self, sort: str, number: int, *, checked: bool) -> str:
        """Name the sort of work that answers a failure of `sort` in message `number`; `checked` if it was a check."""
        if self.successes.get(sort, 0) > number:
            return sort
        return self.checks if checked and self.successes.get(self.checks, 0) > number else ""


def cures(acts: Iterable[Act]) -> Cures:
    """Find what went well, in the order of `acts`."""
    successes: dict[str, int] = {}
    checks = ""
    for act in acts:
        if act.result is None or act.failed or prints_failures(act):
            continue
        successes[kind(act.subject)] = act.number
        if facts.verdict(act.output) and not (act.command and only_looks(act.command)):
            checks = kind(act.subject)
    return Cures(successes, checks)


def prints_failures(act: Act) -> bool:
    """Tell whether a command sums up with failures, whatever status it left: a pipe hides that of its first part."""
    return bool(act.command) and not only_looks(act.command) and facts.fails(facts.verdict(act.output))
