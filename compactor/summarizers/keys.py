"""How does the API key stay out of every text that an endpoint sends back?"""

from __future__ import annotations

import re

MASK = "[key]"
_WINDOW = 8  # characters of a key in a row that give it away; shorter keys are placeholders such as "ollama"
_KEY_SHAPED = re.compile(
    r"\b(?:sk|gsk|csk|xai|pplx|nvapi|hf|r8)[-_][\w*.…-]{4,}|\bAIza[\w-]{10,}|[\w…-]*\*{3,}[\w*.…-]*|"
    r"(?<=\bBearer )[\w.*…+/=-]+"
)
_RUN = re.compile(r"[\w*.…+/=~-]+")


def masked(text: str, key: str) -> str:
    """Take the API key out of an error text, whole or in part, and whatever else looks like one.

    Servers repeat a key that they refuse, some of them shortened to its ends. JSON stays valid JSON.
    """
    if len(key) < _WINDOW:
        text = re.sub(rf"(?<!\w){re.escape(key)}(?!\w)", MASK, text) if key else text
    else:
        parts = {key[i : i + _WINDOW] for i in range(len(key) - _WINDOW + 1)}
        text = _RUN.sub(lambda run: MASK if any(p in run.group() for p in parts) else run.group(), text)
    return _KEY_SHAPED.sub(MASK, text)


def without_key(text: str, key: str) -> str:
    """Take the key itself out of an answer; what only looks like one belongs to the transcript."""
    return text.replace(key, MASK) if len(key) >= _WINDOW else text
