"""Anthropic Messages: which blocks are calls and results, where does the context begin, what bytes change?"""

import json
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest

from compactor.core.handoff import PREFIX, is_handoff
from compactor.core.messages import CALL_REMOVED, Call, Handoff, Kept, Message, Result, Role, groups
from compactor.core.prune import STUB_SENTENCE
from compactor.core.settings import Trigger
from compactor.core.tokens import PER_IMAGE
from compactor.core.verify import broken
from compactor.formats import rows
from tests.offline import compacted
from tests.samples import anthropic as sample
from tests.samples import talk

REAL = Path(__file__).resolve().parents[2] / "shared" / "transcripts" / "anthropic"


def text(words):
    return {"type": "text", "text": words}


def use(call_id, kind="tool_use", **arguments):
    return {"type": kind, "id": call_id, "name": "Read", "input": arguments}


def result(call_id, content="out", kind="tool_result", **members):
    return {"type": kind, "tool_use_id": call_id, "content": content, **members}


def user(content):
    return {"role": "user", "content": content}


def says(*content):
    return {"role": "assistant", "content": list(content)}


def request(*messages, **members):
    return json.dumps({**members, "messages": list(messages)}).encode() + b"\n"


def only(content, name="x.jsonl"):
    [row] = rows(BytesIO(content), name)
    return row


def read(*messages, **members):
    return only(request(*messages, tools=[{"name": "Read", "input_schema": {}}], **members)).conversation.messages


def untouched(row):
    return row.render([Kept(n) for n in range(len(row.conversation.messages))]) == row.raw


# How it is told.

TOLD = {
    "strings alone are OpenAI's": (request(user("a"), {"role": "assistant", "content": "b"}), "openai-chat"),
    "so are parts of text": (request(user([text("a")])), "openai-chat"),
    "a system prompt beside the messages": (request(user("a"), system="be brief"), "anthropic"),
    "in blocks": (request(user("a"), system=[text("be brief")]), "anthropic"),
    "but not beside one among them": (
        request({"role": "system", "content": "b"}, user("a"), system="x"),
        "openai-chat",
    ),
    "tools with input_schema": (request(user("a"), tools=[{"name": "f", "input_schema": {}}]), "anthropic"),
    "tools of OpenAI's": (request(user("a"), tools=[{"type": "function", "function": {}}]), "openai-chat"),
    "a call": (request(user("a"), says(use("1"))), "anthropic"),
    "a result": (request(user([result("1")])), "anthropic"),
    "a result of an unknown kind": (request(user([result("1", kind="new_tool_result")])), "anthropic"),
    "a thought": (request(says({"type": "thinking", "thinking": "hm", "signature": "s"})), "anthropic"),
    "a thought in parts is another's": (request(says({"type": "thinking", "thinking": [text("hm")]})), "openai-chat"),
    "a thought beside OpenAI's calls": (
        request({**says({"type": "thinking", "thinking": "hm"}), "tool_calls": []}),
        "openai-chat",
    ),
    "a picture with a source": (request(user([{"type": "image", "source": {"type": "url"}}])), "anthropic"),
    "one message a line": (json.dumps(user([result("1")])).encode(), "anthropic"),
    "an array of messages": (json.dumps([user("a"), says(use("1"))]).encode(), "anthropic"),
    "the answer of the API": (json.dumps({"id": "m", "type": "message", **says(use("1"))}).encode(), "anthropic"),
}


@pytest.mark.parametrize(("content", "name"), TOLD.values(), ids=TOLD)
def test_it_is_told_by_what_only_it_has(content, name):
    assert only(content).format.name == name


# What is read.

SEARCH = use("s1", "server_tool_use", query="q")
FOUND = {"type": "web_search_result", "url": "u", "title": "t", "encrypted_content": "A" * 1600}
READ = {
    "words": (user("a"), Message(Role.USER, "a")),
    "blocks of words, and bare strings": (user([text("a"), "b"]), Message(Role.USER, "a\nb")),
    "nothing": (user([]), Message(Role.USER)),
    "a call beside words and a thought": (
        says({"type": "thinking", "thinking": "hm", "signature": "s"}, text("a"), use("1", x=1)),
        Message(Role.ASSISTANT, "a", (Call("1", "Read", '{"x":1}'),), reasoning="hm"),
    ),
    "a call without input": (says({"type": "tool_use", "id": "1", "name": "f"}), (Call("1", "f", "{}"),)),
    "results alone": (
        user([result("1", "x"), result("2", [text("y"), text("z")], is_error=True)]),
        Message(Role.TOOL, results=(Result("1", "x"), Result("2", "y\nz", failed=True))),
    ),
    "a result beside words": (
        user([result("1", "x"), text("go")]),
        Message(Role.USER, "go", results=(Result("1", "x"),)),
    ),
    "a result without content": (
        user([{"type": "tool_result", "tool_use_id": "1"}]),
        Message(Role.TOOL, results=(Result("1", ""),)),
    ),
    "a result of an unknown kind": (
        user([result("1", {"a": 1}, "new_tool_result")]),
        Message(Role.TOOL, results=(Result("1", '{"a":1}', shaped=True),)),
    ),
    "a tool that another server ran": (
        says(use("m1", "mcp_tool_use", x=1), result("m1", [text("y")], "mcp_tool_result"), text("done")),
        Message(Role.ASSISTANT, "done", (Call("m1", "Read", '{"x":1}'),), (Result("m1", "y"),)),
    ),
    "a search that failed": (
        says(SEARCH, result("s1", {"type": "web_search_tool_result_error"}, "web_search_tool_result")),
        (Result("s1", '{"type":"web_search_tool_result_error"}', failed=True, shaped=True),),
    ),
    "a search still under way": (
        says(SEARCH),
        Message(Role.ASSISTANT, other='{"type":"server_tool_use","id":"s1","name":"Read","input":{"query":"q"}}'),
    ),
    "reasoning that came from elsewhere": (
        says(text("<think>\nhm\n</think>"), text("a")),
        Message(Role.ASSISTANT, "a", reasoning="hm"),
    ),
    "the same words of a user": (user([text("<think>\nhm\n</think>")]), Message(Role.USER, "<think>\nhm\n</think>")),
    "a thought that is hidden": (
        says({"type": "redacted_thinking", "data": "QUJD" * 400}),
        Message(Role.ASSISTANT, other="[redacted thinking]"),
    ),
    "a picture": (
        user([{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD" * 400}}]),
        Message(Role.USER, other="[image: image/png, 1,600 characters of base64]", image_tokens=PER_IMAGE),
    ),
    "a picture in a result": (
        user([result("1", [{"type": "image", "source": {"type": "url", "url": "http://x/y.png"}}])]),
        (Result("1", "[image: http://x/y.png]", image_tokens=PER_IMAGE),),
    ),
    "a citation": (says({**text("a"), "citations": [{"cited_text": "x"}]}), Message(Role.ASSISTANT, "a")),
}  # fmt: skip


@pytest.mark.parametrize(("value", "expected"), READ.values(), ids=READ)
def test_a_message_is_read(value, expected):
    [message] = read(value)
    assert expected in (message, message.calls, message.results)


def test_what_is_found_is_priced_though_it_is_encrypted():
    [message] = read(says(SEARCH, result("s1", [FOUND], "web_search_tool_result")))
    [found] = message.results
    assert "A" * 100 not in found.text
    assert found.image_tokens == 300


def test_the_users_answer_to_a_tool_is_never_pruned():
    asked = {**use("1"), "name": "AskUserQuestion"}
    assert read(says(asked), user([result("1", "blue")]))[1].results[0].protected


def test_tools_are_charged_for_and_the_system_prompt_stands_first():
    conversation = only(sample.request(1)).conversation
    assert conversation.preamble.startswith('[{"name":"read_file"')
    assert conversation.messages[0] == Message(Role.SYSTEM, "You are a coding assistant. Be brief.")


FAULTY = {
    "$.messages[1].content: missing; there is role": request(user([result("1")]), {"role": "user"}),
    "$.messages[1].content: 5 is not a string or an array of blocks": request(user([result("1")]), user(5)),
    "$.messages[0].content[1]: 5 is not a block: an object with a type, or a string": request(user([result("1"), 5])),
    "$.messages[0].content[0].id: 5 is not a string": request(says(use(5))),
    "$.messages[0].content[0].content[0].text: 5 is not a string": request(user([result("1", [text(5)])])),
    "$.system: 5 is not a string or an array of blocks": request(user([result("1")]), system=5),
}


@pytest.mark.parametrize(("what", "content"), FAULTY.items(), ids=FAULTY)
def test_what_is_malformed_is_named_and_left(what, content):
    row = only(content)
    assert [str(fault) for fault in row.faults] == [f"x.jsonl:1: {what}"]
    assert row.render([]) == row.raw == content


# Pairing.


def test_a_tool_that_the_api_ran_is_paired_within_its_message():
    search = result("s1", [FOUND], "web_search_tool_result")
    messages = read(user("a"), says(text("I look"), SEARCH, search, use("1")), user([result("1")]), says(text("b")))
    assert [(g.start, g.stop, g.open, g.orphans) for g in groups(messages)] == [
        (0, 1, (), ()),
        (1, 3, (), ()),
        (3, 4, (), ()),
    ]


def test_an_answer_that_went_on_in_the_next_loses_nothing():
    """The API broke off (`pause_turn`): the call ends one answer, its result begins the next."""
    talks = [message for n in range(14) for message in sample.turn(n)]
    search = [result("s1", [FOUND], "web_search_tool_result"), use("1")]
    tail = [user("more"), says(SEARCH), says(*search), user([result("1")]), says(text("Done with it."))]
    row = only(request(*talks, *tail, system="s"))
    done = compacted(row)
    assert done.report.outcome == "summarised"
    assert json.loads(done.content)["messages"][-5:] == tail


# Bytes.


def kept(messages, index, **changes):
    """The bytes of a request, spelled in an unusual way, after a change of one message."""
    raw = request(*messages, model="m", temperature=1.5).replace(b'"text"', b'"te\\u0078t"').replace(b"1.5", b"1.50")
    row = only(raw)
    pieces = [Kept(n, **(changes if n == index else {})) for n in range(len(messages))]
    return raw, row.render(pieces)


def test_a_stub_takes_the_place_of_the_content_and_of_nothing_else():
    marked = result("1", "long", is_error=True, cache_control={"type": "ephemeral"})
    raw, made = kept([user("a"), says(use("1")), user([marked, text("go")])], 2, stubs={0: "stub"})
    assert made == raw.replace(b'"long"', b'"stub"')


def test_a_mark_for_the_cache_inside_the_content_moves_to_the_result():
    inner = [text("long"), {**text("more"), "cache_control": {"type": "ephemeral"}}]
    _, made = kept([user("a"), says(use("1")), user([result("1", inner)])], 2, stubs={0: "stub"})
    block = json.loads(made)["messages"][2]["content"][0]
    assert block == result("1", "stub", cache_control={"type": "ephemeral"})


def test_results_go_one_by_one_and_words_beside_them_stay():
    three = [result("1"), result("2"), result("3"), text("go")]
    _, made = kept([user(three)], 0, without_results=frozenset({0, 2}), stubs={1: "stub"})
    assert json.loads(made)["messages"][0]["content"] == [result("2", "stub"), text("go")]


def test_calls_go_one_by_one_and_thoughts_keep_their_signature():
    thought = {"type": "thinking", "thinking": "h\u00e9", "signature": "c2ln"}
    raw, made = kept([says(thought, use("1"), use("2"), text("a"))], 0, without_calls=frozenset({0}))
    assert json.loads(made)["messages"][0]["content"] == [thought, use("2"), text("a")]
    block = json.dumps(thought).encode()
    assert block in raw
    assert block in made


def test_a_message_that_only_called_says_so():
    thought = {"type": "thinking", "thinking": "h", "signature": "c2ln"}
    _, made = kept([says(thought, use("1"), use("2"))], 0, without_calls=frozenset({0, 1}))
    assert json.loads(made)["messages"][0]["content"] == [thought, text(CALL_REMOVED)]


def test_only_results_whose_content_may_be_words_are_pruned():
    long = "word " * 400
    talks = [message for n in range(8) for message in sample.turn(n)]
    mine = [
        user("look"),
        says(SEARCH, result("s1", [{**FOUND, "title": long}], "web_search_tool_result"), text("found")),
        says(use("m1", "mcp_tool_use"), result("m1", [text(long)], "mcp_tool_result"), text("asked")),
    ]
    row = only(request(*mine, *talks, system="s"))
    done = compacted(row, trigger_mode=Trigger.AUTO, threshold=0.9, context_window=7_000)
    assert done.report.outcome == "pruned", done.report
    made = json.loads(done.content)["messages"]
    assert made[1] == mine[1]
    assert made[2]["content"][1]["content"].startswith(STUB_SENTENCE)
    assert {**made[2]["content"][1], "content": 0} == {**mine[2]["content"][1], "content": 0}


# The API's own compaction.

SUMMARY = {"type": "compaction", "content": "## Summary\nThe port is 8443."}
OLD = [user("old question"), says(use("1")), user([result("1")]), says(text("old answer"))]
NEW = says(SUMMARY, text("I go on."))


def grown(turns, first=0):
    return sample.messages(turns, first)


def test_the_context_begins_with_the_newest_compaction():
    row = only(request(*OLD, says(SUMMARY), user("b"), NEW, user("c"), system="s"))
    assert [m.text for m in row.conversation.messages] == ["s", f"{SUMMARY['content']}\nI go on.", "c"]
    assert untouched(row)


def test_a_compaction_that_failed_is_none():
    row = only(request(*OLD, says({"type": "compaction", "content": None}, text("b"))))
    assert len(row.conversation.messages) == 5
    assert untouched(row)


@pytest.mark.parametrize("lines", [False, True])
def test_what_the_api_ignores_stays_and_its_compaction_too(lines):
    every = [*OLD, NEW, *grown(14)]
    row = only(b"".join(json.dumps(m).encode() + b"\n" for m in every) if lines else request(*every))
    done = compacted(row)
    assert done.report.outcome == "summarised"
    made = [json.loads(line) for line in done.content.splitlines()] if lines else json.loads(done.content)["messages"]
    assert made[:5] == [*OLD, NEW]
    assert sum(str(m["content"]).startswith(PREFIX) for m in made) == 1
    assert len(made) < len(every)


def test_what_the_api_ignores_goes_with_its_compaction():
    """Without the block the API would read again what the block stands for."""
    row = only(request(*OLD, NEW, *grown(14), system="s"))
    done = compacted(row, protect_first=1)
    made = json.loads(done.content)
    assert made["messages"][0]["content"].startswith(PREFIX)
    assert "old question" not in done.content.decode()
    assert made["system"] == "s"


def test_a_compaction_after_our_handoff_is_where_the_context_begins():
    first = compacted(only(request(*grown(14), system="s")))
    value = json.loads(first.content)
    value["messages"] += [NEW, *grown(14, 100)]
    done = compacted(only(json.dumps(value).encode()))
    assert done.report.outcome == "summarised"
    made = json.loads(done.content)["messages"]
    assert NEW in made
    assert sum(map(is_handoff, only(done.content).conversation.messages)) == 1


def test_without_the_system_message_its_key_goes():
    row = only(request(user("a"), says(use("1")), user([result("1")]), system="s", top_k=1))
    made = row.render([Handoff(Role.USER, "h"), Kept(3)])
    assert json.loads(made) == {"top_k": 1, "messages": [user("h"), user([result("1")])]}
    kept_it = row.render([Kept(0), Handoff(Role.USER, "h"), Kept(3)])
    assert json.loads(kept_it) == {"system": "s", "top_k": 1, "messages": [user("h"), user([result("1")])]}


def test_kept_messages_are_the_same_bytes():
    row = only(sample.request(14).replace(b'"name"', b'"n\\u0061me"'))
    done = compacted(row, prune_chars=1_000_000)
    before = [json.dumps(m).replace('"name"', '"n\\u0061me"').encode() for m in json.loads(row.raw)["messages"]]
    after = json.loads(done.content)["messages"]
    assert len(after) > 5
    same = [raw for raw in before if raw in done.content]
    assert len(same) == len(after) - 1
    assert talk(13)["answer"].encode() in done.content


# Files that real tools wrote.

FILES = sorted(REAL.glob("*.json*")) if REAL.is_dir() else []


@pytest.mark.skipif(not FILES, reason=f"there are no transcripts in {REAL}")
@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name[:20])
def test_a_real_file(path):
    row = only(path.read_bytes(), path.name)
    assert row.format.name == "anthropic"
    assert not row.faults
    assert row.raw == path.read_bytes()
    assert untouched(row)
    done = compacted(row)
    if len(row.conversation.messages) == 1:
        assert (done.report.outcome, done.content) == ("untouched", row.raw)
        return
    assert done.report.outcome == "summarised", done.report
    again = row.read_back(done.content)
    assert sum(map(is_handoff, again.messages)) == 1
    assert not broken(again, [Kept(n) for n in range(len(again.messages))])
    tail = row.conversation.messages[-1]
    assert replace(again.messages[-1], results=()) == replace(tail, results=())
    assert len(done.content) < len(row.raw)
