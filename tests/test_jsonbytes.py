"""Is every part of a JSON value found where it stands, and is nothing else touched?"""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactor.formats.jsonbytes import (
    Span,
    depth,
    elements,
    entries,
    members,
    patched,
    quoted,
    rebuilt,
    respelled,
    rewritten,
    strings,
    whole,
)

texts = st.text(st.characters(codec=None), max_size=12)  # lone surrogates included
scalars = st.none() | st.booleans() | st.integers() | st.floats() | texts | st.integers(10**18, 10**40)
values = st.recursive(scalars, lambda v: st.lists(v, max_size=4) | st.dictionaries(texts, v, max_size=4), max_leaves=20)
objects = st.dictionaries(texts, values, max_size=5)
arrays = st.lists(values, max_size=5)
styles = st.fixed_dictionaries(
    {
        "indent": st.sampled_from([None, 0, 2, "\t"]),
        "separators": st.sampled_from([None, (",", ":"), (" , ", " : "), ("\r\n,\t", "\n:")]),
        "ensure_ascii": st.booleans(),
    }
)


def dumped(value, style):
    try:
        return json.dumps(value, **style).encode()
    except UnicodeEncodeError:
        return json.dumps(value, **style | {"ensure_ascii": True}).encode()


def same(a, b):
    """Equality that takes NaN for itself, 0.0 and -0.0 for two."""
    return json.dumps(a) == json.dumps(b)


@given(
    objects,
    styles,
    st.sampled_from([b"", b" \t", b"\xef\xbb\xbf", b"\xef\xbb\xbf \n"]),
    st.sampled_from([b"", b"\r\n"]),
)
def test_members_stand_where_they_are_found(value, style, before, after):
    raw = before + dumped(value, style) + after
    found = members(raw, whole(raw))
    assert same({key: json.loads(span.of(raw)) for key, span in found.items()}, value)
    assert list(found) == list(value)


@given(arrays, styles)
def test_elements_stand_where_they_are_found(value, style):
    raw = dumped(value, style)
    assert same([json.loads(span.of(raw)) for span in elements(raw, whole(raw))], value)


@given(st.dictionaries(texts, arrays, min_size=1, max_size=3), styles)
def test_places_hold_at_every_depth(value, style):
    raw = dumped(value, style)
    for key, span in members(raw, whole(raw)).items():
        assert same([json.loads(s.of(raw)) for s in elements(raw, span)], value[key])


@given(objects, styles, values)
def test_a_patch_changes_one_member_and_no_other_byte(value, style, new):
    raw = dumped(value, style)
    for key, span in members(raw, whole(raw)).items():
        made = patched(raw, [(span, json.dumps(new).encode())])
        assert same(json.loads(made), value | {key: new})
        assert made.startswith(raw[: span.start])
        assert made.endswith(raw[span.stop :])


@given(arrays, styles)
def test_patches_may_come_in_any_order(value, style):
    raw = dumped(value, style)
    spans = elements(raw, whole(raw))
    made = patched(raw, [(span, b"%d" % n) for n, span in reversed(list(enumerate(spans)))])
    assert json.loads(made) == list(range(len(spans)))
    assert patched(raw, []) == raw


@given(arrays | objects, styles)
def test_rebuilding_with_every_entry_gives_the_same_bytes(value, style):
    raw = dumped(value, style)
    span = whole(raw)
    assert rebuilt(raw, span, [(n, e.span.of(raw)) for n, e in enumerate(entries(raw, span))]) == raw


@given(arrays, styles, st.data())
def test_rebuilding_takes_any_choice_of_entries_and_new_ones(value, style, data):
    raw = dumped(value, style)
    span = whole(raw)
    spans = elements(raw, span)
    chosen = data.draw(st.lists(st.none() | st.sampled_from(range(len(spans))) if spans else st.none(), max_size=6))
    made = rebuilt(raw, span, [(n, b'"new"' if n is None else spans[n].of(raw)) for n in chosen])
    assert same(json.loads(made), ["new" if n is None else value[n] for n in chosen])


@given(objects, styles, st.dictionaries(texts, st.none() | st.integers(), max_size=3), st.data())
def test_rewriting_is_a_dictionary_update(value, style, changes, data):
    known = data.draw(st.lists(st.sampled_from(list(value)), max_size=3)) if value else []
    changes = changes | dict.fromkeys(known[:2]) | dict.fromkeys(known[2:], 7)
    raw = dumped(value, style)
    made = rewritten(raw, whole(raw), {k: None if v is None else b"%d" % v for k, v in changes.items()})
    wanted = {k: v for k, v in (value | changes).items() if not (k in changes and changes[k] is None)}
    assert same(json.loads(made), wanted)


def test_of_a_repeated_key_the_last_counts_and_all_are_rewritten():
    raw = b'{"a": 1, "b": 2, "a": 3}'
    assert members(raw, whole(raw))["a"].of(raw) == b"3"
    assert rewritten(raw, whole(raw), {"a": None}) == b'{"b": 2}'
    assert rewritten(raw, whole(raw), {"a": b"0"}) == b'{"a": 0, "b": 2, "a": 0}'


@pytest.mark.parametrize(
    ("raw", "kept", "made"),
    [
        (b"[ 1 , 2,3 ]", [0, 1, 2], b"[ 1 , 2,3 ]"),
        (b"[ 1 , 2,3 ]", [0, 2], b"[ 1 , 3 ]"),
        (b"[ 1 , 2,3 ]", [1, 2], b"[ 2,3 ]"),
        (b"[ 1 , 2,3 ]", [], b"[  ]"),
        (b"[1]", [0, 0], b"[1,1]"),
    ],
)
def test_neighbours_keep_what_stood_between_them(raw, kept, made):
    spans = elements(raw, whole(raw))
    assert rebuilt(raw, whole(raw), [(n, spans[n].of(raw)) for n in kept]) == made


def test_a_new_entry_in_an_empty_container():
    assert rebuilt(b"[ ]", Span(0, 3), [(None, b"1"), (None, b"2")]) == b"[ 1,2]"
    assert rewritten(b"{}", Span(0, 2), {"a": b"1"}) == b'{"a":1}'


@pytest.mark.parametrize("raw", [b"[1", b'{"a":"b', b"[[]", b'{"a"'])
def test_bytes_that_end_too_early_are_refused(raw):
    with pytest.raises(ValueError, match="no JSON value at byte"):
        entries(raw, Span(0, len(raw) + 9))


@pytest.mark.parametrize(
    ("raw", "levels"),
    [(b"1", 0), (b"[]", 1), (b'{"a":[[]]}', 3), (b'"[[["', 0), (b"[" * 3000, 3000), (b'["\\"[["]', 1)],
)
def test_depth_counts_brackets_outside_of_strings(raw, levels):
    assert depth(raw) == levels


def test_a_deep_value_costs_no_recursion():
    raw = b'{"deep":' + b"[" * 100_000 + b"]" * 100_000 + b',"next":1}'
    assert members(raw, whole(raw))["next"].of(raw) == b"1"


def test_a_string_of_a_million_escapes_is_one_token():
    raw = json.dumps(['"\\\n' * 350_000, 1]).encode()
    assert elements(raw, whole(raw))[1].of(raw) == b"1"


@given(texts)
def test_quoted_text_is_valid_utf_8_and_comes_back(text):
    assert json.loads(quoted(text).decode()) == text


def test_quoted_text_is_readable_where_it_can_be():
    assert quoted("héllo 世界 😀\n") == '"héllo 世界 😀\\n"'.encode()
    assert quoted("half \ud83d") == b'"half \\ud83d"'


def test_strings_are_values_only():
    raw = b'{"key" : "a\\"b", "list": ["c", 1, {"d":"e"}]}'
    assert [span.of(raw) for span in strings(raw)] == [b'"a\\"b"', b'"c"', b'"e"']


@given(texts, texts, texts, st.booleans(), st.tuples(texts, texts))
def test_a_string_gets_other_text_at_some_places_and_keeps_the_spelling_of_the_rest(a, b, c, ascii_only, new):
    a, b, c = (part.encode("utf-8", "replace").decode() for part in (a, b, c))  # halves would join at the seams
    spelled = [json.dumps(part, ensure_ascii=ascii_only)[1:-1].encode() for part in (a, b, c)]
    raw = b'["' + b"".join([spelled[0], b"x", spelled[1], b"y", spelled[2]]) + b'"]'
    cuts = [(len(a), len(a) + 1, new[0]), (len(a + b) + 1, len(a + b) + 2, new[1])]
    made = respelled(raw, elements(raw, whole(raw))[0], cuts)
    inside = [quoted(text)[1:-1] for text in new]
    assert made == b'"' + b"".join([spelled[0], inside[0], spelled[1], inside[1], spelled[2]]) + b'"'


def test_a_half_of_a_pair_is_a_character():
    assert respelled(rb'"\ud83d\ude00\ud83da\ude00"', Span(0, 27), [(2, 3, "b")]) == rb'"\ud83d\ude00\ud83db\ude00"'
