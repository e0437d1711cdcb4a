"""Is everything that can be decided without a model decided right, whatever the conversation looks like?"""

from collections import Counter
from dataclasses import dataclass, replace

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactor.core.handoff import Notes, is_handoff, role_between
from compactor.core.messages import Opening, Role, chain, digest, groups
from compactor.core.plan import LEAST_SUMMARY, Step, make_plan
from compactor.core.prune import prunable
from compactor.core.results import Spot
from compactor.core.scene import handoff_cost, scene, stubbed_costs
from compactor.core.settings import Trigger
from compactor.core.split import anchors
from compactor.core.state import Covered, Entry, Generation, locate
from compactor.core.summary import Summary, render
from compactor.core.tokens import costs, preamble_cost
from tests.making import (
    COUNT,
    FORCED,
    SMALL,
    calls,
    conversation,
    conversations,
    handoff,
    result,
    run,
    says,
    sections,
    settings,
    system,
    turns,
    user,
)

HEAD = (system(), user("the task"), says("I begin."))
LONG = "a line of output\n" * 100
TALK = (*HEAD, *turns(1, 8))


def planned(messages, chosen=SMALL, *entries, count=COUNT):
    return make_plan(conversation(*messages), entries, chosen, count)


def spoken(size, word="word "):
    """Words of `size` tokens."""
    return word * (4 * size // len(word))


def parts(plan):
    """Head, middle and tail of the turns that stand."""
    turns_ = plan.scene.turns
    return turns_[: plan.head], turns_[plan.head : plan.tail], turns_[plan.tail :]


def test_no_summary_is_asked_for_that_could_be_as_large_as_what_it_replaces():
    talks = [(*HEAD, user(spoken(size)), says("so"), user(spoken(1_500)), says("next")) for size in range(0, 1_400, 50)]
    plans = [planned(talk, FORCED) for talk in talks]
    asked = [plan for plan in plans if plan.request]
    assert len(plans) > len(asked) > len(plans) // 3
    for plan in asked:
        assert plan.sizes.ceiling == plan.request.ceiling >= LEAST_SUMMARY
        assert plan.sizes.wrapper + plan.sizes.ceiling < plan.sizes.middle


# Each step by hand.


def test_nothing_is_counted_where_the_bytes_say_that_it_is_below_the_trigger():
    @dataclass(frozen=True)
    class Never:
        name: str = "never"
        exact: bool = True

        def __call__(self, text):
            raise AssertionError(text)

    plan = planned(HEAD, count=Never())
    assert (plan.step, plan.why, plan.scene) == (Step.UNTOUCHED, "below the trigger", None)
    assert planned((), FORCED, count=Never()).why == "it has no messages"


@pytest.mark.parametrize(("size", "step"), [(1_900, Step.UNTOUCHED), (2_100, Step.SUMMARISE)])
def test_a_conversation_is_compacted_at_its_trigger(size, step):
    assert planned((*HEAD, user(spoken(size)), says("done"), user("next"))).step is step


def test_stubs_are_enough_where_they_bring_it_under_the_trigger():
    plan = planned((*HEAD, calls("c1"), result("c1", LONG * 5), user(spoken(400)), says("done")))
    assert (plan.step, plan.why, plan.request) == (Step.PRUNE, "pruning is enough", None)
    assert list(plan.stubs) == [Spot(4, 0)]
    assert plan.sizes.pruned < SMALL.trigger <= plan.sizes.effective == plan.sizes.before


def test_results_in_the_tail_stay_until_it_is_over_its_budget():
    messages = (*HEAD, user(spoken(4_000)), calls("a", "b"), result("a", LONG), result("b", LONG))
    roomy = replace(SMALL, context_window=8_000, tail_tokens=900)
    assert planned(messages, roomy).stubs == {}
    assert list(planned(messages, replace(roomy, tail_tokens=600)).stubs) == [Spot(5, 0)]
    assert list(planned(messages, replace(roomy, tail_tokens=50)).stubs) == [Spot(5, 0), Spot(6, 0)]


def test_the_middle_is_summarised_where_stubs_are_not_enough():
    plan = planned(TALK)
    head, middle, tail = parts(plan)
    assert (plan.step, plan.why) == (Step.SUMMARISE, "at the trigger")
    assert head == HEAD
    assert tail == TALK[-len(tail) :]
    assert tail[0] == TALK[-5]  # a reply, as the handoff after the head's reply is the user's
    assert plan.request.turns.messages == middle
    assert (plan.request.turns.first, plan.request.head, plan.request.tail) == (3, head, tail)
    assert plan.role is Role.USER
    assert plan.quote == ""


def test_a_conversation_of_a_head_and_a_tail_has_nothing_to_summarise():
    plan = planned((*HEAD, user(spoken(3_000))))
    assert (plan.step, plan.why) == (Step.UNTOUCHED, "nothing to summarise: head and tail hold everything")


def test_too_small_a_middle_is_not_worth_a_call():
    plan = planned((*HEAD, says("so"), user(spoken(3_000))))
    assert (plan.step, plan.request) == (Step.UNTOUCHED, None)
    assert "are too few to summarise" in plan.why


def test_a_message_that_would_be_quoted_whole_is_not_worth_a_call():
    plan = planned((*HEAD, user(spoken(1_800)), *(calls("c1"), result("c1")) * 30))
    assert plan.request is None
    assert "a handoff would take more than" in plan.why


def test_the_user_s_message_is_quoted_where_one_turn_is_cut_inside():
    one_turn = [m for n in range(60) for m in (calls(f"c{n}", text=spoken(60)), result(f"c{n}"))]
    plan = planned((*HEAD, user("mend all of it"), *one_turn))
    assert plan.quote == "mend all of it"
    assert parts(plan)[2][0].calls
    half = planned((*HEAD, user("mend \ud83d it"), *one_turn))
    assert half.quote == "mend \ufffd it"


def test_the_widened_tail_has_the_last_words_of_both():
    work = [m for n in range(8) for m in (calls(f"c{n}"), result(f"c{n}", LONG))]
    plan = planned((*TALK, user("mend it"), says("I will."), *work))
    assert parts(plan)[2] == (TALK[-1], user("mend it"), says("I will."), *work)
    assert plan.sizes.tail <= SMALL.tail_budget
    assert plan.quote == ""


def test_a_handoff_that_stands_last_is_left_alone():
    plan = planned((*TALK, handoff(sections(goal="- g"))))
    assert (plan.step, plan.request) == (Step.PRUNE, None)


# Laws.


@given(conversations(), settings())
def test_head_middle_and_tail_are_the_turns(talk, chosen):
    plan = make_plan(talk, (), chosen, COUNT)
    if plan.request:
        head, middle, tail = parts(plan)
        assert plan.head < plan.tail < len(plan.scene.turns)
        assert (*head, *middle, *tail) == tuple(m for m in talk.messages if not is_handoff(m))
        assert (plan.request.head, plan.request.turns.messages, plan.request.tail) == (head, middle, tail)


@given(conversations(), settings())
def test_no_group_is_cut(talk, chosen):
    plan = make_plan(talk, (), chosen, COUNT)
    if plan.request:
        assert {plan.head, plan.tail} <= {0, *(g.stop for g in plan.scene.groups)}


@given(conversations(), settings(tail_messages=0))
def test_the_tail_keeps_to_its_budget_or_is_one_group(talk, chosen):
    plan = make_plan(talk, (), chosen, COUNT)
    if plan.request:
        spent = sum(stubbed_costs(plan.scene.turns, plan.scene.costs, plan.stubs, COUNT)[plan.tail :])
        assert spent == plan.sizes.tail
        lasting = [g.start for g in plan.scene.groups if (g.start, 0) not in g.orphans]  # stray results go
        assert spent <= chosen.tail_budget or plan.tail == plan.scene.groups[-1].start or plan.tail >= lasting[-1]


@given(conversations(), settings())
def test_the_last_words_of_the_user_are_kept(talk, chosen):
    plan = make_plan(talk, (), chosen, COUNT)
    if plan.request:
        last, _ = anchors(plan.scene.turns)
        carried = plan.scene.base.notes.quote if plan.scene.base.notes else ""
        if last is None:
            assert plan.quote == carried
        elif last >= plan.tail:
            assert plan.quote == ""
        elif last >= plan.head:
            assert plan.quote == plan.scene.turns[last].text.encode("utf-16", "surrogatepass").decode(
                "utf-16", "replace"
            )


@given(conversations(), settings(tail_messages=0))
def test_the_last_words_of_both_are_in_the_tail_if_they_fit(talk, chosen):
    plan = make_plan(talk, (), chosen, COUNT)
    if plan.request:
        on = plan.scene
        stubs = prunable(on.turns, on.groups, plan.head, len(on.turns), chosen)
        least = stubbed_costs(on.turns, on.costs, stubs, COUNT)
        for anchor in anchors(on.turns):
            if anchor is not None and plan.head <= anchor < plan.tail and anchor >= on.base.at:
                begin = next(g.start for g in on.groups if g.start <= anchor < g.stop)
                assert sum(least[begin:]) > chosen.tail_budget


@given(conversations(), settings(), st.integers(1, 6))
def test_by_count_the_tail_has_so_many_messages_and_not_a_group_more(talk, chosen, messages):
    plan = make_plan(talk, (), replace(chosen, tail_messages=messages), COUNT)
    if plan.request:
        length = len(plan.scene.turns)
        floor = max(plan.head, plan.scene.base.at)
        assert length - plan.tail >= messages or plan.tail == floor
        assert not [g for g in plan.scene.groups if g.start > plan.tail and length - g.start >= messages]
        assert all(spot.message < plan.tail for spot in plan.stubs)


@given(conversations(), settings())
def test_the_handoff_s_role_fits_between_head_and_tail(talk, chosen):
    plan = make_plan(talk, (), chosen, COUNT)
    if plan.request:
        head, _, tail = parts(plan)
        assert plan.role is role_between(head, tail)[0]


@given(conversations(), settings())
def test_the_same_conversation_gets_the_same_plan(talk, chosen):
    assert make_plan(talk, (), chosen, COUNT) == make_plan(replace(talk), (), replace(chosen), COUNT)


@given(conversations(), settings(trigger_mode=Trigger.AUTO, threshold=1.0, target_tokens=0))
def test_a_threshold_of_one_never_compacts(talk, chosen):
    assert make_plan(talk, (), chosen, COUNT).step is Step.UNTOUCHED


@given(conversations(), settings())
def test_what_is_below_the_trigger_is_left_alone_unless_forced(talk, chosen):
    size = preamble_cost(talk, COUNT) + sum(costs(talk.messages, COUNT))
    handoffs = sum(map(is_handoff, talk.messages))
    plan = make_plan(talk, (), replace(chosen, trigger_mode=Trigger.AUTO), COUNT)
    if not chosen.triggers(size):
        assert (plan.step, plan.stubs) == (Step.UNTOUCHED, {})
    elif talk.messages and handoffs < 2:
        assert plan.why != "below the trigger"


@given(conversations(), settings(context_window=1_000_000))
def test_by_force_what_is_below_the_trigger_is_summarised_too(talk, chosen):
    forced = make_plan(talk, (), replace(chosen, trigger_mode=Trigger.FORCE), COUNT)
    assert forced.why not in ("below the trigger", "pruning is enough") or forced.request is None
    pressed = replace(chosen, threshold=1e-9, tail_tokens=chosen.tail_budget, trigger_mode=Trigger.AUTO)
    if not chosen.tail_messages and not chosen.tail_budget:
        assert forced.request == make_plan(talk, (), pressed, COUNT).request


@given(conversations(), settings(), st.integers(1, 2_000))
def test_no_window_is_too_small(talk, chosen, window):
    run(talk, replace(chosen, context_window=window))


@given(conversations(), settings())
def test_a_summary_is_asked_for_only_if_it_can_save_something(talk, chosen):
    plan = make_plan(talk, (), chosen, COUNT)
    if plan.request:
        assert LEAST_SUMMARY <= plan.request.ceiling == plan.sizes.ceiling
        assert plan.sizes.wrapper < plan.sizes.middle


@given(conversations(), settings())
def test_the_parts_add_up_to_what_pruning_leaves(talk, chosen):
    plan = make_plan(talk, (), chosen, COUNT)
    if plan.request:
        sizes = plan.sizes
        assert sizes.head + sizes.middle + sizes.tail == sizes.pruned
        assert sizes.before == preamble_cost(talk, COUNT) + sum(costs(talk.messages, COUNT))
        assert plan.expected == (
            sizes.head + sizes.tail + sizes.wrapper + sizes.floor,
            sizes.head + sizes.tail + sizes.wrapper + sizes.ceiling,
        )
    else:
        assert plan.expected == (plan.sizes.pruned, plan.sizes.pruned)


@given(conversations(handoffs=False), settings())
def test_a_first_summary_takes_half_of_the_middle_at_most(talk, chosen):
    plan = make_plan(talk, (), chosen, COUNT)
    if plan.request:
        assert plan.request.previous is None
        assert plan.request.ceiling <= min(plan.sizes.middle // 2, chosen.summary_max)


@given(conversations(), settings(), st.sampled_from([40, 400, 4_000]))
def test_an_update_may_be_as_long_as_the_notes_before_it(talk, chosen, size):
    old = handoff(sections(goal="- g", done="- " + "x" * size))
    plan = make_plan(replace(talk, messages=(*HEAD, old, *talk.messages), gaps=frozenset()), (), chosen, COUNT)
    if plan.request and plan.request.previous and not chosen.target_tokens:
        previous = COUNT(render(plan.request.previous))
        assert min(previous, chosen.summary_max) <= plan.request.ceiling <= chosen.summary_max


def test_the_examples_reach_every_step():
    steps = Counter()

    @hypothesis.settings(max_examples=400)
    @given(conversations(), settings())
    def reach(talk, chosen):
        plan = make_plan(talk, (), chosen, COUNT)
        steps[plan.step, bool(plan.scene and plan.scene.base.notes), bool(plan.quote)] += 1
        if plan.request:
            steps["demoted"] += any(s.message >= plan.tail for s in plan.stubs)
            steps["cut inside a turn"] += plan.scene.turns[plan.tail].role is not Role.USER

    reach()
    for step in Step:
        assert step is Step.REUSE or sum(n for key, n in steps.items() if step in key) >= 5, steps
    assert steps[Step.SUMMARISE, True, False] >= 5
    assert steps[Step.SUMMARISE, False, True] + steps[Step.SUMMARISE, True, True] >= 5
    assert min(steps["demoted"], steps["cut inside a turn"]) >= 5


# What an earlier run covered.


def known(messages, first, last, *stubbed):
    """The sidecar's entry of a run that covered messages [first, last) and left stubs after them."""
    old = messages[first:last]
    covered = Covered(len(old), sum(costs(old, COUNT)), digest(old[0]), chain(old))
    return Entry("key", (Generation(1, covered, Role.ASSISTANT, Notes(sections(goal="- g")), stubbed),))


def test_what_is_covered_is_not_given_to_the_summarizer_again():
    plan = planned(TALK, FORCED, known(TALK, 3, 19))
    assert plan.request.previous == sections(goal="- g")
    for n in range(1, 9):
        for word in (f"question-{n}.", f"looking-{n}.", f"output-{n}.", f"reply-{n}."):
            told = any(word in m.text or any(word in r.text for r in m.results) for m in plan.request.turns.messages)
            assert plan.request.user.count(word) == told
            assert not (told and n <= 4)


def test_head_handoff_and_the_rest_are_reused_below_the_trigger():
    plan = planned(TALK, SMALL, known(TALK, 3, 27))
    assert (plan.step, plan.role, plan.request) == (Step.REUSE, Role.ASSISTANT, None)
    assert plan.sizes.effective == plan.sizes.pruned < SMALL.trigger < plan.sizes.before


def test_the_stubs_of_an_earlier_run_are_repeated():
    at = next(n for n, m in enumerate(TALK) if m.results and n > 27)
    plan = planned(TALK, SMALL, known(TALK, 3, 27, (at - 27, 0), (0, 0), (1, 9)))
    assert list(plan.stubs) == [Spot(3 + at - 27, 0)]
    assert sum(plan.scene.costs) < sum(costs(plan.scene.turns, COUNT))


@pytest.mark.parametrize("protect_first", [0, 1, 3, 9])
@pytest.mark.parametrize("before", [0, 1, 2])
def test_the_head_of_an_earlier_run_stays_the_head(protect_first, before):
    entry = known(TALK, 3, 11)
    messages = (*(system(f"rule {n}") for n in range(before)), *TALK)
    plan = planned(messages, replace(FORCED, protect_first=protect_first), entry)
    assert parts(plan)[0] == messages[: 3 + before]
    assert parts(plan)[1][0] == TALK[11]


def test_turns_before_another_tool_s_handoff_are_summarised_with_those_after_it():
    old = user("[CONTEXT SUMMARY]: they mended the build")
    plan = planned((*TALK[:11], old, *TALK[11:]), FORCED)
    assert parts(plan)[0] == HEAD
    assert parts(plan)[1][:9] == TALK[3:12]
    assert plan.request.previous == sections(context="they mended the build")


def test_where_a_format_reads_nothing_before_a_compaction_there_is_no_head():
    plan = make_plan(replace(conversation(*TALK), opening=Opening.HANDOFF), (), FORCED, COUNT)
    assert (plan.head, plan.role) == (0, Role.USER)


def test_a_call_before_a_handoff_is_not_answered_after_it():
    middle = (user("u"), says("a"))
    messages = (user("task"), calls("c1"), *middle, result("c1", LONG), says("end"))
    base = locate(messages, [known(messages, 2, 4)])
    on = scene(conversation(*messages), base, SMALL, COUNT)
    assert on.turns == (*messages[:2], *messages[4:])
    assert [(g.start, g.stop, g.open, g.orphans) for g in on.groups] == [
        (0, 1, (), ()), (1, 2, (0,), ()), (2, 3, (), ((2, 0),)), (3, 4, (), ()),
    ]  # fmt: skip


@given(conversations(), settings())
def test_a_scene_has_a_price_for_every_turn(talk, chosen):
    on = scene(talk, locate(talk.messages, ()), chosen, COUNT)
    assert on.turns == tuple(m for m in talk.messages if not is_handoff(m))
    assert on.costs == costs(on.turns, COUNT)
    assert on.cost_of == costs(talk.messages, COUNT)
    assert [n for g in on.groups for n in range(g.start, g.stop)] == list(range(len(on.turns)))
    handoffs = [c for c, m in zip(on.cost_of, talk.messages, strict=True) if is_handoff(m)]
    assert on.handoff == (handoffs[-1] if handoffs else 0)


def test_a_written_handoff_is_priced_as_the_message_that_it_will_be():
    notes = Notes(sections(goal="- g"), "quote")
    assert handoff_cost(notes, 7, COUNT) == costs([handoff(notes.summary, notes.quote, as_of=7)], COUNT)[0]
    assert handoff_cost(Notes(Summary({})), 7, COUNT) < handoff_cost(notes, 7, COUNT)


def test_stubs_change_the_price_of_their_message_alone():
    messages = (calls("c1"), result("c1", LONG), user("x"))
    before = costs(messages, COUNT)
    stubs = prunable(messages, groups(messages), 0, 3, SMALL)
    after = stubbed_costs(messages, before, stubs, COUNT)
    assert (after[0], after[2]) == (before[0], before[2])
    assert after[1] < before[1]
    assert stubbed_costs(messages, before, {}, COUNT) == before
