"""What happened to each conversation, in figures that people and programs can check?"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable


class Outcome(StrEnum):
    """How a conversation left, or in a dry run would leave."""

    UNTOUCHED = "untouched"
    REUSED = "reused"
    PRUNED = "pruned"
    SUMMARISED = "summarised"
    FAILED = "failed"
    UNREADABLE = "unreadable"
    LEFT = "left"


MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Prices:
    """What a million tokens cost, going in and coming out, in any currency; None where nobody has said."""

    input: float | None = None
    output: float | None = None

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """Price calls; what an endpoint had in its cache is priced in full, so at most. None without any price."""
        if self.input is None and self.output is None:
            return None
        return (prompt_tokens * (self.input or 0) + completion_tokens * (self.output or 0)) / MILLION


@dataclass(frozen=True, slots=True)
class Report:
    """One conversation. Sizes are tokens of `encoding`; None where nothing had to be counted.

    `after_least` and `after_most` bound what a dry run expects; after a real run both are what was written.
    `head`, `middle` and `tail` are 0 where nothing was split. `calls` and the tokens after it are what summarizer calls
    cost, `cost` the same in money, `net_saving` what one reading of the result saves at the price of input, less that
    cost; both None without prices. `masked` counts the places where a secret was masked, in what was sent and in the
    summary. `form` is the format; bytes are those in the file, which holds far more than a model reads.
    """

    name: str
    outcome: Outcome
    why: str = ""
    key: str = ""
    messages: int = 0
    before: int | None = None
    effective: int | None = None
    pruned: int | None = None
    head: int = 0
    middle: int = 0
    tail: int = 0
    after_least: int | None = None
    after_most: int | None = None
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    generation: int = 0
    summarizer: str = ""
    note: str = ""
    faults: tuple[str, ...] = ()
    encoding: str = ""
    exact: bool = True
    form: str = ""
    bytes_before: int = 0
    bytes_after: int | None = None
    cached_tokens: int = 0
    masked: int = 0
    cost: float | None = None
    net_saving: float | None = None

    @property
    def fine(self) -> bool:
        """Whether nothing went wrong with it."""
        return self.outcome not in (Outcome.FAILED, Outcome.UNREADABLE, Outcome.LEFT) and not self.faults

    def as_json(self) -> dict[str, Any]:
        """Give the object of schemas/report.json."""
        return {"kind": "conversation", **asdict(self), "outcome": str(self.outcome), "faults": list(self.faults)}


@dataclass(frozen=True, slots=True)
class Totals:
    """All conversations of a run together. Tokens are of those that were counted."""

    conversations: int
    outcomes: dict[str, int]
    before: int
    after_least: int
    after_most: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    exact: bool
    cached_tokens: int = 0
    masked: int = 0
    cost: float | None = None
    net_saving: float | None = None

    @property
    def saved(self) -> tuple[float, float]:
        """Share of tokens saved, at least and at most, as fractions of `before`; zeros if nothing was counted."""
        if not self.before:
            return (0.0, 0.0)
        return (1 - self.after_most / self.before, 1 - self.after_least / self.before)

    def as_json(self) -> dict[str, Any]:
        """Give the object of schemas/report.json."""
        return {"kind": "totals", **asdict(self)}


def totals(reports: Iterable[Report]) -> Totals:
    """Add up reports."""
    every = tuple(reports)
    counted = [r for r in every if r.before is not None]
    outcomes = {str(o): n for o in Outcome if (n := sum(r.outcome is o for r in every))}
    return Totals(
        len(every),
        outcomes,
        sum(r.before or 0 for r in counted),
        sum(r.after_least or 0 for r in counted),
        sum(r.after_most or 0 for r in counted),
        sum(r.calls for r in every),
        sum(r.prompt_tokens for r in every),
        sum(r.completion_tokens for r in every),
        all(r.exact for r in every),
        sum(r.cached_tokens for r in every),
        sum(r.masked for r in every),
        _sum(r.cost for r in every),
        _sum(r.net_saving for r in every),
    )


def _sum(amounts: Iterable[float | None]) -> float | None:
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if known else None
