"""Does every line become records with its own bytes, and everything unreadable a problem instead of an exception?"""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactor.formats.records import MAX_DEPTH, MISSING, Record, brief, read


def split(content):
    """Cut after each newline and nowhere else, as reading a file does."""
    return [line for line in re.split(rb"(?<=\n)", content) if line]


def only(line):
    [record] = read([line])
    return record


@given(st.lists(st.binary(max_size=30) | st.sampled_from([b'{"a":1}', b" ", b"{", b"\xef\xbb\xbf", b'{"b":NaN} {}'])))
def test_no_bytes_are_lost_and_nothing_is_raised(chunks):
    lines = split(b"\n".join(chunks))
    found = list(read(lines))
    assert b"".join(record.raw for record in found) == b"".join(lines)
    assert all(not (record.problem and record.value is not MISSING) for record in found)


@given(st.lists(st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=9), max_size=3), max_size=5))
def test_objects_on_lines_are_read(values):
    lines = [json.dumps(v).encode() + b"\n" for v in values]
    assert [r.value for r in read(lines)] == values
    assert [r.line for r in read(lines)] == list(range(1, len(values) + 1))


@given(
    st.lists(st.dictionaries(st.text(max_size=5), st.floats() | st.text(max_size=9)), min_size=2, max_size=5), st.data()
)
def test_glued_objects_are_taken_apart(values, data):
    glue = [data.draw(st.sampled_from(["", " ", "\t "])) for _ in values]
    line = (
        "\ufeff" + "".join(json.dumps(v, ensure_ascii=False) + g for v, g in zip(values, glue, strict=True))
    ).encode()
    found = list(read([line + b"\r\n"]))
    assert json.dumps([r.value for r in found]) == json.dumps(values)
    assert b"".join(r.raw for r in found) == line + b"\r\n"
    assert {r.line for r in found} == {1}


@pytest.mark.parametrize("line", [b"\n", b"", b"\r\n", b" \t\n", b"\xef\xbb\xbf\n", b"\xef\xbb\xbf"])
def test_a_blank_line_has_neither_value_nor_problem(line):
    assert only(line) == Record(line, 1)


@pytest.mark.parametrize(
    ("line", "value"),
    [
        (b'{"a":1}', {"a": 1}),
        (b'{"a":1}\r\n', {"a": 1}),
        (b'\xef\xbb\xbf{"a":1}\n', {"a": 1}),
        (b'{"a":"\\ud83d"}\n', {"a": "\ud83d"}),
        (b'{"a":1e400}\n', {"a": float("inf")}),
        (b'{"a":-Infinity}\n', {"a": float("-inf")}),
        (b'{"a":1,"a":2}\n', {"a": 2}),
        (b'  {"a":null}  \n', {"a": None}),
        (b'{"a":"\xe2\x80\xa8"}\n', {"a": "\u2028"}),
    ],
    ids=repr,
)
def test_what_one_reader_refuses_the_other_may_read(line, value):
    assert only(line) == Record(line, 1, value)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"5\n", "column 1: 5 is not an object"),
        (b"null\n", "column 1: null is not an object"),
        (b"NaN\n", "column 1: NaN is not an object"),
        (b"[1, 2]\n", "column 1: an array is not an object"),
        (b'"' + b"x" * 99 + b'"\n', f'column 1: "{"x" * 35}..." is not an object'),
        (b'{"a": }\n', "column 7: not JSON (expecting value)"),
        (b"{'a': 1}\n", "column 2: not JSON (expecting property name enclosed in double quotes)"),
        (b"hello\n", "column 1: not JSON (expecting value)"),
        (b'{"role": "user", "content": "cut o', "cut off after column 34: the JSON value does not end"),
        (b'{"role": "user"', "cut off after column 15: the JSON value does not end"),
        (b'{"role": "user", \r\n', "cut off after column 16: the JSON value does not end"),
        (b'{"a": 1} {"b": ', "cut off after column 14: the JSON value does not end"),
        (b'{"a": 1} 5\n', "column 10: 5 is not an object"),
        (b'5 {"a": 1}\n', "column 1: 5 is not an object"),
        (b'{"a": 1}, {"b": 2}\n', "column 9: not JSON (expecting value)"),
        (b'{"a": "\0"}\n', "column 8: a NUL byte"),
        (b"\0" * 50, "column 1: a NUL byte"),
        (b'{"a": "\xff"}\n', "byte 8 of the line is not UTF-8"),
        (b'{"a": "\xed\xa0\xbd"}\n', "byte 8 of the line is not UTF-8"),
        (b"[" * (MAX_DEPTH + 1), "nested more than 1,024 levels deep"),
        (b'{"a":' * (MAX_DEPTH + 1) + b"1" + b"}" * (MAX_DEPTH + 1) + b"\n", "nested more than 1,024 levels deep"),
        (b'{"a": ' + b"1" * 5000 + b"}\n", "a number of more than 4,300 digits"),
    ],
    ids=lambda v: repr(v)[:40],
)
def test_what_cannot_be_read_says_why_and_where(line, problem):
    assert only(line) == Record(line, 1, problem=problem)


def test_nesting_near_the_limit_is_read_or_refused_but_never_raised():
    for levels in range(900, MAX_DEPTH + 1, 31):
        for inner in (b"1", b"NaN"):
            line = b'{"a":' * levels + inner + b"}" * levels + b"\n"
            record = only(line)
            assert record.raw == line
            assert (record.value is MISSING) == bool(record.problem)


def test_a_byte_order_mark_counts_only_at_the_beginning():
    first, second = read([b'\xef\xbb\xbf{"a":1}\n', b'\xef\xbb\xbf{"a":1}\n'])
    assert first.value == {"a": 1}
    assert second.problem == "column 1: not JSON (expecting value)"


def test_lines_are_taken_one_at_a_time():
    taken = []

    def lines():
        for n in range(3):
            taken.append(n)
            yield b"{}\n"

    found = read(lines())
    next(found)
    assert taken == [0]


def test_brief_names_values_as_json_does():
    values: list[object] = [None, True, 1.5, "a", {}, []]
    assert [brief(v) for v in values] == ["null", "true", "1.5", '"a"', "an object", "an array"]
