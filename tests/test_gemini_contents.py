"""Are Gemini contents read as the model read them, and written so that the API takes them?"""

import json
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactor.core.handoff import PREFIX
from compactor.core.messages import CALL_REMOVED, Call, Handoff, Kept, Message, Result, Role, applied, groups
from compactor.core.results import results
from compactor.core.tokens import PER_IMAGE
from compactor.core.verify import broken, result_messages
from compactor.formats import rows
from compactor.formats.gemini_places import ACKNOWLEDGED, GO_ON
from tests.samples import gemini_contents
from tests.test_format_laws import compacted

REAL = Path(__file__).parents[2] / "shared" / "transcripts" / "gemini"
PICTURE = {"inlineData": {"mimeType": "image/png", "data": "iVBOR" * 200}}


def user(*parts):
    return {"role": "user", "parts": [{"text": p} if isinstance(p, str) else p for p in parts]}


def model(*parts):
    return {**user(*parts), "role": "model"}


def call(name="ls", call_id=None, **args):
    return {"functionCall": {**({"id": call_id} if call_id else {}), "name": name, "args": args}}


def answer(response, name="ls", call_id=None, **more):
    return {"functionResponse": {**({"id": call_id} if call_id else {}), "name": name, "response": response, **more}}


def lined(*contents):
    return b"".join(json.dumps(content).encode() + b"\n" for content in contents)


def only(content, name="chat.jsonl"):
    [row] = rows(BytesIO(content), name)
    assert row.format.name == "gemini-contents"
    return row


def messages(*contents):
    return only(lined(*contents)).conversation.messages


def rendered(row, *pieces):
    """The contents after `pieces`, which have to read back as they were meant."""
    content = row.render(pieces)
    assert row.read_back(content).messages == result_messages(row.conversation, pieces)
    return [json.loads(line) for line in content.splitlines()]


# What is read.


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (user("go", "on"), Message(Role.USER, "go\non")),
        (model("done"), Message(Role.ASSISTANT, "done")),
        (model({"text": "Hm.", "thought": True}, "done"), Message(Role.ASSISTANT, "done", reasoning="Hm.")),
        (model({"text": "done", "thoughtSignature": "c2ln"}), Message(Role.ASSISTANT, "done")),
        (model(call(path="/ä", n=1.5)), Message(Role.ASSISTANT, calls=(Call("", "ls", '{"path":"/ä","n":1.5}'),))),
        (model({"functionCall": {"name": "now"}}), Message(Role.ASSISTANT, calls=(Call("", "now", "{}"),))),
        (
            model({"functionCall": {"name": "now", "args": None}}),
            Message(Role.ASSISTANT, calls=(Call("", "now", "{}"),)),
        ),
        (
            {"role": "model", "parts": [{"function_call": {"id": "a", "name": "ls", "args": {}}, "text": None}]},
            Message(Role.ASSISTANT, calls=(Call("a", "ls", "{}"),)),
        ),
        (user(answer({"output": "a.txt"})), Message(Role.TOOL, results=(Result("", "a.txt", "ls"),))),
        (user(answer({"result": "a.txt"})), Message(Role.TOOL, results=(Result("", "a.txt", "ls"),))),
        (user(answer({"error": "gone"})), Message(Role.TOOL, results=(Result("", "gone", "ls", failed=True),))),
        (user(answer({"output": ["a"]})), Message(Role.TOOL, results=(Result("", '{"output":["a"]}', "ls"),))),
        (
            user(answer({"output": "a", "code": 0}, call_id="x")),
            Message(Role.TOOL, results=(Result("x", '{"output":"a","code":0}', "ls"),)),
        ),
        (user(answer({})), Message(Role.TOOL, results=(Result("", "", "ls"),))),
        (
            {"role": "function", "parts": [{"function_response": {"name": "ls", "response": {"output": "a"}}}]},
            Message(Role.TOOL, results=(Result("", "a", "ls"),)),
        ),
        (
            user(answer({"output": "a"}), answer({"output": "b"}), "and now?"),
            Message(Role.USER, "and now?", results=(Result("", "a", "ls"), Result("", "b", "ls"))),
        ),
        (user("look", PICTURE), Message(Role.USER, "look", other="[image]", image_tokens=PER_IMAGE)),
        (
            user({"fileData": {"mimeType": "image/png", "fileUri": "gs://a/b.png"}}),
            Message(Role.USER, other="[image: gs://a/b.png]", image_tokens=PER_IMAGE),
        ),
        (
            user({"fileData": {"mimeType": "application/pdf", "fileUri": "gs://a/b.pdf"}}),
            Message(Role.USER, other="[file: gs://a/b.pdf, 0 bytes]", image_tokens=PER_IMAGE),
        ),
        (
            user({"inlineData": {"mimeType": "audio/wav", "data": "AAAA" * 3200}}),
            Message(Role.USER, other="[audio: audio/wav, 9,600 bytes]", image_tokens=7),
        ),
        (
            model({"executableCode": {"language": "PYTHON", "code": "1+1"}}),
            Message(Role.ASSISTANT, other='{"executableCode":{"language":"PYTHON","code":"1+1"}}'),
        ),
        ({"role": "model", "parts": []}, Message(Role.ASSISTANT)),
    ],
    ids=[
        "two texts", "a reply", "a thought", "a signature", "a call", "a call without arguments", "null arguments",
        "snake case", "output", "a library's key", "an error", "output that is no text", "more than output",
        "an empty response", "the old role", "results and words", "a picture", "a linked picture", "a linked file",
        "a recording", "code that the model ran", "no parts",
    ],
)  # fmt: skip
def test_a_content_is_read(content, message):
    assert messages(user("go"), content) == (Message(Role.USER, "go"), message)


def test_pictures_beside_a_response_belong_to_it_unless_the_user_speaks():
    wordless, spoken = messages(
        user(answer({"output": "1 picture"}), PICTURE), user(answer({"output": "a"}), PICTURE, "?")
    )
    assert wordless.results == (Result("", "1 picture\n[image]", "ls", image_tokens=PER_IMAGE),)
    assert (wordless.role, wordless.other) == (Role.TOOL, "")
    assert spoken.results[0].text == "a"
    assert (spoken.other, spoken.image_tokens) == ("[image]", PER_IMAGE)


def test_pictures_within_a_response_belong_to_it():
    [message] = messages(user(answer({"output": "seen"}, parts=[PICTURE])))
    assert message.results == (Result("", "seen\n[image]", "ls", image_tokens=PER_IMAGE),)


def test_without_ids_calls_and_results_are_paired_by_order_and_name():
    found = messages(
        user("go"),
        model(call("a", x=1), call("b"), call("a", x=2)),
        user(answer({"output": "1"}, "b"), answer({"output": "2"}, "a"), answer({"output": "3"}, "a")),
        model(call("a"), call("b"), call("a")),
        user(answer({"output": "4"}, "b")),
    )
    assert [(g.open, g.orphans) for g in groups(found)] == [((), ()), ((), ()), ((0, 2), ())]
    answered = [(call.arguments, result.text) for _, call, result in results(found, groups(found)) if call]
    assert answered == [("{}", "1"), ('{"x":1}', "2"), ('{"x":2}', "3"), ("{}", "4")]


def test_what_a_user_is_asked_by_a_tool_is_protected():
    found = messages(user("go"), model(call("ask_user")), user(answer({"output": "blue"}, "ask_user")))
    assert found[2].results[0].protected


def test_a_request_is_charged_for_its_instruction_and_tools_too():
    row = only(gemini_contents.request(1))
    assert row.conversation.preamble.startswith("You are a coding agent.\n[{")
    old = json.dumps({"contents": [{"parts": [{"text": "hi"}]}], "system_instruction": "Be brief."}).encode()
    assert only(old).conversation.preamble == "Be brief."
    assert only(old).conversation.messages == (Message(Role.USER, "hi"),)


def test_a_saved_history_is_a_conversation():
    row = only(json.dumps({"authType": "key", "history": [user("a"), model("b")]}, indent=1).encode(), "chat.json")
    assert [m.text for m in row.conversation.messages] == ["a", "b"]
    made = json.loads(row.render([Kept(0), Handoff(Role.ASSISTANT, "h")]))
    assert [c["parts"][0]["text"] for c in made["history"]] == ["a", "h"]


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ({"role": "tool", "parts": []}, '$.role: "tool" is none of function, model, user'),
        ({"role": "user", "parts": "go"}, '$.parts: "go" is not an array'),
        ({"role": "user", "parts": [5]}, "$.parts[0]: 5 is not a part: an object, or a string"),
        ({"role": "user", "parts": [{"text": 5}]}, "$.parts[0].text: 5 is not a string"),
        (model({"functionCall": "ls"}), '$.parts[0].functionCall: "ls" is not an object'),
        (model({"functionCall": {"name": 5}}), "$.parts[0].functionCall.name: 5 is not a string"),
        (user(answer("a")), '$.parts[0].functionResponse.response: "a" is not an object'),
    ],
    ids=["role", "parts", "part", "text", "call", "name of a call", "response"],
)
def test_faults_say_where_and_what(content, fault):
    row = only(lined(user("go"), content, model("done")))
    assert [str(f) for f in row.faults] == [f"chat.jsonl:2: {fault}"]
    assert row.conversation.gaps == {0}
    assert [m.text for m in row.conversation.messages] == ["go", "done"]
    good, bad = rows(BytesIO(lined({"contents": [user("a")]}, {"contents": [user("b"), content]})), "r.jsonl")
    assert (good.conversation is not None, good.faults) == (True, ())
    assert bad.conversation is None
    assert [str(f) for f in bad.faults] == [f"r.jsonl:2: $.contents[1]{fault[1:]}"]


def test_a_line_that_is_no_request_is_a_fault():
    found = list(rows(BytesIO(lined({"contents": [user("a")]}, {"other": 1}, {"contents": 5}) + b"\n"), "r.jsonl"))
    assert [str(f) for row in found for f in row.faults] == [
        "r.jsonl:2: $.contents: missing; there is other",
        "r.jsonl:3: $.contents: missing; there is contents",
    ]


# What is written.

TRAFFIC = lined(
    user("go"),
    model("I look.", {**call("a", "1"), "thoughtSignature": "c2ln"}, call("b", "2")),
    user(answer({"output": "long " * 90}, "a", "1", willContinue=False), answer({"error": "gone"}, "b", "2")),
    model("done"),
)


def test_a_stub_changes_one_response_and_nothing_else():
    row = only(TRAFFIC)
    made = row.render([Kept(0), Kept(1), Kept(2, {0: "stub"}), Kept(3)])
    assert made == TRAFFIC.replace(json.dumps({"output": "long " * 90}).encode(), b'{"output":"stub"}')
    assert row.read_back(made).messages[2].results[0].text == "stub"


def test_a_stub_for_an_error_stays_one():
    row = only(TRAFFIC)
    made = row.render([Kept(0), Kept(1), Kept(2, {1: "stub"}), Kept(3)])
    assert row.read_back(made).messages[2].results[1] == Result("2", "stub", "b", failed=True)


def test_any_other_response_becomes_the_output():
    row = only(lined(user("go"), model(call()), user(answer({"lines": ["a"], "code": 0}, parts=[PICTURE]), PICTURE)))
    made = rendered(row, Kept(0), Kept(1), Kept(2, {0: "stub"}))
    assert made[2] == user(answer({"output": "stub"}))


def test_a_result_that_goes_leaves_the_words_beside_it():
    row = only(lined(user("go"), model(call()), user(answer({"output": "a"}), answer({"output": "b"}), "thanks")))
    assert rendered(row, Kept(0), Kept(1), Kept(2, without_results=frozenset({1})))[2] == user(
        answer({"output": "a"}), "thanks"
    )


def test_calls_that_nothing_answered_go_with_their_signatures():
    row = only(lined(user("go"), model({"text": "Hm.", "thought": True}, call("a"), call("b")), user("?"), model("x")))
    some = rendered(row, Kept(0), Kept(1, without_calls=frozenset({0})), Kept(2))
    assert some[1]["parts"][1:] == [call("b")]
    every = rendered(row, Kept(0), Kept(1, without_calls=frozenset({0, 1})), Kept(2))
    assert every[1]["parts"] == [{"text": "Hm.", "thought": True}, {"text": CALL_REMOVED}]


def test_a_handoff_of_the_same_role_as_the_next_turn_is_followed_by_a_turn_of_the_other():
    row = only(TRAFFIC)
    text = f"{PREFIX} it went on"
    made = rendered(row, Kept(0), Handoff(Role.ASSISTANT, text), Kept(1), Kept(2), Kept(3))
    assert [c["role"] for c in made] == ["user", "model", "user", "model", "user", "model"]
    assert made[1:3] == [model(text), user(GO_ON)]
    row = only(lined(user("a"), model("b"), user("c"), model("d")))
    made = rendered(row, Kept(0), Kept(1), Handoff(Role.USER, text), Kept(2), Kept(3))
    assert [c["role"] for c in made] == ["user", "model", "user", "model", "user", "model"]
    assert made[3] == model(ACKNOWLEDGED)
    assert rendered(row, Kept(0), Handoff(Role.ASSISTANT, text), Kept(2))[1:] == [model(text), user("c")]


def test_the_clients_own_compression_is_one_message_and_goes_as_one():
    row = only(lined(user("<session_context>"), user("<state_snapshot>x"), model(ACKNOWLEDGED), user("a"), model("b")))
    assert [m.text for m in row.conversation.messages] == ["<session_context>", "<state_snapshot>x", "a", "b"]
    made = rendered(row, Kept(0), Handoff(Role.ASSISTANT, f"{PREFIX} y"), Kept(2), Kept(3))
    assert made == [user("<session_context>"), model(f"{PREFIX} y"), user("a"), model("b")]
    thought_aloud = f"<scratchpad>hm</scratchpad>\n<state_snapshot>x{PREFIX}"
    assert messages(user(thought_aloud), model(ACKNOWLEDGED))[0].text == f"<state_snapshot>x{PREFIX}"


def test_the_same_words_elsewhere_are_words():
    found = messages(user("a"), model(ACKNOWLEDGED), user(GO_ON), model(ACKNOWLEDGED))
    assert [m.text for m in found] == ["a", ACKNOWLEDGED, GO_ON, ACKNOWLEDGED]
    found = messages(user(f"{PREFIX} a"), model(ACKNOWLEDGED), model(ACKNOWLEDGED), user(GO_ON))
    assert [m.text for m in found] == [f"{PREFIX} a", ACKNOWLEDGED, GO_ON]


def test_an_array_keeps_what_stands_around_it():
    content = b"\xef\xbb\xbf " + json.dumps([user("a"), model("b"), user("c")], indent=2).encode() + b"\r\n\n"
    row = only(content, "chat.json")
    assert row.render([Kept(0), Kept(1), Kept(2)]) == content
    made = row.render([Kept(0), Handoff(Role.ASSISTANT, "h"), Kept(2)])
    assert made.startswith(b"\xef\xbb\xbf [")
    assert made.endswith(b"]\r\n\n")


# Laws.

words = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
names = st.sampled_from(["a", "b"])
any_part = (
    st.builds(lambda t: {"text": t}, words)
    | st.builds(lambda t: {"text": t, "thought": True, "thoughtSignature": "c2ln"}, words)
    | st.builds(lambda n, i, t: call(n, i, x=t), names, st.sampled_from([None, "1", "2"]), words)
    | st.builds(lambda n, r: answer(r, n), names, st.dictionaries(st.sampled_from(["output", "error", "x"]), words))
    | st.just(PICTURE)
    | st.just({"executableCode": {"code": "1"}})
)
any_content = st.builds(
    lambda r, p: {"role": r, "parts": p, "n": 1e2}, st.sampled_from(["user", "model"]), st.lists(any_part)
)
any_line = any_content | st.just({"note": 1}) | st.just({"role": "user", "parts": 5})
styles = st.sampled_from([None, (",", ":"), (" ,\t", " : ")])


def drawn_pieces(data, conversation):
    """Any choice of messages with any of their results stubbed, and perhaps a handoff among them."""
    pieces = []
    for n, message in enumerate(conversation.messages):
        if data.draw(st.booleans()):
            stubs = {r: f"stub {r}" for r in range(len(message.results)) if data.draw(st.booleans())}
            pieces.append(Kept(n, stubs))
    at = data.draw(st.integers(0, len(pieces)))
    handoff = Handoff(data.draw(st.sampled_from([Role.USER, Role.ASSISTANT])), f"{PREFIX} summary")
    return [*pieces[:at], handoff, *pieces[at:]]


@given(st.lists(any_line, max_size=6), st.booleans(), styles, st.data())
def test_what_is_written_is_read_as_what_was_meant(contents, array, separators, data):
    contents = [user("first"), *contents]
    content = b"".join(json.dumps(c, separators=separators).encode() + b"\r\n" for c in contents)
    if array:
        content = json.dumps(contents, separators=separators, indent=1).encode()
    row = only(content)
    count = len(row.conversation.messages)
    assert row.render([Kept(n) for n in range(count)]) == content
    pieces = drawn_pieces(data, row.conversation)
    made = row.read_back(row.render(pieces)).messages
    expected = [replace(m, results=tuple(replace(r, failed=False) for r in m.results)) for m in meant(row, pieces)]
    assert [replace(m, results=tuple(replace(r, failed=False) for r in m.results)) for m in made] == expected


def meant(row, pieces):
    return [
        Message(p.role, p.text) if isinstance(p, Handoff) else applied(row.conversation.messages[p.index], p)
        for p in pieces
    ]


@pytest.mark.skipif(not REAL.exists(), reason="the recorded transcripts are not beside the project")
def test_a_real_saved_chat_is_compacted():
    path = REAL / "gemini-cli__trajectory.json"
    row = only(path.read_bytes(), path.name)
    messages = row.conversation.messages
    assert row.render([Kept(n) for n in range(len(messages))]) == path.read_bytes()
    done = compacted(row)
    assert done.report.outcome == "summarised", done.report
    assert done.report.generation == 2
    again = row.read_back(done.content)
    assert not broken(again, [Kept(n) for n in range(len(again.messages))])
    assert again.messages[-1] == messages[-1]
