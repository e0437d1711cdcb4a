"""Do head and tail end between tool groups, within their budgets, and with what has to stay in them?"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactor.core.messages import groups
from compactor.core.split import anchors, head_end, tail_start, tail_start_by_count, widened
from compactor.core.tokens import costs
from tests.making import COUNT, calls, conversations, handoff, result, says, sections, system, user

RUN = (calls("a", "b"), result("a"), result("b"))
TALK = (system(), user("task"), *RUN, says("done"), user("more"), *RUN, says("done again"))


def begins(messages):
    return [g.start for g in groups(messages)]


@pytest.mark.parametrize(
    ("messages", "protect_first", "end"),
    [
        (TALK, 0, 0),
        (TALK, 1, 1),
        (TALK, 2, 2),
        (TALK, 3, 2),
        (TALK, 4, 2),
        (TALK, 5, 5),
        (TALK, 6, 6),
        (TALK, 99, len(TALK)),
        ((), 3, 0),
        (RUN, 2, 0),
        ((system(), system(), system(), user("task"), says("reply"), user()), 3, 5),
        ((system(), system(), system(), user("task")), 0, 0),
        ((system(), system(), user("task")), 1, 2),
        ((user("task"), system(), system(), says("reply")), 3, 3),
        ((system(), system()), 1, 2),
    ],
)
def test_the_head_is_the_first_messages_without_a_group_that_would_be_cut(messages, protect_first, end):
    assert head_end(messages, groups(messages), protect_first) == end


@given(conversations(), st.integers(0, 8))
def test_the_head_ends_between_groups(talk, protect_first):
    end = head_end(talk.messages, groups(talk.messages), protect_first)
    assert end in {0, *(g.stop for g in groups(talk.messages))}


@pytest.mark.parametrize(
    ("budget", "floor", "start"),
    [(0, 0, 11), (1, 0, 11), (10, 0, 11), (39, 0, 11), (40, 0, 8), (50, 0, 7), (60, 0, 6), (999, 0, 0)]
    + [(999, 6, 6), (999, 7, 7), (999, 11, 11), (999, 12, 12), (0, 12, 12)],
)
def test_the_tail_takes_whole_groups_from_the_end(budget, floor, start):
    messages = (*TALK[:7], user("and"), *TALK[7:])
    assert tail_start(groups(messages), (10,) * len(messages), budget, floor) == start


@given(conversations(), st.integers(0, 3_000), st.integers(0, 8))
def test_the_tail_keeps_to_its_budget_or_is_the_last_group(talk, budget, protect_first):
    found, prices = groups(talk.messages), costs(talk.messages, COUNT)
    floor = head_end(talk.messages, found, protect_first)
    start = tail_start(found, prices, budget, floor)
    assert floor <= start <= len(prices)
    assert start in {len(prices), *begins(talk.messages)}
    assert sum(prices[start:]) <= budget or start == found[-1].start
    assert start < len(prices) or floor == len(prices)


@given(conversations(), st.integers(0, 3_000))
def test_no_further_group_would_have_fitted_the_tail(talk, budget):
    found, prices = groups(talk.messages), costs(talk.messages, COUNT)
    start = tail_start(found, prices, budget, 0)
    before = [g for g in found if g.stop == start]
    assert not before or sum(prices[before[0].start :]) > budget


@pytest.mark.parametrize(
    ("messages", "floor", "start"),
    [(0, 0, 10), (1, 0, 10), (2, 0, 7), (4, 0, 7), (5, 0, 6), (6, 0, 5), (7, 0, 2), (10, 0, 1), (11, 0, 0), (99, 0, 0)]
    + [(99, 5, 5), (1, 10, 10), (1, 11, 11)],
)
def test_a_tail_by_count_has_at_least_so_many_messages(messages, floor, start):
    assert tail_start_by_count(groups(TALK), messages, floor) == start


@given(conversations(), st.integers(1, 8), st.integers(0, 8))
def test_a_tail_by_count_is_the_shortest_that_holds_so_many(talk, messages, protect_first):
    found = groups(talk.messages)
    floor = head_end(talk.messages, found, protect_first)
    start = tail_start_by_count(found, messages, floor)
    length = len(talk.messages)
    assert start in {length, *begins(talk.messages)}
    assert start >= floor
    assert length - start >= messages or start == floor
    assert not [g for g in found if g.start > start and length - g.start >= messages]


OLD = handoff(sections(goal="- g"))


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ((), (None, None)),
        ((system(),), (None, None)),
        (TALK, (6, 10)),
        ((user("a"), says("b"), user("c")), (2, 1)),
        ((user("a"), user(" \n"), says("\t")), (0, None)),
        ((user("a"), OLD, says("b")), (0, 2)),
        ((user("a"), calls("c1", text="I look."), result("c1"), calls("c1"), result("c1")), (0, 1)),
        ((user("", image_tokens=85), says("b")), (0, 1)),
        ((user("a"), calls("c1"), user("", *result("c1").results)), (0, None)),
    ],
    ids=["none", "system", "talk", "user last", "blank", "handoff", "words beside calls", "picture", "bare results"],
)
def test_the_last_words_of_the_user_and_the_last_reply_are_found(messages, expected):
    assert anchors(messages) == expected


@pytest.mark.parametrize(
    ("start", "budget", "wanted", "expected"),
    [
        (10, 50, [6], 6),
        (10, 49, [6], 10),
        (10, 50, [6, 1], 6),
        (10, 100, [6, 1], 1),
        (10, 99, [1, 6], 6),
        (10, 40, [8], 7),  # from the beginning of its group
        (10, 39, [8], 10),
        (5, 999, [6], 5),  # it has it already
        (10, 999, [], 10),
    ],
)
def test_the_tail_is_widened_as_far_as_its_budget_goes(start, budget, wanted, expected):
    assert widened(groups(TALK), (10,) * len(TALK), start, budget, wanted) == expected
