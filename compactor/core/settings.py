"""Which numbers and choices shape a compaction, and why is each what it is?

Every field is a flag, an environment variable (COMPACTOR_...) and a key of the configuration file; the text
beside it is its help. One value, frozen, is handed to every stage.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import Any

from compactor.errors import UsageError


class StubStyle(StrEnum):
    """What is left of a pruned tool result: one line of what was there, or the bare sentence."""

    DESCRIBE = "describe"
    PLAIN = "plain"


class Update(StrEnum):
    """How a model is asked to bring earlier notes up to date: by what changes, or by writing them all again."""

    DELTA = "delta"
    FULL = "full"


class OnFailure(StrEnum):
    """What becomes of the middle when no summary can be had."""

    KEEP = "keep"
    DROP = "drop"
    EXTRACT = "extract"


class Trigger(StrEnum):
    """Whether a conversation below the trigger is compacted all the same."""

    AUTO = "auto"
    FORCE = "force"


_TAIL_SHARE = 0.40  # of the trigger, so that small windows work too
_SEAMS = 8  # tokens that texts may have more when they are joined
_SUMMARY_SHARE = 0.40  # of the trigger, too: both are what the next session reads
# Of a target: with 0.4 a result at the size of a tool's own summary lost every eighth edited path, with 0.85 none.
_SUMMARY_OF_TARGET = 0.85


def _number(default: float, why: str) -> Any:  # noqa: ANN401 - a dataclass field stands for its value
    return field(default=default, metadata={"why": why})


@dataclass(frozen=True, slots=True)
class Settings:
    """All that shapes a compaction. Sizes are tokens unless a name says otherwise.

    Raises UsageError for values that cannot work together.
    """

    context_window: int = _number(128_000, "tokens the reading model takes; what most current models offer")
    threshold: float = _number(0.50, "share of the window at which a conversation is compacted; 1.0 never")
    protect_first: int = _number(3, "messages kept at the beginning: system, task, first reply")
    tail_tokens: int = _number(20_000, "tokens kept at the end, at most 40 % of the trigger")
    tail_messages: int = _number(0, "keep this many last messages instead of a token budget (0: off)")
    prune_chars: int = _number(200, "longest old tool result that is left alone, in characters")
    stub: StubStyle = field(
        default=StubStyle.DESCRIBE, metadata={"why": "what stands for a pruned result: describe or plain"}
    )
    tool_excerpt: int = _number(600, "characters of an old tool result that the summarizer reads")
    summary_ratio: float = _number(0.20, "summary budget as a share of the middle")
    summary_min: int = _number(2_000, "smallest summary budget, unless that is over half of the middle")
    summary_max: int = _number(12_000, "largest summary budget")
    target_tokens: int = _number(0, "tokens that the whole result must fit, instead of a trigger (0: off)")
    update: Update = field(
        default=Update.DELTA,
        metadata={"why": "how a model updates earlier notes: delta (what changes) or full (all of them again)"},
    )
    pin: str = field(
        default="", metadata={"why": "regular expression: sentences of the user that are kept word for word like rules"}
    )
    on_failure: OnFailure = field(
        default=OnFailure.KEEP,
        metadata={"why": "when no summary can be had: keep the turns, drop them, or extract offline"},
    )
    cooldown: int = _number(600, "seconds before a conversation that failed is tried again")
    trigger_mode: Trigger = field(default=Trigger.AUTO, metadata={"internal": True})

    def __post_init__(self) -> None:
        """Refuse numbers that cannot work."""
        for f in fields(self):
            value = getattr(self, f.name)
            if isinstance(value, int | float) and value < 0:
                raise UsageError(f"{f.name} is {value}, but cannot be negative", "give 0 or more")
        if not 0 < self.threshold <= 1:
            raise UsageError(f"threshold is {self.threshold}", "give a share of the window, over 0 and up to 1")
        if not 0 < self.summary_ratio <= 0.5:  # noqa: PLR2004 - half of the middle is the rule itself
            raise UsageError(f"summary_ratio is {self.summary_ratio}", "give a share over 0 and up to 0.5")
        if self.summary_min > self.summary_max:
            raise UsageError(
                f"summary_min {self.summary_min} is over summary_max {self.summary_max}", "swap or lower them"
            )
        try:
            re.compile(self.pin)
        except re.error as error:
            raise UsageError(f"pin is {self.pin!r}: {error}", "give a regular expression") from None
        if self.context_window < 1:
            raise UsageError("context_window is 0", "give the window of the model that will read the result")

    @property
    def trigger(self) -> int:
        """Tokens from which a conversation is compacted (but see `triggers`: a threshold of 1.0 never does)."""
        return self.target_tokens + 1 if self.target_tokens else int(self.threshold * self.context_window)

    def triggers(self, tokens: int) -> bool:
        """Tell whether a conversation of `tokens` is to be compacted."""
        return (self.threshold < 1 or self.target_tokens > 0) and tokens >= self.trigger

    @property
    def tail_budget(self) -> int:
        """Tokens that the tail may hold: `tail_tokens`, but never over 40 % of the trigger."""
        return min(self.tail_tokens, int(_TAIL_SHARE * self.trigger))

    def summary_budget(self, new: int, previous: int = 0, covered: int = 0) -> int:
        """Bound a summary of `new` tokens of turns, and of `covered` more that a summary of `previous` stands for.

        It grows by at most half of what is new, so that what is written is always smaller than what it replaces: the
        floor gives way. It need not shrink below the previous one, unless that takes over 40 % of the trigger, as the
        tail never does: what comes out has to stay below it for a while.
        """
        wanted = max(int(self.summary_ratio * (covered + new)), self.summary_min, previous)
        share = self.target_tokens or int(_SUMMARY_SHARE * self.trigger)  # of a target it gets what is left
        return min(wanted, self.summary_max, share, previous + new // 2)

    def left_beside(self, tokens: int) -> int:
        """Give the tokens that `target_tokens` leaves for a summary beside `tokens` of other things."""
        return self.target_tokens - tokens - _SEAMS if self.target_tokens else self.summary_max

    def fitted(self, taken: int, summary: int) -> Settings:
        """Give the settings with a tail that lets the whole fit `target_tokens`, if there is such a target.

        `taken` are the tokens of what stays besides tail and summary, `summary` those that a summary would take: the
        tail is the first to give way.
        """
        if not self.target_tokens:
            return self
        room = self.target_tokens - taken - min(summary, int(_SUMMARY_OF_TARGET * self.target_tokens))
        return replace(self, tail_tokens=max(min(self.tail_budget, room), 0))
