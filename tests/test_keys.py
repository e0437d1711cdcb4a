"""Is no part of an API key shown, and everything else?"""

import json

import pytest

from compactor.summarizers.keys import masked, without_key

KEY = "sk-proj-Qm9va3MgYXJlIGdvb2Qu-1234"


@pytest.mark.parametrize(
    "text",
    [
        f"Incorrect API key provided: {KEY}. Find yours at https://example.org.",
        f'{{"error": {{"message": "bad key \\"{KEY}\\" here"}}}}',
        f"key={KEY}&x=1",
        f"...{KEY[4:20]}",
        f"{KEY[:12]}...",
        f"{KEY[:7]}{'*' * 20}{KEY[-4:]}",
        f"sk-...{KEY[-4:]}",
        f"{'*' * 8}{KEY[-4:]}",
        f"Authorization: Bearer {KEY}",
    ],
)
def test_no_part_of_the_key_is_shown(text):
    shown = masked(text, KEY)
    assert "[key]" in shown
    assert not any(KEY[i : i + 4] in shown for i in range(7, len(KEY) - 3)), shown
    if text.startswith("{"):
        assert json.loads(shown)


def test_keys_of_others_are_hidden_as_well():
    for key in ("gsk_abcdefghijklmnop", "AIzaSyA1234567890abcdef", "xai-abcdefghijkl"):
        assert key not in masked(f"wrong key {key}", "")


def test_what_is_no_key_is_shown():
    text = "The model `gpt-4o-mini` is at https://api.example.org/v1: skip 5,000 of 9,000 tokens *now*, task-list ok"
    assert masked(text, KEY) == text
    assert masked(text, "") == text


def test_a_placeholder_hides_itself_alone():
    assert masked("ollama said: no ollama_model for ollama", "ollama") == "[key] said: no ollama_model for [key]"


def test_an_answer_loses_the_key_and_nothing_else():
    assert without_key(f"- the key is {KEY}, the other sk-...abcd", KEY) == "- the key is [key], the other sk-...abcd"
    assert without_key("- an ox, a box", "x") == "- an ox, a box"
