"""Items of the Responses API: which are one message, what is opaque, and how they are written back."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactor.core.handoff import PREFIX
from compactor.core.messages import CALL_REMOVED, Kept, Role
from compactor.core.verify import broken
from compactor.formats import rows
from compactor.formats.openai_messages import MalformedError
from compactor.formats.openai_responses import detect
from compactor.formats.responses_items import Kind, bundled, item
from tests.offline import compacted
from tests.samples import openai_responses as samples
from tests.samples.openai_responses import said

SHARED = Path(__file__).parents[2] / "shared" / "transcripts" / "openai-responses"
FILES = sorted(SHARED.glob("*.json*")) if SHARED.is_dir() else []
ASK = {"type": "message", "role": "user", "content": "go on"}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}]}


def call(name="a"):
    return {"type": "function_call", "call_id": name, "name": "f", "arguments": "{}"}


def output(name="a", text="done"):
    return {"type": "function_call_output", "call_id": name, "output": text}


def messages(*items):
    return bundled([item(one) for one in items])[0]


@pytest.mark.parametrize(
    ("items", "sizes"),
    [
        ((ASK, THOUGHT, call(), output()), [1, 2, 1]),
        ((ASK, THOUGHT, said("I look."), call("a"), call("b"), output("a"), output("b"), said("ok")), [1, 4, 1, 1, 1]),
        ((THOUGHT, call("a"), THOUGHT, call("b"), output("a"), output("b")), [4, 1, 1]),
        ((said("one"), said("two")), [1, 1]),
        ((said("one"), THOUGHT, said("two")), [1, 2]),
        ((said(f"{PREFIX} ..."), call(), output()), [1, 1, 1]),
        ((ASK, ASK), [1, 1]),
    ],
)
def test_items_of_one_answer_are_one_message(items, sizes):
    _, entries = bundled([item(one) for one in items])
    assert [sum(e.index == n for e in entries) for n in range(len(sizes))] == sizes


@pytest.mark.parametrize(
    ("value", "name", "arguments"),
    [
        ({"type": "custom_tool_call", "call_id": "a", "name": "apply_patch", "input": "*** Begin"}, "apply_patch",
         '{"input":"*** Begin"}'),
        ({"type": "local_shell_call", "call_id": "a", "action": {"command": ["ls"]}}, "shell", '{"command":["ls"]}'),
        ({"type": "apply_patch_call", "call_id": "a", "operation": {"path": "a"}}, "apply_patch", '{"path":"a"}'),
        ({"type": "computer_call", "id": "a", "action": {"type": "click"}}, "computer", '{"type":"click"}'),
    ],
)  # fmt: skip
def test_calls_of_every_type_are_calls(value, name, arguments):
    (made,) = item(value).message.calls
    assert (made.id, made.name, made.arguments) == ("a", name, arguments)


def test_outputs_are_text_or_parts():
    parts = [{"type": "input_text", "text": "seen"}, {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}]
    (found,) = item(output(text=parts)).message.results
    assert found.text.startswith("seen\n[image")
    assert found.image_tokens > 0
    assert item(output(text={"type": "input_text", "text": "one part"})).message.results[0].text == "one part"


def test_what_the_api_served_is_charged_and_what_is_unknown_is_nothing():
    assert item({"type": "web_search_call", "id": "ws", "action": {"query": "x"}}).kind is Kind.SERVED
    assert item({"type": "ghost_snapshot", "id": "x"}) is None
    assert item({"role": "user", "content": "no type"}).message.role is Role.USER


def test_what_is_malformed_is_named_with_its_place():
    with pytest.raises(MalformedError) as caught:
        item({"type": "message", "role": "user", "content": [7]})
    assert caught.value.path == "$.content[0]"


def test_before_an_item_of_compaction_nothing_counts():
    opaque = {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAAA" * 900}
    content = b"".join(json.dumps(i).encode() + b"\n" for i in [*samples.items(2), opaque, *samples.items(12, 50)])
    (row,) = rows(content.splitlines(keepends=True), "x.jsonl")
    assert row.conversation.messages[0].other == '{"type":"compaction"}'
    assert row.conversation.messages[1].text.startswith("Turn 50:")
    done = compacted(row)
    assert json.dumps(opaque).encode() in done.content


def test_a_message_of_nothing_but_lost_calls_says_so_and_its_reasoning_goes():
    content = b"".join(json.dumps(i).encode() + b"\n" for i in [ASK, THOUGHT, call("a"), call("b"), ASK])
    (row,) = rows(content.splitlines(keepends=True), "x.jsonl")
    new = row.render([Kept(0), Kept(1, without_calls=frozenset({0, 1})), Kept(2)])
    made = [json.loads(line) for line in new.splitlines()]
    assert [m["type"] for m in made] == ["message"] * 3
    assert made[1]["content"][0]["text"] == CALL_REMOVED


def test_one_lost_call_takes_only_itself():
    content = b"".join(json.dumps(i).encode() + b"\n" for i in [ASK, THOUGHT, call("a"), call("b"), output("b"), ASK])
    (row,) = rows(content.splitlines(keepends=True), "x.jsonl")
    new = row.render([Kept(0), Kept(1, without_calls=frozenset({0})), Kept(2), Kept(3)])
    kinds = [json.loads(line)["type"] for line in new.splitlines()]
    assert kinds == ["message", "reasoning", "function_call", "function_call_output", "message"]


def test_chat_messages_with_a_type_are_not_taken_for_items():
    assert not detect([{"type": "message", "role": "assistant", "content": "", "tool_calls": []}])
    assert not detect([{"type": "message", "role": "user", "content": "x"}, {"role": "tool", "content": "y"}])
    assert not detect([{"type": "message", "role": "assistant", "content": [{"type": "compaction", "content": "x"}]}])
    assert detect([{"type": "message", "role": "user", "content": "x"}])


ITEMS = st.lists(
    st.sampled_from([ASK, THOUGHT, said("words"), call("a"), call("b"), output("a"), output("b"), {"type": "x"}]),
    max_size=12,
)


@given(ITEMS)
def test_whatever_the_order_everything_is_somewhere_and_leaves_as_it_came(items):
    content = b"".join(json.dumps(i).encode() + b"\n" for i in [ASK, *items])
    (row,) = rows(content.splitlines(keepends=True), "x.jsonl")
    found = row.conversation.messages
    assert row.render([Kept(n) for n in range(len(found))]) == content
    assert sum(len(m.calls) for m in found) == sum(i["type"] == "function_call" for i in items)
    assert sum(len(m.results) for m in found) == sum(i["type"] == "function_call_output" for i in items)


@pytest.mark.skipif(not FILES, reason="the shared transcripts are not beside the project")
@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_real_files_are_compacted_and_read_back(path):
    content = path.read_bytes()
    (row,) = rows(content.splitlines(keepends=True), path.name)
    everything = [Kept(n) for n in range(len(row.conversation.messages))]
    assert row.render(everything) == row.raw
    assert not broken(row.conversation, everything)
    done = compacted(row)
    again = row.read_back(done.content)
    assert sum(m.text.startswith(PREFIX) for m in again.messages) == (done.report.outcome == "summarised")
