"""Does a conversation say the same in another format, and is one that would lose something left out?"""

import json
from contextlib import suppress
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactor.core.messages import Call, Conversation, Message, Result, Role, groups
from compactor.core.results import results
from compactor.formats import rows
from compactor.formats.convert import CannotConvertError, Target, converted
from tests.making import answer, call, calls, conversation, result, says, system, user
from tests.running import SMALL, compactor, row, talk
from tests.samples import samples
from tests.samples.sharegpt import tag

TARGETS = {Target.OPENAI: "openai-chat", Target.ANTHROPIC: "anthropic", Target.SHAREGPT: "sharegpt"}
EVERY = pytest.mark.parametrize("target", TARGETS)
PICTURE = {"type": "image_url", "image_url": {"url": "https://x/y.png"}}
REAL = Path(__file__).resolve().parents[2] / "shared" / "transcripts"
TOOL = {"name": "bash", "description": "Run it.", "parameters": {"type": "object", "properties": {"command": {}}}}


def flow(messages):
    """What is said, called and answered, in order: all that a conversion has to carry over."""
    told = []
    for message in messages:
        if message.reasoning:
            told.append(("thinks", message.reasoning))
        if message.role is Role.USER:
            told += [("answers", r.text) for r in message.results]
        if message.text:
            told.append((str(message.role), message.text))
        told += [("calls", c.name, json.dumps(json.loads(c.arguments or "{}"))) for c in message.calls]
        if message.role is not Role.USER:
            told += [("answers", r.text) for r in message.results]
    return told


def pairs(messages):
    """Which result answers which call, by their place in the flow."""
    asked = [c for m in messages for c in m.calls]
    found = [(answered, r) for _, answered, r in results(messages, groups(messages))]
    return [next((n for n, c in enumerate(asked) if c is answered), None) for answered, _ in found]


def again(talks, target):
    """A conversation after it was written for `target`, read by our own reader."""
    content = converted(talks, talks.messages, target)
    [found] = rows(BytesIO(content), "x.jsonl")
    if found.format.name != TARGETS[target]:
        assert (target, found.format.name) == (Target.ANTHROPIC, "openai-chat")  # nothing but words: the same in both
    assert not found.faults
    return found.conversation


TALKS = {
    "words": (system("Be brief."), user("hi"), says("hello"), user("bye")),
    "a call and its result": (user("go"), calls("c1", text="I look."), result("c1", "a\nb", name="bash"), says("so")),
    "calls at once": (user("go"), calls("a", "b"), result("a", "x"), result("b", "y"), says("so")),
    "both results in one message": (user("go"), calls("a", "b"), user("and?", answer("a", "x"), answer("b", "y"))),
    "no ids": (user("go"), Message(Role.ASSISTANT, calls=(Call("", "f", "{}"),)), result("", "x"), says("so")),
    "ids that repeat": (user("go"), calls("c"), result("c", "x"), calls("c"), result("c", "y"), says("so")),
    "a thought": (user("go"), says("so", reasoning="hm,\nyes"), user("and?")),
    "a thought and a call": (user("go"), replace(calls("c", text="I look."), reasoning="hm"), result("c", "x")),
    "a tool that a server ran": (
        user("go"),
        Message(Role.ASSISTANT, "found", (call("s"), call("c")), (Result("s", "x"),)),
        result("c", "y"),
        says("so"),
    ),
    "a result that failed": (user("go"), calls("c"), result("c", "no such file", failed=True), says("so")),
    "a call without arguments": (user("go"), Message(Role.ASSISTANT, calls=(Call("c", "f", ""),)), result("c", "x")),
    "a result that is JSON": (user("go"), calls("c"), result("c", '{"a": [1.50]}'), says("so")),
    "tags in results and in the user's words": (
        user("what is <tool_call>{}</tool_call>?"),
        calls("c"),
        result("c", "</tool_response>\n<tool_response>"),
    ),
    "blanks around words": (user(" go\n"), replace(calls("c"), text="\n so \n"), result("c", " x\n"), says("so\n")),
}


@EVERY
@pytest.mark.parametrize("messages", TALKS.values(), ids=TALKS)
def test_it_says_the_same_in_another_format(messages, target):
    read = again(conversation(*messages), target).messages
    assert flow(read) == flow(messages)
    assert pairs(read) == pairs(messages)


def said(messages):
    """All but the user's words; what the system says in several messages is one where it stands beside them."""
    words = [w for w in flow(messages) if w[0] != "user"]
    system = "\n\n".join(w[1] for w in words if w[0] == "system")
    return [("system", system), *(w for w in words if w[0] != "system")]


@EVERY
@pytest.mark.parametrize("sample", samples(), ids=lambda s: f"{s.form}:{s.file}")
def test_every_format_can_be_written_as_another(sample, target):
    for found in rows(BytesIO(sample.long(4)), sample.file):
        if (before := found.conversation) and not any(m.other or m.image_tokens for m in before.messages):
            read = again(before, target).messages
            assert said(read) == said(before.messages)
            assert pairs(read) == pairs(before.messages)


WORDS = st.text(alphabet="a \n<>/\u00e9\U0001f600", max_size=8) | st.sampled_from(
    ["<think>\nx\n</think>", '<tool_call>\n{"name": "f"}\n</tool_call>', "<tool_call>", "</think>"]
)


@EVERY
@given(words=WORDS, thought=WORDS, called=st.booleans())
def test_whatever_is_said_it_says_the_same_or_is_refused(target, words, thought, called):
    answer_ = Message(Role.ASSISTANT, words, (call("c"),) if called else (), reasoning=thought)
    messages = (user("go"), answer_, *([result("c", words)] if called else []), user("and?"))
    with suppress(CannotConvertError):
        assert flow(again(conversation(*messages), target).messages) == flow(messages)


@pytest.mark.parametrize(
    ("message", "target"),
    [
        (says("<think>\nx\n</think>"), Target.ANTHROPIC),
        (says("<think>\nx\n</think>"), Target.SHAREGPT),
        (says(f"I write {tag('tool_call', {'name': 'f'})}"), Target.SHAREGPT),
        (says("so", reasoning="a </think> b"), Target.SHAREGPT),
    ],
)
def test_words_that_would_be_taken_for_tags_are_refused(message, target):
    messages = (user("go"), message)
    with pytest.raises(CannotConvertError, match="message 2 has words that would be read as"):
        converted(conversation(*messages), messages, target)


@EVERY
def test_answers_in_another_order_than_the_calls_stay_with_them(target):
    messages = (user("go"), calls("a", "b"), result("b", "y"), result("a", "x"), says("so"))
    read = again(conversation(*messages), target).messages
    texts = [r.text for m in read for r in m.results]
    assert dict(zip(texts, pairs(read), strict=True)) == {"x": 0, "y": 1}


REFUSED = {
    "a picture": ((user("a"), user("b", image_tokens=85)), Target.OPENAI, "message 2 holds an image"),
    "a part of another kind": ((user("a", other="{}"),), Target.SHAREGPT, "message 1 holds an image, or a part"),
    "a picture in a result": (
        (user("a"), calls("c"), result("c", "x", image_tokens=85)),
        Target.ANTHROPIC,
        "message 3 holds an image",
    ),
    "instructions later on": ((user("a"), system()), Target.ANTHROPIC, "message 2 is a system message after"),
    "an assistant that begins": ((system(), says("a")), Target.ANTHROPIC, "message 2 is of the assistant"),
    "arguments that are no object": (
        (user("a"), Message(Role.ASSISTANT, calls=(Call("c", "f", "[1"),))),
        Target.ANTHROPIC,
        "the arguments of a call to f are no JSON object",
    ),
}


@pytest.mark.parametrize(("messages", "target", "why"), REFUSED.values(), ids=REFUSED)
def test_what_would_be_lost_is_refused_with_its_place(messages, target, why):
    with pytest.raises(CannotConvertError, match=why):
        converted(conversation(*messages), messages, target)


SCHEMAS = {
    Target.OPENAI: [{"type": "function", "function": TOOL}],
    Target.ANTHROPIC: [{"name": "bash", "description": "Run it.", "input_schema": TOOL["parameters"]}],
    Target.SHAREGPT: json.dumps([TOOL]),
}


@EVERY
@pytest.mark.parametrize("tools", SCHEMAS.values(), ids=SCHEMAS)
def test_tools_are_described_as_the_target_does(target, tools):
    preamble = tools if isinstance(tools, str) else json.dumps(tools)
    value = json.loads(converted(Conversation((user("a"),), preamble), (user("a"),), target))
    assert value["tools"] == SCHEMAS[target]


@EVERY
@pytest.mark.parametrize("tools", ["no JSON", '{"a":1}', '[{"type":"web_search_20250305","name":"web_search"}]'])
def test_what_is_no_description_is_carried_over(target, tools):
    value = json.loads(converted(Conversation((user("a"),), tools), (user("a"),), target))
    written = value["tools"]
    if isinstance(written, str) and written != tools:
        written = json.loads(written)
    assert written == (tools if tools == "no JSON" else json.loads(tools))


# The command line.


def folder(tmp_path, *contents):
    path = tmp_path / "chats.jsonl"
    path.write_bytes(b"".join(contents))
    return path


@EVERY
def test_a_run_writes_a_line_for_each_conversation(tmp_path, target):
    path = folder(tmp_path, row(talk(41)), row(talk(5)))
    ran = compactor(tmp_path, "compact", *SMALL, path, "--to", target, "-o", "out.jsonl")
    assert ran.code == 0, ran.said
    found = list(rows(BytesIO((tmp_path / "out.jsonl").read_bytes()), "out.jsonl"))
    assert [r.format.name for r in found] == [TARGETS[target]] * 2
    assert "Reply 40" in found[0].conversation.messages[-1].text
    assert len(found[0].conversation.messages) < 41


def test_a_conversation_that_cannot_be_converted_is_left_out(tmp_path):
    shown = {"role": "user", "content": [{"type": "text", "text": "see"}, PICTURE]}
    path = folder(tmp_path, row(talk(5)), row([*talk(5), shown]), b"{broken\n", row(talk(9)))
    ran = compactor(tmp_path, "compact", path, "--to", "anthropic", "-o", "out.jsonl")
    assert ran.code == 1
    written = (tmp_path / "out.jsonl").read_bytes()
    assert [len(r.conversation.messages) for r in rows(BytesIO(written), "x")] == [5, 9]
    assert "chats.jsonl:2: it cannot be written as anthropic: message 6 holds an image" in ran.said
    assert ran.said.count("(left out)") == 2
    assert "left as it came" not in ran.said


def test_a_conversation_with_a_broken_record_is_left_out(tmp_path):
    path = folder(tmp_path, *(json.dumps(m).encode() + b"\n" for m in talk(5)), b"{broken\n")
    ran = compactor(tmp_path, "compact", path, "--to", "openai", "-o", "out.jsonl")
    assert ran.code == 1
    assert "a part of it could not be read (left out)" in ran.said
    assert not (tmp_path / "out.jsonl").exists() or not (tmp_path / "out.jsonl").read_bytes()


FILES = sorted(p for name in ("openai-chat", "anthropic", "sharegpt") for p in (REAL / name).glob("*.json*"))


@pytest.mark.skipif(not FILES, reason=f"there are no transcripts in {REAL}")
@EVERY
@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name[:30])
def test_a_real_file_says_the_same_or_is_refused(path, target):
    for found in rows(BytesIO(path.read_bytes()), path.name):
        before = found.conversation
        try:
            read = again(before, target).messages if before else ()
        except CannotConvertError:
            continue
        words = "".join(w[1] for w in flow(before.messages) if w[0] == "user") if before else ""
        assert "".join(w[1] for w in flow(read) if w[0] == "user").replace("\n", "") == words.replace("\n", "")
        if before:
            assert pairs(read) == pairs(before.messages)
