"""Who writes the summary? One small port, its adapters, and the rule by which a reply is accepted.

`extractive` needs no model, `openai` speaks to any compatible endpoint, `command` runs a program.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from compactor.core.faith import doubt
from compactor.core.prompt import Request, repaired
from compactor.core.summary import Summary, judge, strip_reasoning
from compactor.errors import SummaryError

if TYPE_CHECKING:
    from collections.abc import Callable

    from compactor.core.tokens import Count


@dataclass(frozen=True, slots=True)
class Usage:
    """What calls cost, as the endpoint reported it, in tokens; zeros where it reported nothing."""

    calls: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        """Add up two costs."""
        return Usage(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.cached_tokens + other.cached_tokens,
            self.completion_tokens + other.completion_tokens,
        )


def spent_by(error: SummaryError) -> Usage:
    """Give what calls have cost that brought nothing."""
    return error.spent if isinstance(error.spent, Usage) else Usage()


@dataclass(frozen=True, slots=True)
class Reply:
    """What a summarizer answered; `fault` says why the text cannot be whole ("" if it finished)."""

    text: str
    fault: str = ""
    usage: Usage = field(default_factory=Usage)


class Summarizer(Protocol):
    """Writes one summary for one request. Raises SummaryError, or SummarizerUnavailable if no other need try."""

    @property
    def name(self) -> str:
        """Name for reports and the sidecar, e.g. "extractive" or "openai:gpt-4o-mini"."""

    async def reply(self, request: Request) -> Reply:
        """Answer `request`."""

    async def close(self) -> None:
        """Let go of connections."""


async def summarise(
    summarizer: Summarizer, request: Request, count: Count, mask: Callable[[str], str]
) -> tuple[Summary, Usage]:
    """Get an acceptable summary: one request, and one that asks differently if the reply cannot be used.

    A reply that is only doubtful (an echo, another language) is asked for again once, and taken if no better comes.
    What `mask` takes for a secret is neither sent nor accepted. Raises SummaryError if neither reply is accepted.
    """
    request = replace(request, user=mask(request.user))
    spent = Usage()
    complaint = ""
    doubtful: Summary | None = None
    for asked in (request, None):
        try:
            reply = await summarizer.reply(asked or repaired(request, complaint))
        except SummaryError as error:
            error.spent = spent + spent_by(error)
            raise
        spent += reply.usage
        verdict = mask(reply.fault) or judge(mask(strip_reasoning(reply.text)), request.ceiling, count)
        if isinstance(verdict, Summary):
            complaint = doubt(verdict, request) if asked else ""
            if not complaint:
                return verdict, spent
            doubtful = verdict
        else:
            complaint = verdict
    if doubtful is not None:  # better than nothing: the merge loses none of what it does not say
        return doubtful, spent
    unusable = SummaryError(f"no usable summary from {summarizer.name}: {complaint}", "try another model")
    unusable.spent = spent
    raise unusable
