"""Sentences are what was said, word for word; code, quotations and what programs put in are not sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactor.core.sentences import LINE_CHARS, TEXT_CHARS, clip, flat, question, said, sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It works. Now the rest!", ["It works.", "Now the rest!"]),
        ("Use e.g. tabs. Not blanks.", ["Use e.g. tabs.", "Not blanks."]),
        ("不要推送。先运行测试！", ["不要推送。", "先运行测试！"]),
        ("- first thing\n2. second thing\n- [ ] third thing", ["first thing", "second thing", "third thing"]),
        ("**3. `a.go:31`** - The context.\n**4.** Then the rest.", ["`a.go:31`** - The context.", "Then the rest."]),
        ("before\n```python\nx = 1. Y\n```\nafter it", ["before", "after it"]),
        ("> you said this\nand I answer", ["and I answer"]),
        ("| a | b |\n# Heading\nbody text", ["body text"]),
        ("<system-reminder>Never stop. Ever.</system-reminder>Go on.", ["Go on."]),
        ("<pr_description>\nIt breaks.\n</pr_description>", ["It breaks."]),
        ("Write <br> and Map<T> as they are.", ["Write <br> and Map<T> as they are."]),
        ("“It broke.” Then it ran.", ["“It broke.", "Then it ran."]),
        ("", []),
    ],
)
def test_where_sentences_end(text, expected):
    assert list(sentences(text)) == expected


@given(st.text(max_size=300))
def test_every_sentence_stands_in_its_text(text):
    whole = flat(text)
    assert all(s in whole for s in sentences(text))


def test_only_the_ends_of_a_huge_text_are_read():
    text = "First things first.\n" + "x" * 1_000_000 + "\nLast words here."
    found = list(sentences(text))
    assert found[0] == "First things first."
    assert found[-1] == "Last words here."
    assert all(len(s) <= LINE_CHARS for s in found)
    assert len(said(text)) <= TEXT_CHARS + 1


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("short", 10, "short"),
        ("one two three four", 12, "one two…"),
        ("无空格的一句很长的话", 5, "无空格的…"),
        ("abc", 0, "…"),
    ],
)
def test_clip_cuts_between_words_and_says_so(text, limit, expected):
    assert clip(text, limit) == expected


@given(st.text(), st.integers(1, 50))
def test_clip_never_exceeds_its_limit(text, limit):
    assert len(clip(text, limit)) <= limit


@given(st.text(alphabet=st.characters(codec=None)))
def test_flat_is_one_line_that_can_be_sent(text):
    line = flat(text)
    assert len(line.splitlines()) <= 1
    line.encode()


@pytest.mark.parametrize("text", ["a <think>b</think>", "<THINKING> x", "<thi<think>nk>", "</think></reasoning>"])
def test_flat_leaves_no_reasoning_tag(text):
    assert "<think" not in flat(text).lower().replace("</", "<")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Fine. Which port is it? It is late.", "Which port is it?"),
        ("**Shall I go on?**", "**Shall I go on?**"),
        ("どのポートですか？", "どのポートですか？"),
        ("No question here.", ""),
    ],
)
def test_last_question(text, expected):
    assert question(text) == expected


def test_who_writes_in_small_letters_ends_sentences_as_well():
    text = "keep it simple, e.g. no classes. why is it slow? i think the loop... is. fix it"
    assert list(sentences(text)) == [
        "keep it simple, e.g. no classes.", "why is it slow?", "i think the loop... is.", "fix it",
    ]  # fmt: skip
