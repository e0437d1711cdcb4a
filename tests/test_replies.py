"""Is a reply told from half a reply and from an error, whatever stands in the body?"""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactor.summarizers import Usage
from compactor.summarizers.failures import Failure, Kind
from compactor.summarizers.replies import Answer, read, sendable
from tests.asked import notes

WHERE = "http://localhost:8080/v1"


def body(message, finish="stop", **fields):
    return json.dumps({"choices": [{"message": message, "finish_reason": finish}], **fields})


def reply(message, finish="stop", **fields):
    answer = read(body(message, finish, **fields), WHERE)
    assert isinstance(answer, Answer)
    return answer.reply


@pytest.mark.parametrize(
    ("finish", "fault"),
    [
        ("stop", ""),
        ("length", "it was cut off at the output limit"),
        ("content_filter", "the provider's content filter stopped it"),
        ("tool_calls", "it called a tool instead of writing"),
        ("function_call", "it called a tool instead of writing"),
        *((reason, "") for reason in ("STOP", "eos", "eos_token", "end", "end_turn")),
        ("MAX_TOKENS", "it was cut off at the output limit"),
        ("max_tokens", "it was cut off at the output limit"),
        ("SAFETY", "the provider's content filter stopped it"),
        ("tool_use", "it called a tool instead of writing"),
        (None, "it ended for an unknown reason ('None')"),
        ("abort", "it ended for an unknown reason ('abort')"),
        ({"odd": "x" * 99}, f"it ended for an unknown reason ({str({'odd': 'x' * 99})[:40]!r})"),
    ],
)
def test_only_what_stopped_by_itself_is_whole(finish, fault):
    assert reply({"content": notes()}, finish).fault == fault


def test_a_refusal_is_a_fault_even_beside_text():
    assert reply({"content": notes(), "refusal": "I can't."}).fault == 'it is a refusal: "I can\'t."'
    assert reply({"content": notes(), "refusal": None}).fault == ""


def test_a_call_instead_of_text_is_a_fault_whatever_the_reason_says():
    assert reply({"content": None, "tool_calls": [{"id": "1"}]}).fault == "it called a tool instead of writing"
    assert reply({"content": notes(), "tool_calls": []}).fault == ""


@pytest.mark.parametrize("name", ["reasoning", "reasoning_content"])
def test_a_summary_filed_under_reasoning_is_used_and_a_plan_is_not(name):
    assert reply({"content": None, name: notes()}).text == notes()
    assert reply({"content": "", name: "First I should look at ## Goal."}).text == ""
    assert reply({"content": "the answer", name: notes()}).text == "the answer"


def test_content_in_parts_is_put_together():
    content = [{"type": "thinking", "thinking": [{"text": "no"}]}, {"text": "## Go"}, {"text": "al"}, "odd"]
    assert reply({"content": content}).text == "## Goal"


@pytest.mark.parametrize("content", [None, 7, {"a": 1}, True, []])
def test_content_of_another_type_is_no_text(content):
    assert reply({"content": content}).text == ""


@pytest.mark.parametrize(
    ("message", "usage", "reasoned"),
    [
        ({"content": "a"}, {}, False),
        ({"content": "a", "reasoning_content": "hm"}, {}, True),
        ({"content": "<think>hm</think>a"}, {}, True),
        ({"content": "a"}, {"completion_tokens_details": {"reasoning_tokens": 9}}, True),
        ({"content": "a"}, {"completion_tokens_details": {"reasoning_tokens": 0}}, False),
        ({"content": "a"}, {"completion_tokens_details": None}, False),
    ],
)
def test_reasoning_is_seen(message, usage, reasoned):
    answer = read(body(message, usage=usage), WHERE)
    assert isinstance(answer, Answer)
    assert answer.reasoned is reasoned


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (
            {"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 3}},
            Usage(1, 9, 3, 4),
        ),
        ({"prompt_tokens": 9, "prompt_tokens_details": None}, Usage(1, 9)),
        ({"prompt_tokens": "nine", "completion_tokens": -4}, Usage(1)),
        (None, Usage(1)),
        ("free", Usage(1)),
    ],
)
def test_usage_is_read_where_it_is_told(usage, expected):
    assert reply({"content": "a"}, usage=usage).usage == expected


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("<!doctype html><title>t</title><p>Sign in</p>", Kind.ADDRESS, "web page instead of JSON: t Sign in"),
        ('{"choices": [', Kind.GARBLED, "invalid JSON"),
        ("", Kind.GARBLED, "invalid JSON"),
        ("[" * 100_000, Kind.GARBLED, "invalid JSON"),
        ("42", Kind.GARBLED, "no chat completion"),
        ("[]", Kind.GARBLED, "no chat completion"),
        ("{}", Kind.GARBLED, "without any choice"),
        ('{"choices": []}', Kind.GARBLED, "without any choice"),
        ('{"choices": null, "error": null}', Kind.GARBLED, "without any choice"),
        ('{"choices": ["x"]}', Kind.GARBLED, "without any choice"),
        ('{"error": "context length exceeded"}', Kind.OVERFLOW, "answered with an error: context length"),
        ('[{"error": {"code": 429, "message": "slow down"}}]', Kind.RATE, "slow down"),
        ('{"choices": [{"error": {"code": 503, "message": "gone"}}]}', Kind.SERVER, "gone"),
    ],
)
def test_what_is_no_reply_is_a_failure(text, kind, words):
    failure = read(text, WHERE)
    assert isinstance(failure, Failure)
    assert failure.kind is kind
    assert words in failure.what
    assert failure.what.startswith(WHERE)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
        ["choices", "message", "content", "error", "code", "usage", "finish_reason", "reasoning", "metadata", "text",
         "prompt_tokens_details", "completion_tokens_details", "refusal", "tool_calls"]), inner, max_size=5),
    max_leaves=20,
)  # fmt: skip


@given(json_values)
def test_any_json_is_a_reply_or_a_failure(value):
    answer = read(json.dumps(value), WHERE)
    if isinstance(answer, Answer):
        answer.reply.text.encode()
        answer.reply.fault.encode()
    else:
        assert answer.what


@given(st.text(st.characters()))
def test_every_text_can_be_sent(text):
    sent = sendable(text)
    sent.encode()
    assert sendable(sent) == sent
    if text.isascii():
        assert sent == text


def test_halves_that_belong_together_are_joined():
    assert sendable("\ud83d\ude00 \ud83d \ude00") == "😀 � �"
