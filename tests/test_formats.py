"""Is a file that is no transcript of a known kind named for what it is?"""

from io import BytesIO

import pytest

from compactor.errors import InputError
from compactor.formats import EXPECTED, rows


def told(content):
    with pytest.raises(InputError) as caught:
        list(rows(BytesIO(content), "x.jsonl"))
    assert caught.value.next_step == EXPECTED
    return caught.value.what


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b'{"type": "session", "id": 1}\n', "x.jsonl: the first object has the keys type, id"),
        (b'\n{}\n{"a": 1}\n', "x.jsonl: the first object is empty"),
        (b'{"messages": 5}\n', "x.jsonl: the first object has the keys messages"),
        (b'{"messages": [{"type": "human"}]}\n', "x.jsonl: the first object has the keys messages"),
        (
            b'{"role": "user", "content": "a"}\n{"role": "assistant", "content": [{"type": "tool_use"}]}\n',
            'x.jsonl: the first object has the keys role, content; "tool_use" belongs to another API',
        ),
        (
            b'{"messages": [{"role": "user", "content": [{"type": "tool_result"}]}]}\n',
            'x.jsonl: the first object has the keys messages; "tool_result" belongs to another API',
        ),
        (
            b'{"type": "message", "role": "user", "content": []}\n{"type": "function_call", "name": "f"}\n',
            'x.jsonl: the first object has the keys type, role, content; "function_call" belongs to another API',
        ),
        (b"\x89PNG\r\n\x1a\n\0\0", "x.jsonl: binary data, or text that is not UTF-8"),
        ('{"role": "user"}'.encode("utf-16"), "x.jsonl: binary data, or text that is not UTF-8"),
        (b"\0\0\0\0", "x.jsonl: binary data, or text that is not UTF-8"),
        (b"# Title\n", "x.jsonl: no JSON object in the first lines (column 1: not JSON (expecting value))"),
        (
            b'{\n  "messages": []\n}\n',
            (
                "x.jsonl: no JSON object in the first lines, perhaps one JSON document over several "
                "(cut off after column 1: the JSON value does not end)"
            ),
        ),
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
