"""Is work that is done side by side had back in its order, in a bounded window, and stopped when it has to be?"""

import asyncio

import pytest

from compactor.lanes import in_order, side_by_side


class Shop:
    """Work that ends when it is told to; it knows what was begun, what is going on, and the most at a time."""

    def __init__(self, ends_at_once=True):
        self.begun, self.going, self.most, self.cancelled = [], 0, 0, []
        self.gate = asyncio.Event()
        if ends_at_once:
            self.gate.set()

    async def work(self, item):
        self.begun.append(item)
        self.going += 1
        self.most = max(self.most, self.going)
        try:
            await asyncio.sleep(0)
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled.append(item)
            raise
        finally:
            self.going -= 1
        return -item


async def turns(count=20):
    for _ in range(count):
        await asyncio.sleep(0)


def left(item):
    return f"{item} left"


async def collected(shop, items, window=3, stop=None):
    return [pair async for pair in in_order(items, shop.work, left, stop or asyncio.Event(), window)]


@pytest.mark.parametrize("window", [1, 2, 7, 100])
@pytest.mark.parametrize("count", [0, 1, 7, 30])
def test_results_come_in_the_order_of_the_items_and_no_more_is_begun_than_the_window_holds(window, count):
    async def main():
        shop = Shop()
        assert await collected(shop, range(count), window) == [(n, -n) for n in range(count)]
        assert shop.begun == list(range(count))
        assert shop.most == min(window, count)

    asyncio.run(main())


def test_the_first_that_is_slow_keeps_its_place():
    async def main():
        slow = asyncio.Event()

        async def work(item):
            if item == 0:
                await slow.wait()
            elif item == 2:
                slow.set()
            return item

        got = [item async for item, _ in in_order(range(5), work, left, asyncio.Event(), 3)]
        assert got == [0, 1, 2, 3, 4]

    asyncio.run(main())


def test_items_are_taken_only_when_there_is_room():
    async def main():
        taken = []

        def items():
            for n in range(100):
                taken.append(n)
                yield n

        async for item, _ in in_order(items(), Shop().work, left, asyncio.Event(), 4):
            assert len(taken) <= item + 4

    asyncio.run(main())


def test_after_a_stop_what_is_finished_counts_and_the_rest_is_left():
    async def main():
        shop, stop = Shop(ends_at_once=False), asyncio.Event()
        running = asyncio.ensure_future(collected(shop, range(6), 3, stop))
        await turns()
        assert shop.begun == [0, 1, 2]
        stop.set()
        assert await running == [(n, f"{n} left") for n in range(6)]
        assert shop.going == 0

    asyncio.run(main())


def test_an_error_goes_through_and_stops_what_is_under_way():
    async def main():
        shop = Shop(ends_at_once=False)

        async def work(item):
            if item == 0:
                await turns()
                raise ZeroDivisionError
            return await shop.work(item)

        with pytest.raises(ZeroDivisionError):
            async for _ in in_order(range(5), work, left, asyncio.Event(), 3):
                pass
        assert shop.cancelled == [1, 2]

    asyncio.run(main())


def test_who_stops_listening_leaves_nothing_under_way():
    async def main():
        shop = Shop()
        stream = in_order(range(9), shop.work, left, asyncio.Event(), 3)
        assert await anext(stream) == (0, 0)
        shop.gate.clear()
        await stream.aclose()
        assert shop.going == 0

    asyncio.run(main())


@pytest.mark.parametrize("most", [1, 2, 5])
def test_side_by_side_does_everything_and_at_most_so_many_at_once(most):
    async def main():
        shop = Shop()
        await side_by_side([lambda n=n: shop.work(n) for n in range(9)], most)
        assert sorted(shop.begun) == list(range(9))
        assert shop.most == most

    asyncio.run(main())
