"""What does the work on one conversation need, and what does it give?"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from compactor.core.report import Prices
from compactor.formats.convert import Target

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from compactor.core.report import Report
    from compactor.core.settings import Settings
    from compactor.core.state import Entry
    from compactor.core.tokens import Count
    from compactor.errors import PromptTooLong
    from compactor.summarizers import Summarizer


class Native(StrEnum):
    """How a compaction is written in formats with a mark for it: a smaller file, or all old records and the mark."""

    REWRITE = "rewrite"
    APPEND = "append"


# Seconds that the others wait for the first call: a key is refused far sooner, and one slow row delays nobody for long.
PATIENCE = 5.0
# Tokens. The instructions take 900 and the notes so far a quarter; with less there is no room for turns.
LEAST_WINDOW = 3_500
SHRINK = 0.6  # of a prompt that was refused without a figure, for the next: tokenizers differ by about a third
MARGIN = 0.95  # of a window that was stated: its tokens are converted by one prompt's ratio


@dataclass(slots=True)
class Breaker:
    """Why the summarizer is not to be asked again in this run; "" while it may be.

    Until the first call has come back it is the only one in flight, so that a wrong key costs one call and not one for
    each job; but nobody waits longer than `patience` seconds for it.
    """

    why: str = ""
    patience: float = PATIENCE
    _begun: bool = False
    _back: asyncio.Event = field(default_factory=asyncio.Event)

    @asynccontextmanager
    async def one_first(self) -> AsyncIterator[None]:
        """Go first, or wait for the one that did."""
        if self._begun:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._back.wait(), self.patience)
            yield
            return
        self._begun = True
        try:
            yield
        finally:
            self._back.set()


@dataclass(slots=True)
class Window:
    """Tokens that the summarizer takes, prompt and answer together; 0 while nobody has said or found out."""

    tokens: int = 0

    def learn(self, size: int, answer: int, error: PromptTooLong) -> bool:
        """Remember that a prompt of `size` tokens with room for `answer` was too much; False if too little is left."""
        tried = size + answer
        if not self.tokens or tried <= self.tokens:  # else another call has found out meanwhile
            ratio = size / error.counted if error.counted else 1 / (1 + SHRINK / 2)
            stated = int(error.window * ratio * MARGIN)
            self.tokens = stated if 0 < stated < tried else int(tried * SHRINK)
        return self.tokens >= LEAST_WINDOW


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
    prices: Prices = Prices()


@dataclass(frozen=True, slots=True)
class Done:
    """What became of a conversation: the bytes to write, the report, and what the sidecar is to keep (None: as is)."""

    content: bytes
    report: Report
    entry: Entry | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """What the sidecar knows: the conversation's key, its own entry, and the entries that may fit it.

    `ready` raises OutputError if the sidecar cannot be written; it is asked before a call is paid for. `alone` says
    that the file holds no other conversation, so that what the sidecar knows can only be of this one.
    """

    key: str
    own: Entry | None
    candidates: tuple[Entry, ...]
    ready: Callable[[], None]
    alone: bool = False
