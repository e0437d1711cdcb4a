"""Do we ask each endpoint in its own dialect, and learn from it exactly once?"""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactor.summarizers.dialect import HEADROOM, MOST_HEADROOM, Dialect, first_dialect

OPENAI = "https://api.openai.com/v1"
LOCAL = "http://localhost:8080/v1"
PLAIN = {"max_tokens": 3_000, "temperature": 0}


@pytest.mark.parametrize(
    ("model", "url", "expected"),
    [
        ("gpt-4.1-mini", OPENAI, PLAIN),
        ("gpt-4o-mini", OPENAI, PLAIN),
        ("gpt-5-nano", OPENAI, {"max_completion_tokens": 3_000 + HEADROOM}),
        ("gpt-5.4-mini", OPENAI, {"max_completion_tokens": 3_000 + HEADROOM}),
        ("gpt-6-luna", OPENAI, {"max_completion_tokens": 3_000 + HEADROOM}),
        ("o4-mini", OPENAI, {"max_completion_tokens": 3_000 + HEADROOM}),
        ("openai/gpt-5-mini", "https://openrouter.ai/api/v1", {"max_tokens": 3_000 + HEADROOM}),
        ("qwen3:8b", LOCAL, PLAIN),
        ("olmo-2", LOCAL, PLAIN),
    ],
)
def test_the_first_request_goes_by_model_and_host(model, url, expected):
    assert first_dialect(model, url).parameters(2_000) == expected


def body(message, **fields):
    return json.dumps({"error": {"message": message, **fields}})


UNSUPPORTED = (
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
)


LEARNED = {
    "param": (body(UNSUPPORTED, param="max_tokens"), {"max_completion_tokens": 3_000, "temperature": 0}),
    "named first": (body(UNSUPPORTED), {"max_completion_tokens": 3_000, "temperature": 0}),
    "temperature": (body("'temperature' does not support 0", param="temperature"), {"max_tokens": 3_000}),
    "temperature named": (body("temperature: unknown field"), {"max_tokens": 3_000}),
    "limit": (
        body("max_tokens is too large: 3000. This model supports at most 2048 completion tokens"),
        {"max_tokens": 2_048, "temperature": 0},
    ),
    "limit behind >": (
        body("max_tokens: 3000 > 1,024, which is the maximum for model-20241022"),
        {"max_tokens": 1_024, "temperature": 0},
    ),
    "limit behind <=": (
        body("max_tokens: expected a value <= 2288, but got 3000 instead", code=400),
        {"max_tokens": 2_288, "temperature": 0},
    ),
    "a number that is no limit": (
        body("max_tokens is above what tier 3 may send to this model"),
        {"max_completion_tokens": 3_000, "temperature": 0},
    ),
    "something else": (body("the prompt is not right", param="messages"), PLAIN),
    "a longer word": (body("max_tokens_per_day is a word of its own"), PLAIN),
    "nothing": ("", PLAIN),
}


@pytest.mark.parametrize(("said", "expected"), LEARNED.values(), ids=LEARNED)
def test_a_refusal_teaches(said, expected):
    assert Dialect().after_refusal(said, 2_000).parameters(2_000) == expected


def test_a_cap_is_swapped_once():
    swapped = Dialect().after_refusal(body("no max_tokens here"), 2_000)
    assert swapped.after_refusal(body("no max_completion_tokens either"), 2_000) == swapped


SAYINGS = (UNSUPPORTED, "temperature", "max_completion_tokens", "max_tokens at most 500", "max_tokens at most 300")


@given(st.lists(st.sampled_from(SAYINGS), max_size=12))
def test_learning_comes_to_an_end(sayings):
    dialect, steps = Dialect(), 0
    for said in sayings:
        learned = dialect.after_refusal(body(said), 2_000)
        steps += learned != dialect
        dialect = learned
    assert steps <= 4


def test_thought_gets_room_and_more_if_it_was_cut():
    seen = Dialect().after_reasoning(cut=False)
    assert seen.parameters(2_000)["max_tokens"] == 3_000 + HEADROOM
    assert seen.after_reasoning(cut=False) == seen
    assert seen.after_reasoning(cut=True).headroom == 2 * HEADROOM
    for _ in range(9):
        seen = seen.after_reasoning(cut=True)
    assert seen.headroom == MOST_HEADROOM


def test_a_limit_stands_above_all_room():
    limited = Dialect(limit=1_000, headroom=HEADROOM)
    assert limited.parameters(2_000)["max_tokens"] == 1_000
    assert limited.parameters(100)["max_tokens"] == 1_000
