"""Facts are told from text by families; each is a piece of that text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactor.core.facts import (
    commits,
    ends,
    error_lines,
    error_place,
    identifiers,
    keyed_identifiers,
    numbers,
    verdict,
)
from compactor.core.sentences import flat

TRACEBACK = """Traceback (most recent call last):
  File "/srv/a.py", line 3, in <module>
    import wrapt
ModuleNotFoundError: No module named 'wrapt'"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TRACEBACK, ("ModuleNotFoundError: No module named 'wrapt'",)),
        ("error[E0308]: mismatched types", ("error[E0308]: mismatched types",)),
        ("fatal: not a git repository", ("fatal: not a git repository",)),
        ("src/a.ts:3:7: error TS2304: Cannot find name", ("src/a.ts:3:7: error TS2304: Cannot find name",)),
        ("FAILED tests/test_a.py::test_b - assert 1 == 2", ("FAILED tests/test_a.py::test_b - assert 1 == 2",)),
        ("--- FAIL: TestA (0.01s)", ("--- FAIL: TestA (0.01s)",)),
        ("bash: line 1: tree: command not found", ("bash: line 1: tree: command not found",)),
        ("astroid/manager.py:124:            return build(path)", ()),
        ("all good\n0 errors", ()),
        ("  raise ValueError('x')", ()),
    ],
)
def test_error_lines(text, expected):
    assert error_lines(text, 3) == expected


def test_the_last_errors_are_kept_each_once():
    text = "Error: a\nError: b\nError: a\nError: c"
    assert error_lines(text, 2) == ("Error: a", "Error: c")


def test_place_of_an_error():
    assert error_place(TRACEBACK) == 'File "/srv/a.py", line 3'
    assert error_place("nothing") == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("====== 412 passed, 3 failed in 2.10s ======", "412 passed, 3 failed in 2.10s"),
        ("Ran 7 tests in 0.1s\n\nOK", "Ran 7 tests in 0.1s"),
        ("test result: ok. 5 passed; 0 failed", "test result: ok. 5 passed; 0 failed"),
        ("ok  \texample.com/x/y\t0.456s", "ok example.com/x/y 0.456s"),
        ("Tests:       1 failed, 4 passed, 5 total", "Tests: 1 failed, 4 passed, 5 total"),
        ("0 issues.", "0 issues."),
        ("  Finished in 1.2 seconds", "Finished in 1.2 seconds"),
        ("Preparing metadata: finished with status 'done'", ""),
        ("plain words", ""),
    ],
)
def test_verdict(text, expected):
    assert verdict(text) == expected


def test_commits():
    text = "[main 3f2a1b9] Fix the parser\n 1 file changed\n[fix/x (root-commit) 0a1b2c3d] Start"
    assert commits(text) == (("3f2a1b9", "Fix the parser"), ("0a1b2c3d", "Start"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see 3f2a1b9 and deadbeef", ["3f2a1b9"]),
        ("PR #325 closes #7, not &#39;", ["PR #325", "#7"]),
        ("PROJ-12 is a ticket", ["PROJ-12"]),
        ("reservation NO6JO3, not HELLO or 12345", ["NO6JO3"]),
        ("astroid 2.9.1 and v1.2.0-rc.1", ["2.9.1", "v1.2.0-rc.1"]),
        ("it listens on port 5432", ["port 5432"]),
        ("https://x.example/a?b=1).", ["https://x.example/a?b=1"]),
        ("id 0b8d6c1e-1111-4222-8333-444455556666", ["0b8d6c1e-1111-4222-8333-444455556666"]),
        ("user mia_li_3668", ["mia_li_3668"]),
        ("at 2024-05-20T07:16:40", []),
    ],
)
def test_identifiers(text, expected):
    assert list(identifiers(text)) == expected


def test_identifiers_by_their_key():
    assert list(keyed_identifiers('{"order_id": "ABCDEF", "id": 7, "name": "x y", "version": "2.0"}')) == [
        "ABCDEF",
        "2.0",
    ]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("412 tests pass, p95 = 83 ms and 3 failed.", ["412 tests pass", "p95 = 83 ms", "3 failed"]),
        ("coverage: 93.5% of 1,204 lines", ["coverage: 93.5%", "1,204 lines"]),
        ("It took 118.4 s while 46 ms is usual.", ["118.4 s", "46 ms"]),
        ("Gift Card 6276644 covers $113.", ["Card 6276644", "$113"]),
        ("耗时 3.5 秒", ["3.5 秒"]),
        ("See app.go:153, with cfg.timeout: 30 and retries:4.", ["timeout: 30", "retries:4"]),
        ("Just 7.", []),
        ("In 2024 we went on.", []),
        ("5c56b72 is a hash", []),
    ],
)
def test_numbers(sentence, expected):
    assert list(numbers(sentence)) == expected


@given(st.text(alphabet="aE1.:#- \n/\"'[]()%$_", max_size=200))
def test_facts_stand_in_their_text(text):
    whole = flat(text)
    found = [*error_lines(text, 9), *identifiers(text), *keyed_identifiers(text), *numbers(whole), verdict(text)]
    assert all(fact.rstrip("…") in whole for fact in found)


@pytest.mark.parametrize(
    "unit", ["a", " ", "E", "1", "1.", "#", '"id":', "Error", "/a:1:", "\n", "a_", "A1-", "https://", "(", "~"]
)
def test_a_huge_line_takes_no_time(unit):
    text = unit * (1_000_000 // len(unit))
    for _ in (error_lines(text, 3), error_place(text), verdict(text), commits(text)):
        pass
    list(identifiers(text))
    list(keyed_identifiers(text))
    assert len(ends(text)) < 100_000
