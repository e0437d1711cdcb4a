"""LangChain messages: three spellings, copies of calls and results, and what is no message."""

import json
from pathlib import Path

import pytest

from compactor.core.messages import CALL_REMOVED, Call, Handoff, Kept, Role
from compactor.core.verify import broken
from compactor.formats import rows
from compactor.formats.langchain import detect, message
from compactor.formats.langchain_edits import constructor_bytes, flat_bytes, kept_bytes, nested_bytes
from compactor.formats.values import MalformedError
from tests.offline import compacted
from tests.samples import langchain

SHARED = Path(__file__).parents[2] / "shared" / "transcripts" / "langchain"
FILES = sorted(SHARED.glob("*.jsonl")) if SHARED.is_dir() else []


def ai(**body):
    return {"type": "ai", "data": {"content": "", **body}}


CALLS = [{"name": "f", "args": {"n": 1}, "id": "a"}, {"name": "g", "args": {}, "id": "b"}]


@pytest.mark.parametrize(
    ("value", "role"),
    [
        ({"type": "human", "content": "x"}, Role.USER),
        ({"type": "HumanMessageChunk", "data": {"content": "x"}}, Role.USER),
        ({"type": "AIMessageChunk", "content": "x"}, Role.ASSISTANT),
        ({"type": "system", "data": {"content": "x"}}, Role.SYSTEM),
        ({"type": "function", "data": {"content": "x", "name": "f"}}, Role.TOOL),
        ({"type": "chat", "data": {"content": "x", "role": "assistant"}}, Role.ASSISTANT),
        ({"type": "chat", "data": {"content": "x", "role": "moderator"}}, Role.USER),
        (
            {"lc": 1, "type": "constructor", "id": ["langchain_core", "messages", "ToolMessage"],
             "kwargs": {"content": "x", "tool_call_id": "a"}},
            Role.TOOL,
        ),
        (
            {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "AIMessageChunk"],
             "kwargs": {"content": "x"}},
            Role.ASSISTANT,
        ),
    ],
)  # fmt: skip
def test_the_kind_is_told_in_every_spelling(value, role):
    assert message(value).role is role


@pytest.mark.parametrize(
    "value",
    [
        {"type": "remove", "data": {"content": "", "id": "x"}},
        {"type": "checkpoint", "content": "x"},
        {"lc": 1, "type": "constructor", "id": ["langchain", "prompts", "PromptTemplate"], "kwargs": {"content": "x"}},
    ],
)
def test_what_no_model_reads_is_no_message(value):
    assert message(value) is None


def test_calls_are_read_once_whatever_copies_there_are():
    raw = [{"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"n":1}'}}]
    blocks = [{"type": "text", "text": "I look."}, {"type": "tool_use", "id": "a", "name": "f", "input": {"n": 1}}]
    expected = (Call("a", "f", '{"n":1}'),)
    both = ai(content=blocks, tool_calls=CALLS[:1], additional_kwargs={"tool_calls": raw})
    assert message(both).calls == expected
    assert message(both).text == "I look."
    assert message(ai(additional_kwargs={"tool_calls": raw})).calls == expected


def test_reasoning_is_found_where_providers_put_it():
    assert message(ai(content=[{"type": "thinking", "thinking": "hm", "signature": "x"}])).reasoning == "hm"
    assert message(ai(additional_kwargs={"reasoning_content": "hm"})).reasoning == "hm"
    summary = {"summary": [{"type": "summary_text", "text": "so"}, {"type": "summary_text", "text": "it is"}]}
    assert message(ai(additional_kwargs={"reasoning": summary})).reasoning == "so\nit is"


def test_an_image_is_priced_and_never_text():
    block = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 4_000}}
    found = message({"type": "human", "content": ["see", block]})
    assert found.text == "see"
    assert found.image_tokens > 0
    assert "AAAA" not in found.other


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"type": "human", "data": {}}, "$.data.content"),
        (ai(content=7), "$.data.content"),
        (ai(content=[7]), "$.data.content[0]"),
        (ai(tool_calls={"a": 1}), "$.data.tool_calls"),
        (ai(tool_calls=["a"]), "$.data.tool_calls[0]"),
        (ai(tool_calls=[{"name": 7}]), "$.data.tool_calls[0].name"),
    ],
)
def test_what_is_malformed_is_named_with_its_place(value, path):
    with pytest.raises(MalformedError) as caught:
        message(value)
    assert caught.value.path == path


def edited(value, **changes):
    raw = json.dumps(value).encode()
    return json.loads(kept_bytes(raw, message(value), Kept(0, **changes)))


def test_a_call_goes_with_its_copies():
    raw = [{"id": c["id"], "type": "function", "function": {"name": c["name"], "arguments": "{}"}} for c in CALLS]
    blocks = [{"type": "text", "text": "I look."}, *({"type": "tool_use", "id": c["id"]} for c in CALLS)]
    body = edited(
        ai(content=blocks, tool_calls=CALLS, additional_kwargs={"tool_calls": raw, "x": 1}),
        without_calls=frozenset({0}),
    )["data"]
    assert body["tool_calls"] == CALLS[1:]
    assert body["additional_kwargs"] == {"tool_calls": raw[1:], "x": 1}
    assert body["content"] == [blocks[0], blocks[2]]


def test_a_message_of_nothing_but_lost_calls_says_so():
    assert edited(ai(tool_calls=CALLS), without_calls=frozenset({0, 1}))["data"]["content"] == CALL_REMOVED


def test_a_stub_takes_the_copy_in_the_artifact_with_it():
    text = "a long line of output\n" * 40
    value = {
        "type": "tool",
        "data": {"content": text, "tool_call_id": "a", "artifact": {"out": text}, "status": "error"},
    }
    body = edited(value, stubs={0: "[cleared]"})["data"]
    assert body == {"content": "[cleared]", "tool_call_id": "a", "artifact": {"out": "[cleared]"}, "status": "error"}


@pytest.mark.parametrize("writes", [nested_bytes, flat_bytes, constructor_bytes])
@pytest.mark.parametrize("role", [Role.USER, Role.ASSISTANT])
def test_a_handoff_reads_back(writes, role):
    found = message(json.loads(writes(Handoff(role, 'so "far"\nit goes'))))
    assert (found.role, found.text) == (role, 'so "far"\nit goes')


def test_a_handoff_is_constructed_from_the_module_of_its_neighbours():
    listed = langchain.constructed(langchain.conversation(12))
    for turn in listed:
        turn["id"] = ["langchain_core", "messages", turn["id"][-1]]
    content = json.dumps(listed).encode() + b"\n"
    (row,) = rows([content], "x.jsonl")
    made = json.loads(compacted(row).content)
    assert {tuple(turn["id"][:-1]) for turn in made} == {("langchain_core", "messages")}


def test_other_files_are_not_taken_for_ours():
    assert not detect([{"type": "system", "content": "Conversation compacted", "uuid": "1"}])
    assert not detect([{"type": "user", "message": {"role": "user", "content": "x"}}])
    assert not detect([{"role": "user", "content": "x"}])
    assert detect([{"type": "system", "content": "x"}, {"type": "human", "content": "x"}])


def test_lists_on_several_lines_are_a_conversation_each():
    content = langchain.bare(9) + langchain.bare(1)
    found = list(rows(content.splitlines(keepends=True), "x.jsonl"))
    assert [len(row.conversation.messages) for row in found] == [46, 6]
    assert b"".join(row.raw for row in found) == content


@pytest.mark.skipif(not FILES, reason="the shared transcripts are not beside the project")
@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_real_files_are_compacted_and_read_back(path):
    content = path.read_bytes()
    found = list(rows(content.splitlines(keepends=True), path.name))
    assert b"".join(row.raw for row in found) == content
    assert not [fault for row in found for fault in row.faults]
    for row in found:
        everything = [Kept(n) for n in range(len(row.conversation.messages))]
        assert row.render(everything) == row.raw
        assert not broken(row.conversation, everything)
        done = compacted(row, context_window=4_000)
        again = row.read_back(done.content)
        assert len(again.messages) <= len(row.conversation.messages)
        assert done.report.outcome in ("summarised", "pruned", "untouched")
