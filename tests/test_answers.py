"""Are results that nobody can give again told from those of ordinary tools?"""

import pytest

from compactor.core.messages import Call, Message, Result, Role
from compactor.formats.answers import with_answers


def called(*names, ids=True):
    return Message(Role.ASSISTANT, calls=tuple(Call(f"c{n}" * ids, name, "{}") for n, name in enumerate(names)))


def answered(n, name="", ids=True):
    return Message(Role.TOOL, results=(Result(f"c{n}" * ids, f"result {n}", name),))


def marked(*messages):
    return [result.text for m in with_answers(messages) for result in m.results if result.protected]


@pytest.mark.parametrize(
    "name",
    [
        "AskUserQuestion", "ask_user", "clarify", "ask_followup_question", "request_user_input", "ask_human",
        "human_input", "mcp__desk__ask_user", "functions.ask_user", "load_skill", "Skill", "skill_view",
    ],
)  # fmt: skip
def test_case_h18_and_h21_words_of_the_user_and_loaded_skills_are_marked(name):
    assert marked(called("bash", name), answered(1), answered(0)) == ["result 1"]


@pytest.mark.parametrize("name", ["bash", "ask", "skills_list", "task", "read_user_file", ""])
def test_ordinary_tools_are_not_marked(name):
    assert marked(called(name), answered(0)) == []


def test_a_result_may_carry_the_name_itself():
    assert marked(called("x"), answered(9, "clarify")) == ["result 9"]
    assert marked(
        called("bash", "clarify", ids=False), answered(0, "bash", ids=False), answered(1, "clarify", ids=False)
    ) == ["result 1"]


def test_ids_that_repeat_are_paired_by_neighbourhood():
    assert marked(called("clarify"), answered(0), called("bash"), answered(0)) == ["result 0"]


def test_several_results_in_one_message():
    both = Message(Role.USER, "and go on", results=(Result("c0", "zero"), Result("c1", "one")))
    assert marked(called("bash", "clarify"), both) == ["one"]


def test_without_such_tools_the_messages_are_the_same():
    messages = (called("bash"), answered(0))
    assert with_answers(messages) is messages
