"""How much does an endpoint take, by the words with which it refuses a prompt that is too long?"""

from __future__ import annotations

import re

# The wordings of OpenAI and vLLM, llama.cpp, LM Studio, Anthropic, Gemini, and of others with some of the same words.
_WINDOW = (
    r"maximum context length (?:is|of) (\d[\d,]*)",
    r'"n_ctx"\s*:\s*(\d+)',
    r"context length of only (\d[\d,]*)",
    r"> (\d[\d,]*) maximum",
    r"maximum number of (?:input )?tokens allowed \((\d+)\)",
    r"(?:context|model)[ _](?:window|length|size|limit)\D{0,40}?(\d[\d,]{3,})",
    r"token limit\D{0,20}?(\d[\d,]{3,})",
    r"(?:limit|maximum)\D{0,20}?(\d[\d,]{3,}) tokens",
)
_COUNTED = (
    r"(?:has|with|contains) (?:at least )?(\d[\d,]*) (?:input|prompt) tokens",
    r"(\d[\d,]*) (?:tokens? )?in (?:the|your) (?:messages|prompt)",
    r'"n_prompt_tokens"\s*:\s*(\d+)',
    r"too long: (\d[\d,]*)",
    r"input token count \((\d+)\)",
    r"(?:resulted in|requested(?: about)?|keep the first) (\d[\d,]*)",
)
LEAST = 512  # tokens; a smaller figure is something else
MOST_DIGITS = 12  # commas included; so is one of more digits


def stated(body: str) -> tuple[int, int]:
    """Find the window, and the tokens that the prompt was counted to have; 0 for what the body does not say."""
    return _first(_WINDOW, body), _first(_COUNTED, body)


def _first(patterns: tuple[str, ...], body: str) -> int:
    for pattern in patterns:
        found = re.search(pattern, body, re.IGNORECASE)
        if found and len(found[1]) <= MOST_DIGITS and (number := int(found[1].replace(",", ""))) >= LEAST:
            return number
    return 0
