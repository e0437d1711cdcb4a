"""Does a run keep to so many requests and tokens a minute, whoever asks, and however often it tries again?"""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactor.errors import SummaryError
from compactor.summarizers.endpoint import Endpoint, EndpointSummarizer
from compactor.summarizers.pace import MINUTE, Pace
from tests.asked import asked, run
from tests.standin import Standin


class Time:
    """A clock that only waiting moves on."""

    def __init__(self):
        self.now = 1_000.0

    def __call__(self):
        return self.now

    async def sleep(self, seconds):
        assert seconds > 0
        self.now += seconds


def paced(rpm=0, tpm=0):
    time = Time()
    return Pace(rpm, tpm, time, time.sleep), time


async def sent(pace, time, sizes, gaps=None):
    times = []
    for size, gap in zip(sizes, gaps or [0] * len(sizes), strict=True):
        time.now += gap
        await pace.turn(size)
        times.append(time.now - 1_000.0)
    return times


@pytest.mark.parametrize(
    ("limits", "sizes", "times"),
    [
        ({}, [10**9] * 3, [0, 0, 0]),
        ({"rpm": 2}, [1] * 5, [0, 0, 60, 60, 120]),
        ({"tpm": 100}, [60, 40, 1, 99], [0, 0, 60, 60]),
        ({"tpm": 100}, [60, 60, 60], [0, 60, 120]),
        ({"tpm": 100}, [500, 10, 500, 10], [0, 60, 120, 180]),  # too large at any time: alone
        ({"rpm": 3, "tpm": 100}, [10, 10, 10, 90, 10], [0, 0, 0, 60, 60]),
    ],
)
def test_requests_wait_for_their_turn(limits, sizes, times):
    assert run(sent(*paced(**limits), sizes)) == times


@given(
    st.integers(0, 4),
    st.integers(0, 300),
    st.lists(st.tuples(st.integers(0, 400), st.floats(0, 90, allow_nan=False)), max_size=12),
)
def test_no_minute_has_more_than_its_share(rpm, tpm, calls):
    sizes, gaps = [n for n, _ in calls], [gap for _, gap in calls]
    times = run(sent(*paced(rpm, tpm), sizes, gaps))
    assert times == sorted(times)
    for start in times:
        inside = [n for n, at in zip(sizes, times, strict=True) if start <= at < start + MINUTE - 1e-6]
        assert not rpm or len(inside) <= rpm
        assert not tpm or sum(inside) <= tpm or len(inside) == 1 or sum(inside[1:]) == 0


def test_many_at_once_are_served_in_their_order():
    async def together():
        pace, time = paced(rpm=2)
        order = []

        async def one(number):
            await pace.turn(1)
            order.append((number, time.now - 1_000.0))

        await asyncio.gather(*(one(n) for n in range(6)))
        return order

    assert run(together()) == [(0, 0), (1, 0), (2, 60), (3, 60), (4, 120), (5, 120)]


def test_a_further_try_is_a_request_too():
    async def failing():
        pace, time = paced(rpm=1)
        one = EndpointSummarizer(
            Endpoint("m", endpoint.url, 30.0, 2), {}, pace=pace, sleep=time.sleep, dice=lambda: 0.5
        )
        with pytest.raises(SummaryError):
            await one.reply(asked())
        await one.close()
        return time.now - 1_000.0

    with Standin("fail_500") as endpoint:
        assert run(failing()) == 120.0
    assert endpoint.hits == 3
