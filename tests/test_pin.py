"""Are sentences that a pattern names kept word for word, whatever they say?"""

import pytest

from tests.running import compact, handoffs, lined, talk

PLAIN = "The gauge at the mill is the one that counts"


@pytest.fixture
def said(tmp_path):
    """Compact a conversation in which the user says PLAIN early; give the lines under Constraints."""

    def constraints(*options):
        messages = talk(201)
        messages[5]["content"] += f" {PLAIN}."
        (tmp_path / "log.jsonl").write_bytes(lined(messages))
        ran = compact(tmp_path, "log.jsonl", *options)
        if ran.code:
            return ran
        (text,) = handoffs(ran.lines)
        return text.partition("## Constraints & Preferences")[2].partition("##")[0]

    return constraints


def test_a_plain_sentence_is_no_rule(said):
    assert PLAIN not in said()


def test_a_pattern_makes_it_one_with_the_message_that_said_it(said):
    assert f'- Pinned: "{PLAIN}." [6]' in said("--pin", "gauge at")


def test_patterns_come_from_a_file_too(tmp_path, said):
    (tmp_path / "pins").write_text("# what counts\n\nnothing like it\ngauge at the \\w+\n", encoding="utf-8")
    assert PLAIN in said("--pin-file", "pins")
    assert PLAIN in said("--pin-file", "pins", "--pin", "absent")


@pytest.mark.parametrize(
    ("options", "complaint"), [(("--pin", "a("), "pin is 'a('"), (("--pin-file", "absent"), "absent: ")]
)
def test_what_cannot_be_a_pattern_is_said(said, options, complaint):
    ran = said(*options)
    assert ran.code == 2
    assert complaint in ran.said
