"""Is a summary to be asked for now, of whom, and what if none can be had?"""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING

from compactor.core.settings import OnFailure
from compactor.core.state import cooling
from compactor.core.summary import Summary
from compactor.errors import SummarizerUnavailable, SummaryError
from compactor.folding import folded
from compactor.redact import hidden
from compactor.summarizers import Usage, spent_by

if TYPE_CHECKING:
    from collections.abc import Mapping

    from compactor.core.prompt import Request
    from compactor.core.report import Prices
    from compactor.summarizers import Summarizer
    from compactor.tools import Known, Tools


# What reports and sidecars call it when no model has a part in a summary.
OFFLINE = "extractive"


@dataclass(frozen=True, slots=True)
class Written:
    """What a summarizer replied and how, or why there is nothing; `tried` is False if nothing was asked.

    An empty summary is the reply where code alone is to write one. `masked` counts the secrets that were not sent.
    """

    summary: Summary | None
    made: Mapping[str, object] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    failure: str = ""
    tried: bool = False
    masked: int = 0


async def ask(request: Request, known: Known, tools: Tools) -> Written:
    """Get a reply, or the reason why there is none; with `on_failure` extract code alone stands in."""
    if tools.summarizer is None:
        return Written(Summary({}), {"summarizer": OFFLINE})
    written = await _asked(tools.summarizer, request, known, tools)
    if written.summary is None and tools.settings.on_failure is OnFailure.EXTRACT:
        made: dict[str, object] = {
            "summarizer": OFFLINE,
            "instead_of": tools.summarizer.name,
            "because": written.failure,
        }
        made |= bill(written.usage, tools.prices)
        return replace(written, summary=Summary({}), made=made)
    return written


async def _asked(summarizer: Summarizer, request: Request, known: Known, tools: Tools) -> Written:
    own = known.own
    wait = cooling(own, tools.clock(), tools.settings.cooldown)
    if wait and own and own.failure:
        return Written(None, failure=f"failed lately ({own.failure.why}); tried again in {wait:.0f} s (--cooldown)")
    known.ready()
    async with tools.calls, tools.breaker.one_first():
        if tools.breaker.why:
            return Written(None, failure=tools.breaker.why)
        masked = hidden(request.user, await asyncio.to_thread(tools.mask, request.user))
        try:
            summary, usage = await folded(summarizer, request, tools)
        except SummarizerUnavailable as error:
            tools.breaker.why = str(error)
            return Written(None, usage=spent_by(error), failure=str(error), masked=masked)
        except SummaryError as error:
            return Written(None, usage=spent_by(error), failure=str(error), tried=True, masked=masked)
    made = {"summarizer": summarizer.name, **bill(usage, tools.prices)}
    return Written(summary, made, usage, tried=True, masked=masked)


def bill(usage: Usage, prices: Prices) -> dict[str, object]:
    """Say what calls have cost, as sidecars keep it; nothing if there was none, and no money without prices."""
    if not usage.calls:
        return {}
    cost = prices.cost(usage.prompt_tokens, usage.completion_tokens)
    return {"usage": asdict(usage), **({"cost": cost} if cost is not None else {})}
