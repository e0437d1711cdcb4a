"""Is only what was asked for exchanged in the bytes of a message?"""

import json

import pytest

from compactor.core.messages import CALL_REMOVED, Handoff, Kept, Role
from compactor.formats.openai_edits import handoff_bytes, kept_bytes
from compactor.formats.openai_messages import message


def kept(raw, **changes):
    return kept_bytes(raw, message(json.loads(raw.decode("utf-8-sig"))), Kept(0, **changes))


def without(raw, *ordinals):
    return kept(raw, without_calls=frozenset(ordinals))


def test_a_handoff_is_a_message():
    made = handoff_bytes(Handoff(Role.USER, 'one "line"\nhalf \ud83d'))
    assert made == b'{"role":"user","content":"one \\"line\\"\\nhalf \\ud83d"}'


def test_without_changes_the_bytes_are_the_same():
    raw = b'\xef\xbb\xbf {"role" : "tool", "content":"\\u0041", "n": 1.50}\r\n'
    assert kept(raw) == raw


@pytest.mark.parametrize(
    ("raw", "made"),
    [
        (
            b'\xef\xbb\xbf {"n":1.50,"content" : "long \\u00e9", "role":"tool","extra":{"content":"x"}} \r\n',
            b'\xef\xbb\xbf {"n":1.50,"content" : "stub", "role":"tool","extra":{"content":"x"}} \r\n',
        ),
        (b'{"role":"tool","content":[{"type":"text","text":"a"}]}', b'{"role":"tool","content":"stub"}'),
        (b'{"role":"tool","content":null}', b'{"role":"tool","content":"stub"}'),
        (b'{"role":"tool"}', b'{"role":"tool","content":"stub"}'),
    ],
)
def test_a_stub_replaces_the_content_alone(raw, made):
    assert kept(raw, stubs={0: "stub"}) == made


def test_a_stub_is_valid_utf_8():
    assert kept(b'{"role":"tool","content":"x"}', stubs={0: "\ud83d \u2028 é"}).decode() == (
        '{"role":"tool","content":"\\ud83d \\u2028 \\u00e9"}'
    )


def test_a_result_goes_with_its_message_only():
    with pytest.raises(ValueError, match="leave the message out"):
        kept(b'{"role":"tool","content":"x"}', without_results=frozenset({0}))


def call(name):
    return b'{"id":"%s", "function":{"name":"%s","arguments":"{}"}}' % (name, name)


def test_calls_go_one_by_one():
    raw = b'{"role":"assistant","content":"I call","tool_calls":[ %s, %s ,%s ]}' % (call(b"a"), call(b"b"), call(b"c"))
    assert without(raw, 1) == (
        b'{"role":"assistant","content":"I call","tool_calls":[ %s, %s ]}' % (call(b"a"), call(b"c"))
    )
    assert without(raw, 0, 2) == b'{"role":"assistant","content":"I call","tool_calls":[ %s ]}' % call(b"b")


def test_case_h7_with_the_last_call_the_key_goes():
    raw = b'{"role":"assistant", "tool_calls":[%s], "content":"I call"}' % call(b"a")
    assert without(raw, 0) == b'{"role":"assistant", "content":"I call"}'


@pytest.mark.parametrize("content", [b"null", b'""', b'" "', b"[]"])
def test_case_h1_a_message_that_says_nothing_more_says_why(content):
    raw = b'{"role":"assistant","content":%s,"tool_calls":[%s]}' % (content, call(b"a"))
    assert json.loads(without(raw, 0)) == {"role": "assistant", "content": CALL_REMOVED}


def test_a_message_without_content_gets_one():
    raw = b'{"tool_calls":[%s],"role":"assistant"}' % call(b"a")
    assert without(raw, 0) == b'{"role":"assistant","content":"[tool call without a result removed]"}'


def test_content_is_left_alone_while_a_call_stays():
    raw = b'{"role":"assistant","content":null,"tool_calls":[%s,%s]}' % (call(b"a"), call(b"b"))
    assert without(raw, 0) == b'{"role":"assistant","content":null,"tool_calls":[%s]}' % call(b"b")


def test_a_picture_is_something_to_say():
    raw = b'{"role":"assistant","content":[{"type":"image_url","image_url":"u"}],"tool_calls":[%s]}' % call(b"a")
    assert without(raw, 0) == b'{"role":"assistant","content":[{"type":"image_url","image_url":"u"}]}'


def test_the_function_call_of_old_goes():
    raw = b'{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}}'
    assert without(raw, 0) == b'{"role":"assistant","content":"[tool call without a result removed]"}'


def test_a_function_call_comes_after_the_tool_calls():
    raw = b'{"role":"assistant","content":"x","function_call":{"name":"f"},"tool_calls":[%s]}' % call(b"a")
    assert without(raw, 1) == b'{"role":"assistant","content":"x","tool_calls":[%s]}' % call(b"a")
    assert without(raw, 0) == b'{"role":"assistant","content":"x","function_call":{"name":"f"}}'
    empty = b'{"role":"assistant","content":"x","function_call":null,"tool_calls":[%s]}' % call(b"a")
    assert without(empty, 0) == b'{"role":"assistant","content":"x","function_call":null}'


def test_a_repeated_key_does_not_bring_old_calls_back():
    raw = b'{"tool_calls":[%s],"role":"assistant","content":"x","tool_calls":[%s]}' % (call(b"old"), call(b"a"))
    assert without(raw, 0) == b'{"role":"assistant","content":"x"}'


TYPED = b'{"type": "tool_call", "value": "{\\"name\\": \\"%s\\", \\"arguments\\": {}}"}'


def test_typed_calls_go_as_parts():
    text = b'{"type": "text", "value": "I call"}'
    raw = b'{"role": "assistant", "content": [%s, %s, %s]}' % (text, TYPED % b"a", TYPED % b"b")
    assert without(raw, 0) == b'{"role": "assistant", "content": [%s, %s]}' % (text, TYPED % b"b")
    assert without(raw, 0, 1) == b'{"role": "assistant", "content": [%s]}' % text


def test_a_note_stands_for_the_first_typed_call_where_nothing_else_is_said():
    hm = b'{"type": "reasoning", "value": "hm"}'
    raw = b'{"role": "assistant", "content": [%s, %s, %s]}' % (hm, TYPED % b"a", TYPED % b"b")
    note = b'{"type":"text","value":"[tool call without a result removed]"}'
    assert without(raw, 0, 1) == b'{"role": "assistant", "content": [%s, %s]}' % (hm, note)
    assert without(raw, 1) == b'{"role": "assistant", "content": [%s, %s]}' % (hm, TYPED % b"a")


def test_typed_calls_are_counted_after_the_others():
    raw = b'{"role":"assistant","content":[%s],"function_call":null,"tool_calls":[%s]}' % (TYPED % b"a", call(b"b"))
    assert [c.name for c in message(json.loads(raw)).calls] == ["b", "a"]
    assert json.loads(without(raw, 1))["content"] == []
    assert without(raw, 0) == b'{"role":"assistant","content":[%s],"function_call":null}' % (TYPED % b"a")


def test_case_p73_copies_of_a_pruned_result_go_with_it():
    output = "line of output\n" * 30
    content = f"<returncode>0</returncode>\n<output>\n{output}</output>"
    extra = {"raw_output": output, "returncode": 0, "label": "line of output", "note": "x" * 300}
    raw = json.dumps({"role": "tool", "content": content, "extra": extra}).encode()
    assert json.loads(kept(raw, stubs={0: "stub"})) == {
        "role": "tool",
        "content": "stub",
        "extra": {"raw_output": "stub", "returncode": 0, "label": "line of output", "note": "x" * 300},
    }
