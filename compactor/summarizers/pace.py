"""When may the next request go out, if an endpoint takes so many requests and tokens a minute?"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

MINUTE = 60.0  # seconds


@dataclass(slots=True)
class Pace:
    """Keeps all requests of a run within `rpm` requests and `tpm` tokens in any minute; 0 is no limit.

    First come, first served. The clock (seconds, only ever forward) and the waiting are arguments.
    """

    rpm: int = 0
    tpm: int = 0
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    _sent: deque[tuple[float, int]] = field(default_factory=deque)
    _line: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def turn(self, tokens: int) -> None:
        """Wait until a request of `tokens` may go out; one that is over the limit alone goes when nothing else has."""
        if not self.rpm and not self.tpm:
            return
        async with self._line:
            while (seconds := self._wait(tokens)) > 0:
                await self.sleep(seconds)
            self._sent.append((self.clock(), tokens))

    def _wait(self, tokens: int) -> float:
        """Give the seconds until enough of what was sent is a minute old."""
        now = self.clock()
        while self._sent and self._sent[0][0] <= now - MINUTE:
            self._sent.popleft()
        requests, spent, free = len(self._sent), sum(n for _, n in self._sent), now
        for at, gone in self._sent:
            if not ((self.rpm and requests >= self.rpm) or (self.tpm and spent + tokens > self.tpm)):
                break
            requests, spent, free = requests - 1, spent - gone, at + MINUTE
        return free - now
