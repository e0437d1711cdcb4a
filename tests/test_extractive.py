"""The offline summarizer: nothing in its answer is its own but a few fixed words."""

import re

from hypothesis import given

from compactor.core.messages import Call, Message, Role
from compactor.core.sentences import flat
from compactor.core.summary import SECTIONS, render
from tests.making import COUNT, judge, says, user
from tests.test_merge import SESSION, SESSIONS, every_line, extracted
from tests.test_story import asked


def answered(*turns, **fields):
    return extracted(asked(*turns, **fields))


def test_it_fills_every_section_of_a_session():
    summary = answered(*(m for s in SESSION for m in (s if isinstance(s, tuple) else (s,))))
    assert all(summary[s.key] for s in SECTIONS if s.key not in ("blocked", "context"))


@given(SESSIONS)
def test_whatever_is_quoted_was_said(turns):
    request = asked(*turns, user("The end."))
    said = [request.turns.messages[n].text for n in range(len(request.turns.messages))]
    called = [c.arguments + c.name for m in turns for c in m.calls]
    printed = [r.text for m in turns for r in m.results]
    everything = flat(" ".join([*said, *called, *printed])).replace("\\n", " ")
    for line in every_line(extracted(request)):
        for quotation in re.findall(r'"(.*)"', line):
            for piece in re.split(r'…|"(?: -> |: )"|" gave "', quotation):
                assert piece.strip() in everything, line


@given(SESSIONS)
def test_the_answer_is_always_accepted(turns):
    text = render(answered(*turns, user("The end."), ceiling=300))
    assert not isinstance(judge(text, 300, COUNT), str)


def test_the_language_is_that_of_the_conversation():
    turns = (user("请修复解析器。不要推送到主分支。"), says("因为文件需要移动，所以采用 SQLite。已完成全部修改。"))
    text = render(answered(*turns))
    for quotation in (
        "请修复解析器。",
        "不要推送到主分支。",
        "因为文件需要移动，所以采用 SQLite。",
        "已完成全部修改。",
    ):
        assert quotation in text


def test_a_megabyte_on_one_line_is_no_trouble():
    call = Message(Role.ASSISTANT, "x" * 1_000_000, (Call("c1", "bash", '{"command": "' + "x" * 1_000_000 + '"}'),))
    summary = answered(user("a" * 1_000_000), call, ceiling=1_000)
    assert COUNT(render(summary)) <= 1_000
