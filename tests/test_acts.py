"""An act is a call with what came of it; the sort of work it was decides which success answers which failure."""

import json

import pytest

from compactor.core.acts import acts, arguments_shown, changes_something, name_words, spoken_lines
from compactor.core.messages import Call, Message, Result, Role, groups
from compactor.core.prune import stub
from compactor.core.settings import Settings
from tests.making import calls, result, user


def done(name, arguments, *texts, **fields):
    """The acts of one call with its results."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    turns = (Message(Role.ASSISTANT, "I try.", (Call("c1", name, text),)), *(result("c1", t, **fields) for t in texts))
    return acts(turns, groups(turns), first=10)


def act(name, arguments, text="", **fields):
    (only,) = done(name, arguments, text, **fields)
    return only


def test_calls_are_paired_by_adjacency_and_numbered_in_the_conversation():
    turns = (
        calls("c1", "c2"),
        result("c2", "two"),
        result("c1", "one"),
        user("on"),
        calls("c1"),
        result("c1", "again"),
    )
    assert [(a.number, a.output) for a in acts(turns, groups(turns), 4)] == [(5, "two"), (5, "one"), (9, "again")]


def test_an_unanswered_call_is_open():
    (only,) = done("bash", {"command": "sleep 99"})
    assert (only.outcome, only.failed, only.output) == ("open", False, "")


@pytest.mark.parametrize(
    ("text", "outcome", "failed"),
    [
        ("fine", "ok", False),
        ("<returncode>2</returncode>", "exit 2", True),
        ('{"output": "no\\nsuch file", "exit_code": 1}', "exit 1", True),
        ("Error: no seats", "failed", True),
        ("<tool_use_error>String not found</tool_use_error>", "failed", True),
    ],
)
def test_outcome(text, outcome, failed):
    only = act("bash", {"command": "make"}, text)
    assert (only.outcome, only.failed) == (outcome, failed)


def test_what_was_printed_is_taken_out_of_its_json():
    assert act("bash", {"command": "x"}, '{"output": "a\\nb", "exit_code": 0}').output == "a\nb"
    assert act("bash", {"command": "x"}, '{"price": 3}').output == '{"price": 3}'


@pytest.mark.parametrize(
    "frame",
    [
        "Exit code 5", "[The command completed with exit code 5.]", "[Command finished with exit code 5]",
        "<returncode>5</returncode>", "[Current working directory: /srv]", "[Python interpreter: /usr/bin/python]",
    ],
)  # fmt: skip
def test_the_frame_that_a_harness_puts_around_a_result_says_nothing(frame):
    assert list(spoken_lines(act("bash", {"command": "x"}, f"Ran 0 tests\n{frame}"))) == ["Ran 0 tests"]


def test_a_cleared_result_still_says_how_it_ended():
    long = "<returncode>3</returncode>\nValueError: bad\n" + "x" * 500
    call = Call("c1", "bash", '{"command": "make"}')
    cleared = stub(call, Result("c1", long), Settings())
    only = act("bash", call.arguments, cleared)
    assert (only.outcome, only.failed, only.output) == ("exit 3", True, "")
    assert list(spoken_lines(only)) == ["ValueError: bad"]


@pytest.mark.parametrize(
    ("name", "arguments", "subject"),
    [
        ("Bash", {"command": "make test"}, "make test"),
        ("shell", {"command": ["bash", "-lc", "make test"]}, "make test"),
        ("run_command", {"cmd": "make"}, "make"),
        ("str_replace_editor", {"command": "view", "path": "/a.py"}, "str_replace_editor(view)"),
        ("Read", {"file_path": "/a.py"}, "Read(/a.py)"),
        ("read", "{broken", "read"),
        ("a tool\nwith lines", "{}", "a tool with lines"),
        ("", "{}", "tool"),
    ],
)
def test_subject(name, arguments, subject):
    assert act(name, arguments).subject == subject


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("mcp__linear__createIssue", ("mcp", "linear", "create", "issue")),
        ("TodoWrite", ("todo", "write")),
        ("HTTPGet", ("http", "get")),
        ("", ()),
    ],
)
def test_words_of_a_name(name, words):
    assert name_words(name) == words


@pytest.mark.parametrize(
    ("name", "changes"),
    [("book_reservation", True), ("sendMail", True), ("get_user", False), ("search_flights", False)],
)
def test_which_tools_change_the_world(name, changes):
    assert changes_something(act(name, {"a": 1})) is changes


def test_a_shell_command_is_never_taken_for_such_a_tool():
    assert not changes_something(act("run_command", {"command": "send"}))


def test_arguments_as_they_were_written():
    assert arguments_shown(act("book", '{"id": "A1",\n "seats": 2}')) == '"id": "A1", "seats": 2'


def test_lines_of_a_huge_result_come_from_its_ends():
    only = act("bash", {"command": "seq"}, "\n".join(map(str, range(100_000))))
    lines = list(spoken_lines(only))
    assert lines[0] == "0"
    assert lines[-1] == "99999"
    assert len(lines) < 1_000
