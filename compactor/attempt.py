"""What happens to one conversation, from the bytes that it came as to the bytes that it leaves as?

Plan, at most one summary, finish, render, read back. Nothing here raises for the sake of one conversation: a
failure is an outcome, and the bytes are then those that came, or those that pruning alone gives.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from io import BytesIO
from typing import TYPE_CHECKING

from compactor.core.finish import Compacted, Rejected, finish
from compactor.core.plan import Plan, Step, make_plan
from compactor.core.report import Outcome, Report
from compactor.core.settings import OnFailure, Settings
from compactor.core.state import Entry, Failure, Foreign, cooling, extended
from compactor.core.tokens import Count, costs, preamble_cost
from compactor.core.verify import result_messages, rewritten
from compactor.errors import SummarizerUnavailable, SummaryError
from compactor.formats import Row, rows
from compactor.summarizers import Summarizer, Usage, summarise

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from compactor.core.messages import Conversation
    from compactor.core.prompt import Request
    from compactor.core.summary import Summary


@dataclass(slots=True)
class Breaker:
    """Why the summarizer is not to be asked again in this run; "" while it may be."""

    why: str = ""


@dataclass(frozen=True, slots=True)
class Tools:
    """What an attempt works with.

    `clock` gives seconds since the epoch; `calls` bounds the calls in flight; `mask` takes out secrets.
    """

    settings: Settings
    count: Count
    summarizer: Summarizer
    offline: Summarizer
    clock: Callable[[], float]
    calls: asyncio.Semaphore
    mask: Callable[[str], str]
    breaker: Breaker = field(default_factory=Breaker)


@dataclass(frozen=True, slots=True)
class Done:
    """What became of a conversation: the bytes to write, the report, and what the sidecar is to keep (None: as is)."""

    content: bytes
    report: Report
    entry: Entry | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """What the sidecar knows: the conversation's key, its own entry, and the entries that may fit it.

    `ready` raises OutputError if the sidecar cannot be written; it is asked before a call is paid for.
    """

    key: str
    own: Entry | None
    candidates: tuple[Entry, ...]
    ready: Callable[[], None]


async def plan_row(row: Row, known: Known, tools: Tools) -> Done:
    """Report what would be done with a row, exactly counted, without a call."""
    conversation = row.conversation
    if conversation is None:
        return _unreadable(row)
    plan = await asyncio.to_thread(make_plan, conversation, known.candidates, tools.settings, tools.count)
    if isinstance(plan, Foreign):
        return Done(row.raw, _base_report(row, known, tools, Outcome.FAILED, plan.why))
    return Done(row.raw, await asyncio.to_thread(_expectation, row, known, tools, plan))


def _expectation(row: Row, known: Known, tools: Tools, plan: Plan) -> Report:
    report = _planned(_base_report(row, known, tools, _OUTCOMES[plan.step], plan.why), plan)
    if report.before is None:
        whole = preamble_cost(plan.conversation, tools.count) + sum(costs(plan.conversation.messages, tools.count))
        report = replace(report, before=whole, effective=whole, pruned=whole, after_least=whole, after_most=whole)
    if plan.request is None:
        return report
    asked = sum(map(tools.count, (plan.request.system, plan.request.user)))
    return replace(report, calls=1, prompt_tokens=asked)


async def compact_row(row: Row, known: Known, tools: Tools) -> Done:
    """Compact one row."""
    conversation = row.conversation
    if conversation is None:
        return _unreadable(row)
    plan = await asyncio.to_thread(make_plan, conversation, known.candidates, tools.settings, tools.count)
    if isinstance(plan, Foreign):
        return Done(row.raw, _base_report(row, known, tools, Outcome.FAILED, plan.why))
    written = await _summary(plan.request, known, tools) if plan.request else _Written(None)
    return await asyncio.to_thread(_finished, row, known, tools, plan, written)


@dataclass(frozen=True, slots=True)
class _Written:
    """A summary and how it was made, or why there is none; `tried` is False if nothing was asked."""

    summary: Summary | None
    made: Mapping[str, object] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    failure: str = ""
    tried: bool = False


async def _summary(request: Request, known: Known, tools: Tools) -> _Written:
    written = await _asked(request, known, tools)
    if written.summary is None and tools.settings.on_failure is OnFailure.EXTRACT:
        reply, _ = await summarise(tools.offline, request, tools.count, tools.mask)
        made = {"summarizer": tools.offline.name, "instead_of": tools.summarizer.name, "because": written.failure}
        return replace(written, summary=reply, made=made)
    return written


async def _asked(request: Request, known: Known, tools: Tools) -> _Written:
    own = known.own
    wait = cooling(own, tools.clock(), tools.settings.cooldown)
    if wait and own and own.failure:
        return _Written(None, failure=f"failed lately ({own.failure.why}); tried again in {wait:.0f} s (--cooldown)")
    known.ready()
    async with tools.calls:
        if tools.breaker.why:
            return _Written(None, failure=tools.breaker.why)
        try:
            summary, usage = await summarise(tools.summarizer, request, tools.count, tools.mask)
        except SummarizerUnavailable as error:
            tools.breaker.why = str(error)
            return _Written(None, failure=str(error))
        except SummaryError as error:
            return _Written(None, failure=str(error), tried=True)
    made = {"summarizer": tools.summarizer.name, "usage": _usage(usage)}
    return _Written(summary, made, usage, tried=True)


def _usage(usage: Usage) -> dict[str, int]:
    return {
        "calls": usage.calls,
        "prompt_tokens": usage.prompt_tokens,
        "cached_tokens": usage.cached_tokens,
        "completion_tokens": usage.completion_tokens,
    }


_OUTCOMES = {
    Step.UNTOUCHED: Outcome.UNTOUCHED,
    Step.REUSE: Outcome.REUSED,
    Step.PRUNE: Outcome.PRUNED,
    Step.SUMMARISE: Outcome.SUMMARISED,
}


def _finished(row: Row, known: Known, tools: Tools, plan: Plan, written: _Written) -> Done:
    report = _planned(_base_report(row, known, tools, _OUTCOMES[plan.step], plan.why), plan)
    made = {**written.made, "encoding": tools.count.name}
    result = finish(plan, written.summary, made, tools.settings, tools.count)
    if isinstance(result, Rejected) and written.summary is not None:
        report = replace(report, note=result.why)
        result = finish(plan, None, made, replace(tools.settings, on_failure=OnFailure.KEEP), tools.count)
    content = _rendered(row, plan.conversation, result) if isinstance(result, Compacted) else row.raw
    if content is None:
        return Done(row.raw, replace(report, outcome=Outcome.FAILED, why="the result does not read back as meant"))
    return Done(content, _told(report, plan, result, written), _entry(known, tools, result, written))


def _rendered(row: Row, conversation: Conversation, result: Compacted) -> bytes | None:
    """Write the result and read it back; None if it is not what was meant."""
    content = row.render(result.pieces)
    again = next(iter(rows(BytesIO(content), conversation.name)), None)
    meant = result_messages(conversation, result.pieces)
    if again is None or again.conversation is None or not rewritten(meant, again.conversation.messages):
        return None
    return content


def _told(report: Report, plan: Plan, result: Compacted | Rejected, written: _Written) -> Report:
    """Fill in what came of it."""
    usage = written.usage
    report = replace(
        report,
        calls=usage.calls,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        summarizer=str(written.made.get("summarizer", "")),
    )
    if written.failure:
        stands_in = written.summary is not None
        report = replace(report, outcome=Outcome.SUMMARISED if stands_in else Outcome.FAILED, why=written.failure)
    if isinstance(result, Rejected):
        before = plan.sizes.before or None
        report = replace(report, after_least=before, after_most=before)
        if report.outcome is Outcome.FAILED:
            return report
        return replace(report, outcome=Outcome.UNTOUCHED, why=result.why)
    if report.outcome is Outcome.SUMMARISED and result.generation is None:
        report = replace(report, outcome=Outcome.PRUNED)
    number = result.generation.number if result.generation else report.generation
    return replace(report, after_least=result.after, after_most=result.after, generation=number)


def _entry(known: Known, tools: Tools, result: Compacted | Rejected, written: _Written) -> Entry | None:
    own = known.own or Entry(known.key)
    if isinstance(result, Compacted) and result.generation is not None:
        return extended(own, result.generation)
    if written.tried and written.failure:
        return replace(own, failure=Failure(tools.clock(), written.failure))
    return None


def _unreadable(row: Row) -> Done:
    faults = tuple(map(str, row.faults))
    outcome = Outcome.UNREADABLE if faults else Outcome.UNTOUCHED
    return Done(row.raw, Report("", outcome, "not a conversation", faults=faults))


def _base_report(row: Row, known: Known, tools: Tools, outcome: Outcome, why: str) -> Report:
    conversation = row.conversation
    return Report(
        conversation.name if conversation else "",
        outcome,
        why,
        known.key,
        len(conversation.messages) if conversation else 0,
        faults=tuple(map(str, row.faults)),
        encoding=tools.count.name,
        exact=tools.count.exact,
    )


def _planned(report: Report, plan: Plan) -> Report:
    if plan.scene is None:
        return report
    least, most = plan.expected
    sizes, base = plan.sizes, plan.scene.base
    return replace(
        report,
        before=sizes.before,
        effective=sizes.effective,
        pruned=sizes.pruned,
        head=sizes.head,
        middle=sizes.middle,
        tail=sizes.tail,
        after_least=least,
        after_most=most,
        generation=base.generation.number if base.generation else 0,
        note=base.said,
    )
