"""Does a reply change the notes as it says, and lose nothing that it does not mention?"""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.fuzz import token_sort_ratio

from compactor.core.families import line
from compactor.core.revision import ALIKE, identified, items, numbered, revised, settled
from compactor.core.summary import SECTIONS, Summary, parse, render
from tests.making import sections

NOTES = sections(
    goal="- Ship version 2 of the mailer",
    done=("- parser mended", "  - with tests"),
    in_progress="- writing the docs of the mailer",
    next_steps=("- release it", "1. tell the team"),
    context="the queue holds 40 mails",
)
VOCABULARY = ["alpha", "beta", "gamma", "delta", "12", "7", "src/a.py", "never", "修复"]
WORDS = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=5)
LINES = st.lists(WORDS.map(lambda words: "- " + " ".join(words)), min_size=1, max_size=4, unique=True).map(tuple)
SUMMARIES = st.dictionaries(st.sampled_from([s.key for s in SECTIONS]), LINES).map(Summary)


def ident(words):
    return next(ident for ident, item in identified(NOTES).items() if words in item.words)


def test_an_item_is_a_line_with_the_indented_ones_after_it():
    assert [item.words for item in items(NOTES) if item.section == "done"] == ["parser mended with tests"]


def test_a_model_is_shown_the_id_of_each_item_before_its_words():
    shown = numbered(NOTES)
    assert shown["done"] == (f"- (#{ident('parser')}) parser mended", "  - with tests")
    assert shown["next_steps"][1] == f"1. (#{ident('team')}) tell the team"
    assert shown["context"] == (f"- (#{ident('queue')}) the queue holds 40 mails",)


@given(SUMMARIES)
def test_an_empty_reply_changes_nothing(notes):
    assert revised(notes, Summary({})).sections == {k: v for k, v in notes.sections.items() if v}


@given(SUMMARIES)
def test_the_same_notes_again_change_nothing_with_their_marks_or_without(notes):
    assert revised(notes, notes) == revised(notes, numbered(notes)) == revised(notes, Summary({}))


@given(SUMMARIES, SUMMARIES)
def test_what_a_reply_does_not_mention_stays_and_what_it_adds_is_there(before, reply):
    after = [item.words for item in items(revised(before, reply))]
    for item in (*items(before), *items(reply)):
        assert any(words == item.words or token_sort_ratio(words, item.words) >= ALIKE for words in after)


@given(SUMMARIES, SUMMARIES)
def test_it_reads_back_from_its_own_rendering(before, reply):
    after = revised(before, reply)
    assert parse(render(after))[0] == after


def test_a_named_item_gets_its_new_words_in_its_place():
    reply = sections(goal=f"- (#{ident('Ship')}) Ship version 3 of the mailer")
    assert revised(NOTES, reply)["goal"] == ("- Ship version 3 of the mailer",)


@pytest.mark.parametrize("mark", ["(#{})", "#{}:", "[#{}]", "#{}"])
def test_marks_are_read_however_a_model_writes_them(mark):
    reply = sections(goal=f"- {mark.format(ident('Ship'))} Ship version 3")
    assert revised(NOTES, reply)["goal"] == ("- Ship version 3",)


def test_an_item_moves_to_done_with_its_mark():
    after = revised(NOTES, sections(done=f"- (#{ident('docs')}) docs of the mailer written"))
    assert after["done"][-1] == "- docs of the mailer written"
    assert not after["in_progress"]


def test_a_mark_alone_moves_the_item_with_its_own_words():
    after = revised(NOTES, sections(done=f"- (#{ident('docs')})"))
    assert after["done"][-1] == "- writing the docs of the mailer"
    assert not after["in_progress"]


def test_an_unfinished_item_that_comes_back_under_done_in_the_same_words_has_moved():
    after = revised(NOTES, sections(done="- Writing the docs of the mailer."))
    assert not after["in_progress"]


def test_nearly_the_same_words_replace_and_other_figures_do_not():
    again = "- Ship the version 2 of mailer"
    assert revised(NOTES, sections(goal=again))["goal"] == (again,)
    assert len(revised(NOTES, sections(goal="- Ship version 3 of the mailer"))["goal"]) == 2


def test_obsolete_takes_an_item_out_if_it_says_why():
    name = ident("queue")
    assert not revised(NOTES, sections(obsolete=f"- (#{name}) the queue is empty now"))["context"]
    assert revised(NOTES, sections(obsolete=f"- (#{name})"))["context"]
    assert revised(NOTES, sections(obsolete="- everything"))["context"]


def test_the_heading_obsolete_is_read_and_never_written():
    reply, _ = parse(f"## Goal\n(none)\n\n## Obsolete\n- (#{ident('queue')}) empty")
    assert reply["obsolete"]
    after = revised(NOTES, reply)
    assert not after["context"]
    assert "Obsolete" not in render(after)


def test_two_items_never_share_a_mark():
    many = sections(context=tuple(f"- fact {n}" for n in range(2_000)))
    assert len(identified(many)) == 2_000
    assert max(map(len, identified(many))) > 4
    assert revised(many, numbered(many)) == many


def test_an_unknown_mark_is_a_new_item():
    assert revised(NOTES, sections(goal="- (#0000) Also count the bounces"))["goal"][-1] == "- Also count the bounces"


def test_a_rule_in_the_user_s_own_words_replaces_its_retelling():
    rule = line("rule", '"never push to main" (message 3)')
    words = sections(constraints=("- The user said: never push to main.", "- keep the API stable"))
    assert settled(words, [rule])["constraints"] == ("- keep the API stable",)


def test_a_rule_that_was_taken_back_is_not_retold():
    rule, end = line("rule", '"Never push to main." [3]'), line("rule", '"Forget the rule about pushing." [9]')
    words = sections(constraints=("- never push to main", "- ask before pushing to forks", "- keep the API stable"))
    assert settled(words, [end], [rule], [end])["constraints"] == ("- keep the API stable",)


@pytest.mark.parametrize(
    ("section", "told", "kept"),
    [
        ("decisions", "- ASSISTANT: SQLite, because one file travels.", False),
        ("decisions", "- **Store:** SQLite, because one file travels.", False),
        ("decisions", "- SQLite", True),  # in brief
        (
            "decisions",
            "- SQLite, because one file travels. Postgres stays for the archive that three jobs read.",
            True,
        ),
        ("context", "- SQLite, because one file travels.", True),  # elsewhere
        ("files", "- src/a.py", False),
        ("files", "- src/a.py: the parser, mended", True),
    ],
)
def test_what_the_ledger_says_is_not_said_again(section, told, kept):
    known = [line("decided", '"SQLite, because one file travels." [3]'), line("read_file", "src/a.py: read [3]")]
    assert bool(settled(sections(**{section: told}), known)[section]) is kept


def test_what_is_done_is_not_listed_as_open():
    ticked = line("ticked", "[x] write the docs")
    words = sections(in_progress="- write the docs", next_steps=("- write the docs", "- release"), done="- tests pass")
    after = settled(words, [ticked])
    assert (after["in_progress"], after["next_steps"], after["done"]) == ((), ("- release",), ("- tests pass",))


@pytest.mark.parametrize(
    ("plan", "kept"),
    [
        ("**Task:** Add the `agentKey` to context.go.", False),
        ("Add the agentKey to context.go", False),
        ("Add the agentKey to logger.go", True),
        ("Add the agentKey to context.go and move the other 12 keys of the logger into their package", True),
        ("Move table users_13 to the new schema with all of its indexes", True),
        ("move table users_12 to the new schema with all its indexes", False),
    ],
)
def test_a_plan_is_done_if_all_that_it_names_is(plan, kept):
    done = ("- [x] Add the agentKey to context.go", "- Moved table users_12 to the new schema with all of its indexes")
    assert bool(settled(sections(next_steps=f"- {plan}", done=done), [])["next_steps"]) is kept


@pytest.mark.parametrize("section", ["in_progress", "blocked", "next_steps"])
@pytest.mark.parametrize(
    ("lines", "kept"),
    [
        (("- **Task:** Write the docs", "  - **Files:** `docs/a.md`", "  - **Size:** 1,929 characters"), False),
        (("- Write the docs", "  - of the writer"), True),  # another thing
        (("- Write the docs: the disk is full",), True),
        (("- Write the docs and translate them",), True),
        (("- **Task:** Write the docs of b.py", "  - **Files:** `docs/b.md`"), True),
    ],
)
def test_what_is_ticked_off_is_open_no_more_whatever_details_stand_under_it(section, lines, kept):
    assert bool(settled(sections(**{section: lines}), [line("ticked", "[x] write the docs")])[section]) is kept


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        ("- **`src/a.py`**", False),
        ("1. /srv/app/src/a.py", False),
        ("- `a.py` and `src/b.py`", False),
        ("- a.py: mended", True),
        ("- `src/a.py` and `src/c.py`", True),
        ("- other/a.py", True),
        ("- the parser", True),
    ],
)
def test_a_file_that_the_ledger_lists_is_not_listed_again(told, kept):
    known = [line("changed_file", f"/srv/app/src/{name}.py: modified x3, read [3]") for name in "ab"]
    assert bool(settled(sections(files=told), known)["files"]) is kept
