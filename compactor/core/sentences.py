"""Where do the sentences of a text begin and end?

Sentences are substrings of their text (only runs of blanks become one), so that whatever quotes one quotes
the speaker. Code in fences, quoted lines, tables and machine-made blocks are not prose and are left out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# What is examined of one text and of one line: beyond it stands pasted material, not speech. It also bounds
# the time that any one message can take.
TEXT_CHARS = 24_000
LINE_CHARS = 4_000
SENTENCE_CHARS = 4  # "OK." says nothing by itself
# Fullwidth forms are written as escapes, because they look like their ASCII sisters.
QUESTION_MARKS = ("?", "\uff1f")
COLONS = (":", "\uff1a")
TRAILING = "*_`\"')\u201d\u300d "  # what may stand after the mark that ends a sentence

_MACHINE = re.compile(
    r"<(system-reminder|local-command-\w+|command-message|command-name|environment_\w+|ide_\w+|"
    r"think|thinking|reasoning|thought)\b[^>]*>.*?</\1>",
    re.DOTALL | re.IGNORECASE,
)
_REMINDER = re.compile(r"\s*<system-reminder\b[^>]*>.*?</system-reminder>", re.DOTALL | re.IGNORECASE)
_WRAPPER = re.compile(r"</?[a-z]+(?:[-_][a-z]+)+>")  # <pr_description>, <command-args>; <br> and <T> are speech
_REASONING_TAG = re.compile(r"<(?=/?(?:think|thinking|reasoning|thought)>)", re.IGNORECASE)
_FENCE = re.compile(r"^\s*(?:```|~~~)", re.MULTILINE)
_MARKER = re.compile(r"^\s*(?:(?:[-*+•▪◦]|\*{0,2}\d{1,3}[.)、]\*{0,2}|\(\w\)|\[[ xX~]\])\s+){1,2}")
# "IMPORTANT: ...", "HARD CONSTRAINT: ...": whoever writes so means the whole line as one statement.
LABEL = re.compile(r"^[A-Z][A-Z _-]{2,30}[A-Z]: ")
LABELLED_CHARS = 400
_END = re.compile(r"(?<=[.!?\u2026])[\"'\u201d\u2019)\]*]{0,3}\s+(?=[^a-z\s])|(?<=[\u3002\uff01\uff1f])(?!\s*$)")
# Whoever begins a line with a small letter begins sentences so, too.
_END_IN_SMALL = re.compile(
    r"(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\betc\.)(?<!\bvs\.)(?<!\.\.)[\"'\u201d\u2019)\]*]{0,3}\s+"
)


def flat(text: str) -> str:
    """Put `text` on one line, runs of blanks as one; tags that models write their reasoning in lose their bracket."""
    plain = text if text.isascii() else text.encode("utf-8", "replace").decode()
    return _REASONING_TAG.sub("", " ".join(plain.split()))


def clip(text: str, limit: int) -> str:
    """Take the beginning of `text` in at most `limit` characters, cut between words where there are any, and "…"."""
    if len(text) <= limit:
        return text
    cut = text[: max(limit - 1, 0)]
    blank = cut.rfind(" ", limit // 2)
    return (cut[:blank] if blank > 0 else cut).rstrip() + "…"


def said(text: str) -> str:
    """Leave out of `text` the blocks that programs have put into it, and the tags that programs put around speech."""
    text = text if len(text) <= TEXT_CHARS else text[: TEXT_CHARS * 3 // 4] + "\n" + text[-TEXT_CHARS // 4 :]
    return _WRAPPER.sub("", _MACHINE.sub("", text)) if "</" in text else text


def without_reminders(text: str) -> str:
    """Leave out of a tool's result or a message what the harness reminded the assistant of: nobody there said it."""
    return _REMINDER.sub("", text) if "</system-reminder>" in text else text


def paragraphs(text: str) -> Iterator[str]:
    """Yield the lines of prose in `text`, without list markers: no code, quotations or tables."""
    for n, block in enumerate(_FENCE.split(said(text))):
        if n % 2:
            continue
        for line in block.splitlines():
            bare = _MARKER.sub("", line[:LINE_CHARS]).strip()
            if bare and not bare.startswith((">", "|", "#", "+++", "---", "===", "@@", "diff ")):
                yield bare


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of `text`, each on one line."""
    for line in paragraphs(text):
        whole = bool(LABEL.match(line)) and len(line) <= LABELLED_CHARS
        end = _END_IN_SMALL if "a" <= line[0] <= "z" else _END
        for piece in (line,) if whole else end.split(line):
            sentence = flat(piece)
            if len(sentence) >= SENTENCE_CHARS:
                yield sentence


def question(text: str) -> str:
    """Find the last question that `text` asks; "" if it asks none."""
    asked = [s for s in sentences(text) if s.rstrip(TRAILING).endswith(QUESTION_MARKS)]
    return asked[-1] if asked else ""
