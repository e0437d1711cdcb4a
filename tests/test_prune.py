"""Which results are stubbed, what is the stub, and what is never touched?"""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactor.core.messages import Kept, applied, groups
from compactor.core.prune import STUB_SENTENCE, prunable, stub
from compactor.core.results import Spot
from compactor.core.scene import by_message
from compactor.core.settings import Settings, StubStyle
from tests.making import answer, call, calls, conversations, result, says, settings, user

PLAIN = Settings(stub=StubStyle.PLAIN)
LONG = "a line of output\n" * 40
ASKED = call(arguments='{"command": "make test"}')


def pruned(messages, chosen, start=0, stop=None):
    """The stubs of `messages`, and the messages with them."""
    stubs = prunable(messages, groups(messages), start, len(messages) if stop is None else stop, chosen)
    places = by_message(stubs)
    return stubs, tuple(applied(m, Kept(n, places.get(n, {}))) for n, m in enumerate(messages))


def test_a_stub_says_what_was_there():
    assert stub(ASKED, answer(text=LONG), Settings()) == (
        "[Old tool output cleared to save context space] bash(make test): 680 characters, 41 lines"
    )
    assert stub(ASKED, answer(text=f"{LONG}Error: no\nexit code 2"), Settings()) == (
        "[Old tool output cleared to save context space] "
        "bash(make test): 701 characters, 42 lines, exit 2, FAILED: Error: no"
    )


def test_a_plain_stub_is_the_bare_sentence():
    assert stub(ASKED, answer(text=LONG), PLAIN) == STUB_SENTENCE


@pytest.mark.parametrize(
    ("text", "expected"),
    [("x" * 200, False), ("x" * 201, True)],
    ids=["as long as is left alone", "longer"],
)
def test_only_long_results_are_stubbed(text, expected):
    assert (stub(ASKED, answer(text=text), Settings()) is not None) is expected


def test_what_the_user_said_through_a_tool_stays():
    assert stub(ASKED, answer(text=LONG, protected=True), Settings()) is None


def test_what_has_a_shape_of_its_own_stays():
    assert stub(ASKED, answer(text=LONG, shaped=True), Settings()) is None


def test_a_picture_is_stubbed_however_few_words_stand_beside_it():
    assert stub(ASKED, answer(text="", image_tokens=1_105), Settings()) == STUB_SENTENCE
    assert stub(ASKED, answer(text=LONG, image_tokens=85), Settings()).startswith(f"{STUB_SENTENCE} bash")


def test_a_description_that_would_be_longer_than_the_result_is_left_out():
    chosen = Settings(prune_chars=0)
    assert stub(ASKED, answer(text="x" * 60), chosen) == STUB_SENTENCE
    assert stub(ASKED, answer(text="x" * len(STUB_SENTENCE)), chosen) is None


def test_only_the_messages_between_start_and_stop_are_looked_at():
    messages = (calls("c1"), result("c1", LONG), calls("c1"), result("c1", LONG), calls("c1"), result("c1", LONG))
    assert [list(pruned(messages, PLAIN, *ends)[0]) for ends in ((0, 1), (1, 2), (2, 6), (6, 6))] == [
        [],
        [Spot(1, 0)],
        [Spot(3, 0), Spot(5, 0)],
        [],
    ]


def test_the_results_of_one_message_are_stubbed_each_for_itself():
    messages = (calls("a", "b", "c"), user(LONG, answer("b", LONG), answer("a", "short"), answer("c", LONG)))
    stubs, made = pruned(messages, Settings())
    assert list(stubs) == [Spot(1, 0), Spot(1, 2)]
    assert "run b" in stubs[Spot(1, 0)]
    assert "run c" in stubs[Spot(1, 2)]
    assert [r.text == LONG for r in made[1].results] == [False, False, False]
    assert (made[1].results[1], made[1].text) == (messages[1].results[1], LONG)


@given(conversations(), settings())
def test_a_stub_is_never_longer_than_what_it_replaces(talk, chosen):
    stubs, _ = pruned(talk.messages, chosen)
    for spot, text in stubs.items():
        was = talk.messages[spot.message].results[spot.result]
        assert text.startswith(STUB_SENTENCE)
        assert len(text) < len(was.text) or was.image_tokens


@given(conversations(), settings())
def test_nothing_is_stubbed_twice(talk, chosen):
    _, made = pruned(talk.messages, chosen)
    for later in (chosen, replace(chosen, prune_chars=0), replace(chosen, stub=StubStyle.PLAIN)):
        again, _ = pruned(made, later)
        assert not [spot for spot in again if made[spot.message].results[spot.result].text.startswith(STUB_SENTENCE)]
    assert pruned(made, chosen)[0] == {}


@given(conversations(), settings(), st.integers(0, 20), st.integers(0, 20))
def test_pruning_touches_nothing_but_long_old_results(talk, chosen, start, stop):
    _, made = pruned(talk.messages, chosen, start, stop)
    for n, (was, now) in enumerate(zip(talk.messages, made, strict=True)):
        assert replace(now, results=was.results) == was
        for before, after in zip(was.results, now.results, strict=True):
            if after != before:
                assert start <= n < stop
                assert not before.protected
                assert len(before.text) > chosen.prune_chars or before.image_tokens
                assert (after.call_id, after.name, after.failed) == (before.call_id, before.name, before.failed)


@given(conversations(), settings())
def test_arguments_that_were_json_stay_json(talk, chosen):
    _, made = pruned(talk.messages, chosen)
    for was, now in zip(talk.messages, made, strict=True):
        assert [c.arguments for c in now.calls] == [c.arguments for c in was.calls]


def test_the_words_of_the_model_and_its_calls_are_no_results():
    messages = (says(LONG, reasoning=LONG), says(calls=(call(arguments=json.dumps({"content": LONG})),)))
    assert pruned(messages, Settings(prune_chars=0)) == ({}, messages)
