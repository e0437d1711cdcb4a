"""How are many things worked on side by side, and had back in their order?"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable

T = TypeVar("T")
R = TypeVar("R")


async def in_order(
    items: Iterable[T], work: Callable[[T], Awaitable[R]], left: Callable[[T], R], stop: asyncio.Event, window: int
) -> AsyncIterator[tuple[T, R]]:
    """Give each item with its result, in order, while up to `window` of them are worked on.

    Work is begun in order, too. Once `stop` is set, what is not finished is given as `left` says.
    """
    flying: deque[tuple[T, asyncio.Future[R]]] = deque()
    try:
        for item in items:
            flying.append((item, asyncio.ensure_future(work(item))))
            while len(flying) >= (1 if stop.is_set() else window):
                first, future = flying.popleft()
                yield first, await _landed(first, future, left, stop)
        while flying:
            first, future = flying.popleft()
            yield first, await _landed(first, future, left, stop)
    finally:
        for _, future in flying:
            future.cancel()
        await asyncio.gather(*(future for _, future in flying), return_exceptions=True)


async def _landed(item: T, future: asyncio.Future[R], left: Callable[[T], R], stop: asyncio.Event) -> R:
    """Wait for a result, or for the stop."""
    stopping = asyncio.ensure_future(stop.wait())
    try:
        either: list[asyncio.Future[Any]] = [future, stopping]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if future.done():
            return future.result()
        future.cancel()
        return left(item)
    finally:
        stopping.cancel()


async def side_by_side(work: Iterable[Callable[[], Awaitable[None]]], most: int) -> None:
    """Do everything in `work`, at most so many at once."""
    room = asyncio.Semaphore(most)

    async def one(task: Callable[[], Awaitable[None]]) -> None:
        async with room:
            await task()

    await asyncio.gather(*(one(task) for task in work))
