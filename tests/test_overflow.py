"""Is the window read from the words of a refusal, and is nothing else taken for one?"""

import pytest

from compactor.summarizers.overflow import stated
from tests.standin import BEHAVIOURS, Ask

SAID = {
    "context_400": (8_192, 40_035),
    "context_400_both": (8_192, 37_035),
    "context_400_vllm": (8_192, 8_193),
    "context_400_llamacpp": (4_096, 9_001),
    "context_400_anthropic": (200_000, 208_310),
    "context_400_gemini": (1_048_576, 1_190_000),
    "context_200": (4_096, 9_000),
    "context_413": (0, 0),
}


def test_every_dialect_is_known():
    assert {name for name in BEHAVIOURS if name.startswith("context_")} == set(SAID)


@pytest.mark.parametrize("behaviour", SAID)
def test_a_refusal_states_its_window(behaviour):
    ask = Ask(1, "", {}, {"model": "m", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 9}, 0.0)
    assert stated(BEHAVIOURS[behaviour](ask).data.decode()) == SAID[behaviour]


@pytest.mark.parametrize(
    ("body", "figures"),
    [
        ("", (0, 0)),
        ("max_tokens must be at least 1, got -186.", (0, 0)),
        ("maximum context length is 32,768 tokens. However, you requested about 90,000 tokens", (32_768, 90_000)),
        ("Your request exceeded model token limit: 131072", (131_072, 0)),
        ("the context window of 4k is too small", (0, 0)),
        ("maximum context length is 12 tokens", (0, 0)),
        (f"maximum context length is {'9' * 400} tokens", (0, 0)),
        (f"maximum context length is 8192 tokens. However, you requested {'9' * 5_000}", (8_192, 0)),
    ],
)  # fmt: skip
def test_other_words(body, figures):
    assert stated(body) == figures
