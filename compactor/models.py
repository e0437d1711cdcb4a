"""Which encoding, and which share of its tokens, does the name of a model stand for?"""

from __future__ import annotations

import re

# As the name begins, or goes on after its provider. From tiktoken/model.py; the encoding of gpt-oss
# (o200k_harmony) is o200k_base with other special tokens.
_PUBLIC = {
    "o200k_base": r"gpt-4o|gpt-4\.[15]|gpt-5|gpt-oss|chatgpt-|o[134](?![a-z0-9])",
    "cl100k_base": r"gpt-4(?![.\w])|gpt-3\.?5|text-embedding-(?:3|ada-002)|(?:davinci|babbage)-002",
}

_STAND_IN = "o200k_base"  # for models whose tokenizer is not public

# Percent of the tokens of o200k_base. Measured on 55 MB of code, JSON, logs, shell output, prose and chat
# transcripts: Qwen 3 115, Qwen 3.5 117 and up to 137 in logs (a token for each digit), Llama 3 101, DeepSeek
# V3 102. In this order, as a distilled model ("deepseek-r1-distill-qwen-32b") has the tokenizer of its base.
_FAMILIES = {"qwen": 120, "qwq": 120, "llama": 100, "deepseek": 100}

# Measured on the same texts: 110, with the vocabulary of Claude 2, the last one published. Opus 4.7, Sonnet 5
# and later have another tokenizer, with about 30 % more tokens for the same text (Anthropic's documentation).
_CLAUDE_OLD, _CLAUDE_NEW = 110, 140
_CLAUDE_VERSION = re.compile(r"claude(?:-[a-z]+)?-v?(\d{1,2})(?:[.-](\d{1,2}))?(?!\d)")


def counted_as(model: str) -> tuple[str, int, str]:
    """Say how a model's tokens are counted: encoding, percent of its tokens, and the family where that is a guess.

    The family is "" if the encoding is the model's own.
    """
    model = model.lower()
    for encoding, names in _PUBLIC.items():
        if re.search(rf"(?:^|[/:.])(?:{names})", model):
            return encoding, 100, ""
    if _is_of("claude", model):
        return _STAND_IN, _claude_percent(model), "claude"
    for family, percent in _FAMILIES.items():
        if _is_of(family, model):
            return _STAND_IN, percent, family
    return _STAND_IN, 100, "unknown model"


def _is_of(family: str, model: str) -> bool:
    return re.search(rf"(?<![a-z]){family}", model) is not None  # "ollama/..." is no llama


def _claude_percent(model: str) -> int:
    found = _CLAUDE_VERSION.search(model)
    if found is None:
        return _CLAUDE_NEW  # a name without a version means the latest
    version = int(found[1]), int(found[2] or 0)
    return _CLAUDE_NEW if version >= ((4, 7) if "opus" in model else (5, 0)) else _CLAUDE_OLD
