"""What happens to one conversation, from the bytes that it came as to the bytes that it leaves as?

Plan, at most one summary, finish, render, read back. Nothing here raises for the sake of one conversation: a
failure is an outcome, and the bytes are then those that came, or those that pruning alone gives.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from compactor.account import expected, left, net, noted, paid, planned, told, unreadable
from compactor.asking import Written, ask, bill
from compactor.core.finish import Compacted, Rejected, finish
from compactor.core.messages import Handoff, Message
from compactor.core.plan import Step, make_plan
from compactor.core.settings import OnFailure
from compactor.core.state import Entry, Failure, extended
from compactor.core.summary import Summary, render
from compactor.core.verify import result_messages, rewritten
from compactor.formats import Marked
from compactor.formats.convert import CannotConvertError, Target, converted
from compactor.redact import hidden
from compactor.tools import Done, Native

if TYPE_CHECKING:
    from collections.abc import Callable

    from compactor.core.merge import Merged
    from compactor.core.plan import Plan
    from compactor.core.prompt import Request
    from compactor.core.report import Report
    from compactor.formats import Standing
    from compactor.tools import Known, Tools


async def plan_row(row: Standing, known: Known, tools: Tools) -> Done:
    """Report what would be done with a row, exactly counted, without a call."""
    conversation = row.conversation
    if conversation is None:
        return Done(row.raw, unreadable(row))
    plan = await asyncio.to_thread(make_plan, conversation, known.candidates, tools.settings, tools.count)
    return Done(row.raw, await asyncio.to_thread(expected, row, known, tools, plan))


async def compact_row(row: Standing, known: Known, tools: Tools) -> Done:
    """Compact one row."""
    conversation = row.conversation
    if conversation is None:
        return _as_came(row, tools, unreadable(row))
    plan = await asyncio.to_thread(make_plan, conversation, known.candidates, tools.settings, tools.count)
    if why := _edited(plan, known) or _unfit(row, plan, tools):
        return _as_came(row, tools, left(planned(row, known, tools, plan), why))
    written = await ask(plan.request, known, tools) if plan.request else Written(None)
    return await asyncio.to_thread(_finished, row, known, tools, plan, written)


def _edited(plan: Plan, known: Known) -> str:
    """Say that a transcript is not what its sidecar knows; not where other conversations begin alike.

    Whoever edits or cuts a transcript loses what its summary stands on: that is for a person to decide.
    """
    if not (plan.scene and plan.scene.base.lost and known.alone):
        return ""
    return "what its sidecar covers is no longer in it: it was edited or cut short; --rebuild starts afresh"


def _unfit(row: Standing, plan: Plan, tools: Tools) -> str:
    """Say why a result could not be written as asked, before anything is paid for; "" if it can."""
    if tools.native is Native.APPEND and not isinstance(row.row, Marked) and plan.step is not Step.UNTOUCHED:
        return f"{row.format.title} has no mark for a compaction to append; use --native rewrite"
    if tools.to is Target.SAME:
        return ""
    if row.faults:
        return f"it cannot be written as {tools.to}: a part of it could not be read"
    kept = plan.conversation.messages
    if plan.scene and plan.step is Step.SUMMARISE:
        handoff = Message(plan.role, "a summary")
        kept = (*plan.scene.turns[: plan.head], handoff, *plan.scene.turns[plan.tail :])
    try:
        converted(plan.conversation, kept, tools.to)
    except CannotConvertError as error:
        return f"it cannot be written as {tools.to}: {error}"
    return ""


def _as_came(row: Standing, tools: Tools, report: Report) -> Done:
    """Leave a row alone; in another format there is no place for its bytes, so it is left out."""
    content = row.raw if tools.to is Target.SAME else b""
    return Done(content, replace(report, bytes_after=len(content)))


def _finished(row: Standing, known: Known, tools: Tools, plan: Plan, written: Written) -> Done:
    report = paid(planned(row, known, tools, plan), written, tools.prices)
    made = {**written.made, "encoding": tools.count.name, "at": round(tools.clock())}
    kept, secrets = _masked(_merged(plan.request, written.summary, tools), tools.mask)
    report = replace(report, masked=report.masked + secrets)
    result = finish(plan, kept, made, tools.settings, tools.count)
    report = noted(report, kept)
    vain = result.why if isinstance(result, Rejected) and written.tried else ""
    if isinstance(result, Rejected) and kept is not None and not result.missed:
        report = replace(report, note=result.why)
        result = finish(plan, None, made, replace(tools.settings, on_failure=OnFailure.KEEP), tools.count)
    if tools.native is Native.APPEND and isinstance(result, Compacted) and not _marks(result):
        result = Rejected("pruning alone cannot be appended; use --native rewrite, or --force")
    content = _rendered(row, plan, result, tools)
    if isinstance(content, Rejected):
        return _as_came(row, tools, net(left(report, content.why), tools.prices))
    report = replace(told(report, plan, result, written), bytes_after=len(content))
    return Done(
        content,
        net(report, tools.prices),
        _entry(known, tools, plan, result, replace(written, failure=written.failure or vain)),
    )


def _merged(request: Request | None, reply: Summary | None, tools: Tools) -> Merged | None:
    """Join a reply with the facts that code keeps."""
    if request is None or reply is None:
        return None
    from compactor.core.merge import merged  # noqa: PLC0415 - start-up time: 40 ms of patterns

    return merged(request, reply, tools.count)


def _masked(kept: Merged | None, mask: Callable[[str], str]) -> tuple[Merged | None, int]:
    """Mask secrets in what code has quoted like any other; also count those that stood in the summary."""
    if kept is None:
        return None, 0
    summary, ledger = (
        Summary({key: tuple(map(mask, lines)) for key, lines in which.sections.items()})
        for which in (kept.summary, kept.ledger)
    )
    return replace(kept, summary=summary, ledger=ledger), hidden(render(kept.summary), render(summary))


def _marks(result: Compacted) -> bool:
    return any(isinstance(piece, Handoff) for piece in result.pieces)


def _rendered(row: Standing, plan: Plan, result: Compacted | Rejected, tools: Tools) -> bytes | Rejected:
    """Write the result; Rejected if it does not read back as it was meant."""
    before = plan.conversation
    meant = before.messages if isinstance(result, Rejected) else result_messages(before, result.pieces)
    if tools.to is not Target.SAME:
        try:
            return converted(before, meant, tools.to)
        except CannotConvertError as error:  # a summary may quote what the target takes for its own
            return Rejected(f"it cannot be written as {tools.to}: {error}")
    if isinstance(result, Rejected):
        return row.raw
    content = row.append(result.pieces) if tools.native is Native.APPEND else row.render(result.pieces)
    again = row.read_back(content) if content else None
    if content is None or again is None or not rewritten(meant, again.messages):
        return Rejected("the result does not read back as it was meant")
    return content


def _entry(known: Known, tools: Tools, plan: Plan, result: Compacted | Rejected, written: Written) -> Entry | None:
    own = known.own or Entry(known.key)
    base = plan.scene.base.generation if plan.scene else None
    moved = base is not None and base not in own.generations
    if moved:  # kept so far under the key of a conversation with the same opening
        own = replace(own, generations=next(e.generations for e in known.candidates if base in e.generations))
    if isinstance(result, Compacted) and result.generation is not None:
        return extended(own, result.generation)
    if written.tried and written.failure:
        return replace(own, failure=Failure(tools.clock(), written.failure, bill(written.usage, tools.prices)))
    return own if moved else None
