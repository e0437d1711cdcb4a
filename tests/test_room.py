"""Room is shared by weight; no family eats it, and none is wasted."""

from hypothesis import given
from hypothesis import strategies as st

from compactor.core.room import Claim, apportion
from tests.making import COUNT


def lines(prefix, number, size=10):
    return [Claim(f"- {prefix}{n} {'x' * size}") for n in range(number)]


def cost(taken):
    return sum(COUNT(text + "\n") for text in taken.values())


def test_families_share_by_weight():
    taken = apportion({"a": lines("a", 99), "b": lines("b", 99)}, {"a": 3, "b": 1}, 400, COUNT)
    of_a, of_b = (sum(f == name for f, _ in taken) for name in "ab")
    assert 2.5 < of_a / of_b < 3.5
    assert 0.9 * 400 < cost(taken) <= 400


def test_what_one_family_does_not_need_the_other_gets():
    taken = apportion({"a": lines("a", 2), "b": lines("b", 99)}, {"a": 99, "b": 1}, 400, COUNT)
    assert sum(f == "a" for f, _ in taken) == 2
    assert cost(taken) > 0.9 * 400


def test_the_first_of_a_queue_go_in():
    taken = apportion({"a": lines("a", 99)}, {"a": 1}, 100, COUNT)
    assert sorted(n for _, n in taken) == list(range(len(taken)))


def test_a_line_that_does_not_fit_makes_way_for_a_shorter_one():
    claims = {"a": [Claim("- " + "x" * 9_000), Claim("- short")]}
    assert apportion(claims, {"a": 1}, 50, COUNT) == {("a", 1): "- short"}


def test_a_list_line_leaves_out_what_is_said_elsewhere():
    claims = {
        "list": [Claim("- Numbers: 3 cats; 4 dogs [1]", ("3 cats", "4 dogs"))],
        "told": [Claim('- "There were 3 cats." [1]')],
    }
    for weights in ({"list": 9, "told": 1}, {"list": 1, "told": 9}):
        taken = apportion(claims, weights, 100, COUNT)
        assert taken["list", 0] == "- Numbers: 4 dogs [1]"


def test_a_list_line_goes_if_all_of_it_is_said_elsewhere():
    claims = {"list": [Claim("- Numbers: 3 cats [1]", ("3 cats",))], "told": [Claim("- 3 cats came")]}
    assert apportion(claims, {"list": 9, "told": 1}, 100, COUNT) == {("told", 0): "- 3 cats came"}


@given(
    st.dictionaries(st.sampled_from("abcd"), st.lists(st.text("xy ", min_size=1, max_size=80), max_size=9)),
    st.integers(-5, 200),
)
def test_room_is_never_exceeded_and_the_choice_repeats(texts, room):
    queues = {f: [Claim(t) for t in queue] for f, queue in texts.items()}
    weights = dict.fromkeys("abcd", 1.0)
    taken = apportion(queues, weights, room, COUNT)
    assert cost(taken) <= max(room, 0)
    assert taken == apportion(queues, weights, room, COUNT)
