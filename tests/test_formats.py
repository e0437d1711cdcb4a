"""Is a file that is no transcript of a known kind named for what it is?"""

import json
from io import BytesIO

import pytest

from compactor.core.messages import Handoff, Kept, Role
from compactor.errors import InputError, UsageError
from compactor.formats import FORMATS, format_named, rows


def told(content):
    with pytest.raises(InputError) as caught:
        list(rows(BytesIO(content), "x.jsonl"))
    assert all(form.expects in caught.value.next_step for form in FORMATS)
    return caught.value.what


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b'{"type": "session", "id": 1}\n', "x.jsonl: the first object has the keys type, id"),
        (b'\n{}\n{"a": 1}\n', "x.jsonl: the first object is empty"),
        (b'{"messages": 5}\n', "x.jsonl: the first object has the keys messages"),
        (b'{"messages": [{"type": "human"}]}\n', "x.jsonl: the first object has the keys messages"),
        (b"\x89PNG\r\n\x1a\n\0\0", "x.jsonl: binary data, or text that is not UTF-8"),
        ('{"role": "user"}'.encode("utf-16"), "x.jsonl: binary data, or text that is not UTF-8"),
        (b"\0\0\0\0", "x.jsonl: binary data, or text that is not UTF-8"),
        (b"# Title\n", "x.jsonl: no JSON object in the first lines (column 1: not JSON (expecting value))"),
    ],
    ids=lambda v: repr(v)[:40],
)
def test_what_is_unknown_is_named(content, what):
    assert told(content) == what


def test_an_empty_file_has_no_rows():
    assert list(rows(BytesIO(b""), "x.jsonl")) == []


def test_a_blank_file_is_carried_through():
    [row] = rows(BytesIO(b"\n \r\n"), "x.jsonl")
    assert (row.raw, row.conversation, row.faults, row.render([])) == (b"\n \r\n", None, (), b"\n \r\n")


@pytest.mark.parametrize(("count", "size"), [(100, 1), (2, 1 << 19), (1, 1 << 20)])
def test_a_file_is_not_searched_beyond_its_beginning(count, size):
    def source():
        for _ in range(count):
            yield b'{"type": "log"}' + b" " * size + b"\n"
        pytest.fail("one line more than needed was asked for")

    with pytest.raises(InputError, match="the first object has the keys type"):
        list(rows(source(), "x.jsonl"))


def test_pretty_printed_json_under_a_jsonl_name_is_read():
    raw = b'{\n  "id": 1,\n  "messages": [\n    {"role": "user", "content": "a"}\n  ]\n}\n'
    [row] = rows(BytesIO(raw), "x.jsonl")
    assert row.raw == raw
    assert [m.text for m in row.conversation.messages] == ["a"]
    assert row.render([Kept(0)]) == raw


def test_an_array_of_conversations_is_a_row_for_each():
    raw = b'\xef\xbb\xbf[\n  {"messages": [{"role": "user", "content": "a"}]},\r\n  {"messages": []} ]\n'
    found = list(rows(BytesIO(raw), "x.json"))
    assert b"".join(row.raw for row in found) == raw
    assert len(found) == 2
    assert found[0].render([Kept(0)]) == found[0].raw
    assert found[0].read_back(found[0].raw) == found[0].conversation or found[0].read_back(found[0].raw).messages


def test_an_array_of_messages_is_one_row():
    raw = b'[{"role":"user","content":"a"} ,\n {"role":"assistant","content":"b"},{"role":"user","content":"c"}]'
    [row] = rows(BytesIO(raw), "x.json")
    assert row.raw == raw
    assert row.render([Kept(0), Kept(1), Kept(2)]) == raw
    made = row.render([Handoff(Role.USER, "h"), Kept(2)])
    assert [m["content"] for m in json.loads(made)] == ["h", "c"]


def test_a_broken_first_line_is_a_fault_and_the_rest_is_read():
    raw = b'{"role": "user", "con\n{"role": "user", "content": "a"}\n'
    [row] = rows(BytesIO(raw), "x.jsonl")
    assert row.raw == raw
    assert [str(f) for f in row.faults] == ["x.jsonl:1: cut off after column 21: the JSON value does not end"]


def test_a_format_can_be_forced():
    with pytest.raises(UsageError, match="there is no format 'x'"):
        format_named("x")
    assert format_named("openai-chat") is FORMATS[-1]
