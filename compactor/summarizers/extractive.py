"""How is a summary written without a model?

From the transcript's own structure: every line is a quotation, a path, a figure or a fixed word around one, so
nothing can be invented and the language is that of the conversation. The same request gives the same summary.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from compactor.core.summary import render
from compactor.summarizers import Reply

if TYPE_CHECKING:
    from compactor.core.prompt import Request
    from compactor.core.tokens import Count


class Extractive:
    """The summarizer that needs no model; it never fails and costs nothing."""

    name = "extractive"

    def __init__(self, count: Count) -> None:
        self._count = count

    async def reply(self, request: Request) -> Reply:
        """Answer `request` with every heading, within its ceiling."""
        from compactor.core.merge import extract  # noqa: PLC0415 - start-up time: 40 ms of patterns

        return Reply(render(extract(request, self._count)))

    async def close(self) -> None:
        """Hold nothing, let go of nothing."""
