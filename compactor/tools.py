"""What does the work on one conversation need, and what does it give?"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from compactor.formats.convert import Target

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from compactor.core.report import Report
    from compactor.core.settings import Settings
    from compactor.core.state import Entry
    from compactor.core.tokens import Count
    from compactor.summarizers import Summarizer


class Native(StrEnum):
    """How a compaction is written in formats with a mark for it: a smaller file, or all old records and the mark."""

    REWRITE = "rewrite"
    APPEND = "append"


PATIENCE = 5.0  # seconds; one slow row delays nobody for long


@dataclass(slots=True)
class Breaker:
    """Why the summarizer is not to be asked again in this run; "" while it may be.

    Until one call has come back (`proven`) there is only one in flight, so that a wrong key costs one call and not one
    for each job; but nobody waits longer than PATIENCE for it.
    """

    why: str = ""
    proven: bool = False
    _door: asyncio.Lock = field(default_factory=asyncio.Lock)

    @asynccontextmanager
    async def one_first(self) -> AsyncIterator[None]:
        """Hold the door until the first call has come back."""
        if self.proven:
            yield
            return
        try:
            await asyncio.wait_for(self._door.acquire(), PATIENCE)
        except TimeoutError:
            yield
            return
        try:
            yield
        finally:
            self._door.release()


@dataclass(slots=True)
class Window:
    """Tokens that the summarizer takes, prompt and answer together; 0 while nobody has said or found out."""

    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Tools:
    """What an attempt works with.

    `summarizer` None means that code alone writes the summaries;
    `clock` gives seconds since the epoch; `calls` bounds the calls in flight; `mask` takes out secrets.
    """

    settings: Settings
    count: Count
    summarizer: Summarizer | None
    clock: Callable[[], float]
    calls: asyncio.Semaphore
    mask: Callable[[str], str]
    native: Native = Native.REWRITE
    to: Target = Target.SAME
    breaker: Breaker = field(default_factory=Breaker)
    window: Window = field(default_factory=Window)


@dataclass(frozen=True, slots=True)
class Done:
    """What became of a conversation: the bytes to write, the report, and what the sidecar is to keep (None: as is)."""

    content: bytes
    report: Report
    entry: Entry | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """What the sidecar knows: the conversation's key, its own entry, and the entries that may fit it.

    `ready` raises OutputError if the sidecar cannot be written; it is asked before a call is paid for.
    """

    key: str
    own: Entry | None
    candidates: tuple[Entry, ...]
    ready: Callable[[], None]
