"""Is a handoff written and read back word for word, recognised, and given a role that alternates?"""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactor.core.handoff import (
    END,
    KNOWN_PREFIXES,
    PREFIX,
    Notes,
    is_handoff,
    is_spoken,
    is_turn,
    read,
    role_between,
    write,
)
from compactor.core.messages import Message, Role
from compactor.core.summary import SECTIONS, Summary
from tests.making import HANDOFFS, TEXTS, WORDS, calls, result, says, sections, system, user

# Lines as they come out of a reply: one line each, no blanks at the end, none twice in its section.
LINE = WORDS.map(lambda word: f"- {''.join(word.splitlines())}".rstrip()).filter(lambda line: line.isprintable())
SUMMARIES = st.dictionaries(
    st.sampled_from([s.key for s in SECTIONS]),
    st.lists(LINE, min_size=1, max_size=4, unique=True).map(tuple),
).map(Summary)
QUOTES = st.one_of(
    TEXTS.filter(str.strip),
    st.sampled_from(["\nfix it\n\n", "## Goal\n- mine", END, "</latest_user_message>", f"say\n{END}\n", "<x>\n"]),
)
NOTES = st.builds(Notes, SUMMARIES, st.one_of(st.just(""), QUOTES))


@given(NOTES)
def test_a_handoff_begins_and_ends_as_the_design_says(notes):
    text = write(notes)
    assert text.startswith(
        "[CONTEXT COMPACTION] Earlier turns in this conversation were compacted to save context space. The summary "
        "below describes work that was already completed, and the current session state may still reflect that work "
        "(for example, files may already be changed). Use the summary and the current state to continue from where "
        "things left off, and avoid repeating work:\n"
    )
    assert text.endswith("\n[END OF CONTEXT COMPACTION]")


@given(NOTES)
def test_a_handoff_is_read_back_as_it_was_written(notes):
    assert read(write(notes)) == notes


@given(NOTES, st.sampled_from([Role.USER, Role.ASSISTANT, Role.SYSTEM]))
def test_a_handoff_is_recognised_and_is_nobody_s_words(notes, role):
    assert is_handoff(Message(role, write(notes)))
    assert not is_spoken(Message(role, write(notes)))


@given(SUMMARIES, QUOTES)
def test_the_user_s_open_message_stands_in_it_word_for_word(summary, quote):
    assert f"<latest_user_message>\n{quote}\n</latest_user_message>" in write(Notes(summary, quote))
    assert "latest_user_message" not in write(Notes(summary))


@given(HANDOFFS, st.sampled_from(["", " ", "\n\n"]))
def test_other_compactors_handoffs_are_recognised(text, before):
    assert is_handoff(user(before + text))
    assert read(text).summary.sections


@pytest.mark.parametrize("prefix", KNOWN_PREFIXES)
def test_only_a_message_that_begins_so_is_a_handoff(prefix):
    assert is_handoff(says(prefix + " text"))
    assert not is_handoff(user(f"what does {prefix} mean?"))
    assert not is_handoff(result(text=prefix))
    assert not is_handoff(Message(Role.TOOL, prefix))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[CONTEXT SUMMARY]:\nthey mended\n\n  the build \n", {"context": ("they mended", "  the build")}),
        (f"{PREFIX}\n\nfree words\n\n{END}", {"context": ("free words",)}),
        (f"{PREFIX}\n\n## Goal\n- parse\n\n{END}\n", {"goal": ("- parse",)}),
        ("[CONTEXT COMPACTION v0] older words\n## Goal\nparse", {"goal": ("parse",)}),
        (f"{PREFIX}\n\n## Progress\n- parsed\n\n{END}", {"done": ("- parsed",)}),
    ],
    ids=["another's", "ours in free words", "ours", "older", "progress without its parts"],
)
def test_what_a_handoff_says_is_kept(text, expected):
    assert read(text) == Notes(Summary(expected))


@pytest.mark.parametrize(
    ("message", "spoken"),
    [
        (user("hello"), True),
        (user(" \n"), False),
        (user("", image_tokens=85), True),
        (user("", *result().results), False),
        (says("", reasoning="hm"), False),
    ],
    ids=["words", "blank", "picture", "bare results", "thinking"],
)
def test_what_people_would_see_is_spoken(message, spoken):
    assert is_spoken(message) is spoken


U, A, S, C, T = user("u"), says("a"), system(), calls("c1", text="words"), result("c1")


@pytest.mark.parametrize(
    ("before", "after", "role", "alternates"),
    [
        ((), (), "user", True),
        ((), (A,), "user", True),
        ((), (U,), "user", False),
        ((S,), (A,), "user", True),
        ((S,), (U,), "user", False),
        ((S, U), (A,), "assistant", False),
        ((S, U), (U,), "assistant", True),
        ((S, U), (), "assistant", True),
        ((S, U, A), (U,), "user", False),
        ((S, U, A), (A,), "user", True),
        ((U, C, T), (U,), "assistant", True),
        ((U, C, T), (C, T, A), "assistant", False),
        ((U, A), (C, T, A), "user", True),
        ((U, A), (C, T), "user", True),
        ((C, T), (U,), "user", False),
    ],
    ids=lambda value: "".join(m.role[0] for m in value) or "-" if isinstance(value, tuple) else str(value),
)
def test_roles_alternate_around_a_handoff(before, after, role, alternates):
    assert role_between(iter(before), iter(after)) == (role, alternates)


TURNS = st.lists(st.sampled_from([U, A, S, C, T]), max_size=5)


@given(TURNS, TURNS)
def test_roles_that_alternate_do_so_with_the_handoff_among_them(before, after):
    role, alternates = role_between(before, after)
    around = [m.role for m in (*before, Message(role, "handoff"), *after) if is_turn(m)]
    at = sum(map(is_turn, before))
    beside = around[max(at - 1, 0) : at + 2]
    assert alternates == all(a != b for a, b in pairwise(beside))
    assert around[0] is not Role.ASSISTANT or at > 0


def test_a_summary_of_nothing_reads_back_as_nothing():
    assert read(write(Notes(Summary({})))) == Notes(Summary({}))
    assert read(write(Notes(sections(goal="- g"), "q"))) == Notes(sections(goal="- g"), "q")
