"""Stage 1: which tool results are old, and what stands for them?

A stub says in one line what was there. It is recognised by its first words, so nothing is stubbed twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from compactor.core.results import Spot, describe, results
from compactor.core.settings import StubStyle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compactor.core.messages import Call, Group, Message, Result
    from compactor.core.settings import Settings

STUB_SENTENCE = "[Old tool output cleared to save context space]"


def prunable(
    messages: Sequence[Message], groups: Sequence[Group], start: int, stop: int, settings: Settings
) -> dict[Spot, str]:
    """Make stubs for every long result in messages [start, stop), by its place.

    Left alone: results of at most `prune_chars` characters, protected and shaped ones, stubs, and any result
    that its stub would not shorten. A message index outside [start, stop) is never in the answer.
    """
    return {
        spot: text
        for spot, call, result in results(messages, groups)
        if start <= spot.message < stop and (text := stub(call, result, settings)) is not None
    }


def stub(call: Call | None, result: Result, settings: Settings) -> str | None:
    """Return what stands for `result`, or None if it is to be left alone."""
    if result.protected or result.shaped or result.text.startswith(STUB_SENTENCE):
        return None
    if len(result.text) <= settings.prune_chars and not result.image_tokens:
        return None
    text = STUB_SENTENCE
    if settings.stub is StubStyle.DESCRIBE:
        text += " " + describe(call, result)
    if len(text) < len(result.text):
        return text
    return STUB_SENTENCE if len(STUB_SENTENCE) < len(result.text) or result.image_tokens else None
