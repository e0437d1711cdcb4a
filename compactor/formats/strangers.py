"""What is a file whose conversations have a form that cannot be compacted, and what is to be done instead?"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Where logs of requests keep what was sent.
_SENT = ("request_params", "request", "request_body")
_FLAT = "messages_display"


class Stranger(NamedTuple):
    """What it is, and the next step."""

    what: str
    next_step: str


def stranger(values: Sequence[Mapping[str, object]]) -> Stranger | None:
    """Recognise a file by its first objects; None if it is unknown."""
    for value in values:
        key = next((key for key in _SENT if _has_messages(value.get(key))), None)
        if key:
            return Stranger(
                f'a log of requests, each of which repeats the messages before it under "{key}"',
                f"write the last one into a file of its own (jq -c '.{key} // empty' LOG | tail -n 1) and compact that",
            )
        if isinstance(value.get(_FLAT), str):
            return Stranger(
                f'"{_FLAT}" is one text, in which nothing tells a turn from words about one',
                "compact the messages that it was made from",
            )
    return None


def _has_messages(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("messages"), list)
