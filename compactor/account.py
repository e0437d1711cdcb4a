"""What is to be said of one conversation, before and after the work on it?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from compactor.core.finish import Compacted, Rejected
from compactor.core.plan import Plan, Step
from compactor.core.report import Outcome, Report
from compactor.core.tokens import costs, preamble_cost
from compactor.folding import foreseen

if TYPE_CHECKING:
    from compactor.asking import Written
    from compactor.core.merge import Merged
    from compactor.core.report import Prices
    from compactor.formats import Standing
    from compactor.tools import Known, Tools

_OUTCOMES = {
    Step.UNTOUCHED: Outcome.UNTOUCHED,
    Step.REUSE: Outcome.REUSED,
    Step.PRUNE: Outcome.PRUNED,
    Step.SUMMARISE: Outcome.SUMMARISED,
}


def expected(row: Standing, known: Known, tools: Tools, plan: Plan) -> Report:
    """Say what a plan is expected to come to, with every figure counted."""
    report = planned(row, known, tools, plan)
    if report.before is None:
        whole = preamble_cost(plan.conversation, tools.count) + sum(costs(plan.conversation.messages, tools.count))
        report = replace(report, before=whole, effective=whole, pruned=whole, after_least=whole, after_most=whole)
    if plan.request is None:
        return report
    calls, asked = foreseen(plan.request, tools)
    cost = tools.prices.cost(asked, calls * plan.sizes.ceiling)
    return net(replace(report, calls=calls, prompt_tokens=asked, cost=cost), tools.prices)


def paid(report: Report, written: Written, prices: Prices) -> Report:
    """Fill in what the asking has cost, whatever comes of it."""
    usage = written.usage
    return replace(
        report,
        calls=usage.calls,
        prompt_tokens=usage.prompt_tokens,
        cached_tokens=usage.cached_tokens,
        completion_tokens=usage.completion_tokens,
        cost=prices.cost(usage.prompt_tokens, usage.completion_tokens),
        masked=written.masked,
    )


def noted(report: Report, kept: Merged | None) -> Report:
    """Say what of a reply was not taken over as it stood."""
    if kept is None:
        return report
    found = (
        (len(kept.left_out), "left {} of the reply out: they name what is nowhere in the conversation", "line"),
        (kept.permissions, "left {} out that only a tool result gives, not the user", "permission"),
        (kept.hearsay, "marked {} that only a tool result says", "item"),
    )
    said = (words.format(f"{n} {noun}{'s'[: n > 1]}") for n, words, noun in found if n)
    return replace(report, note="; ".join(filter(None, (report.note, *said))))


def net(report: Report, prices: Prices) -> Report:
    """Fill in what is saved in money: one reading of the result, less the cost. A failure saves nothing."""
    if report.cost is None:
        return report
    gone = (report.before or 0) - (report.after_most or 0) if report.fine and report.before else 0
    return replace(report, net_saving=(prices.cost(gone, 0) or 0.0) - report.cost)


def told(report: Report, plan: Plan, result: Compacted | Rejected, written: Written) -> Report:
    """Fill in what came of it."""
    report = replace(report, summarizer=str(written.made.get("summarizer", "")))
    if written.failure:
        stands_in = written.summary is not None
        report = replace(report, outcome=Outcome.SUMMARISED if stands_in else Outcome.FAILED, why=written.failure)
    if isinstance(result, Rejected):
        before = plan.sizes.before or None
        report = replace(report, after_least=before, after_most=before)
        if report.outcome is Outcome.FAILED:
            return report
        return replace(report, outcome=Outcome.FAILED if result.missed else Outcome.UNTOUCHED, why=result.why)
    if report.outcome is Outcome.SUMMARISED and result.generation is None:
        report = replace(report, outcome=Outcome.PRUNED)
    number = result.generation.number if result.generation else report.generation
    return replace(report, after_least=result.after, after_most=result.after, generation=number)


def unreadable(row: Standing) -> Report:
    """Report a row that holds no conversation."""
    faults = tuple(map(str, row.faults))
    outcome = Outcome.UNREADABLE if faults else Outcome.UNTOUCHED
    size = len(row.raw)
    return Report(
        "", outcome, "not a conversation", faults=faults, form=row.format.name, bytes_before=size, bytes_after=size
    )


def opened(row: Standing, known: Known, tools: Tools, outcome: Outcome, why: str) -> Report:
    """Open a report with what is known before anything is planned."""
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
        form=row.format.name,
        bytes_before=len(row.raw),
    )


def planned(row: Standing, known: Known, tools: Tools, plan: Plan) -> Report:
    """Open the report of a plan."""
    report = opened(row, known, tools, _OUTCOMES[plan.step], plan.why)
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


def left(report: Report, why: str) -> Report:
    """Say that a conversation leaves as it came, because of a failure."""
    whole, size = report.before, report.bytes_before
    return replace(report, outcome=Outcome.FAILED, why=why, after_least=whole, after_most=whole, bytes_after=size)
