"""Is every shape of an OpenAI chat message read for what a model reads of it, or refused with its place?"""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactor.core.messages import Call, Message, Result, Role
from compactor.core.tokens import PER_IMAGE
from compactor.formats.openai_messages import is_message, message
from compactor.formats.values import MalformedError

PIXEL = "data:image/png;base64," + "iVBORw0KGgo" * 400


def user(content):
    return message({"role": "user", "content": content})


def assistant(**keys):
    return message({"role": "assistant"} | keys)


@pytest.mark.parametrize(
    ("role", "read"),
    [("system", Role.SYSTEM), ("developer", Role.SYSTEM), ("user", Role.USER), ("assistant", Role.ASSISTANT)],
)
def test_roles(role, read):
    assert message({"role": role, "content": "hello", "name": "n"}) == Message(read, "hello", name="n")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("words", "words"),
        ("", ""),
        (None, ""),
        ([], ""),
        (["bare", {"type": "text", "text": "part"}], "bare\npart"),
        ([{"type": "input_text", "text": "in"}, {"type": "output_text", "text": "out"}], "in\nout"),
        ([{"type": "text", "value": "typed"}], "typed"),
        ([{"type": "text", "text": None}], ""),
        ([{"type": "refusal", "refusal": "I cannot"}], "I cannot"),
        ("half \ud83d", "half \ud83d"),
    ],
)
def test_content_of_every_shape_is_text(content, text):
    assert user(content) == Message(Role.USER, text)


def test_content_may_be_absent():
    assert message({"role": "user"}) == Message(Role.USER)


def test_a_refusal_is_what_the_assistant_said():
    assert assistant(content=None, refusal="I cannot").text == "I cannot"


@pytest.mark.parametrize(
    ("part", "shown", "tokens"),
    [
        ({"type": "image_url", "image_url": {"url": "https://a.b/c.png"}}, "[image: https://a.b/c.png]", PER_IMAGE),
        ({"type": "image_url", "image_url": {"url": "https://a.b/c", "detail": "low"}}, "[image: https://a.b/c]", 85),
        ({"type": "image_url", "image_url": "https://a.b/c.png"}, "[image: https://a.b/c.png]", PER_IMAGE),
        ({"type": "image_url", "value": "data/1.jpg"}, "[image: data/1.jpg]", PER_IMAGE),
        ({"type": "input_image", "image_url": "https://a.b/c", "detail": "low"}, "[image: https://a.b/c]", 85),
        ({"type": "image_url", "image_url": {"url": PIXEL}}, "[image: image/png, 4,400 characters of base64]", 1105),
        ({"type": "image", "source": {"type": "base64", "data": "A" * 999}}, "[image]", PER_IMAGE),
        ({"type": "input_audio", "input_audio": {"data": "A" * 400, "format": "wav"}}, "[audio: wav, 300 bytes]", 1),
        ({"type": "file", "file": {"filename": "a.pdf", "file_data": PIXEL}}, "[file: a.pdf, 3,316 bytes]", 1105),
        ({"type": "input_file", "file_id": "f1"}, "[file: f1, 0 bytes]", 1105),
        ({"type": "video_url", "value": "a.mp4"}, '{"type":"video_url","value":"a.mp4"}', 0),
        ({"type": "new", "n": 1, "ü": [None]}, '{"type":"new","n":1,"ü":[null]}', 0),
        ({"no": "type"}, '{"no":"type"}', 0),
        ({"type": "new", "u": PIXEL}, '{"type":"new","u":"[image/png, 4,400 characters of base64]"}', 1105),
    ],
)
def test_parts_that_are_no_text_have_a_note_and_a_price(part, shown, tokens):
    assert user([part, "look"]) == Message(Role.USER, "look", other=shown, image_tokens=tokens)
    result = message({"role": "tool", "tool_call_id": "c", "content": ["look", part]}).results[0]
    assert result == Result("c", f"look\n{shown}", image_tokens=tokens)


@pytest.mark.parametrize(
    "keys",
    [
        {"content": f"see {PIXEL}"},
        {"content": [{"type": "text", "text": PIXEL}]},
        {"content": None, "refusal": PIXEL},
        {"tool_calls": [{"id": "c", "function": {"name": "write", "arguments": json.dumps({"content": PIXEL})}}]},
        {"content": [{"type": "image_url", "image_url": {"url": PIXEL}}]},
        {"content": [{"type": "other", "deep": [{"u": PIXEL}]}]},
    ],
)
@pytest.mark.parametrize("role", ["assistant", "tool"])
def test_case_p55_a_data_url_is_nowhere_shown_as_text(role, keys):
    read = message({"role": role, "tool_call_id": "c"} | keys)
    assert "iVBORw0KGgo" not in repr(read)
    assert role == "tool" or read.image_tokens == PER_IMAGE


def test_tool_calls():
    calls = [
        {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"a": 1}'}, "index": 0},
        {"id": "c2", "function": {"name": "bash", "arguments": {"n": [1, 2], "ü": None}}},
        {"function": {"name": "bash", "arguments": None}},
        {"id": "c3", "type": "custom", "custom": {"name": "patch", "input": "*** Begin"}},
    ]
    assert assistant(content=None, tool_calls=calls).calls == (
        Call("c1", "bash", '{"a": 1}'),
        Call("c2", "bash", '{"n":[1,2],"ü":null}'),
        Call("", "bash", ""),
        Call("c3", "patch", "*** Begin"),
    )


@pytest.mark.parametrize("none", [{}, {"tool_calls": None}, {"tool_calls": []}, {"function_call": None}])
def test_no_calls(none):
    assert assistant(content="a", **none).calls == ()


def test_the_function_call_of_old_and_its_result():
    assert assistant(function_call={"name": "f", "arguments": "{}"}).calls == (Call("", "f", "{}"),)
    old = message({"role": "function", "name": "f", "content": "42"})
    assert old == Message(Role.TOOL, results=(Result("", "42", "f"),))


def test_typed_parts_hold_reasoning_text_and_calls():
    parts = [
        {"type": "reasoning", "value": "hm"},
        {"type": "text", "value": "I call"},
        {"type": "tool_call", "value": '{"name": "f", "arguments": {"x": 1}}'},
        {"type": "tool_call", "value": {"name": "g", "arguments": "{}"}},
    ]
    calls = (Call("", "f", '{"x":1}'), Call("", "g", "{}"))
    assert assistant(content=parts) == Message(Role.ASSISTANT, "I call", calls, reasoning="hm")


def test_a_tool_message_is_one_result():
    read = message({"role": "tool", "tool_call_id": "c1", "name": "bash", "content": "done"})
    assert read == Message(Role.TOOL, results=(Result("c1", "done", "bash"),))
    assert message({"role": "tool"}) == Message(Role.TOOL, results=(Result("", ""),))


@pytest.mark.parametrize(
    ("keys", "reasoning"),
    [
        ({"reasoning": "a"}, "a"),
        ({"reasoning": "a", "reasoning_content": "a"}, "a"),
        ({"reasoning": "b", "reasoning_content": "a"}, "a\nb"),
        ({"reasoning": None, "reasoning_content": ""}, ""),
        ({"reasoning": {"effort": "high"}}, ""),
        ({"thinking": "a"}, "a"),
        ({"thinking": "a", "reasoning": "b"}, "b"),
        ({"reasoning_details": [{"text": "a"}, {"summary": "b"}, {"data": "encrypted"}, 5]}, "a\nb"),
        ({"reasoning_details": [{"text": "a"}], "reasoning": "a"}, "a"),
    ],
)
def test_the_same_reasoning_counts_once(keys, reasoning):
    assert assistant(content="x", **keys).reasoning == reasoning


@pytest.mark.parametrize("value", [{}, {"role": None}, {"role": "session_meta"}, {"role": "exit"}, {"type": "meta"}])
def test_records_that_are_no_messages(value):
    assert not is_message(value)


CALL = "$.tool_calls[0]"


@pytest.mark.parametrize(
    ("value", "path", "what"),
    [
        ({"role": 5}, "$.role", "5 is not a string"),
        ({"role": "user", "content": 5}, "$.content", "5 is not a string, null or an array of parts"),
        ({"role": "tool", "content": {}}, "$.content", "an object is not a string, null or an array of parts"),
        ({"role": "user", "content": [5]}, "$.content[0]", "5 is not a part: an object with a type, or a string"),
        ({"role": "user", "content": ["a", {"type": "text", "text": 5}]}, "$.content[1].text", "5 is not a string"),
        ({"role": "user", "content": [{"type": 1}]}, "$.content[0].type", "1 is not a string"),
        ({"role": "user", "name": ["n"]}, "$.name", "an array is not a string"),
        ({"role": "tool", "tool_call_id": 7}, "$.tool_call_id", "7 is not a string"),
        ({"role": "assistant", "refusal": True}, "$.refusal", "true is not a string"),
        ({"role": "assistant", "tool_calls": "x"}, "$.tool_calls", '"x" is not an array or null'),
        ({"role": "assistant", "tool_calls": [5]}, CALL, "5 is not an object"),
        ({"role": "assistant", "tool_calls": [{}]}, f"{CALL}.function", "null is not an object"),
        ({"role": "assistant", "tool_calls": [{"function": "f"}]}, f"{CALL}.function", '"f" is not an object'),
        ({"role": "assistant", "tool_calls": [{"id": 1}]}, f"{CALL}.id", "1 is not a string"),
        (
            {"role": "assistant", "tool_calls": [{"function": {"name": 1}}]},
            f"{CALL}.function.name",
            "1 is not a string",
        ),
        (
            {"role": "assistant", "tool_calls": [{"function": {"arguments": 1.5}}]},
            f"{CALL}.function.arguments",
            "1.5 is not a string",
        ),
        ({"role": "assistant", "tool_calls": [{"custom": 1}]}, f"{CALL}.custom", "1 is not an object"),
        ({"role": "assistant", "function_call": "f"}, "$.function_call", '"f" is not an object'),
        (
            {"role": "assistant", "content": [{"type": "tool_call", "value": "{"}]},
            "$.content[0].value",
            "not the JSON text of a call: name and arguments",
        ),
        (
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t"}]},
            "$.content[0].type",
            '"tool_result" belongs to another API than OpenAI chat',
        ),
        ({"type": "function_call", "name": "f"}, "$.type", '"function_call" belongs to another API than OpenAI chat'),
    ],
)
def test_what_is_malformed_is_named_with_its_place(value, path, what):
    with pytest.raises(MalformedError) as caught:
        message(value) if is_message(value) else None
    assert (caught.value.path, caught.value.what) == (path, what)


@pytest.mark.parametrize("levels", [501, 1_000, 5_000])
def test_a_part_nested_beyond_the_writer_is_refused(levels):
    deep: dict[str, object] = {"type": "new"}
    for _ in range(levels - 1):
        deep = {"type": "new", "in": deep}
    with pytest.raises(MalformedError, match=r"^\$\.content\[0\]: nested more than 500 levels deep$"):
        user([deep])
    assert user([json.loads('{"in":' * 500 + "1" + "}" * 500)]).other.endswith("}" * 500)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda v: (
        st.lists(v, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "text", "value", "function", "name", "arguments", "id", "url", "image_url", "custom"]
            ),
            v | st.sampled_from(["text", "image_url", "tool_call", "reasoning", "input_audio", "file", "custom"]),
            max_size=3,
        )
    ),
    max_leaves=10,
)
KEYS = ["content", "tool_calls", "function_call", "name", "tool_call_id", "reasoning", "reasoning_details", "refusal"]


@given(st.sampled_from(["system", "user", "assistant", "tool"]), st.dictionaries(st.sampled_from(KEYS), anything))
def test_whatever_it_holds_it_is_read_or_named(role, keys):
    with suppress(MalformedError):
        assert isinstance(message(keys | {"role": role}), Message)
