"""Is a failure answered by a success of the same work, and by nothing else?"""

import pytest

from compactor.core import deeds, ledger
from compactor.core.cures import cures
from tests.test_deeds import FAIL, lines, ran, step
from tests.test_ledger import told

RED, GREEN, HIDDEN = "E   no OPS-1\n1 failed\n<returncode>1</returncode>", "3 passed", "E   no OPS-1\n1 failed"


def of_last(*steps):
    """What answers the first of `steps`."""
    acts = told(*(m for s in steps for m in s)).acts
    return cures(acts).of(acts[0])


@pytest.mark.parametrize(
    ("steps", "answer"),
    [
        ((ran("make", FAIL), ran("make")), "make"),
        ((ran("make", FAIL), ran("make", FAIL)), ""),
        ((ran("make", FAIL), ran("ls")), ""),
        ((ran("make", FAIL), ran("pytest", GREEN)), ""),  # no check that has failed
        ((ran("pytest a.py", RED), ran("tox", GREEN)), "tox"),
        ((ran("pytest a.py", RED), ran("tox | tail", HIDDEN)), ""),  # a pipe hides that it failed
        ((ran("pytest a.py", RED), ran("pytest a.py | tail", HIDDEN)), ""),
        ((ran("pytest a.py", RED), ran("cat log", GREEN)), ""),
        ((ran("pytest a.py", RED), ran("tox", GREEN), ran("tox", RED)), "tox"),
        ((step("Edit", {"file_path": "/a.py"}, "<tool_use_error>no</tool_use_error>", failed=True),), ""),
    ],
)
def test_a_failure_is_answered_by_what(steps, answer):
    assert of_last(*steps) == answer


def test_an_error_says_what_succeeded_after_it():
    assert lines(deeds.errors, ran("make", FAIL)) == ['- Error: "ValueError: bad" [1]']
    after = '- Error, make succeeded later: "ValueError: bad" [1]'
    assert lines(deeds.errors, ran("make", FAIL), ran("make")) == [after]
    assert lines(deeds.errors, ran("make", FAIL), tail=(ran("make"),)) == [after]


def errors(*generations):
    """The errors that a ledger holds after turns that came one generation after the other."""
    held, first = (), 0
    for steps in generations:
        turns = tuple(m for s in steps for m in s)
        held = ledger.updated(held, told(*(*[*ran("true")] * (first // 2), *turns)))
        first += len(turns)
    return [entry.text for entry in held if entry.family.name == "error"]


def test_an_error_of_an_earlier_generation_is_answered_too_and_open_again_if_it_comes_back():
    assert errors([ran("make", FAIL)], [ran("ls")]) == ['- Error: "ValueError: bad" [1]']
    assert errors([ran("make", FAIL)], [ran("make")]) == ['- Error, make succeeded later: "ValueError: bad" [1]']
    assert errors([ran("pytest a", RED)], [ran("tox", GREEN)]) == ['- Error, tox succeeded later: "E no OPS-1" [1]']
    again = errors([ran("make", FAIL)], [ran("make")], [ran("make", FAIL)])
    assert again == ['- Error: "ValueError: bad" [5]']


def test_what_a_pipe_hides_is_no_success_for_what_blocks():
    failed = lines(deeds.failures, ran("pytest a.py", RED), ran("tox | tail", HIDDEN))
    assert [text.partition(" -> ")[0] for text in failed] == ["- Failed: pytest a.py"]
    assert not lines(deeds.failures, ran("pytest a.py", RED), ran("tox | tail", GREEN))
