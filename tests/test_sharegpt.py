"""ShareGPT and Hermes trajectories: whose turn is it, what do tags hold, and are they balanced afterwards?"""

import json
import re
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactor.core.handoff import PREFIX, is_handoff
from compactor.core.messages import CALL_REMOVED, Call, Handoff, Kept, Message, Result, Role, applied
from compactor.core.prune import STUB_SENTENCE
from compactor.core.settings import Trigger
from compactor.core.verify import broken
from compactor.formats import rows
from compactor.formats.sharegpt_edits import kept_bytes
from compactor.formats.sharegpt_tags import between, tagged, without
from compactor.formats.sharegpt_turns import message
from tests.offline import compacted
from tests.samples import sharegpt as sample
from tests.samples.sharegpt import tag

REAL = Path(__file__).resolve().parents[2] / "shared" / "transcripts" / "sharegpt"


def turn(speaker, value):
    return {"from": speaker, "value": value}


def row_of(*turns, **members):
    return only(json.dumps({**members, "conversations": list(turns)}).encode() + b"\n")


def only(content, name="x.jsonl"):
    [row] = rows(BytesIO(content), name)
    return row


def call(name, **arguments):
    return tag("tool_call", {"name": name, "arguments": arguments})


def response(name, content, call_id="c"):
    return tag("tool_response", {"tool_call_id": call_id, "name": name, "content": content})


# How it is told.

TOLD = {
    "turns with from and value": json.dumps({"conversations": [turn("human", "a")]}),
    "turns with role and content": json.dumps({"conversations": [{"role": "user", "content": "a"}]}),
    "an empty list": json.dumps({"id": 1, "conversations": []}),
    "a turn a line": json.dumps(turn("human", "a")) + "\n" + json.dumps(turn("gpt", "b")),
    "an array of turns": json.dumps([turn("human", "a"), turn("gpt", "b")]),
    "an array of conversations": json.dumps([{"conversations": [turn("human", "a")]}]),
}


@pytest.mark.parametrize("content", TOLD.values(), ids=TOLD)
def test_it_is_told_by_its_keys(content):
    row = only(content.encode())
    assert (row.format.name, row.faults) == ("sharegpt", ())
    assert row.render([Kept(n) for n in range(len(row.conversation.messages if row.conversation else ()))]) == row.raw


def test_the_first_object_with_turns_decides():
    theirs, mine = b'{"messages": [{"role": "user", "content": "a"}]}\n', b'{"conversations": []}\n'
    for content, name in ((theirs + mine, "openai-chat"), (b'{"id": 1}\n' + mine + theirs, "sharegpt")):
        assert {row.format.name for row in rows(BytesIO(content), "x.jsonl")} == {name}


# What is read.

READ = {
    "a user": (turn("human", "a"), Message(Role.USER, "a")),
    "by another name": (turn("user", "a"), Message(Role.USER, "a")),
    "a model": (turn("gpt", " a\n"), Message(Role.ASSISTANT, " a\n")),
    "by another name, too": (turn("chatgpt", "a"), Message(Role.ASSISTANT, "a")),
    "tags in a user's words": (turn("human", call("f")), Message(Role.USER, call("f"))),
    "a call": (
        turn("function_call", '{"name": "f", "arguments": {"x": 1}}'),
        Message(Role.ASSISTANT, calls=(Call("", "f", '{"x":1}'),)),
    ),
    "two calls": (
        turn("function_call", '[{"name": "f", "arguments": "{}"}, {"id": "7", "name": "g"}]'),
        Message(Role.ASSISTANT, calls=(Call("", "f", "{}"), Call("7", "g", "{}"))),
    ),
    "a call in words": (turn("function_call", "f(1)"), Message(Role.ASSISTANT, calls=(Call("", "", "f(1)"),))),
    "a result": (turn("observation", '{"a": 1}'), Message(Role.TOOL, results=(Result("", '{"a": 1}'),))),
    "a result of a tool": (turn("tool", "out"), Message(Role.TOOL, results=(Result("", "out"),))),
    "a thought": (turn("gpt", "<think>\nhm\n\n</think>\na"), Message(Role.ASSISTANT, "a", reasoning="hm\n")),
    "no thought": (turn("gpt", "<think>\n</think>\na"), Message(Role.ASSISTANT, "a")),
    "a thought without end": (turn("gpt", "<think>\nhm"), Message(Role.ASSISTANT, "<think>\nhm")),
    "a thought later on is words": (turn("gpt", "a <think>hm</think>"), Message(Role.ASSISTANT, "a <think>hm</think>")),
    "calls in tags": (
        turn("gpt", f"<think>\nhm\n</think>\na\n{call('f', x=1)}\n{call('g')}"),
        Message(Role.ASSISTANT, "a", (Call("", "f", '{"x":1}'), Call("", "g", "{}")), reasoning="hm"),
    ),
    "a call that holds a tag": (
        turn("gpt", call("f", x="</tool_call> <tool_call>")),
        Message(Role.ASSISTANT, "", (Call("", "f", '{"x":"</tool_call> <tool_call>"}'),)),
    ),
    "a call with line ends in its strings": (
        turn("gpt", '<tool_call>{"name": "f", "arguments": {"x": "1\n2"}}</tool_call>'),
        Message(Role.ASSISTANT, "", (Call("", "f", '{"x":"1\\n2"}'),)),
    ),
    "a call that is no JSON": (
        turn("gpt", "<tool_call>\n{f: 1}\n</tool_call>"),
        Message(Role.ASSISTANT, "", (Call("", "", "{f: 1}"),)),
    ),
    "a tag that is spoken of": (
        turn("gpt", f"I write <tool_call> now.\n{call('f')}"),
        Message(Role.ASSISTANT, "I write <tool_call> now.", (Call("", "f", "{}"),)),
    ),
    "results in tags": (
        turn("tool", f"{response('f', 'x', 'c1')}\n{response('g', {'n': 1}, 'c2')}"),
        Message(Role.TOOL, results=(Result("c1", "x", "f"), Result("c2", '{"n":1}', "g"))),
    ),
    "a result that holds a tag": (
        turn("tool", response("f", "</tool_response><tool_response>")),
        Message(Role.TOOL, results=(Result("c", "</tool_response><tool_response>", "f"),)),
    ),
    "a result without an envelope": (
        turn("tool", '<tool_response>\n{"a": 1}\n</tool_response>'),
        Message(Role.TOOL, results=(Result("", '{"a": 1}'),)),
    ),
    "words among results": (
        turn("tool", f"Note.\n{response('f', 'x')}"),
        Message(Role.TOOL, results=(Result("c", "x", "f"),), other="Note."),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("value", "expected"), READ.values(), ids=READ)
def test_a_turn_is_read(value, expected):
    assert row_of(value).conversation.messages == (expected,)


def test_base64_is_priced_and_not_shown():
    [message] = row_of(turn("human", f"see data:image/png;base64,{'QUJD' * 400}")).conversation.messages
    assert message.text == "see [image/png, 1,600 characters of base64]"
    assert message.image_tokens == 1067


def test_keys_beside_the_turns_are_read_and_stay():
    row = only(sample.row(1))
    assert row.conversation.messages[0] == Message(Role.SYSTEM, "Be brief.")
    assert row.conversation.preamble == json.dumps(sample.TOOLS)
    value = json.loads(row.render([Kept(0), Handoff(Role.USER, "h"), Kept(5)]))
    assert (value["id"], value["system"], value["tools"]) == ("x-1", "Be brief.", json.dumps(sample.TOOLS))
    assert [t["value"] for t in value["conversations"]] == ["h", sample.plain(0)[-1]["value"]]


def test_a_turn_of_nobody_known_stays_in_its_place():
    row = row_of(turn("human", "a"), turn("narrator", "night falls"), turn("gpt", "b"), turn("human", "c"))
    assert [m.text for m in row.conversation.messages] == ["a", "b", "c"]
    made = json.loads(row.render([Kept(0), Handoff(Role.ASSISTANT, "h"), Kept(2)]))["conversations"]
    assert [t["value"] for t in made] == ["a", "night falls", "h", "c"]


FAULTY = {
    "$.conversations[1].value: missing; there is from, text": [turn("human", "a"), {"from": "gpt", "text": "b"}],
    "$.conversations[0].value: null is not a string": [turn("human", None)],
    "$.conversations[1]: 5 is not an object": [turn("human", "a"), 5],
    "$.conversations[1].from: missing": [turn("human", "a"), {"role": "user", "content": "b"}],
}


@pytest.mark.parametrize(("what", "turns"), FAULTY.items(), ids=FAULTY)
def test_what_is_malformed_is_named_and_left(what, turns):
    row = row_of(*turns)
    assert [str(fault) for fault in row.faults] == [f"x.jsonl:1: {what}"]
    assert row.render([]) == row.raw


SPELLED = {
    "human and gpt": ([turn("human", "a"), turn("gpt", "b")], turn("human", "h")),
    "user and assistant": ([turn("user", "a"), turn("assistant", "b")], turn("user", "h")),
    "role and content": (
        [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}],
        {"role": "user", "content": "h"},
    ),
}


@pytest.mark.parametrize(("turns", "expected"), SPELLED.values(), ids=SPELLED)
def test_a_handoff_is_spelled_like_the_turns_around_it(turns, expected):
    made = row_of(*turns).render([Handoff(Role.USER, "h"), Kept(1)])
    assert json.loads(made)["conversations"] == [expected, turns[1]]


# Bytes.


def kept(value, spell=json.dumps, **changes):
    raw = spell(value).encode()
    read = message(value)
    piece = Kept(0, **changes)
    made = kept_bytes(raw, read, piece)
    assert message(json.loads(made)) == applied(read, piece)
    return raw, made


def test_a_stub_takes_the_place_of_one_result_and_its_neighbours_keep_their_spelling():
    contents = {"f": "caf\u00e9 one", "g": "long", "h": "\U0001f600"}
    value = turn("tool", "\n".join(response(name, content) for name, content in contents.items()))
    raw, made = kept(value, stubs={1: 'a "stub"'})
    assert made == raw.replace(rb"\"long\"", rb"\"a \\\"stub\\\"\"")


@pytest.mark.parametrize("content", ["x", {"n": [1, "\u00e9"]}, None, 1.5])
def test_a_stub_takes_the_place_of_any_content(content):
    _, made = kept(turn("tool", f"{response('f', content)}\n{response('g', 'x')}"), stubs={0: "stub"})
    assert json.loads(made)["value"] == f"{response('f', 'stub')}\n{response('g', 'x')}"


def test_a_stub_stands_in_the_tags_of_a_result_without_an_envelope():
    _, made = kept(turn("tool", "<tool_response>\nlong\nout\n</tool_response>"), stubs={0: "stub"})
    assert json.loads(made)["value"] == "<tool_response>\nstub\n</tool_response>"
    _, made = kept(turn("observation", "long"), stubs={0: "stub"})
    assert json.loads(made) == turn("observation", "stub")


def test_results_go_with_their_tags():
    three = [response(name, name) for name in "fgh"]
    _, made = kept(turn("tool", "\n".join(three)), without_results=frozenset({0, 2}))
    assert json.loads(made)["value"] == three[1]
    _, made = kept(turn("tool", "\n".join(three)), without_results=frozenset({1}), stubs={2: "stub"})
    assert json.loads(made)["value"] == f"{three[0]}\n{response('h', 'stub')}"


GONE = {
    "the first of three": (f"a\n{call('f')}\n{call('g')}\n{call('h')}", {0}, f"a\n{call('g')}\n{call('h')}"),
    "the last": (f"a\n{call('f')}\n{call('g')}", {1}, f"a\n{call('f')}"),
    "all, beside words": (f"a\n{call('f')}\n{call('g')}", {0, 1}, "a"),
    "all, after a thought and words": (f"<think>\nhm\n</think>\na\n{call('f')}", {0}, "<think>\nhm\n</think>\na"),
    "all there was": (f"{call('f')}\n{call('g')}", {0, 1}, CALL_REMOVED),
    "all but a thought": (f"<think>\nhm\n</think>\n{call('f')}", {0}, f"<think>\nhm\n</think>\n{CALL_REMOVED}"),
    "between words": (f"a\n{call('f')}\nb", {0}, "a\nb"),
    "between words on one line": (f"a{call('f')}b", {0}, "a\nb"),
}


@pytest.mark.parametrize(("value", "gone", "expected"), GONE.values(), ids=GONE)
def test_calls_go_with_their_tags(value, gone, expected):
    _, made = kept(turn("gpt", value), without_calls=frozenset(gone))
    assert json.loads(made) == turn("gpt", expected)


def test_a_turn_that_is_a_call_becomes_a_reply_that_says_so():
    value = {**turn("function_call", '{"name": "f", "arguments": {}}'), "weight": 0}
    _, made = kept(value, without_calls=frozenset({0}))
    assert json.loads(made) == {**turn("gpt", CALL_REMOVED), "weight": 0}
    two = turn("function_call", '[{"name": "f"}, {"name": "g"}]')
    _, made = kept(two, without_calls=frozenset({0}))
    assert json.loads(made) == turn("function_call", '[{"name": "g"}]')


def test_a_result_that_is_a_turn_goes_with_it_only():
    with pytest.raises(ValueError, match="leave it out"):
        kept(turn("observation", "x"), without_results=frozenset({0}))


WORDS = st.text(alphabet="a\n<>/ \u00e9\U0001f600", max_size=6)
CALLS = st.lists(st.tuples(WORDS, st.booleans()), min_size=1, max_size=5)


@given(CALLS, WORDS, st.booleans())
def test_what_stands_around_calls_is_the_same_without_them(talk, last, ascii_only):
    text = "".join(f"{words}{call('f', n=n)}" for n, (words, _) in enumerate(talk)) + last
    blocks = tagged(text, "tool_call")
    assert len(blocks) == len(talk)
    gone = {n for n, (_, goes) in enumerate(talk) if goes}
    cut = text
    for start, stop, new in sorted(without(text, blocks, gone), reverse=True):
        cut = cut[:start] + new + cut[stop:]
    left = tagged(cut, "tool_call")
    assert len(left) == len(talk) - len(gone)
    if left:
        assert between(cut, left) == between(text, blocks)
    read = message(turn("gpt", text))
    if gone and read.text.strip():
        kept(turn("gpt", text), lambda v: json.dumps(v, ensure_ascii=ascii_only), without_calls=frozenset(gone))


# Compaction.


def balanced(text):
    return all(text.count(f"<{name}>") == text.count(f"</{name}>") for name in ("think", "tool_call", "tool_response"))


def test_a_trajectory_is_pruned_inside_its_turns():
    row = only(sample.trajectory(14))
    done = compacted(row, trigger_mode=Trigger.AUTO, threshold=0.9, context_window=9_000)
    assert done.report.outcome == "pruned"
    turns = [t for t in json.loads(done.content)["conversations"] if t["from"] == "tool"]
    assert len(turns) == 14
    assert STUB_SENTENCE in turns[1]["value"]
    assert json.loads(re.findall(r"<tool_response>\n(.*)\n</tool_response>", turns[1]["value"])[1])["content"] == {
        "files": ["src/search_1.py"],
        "total": 1,
    }
    assert all(balanced(t["value"]) for t in turns)


def test_a_summary_of_hermes_is_taken_up():
    old = turn("human", "[CONTEXT SUMMARY]: The user wants the port to be 8443.")
    row = row_of(turn("system", "s"), turn("human", "a"), old, *sample.turns(sample.hermes, 14))
    done = compacted(row)
    assert done.report.outcome == "summarised"
    messages = row.read_back(done.content).messages
    [handoff] = [m.text for m in messages if is_handoff(m)]
    assert handoff.startswith(PREFIX)
    assert "the port to be 8443" in handoff


@pytest.mark.parametrize("mark", ["[CONTEXT SUMMARY]: x", "[CONTEXT COMPACTION \u2014 REFERENCE ONLY] x"])
def test_both_marks_of_hermes_are_handoffs(mark):
    [message] = row_of(turn("human", mark)).conversation.messages
    assert is_handoff(message)


def test_calls_and_results_that_lost_their_partner_do_no_harm():
    """In data for training neither is rare: a call whose result was left out, a result of nothing."""
    lost = [turn("human", "x"), sample.plain(0)[2], turn("gpt", "so it is"), turn("observation", "out of nowhere")]
    row = row_of(*lost, *sample.turns(sample.plain, 14), *lost, turn("gpt", "Done with it."))
    assert row.conversation is not None
    done = compacted(row)
    assert done.report.outcome == "summarised"
    again = row.read_back(done.content)
    assert not broken(again, [Kept(n) for n in range(len(again.messages))])
    turns = json.loads(done.content)["conversations"]
    assert turn("gpt", CALL_REMOVED) in turns
    assert "out of nowhere" not in [t["value"] for t in turns]


# Files that real tools wrote.

FILES = sorted(REAL.glob("*.json*")) if REAL.is_dir() else []


@pytest.mark.skipif(not FILES, reason=f"there are no transcripts in {REAL}")
@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_a_real_file(path):
    found = list(rows(BytesIO(path.read_bytes()), path.name))
    assert b"".join(row.raw for row in found) == path.read_bytes()
    for row in found:
        assert row.format.name == "sharegpt"
        assert not row.faults
        assert row.render([Kept(n) for n in range(len(row.conversation.messages))]) == row.raw
    for row in found[:40]:
        done = compacted(row, context_window=2_000)
        assert done.report.outcome in ("summarised", "pruned", "untouched"), done.report
        again = row.read_back(done.content)
        assert not broken(again, [Kept(n) for n in range(len(again.messages))])
        assert sum(map(is_handoff, again.messages)) == (done.report.outcome == "summarised")
        value = json.loads(done.content.strip(b" \r\n,[]") if path.suffix == ".json" else done.content)
        assert all(balanced(t["value"]) for t in value["conversations"] if t["from"] in ("gpt", "tool"))
