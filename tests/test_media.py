"""Is base64 never shown, never priced beyond a picture, and always told from ordinary text?"""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactor.core.tokens import PER_IMAGE
from compactor.formats import media

payloads = st.binary(min_size=1, max_size=400).map(lambda b: base64.b64encode(b).decode())


@given(st.text(max_size=20), payloads, st.sampled_from(["image/png", "application/pdf", ""]), st.text(max_size=20))
def test_a_data_url_is_never_shown(before, payload, kind, after):
    text = f"{before} data:{kind};base64,{payload} {after}"
    shown = media.scrubbed(text)
    assert f";base64,{payload}" not in shown.text
    assert f"[{kind or 'data'}, {len(payload):,} characters of base64]" in shown.text
    assert 0 < shown.tokens <= PER_IMAGE


@given(st.text(max_size=60))
def test_other_text_is_left_alone(text):
    assert media.scrubbed(text) == (text, 0)


def test_a_data_url_costs_what_it_would_as_text_but_at_most_a_picture():
    assert media.scrubbed("data:image/png;base64," + "A" * 60).tokens == 41
    assert media.scrubbed("data:image/png;base64," + "A" * 60_000).tokens == PER_IMAGE
    assert media.scrubbed("url(data:a/b;base64,QUFB) url(data:a/b;charset=utf-8;base64,QUFB)") == (
        "url([a/b, 4 characters of base64]) url([a/b, 4 characters of base64])",
        6,
    )


def test_in_json_a_string_of_base64_is_not_shown_either():
    assert media.scrubbed_json('{"data":"' + "A" * 600 + '","id":"' + "b" * 64 + '"}').text == (
        '{"data":"[data, 600 characters of base64]","id":"' + "b" * 64 + '"}'
    )


@pytest.mark.parametrize(
    ("source", "detail", "text", "tokens"),
    [
        ("https://example.com/a.png", None, "[image: https://example.com/a.png]", 1105),
        ("https://example.com/a.png", "low", "[image: https://example.com/a.png]", 85),
        ("data:image/png;base64,QUFB", "high", "[image: image/png, 4 characters of base64]", 1105),
        (None, None, "[image]", 1105),
    ],
)
def test_a_picture_has_its_price_and_its_address(source, detail, text, tokens):
    assert media.image(source, detail) == (text, tokens)


def test_a_recording_is_priced_by_its_length():
    # 16,000 bytes are a second of MP3, and a second is 10 tokens.
    assert media.audio({"data": "A" * 21_334, "format": "mp3"}) == ("[audio: mp3, 16,000 bytes]", 11)
    assert media.audio({}) == ("[audio: unknown format, 0 bytes]", 1)


def test_a_file_is_priced_by_its_pages():
    assert media.file({"filename": "a.pdf", "file_data": "A" * 200_000}) == ("[file: a.pdf, 150,000 bytes]", 2210)
    assert media.file({"file_id": "file-1"}) == ("[file: file-1, 0 bytes]", 1105)
