"""Does every broken promise have a name, and no kept one?"""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactor.core.handoff import PREFIX
from compactor.core.messages import Handoff, Kept, Message, Role, applied, groups
from compactor.core.verify import broken, result_messages, rewritten
from tests.making import answer, calls, conversation, conversations, handoff, result, says, sections, system, user

TALK = (system(), user("task"), says("ok"), calls("a", "b"), result("a"), result("b"), user("more"), says("done"))
HANDOFF = Handoff(Role.USER, PREFIX)
ORDER = "messages stay in order, and none twice"
ONE = "there is at most one handoff"
LAST = "the handoff is never last"
SAYS = "the handoff says something"
PAIRS = "every tool result stands right after its call, and every call but the last has its results"
USER = "a conversation with a user keeps a user message"


def kept(*indices):
    return tuple(Kept(n) for n in indices)


BROKEN = {
    "nothing changes": (kept(*range(8)), ()),
    "nothing is left but nothing was asked for": (kept(0, 1), ()),
    "a middle is replaced": ((*kept(0, 1, 2), HANDOFF, *kept(6, 7)), ()),
    "a middle goes": (kept(0, 1, 2, 6, 7), ()),
    "the last call is open": (kept(0, 1, 3), ()),
    "its other result is still to come": (kept(0, 1, 3, 4), ()),
    "the calls go where the results go": ((*kept(1), Kept(3, without_calls=frozenset({0, 1})), *kept(6)), ()),
    "one pair goes": ((Kept(3, without_calls=frozenset({0})), *kept(5, 6)), ()),
    "stubs": ((Kept(3), Kept(4, {0: "[gone]"}), *kept(5, 6)), ()),
    "another order": (kept(1, 0), (ORDER,)),
    "twice": (kept(1, 1), (ORDER,)),
    "two handoffs": ((*kept(1), HANDOFF, HANDOFF, *kept(7)), (ONE,)),
    "a handoff last": ((*kept(1), HANDOFF), (LAST,)),
    "a handoff of nothing": ((Handoff(Role.USER, " \n"), *kept(1)), (SAYS,)),
    "a result without its call": (kept(1, 4, 7), (PAIRS,)),
    "a call without its result": (kept(1, 3, 7), (PAIRS,)),
    "a call that has lost one of two": (kept(1, 3, 4, 7), (PAIRS,)),
    "a handoff between a call and its result": ((*kept(1, 3), HANDOFF, *kept(4, 5, 6)), (PAIRS,)),
    "a result whose call goes": ((Kept(3, without_calls=frozenset({0})), *kept(4, 5, 6)), (PAIRS,)),
    "no user": (kept(0, 2), (USER,)),
    "nothing": ((), (USER,)),
    "several at once": ((*kept(0, 4, 2, 2), HANDOFF), (ORDER, LAST, PAIRS)),
}


@pytest.mark.parametrize(("pieces", "named"), BROKEN.values(), ids=BROKEN)
def test_each_broken_promise_is_named(pieces, named):
    assert broken(conversation(*TALK), pieces) == named


def test_a_handoff_speaks_for_the_user_if_it_has_the_user_s_role():
    assert broken(conversation(*TALK), (HANDOFF, *kept(7))) == ()
    assert broken(conversation(*TALK), (Handoff(Role.ASSISTANT, PREFIX), *kept(7))) == (USER,)
    assert broken(conversation(says("alone"), says("still")), kept(0)) == ()


def test_a_handoff_that_came_last_may_stay_last():
    old = handoff(sections(goal="- g"))
    assert broken(conversation(user("a"), old), kept(0, 1)) == ()
    assert broken(conversation(user("a"), old, result("x")), kept(0, 1)) == (LAST,)


def test_another_tool_s_handoff_counts_as_one():
    talk = conversation(user("a"), user("[CONTEXT SUMMARY]: old"), user("b"))
    assert broken(talk, kept(0, 1, 2)) == ()
    assert broken(talk, (*kept(0, 1), HANDOFF, *kept(2))) == (ONE,)


@pytest.mark.parametrize("gap", range(-1, 4))
def test_a_group_beside_an_unreadable_record_may_look_incomplete(gap):
    talk = conversation(user("a"), calls("c1"), user("b"), user("c"), gaps=(gap,))
    assert (broken(talk, kept(0, 1, 2, 3)) == ()) is (gap in (0, 1))
    late = conversation(result("c1"), user("b"), user("c"), user("d"), gaps=(gap,))
    assert (broken(late, kept(0, 1, 2, 3)) == ()) is (gap in (-1, 0))


@given(conversations())
def test_a_conversation_that_is_whole_keeps_its_promises_unchanged(talk):
    found = groups(talk.messages)
    torn = [g for g in found if g.orphans or (g.open and g.stop < len(talk.messages))]
    said = broken(talk, kept(*range(len(talk.messages))))
    assert set(said) <= {ONE, PAIRS}
    assert torn or PAIRS not in said


@given(conversations(handoffs=False, gaps=False), st.data())
def test_a_cut_inside_a_group_is_always_seen(talk, data):
    whole = [g for g in groups(talk.messages) if g.stop - g.start > 1 and not g.open and not g.orphans]
    if whole:
        group = data.draw(st.sampled_from(whole))
        left = list(range(group.start + 1, group.stop))
        assert PAIRS in broken(talk, kept(*left))
        assert PAIRS in broken(
            replace(talk, messages=(*talk.messages, user("end"))), kept(group.start, len(talk.messages))
        )


def test_what_a_model_would_read_is_what_the_pieces_say():
    talk = conversation(*TALK)
    stubbed = Kept(4, {0: "[gone]"})
    assert result_messages(talk, (Kept(1), HANDOFF, stubbed)) == (
        TALK[1], Message(Role.USER, PREFIX), applied(TALK[4], stubbed),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("read_back", "same"),
    [
        (TALK, True),
        (TALK[:-1], False),
        ((*TALK[:-1], says("done.")), False),
        ((*TALK[:4], result("a", "dome"), *TALK[5:]), False),
        ((*TALK[:4], replace(TALK[4], results=(answer("a", failed=True),)), *TALK[5:]), True),
        ((TALK[1], TALK[0], *TALK[2:]), False),
    ],
    ids=["same", "shorter", "other words", "another result", "how it failed is not read", "another order"],
)
def test_bytes_that_read_back_otherwise_are_seen(read_back, same):
    assert rewritten(TALK, read_back) is same
