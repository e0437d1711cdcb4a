"""Which messages belong together, how do they stand in a result, and what names them?"""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactor.core.messages import (
    CALL_REMOVED,
    Call,
    Group,
    Kept,
    Message,
    Result,
    Role,
    applied,
    chain,
    digest,
    groups,
)
from compactor.core.results import results
from tests.making import answer, call, calls, conversations, result, says, system, user

TALK = (system(), user("hello"), says("hi"))


def shapes(*messages):
    return [(g.start, g.stop, g.open, g.orphans) for g in groups(messages)]


PAIRED = {
    "nothing": ((), []),
    "words alone": (TALK, [(0, 1, (), ()), (1, 2, (), ()), (2, 3, (), ())]),
    "one call": ((calls("c1"), result("c1")), [(0, 2, (), ())]),
    "parallel calls, answered in another order": (
        (calls("c1", "c2"), result("c2"), result("c1"), says("done")),
        [(0, 3, (), ()), (3, 4, (), ())],
    ),
    "an id that is used again": (
        (calls("c1"), result("c1"), calls("c1"), result("c1")),
        [(0, 2, (), ()), (2, 4, (), ())],
    ),
    "one id for two parallel calls": ((calls("c1", "c1"), result("c1"), result("c1")), [(0, 3, (), ())]),
    "one id for two calls, answered once": ((calls("c1", "c1"), result("c1")), [(0, 2, (1,), ())]),
    "blanks around an id": ((calls(" c1 "), result("c1")), [(0, 2, (), ())]),
    "no ids, in order": ((calls("", ""), result(""), result("")), [(0, 3, (), ())]),
    "an id on one side only": ((calls(""), result("c1")), [(0, 2, (), ())]),
    "a call that nothing answers": ((calls("c1"), user("stop")), [(0, 1, (0,), ()), (1, 2, (), ())]),
    "half answered": ((calls("c1", "c2"), result("c2"), user()), [(0, 2, (0,), ()), (2, 3, (), ())]),
    "answered twice": ((calls("c1"), result("c1"), result("c1")), [(0, 3, (), ((2, 0),))]),
    "the result of another call": ((calls("c1"), result("c9")), [(0, 2, (0,), ((1, 0),))]),
    "a result without any call": ((user("x"), result("c1")), [(0, 1, (), ()), (1, 2, (), ((1, 0),))]),
    "a result that comes too late": (
        (calls("c1"), user("wait"), result("c1")),
        [(0, 1, (0,), ()), (1, 2, (), ()), (2, 3, (), ((2, 0),))],
    ),
    "results in one message, beside words": (
        (calls("c1", "c2"), user("go on", answer("c1"), answer("c2")), says("ok")),
        [(0, 2, (), ()), (2, 3, (), ())],
    ),
    "results in the message that called": (
        (replace(calls("s1", text="found"), results=(answer("s1"),)), says("ok")),
        [(0, 1, (), ()), (1, 2, (), ())],
    ),
    "some in the message that called, some after it": (
        (replace(calls("s1", "c1"), results=(answer("s1"),)), result("c1"), says("ok")),
        [(0, 2, (), ()), (2, 3, (), ())],
    ),
    "two messages with their own results": (
        (replace(calls("s1"), results=(answer("s1"),)), replace(calls("s2"), results=(answer("s2"),))),
        [(0, 1, (), ()), (1, 2, (), ())],
    ),
    "a result of nothing in the message that called": (
        (replace(calls("s1"), results=(answer("x"),)), result("s1")),
        [(0, 2, (), ((0, 0),))],
    ),
    "words end the group, so what comes after them is an orphan": (
        (calls("c1", "c2"), user("go on", answer("c1")), user("", answer("c2"))),
        [(0, 2, (1,), ()), (2, 3, (), ((2, 0),))],
    ),
}


@pytest.mark.parametrize(("messages", "expected"), PAIRED.values(), ids=PAIRED)
def test_calls_and_results_are_paired_by_where_they_stand(messages, expected):
    assert shapes(*messages) == expected


def named(call_name, *ids_and_names):
    return Message(Role.ASSISTANT, calls=tuple(Call(i, n, "{}") for i, n in ids_and_names), text=call_name)


ANSWERED = {
    "by id before place": ([("", "read"), ("c1", "bash")], Result("c1", "x"), 1),
    "by name where there is no id": ([("", "read"), ("", "bash")], Result("", "x", "bash"), 1),
    "by name where only the result has an id": ([("", "read"), ("", "bash")], Result("c1", "x", "bash"), 1),
    "by name where only the calls have ids": ([("a", "read"), ("b", "bash")], Result("", "x", "bash"), 1),
    "in order where neither id nor name says more": ([("", "read"), ("", "bash")], Result("", "x"), 0),
    "in order where no name fits either": ([("", "read"), ("", "bash")], Result("", "x", "grep"), 0),
    "not by place where the ids differ": ([("a", "bash")], Result("b", "x", "bash"), None),
}


@pytest.mark.parametrize(("asked", "told", "expected"), ANSWERED.values(), ids=ANSWERED)
def test_a_result_answers_the_call_that_it_names(asked, told, expected):
    messages = (named("", *asked), Message(Role.TOOL, results=(told,)))
    found = groups(messages)
    assert found[0].open == tuple(n for n in range(len(asked)) if n != expected)
    assert [c for _, c, _ in results(messages, found)] == [None if expected is None else messages[0].calls[expected]]


@given(conversations())
def test_groups_concatenated_are_the_messages(talk):
    found = groups(talk.messages)
    assert [n for g in found for n in range(g.start, g.stop)] == list(range(len(talk.messages)))


@given(conversations())
def test_every_call_is_answered_once_or_open_and_every_result_answers_once_or_is_an_orphan(talk):
    for group in groups(talk.messages):
        every = [(n, o) for n in range(group.start, group.stop) for o in range(len(talk.messages[n].results))]
        assert set(group.orphans) <= set(every)
        asked = talk.messages[group.start].calls
        assert set(group.open) <= set(range(len(asked)))
        assert len(every) - len(group.orphans) == len(asked) - len(group.open)


@given(conversations())
def test_calls_and_results_that_were_paired_by_id_have_that_id(talk):
    for _, asked, told in results(talk.messages, groups(talk.messages)):
        if asked and asked.id.strip() and told.call_id.strip():
            assert asked.id.strip() == told.call_id.strip()


@given(conversations())
def test_a_group_is_what_it_is_whatever_stands_around_it(talk):
    for group in groups(talk.messages):
        alone = groups(talk.messages[group.start : group.stop])
        orphans = tuple((n - group.start, o) for n, o in group.orphans)
        assert alone == (Group(0, group.stop - group.start, group.open, orphans),)


def test_a_message_that_nothing_happens_to_is_the_same_value():
    message = says("hi", calls=(call(),))
    assert applied(message, Kept(0)) is message


def test_a_stub_takes_the_place_of_a_result_and_of_its_images():
    message = Message(Role.USER, "see", results=(answer("a", "x" * 300, image_tokens=85), answer("b", "y")))
    done = applied(message, Kept(0, {0: "[gone]"}))
    assert done.results == (Result("a", "[gone]"), Result("b", "y"))
    assert replace(done, results=message.results) == message


def test_calls_and_results_go_by_ordinal():
    message = Message(Role.USER, "see", calls=(call("a"), call("b")), results=(answer("x"), answer("y"), answer("z")))
    done = applied(message, Kept(0, {2: "[gone]"}, frozenset({0}), frozenset({1})))
    assert [c.id for c in done.calls] == ["b"]
    assert [(r.call_id, r.text) for r in done.results] == [("x", "done"), ("z", "[gone]")]
    assert done.text == "see"


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (calls("c1"), CALL_REMOVED),
        (calls("c1", text=" \n"), CALL_REMOVED),
        (calls("c1", text="I look."), "I look."),
        (replace(calls("c1"), other='{"type":"image"}'), ""),
    ],
    ids=["silent", "blank", "with words", "with an image"],
)
def test_a_message_that_only_called_says_so_when_its_calls_go(message, text):
    assert applied(message, Kept(0, without_calls=frozenset({0}))) == replace(message, calls=(), text=text)


VARIANTS = [
    user("a"),
    says("a"),
    user("b"),
    user("a", name="kim"),
    user("a", other="{}"),
    replace(says("a"), reasoning="hm"),
    says("a", calls=(call("c1"),)),
    says("a", calls=(call("c2"),)),
    says("a", calls=(call("c1", arguments="{}"),)),
    says("a", calls=(call("c1", name="read"),)),
    user("a", answer("c1", "x")),
    user("a", answer("c1", "y")),
    user("a", answer("c2", "x")),
    user("\ud83d"),
]


def test_messages_that_read_differently_have_different_names():
    assert len({digest(m) for m in VARIANTS}) == len(VARIANTS)
    assert all(len(digest(m)) == 16 for m in VARIANTS)


@given(st.lists(st.sampled_from(VARIANTS)), st.lists(st.sampled_from(VARIANTS)))
def test_a_fold_goes_on_where_it_ended(first, second):
    assert chain(second, chain(first)) == chain([*first, *second])


@given(st.lists(st.sampled_from(VARIANTS), max_size=4), st.lists(st.sampled_from(VARIANTS), max_size=4))
def test_folds_of_different_messages_differ(first, second):
    assert (chain(first) == chain(second)) == (first == second)
