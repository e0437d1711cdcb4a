"""Is what a result says about itself read right: its call, its size, and whether it failed?"""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactor.core.messages import Call, Result, groups
from compactor.core.results import (
    MAIN_ARGUMENT_CHARS,
    Spot,
    describe,
    exit_status,
    failed,
    main_argument,
    results,
    shorten,
)
from tests.making import ARGUMENTS, NAMES, OUTPUTS, answer, call, calls, conversations, result, says, user

MARK = re.compile(r" \[\.\.\. ([\d,]+) characters left out \.\.\.\] ")
# No character stands twice, so that what is left out of a text can be told.
DISTINCT = "".join(map(chr, range(0x4E00, 0x4E00 + 20_000)))


def bash(command):
    return call(arguments=f'{{"command": "{command}"}}')


def test_each_result_comes_with_its_place_and_the_call_that_it_answers():
    messages = (calls("a", "b"), user("go on", answer("b"), answer("x"), answer("a")), result("a"), says("done"))
    found = [(spot, asked and asked.id) for spot, asked, _ in results(messages, groups(messages))]
    assert found == [(Spot(1, 0), "b"), (Spot(1, 1), None), (Spot(1, 2), "a"), (Spot(2, 0), None)]


@given(conversations())
def test_every_result_is_given_once_and_orphans_have_no_call(talk):
    found = groups(talk.messages)
    listed = list(results(talk.messages, found))
    spots = [(n, o) for n, m in enumerate(talk.messages) for o in range(len(m.results))]
    assert [(s.message, s.result) for s, _, _ in listed] == spots
    assert [(s.message, s.result) for s, asked, _ in listed if asked is None] == [o for g in found for o in g.orphans]
    assert all(talk.messages[s.message].results[s.result] is told for s, _, told in listed)


@pytest.mark.parametrize(
    ("asked", "told", "line"),
    [
        (bash("make"), answer(text="ok"), "bash(make): 2 characters, 1 line"),
        (call(arguments="{}"), answer(text="a\nb"), "bash: 3 characters, 2 lines"),
        (None, answer(text="x" * 1_234, name="grep"), "grep: 1,234 characters, 1 line"),
        (None, answer(text=""), "tool: 0 characters, 1 line"),
        (Call("c", "", ""), answer(text="ab", name="grep"), "grep: 2 characters, 1 line"),
        (bash("make"), answer(text="exit code: 0"), "bash(make): 12 characters, 1 line, exit 0"),
        (bash("make"), answer(text="no", failed=True), "bash(make): 2 characters, 1 line, FAILED"),
        (
            bash("make"),
            answer(text="cc\nsrc/a.c: error\nfatal: out of memory\nexit status 2"),
            "bash(make): 52 characters, 4 lines, exit 2, FAILED: fatal: out of memory",
        ),
    ],
    ids=["plain", "no argument", "orphan", "nameless", "nameless call", "exit 0", "flag", "everything"],
)
def test_a_result_is_described_in_one_line(asked, told, line):
    assert describe(asked, told) == line


@given(st.one_of(st.none(), st.builds(Call, st.just("c"), NAMES, ARGUMENTS)), OUTPUTS, st.booleans())
def test_a_description_is_one_line_and_short_however_long_the_result(asked, text, bad):
    line = describe(asked, Result("c", text, failed=bad))
    assert "\n" not in line
    assert len(line) < 3 * MAIN_ARGUMENT_CHARS + 20


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ("", ""),
        ("{}", ""),
        ("{broken", ""),
        ("[1, 2]", ""),
        ('"words"', ""),
        ("[" * 100_000, ""),
        ('{"n": 1}', ""),
        ('{"n": 1, "note": "look"}', "look"),
        ('{"path": "a.py", "command": "view"}', "view"),
        ('{"content": "long text", "file_path": "a.py"}', "a.py"),
        ('{"command": "  "}', ""),
        ('{"command": " ls \\n  -l "}', "ls -l"),
        ('{"command": {"path": "inside"}, "other": "outside"}', "outside"),
    ],
    ids=str,
)
def test_the_argument_that_says_most_is_picked(arguments, text):
    assert main_argument(call(arguments=arguments)) == text


def test_a_long_argument_is_shortened():
    assert len(main_argument(bash("x" * 500))) == MAIN_ARGUMENT_CHARS


@given(st.sampled_from([0, 1, 50, 99, 100, 101, 999, 1_000, 1_001, 10_060, 20_000]), st.integers(0, 1_200))
def test_a_shortened_text_keeps_to_its_limit(length, limit):
    text = DISTINCT[:length]
    short = shorten(text, limit)
    assert len(short) <= limit
    assert (short == text) == (length <= limit)


@given(st.integers(90, 20_000), st.integers(80, 12_000))
def test_the_mark_counts_what_is_left_out(length, limit):
    text = DISTINCT[:length]
    short = shorten(text, limit)
    found = MARK.search(short)
    assert bool(found) == (length > limit)
    if found:
        before, after = short[: found.start()], short[found.end() :]
        assert text.startswith(before)
        assert text.endswith(after)
        assert len(text) - len(before) - len(after) == int(found.group(1).replace(",", ""))
        assert len(before) > len(after) > 5


def test_where_there_is_no_room_for_both_ends_the_beginning_stays():
    assert shorten("abcdef", 3) == "ab…"
    assert shorten("abcdef", 1) == "…"
    assert shorten("abcdef", 0) == ""


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("", None),
        ("all is well", None),
        ("exit code: 0", 0),
        ("Exit Code 127", 127),
        ("Process exited with code 3", 3),
        ("exit status 1", 1),
        ("returncode=-9", -9),
        ("return code: 2", 2),
        ('{"output": "", "exit_code": 5}', 5),
        ('{"exitCode": 5}', 5),
        ("<returncode>4</returncode>", 4),
        ("<returncode>\n 0\n</returncode>\nexit code 1", 0),
        ("x" * 100_000 + "\nexit code 6", 6),
        ("exit code 6\n" + "x" * 100_000, 6),
        ("x" * 5_000 + "\nexit code 6\n" + "x" * 5_000, None),
        ("the decoded exits codes 7", None),
        ("exit code " + "9" * 1_000, int("9" * 1_000)),
    ],
    ids=lambda value: str(value)[:40],
)
def test_an_exit_status_is_read_at_either_end_of_a_result(text, status):
    assert exit_status(text) == status


@pytest.mark.parametrize(
    ("text", "bad"),
    [
        ("", False),
        ("built 3 files", False),
        ("Error: no such file", True),
        ("error: expected ';'", True),
        ("Traceback (most recent call last):", True),
        ("fatal: not a git repository", True),
        ("errors.py\nfatality.py", False),
        ("0 errors", False),
        ("exit code 1", True),
        ("exit code 0\nError: as expected", False),
        ('{"success": false, "error": "no"}', True),
        ('{"success": true}', False),
        ('{"ok":false}', True),
        ('{"error": null}', False),
        ('{"error": ""}', False),
        ('{"error": "no such tool"}', True),
        ('{"error": {"code": 404}}', True),
        ('{"is_error": true}', True),
        ('{"status": "failed"}', True),
        ('{"exit_code": 0, "error": null}', False),
        ('{"exit_code": 2, "error": null}', True),
        ('{"text": "\\"success\\": false"}', False),
    ],
    ids=str,
)
def test_a_result_that_says_that_it_failed_is_told_from_one_that_does_not(text, bad):
    assert failed(answer(text=text)) is bad
    assert failed(answer(text=text, failed=True))
