"""Is a summary read as it was written, judged by what it says, and cut to size in the right order?"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactor.core.messages import well_formed
from compactor.core.summary import NOTHING, SECTIONS, Summary, fit, parse, render, strip_reasoning
from compactor.tokenizer import tokenizer
from tests.making import COUNT, judge, sections
from tests.test_handoff import SUMMARIES

HEADINGS = tuple(s.heading for s in SECTIONS)
BARE = COUNT(render(Summary({})))
RANKS = {s.key: s.rank for s in SECTIONS}
# What stands in replies: headings of ours, spelled in many ways, those of others, fences, and words.
REPLY_LINES = st.one_of(
    st.sampled_from([f"{'#' * s.level} {s.heading}" for s in SECTIONS]),
    st.sampled_from(
        ["## Progress", "## goal ##", "### **Done:**", "# 3. Next steps", "## Constraints and Preferences"]
    ),
    st.sampled_from(
        ["- a", "- b", "  - c", "a", "", "  ", "(none)", "- (None)", "```", "## Other", "#hash", "#", "\ud83d"]
    ),
)
REPLIES = st.lists(REPLY_LINES, max_size=30).map("\n".join)


def test_a_summary_is_written_with_every_heading_in_order():
    text = render(sections(goal="- parse", done=["- one", "  - two"]))
    assert text == (
        "## Goal\n- parse\n\n## Constraints & Preferences\n(none)\n\n## Progress\n\n### Done\n- one\n  - two\n\n"
        "### In Progress\n(none)\n\n### Blocked\n(none)\n\n## Key Decisions\n(none)\n\n## Relevant Files\n(none)\n\n"
        "## Next Steps\n(none)\n\n## Critical Context\n(none)\n\n## Tools & Patterns\n(none)"
    )


@given(SUMMARIES)
def test_a_summary_is_read_as_it_was_written(summary):
    assert parse(render(summary)) == (summary, ())


@given(REPLIES)
def test_what_was_read_from_any_reply_reads_back_the_same(reply):
    summary, _ = parse(reply)
    assert parse(render(summary)) == (summary, ())


@given(REPLIES)
def test_every_line_that_was_read_stood_in_the_reply(reply):
    lines = {line.rstrip() for line in well_formed(reply).splitlines()}
    assert all(line in lines for value in parse(reply)[0].sections.values() for line in value)


@given(REPLIES)
def test_a_heading_is_missing_or_has_a_section(reply):
    summary, missing = parse(reply)
    assert set(missing) <= set(HEADINGS)
    assert all(s.heading not in missing or s.key == "done" for s in SECTIONS if summary[s.key])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("words before\n## Goal\nparse", {"goal": ("parse",)}),
        ("## Goal\nparse\n# GOAL:\nbuild", {"goal": ("parse", "build")}),
        ("## Goal\nparse\nparse", {"goal": ("parse",)}),
        ("## Goal\nparse\n## Mood\ngood", {"goal": ("parse", "## Mood", "good")}),
        ("## Goal\n(none)\n- (None)", {}),
        ("## Progress\n- early\n### Done\n- late\n- early", {"done": ("- early", "- late")}),
        ("## Progress\n- early\n## Goal\nparse", {"done": ("- early",), "goal": ("parse",)}),
        ("## Goal\n- half \ud83d", {"goal": ("- half \ufffd",)}),
        ("##Goal\nparse", {}),
        ("    ## Goal\nparse", {}),
        ("   ###### 1) __goal__ ######\nparse", {"goal": ("parse",)}),
        ("```md\n## Goal\nparse\n```", {"goal": ("parse",)}),
        ("## Goal\n```\ncode\n```", {"goal": ("```", "code")}),
    ],
)
def test_replies_are_read_by_their_headings(text, expected):
    assert parse(text)[0] == Summary(expected)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("There are no items in progress.", False),
        ("- There are no blocked items.", False),
        ("* None identified at this time.", False),
        ("- No key decisions were made yet.", False),
        ("Nothing is blocked.", False),
        ("N/A", False),
        ("- No tests were run", True),
        ("- no push to main", True),
        ("- It is not done", True),
        ("- Nothing but the parser is blocked", True),
        ('- "No." [5]', True),
        ("---", True),
    ],
)
def test_a_sentence_that_nothing_belongs_here_is_none(line, said):
    assert parse(f"## Blocked\n{line}")[0]["blocked"] == (line,) * said


def test_a_heading_that_is_mostly_blanks_is_read_at_once():
    assert parse("## Goal\nparse\n##" + " " * 100_000 + "x" + " " * 100_000 + "#y")[0]["goal"][0] == "parse"


def test_progress_without_its_parts_still_lacks_them():
    assert parse("## Progress\n- early")[1] == HEADINGS


LONG = st.dictionaries(
    st.sampled_from([s.key for s in SECTIONS]),
    st.lists(st.integers(1, 60), min_size=1, max_size=8),
).map(lambda drawn: Summary({k: tuple(f"- {k} {n} " + "x" * v for n, v in enumerate(vs)) for k, vs in drawn.items()}))


@given(LONG, st.integers(0, 600))
def test_a_summary_is_cut_to_its_ceiling_or_to_the_bare_headings(summary, ceiling):
    cut = fit(summary, ceiling, COUNT)
    assert COUNT(render(cut)) <= ceiling or not cut.sections


REAL = tokenizer("o200k_base")


@given(SUMMARIES, st.integers(55, 120))
def test_a_summary_is_cut_to_its_ceiling_in_real_tokens_too(summary, ceiling):
    cut = fit(summary, ceiling, REAL)
    assert REAL(render(cut)) <= ceiling or not cut.sections


@given(LONG, st.integers(0, 600))
def test_a_summary_that_fits_is_not_cut(summary, ceiling):
    size = COUNT(render(summary))
    assert fit(summary, size, COUNT) == summary
    assert (fit(summary, ceiling, COUNT) == summary) == (size <= ceiling or not summary.sections)


@given(LONG, st.integers(0, 600))
def test_whole_lines_go_and_the_oldest_of_a_section_go_first(summary, ceiling):
    cut = fit(summary, ceiling, COUNT)
    for key, lines in summary.sections.items():
        assert cut[key] == lines[len(lines) - len(cut[key]) :]
    assert all(cut.sections.values())


@given(LONG, st.integers(0, 600))
def test_a_section_gives_only_when_all_that_are_less_protected_are_empty(summary, ceiling):
    cut = fit(summary, ceiling, COUNT)
    gave = [RANKS[k] for k in summary.sections if cut[k] != summary[k]]
    assert not [k for k in cut.sections if gave and RANKS[k] < max(gave)]


def test_within_a_rank_the_longest_section_gives_first():
    summary = sections(decisions=["- a1", "- a2", "- a3"], files=["- b1"])
    assert fit(summary, COUNT(render(summary)) - 1, COUNT) == sections(decisions=["- a2", "- a3"], files=["- b1"])


def test_lines_are_cut_one_more_if_their_tokens_do_not_add_up():
    def grudging(text):
        return COUNT(text) + 40 * ("- first" in text and "- second" in text) + 40 * ("- second" in text)

    summary = sections(tools=["- first", "- second"], goal="- parse")
    assert fit(summary, BARE + 4, grudging) == sections(goal="- parse")


FULL = "\n".join(f"{'#' * s.level} {s.heading}\n- {s.key}" for s in SECTIONS)


@pytest.mark.parametrize(
    ("text", "ceiling", "verdict"),
    [
        (FULL, 200, Summary({s.key: (f"- {s.key}",) for s in SECTIONS})),
        (f"I'm sorry it took so long.\n{FULL}", 200, Summary({s.key: (f"- {s.key}",) for s in SECTIONS})),
        (render(sections(goal="- parse")), 200, sections(goal="- parse")),
        ("", 200, "the reply is empty"),
        (" \n ", 200, "the reply is empty"),
        ("I cannot do that.", 200, "the reply is a refusal: 'I cannot do that.'"),
        ("Sorry, no.\n## Goal", 200, "the reply is a refusal: 'Sorry, no.\\n## Goal'"),
        ("Here you are.", 200, f"the reply lacks the headings {', '.join(HEADINGS)}"),
        (FULL.replace("## Goal\n", ""), 200, "the reply lacks the heading Goal"),
        (render(Summary({})), 200, "every section of the reply is empty"),
        (FULL.replace("- goal", "- goal" * 500), 200, "the reply has 821 tokens where 200 are allowed"),
    ],
)
def test_a_reply_is_accepted_or_it_is_said_why_not(text, ceiling, verdict):
    assert judge(text, ceiling, COUNT) == verdict


def test_a_reply_may_take_its_ceiling_to_the_last_token():
    size = COUNT(render(parse(FULL)[0]))
    assert isinstance(judge(FULL, size, COUNT), Summary)
    assert judge(FULL, size - 1, COUNT) == f"the reply has {size} tokens where {size - 1} are allowed"


@given(REPLIES, st.integers(0, 300))
def test_what_is_accepted_is_whole_and_within_its_ceiling(reply, ceiling):
    verdict = judge(reply, ceiling, COUNT)
    if isinstance(verdict, Summary):
        assert verdict.sections
        assert COUNT(render(verdict)) <= ceiling
    else:
        assert verdict


@given(LONG.filter(lambda s: s.sections), st.integers(0, 600))
def test_what_was_cut_to_a_ceiling_is_accepted_at_it(summary, ceiling):
    cut = fit(summary, ceiling, COUNT)
    assert judge(render(cut), ceiling, COUNT) == (cut if cut.sections else "every section of the reply is empty")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("<think>hm</think>\nnotes", "notes"),
        ("a <thinking>x</thinking> b <THOUGHT>y</THOUGHT>c", "a b c"),
        ("its beginning is lost</reasoning>notes", "notes"),
        ("notes\n<think>and its end", "notes"),
        ("<think>only", ""),
        ("they think so", "they think so"),
    ],
)
def test_thinking_is_taken_out(text, left):
    assert strip_reasoning(text) == left


def test_a_summary_has_no_lines_where_it_says_nothing():
    assert sections(goal="- g")["done"] == ()
    assert NOTHING in render(Summary({}))


@pytest.mark.parametrize("text", ["<think>" * 200_000, "</think>" * 200_000, "<think></think>" * 100_000 + "notes"])
def test_thinking_takes_no_longer_than_its_length(text):
    assert strip_reasoning(text) == ("notes" if text.endswith("notes") else "")


@pytest.mark.parametrize(
    "line", ["No conversation was provided.", "- unknown", "- (the transcript is empty)", "- Not provided"]
)
def test_a_summary_of_nothing_is_none(line):
    told = "\n".join(f"{'#' * s.level} {s.heading}\n{line}" for s in SECTIONS)
    assert judge(told, 500, COUNT) == "the reply says that there were no turns to read"
    assert isinstance(judge(told.replace("## Goal", "## Goal\n- mend the pump"), 500, COUNT), Summary)


def test_the_template_itself_is_no_summary():
    told = "\n".join(f"{'#' * s.level} {s.heading}\n({s.guide})" for s in SECTIONS)
    assert judge(told, 2_000, COUNT) == "the reply repeats what it was asked"
