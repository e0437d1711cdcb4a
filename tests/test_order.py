"""Do records that are no messages stay among their neighbours, and lines keep their ends?"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactor.core.messages import Handoff, Kept, Role
from compactor.formats.order import arranged, joined

HANDOFF = Handoff(Role.USER, "summary")
flags = st.lists(st.booleans(), max_size=12)


def numbered(is_message):
    count = iter(range(len(is_message)))
    return [next(count) if flag else None for flag in is_message]


def origins(indexes, kept, at):
    """Where everything stands when `kept` messages stay and a handoff comes before the `at`-th of them."""
    pieces = [Kept(n) for n in kept]
    return [place.origin for place in arranged(indexes, [*pieces[:at], HANDOFF, *pieces[at:]])]


@given(flags)
def test_with_every_message_nothing_moves(is_message):
    indexes = numbered(is_message)
    places = arranged(indexes, [Kept(n) for n in range(sum(is_message))])
    assert [p.origin for p in places] == list(range(len(indexes)))
    assert [p.piece is not None for p in places] == is_message


@given(flags, st.data())
def test_records_that_are_no_messages_stay_in_order_whatever_goes(is_message, data):
    indexes = numbered(is_message)
    kept = [n for n in range(sum(is_message)) if data.draw(st.booleans())]
    at = data.draw(st.integers(0, len(kept)))
    found = origins(indexes, kept, at)
    originals = [n for n in found if n is not None]
    assert found.count(None) == 1
    assert originals == sorted(originals)
    assert originals == [n for n, index in enumerate(indexes) if index is None or index in kept]


@pytest.mark.parametrize(
    ("indexes", "kept", "at", "order"),
    [
        ([None, 0, 1, 2], [2], 0, [0, None, 3]),  # a header stays at the top
        ([0, None, 1, None, 2], [0, 2], 1, [0, 1, None, 3, 4]),  # before the first that goes; among those that go
        ([0, 1, None], [0], 1, [0, None, 2]),
        ([0, None], [0], 1, [0, 1, None]),
        ([], [], 0, [None]),
    ],
)
def test_the_handoff_stands_where_the_middle_began(indexes, kept, at, order):
    assert origins(indexes, kept, at) == order


line_ends = st.sampled_from([b"\n", b"\r\n", b""])


@given(st.lists(st.tuples(st.binary(max_size=3).map(lambda b: b.replace(b"\n", b"")), line_ends), max_size=6))
def test_all_lines_joined_are_the_file(lines):
    raws = [text + end for text, end in lines if text + end]
    assert joined(raws, list(enumerate(raws))) == b"".join(raws)


@pytest.mark.parametrize(
    ("originals", "chosen", "file"),
    [
        ([b"a\n", b"b\n"], [0, None, 1], b"a\nNEW\nb\n"),
        ([b"a\r\n", b"b\r\n"], [0, None, 1], b"a\r\nNEW\r\nb\r\n"),
        ([b"a\n", b"b"], [0, None, 1], b"a\nNEW\nb"),  # no line end at the end, before or after
        ([b"a\n", b"b"], [0], b"a"),
        ([b"a\r\n", b"b"], [0], b"a"),
        ([b"a\n", b"b"], [1, None], b"b\nNEW"),
        ([b"a", b"b\n", b"c\n"], [0, 1, 2], b"ab\nc\n"),  # glued together
        ([b"a", b"b\n", b"c\n"], [0, 2], b"a\nc\n"),
        ([b"a", b"b\n"], [0], b"a\n"),
        ([b"a", b"b\n"], [0, None], b"a\nNEW\n"),
        ([b"a"], [0, None], b"a\nNEW"),
        ([b"\xef\xbb\xbfa\n", b"b\n"], [0, 1], b"\xef\xbb\xbfa\nb\n"),
        ([b"\xef\xbb\xbfa\n", b"b\n"], [None, 0], b"NEW\na\n"),  # a byte order mark stands first or not at all
        ([b"a\n"], [], b""),
        ([], [], b""),
    ],
)
def test_lines_that_did_not_follow_one_another_are_set_apart(originals, chosen, file):
    assert joined(originals, [(n, b"NEW" if n is None else originals[n]) for n in chosen]) == file
