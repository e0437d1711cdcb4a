"""Which settings are refused, and what follows from those that are not?"""

from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactor.core.settings import OnFailure, Settings, StubStyle
from compactor.errors import UsageError

TOKENS = st.integers(0, 200_000)
BUDGETS = st.builds(
    lambda least, more, ratio: Settings(summary_min=least, summary_max=least + more, summary_ratio=ratio),
    st.integers(0, 5_000),
    st.integers(0, 20_000),
    st.floats(0.01, 0.5),
)


@pytest.mark.parametrize("name", [f.name for f in fields(Settings) if type(f.default) is int])
def test_no_size_is_negative(name):
    with pytest.raises(UsageError, match=f"{name} is -1"):
        Settings(**{name: -1})


@pytest.mark.parametrize("threshold", [0.0, -0.5, 1.01, float("nan")])
def test_a_threshold_is_a_share_of_the_window(threshold):
    with pytest.raises(UsageError, match="threshold is"):
        Settings(threshold=threshold)


@pytest.mark.parametrize("ratio", [0.0, -0.1, 0.51, float("nan")])
def test_a_summary_never_takes_more_than_half_of_what_it_stands_for(ratio):
    with pytest.raises(UsageError, match="summary_ratio is"):
        Settings(summary_ratio=ratio)


def test_the_smallest_summary_budget_is_not_over_the_largest():
    assert Settings(summary_min=100, summary_max=100).summary_max == 100
    with pytest.raises(UsageError, match="summary_min 101 is over summary_max 100"):
        Settings(summary_min=101, summary_max=100)


def test_a_window_of_nothing_is_refused():
    with pytest.raises(UsageError, match="context_window is 0"):
        Settings(context_window=0)


def test_the_defaults_are_those_of_the_design():
    s = Settings()
    assert (s.context_window, s.threshold, s.trigger) == (128_000, 0.5, 64_000)
    assert (s.protect_first, s.tail_tokens, s.tail_messages, s.prune_chars) == (3, 20_000, 0, 200)
    assert (s.summary_ratio, s.summary_min, s.summary_max) == (0.2, 2_000, 12_000)
    assert (s.stub, s.on_failure, s.cooldown) == (StubStyle.DESCRIBE, OnFailure.KEEP, 600)


def test_every_setting_says_why_it_is_what_it_is():
    assert [f.name for f in fields(Settings) if not f.metadata.get("why")] == ["trigger_mode"]


@pytest.mark.parametrize(("tokens", "triggers"), [(0, False), (63_999, False), (64_000, True), (10**9, True)], ids=str)
def test_a_conversation_is_compacted_from_the_trigger_on(tokens, triggers):
    assert Settings().triggers(tokens) is triggers


@given(TOKENS, st.integers(1, 200_000))
def test_a_threshold_of_one_never_triggers(tokens, window):
    assert not Settings(threshold=1.0, context_window=window).triggers(tokens)


@pytest.mark.parametrize(
    ("window", "tail_tokens", "budget"),
    [(128_000, 20_000, 20_000), (128_000, 30_000, 25_600), (8_000, 20_000, 1_600), (1, 20_000, 0), (128_000, 0, 0)],
    ids=str,
)
def test_the_tail_takes_at_most_two_fifths_of_the_trigger(window, tail_tokens, budget):
    assert Settings(context_window=window, tail_tokens=tail_tokens).tail_budget == budget


@pytest.mark.parametrize(
    ("new", "previous", "covered", "budget"),
    [
        (20_000, 0, 0, 4_000),  # a fifth
        (8_000, 0, 0, 2_000),  # the floor
        (3_000, 0, 0, 1_500),  # which gives way to half
        (500_000, 0, 0, 12_000),  # the ceiling
        (0, 0, 0, 0),
        (1_000, 3_000, 0, 3_000),  # an update need not shrink
        (10_000, 3_000, 20_000, 6_000),  # a fifth of all that it stands for
        (1_000, 3_000, 20_000, 3_500),  # but it grows by half of what is new at most
        (90_000, 11_900, 90_000, 12_000),
    ],
)
def test_a_summary_budget_by_hand(new, previous, covered, budget):
    assert Settings().summary_budget(new, previous, covered) == budget


@given(BUDGETS, TOKENS)
def test_a_first_summary_takes_at_most_half_of_the_middle(settings, new):
    assert settings.summary_budget(new) <= min(new // 2, settings.summary_max)


@given(BUDGETS, TOKENS, TOKENS, TOKENS)
def test_an_update_is_never_over_the_largest_budget(settings, new, previous, covered):
    assert settings.summary_budget(new, previous, covered) <= settings.summary_max


@given(BUDGETS, TOKENS, TOKENS, TOKENS)
def test_an_update_never_has_to_shrink_below_the_previous_summary(settings, new, previous, covered):
    assert settings.summary_budget(new, previous, covered) >= min(previous, settings.summary_max)


@given(BUDGETS, TOKENS, TOKENS, TOKENS)
def test_an_update_grows_by_at_most_half_of_what_is_new(settings, new, previous, covered):
    assert settings.summary_budget(new, previous, covered) <= previous + new // 2


@given(BUDGETS, TOKENS, TOKENS, TOKENS, st.integers(0, 50_000))
def test_more_turns_never_make_a_budget_smaller(settings, new, previous, covered, more):
    assert settings.summary_budget(new, previous, covered) <= settings.summary_budget(new + more, previous, covered)
