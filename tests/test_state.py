"""Is what an earlier run covered found again, only where it belongs, and never claimed too far?"""

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from compactor.core.handoff import Notes
from compactor.core.messages import Message, Role, chain, digest
from compactor.core.state import (
    KEEP_GENERATIONS,
    Base,
    Covered,
    Entry,
    Failure,
    Generation,
    cooling,
    extended,
    key_of,
    locate,
)
from compactor.core.summary import Summary
from tests.making import HANDOFFS, conversations, handoff, says, sections, system, turns, user

TALK = (system(), user("task"), says("ok"), *turns(1, 6, size=1))  # 27 messages
HEAD = 3


def covering(messages, number=1, role=Role.USER, seed=""):
    """A generation that covers `messages`."""
    covered = Covered(len(messages), 100 * len(messages), digest(messages[0]), chain(messages, seed))
    return Generation(number, covered, role, Notes(sections(goal=f"- goal of {number}")))


def entry(*generations):
    return Entry("key", generations)


FIRST, SECOND = covering(TALK[HEAD:11]), covering(TALK[HEAD:19], 2)
NOTHING = Base(tuple(range(len(TALK))))
AFRESH = replace(NOTHING, said="starts afresh: what earlier runs covered is not in it", lost=True)


def found(messages, *generations):
    base = locate(messages, [entry(*generations)])
    return base.generation, base.at, base.view


def test_without_an_earlier_run_every_message_stands_as_a_turn():
    assert locate(TALK, []) == NOTHING
    assert locate(TALK, [Entry("key"), Entry("key", (), Failure(1.0, "no key"))]) == NOTHING
    assert locate((), []) == Base(())


def test_covered_messages_are_found_where_they_stand():
    base = locate(TALK, [entry(FIRST)])
    assert base == Base((0, 1, 2, *range(11, 27)), HEAD, FIRST.notes, FIRST.role, None, FIRST)


@given(st.integers(0, 20), st.integers(1, 27), st.integers(0, 5))
def test_covered_messages_are_found_wherever_they_stand(start, count, before):
    run = TALK[start : start + count]
    around = (*(system(f"rule {n}") for n in range(before)), *TALK, user("and?"))
    base = locate(around, [entry(covering(run))])
    assert (base.at, len(base.view)) == (start + before, len(around) - len(run))
    assert all(around[i] not in run for i in base.view)


@pytest.mark.parametrize(
    "changed",
    [
        (system("a new prompt"), *TALK[1:]),
        (system("one more"), *TALK),
        TALK[1:],
        (*TALK, *turns(7, 9)),
        TALK[:12],
        (*TALK[:12], user("another way"), says("yes")),
    ],
    ids=["new prompt", "prompt in front", "no prompt", "grown", "cut after it", "forked after it"],
)
def test_what_changes_around_covered_messages_does_not_matter(changed):
    base = locate(changed, [entry(FIRST)])
    assert base.generation is FIRST
    assert tuple(changed[i] for i in base.view[: base.at]) == changed[: changed.index(TALK[HEAD])]
    assert tuple(changed[i] for i in base.view[base.at :]) == changed[changed.index(TALK[10]) + 1 :]


@pytest.mark.parametrize(
    "changed",
    [
        TALK[:10],
        (*TALK[:5], user("edited"), *TALK[6:]),
        (*TALK[:5], *TALK[6:]),
        (*TALK[:5], user("one more"), *TALK[5:]),
        (*TALK[:5], TALK[6], TALK[5], *TALK[7:]),
        turns(20, 25, size=1),
        (),
    ],
    ids=["cut off", "edited", "one missing", "one more", "another order", "another conversation", "nothing"],
)
def test_a_state_that_fits_none_of_the_messages_is_not_used_and_that_is_said(changed):
    assert locate(changed, [entry(FIRST)]) == replace(AFRESH, view=tuple(range(len(changed))))


@given(conversations(handoffs=False), conversations(handoffs=False))
def test_a_state_of_another_conversation_is_used_only_for_the_same_messages(one, other):
    assume(other.messages)
    base = locate(one.messages, [entry(covering(other.messages))])
    covered = [m for i, m in enumerate(one.messages) if i not in base.view]
    assert covered in ([], list(other.messages))
    assert (base.generation is None) == (covered == [])


def test_the_generation_that_covers_most_is_gone_on_from():
    assert found(TALK, FIRST, SECOND) == (SECOND, HEAD, (0, 1, 2, *range(19, 27)))
    assert locate(TALK, [entry(FIRST), entry(SECOND)]).generation is SECOND
    assert locate(TALK, [entry(FIRST, SECOND)]).said == ""


def test_a_rewound_conversation_goes_on_from_the_longest_generation_that_fits():
    third = covering(TALK[HEAD:23], 3)
    rewound = (*TALK[:20], user("another way"))
    base = locate(rewound, [entry(FIRST, SECOND, third)])
    assert base.generation is SECOND
    assert base.said == "goes on from generation 2: the turns after it have changed"
    assert locate(TALK[:15], [entry(FIRST, SECOND, third)]).generation is FIRST
    assert locate(TALK[:8], [entry(FIRST, SECOND, third)]).generation is None


@given(st.integers(HEAD + 1, 27))
def test_a_conversation_cut_anywhere_never_goes_on_from_turns_that_it_has_not(length):
    generations = [covering(TALK[HEAD:stop], n) for n, stop in enumerate((7, 11, 15, 19, 23), 1)]
    base = locate(TALK[:length], [entry(*generations)])
    fits = [g for g in generations if HEAD + g.covered.count < length]
    assert base.generation is (fits[-1] if fits else None)


def test_where_no_turn_stands_after_them_there_is_nothing_to_go_on_to():
    base = locate(TALK[: HEAD + FIRST.covered.count], [entry(FIRST)])
    assert (base.generation, base.lost) == (None, False)
    assert base.said == "starts afresh: no turn stands after what earlier runs covered"
    after = replaced(FIRST)[: HEAD + 1 + SECOND.covered.count - FIRST.covered.count]
    assert locate(after, [entry(FIRST, SECOND)]).generation is FIRST


# A handoff that stands in the conversation itself.


def replaced(generation, role=Role.USER):
    """The output of `generation`, as it replaced its source."""
    return (*TALK[:HEAD], Message(role, generation.handoff), *TALK[HEAD + generation.covered.count :])


def test_the_handoff_of_a_known_generation_is_recognised_word_for_word():
    base = locate(replaced(FIRST, Role.ASSISTANT), [entry(FIRST)])
    view = (0, 1, 2, *range(4, 20))
    assert base == Base(view, HEAD, FIRST.notes, Role.ASSISTANT, 3, FIRST)


@pytest.mark.parametrize("known", [[], [entry(FIRST)]], ids=["no sidecar", "an older sidecar"])
def test_a_handoff_that_the_sidecar_does_not_know_is_read(known):
    base = locate(replaced(SECOND), known)
    assert (base.notes, base.generation, base.handoff) == (SECOND.notes, None, 3)
    assert ("the sidecar is older" in base.said) is bool(known)


@given(HANDOFFS, st.integers(0, 27))
def test_another_tool_s_handoff_is_gone_on_from(text, at):
    messages = (*TALK[:at], user(text), *TALK[at:])
    base = locate(messages, [])
    assert base.handoff == base.at == at
    assert tuple(messages[i] for i in base.view) == TALK
    assert base.notes is not None
    assert base.notes.summary.sections


@given(st.lists(st.integers(0, 27), min_size=2, max_size=4))
def test_of_several_handoffs_the_last_is_gone_on_from_and_none_stands_as_a_turn(places):
    messages = list(TALK)
    for n, place in enumerate(sorted(places, reverse=True)):
        messages.insert(place, handoff(sections(goal=f"- {n}")))
    base = locate(messages, [])
    assert tuple(messages[i] for i in base.view) == TALK
    assert base.notes == Notes(sections(goal="- 0"))
    assert base.at == max(places)


# What the sidecar keeps.


def test_a_new_generation_replaces_those_after_the_one_it_went_on_from():
    third, other = covering(TALK[HEAD:23], 3), covering(TALK[HEAD:20], 2)
    assert extended(entry(FIRST, SECOND), third) == entry(FIRST, SECOND, third)
    assert extended(entry(FIRST, SECOND, third), other) == entry(FIRST, other)
    assert extended(Entry("key", (FIRST,), Failure(1.0, "no")), SECOND) == entry(FIRST, SECOND)


def test_only_the_last_generations_are_kept():
    kept = entry()
    for number in range(1, 21):
        kept = extended(kept, covering(TALK[HEAD:11], number))
    assert [g.number for g in kept.generations] == list(range(21 - KEEP_GENERATIONS, 21))


@pytest.mark.parametrize(
    ("messages", "same"),
    [
        (TALK[:3], True),
        (TALK[1:], True),
        ((system("another"), user("task")), True),
        ((handoff(Summary({})), *TALK), True),
        ((user("tasks"),), False),
        ((says("task"),), True),
    ],
    ids=["shorter", "no prompt", "another prompt", "handoff first", "another task", "no user"],
)
def test_a_conversation_is_named_by_the_first_that_the_user_says(messages, same):
    assert (key_of(messages) == key_of(TALK)) is same
    assert len(key_of(messages)) == 16


def test_any_text_makes_a_name():
    assert len({key_of(()), key_of((user("\ud83d"),)), key_of((user("修"),))}) == 3


@pytest.mark.parametrize(
    ("failure", "now", "wait"),
    [(None, 0.0, 0.0), (100.0, 100.0, 600.0), (100.0, 400.0, 300.0), (100.0, 700.0, 0.0), (100.0, 9e9, 0.0)],
)
def test_a_conversation_that_failed_is_left_alone_for_a_while(failure, now, wait):
    known = Entry("key", (), None if failure is None else Failure(failure, "no"))
    assert cooling(known, now, 600) == wait
    assert cooling(None, now, 600) == 0
