"""Which parameters does this endpoint take, and what has it taught us about them?

Reasoning models of OpenAI refuse `max_tokens` and `temperature`; llama.cpp's Python server ignores
`max_completion_tokens` and would write without end; older models have their own largest output. So the first
request goes by the model's name, and an answer of 400 that names a parameter is learned from once for the run.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from compactor.summarizers.failures import said

# The ceiling is counted with our tokenizer, the cap with the model's; half as much again covers the difference.
CAP_FACTOR = 1.5
# Tokens. Reasoning counts against the cap: 2,048 were seen spent on thought alone, with an empty answer;
# 8,192 with nothing else changed cured that. A cap costs nothing where it is not used.
HEADROOM = 8_192
MOST_HEADROOM = 32_768
OPENAI_HOST = "api.openai.com"
_REASONING_MODEL = re.compile(r"(?:^|/)(?:o\d|gpt-(?:[5-9]|\d\d))", re.IGNORECASE)
_CAPS = ("max_tokens", "max_completion_tokens")
_LEAST_LIMIT = 256  # a smaller number in an error text is no output limit: a summary would not fit


@dataclass(frozen=True, slots=True)
class Dialect:
    """How to ask: the cap's parameter name, whether a temperature goes along, and the room for reasoning.

    `headroom` and `limit` are in tokens; `limit` is the largest output that the endpoint admits, if it said so.
    It only ever moves one way, so that learning comes to an end.
    """

    cap: str = "max_tokens"
    swapped: bool = False
    temperature: bool = True
    headroom: int = 0
    limit: int | None = None

    def parameters(self, ceiling: int, room: int = 0) -> dict[str, int]:
        """Bound an answer of `ceiling` tokens of ours, and make it repeatable; `room` is all there is, if known."""
        cap = int(ceiling * CAP_FACTOR) + self.headroom
        sent = {self.cap: min(n for n in (cap, self.limit, room) if n)}
        return {**sent, "temperature": 0} if self.temperature else sent

    def after_refusal(self, body: str, ceiling: int, room: int = 0) -> Dialect:
        """Learn from a 400 with this body; the same dialect if there is nothing to learn."""
        named = _named(body, self.parameters(ceiling, room))
        if named == "temperature":
            return replace(self, temperature=False)
        if named != self.cap:
            return self
        sent = self.parameters(ceiling, room)[self.cap]
        if limit := _limit(body, sent):
            return replace(self, limit=limit)
        if self.swapped:
            return self
        return replace(self, cap=_CAPS[1 - _CAPS.index(self.cap)], swapped=True)

    def after_reasoning(self, *, cut: bool) -> Dialect:
        """Make room for a model that was seen to reason, and twice as much if that cut it off."""
        wanted = min(2 * self.headroom, MOST_HEADROOM) if cut else self.headroom
        return replace(self, headroom=max(wanted, HEADROOM))


def first_dialect(model: str, base_url: str) -> Dialect:
    """Guess by the model's name and the endpoint's host; only OpenAI itself needs max_completion_tokens."""
    if not _REASONING_MODEL.search(model):
        return Dialect()
    own = urlsplit(base_url).hostname == OPENAI_HOST
    return Dialect(cap=_CAPS[own], temperature=False, headroom=HEADROOM)


def _named(body: str, sent: dict[str, int]) -> str:
    """Name the parameter of ours that an error body is about: the one in its `param`, else the first that it names."""
    about = re.search(r'"param"\s*:\s*"(\w+)"', body)
    if about and about.group(1) in sent:
        return about.group(1)
    found = re.findall(rf"\b(?:{'|'.join(sent)})\b", body)
    return found[0] if found else ""


def _limit(body: str, sent: int) -> int | None:
    """Find the largest output that a "too large" complaint admits: its greatest number below what was sent."""
    words = said(body)
    if not re.search(r"too large|at most|maximum|less than|above|exceed|<=| > ", words):
        return None
    numbers = [int(n.replace(",", "")) for n in re.findall(r"(?<![\w.-])\d[\d,]*(?![\w-])", words)]
    return max((n for n in numbers if _LEAST_LIMIT <= n < sent), default=None)
