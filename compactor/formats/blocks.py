"""What do the blocks of a message hold, for formats that write words, thoughts, calls and results as typed blocks?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from compactor.core.messages import Call, Message, Result, Role

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Content:
    """What the blocks of one record hold, or of several; `shown` is what the tool itself says to the model."""

    texts: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    reasoning: tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()
    results: tuple[Result, ...] = ()
    tokens: int = 0

    @property
    def only_results(self) -> bool:
        """Tell whether it is results and nothing else."""
        return bool(self.results) and not (self.texts or self.shown)


def joined(parts: Iterable[Content]) -> Content:
    """Join the contents of several blocks or records."""
    listed = list(parts)
    return Content(
        tuple(t for p in listed for t in p.texts),
        tuple(t for p in listed for t in p.shown),
        tuple(t for p in listed for t in p.reasoning),
        tuple(c for p in listed for c in p.calls),
        tuple(r for p in listed for r in p.results),
        sum(p.tokens for p in listed),
    )


def message(role: Role, content: Content) -> Message:
    """Make the message that a model would be given."""
    return Message(
        role,
        "\n".join(content.texts),
        content.calls,
        content.results,
        "\n".join(content.reasoning),
        other="\n".join(content.shown),
        image_tokens=content.tokens,
    )
