"""Do the figures of a run add up, and are they those that its schema names?"""

import json
from dataclasses import fields, replace
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import compactor
from compactor.core.report import Outcome, Prices, Report, Totals, totals

SCHEMA = json.loads(Path(compactor.__file__).with_name("schemas").joinpath("report.json").read_bytes())
CHECK = jsonschema.Draft202012Validator(SCHEMA)
TOKENS = st.integers(0, 10**6)
COUNTED = st.builds(
    lambda before, least, more, **rest: Report(before=before, after_least=least, after_most=least + more, **rest),
    TOKENS,
    TOKENS,
    TOKENS,
    name=st.text(max_size=3),
    outcome=st.sampled_from(Outcome),
    calls=st.integers(0, 2),
    prompt_tokens=TOKENS,
    completion_tokens=TOKENS,
    cached_tokens=TOKENS,
    masked=st.integers(0, 9),
    cost=st.none() | st.floats(0, 9),
    net_saving=st.none() | st.floats(-9, 9),
    exact=st.booleans(),
)
REPORTS = st.lists(st.one_of(COUNTED, st.builds(Report, st.just(""), st.sampled_from(Outcome))), max_size=8)
ONE = Report("chat.jsonl", Outcome.SUMMARISED, before=1_000, after_least=200, after_most=300)


@pytest.mark.parametrize(
    ("outcome", "faults", "fine"),
    [
        (Outcome.UNTOUCHED, (), True),
        (Outcome.REUSED, (), True),
        (Outcome.PRUNED, (), True),
        (Outcome.SUMMARISED, (), True),
        (Outcome.FAILED, (), False),
        (Outcome.UNREADABLE, (), False),
        (Outcome.LEFT, (), False),
        (Outcome.SUMMARISED, ("chat.jsonl:3: not JSON",), False),
    ],
)
def test_a_conversation_is_fine_if_nothing_went_wrong_with_it(outcome, faults, fine):
    assert replace(ONE, outcome=outcome, faults=faults).fine is fine


@given(REPORTS)
def test_reports_and_totals_are_of_their_schema(reports):
    for each in (*reports, totals(reports)):
        CHECK.validate(json.loads(json.dumps(each.as_json())))


def test_a_report_says_everything_that_it_knows():
    said = replace(ONE, faults=("a", "b")).as_json()
    assert set(said) == {"kind", *(f.name for f in fields(Report))}
    assert (said["kind"], said["outcome"], said["faults"]) == ("conversation", "summarised", ["a", "b"])
    assert set(totals([]).as_json()) == {"kind", *(f.name for f in fields(Totals))}


@given(REPORTS, REPORTS)
def test_totals_add_up(first, second):
    one, two, both = totals(first), totals(second), totals([*first, *second])
    counted = ("conversations", "before", "after_least", "after_most", "calls", "prompt_tokens", "completion_tokens")
    for name in (*counted, "cached_tokens", "masked"):
        assert getattr(both, name) == getattr(one, name) + getattr(two, name)
    assert both.exact is (one.exact and two.exact)
    assert sum(both.outcomes.values()) == both.conversations
    assert all(both.outcomes.values())


def test_totals_by_hand():
    reports = [ONE, replace(ONE, before=3_000, after_least=800, after_most=900, calls=1), Report("", Outcome.UNTOUCHED)]
    assert totals(reports) == Totals(3, {"untouched": 1, "summarised": 2}, 4_000, 1_000, 1_200, 1, 0, 0, exact=True)
    assert totals(reports).saved == (0.7, 0.75)


def test_of_nothing_nothing_is_saved():
    assert totals([]) == Totals(0, {}, 0, 0, 0, 0, 0, 0, exact=True)
    assert totals([]).saved == totals([Report("", Outcome.UNTOUCHED)]).saved == (0.0, 0.0)


def test_one_estimate_makes_the_sum_an_estimate():
    assert totals([ONE, replace(ONE, exact=False)]).exact is False


@given(REPORTS)
def test_what_is_saved_at_least_is_never_over_what_is_saved_at_most(reports):
    least, most = totals(reports).saved
    assert least <= most


@given(REPORTS, REPORTS)
def test_money_adds_up_where_there_is_any(first, second):
    both = totals([*first, *second])
    for name in ("cost", "net_saving"):
        known = [v for r in (*first, *second) if (v := getattr(r, name)) is not None]
        assert getattr(both, name) == (pytest.approx(sum(known)) if known else None)


@pytest.mark.parametrize(
    ("prices", "cost"),
    [(Prices(), None), (Prices(2.0, 8.0), 2.8), (Prices(2.0), 2.0), (Prices(None, 8.0), 0.8), (Prices(0.0, 0.0), 0.0)],
)
def test_a_million_tokens_have_their_price(prices, cost):
    assert prices.cost(1_000_000, 100_000) == cost
