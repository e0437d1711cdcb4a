"""What becomes of one conversation: which bytes, which report, and what the sidecar is to keep?"""

import asyncio
from dataclasses import replace
from itertools import pairwise

import pytest

from compactor.attempt import compact_row, plan_row
from compactor.core.handoff import PREFIX, is_handoff, is_turn
from compactor.core.report import Outcome, Prices
from compactor.core.settings import OnFailure, Settings
from compactor.core.state import Entry, Failure
from compactor.errors import OutputError, SummarizerUnavailable, SummaryError
from compactor.formats import rows
from compactor.summarizers import Reply, Usage
from compactor.tools import Known, Tools
from tests.asked import COUNT, notes
from tests.running import WINDOW, lined, talk

NOW = 1_800_000_000.0
GOOD = Reply(notes(), usage=Usage(1, 900, 0, 200))


class Script:
    """Gives the next reply of a list, or raises it, and counts how often it was asked."""

    name = "script"

    def __init__(self, *replies):
        self.replies = list(replies)
        self.asked = []

    async def reply(self, request):
        self.asked.append(request)
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply

    async def close(self):
        pass


def standing(content):
    (found,) = rows(content.splitlines(keepends=True), "chat.jsonl")
    return found


def tools(*replies, **settings):
    script = Script(*replies)
    settings = Settings(context_window=WINDOW, **settings)
    return Tools(settings, COUNT, script, lambda: NOW, asyncio.Semaphore(1), lambda text: text)


def known(*entries, ready=lambda: None):
    return Known("0" * 16, entries[0] if entries else None, entries, ready)


def compacted(content, tools, known=known()):
    return asyncio.run(compact_row(standing(content), known, tools))


LONG = lined(talk(41))


def test_a_summary_makes_a_new_generation_and_its_cost_is_reported():
    done = compacted(LONG, tools(GOOD))
    assert done.report.outcome is Outcome.SUMMARISED
    assert (done.report.calls, done.report.prompt_tokens, done.report.completion_tokens) == (1, 900, 200)
    assert (done.report.summarizer, done.report.generation) == ("script", 1)
    assert done.report.after_most == done.report.after_least < done.report.before
    assert done.content.count(PREFIX.encode()) == 1
    (generation,) = done.entry.generations
    assert generation.made["tokens"] == {"before": done.report.before, "after": done.report.after_most}
    assert generation.made["encoding"] == "o200k_base"


def test_what_needs_no_summary_asks_nobody_and_leaves_nothing_to_keep():
    for content in (b"", b"\n", lined(talk(9))):
        if content:
            done = compacted(content, tools())
            assert (done.content, done.entry, done.report.outcome) == (content, None, Outcome.UNTOUCHED)


def test_a_plan_asks_nobody_and_gives_the_same_figures():
    asked = tools(GOOD)
    planned = asyncio.run(plan_row(standing(LONG), known(), asked))
    assert asked.summarizer.asked == []
    assert (planned.content, planned.entry) == (LONG, None)
    done = compacted(LONG, asked)
    for figure in ("before", "effective", "pruned", "head", "middle", "tail", "messages"):
        assert getattr(planned.report, figure) == getattr(done.report, figure)
    assert planned.report.calls == 1
    (request,) = asked.summarizer.asked
    assert planned.report.prompt_tokens == COUNT(request.system) + COUNT(request.user)


@pytest.mark.parametrize("error", [SummaryError("too busy", "try later"), SummarizerUnavailable("no key", "set one")])
@pytest.mark.parametrize("policy", OnFailure)
def test_a_failure_is_remembered_if_it_was_the_conversations_own(error, policy):
    given = tools(error, on_failure=policy)
    done = compacted(LONG, given)
    unavailable = isinstance(error, SummarizerUnavailable)
    assert given.breaker.why == (str(error) if unavailable else "")
    assert done.report.why == str(error)
    if policy is OnFailure.EXTRACT:
        assert done.report.outcome is Outcome.SUMMARISED
        assert done.entry.generations[0].made["because"] == str(error)
        return
    assert done.report.outcome is Outcome.FAILED
    assert done.entry == (None if unavailable else Entry("0" * 16, failure=Failure(NOW, str(error))))
    assert (done.content == LONG) is (policy is OnFailure.KEEP)
    assert PREFIX.encode() not in done.content


class Steep:
    """Counts more for the whole than for its parts, so that what was planned comes out too large."""

    name, exact = "steep", False

    def __call__(self, text):
        return COUNT(text) + len(text) ** 2 // 20_000


def test_a_summary_that_was_paid_for_in_vain_is_not_bought_again_at_once():
    reply = replace(GOOD, usage=Usage(1, 6_000, 0, 200))
    given = replace(tools(reply, target_tokens=1_600), count=Steep())
    done = compacted(LONG, given)
    assert done.report.calls == 1
    assert "where 1,600 are asked for" in done.report.why
    assert done.entry.failure.why == done.report.why
    assert done.entry.failure.spent["usage"]["calls"] == 1
    again = replace(tools(), count=Steep())
    assert "failed lately" in compacted(LONG, again, known(done.entry)).report.why
    assert again.summarizer.asked == []


def test_an_open_breaker_asks_nobody():
    given = tools()
    given.breaker.why = "no key"
    done = compacted(LONG, given)
    assert (done.report.outcome, done.report.why, done.entry) == (Outcome.FAILED, "no key", None)


@pytest.mark.parametrize(("ago", "asked"), [(0, 0), (599, 0), (601, 1)])
def test_a_conversation_that_failed_is_left_alone_until_the_cooldown_is_over(ago, asked):
    given = tools(GOOD)
    done = compacted(LONG, given, known(Entry("0" * 16, failure=Failure(NOW - ago, "too busy"))))
    assert len(given.summarizer.asked) == asked
    assert done.report.outcome is (Outcome.SUMMARISED if asked else Outcome.FAILED)
    if asked:
        assert done.entry.failure is None


def test_a_sidecar_that_cannot_be_written_is_found_out_before_anybody_is_asked():
    def refuse():
        raise OutputError("no place")

    given = tools(GOOD)
    with pytest.raises(OutputError):
        compacted(LONG, given, known(ready=refuse))
    assert given.summarizer.asked == []


def test_a_reply_that_cannot_be_used_is_asked_for_once_more():
    given = tools(Reply("no", usage=Usage(1, 900, 0, 1)), GOOD)
    done = compacted(LONG, given)
    assert len(given.summarizer.asked) == 2
    assert done.report.prompt_tokens == 1_800


def test_going_on_from_the_state_of_another_key_moves_it_to_its_own():
    first = compacted(LONG, tools(GOOD)).entry
    elsewhere = Known("1" * 16, None, (replace(first, key="2" * 16),), lambda: None)
    done = compacted(LONG, tools(), elsewhere)
    assert done.report.outcome is Outcome.REUSED
    assert done.entry == replace(first, key="1" * 16)


def test_a_state_that_fits_nothing_is_not_used():
    other = compacted(lined(talk(41, topic="crane")), tools(GOOD)).entry
    done = compacted(LONG, tools(GOOD), known(other))
    assert done.report.outcome is Outcome.SUMMARISED
    assert done.report.generation == 1
    assert "starts afresh" in done.report.note
    assert len(done.entry.generations) == 1


def test_roles_alternate_around_the_handoff():
    done = compacted(LONG, tools(GOOD))
    (result,) = rows(done.content.splitlines(keepends=True), "chat.jsonl")
    turns = [m.role for m in result.conversation.messages if is_turn(m)]
    assert any(is_handoff(m) for m in result.conversation.messages)
    assert all(one != other for one, other in pairwise(turns))


DEAR = Prices(2.0, 8.0)


def test_case_p59_what_calls_cost_is_told_in_money_too():
    done = compacted(LONG, replace(tools(GOOD), prices=DEAR))
    cost = (900 * 2 + 200 * 8) / 1_000_000
    assert done.report.cost == pytest.approx(cost)
    saved = (done.report.before - done.report.after_most) * 2 / 1_000_000
    assert done.report.net_saving == pytest.approx(saved - cost)
    assert done.entry.generations[0].made["cost"] == pytest.approx(cost)
    assert compacted(LONG, tools(GOOD)).report.cost is None


@pytest.mark.parametrize("policy", [OnFailure.KEEP, OnFailure.DROP, OnFailure.EXTRACT])
def test_a_failure_costs_and_saves_nothing(policy):
    bad = Reply("no", usage=Usage(1, 900, 100, 200))
    done = compacted(LONG, replace(tools(bad, bad, on_failure=policy), prices=DEAR))
    assert (done.report.calls, done.report.prompt_tokens, done.report.cached_tokens) == (2, 1_800, 200)
    cost = 2 * (900 * 2 + 200 * 8) / 1_000_000
    assert done.report.cost == pytest.approx(cost)
    spent = done.entry.generations[0].made if policy is OnFailure.EXTRACT else done.entry.failure.spent
    assert spent["usage"] == {"calls": 2, "prompt_tokens": 1_800, "cached_tokens": 200, "completion_tokens": 400}
    assert spent["cost"] == pytest.approx(cost)
    if policy is OnFailure.EXTRACT:
        return
    assert done.report.outcome is Outcome.FAILED
    assert done.report.net_saving == pytest.approx(-cost)


def test_a_plan_says_what_it_will_cost_at_most():
    planned = asyncio.run(plan_row(standing(LONG), known(), replace(tools(), prices=DEAR))).report
    done = compacted(LONG, replace(tools(GOOD), prices=DEAR)).report
    assert planned.cost >= planned.prompt_tokens * 2 / 1_000_000
    assert planned.net_saving < (done.before - done.after_most) * 2 / 1_000_000
