"""Are LangChain messages read in all their spellings, and written so that LangChain loads them again?"""

import json
from io import BytesIO
from pathlib import Path

import pytest

from compactor.core.handoff import PREFIX, is_handoff
from compactor.core.messages import CALL_REMOVED, Call, Handoff, Kept, Result, Role
from compactor.core.tokens import PER_IMAGE
from compactor.core.verify import broken, result_messages
from compactor.formats import rows
from tests.samples import langchain, talk
from tests.samples.langchain import constructor, data, flat
from tests.test_format_laws import compacted

REAL = Path(__file__).parents[2] / "shared" / "transcripts" / "langchain"
FILES = sorted(REAL.glob("*"))
SPELLINGS = pytest.mark.parametrize("spelling", [data, constructor, flat], ids=["dict", "dumpd", "flat"])
HUMAN = ("human", {"content": "look"})


def call(name="c1", args=None):
    return {"name": "ls", "args": args or {"path": "a"}, "id": name, "type": "tool_call"}


def ai(content="", *calls, **more):
    return ("ai", {"content": content, "tool_calls": list(calls), **more})


def tool(name="c1", content="a.txt", **more):
    return ("tool", {"content": content, "tool_call_id": name, "name": "ls", **more})


def only(*found, spelling=data):
    [row] = rows(BytesIO(b"".join(json.dumps(spelling(*one)).encode() + b"\n" for one in found)), "t.jsonl")
    assert row.format.name == "langchain"
    return row


def messages(*found, spelling=data):
    return only(*found, spelling=spelling).conversation.messages


def rendered(row, *pieces):
    content = row.render(pieces)
    assert row.read_back(content).messages == result_messages(row.conversation, pieces)
    return [json.loads(line) for line in content.splitlines()]


@SPELLINGS
def test_arguments_are_objects_and_results_answer_by_id(spelling):
    found = messages(HUMAN, ai("", call()), tool(status="error"), spelling=spelling)
    assert [m.role for m in found] == [Role.USER, Role.ASSISTANT, Role.TOOL]
    assert found[1].calls == (Call("c1", "ls", '{"path":"a"}'),)
    assert found[2].results == (Result("c1", "a.txt", "ls", failed=True),)


@pytest.mark.parametrize(
    "path", [["langchain", "schema", "messages"], ["langchain_core", "messages"], ["langchain_core", "messages", "ai"]]
)
@pytest.mark.parametrize("name", ["AIMessage", "AIMessageChunk"])
def test_of_a_class_only_the_last_name_counts(path, name):
    value = {"lc": 1, "type": "constructor", "id": [*path, name], "kwargs": {"content": "hello"}}
    [row] = rows([json.dumps(value).encode()], "t.jsonl")
    assert [(m.role, m.text) for m in row.conversation.messages] == [(Role.ASSISTANT, "hello")]
    made = json.loads(row.render([Handoff(Role.USER, "so far")]))
    assert made["id"] == [*path, "HumanMessage"]


@SPELLINGS
def test_a_handoff_is_spelt_like_the_messages_around_it(spelling):
    row = only(HUMAN, ai("yes"), ("human", {"content": "on"}), spelling=spelling)
    new = rendered(row, Kept(0), Handoff(Role.ASSISTANT, PREFIX), Kept(2))[1]
    assert set(new) == set(spelling("ai", {"content": ""}))


@pytest.mark.parametrize(
    ("more", "calls"),
    [
        ({"additional_kwargs": {"tool_calls": [{"id": "c1", "function": {"name": "ls", "arguments": "{}"}}]}}, 1),
        ({"additional_kwargs": {"tool_calls": [{"id": "c2", "function": {"name": "ls", "arguments": "{}"}}]}}, 2),
        ({"additional_kwargs": {"function_call": {"name": "ls", "arguments": "{}"}}}, 1),
        ({"content": [{"type": "tool_use", "id": "c1", "name": "ls", "input": {"path": "a"}}]}, 1),
        ({"content": [{"type": "function_call", "call_id": "c1", "id": "fc1", "name": "ls", "arguments": "{}"}]}, 1),
        ({"tool_call_chunks": [{"id": "c1", "name": "ls", "args": '{"pa', "index": 0}]}, 1),
        ({"invalid_tool_calls": [{"id": "c9", "name": "ls", "args": "{", "error": "cut"}]}, 2),
    ],
    ids=["raw", "raw of its own", "function", "anthropic", "responses", "chunks", "invalid"],
)
def test_a_call_counts_once_and_goes_from_everywhere(more, calls):
    row = only(HUMAN, ("ai", {"content": "", "tool_calls": [call()], **more}), ("human", {"content": "and?"}))
    assert len(row.conversation.messages[1].calls) == calls
    [_, left, _] = rendered(row, Kept(0), Kept(1, without_calls=frozenset(range(calls))), Kept(2))
    assert "c1" not in json.dumps(left)
    assert CALL_REMOVED in json.dumps(left)


def test_a_call_of_two_goes_and_the_other_stays():
    blocks = [{"type": "thinking", "thinking": "hm", "signature": "s"}]
    blocks += [{"type": "tool_use", "id": name, "name": "ls", "input": {}} for name in ("c1", "c2")]
    row = only(HUMAN, ai(blocks, call(), call("c2")), tool("c2"))
    [_, left, _] = rendered(row, Kept(0), Kept(1, without_calls=frozenset({0})), Kept(2))
    assert [b.get("id") for b in left["data"]["content"]] == [None, "c2"]
    assert left["data"]["tool_calls"] == [call("c2")]


@pytest.mark.parametrize(
    ("members", "reasoning"),
    [
        ({"content": [{"type": "thinking", "thinking": "hm", "signature": "s"}]}, "hm"),
        ({"content": [{"type": "reasoning", "reasoning": "hm"}]}, "hm"),
        ({"content": [{"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}]}, "hm"),
        ({"content": [{"type": "reasoning_content", "reasoning_content": {"text": "hm", "signature": "s"}}]}, "hm"),
        ({"content": "", "additional_kwargs": {"reasoning_content": "hm"}}, "hm"),
        ({"content": "", "additional_kwargs": {"reasoning": {"summary": [{"text": "hm"}, {"text": "so"}]}}}, "hm\nso"),
    ],
)
def test_reasoning_is_found_wherever_a_vendor_puts_it(members, reasoning):
    assert messages(HUMAN, ("ai", members))[1].reasoning == reasoning


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "image", "source_type": "base64", "data": "A" * 4_000, "mime_type": "image/png"},
        {"type": "image", "base64": "A" * 4_000, "mime_type": "image/png"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 4_000}},
    ],
)
def test_a_picture_has_its_price_and_no_base64(block):
    [found, *_] = messages(("human", {"content": ["see", block]}), HUMAN)
    assert (found.text, found.image_tokens) == ("see", PER_IMAGE)
    assert len(found.other) < 100


def test_the_artifact_is_no_context_and_a_copy_in_it_goes_with_the_result():
    output = talk(1)["output"]
    row = only(HUMAN, ai("", call()), tool(content=output, artifact={"raw": output, "rows": 3}))
    assert row.conversation.messages[2].results[0].text == output
    [*_, left] = rendered(row, Kept(0), Kept(1), Kept(2, {0: "[ls: 30 lines]"}))
    assert left["data"]["artifact"] == {"raw": "[ls: 30 lines]", "rows": 3}


@pytest.mark.parametrize(
    ("gone", "left"), [("m2", ["one", "three"]), ("__remove_all__", []), ("m9", ["one", "two", "three"])]
)
def test_what_is_removed_later_is_not_read_and_stays_in_the_file(gone, left):
    said = [("human", {"content": text, "id": f"m{n}"}) for n, text in enumerate(("one", "two", "three"), 1)]
    row = only(*said, ("remove", {"content": "", "id": gone}), ("human", {"content": "last", "id": "m4"}))
    assert [m.text for m in row.conversation.messages] == [*left, "last"]
    assert row.render([Kept(n) for n in range(len(left) + 1)]) == row.raw


def test_other_roles_are_read_as_what_they_stand_for():
    found = messages(("chat", {"role": "assistant", "content": "a"}), ("chat", {"role": "critic", "content": "b"}))
    assert [m.role for m in found] == [Role.ASSISTANT, Role.USER]
    [done] = messages(HUMAN, ("function", {"name": "ls", "content": "x"}))[1:]
    assert done.results == (Result("", "x", "ls"),)


def test_conversations_may_be_arrays_one_a_line_or_one_an_element():
    found = [[data(*HUMAN), data(*ai("yes"))], [], [constructor(*HUMAN)]]
    lines = b"".join(json.dumps(one).encode() + b"\n" for one in found)
    for content in (lines, json.dumps(found).encode()):
        read = list(rows(BytesIO(content), "t.jsonl"))
        assert b"".join(row.raw for row in read) == content
        assert [len(row.conversation.messages) for row in read] == [2, 0, 1]
    made = read[0].render([Kept(0), Handoff(Role.ASSISTANT, "so far"), Kept(1)])
    assert [m.text for m in read[0].read_back(made).messages] == ["look", "so far", "yes"]


def test_arrays_of_plain_messages_are_conversations_too():
    lines = b'[{"role":"user","content":"a"}]\n[{"role":"user","content":"b"}]\n'
    assert [row.conversation.messages[0].text for row in rows(BytesIO(lines), "t.jsonl")] == ["a", "b"]


@pytest.mark.parametrize(
    ("one", "place", "what"),
    [
        (("human", {"content": 7}), "$.data.content", "7 is not"),
        (("human", {"content": [{"type": "tool_result"}]}), "$.data.content[0].type", "another API"),
        (("ai", {"content": "", "tool_calls": {}}), "$.data.tool_calls", "an object is not an array"),
        (("ai", {"content": "", "tool_calls": [1]}), "$.data.tool_calls[0]", "not an object"),
        (("tool", {"content": "", "tool_call_id": 1}), "$.data.tool_call_id", "1 is not a string"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(one, place, what):
    row = only(HUMAN, one, HUMAN)
    [fault] = row.faults
    assert fault.where == f"t.jsonl:2: {place}"
    assert what in fault.what
    assert row.conversation.gaps == {0}
    assert row.render([Kept(0), Kept(1)]) == row.raw


@pytest.mark.skipif(not FILES, reason=f"there are no transcripts in {REAL}")
@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_real_conversations_come_back_and_are_compacted(path):
    content = path.read_bytes()
    found = list(rows(BytesIO(content), path.name))
    assert b"".join(row.raw for row in found) == content
    outcomes = []
    for row in found:
        everything = [Kept(n) for n in range(len(row.conversation.messages))]
        assert row.render(everything) == row.row.raw
        assert not broken(row.conversation, everything)
        done = compacted(row)
        outcomes.append(done.report.outcome)
        again = row.read_back(done.content)
        assert sum(map(is_handoff, again.messages)) == (done.report.outcome == "summarised")
        assert not broken(again, [Kept(n) for n in range(len(again.messages))])
    assert "summarised" in outcomes


def test_all_spellings_of_the_sample_say_the_same():
    read = [next(rows(BytesIO(s.long(3)), s.file)).conversation.messages for s in langchain.SAMPLES]
    assert read[0] == read[1] == read[2]
