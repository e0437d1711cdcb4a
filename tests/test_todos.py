"""The latest todo list, whichever way it was kept."""

import json

import pytest

from compactor.core.acts import acts
from compactor.core.messages import Call, Message, Role, groups
from compactor.core.todos import STEPS, Item, Status, checkboxes, listed, next_steps, todo
from tests.making import result


def kept(*steps):
    """Acts of calls, each (tool, arguments, result)."""
    turns = []
    for name, arguments, text in steps:
        turns += [Message(Role.ASSISTANT, calls=(Call("c", name, json.dumps(arguments)),)), result("c", text)]
    return acts(turns, groups(turns))


def told(found):
    return [(i.label, i.text, str(i.status)) for i in found.items]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        (
            "TodoWrite",
            {"todos": [{"content": "a b", "status": "completed"}, {"content": "c", "status": "in_progress"}]},
        ),
        (
            "update_plan",
            {"explanation": "x", "plan": [{"step": "a b", "status": "done"}, {"step": "c", "status": "doing"}]},
        ),
        ("todo", {"items": [{"id": "1", "title": "a b", "status": "Completed"}, {"title": "c", "status": "active"}]}),
    ],
)
def test_whole_lists(name, arguments):
    found = todo(kept((name, arguments, "ok")), {})
    assert found.whole
    assert told(found) == [("", "a b", "x"), ("", "c", "~")]


def test_a_later_list_replaces_an_earlier_one_but_for_what_was_finished():
    first = {"todos": [{"content": "a", "status": "completed"}, {"content": "b", "status": "pending"}]}
    second = {"todos": [{"content": "c", "status": "pending"}, {"content": "d", "status": "cancelled"}]}
    assert told(todo(kept(("TodoWrite", first, "ok"), ("TodoWrite", second, "ok")), {})) == [
        ("", "a", "x"),
        ("", "c", " "),
    ]


def test_single_tasks_are_created_and_updated_by_their_number():
    found = todo(
        kept(
            ("TaskCreate", {"subject": "write it", "description": "d"}, "Task #4 created successfully: write it"),
            ("TaskCreate", {"subject": "test it"}, "ok"),
            ("TaskUpdate", {"taskId": "4", "status": "completed"}, "Updated task #4 status"),
            ("TaskUpdate", {"taskId": "9", "status": "completed"}, "no such task"),
        ),
        {},
    )
    assert not found.whole
    assert told(found) == [("#4", "write it", "x"), ("#2", "test it", " ")]


def test_a_task_of_an_earlier_summary_is_known_by_its_number():
    found = todo(kept(("TaskUpdate", {"taskId": 3, "status": "in_progress"}, "ok")), {"#3": "deploy it"})
    assert told(found) == [("#3", "deploy it", "~")]
    created = todo(kept(("TaskCreate", {"subject": "rest"}, "ok")), {"#3": "deploy it"})
    assert told(created) == [("#4", "rest", " ")]


def test_a_deleted_task_is_gone_and_a_failed_call_says_nothing():
    found = todo(
        kept(
            ("TaskCreate", {"subject": "a"}, "Task #1 created"),
            ("TaskUpdate", {"taskId": "1", "status": "deleted"}, "ok"),
            ("TodoWrite", {"todos": [{"content": "x", "status": "pending"}]}, "Error: no"),
        ),
        {},
    )
    assert told(found) == []


@pytest.mark.parametrize(
    "arguments", [{}, {"todos": []}, {"todos": "x"}, {"flights": [{"id": 1}]}, {"a": [{"status": 1}, {}]}]
)
def test_what_is_no_list(arguments):
    assert listed(arguments, 1) is None


def test_checkboxes():
    text = "Plan:\n- [x] one thing\n* [ ] two\n  - [~] three\n- [y] no\n```\n- [ ] four\n```"
    assert [(i.text, i.status) for i in checkboxes(text, 7)] == [
        ("one thing", Status.FINISHED),
        ("two", Status.OPEN),
        ("three", Status.ACTIVE),
        ("four", Status.OPEN),
    ]
    assert next(checkboxes(text, 7)) == Item("one thing", Status.FINISHED, 7)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Done.\n\n## Next steps\n1. write docs\n2. release\n\nThat is all.\n- no", ("write docs", "release")),
        ("**Remaining work:**\n- a b\n  detail\n- c d", ("a b", "c d")),
        ("下一步：\n- 编写文档", ("编写文档",)),
        ("次のステップ\n- 文書を書く", ("文書を書く",)),
        ("Nächste Schritte:\n- Doku schreiben", ("Doku schreiben",)),
        ("Próximos pasos:\n- escribir la guía", ("escribir la guía",)),
        ("Next steps:\n- old\n\nNext steps:\n- new", ("new",)),
        ("Summary:\n- a\n- b", ()),
        ("", ()),
    ],
)
def test_next_steps(text, expected):
    assert next_steps(text) == expected


def test_a_long_list_is_cut():
    assert len(next_steps("Next steps:\n" + "- step it\n" * 50)) == STEPS
