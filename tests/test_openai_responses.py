"""Items of OpenAI's Responses API: which make one message, what is read of each kind, and what is written back."""

import json
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactor.core.handoff import KNOWN_PREFIXES, PREFIX, is_handoff
from compactor.core.messages import CALL_REMOVED, Call, Handoff, Kept, Result, Role, groups
from compactor.core.tokens import PER_IMAGE
from compactor.core.verify import broken, result_messages, rewritten
from compactor.formats import rows
from compactor.formats.responses_turns import reading
from tests.samples import openai_responses as sample
from tests.test_format_laws import compacted

REAL = Path(__file__).resolve().parents[2] / "shared" / "transcripts" / "openai-responses"
SEALED = "gAAAAAB" + "x" * 7_293  # 7,300 characters: 1,000 tokens


# Items in a word: u(ser), a(ssistant), t(hought), c(all) and r(esult) with an id, w(eb search), k: compaction.


def item(word):
    kind, rest = word[0], word[1:]
    return {
        "s": lambda: sample.message("developer", f"S{rest}"),
        "u": lambda: sample.message("user", f"U{rest}"),
        "a": lambda: sample.message("assistant", f"A{rest}"),
        "h": lambda: sample.message("assistant", f"{PREFIX} H{rest}"),
        "t": lambda: {"type": "reasoning", "summary": [{"type": "summary_text", "text": f"T{rest}"}]},
        "c": lambda: {"type": "function_call", "call_id": rest, "name": "f", "arguments": "{}"},
        "r": lambda: {"type": "function_call_output", "call_id": rest, "output": f"R{rest}" * 150},
        "w": lambda: {"type": "web_search_call", "id": f"ws_{rest}", "action": {"query": rest}},
        "k": lambda: {"type": "compaction", "id": f"cmp_{rest}", "encrypted_content": SEALED},
    }[kind]()


def read(words):
    return reading([item(word) for word in words.split()])


def shape(words):
    """Each message as the ordinals of its items."""
    return [turn.items for turn in read(words).turns]


def only(content, name="items.jsonl"):
    [row] = rows(BytesIO(content), name)
    return row


def lines(*values):
    return b"".join(json.dumps(v).encode() + b"\n" for v in values)


def of_words(words):
    return lines(*(item(word) for word in words.split()))


def of(words, *more):
    return only(of_words(words) + lines(*more))


MESSAGES = {
    "thoughts stand with what they led to": ("u t t a u t c1 r1", [(0,), (1, 2, 3), (4,), (5, 6), (7,)]),
    "words with the calls after them": ("u a c1 c2 r1 r2 a", [(0,), (1, 2, 3), (4,), (5,), (6,)]),
    "a thought begins a new answer": ("c1 t c2 r1 r2", [(0,), (3,), (1, 2), (4,)]),
    "results that come out of order": ("c1 c2 r2 r1", [(0, 1), (2,), (3,)]),
    "calls among results": ("c1 c2 r2 c3 r3 r1 u", [(0, 1), (2,), (5,), (3,), (4,), (6,)]),
    "the user's words between call and result": ("c1 u r1 c2 r2", [(0,), (2,), (1,), (3,), (4,)]),
    "an id that is used again": ("c1 r1 c1 r1", [(0,), (1,), (2,), (3,)]),
    "an id that is used again after it got no result": ("c1 u c1 r1", [(0,), (1,), (2,), (3,)]),
    "one id for two calls at once": ("c1 c1 r1 r1", [(0, 1), (2,), (3,)]),
    "a stray result ends no answer": ("u a r9 c1 r1", [(0,), (1, 3), (2,), (4,)]),
    "a stray result at the very beginning": ("r9 u", [(0,), (1,)]),
    "a late result ends no later answer": ("c1 t r1 a", [(0,), (2,), (1, 3)]),
    "a thought that led to nothing": ("t u a", [(0,), (1,), (2,)]),
    "a search belongs to the answer": ("u t w t w a", [(0,), (1, 2), (3, 4), (5,)]),
    "a handoff is a message of its own": ("u h c1 r1 t h a", [(0,), (1,), (2,), (3,), (4,), (5,), (6,)]),
    "instructions are a message": ("s u s u", [(0,), (1,), (2,), (3,)]),
}


@pytest.mark.parametrize(("words", "expected"), MESSAGES.values(), ids=MESSAGES.keys())
def test_which_items_make_one_message(words, expected):
    assert shape(words) == expected


def test_what_one_answer_says_is_one_message():
    [_, turn, *_] = read("u t a1 c1 c2 r1 r2").turns
    message = turn.message
    assert (message.role, message.reasoning, message.text) == (Role.ASSISTANT, "T", "A1")
    assert message.calls == (Call("1", "f", "{}"), Call("2", "f", "{}"))


@pytest.mark.parametrize(
    ("value", "call"),
    [
        ({"type": "function_call", "call_id": "1", "name": "f", "arguments": '{"a":1}'}, Call("1", "f", '{"a":1}')),
        ({"type": "function_call", "call_id": "1", "name": "f", "arguments": None}, Call("1", "f", "")),
        ({"type": "function_call", "call_id": "1", "name": "f", "namespace": "n"}, Call("1", "n.f", "")),
        (
            {"type": "custom_tool_call", "call_id": "1", "name": "p", "input": "*** X"},
            Call("1", "p", '{"input":"*** X"}'),
        ),
        ({"type": "local_shell_call", "id": "1", "action": {"a": 1}}, Call("1", "local_shell", '{"a":1}')),
        ({"type": "shell_call", "call_id": "1", "action": {"a": 1}}, Call("1", "shell", '{"a":1}')),
        ({"type": "apply_patch_call", "call_id": "1", "operation": {}}, Call("1", "apply_patch", "{}")),
        ({"type": "computer_call", "call_id": "1", "actions": []}, Call("1", "computer", "[]")),
        ({"type": "tool_search_call", "call_id": "1", "arguments": {}}, Call("1", "tool_search", "{}")),
        ({"type": "mcp_approval_request", "id": "1", "name": "m", "arguments": "{}"}, Call("1", "m", "{}")),
    ],
)
def test_every_kind_of_call(value, call):
    [turn] = reading([value]).turns
    assert turn.message.calls == (call,)


TEXT = {"type": "input_text", "text": "a"}
LINKED = {"type": "input_image", "image_url": "https://x/y.png"}
SCREEN = {"type": "computer_screenshot", "image_url": "data:image/png;base64," + "QUJD" * 200}
SHOWN = '{"type":"computer_screenshot","image_url":"[image/png, 800 characters of base64]"}'


def ran(stdout, stderr, **outcome):
    return [{"stdout": stdout, "stderr": stderr, "outcome": outcome}]


@pytest.mark.parametrize(
    ("kind", "output", "result"),
    [
        ("function_call_output", "text", Result("1", "text")),
        ("function_call_output", None, Result("1", "")),
        ("function_call_output", [TEXT, TEXT], Result("1", "a\na")),
        ("function_call_output", TEXT, Result("1", "a")),
        ("function_call_output", {"content": "no", "success": False}, Result("1", "no", failed=True)),
        ("function_call_output", [LINKED], Result("1", "[image: https://x/y.png]", image_tokens=PER_IMAGE)),
        ("custom_tool_call_output", "text", Result("1", "text")),
        ("local_shell_call_output", "text", Result("1", "text")),
        ("apply_patch_call_output", "done", Result("1", "done")),
        ("shell_call_output", ran("a", "b", type="exit", exit_code=0), Result("1", "a\nb")),
        ("shell_call_output", ran("", "b", type="exit", exit_code=2), Result("1", "b", failed=True)),
        ("shell_call_output", ran("a", "", type="timeout"), Result("1", "a", failed=True)),
        ("tool_search_output", None, Result("1", "null", protected=True)),
        ("computer_call_output", SCREEN, Result("1", SHOWN, image_tokens=PER_IMAGE, protected=True)),
    ],
)
def test_every_kind_of_result(kind, output, result):
    _, turn = reading([item("c1"), {"type": kind, "call_id": "1", "output": output}]).turns
    assert turn.message.results == (result,)


def test_an_approval_is_the_users_word():
    asked = {"type": "mcp_approval_request", "id": "m1", "name": "drop", "arguments": "{}"}
    said = {"type": "mcp_approval_response", "approval_request_id": "m1", "approve": False}
    _, turn = reading([asked, said]).turns
    assert turn.message.results == (Result("m1", "false", protected=True),)


@pytest.mark.parametrize(
    "value",
    [
        {"type": "file_search_call", "id": "1", "results": [{"text": "found"}]},
        {"type": "image_generation_call", "id": "1", "result": "QUJD" * 300},
        {"type": "what_comes_next", "encrypted_content": SEALED, "content": [{"encrypted_content": SEALED}]},
        {"type": "item_reference", "id": "msg_1"},
    ],
    ids=lambda v: v["type"],
)
def test_other_kinds_are_kept_and_charged_as_they_stand(value):
    [turn] = reading([value]).turns
    assert json.loads(turn.message.other)["type"] == value["type"]
    assert "QUJD" not in turn.message.other
    assert "xxxx" not in turn.message.other
    assert bool(turn.message.image_tokens) == ("result" in value)
    assert turn.message.sealed_tokens == (2_000 if "content" in value else 0)


def test_encrypted_thoughts_are_charged_until_the_user_speaks_again():
    sealed = item("t") | {"encrypted_content": SEALED}
    turns = reading([sealed, item("c1"), item("r1"), item("u"), sealed, item("a"), sealed, item("a")]).turns
    assert [turn.message.sealed_tokens for turn in turns] == [0, 0, 0, 1_000, 1_000]


# Stubs, and what has lost its partner.


def test_a_stub_takes_the_place_of_the_output_alone():
    raw = b'{ "type":"function_call_output" , "call_id":"1","output": "' + b"x" * 300 + b'", "n": 1.50 }\n'
    row = only(lines(item("u"), item("c1")) + raw)
    made = row.render([Kept(0), Kept(1), Kept(2, {0: "stub"})])
    assert made.splitlines(keepends=True)[2] == raw.replace(b"x" * 300, b"stub")


def test_a_stub_for_a_shell_keeps_how_it_ended():
    outcome = {"type": "exit", "exit_code": 2}
    output = [
        {"stdout": "x" * 300, "stderr": "", "outcome": outcome},
        {"stdout": "", "stderr": "y", "outcome": outcome},
    ]
    row = only(
        lines(
            item("u"),
            {"type": "shell_call", "call_id": "1", "action": {}},
            {"type": "shell_call_output", "call_id": "1", "output": output},
        )
    )
    made = row.render([Kept(0), Kept(1), Kept(2, {0: "stub"})])
    assert json.loads(made.splitlines()[2])["output"] == ran("stub", "", type="exit", exit_code=2)
    assert row.read_back(made).messages[2].results == (Result("1", "stub", failed=True),)


def test_a_call_that_has_lost_its_result_goes():
    row = of("u t c1 c2 r2 u")
    made = row.render([Kept(0), Kept(1, without_calls=frozenset({0})), Kept(2), Kept(3)])
    assert made == of_words("u t c2 r2 u")


def test_words_stand_for_a_message_of_nothing_but_such_calls():
    row = of("u t c1 c2 u")
    piece = Kept(1, without_calls=frozenset({0, 1}))
    made = row.render([Kept(0), piece, Kept(2)])
    assert [json.loads(line)["type"] for line in made.splitlines()] == ["message", "reasoning", "message", "message"]
    assert row.read_back(made).messages[1].text == CALL_REMOVED


def test_half_a_message_of_one_result_cannot_go():
    row = of("c1 r1")
    with pytest.raises(ValueError, match="leave the message out"):
        row.render([Kept(0), Kept(1, without_results=frozenset({0}))])


# The API's own compaction.


def test_the_conversation_begins_at_the_apis_own_compaction():
    row = of("s1 u1 c1 r1 a1 k1 u2 a2")
    assert [m.text for m in row.conversation.messages] == ["U2", "A2"]
    assert row.conversation.preamble == "S1\nU1"
    assert [m.sealed_tokens for m in row.conversation.messages] == [1_000, 0]
    assert row.render([Kept(0), Kept(1)]) == row.raw


def test_what_it_has_made_void_goes_with_a_handoff_and_it_stays_verbatim():
    row = of("s1 u1 c1 r1 a1 k1 u2 a2 u3 a3")
    made = row.render([Handoff(Role.USER, "H"), Kept(2), Kept(3)])
    new = json.dumps(_said("user", "H"), separators=(",", ":")).encode() + b"\n"
    assert made == of_words("s1 u1 k1") + new + of_words("u3 a3")
    assert row.render([Kept(0), Kept(1), Kept(2)]).startswith(of_words("s1 u1 c1 r1 a1 k1"))


def _said(role, text):
    return {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}


def test_nothing_after_a_compaction_is_no_conversation():
    row = of("u1 a1 k1")
    assert row.conversation is None
    assert not row.faults


# Layouts.


def test_an_exchange_is_one_conversation():
    value = {
        "instructions": "I",
        "tools": [{"name": "f"}],
        "input": [item("u"), item("c1"), item("r1")],
        "output": [item("a")],
    }
    row = only(lines(value))
    assert [m.role for m in row.conversation.messages] == [Role.USER, Role.ASSISTANT, Role.TOOL, Role.ASSISTANT]
    assert row.conversation.preamble == 'I\n[{"name":"f"}]'
    made = json.loads(row.render([Kept(0), Handoff(Role.ASSISTANT, "H"), Kept(3)]))
    assert [i.get("content", [{}])[0].get("text") for i in made["input"]] == ["U", "H"]
    assert made["input"][1]["content"][0]["type"] == "output_text"
    assert made["output"] == value["output"]


def test_a_handoff_before_the_answer_stands_in_its_list():
    row = only(lines({"input": [item("u")], "output": [item("a1"), item("u2"), item("a2")]}))
    made = json.loads(row.render([Kept(0), Handoff(Role.ASSISTANT, "H"), Kept(2), Kept(3)]))
    assert len(made["input"]) == 1
    assert [i["content"][0]["text"] for i in made["output"]] == ["H", "U2", "A2"]


def test_input_that_is_words_is_a_message():
    row = only(lines({"input": "do it", "output": [item("a1"), item("a2")]}))
    assert [m.text for m in row.conversation.messages] == ["do it", "A1", "A2"]
    assert row.render([Kept(0), Kept(1), Kept(2)]) == row.raw
    assert json.loads(row.render([Kept(0), Kept(2)])) == {"input": "do it", "output": [item("a2")]}
    made = json.loads(row.render([Handoff(Role.USER, "H"), Kept(2)]))
    assert made == {"input": [_said("user", "H")], "output": [item("a2")]}


def test_records_that_are_no_items_stay():
    meta = {"id": "x", "instructions": None}
    row = only(lines(meta) + lines(item("u"), item("c1"), {"record_type": "state"}, item("r1"), item("a")))
    assert len(row.conversation.messages) == 4
    made = row.render([Kept(0), Handoff(Role.ASSISTANT, "H"), Kept(3)])
    assert [json.loads(line).get("type") for line in made.splitlines()] == [None, "message", "message", None, "message"]


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ({"type": "message", "role": "critic", "content": "x"}, '$.role: "critic" is no role of a message'),
        ({"type": "message", "role": "tool", "content": "x"}, '$.role: "tool" is no role of a message'),
        ({"type": "message", "role": "user", "content": 5}, "$.content: 5 is not a string, null or an array of parts"),
        ({"type": "function_call", "call_id": 5}, "$.call_id: 5 is not a string"),
        (
            {"type": "function_call_output", "call_id": "1", "output": [5]},
            "$.output[0]: 5 is not a part: an object with a type, or a string",
        ),
        ({"type": "reasoning", "summary": "x"}, '$.summary: "x" is not an array'),
        ({"type": 5, "role": "user"}, "$.type: 5 is not a string"),
    ],
)
def test_what_cannot_be_read_is_a_fault_and_stays(value, fault):
    row = of("u1 a1", value, item("u2"))
    assert [str(f) for f in row.faults] == [f"items.jsonl:3: {fault}"]
    assert row.conversation.gaps == {1}
    made = row.render([Handoff(Role.USER, "H"), Kept(2)])
    assert lines(value) in made
    exchange = only(lines({"input": [item("u1"), value]}))
    assert [str(f) for f in exchange.faults] == [f"items.jsonl:1: {fault.replace('$', '$.input[1]', 1)}"]
    assert exchange.conversation is None


@pytest.mark.parametrize(("value", "fault"), [(5, "$.input[1]: 5 is not an object"), ({}, "$.input[1].type: missing")])
def test_an_element_that_is_no_item_is_a_fault(value, fault):
    row = only(lines({"input": [item("u1"), value]}))
    assert [str(f) for f in row.faults] == [f"items.jsonl:1: {fault}"]


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (item("u"), "openai-responses"),
        (item("t"), "openai-responses"),
        (item("c1"), "openai-responses"),
        ({"input": [item("k1")]}, "openai-responses"),
        ({"role": "user", "content": [{"type": "input_text", "text": "x"}]}, "openai-chat"),
        ({"type": "message", "role": "user", "content": "x"}, "openai-chat"),
        ({"messages": [item("u")]}, "openai-chat"),
    ],
)
def test_it_is_told_from_openai_chat(value, form):
    assert {row.format.name for row in rows(BytesIO(lines(value)), "x.jsonl")} == {form}


def test_a_handoff_parts_no_answer():
    row = of("u t r9 a u a")
    assert shape("u t r9 a u a") == [(0,), (1, 3), (2,), (4,), (5,)]
    made = row.render([Kept(0), Kept(1), Handoff(Role.USER, f"{PREFIX} H"), Kept(4)])
    assert [m.text[:3] for m in row.read_back(made).messages] == ["U", "A", PREFIX[:3], "A"]


WORDS = ("s1", "u1", "u2", "a1", "a2", "h1", "t1", "c1", "c2", "c3", "r1", "r2", "r3", "w1", "k1")


@given(st.lists(st.sampled_from(WORDS), max_size=14), st.data())
def test_every_item_is_in_one_message_and_any_cut_between_groups_reads_back(words, data):
    """Laws of reading: each item once, results right after their call; a cut with a handoff reads as it was meant."""
    found = read(" ".join(words))
    live = [n for turn in found.turns for n in turn.items]
    assert sorted(live) == list(range(len(words) - len(live), len(words)))
    raws = lines(*map(item, words))
    if not found.turns or not any(w[0] in "ktcru" for w in words):
        return
    row = only(raws)
    messages = row.conversation.messages
    assert row.render([Kept(n) for n in range(len(messages))]) == raws
    cuts = [g.start for g in groups(messages)]
    begin, end = sorted(data.draw(st.tuples(st.sampled_from(cuts), st.sampled_from(cuts))))
    kept = [g for g in groups(messages) if g.stop <= begin or g.start >= end]
    if begin == end or any(is_handoff(m) for m in messages) or any(g.open or g.orphans for g in kept):
        return  # what has lost its partner would go
    pieces = [*map(Kept, range(begin)), Handoff(Role.ASSISTANT, f"{PREFIX} H"), *map(Kept, range(end, len(messages)))]
    made = row.render(pieces)
    assert rewritten(result_messages(row.conversation, pieces), row.read_back(made).messages)


def test_every_known_prefix_is_a_handoff_of_its_own():
    for prefix in KNOWN_PREFIXES:
        row = only(lines(item("u"), sample.message("assistant", prefix), item("c1"), item("r1")))
        assert [is_handoff(m) for m in row.conversation.messages] == [False, True, False, False]


@pytest.mark.skipif(not REAL.exists(), reason=f"there are no transcripts in {REAL}")
@pytest.mark.parametrize("path", sorted(REAL.glob("*")) or [REAL], ids=lambda p: p.name)
def test_real_files(path):
    content = path.read_bytes()
    found = list(rows(BytesIO(content), path.name))
    assert b"".join(row.raw for row in found) == content
    assert {row.format.name for row in found} == {"openai-responses"}
    for row in found:
        assert not row.faults
        if row.conversation is None:
            assert b'"compaction"' in row.raw  # all that it holds is what the API made of a conversation
            continue
        pieces = [Kept(n) for n in range(len(row.conversation.messages))]
        assert row.render(pieces) == row.raw
        assert not broken(row.conversation, pieces)
        done = compacted(row)
        assert done.report.outcome == "summarised", done.report
        again = row.read_back(done.content)
        assert sum(map(is_handoff, again.messages)) == 1
        assert again.messages[-1] == row.conversation.messages[-1]
        assert not broken(again, [Kept(n) for n in range(len(again.messages))])
