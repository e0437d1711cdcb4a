"""Every line that code writes is told again by its shape; any other is passed on."""

import re

import pytest

from compactor.core.families import BY_NAME, FAMILIES, PROSE, line, read_line
from compactor.core.summary import SECTIONS

LINES = {
    "task": ('"Fix it." [2]', '"Fix it."'),
    "asked": ('Asked: "And that?" [9]', '"And that?"'),
    "pinned": ('Pinned: "The gauge counts." [4]', '"The gauge counts."'),
    "rule": ('"Never push." [4]', '"Never push."'),
    "commit": ('Commit 3f2a1b9: "Fix it" [8]', "3f2a1b9"),
    "called": ('Called book("id": "A1") -> "ok" [8]', 'book("id": "A1") -> "ok"'),
    "tested": ('Ran pytest -q: "3 passed" [8]', "pytest -q"),
    "ticked": ("[x] #3 write it", "#3 write it"),
    "achieved": ('"It is done." [8]', '"It is done."'),
    "edited": ('Changed a.py: "Now the import:" [8]', '"Now the import:"'),
    "answered": ('Said: "The parser is this." [8]', '"The parser is this."'),
    "active": ("[~] write it", "write it"),
    "running": ("Still open: sleep 99 [8]", "sleep 99"),
    "announced": ('Announced: "Let me see." [8]', '"Let me see."'),
    "failed": ('Failed: make -> exit 2: "Error: no" [8]', "make"),
    "decided": ('"We use it because it works." [8]', '"We use it because it works."'),
    "replied": ('The user answered: "blue" [8]', '"blue"'),
    "changed_file": ("src/a.py: created, modified x3, read [8]", "src/a.py"),
    "read_file": ("src/a.py: read x3 [8]", "src/a.py"),
    "open": ("[ ] write it", "write it"),
    "asking": ('Unanswered, to the user: "Blue?" [8]', '"Blue?"'),
    "next": ('"Next I write it." [8]', '"Next I write it."'),
    "error": ('Error: "ValueError: x" [8]', '"ValueError: x"'),
    "number": ("Numbers: 3 cats; 4 dogs [8]", "3 cats; 4 dogs"),
    "identifier": ("Identifiers: A1; B2 [8]", "A1; B2"),
    "answer": ('get_user(7) gave "{"id": 7}" [8]', 'get_user(7) gave "{"id": 7}"'),
    "remark": ('Remark: "It is late." [8]', '"It is late."'),
    "finding": ('"`a.py` reads it." [8]', '"`a.py` reads it."'),
    "tool": ("bash: 12 calls, 3 failed", "bash"),
    "command": ("`make test` -> exit 0 [8]", "make test"),
}


def test_an_error_that_something_answered_is_told_by_its_own_words():
    text = '- Error, go test succeeded later: "a_test.go:7: bad" [8]'
    assert (read_line("context", text).family.name, read_line("context", text).key) == ("error", '"a_test.go:7: bad"')


def test_every_family_has_an_example():
    assert list(LINES) == [f.name for f in FAMILIES]


@pytest.mark.parametrize("name", LINES)
def test_a_line_is_told_again(name):
    text, key = LINES[name]
    made = line(name, text)
    again = read_line(BY_NAME[name].section, f"- {text}")
    assert made == again
    assert (again.family.name, again.key) == (name, key)
    assert again.number == (int(found[1]) if (found := re.search(r"(\d+)[\])]$", text)) else 0)


@pytest.mark.parametrize("section", [s.key for s in SECTIONS])
@pytest.mark.parametrize("text", ["- what a model wrote", "  - under it", "plain words", "1. first"])
def test_any_other_line_is_prose(section, text):
    made = read_line(section, text)
    assert made.family is PROSE[section]
    assert made.text == text
    assert made.number == 0


def test_every_section_has_families():
    assert {f.section for f in FAMILIES} == {s.key for s in SECTIONS}
