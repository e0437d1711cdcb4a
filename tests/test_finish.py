"""Does what comes out keep every promise, run after run, whichever way the tool is used?"""

import json
from collections import Counter
from dataclasses import replace

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactor.core.finish import Compacted, Rejected, finish
from compactor.core.handoff import PREFIX, is_handoff, read
from compactor.core.messages import CALL_REMOVED, Handoff, Kept, Role, chain, digest
from compactor.core.plan import Step, make_plan
from compactor.core.prune import STUB_SENTENCE
from compactor.core.settings import OnFailure, Trigger
from compactor.core.state import locate
from compactor.core.summary import render
from compactor.core.tokens import costs, preamble_cost
from compactor.core.verify import broken, result_messages
from compactor.entries import entry_from, entry_to
from tests.making import (
    COUNT,
    FORCED,
    SMALL,
    calls,
    conversation,
    conversations,
    distinct,
    handoff,
    result,
    run,
    says,
    sections,
    settings,
    system,
    turns,
    user,
    with_no_facts,
    written,
)

HEAD = (system(), user("the task"), says("I begin."))
LONG = "a line of output\n" * 100
TALK = (*HEAD, *turns(1, 8))
NOTES = sections(goal="- g", done="- d")


def finished(messages, chosen=SMALL, summary=NOTES, **made):
    plan = make_plan(conversation(*messages), (), chosen, COUNT)
    return plan, finish(plan, with_no_facts(summary), made, chosen, COUNT)


def price(messages, preamble=""):
    return preamble_cost(conversation(preamble=preamble), COUNT) + sum(costs(messages, COUNT))


def through_json(entry):
    """The entry as the next run reads it."""
    return entry_from(json.loads(json.dumps(entry_to(entry)))) if entry else None


# By hand.


def test_a_summary_stands_between_head_and_tail():
    plan, done = finished(TALK)
    assert done.pieces[:3] == (Kept(0), Kept(1), Kept(2))
    assert done.pieces[3].text.startswith(PREFIX)
    assert [p.index for p in done.pieces[4:]] == list(range(plan.tail, len(TALK)))
    assert done.after == price(result_messages(plan.conversation, done.pieces))


def test_the_generation_says_what_was_covered_and_how():
    plan, done = finished(TALK, summarizer="a model")
    new = TALK[3 : plan.tail]
    covered = done.generation.covered
    assert (covered.count, covered.first, covered.chain) == (len(new), digest(new[0]), chain(new))
    assert covered.tokens == plan.sizes.middle
    assert (done.generation.number, done.generation.role) == (1, plan.role)
    assert done.generation.notes == read(done.pieces[3].text)
    assert done.generation.made == {
        "summarizer": "a model", "tokens": {"before": plan.sizes.before, "after": done.after},
    }  # fmt: skip


@pytest.mark.parametrize(("choice", "middle"), [(OnFailure.KEEP, True), (OnFailure.DROP, False)])
def test_without_a_summary_the_middle_stays_pruned_or_goes_without_a_word(choice, middle):
    plan, done = finished(TALK, replace(SMALL, on_failure=choice), summary=None)
    kept = [p.index for p in done.pieces]
    assert kept == [n for n in range(len(TALK)) if middle or n not in range(plan.head, plan.tail)]
    assert done.generation is None
    assert any(p.stubs for p in done.pieces if p.index < plan.tail) is middle


def test_dropping_keeps_the_handoff_of_an_earlier_run():
    first = run(TALK, SMALL)
    more = (*TALK, *turns(9, 16))
    plan = make_plan(conversation(*more), (first.entry,), SMALL, COUNT)
    done = finish(plan, None, {}, replace(SMALL, on_failure=OnFailure.DROP), COUNT)
    made = result_messages(plan.conversation, done.pieces)
    assert made[3].text == first.generation.handoff
    assert made[4:][0] == plan.scene.turns[plan.tail]
    assert [digest(m) for m in made if not m.results] == [
        digest(m) for m in (*HEAD, made[3], *plan.scene.turns[plan.tail :]) if not m.results
    ]


def test_a_summary_that_saves_nothing_is_rejected():
    plan, _ = finished(TALK)
    words = sections(done="- " + "x" * 8 * plan.sizes.middle)
    assert finish(plan, with_no_facts(words), {}, SMALL, COUNT).why.startswith("the result would not be smaller (")
    pruned = make_plan(conversation(*HEAD, calls("c"), result("c", LONG * 9), *TALK[3:]), (), FORCED, COUNT)
    words = sections(done="- " + "x" * 4 * pruned.sizes.middle)
    assert finish(pruned, with_no_facts(words), {}, SMALL, COUNT) == Rejected("the summary saves nothing over pruning")


def test_what_is_left_alone_is_rejected_with_the_reason():
    assert finished(HEAD, summary=None)[1] == Rejected("below the trigger")
    assert finished((), summary=None)[1] == Rejected("it has no messages")


STRAYS = {
    "a call without a result": ((calls("a"), user("u")), [f"assistant {CALL_REMOVED}", "user u"]),
    "a call with words": ((calls("a", text="I look."), user("u")), ["assistant I look.", "user u"]),
    "one of two calls": ((calls("a", "b"), result("b"), user("u")), ["assistant b", "tool b", "user u"]),
    "a result without a call": ((says("s"), result("x"), user("u")), ["assistant s", "user u"]),
    "a result that comes twice": (
        (calls("a"), result("a"), result("a"), user("u")),
        ["assistant a", "tool a", "user u"],
    ),
    "a result that comes late": (
        (calls("a"), user("u"), result("a"), user("v")),
        [f"assistant {CALL_REMOVED}", "user u", "user v"],
    ),
    "bare results in a message of the user": ((user("", *result("x").results), user("u")), ["user u"]),
    "results beside words of the user": ((user("see", *result("x").results), user("u")), ["user see", "user u"]),
    "calls still open at the very end": (
        (user("u"), calls("a", "b"), result("b")),
        ["user u", "assistant a b", "tool b"],
    ),
    "calls that nothing but an orphan follows": ((user("u"), calls("a"), result("x")), ["user u", "assistant a"]),
    "the same in a message of the user": (
        (user("u"), calls("a"), user("", *result("x").results)),
        ["user u", "assistant a"],
    ),
    "calls that words beside an orphan follow": (
        (calls("a"), user("see", *result("x").results)),
        [f"assistant {CALL_REMOVED}", "user see"],
    ),
}


def shape(message):
    ids = [c.id for c in message.calls] + [r.call_id for r in message.results]
    return " ".join(filter(None, (message.role, message.text, *ids)))


@pytest.mark.parametrize(("messages", "left"), STRAYS.values(), ids=STRAYS)
def test_calls_and_results_without_their_partner_go(messages, left):
    before = (*HEAD, calls("z"), result("z", LONG * 5), says("so"))
    plan = make_plan(conversation(*before, *messages), (), replace(SMALL, context_window=2_000), COUNT)
    done = finish(plan, None, {}, SMALL, COUNT)
    assert [shape(m) for m in result_messages(plan.conversation, done.pieces)[6:]] == left


@pytest.mark.parametrize("gap", [5, 6])
def test_what_touches_an_unreadable_record_is_left_as_it_is(gap):
    messages = (*HEAD, calls("z"), result("z", LONG * 5), says("so"), calls("a"), user("u"))
    plan = make_plan(conversation(*messages, gaps=(gap,)), (), replace(SMALL, context_window=2_000), COUNT)
    done = finish(plan, None, {}, SMALL, COUNT)
    assert [c.id for m in result_messages(plan.conversation, done.pieces) for c in m.calls] == ["z", "a"]


# Laws of one run.


@given(conversations(), settings())
def test_a_result_keeps_every_promise(talk, chosen):
    done = run(talk, chosen).result
    if isinstance(done, Compacted):
        assert broken(talk, done.pieces) == ()


@given(conversations(), settings())
def test_a_result_has_fewer_tokens_than_its_input(talk, chosen):
    ran = run(talk, chosen)
    if isinstance(ran.result, Compacted):
        assert ran.result.after == price(ran.messages, talk.preamble) < price(talk.messages, talk.preamble)


@given(conversations(), settings())
def test_there_is_at_most_one_handoff_and_turns_stand_after_it(talk, chosen):
    ran = run(talk, chosen)
    if isinstance(ran.result, Compacted):
        assert sum(map(is_handoff, ran.messages)) <= 1
        assert not is_handoff(ran.messages[-1]) or is_handoff(talk.messages[-1])


@given(conversations(), settings())
def test_head_and_tail_stay_and_the_middle_is_what_goes(talk, chosen):
    ran = run(talk, chosen)
    plan, generation = ran.plan, ran.generation
    if generation:
        kept = [p.index for p in ran.result.pieces if isinstance(p, Kept)]
        view = plan.scene.base.view
        assert not set(kept) & set(view[plan.head : plan.tail])
        gone = {*view[: plan.head], *view[plan.tail :]} - set(kept)
        assert all(talk.messages[n].results and not talk.messages[n].text.strip() for n in gone)


@given(conversations(), settings())
def test_words_calls_and_answers_that_stay_are_untouched(talk, chosen):
    ran = run(talk, chosen)
    pieces = ran.result.pieces if isinstance(ran.result, Compacted) else ()
    for piece, now in zip(pieces, ran.messages, strict=False):
        if isinstance(piece, Kept):
            was = talk.messages[piece.index]
            assert now.text in (was.text, CALL_REMOVED)
            assert now.text == was.text or not was.text.strip()
            assert set(now.calls) <= set(was.calls)
            assert (now.reasoning, now.other, now.name, now.role) == (was.reasoning, was.other, was.name, was.role)
            for r in now.results:
                assert r in was.results or (r.text.startswith(STUB_SENTENCE) and not r.protected)


@given(conversations(), settings())
def test_the_state_covers_exactly_what_the_summary_covers(talk, chosen):
    ran = run(talk, chosen)
    if ran.generation:
        new = ran.plan.request.turns.messages
        covered = ran.generation.covered
        assert (covered.count, covered.first) == (len(new), digest(new[0]))
        assert covered.chain == chain(new) or ran.plan.scene.base.notes
        assert ran.generation.number == 1 + (ran.plan.scene.base.notes is not None)


@given(conversations(), settings(target_tokens=700))
def test_a_target_is_met_or_it_is_said_why_not(talk, chosen):
    ran = run(talk, chosen)
    if isinstance(ran.result, Compacted):
        assert ran.result.after <= 700
    elif ran.plan.step is not Step.UNTOUCHED and not ran.result.why.startswith("the result would"):
        assert ran.result.missed, ran.result.why
        assert "where 700 are asked for" in ran.result.why


@given(conversations(), settings(on_failure=OnFailure.DROP))
def test_dropping_never_advances_the_state(talk, chosen):
    plan = make_plan(talk, (), chosen, COUNT)
    done = finish(plan, None, {}, chosen, COUNT)
    if isinstance(done, Compacted):
        assert done.generation is None
        if plan.request and not plan.scene.base.notes:
            assert not any(isinstance(p, Handoff) for p in done.pieces)


@given(conversations(), settings())
def test_a_summary_takes_no_more_than_was_expected(talk, chosen):
    ran = run(talk, chosen)
    if ran.generation:
        assert ran.result.after <= ran.plan.expected[1] + 2 * len(render(ran.generation.notes.summary).splitlines())
        assert COUNT(render(ran.generation.notes.summary)) <= ran.plan.request.ceiling


@given(conversations(), settings())
def test_a_summary_that_was_asked_for_is_not_lost_to_a_promise(talk, chosen):
    plan = make_plan(talk, (), chosen, COUNT)
    if plan.request and any(m.text or m.calls for m in plan.request.tail):
        done = finish(plan, with_no_facts(written(plan.request)), {}, chosen, COUNT)
        assert isinstance(done, Compacted) or "promise" not in done.why


def test_a_summary_is_not_lost_to_an_orphan_that_stands_last():
    plan, done = finished((*TALK, result("x", LONG)), replace(SMALL, tail_tokens=50))
    assert plan.request is None or isinstance(done, Compacted)


@given(conversations(), settings())
def test_pruning_comes_to_what_was_planned(talk, chosen):
    ran = run(talk, chosen)
    if ran.plan.step is Step.PRUNE and isinstance(ran.result, Compacted) and sum(map(is_handoff, talk.messages)) < 2:
        strays = len(ran.result.pieces) < len(talk.messages) or any(
            p.without_calls or p.without_results for p in ran.result.pieces
        )
        assert strays or ran.result.after == ran.plan.sizes.pruned


# The next run.


@given(conversations(handoffs=False), settings())
def test_the_same_input_again_takes_no_call_and_gives_the_same_pieces(talk, chosen):
    talk = distinct(talk)
    first = run(talk, chosen)
    if first.generation:
        again = run(talk, replace(chosen, trigger_mode=Trigger.AUTO), through_json(first.entry))
        assert again.plan.request is None
        assert again.plan.step is Step.REUSE
        assert again.result.pieces == first.result.pieces


def test_the_same_input_again_gives_the_same_pieces_where_messages_repeat():
    source = (user("ping"), says("pong")) * 250
    first = run(source, SMALL)
    assert run(source, SMALL, first.entry).result.pieces == first.result.pieces


@pytest.mark.parametrize(
    "old", [handoff(NOTES), user("[CONTEXT SUMMARY]: they mended the build")], ids=["ours", "another tool's"]
)
def test_a_source_with_a_handoff_in_it_is_summarised_once_too(old):
    source = (*HEAD, old, *turns(1, 8))
    first = run(source, SMALL)
    again = run(source, SMALL, first.entry)
    assert again.plan.request is None
    assert again.result.pieces == first.result.pieces


@given(conversations(), settings())
def test_an_entry_comes_back_from_the_sidecar_as_it_went(talk, chosen):
    entry = run(talk, chosen).entry
    assert through_json(entry) == entry


@given(conversations(handoffs=False), settings(on_failure=OnFailure.KEEP))
def test_what_pruning_left_needs_no_more_pruning(talk, chosen):
    first = run(talk, chosen, summarizer=lambda request: None)
    if isinstance(first.result, Compacted):
        again = run(replace(talk, messages=first.messages, gaps=frozenset()), chosen, summarizer=lambda request: None)
        assert price(again.messages) <= price(first.messages)


@given(conversations(handoffs=False), conversations(handoffs=False, gaps=False), settings())
def test_of_a_source_that_grew_only_what_is_new_is_summarised(talk, more, chosen):
    talk = distinct(talk)
    first = run(talk, chosen)
    if first.generation:
        grown = distinct(replace(talk, messages=talk.messages + more.messages))
        second = run(grown, chosen, through_json(first.entry))
        base = second.plan.scene.base
        assert base.generation == first.generation
        if second.plan.request:
            covered = first.plan.head + first.generation.covered.count
            assert second.plan.request.turns.messages == grown.messages[covered:][: second.plan.tail - second.plan.head]
            assert second.plan.request.previous == first.generation.notes.summary


@given(conversations(handoffs=False), settings(), st.integers(0, 3))
def test_a_new_system_prompt_in_front_changes_nothing_that_is_covered(talk, chosen, before):
    talk = distinct(talk)
    first = run(talk, chosen)
    if first.generation:
        front = tuple(system(f"rule {n}") for n in range(before))
        again = run(replace(talk, messages=(*front, *talk.messages), gaps=frozenset()), chosen, first.entry)
        assert again.plan.scene.base.generation is first.generation
        assert again.generation is None or again.generation.covered.first == first.generation.covered.first


WAYS = [
    pytest.param("s", id="the source grows"),
    pytest.param("o", id="the output replaces the source"),
    pytest.param("so", id="replaced, then both by turns"),
    pytest.param("oos", id="grown after it was replaced"),
]


def lives(size, chosen, way, rounds=10):
    """Run ten times while turns are appended: to the source ("s"), or to the output that replaced it ("o")."""
    source, entry = (*HEAD, *turns(1, 8, size)), None
    for n in range(rounds):
        ran = run(source, chosen, through_json(entry))
        yield source, ran
        entry = ran.entry
        kept = source if way[n % len(way)] == "s" else ran.messages
        source = (*kept, *turns(9 + 8 * n, 16 + 8 * n, size))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("size", [40, 60])
def test_ten_generations(way, size):
    numbers = []
    for source, ran in lives(size, SMALL if size == 60 else FORCED, way):
        assert sum(map(is_handoff, ran.messages)) == 1
        assert broken(conversation(*source), ran.result.pieces) == ()
        if ran.generation:
            numbers.append(ran.generation.number)
            assert COUNT(render(ran.generation.notes.summary)) <= ran.plan.request.ceiling <= SMALL.summary_max
            assert ran.plan.request.user.count("question-1.") == (len(numbers) == 1)
            told = "".join(m.text for m in ran.plan.request.turns.messages)
            assert not [n for n in range(1, 90) if f"question-{n}." in told and f"question-{n}." in ran.messages]
    assert numbers == list(range(1, 11))


@pytest.mark.parametrize("way", WAYS)
def test_over_ten_generations_every_turn_is_summarised_once_and_none_is_lost(way):
    told = Counter()
    for source, ran in lives(40, FORCED, way):
        if ran.plan.request:
            told.update(m.text.partition(".")[0] for m in ran.plan.request.turns.messages if m.role is Role.USER)
        last = source
    kept = {m.text.partition(".")[0] for m in ran.messages if m.role is Role.USER}
    asked = {m.text.partition(".")[0] for m in turns(1, 80) if m.role is Role.USER}
    assert set(told.values()) == {1}
    assert asked <= set(told) | kept
    assert not set(told) & kept
    assert last


def test_a_rewound_conversation_goes_on_from_the_generation_that_still_fits():
    sources, runs = zip(*lives(40, FORCED, "s", rounds=4), strict=True)
    entry = runs[-1].entry
    assert [g.number for g in entry.generations] == [1, 2, 3, 4]
    for n, source in enumerate(sources):
        base = locate(source, [entry])
        assert base.generation == entry.generations[n]
        rewound = run((*source, user("another way"), says("yes"), *turns(100, 108)), FORCED, entry)
        assert rewound.generation.number == n + 2
        assert [g.number for g in rewound.entry.generations] == list(range(1, n + 3))


def test_the_examples_reach_every_end():
    ends = Counter()

    @hypothesis.settings(max_examples=300)
    @given(conversations(), settings())
    def reach(talk, chosen):
        ran = run(talk, chosen)
        ends[ran.plan.step, type(ran.result), bool(ran.generation)] += 1
        if isinstance(ran.result, Compacted):
            ends["stray calls"] += any(isinstance(p, Kept) and p.without_calls for p in ran.result.pieces)
            ends["stray results"] += any(isinstance(p, Kept) and p.without_results for p in ran.result.pieces)
            ends["stubs in the tail"] += bool(ran.generation and ran.generation.stubbed)

    reach()
    assert ends[Step.SUMMARISE, Compacted, True] >= 40
    assert ends[Step.PRUNE, Compacted, False] >= 10
    assert min(ends["stray calls"], ends["stray results"]) >= 5
    assert ends["stubs in the tail"] >= 2


def test_what_is_written_is_what_the_stand_in_wrote():
    ran = run(TALK, SMALL)
    assert ran.generation.notes.summary == written(ran.plan.request)
