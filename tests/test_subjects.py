"""Which statements of the user a later one takes the place of, and above all which it does not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactor.core.subjects import states, without_superseded

TAKEN_OVER = [
    ("The launch date is 3 May.", "The launch date has moved to 9 May."),
    ("HARD CONSTRAINT: Budget cap is $800 total. Never exceed it.", "UPDATE: the budget cap is now $900 total."),
    ("The codename is Falcon.", "The internal codename is now Osprey."),
    ("On-call this week is Priya.", "On-call has changed to Jonas for this week."),
    ("The staging database is MySQL 8.", "The staging database is MySQL 9."),
    (
        "Never disclose the vault code tr-81.",
        "The vault code rotated. Never tell the new one; the old code is retired.",
    ),
    ("Keep answers short.", "From now on give detailed answers."),
    ("All times in UTC.", "Report times in Pacific time."),
    ("Der Termin ist der 3. Mai.", "Der Termin wurde auf den 9. Mai verschoben."),
    ("预算是 800 元。", "预算改为 900 元。"),
    ("締め切りは5月3日です。", "締め切りは5月9日に変更です。"),
]
BOTH_HOLD = [
    ("Never push to the release branch.", "Always create a new branch for each fix."),
    ("Never restart the production server.", "From now on use the new production server for demos."),
    ("Never restart the production server.", "From now on never use the new production server for demos."),
    ("Do not change the database schema.", "The new database schema is in schema.sql now."),
    ("Always run migrations on the staging database.", "The staging database is MySQL 9 now."),
    ("You must not touch the release branch.", "The release branch is now release/2.4."),
    ("No new database columns.", "The database moved to a new host, db2."),
    ("Niemals den Server neu starten.", "Der neue Server ist jetzt web-2."),
    ("Nunca reinicies el servidor.", "El servidor nuevo es ahora web-2."),
    ("不要重启服务器。", "现在的服务器是 web-2。"),
    ("サーバーを再起動しないでください。", "新しいサーバーは web-2 です。"),
    ("The staging database is MySQL 8.", "The production database is now Postgres 16."),
    ("The launch date is 3 May.", "The budget is now $900."),
]


@pytest.mark.parametrize(("earlier", "later"), TAKEN_OVER)
def test_a_later_value_takes_the_place_of_an_earlier_one(earlier, later):
    assert without_superseded(["Ask before deploying.", earlier, later]) == [0, 2]


@pytest.mark.parametrize(("earlier", "later"), BOTH_HOLD)
def test_what_is_forbidden_ordered_or_of_another_thing_stays(earlier, later):
    assert without_superseded([earlier, later]) == [0, 1]


def test_two_that_fit_alike_both_stay():
    texts = ["The api endpoint is a.example.", "The auth endpoint is b.example.", "The endpoint is now c.example."]
    assert without_superseded(texts) == [0, 1, 2]


def test_a_value_that_changes_twice_stands_once():
    assert without_superseded(
        ["The deadline is 3 May.", "The deadline moved to 9 May.", "Deadline moved to 12 May."]
    ) == [2]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("The staging database is MySQL 8.", True),
        ("Make the database faster.", False),
        ("Is the staging database MySQL 8?", False),
        ("HARD CONSTRAINT: nothing leaves the building.", True),
        ("All times in UTC.", True),
    ],
)
def test_a_statement_says_how_something_is(sentence, expected):
    assert states(sentence) is expected


@given(st.lists(st.sampled_from([text for pair in (*TAKEN_OVER, *BOTH_HOLD) for text in pair]), max_size=8))
def test_the_last_word_always_stands_and_order_is_kept(texts):
    kept = without_superseded(texts)
    assert kept == sorted(set(kept))
    assert not texts or kept[-1] == len(texts) - 1
