"""What was done is noted from calls and their results: with the tool, the file, the figure and the outcome."""

import json

import pytest

from compactor.core import deeds
from compactor.core.messages import Call, Message, Role
from compactor.core.story import story
from tests.making import answer, says, user
from tests.test_story import asked


def step(name, arguments, text="ok", words="", **fields):
    """A call with its result."""
    written = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return (
        Message(Role.ASSISTANT, words, (Call("c1", name, written),)),
        Message(Role.TOOL, results=(answer("c1", text, **fields),)),
    )


def ran(command, text="<returncode>0</returncode>", words=""):
    return step("bash", {"command": command}, text, words)


def lines(stage, *steps, tail=()):
    turns = tuple(m for s in steps for m in s)
    later = tuple(m for s in tail for m in s)
    return [entry.text for entry in stage(story(asked(*turns, tail=later)))]


FAIL = "<returncode>1</returncode>\nValueError: bad"


def test_a_call_that_changed_something_is_noted_with_its_answer_and_number():
    sent = step("send_mail", '{"to": "a@x.example", "subject": "Hi"}', '{"message_id": "M-77"}')
    assert lines(deeds.changes, sent) == [
        '- Called send_mail("to": "a@x.example", "subject": "Hi") -> "{"message_id": "M-77"}" [1]'
    ]


def test_what_failed_or_only_asked_changed_nothing():
    assert (
        lines(deeds.changes, step("send_mail", {"to": "x"}, "Error: no such user"), step("get_user", {"id": 1})) == []
    )


def test_commits_and_edits_with_the_words_that_announced_them():
    edit = step("Edit", {"file_path": "/srv/a.py", "old_string": "a"}, words="I see.\n\nNow add the import:")
    commit = ran("git commit -m 'x'", "[main 3f2a1b9] Add the import\n 1 file changed")
    assert lines(deeds.changes, edit, commit) == ['- Changed /srv/a.py: "Now add the import:" [1]']
    assert lines(deeds.commits, edit, commit) == ['- Commit 3f2a1b9: "Add the import" [3]']


def test_an_assertion_beside_an_edit_is_left_to_the_assertions():
    assert lines(deeds.changes, step("Edit", {"file_path": "/srv/a.py"}, words="I fixed the import.")) == []


def test_test_runs():
    assert lines(deeds.verdicts, ran("pytest -q", "== 3 passed in 0.1s =="), ran("ls", "a.py")) == [
        '- Ran pytest -q: "3 passed in 0.1s" [1]'
    ]


@pytest.mark.parametrize(
    ("steps", "tail", "open_"),
    [
        ((ran("make", FAIL),), (), True),
        ((ran("make", FAIL), ran("make")), (), False),
        ((ran("make", FAIL),), (ran("make"),), False),
        ((ran("make"), ran("make", FAIL)), (), True),
        ((ran("cd /srv && pytest a.py | tail -1", FAIL), ran("pytest a.py -q")), (), False),
        ((ran("pytest a.py", FAIL), ran("ls")), (), True),
        ((ran("pytest a.py", FAIL + "\n1 failed"), ran("make test", "9 passed")), (), False),
        ((ran("grep x a.py", "<returncode>1</returncode>"),), (), False),
        (
            (step("Edit", {"file_path": "/srv/a.py"}, "no", failed=True), step("Edit", {"file_path": "/srv/b.py"})),
            (),
            True,
        ),
        (
            (step("Edit", {"file_path": "/srv/a.py"}, "no", failed=True), step("Edit", {"file_path": "/srv/a.py"})),
            (),
            False,
        ),
        ((step("book", {"id": "A"}, "Error: full"), step("book", {"id": "B"})), (), False),
        ((ran("make", FAIL), *(ran(f"echo {n}") for n in range(deeds.WORKED_AROUND))), (), False),
    ],
)
def test_a_failure_is_open_until_its_sort_of_work_succeeds(steps, tail, open_):
    assert bool(lines(deeds.failures, *steps, tail=tail)) is open_


def test_a_failure_says_what_how_and_why():
    assert lines(deeds.failures, ran("make", FAIL)) == ['- Failed: make -> exit 1: "ValueError: bad" [1]']
    assert lines(deeds.failures, step("book", {"id": "A1"}, "Error: full")) == ['- Failed: book(A1): "Error: full" [1]']
    silent = ran("make", "<returncode>2</returncode>")
    assert lines(deeds.failures, silent) == ["- Failed: make -> exit 2 [1]"]


def test_files_are_counted_and_the_last_touched_stand_last():
    steps = (
        step("Write", {"file_path": "/srv/new.py"}),
        step("Read", {"file_path": "/srv/a.py"}),
        step("Edit", {"file_path": "/srv/new.py"}),
        step("Write", {"file_path": "/srv/new.py"}),
        ran("cat b.py && rm old.py"),
        step("Read", {"file_path": "/srv/new.py"}),
    )
    assert lines(deeds.files, *steps) == [
        "- /srv/a.py: read [3]",
        "- b.py: read [9]",
        "- old.py: deleted [9]",
        "- /srv/new.py: created, modified x2, read [11]",
    ]


def test_error_lines_with_their_place_each_once():
    failing = ran("python a.py", 'Traceback:\n  File "/srv/a.py", line 3\nValueError: bad\n<returncode>1</returncode>')
    assert lines(deeds.errors, failing, failing) == ['- Error: "File "/srv/a.py", line 3: ValueError: bad" [3]']
    assert lines(deeds.errors, step("Read", {"file_path": "/srv/a.py"}, "ValueError: in a file")) == []


def test_what_was_asked_of_tools_is_noted_and_files_are_not():
    steps = (
        step("get_user", {"id": "u7"}, '{"name": "Mia",\n "tier": "gold"}'),
        step("Read", {"file_path": "/srv/a.py"}, "import os"),
        ran("git branch", "<returncode>0</returncode>\n<output>\nmain\n</output>"),
        ran("cat big", "x" * 5_000),
    )
    assert lines(deeds.answers, *steps) == [
        '- get_user(u7) gave "{"name": "Mia", "tier": "gold"}" [1]',
        '- git branch gave "main" [5]',
    ]


def test_numbers_are_noted_once_where_they_were_first_said():
    turns = (says("412 tests pass."), user("So 412 tests pass?"), says("And p95 = 83 ms."))
    assert [n.text for n in deeds.figures(story(asked(*turns)))] == [
        "- Numbers: 412 tests pass [1]",
        "- Numbers: p95 = 83 ms [3]",
    ]


def test_identifiers_said_given_or_repeated():
    steps = (
        step("get_order", {"order_id": "AAAA"}, '{"order_id": "AAAA", "invoice_id": "BBBB", "tax_id": "CCCC"}'),
        step("get_invoice", {"q": "x"}, '{"invoice_id": "BBBB"}'),
    )
    assert lines(deeds.names, *steps) == ["- Identifiers: AAAA; BBBB [1]"]


def test_tools_with_their_failures_the_most_used_last():
    assert lines(deeds.tools, ran("make", FAIL), ran("make"), step("Read", {"file_path": "/a.py"})) == [
        "- Read: 1 call",
        "- bash: 2 calls, 1 failed",
    ]


def test_commands_with_their_outcome():
    assert lines(deeds.commands, ran("make", FAIL), ran("make")) == ["- `make` -> exit 1 [1]", "- `make` -> exit 0 [3]"]


def test_a_status_that_a_pipe_hides_is_not_believed():
    found = lines(deeds.commands, ran("pytest -q | tail -1", "1 failed, 2 passed"), ran("pytest -q", "3 passed"))
    assert found == ["- `pytest -q | tail -1` -> ok but failures printed [1]", "- `pytest -q` -> ok [3]"]


def test_what_a_search_prints_is_neither_a_verdict_nor_an_error():
    seen = ran("rg -n 'x' logs", "logs/a.log:3: 2 failed, 1 passed\nValueError: bad")
    assert not lines(deeds.verdicts, seen)
    assert not lines(deeds.errors, seen)


def test_only_calls_at_the_end_are_still_open():
    unanswered = (Message(Role.ASSISTANT, "", (Call("c1", "bash", '{"command": "sleep 99"}'),)),)
    assert lines(deeds.running, unanswered) == ["- Still open: sleep 99 [1]"]
    assert lines(deeds.running, unanswered, ran("make")) == []


def test_work_in_the_background_is_open_until_it_is_over():
    started = step("Task", {"description": "look around"}, "Async agent launched successfully. agentId: a1b2c3")
    asked_for = step("TaskOutput", {"task_id": "a1b2c3"}, "status: completed")
    still = step("TaskOutput", {"task_id": "a1b2c3"}, "status: running")
    assert lines(deeds.running, started, still) == ["- Still open: Task(look around) [1]"]
    assert lines(deeds.running, started, asked_for) == []
    assert lines(deeds.running, started, tail=(asked_for,)) == []


def todos(*items):
    return step("TodoWrite", {"todos": [{"content": c, "status": s} for c, s in items]})


def listed(*steps, tail=()):
    turns = tuple(m for s in steps for m in s)
    later = tuple(m for s in tail for m in s)
    return [entry.text for entry in deeds.lists(story(asked(*turns, tail=later)), {})[1]]


def test_the_todo_list_by_status():
    assert listed(todos(("a", "completed"), ("b", "in_progress"), ("c", "pending"))) == [
        "- [x] a",
        "- [~] b",
        "- [ ] c",
    ]


def test_what_the_tail_lists_is_left_to_the_tail():
    now = todos(("a", "completed"), ("b", "in_progress"))
    assert listed(now, tail=(todos(("b", "completed")),)) == ["- [x] a"]
