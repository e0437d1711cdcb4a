"""Does whatever cannot be read leave as it came, with a sentence that says where and what, and the right exit code?"""

import gzip
import json
import os

import pytest

from tests.running import compact, handoffs, lined, row, talk

LONG = talk(41)
LINES = lined(LONG).splitlines(keepends=True)
USER = b'{"role": "user", "content": "a"'

# What stands in line 21 of 42, and what is said about it.
BROKEN = {
    "broken JSON": (b'{"role": "user", "content": }\n', "column 29: not JSON (expecting value)"),
    "a list": (b"[1, 2]\n", "column 1: an array is not an object"),
    "a number": (b"42\n", "column 1: 42 is not an object"),
    "a string": (b'"x"\n', 'column 1: "x" is not an object'),
    "content a number": (b'{"role": "user", "content": 5}\n', "$.content: 5 is not a string, null or an array"),
    "content an object": (b'{"role": "user", "content": {"a": 1}}\n', "$.content: an object is not"),
    "a part that is none": (b'{"role": "user", "content": ["a", 7]}\n', "$.content[1]: 7 is not a part"),
    "tool_calls a string": (b'{"role": "assistant", "tool_calls": "no"}\n', '$.tool_calls: "no" is not an array'),
    "a call without function": (b'{"role": "assistant", "tool_calls": [5]}\n', "$.tool_calls[0]"),
    "a role that is no word": (b'{"role": 5, "content": "x"}\n', "$.role: 5 is not a string"),
    "a number of 5,000 digits": (USER + b', "n": ' + b"9" * 5_000 + b"}\n", "a number of more than 4,300 digits"),
    "2,000 levels": (USER + b', "n": ' + b"[" * 2_000 + b"]" * 2_000 + b"}\n", "nested more than 1,024 levels deep"),
    "a NUL byte": (b'{"role": "user", "content": "\0"}\n', "a NUL byte"),
    "a line of NUL bytes": (b"\0" * 512 + b"\n", "column 1: a NUL byte"),
    "Latin-1": ('{"role": "user", "content": "é"}\n'.encode("latin-1"), "byte 30 of the line is not UTF-8"),
    "half a line": (LINES[20][:40] + b"\n", "cut off after column 39: the JSON value does not end"),
    "glued to a word": (LINES[20][:-1] + b"oops\n", "not JSON"),
}

# What stands in line 21 and is no trouble at all, as it is or in the place of what was there.
ODD = {
    "a lone surrogate": rb'{"role": "user", "content": "half \ud800 a character"}' + b"\n",
    "NaN": USER + b', "score": NaN}\n',
    "Infinity": USER + b', "score": -Infinity}\n',
    "a number of 400 digits": USER + b', "n": ' + b"7" * 400 + b"}\n",
    "a thousand levels": USER + b', "n": ' + b"[" * 1_000 + b"]" * 1_000 + b"}\n",
    "two objects on a line": USER + b"}" + USER + b"}\n",
    "a blank line": b"  \t\n",
    "a carriage return": USER + b"}\r\n",
    "keys twice": b'{"role": "user", "role": "user", "content": "b", "content": "a"}\n',
    "an unknown role": b'{"role": "critic", "content": "hm"}\n',
}


# Files that are odd as a whole.
WHOLE = {
    "a byte order mark": b"\xef\xbb\xbf" + lined(LONG),
    "CRLF": lined(LONG).replace(b"\n", b"\r\n"),
    "no final newline": lined(LONG)[:-1],
    "blank lines between": lined(LONG).replace(b"\n", b"\n\n"),
    "empty": b"",
    "one newline": b"\n",
    "only blank lines": b"\n \r\n\t\n\n",
    "no messages": row([]),
}


def bad(line, at=20):
    return b"".join([*LINES[:at], line, *LINES[at:]])


@pytest.fixture
def run(tmp_path):
    """Compact `content` as `chat.jsonl`; --threshold 1.0 looks at every line and changes none."""

    def once(content, *words):
        (tmp_path / "chat.jsonl").write_bytes(content)
        return compact(tmp_path, "chat.jsonl", *words)

    return once


@pytest.fixture(scope="module")
def side_by_side(tmp_path_factory):
    """All of them at once, each in a file of its own; --threshold 1.0 looks at every line and changes none."""
    folder = tmp_path_factory.mktemp("files")
    cases = {**{name: bad(line) for name, (line, _) in BROKEN.items()}, **{n: bad(line) for n, line in ODD.items()}}
    cases |= WHOLE
    for name, content in cases.items():
        (folder / f"{name}.jsonl").write_bytes(content)
    ran = compact(folder, *(f"{name}.jsonl" for name in cases), "-o", "out/", "--threshold", "1.0", "--json")
    assert ran.code == 1
    return folder, ran


@pytest.mark.parametrize(("name", "said"), [(name, said) for name, (_, said) in BROKEN.items()], ids=BROKEN)
def test_a_record_that_cannot_be_read_is_told_and_leaves_as_it_came(side_by_side, name, said):
    folder, ran = side_by_side
    (told,) = [line for line in ran.said.splitlines() if line.startswith(f"compactor: {name}.jsonl")]
    assert told.startswith(f"compactor: {name}.jsonl:21: ")
    assert said in told
    assert told.endswith("(left as it came)")
    (report,) = [line for line in ran.lines[:-1] if line["name"] == f"{name}.jsonl"]
    assert [f"compactor: {fault} (left as it came)" for fault in report["faults"]] == [told]
    assert (folder / "out" / f"{name}.jsonl").read_bytes() == bad(BROKEN[name][0])


@pytest.mark.parametrize("name", [*ODD, *WHOLE])
def test_what_is_odd_but_can_be_read_is_no_trouble(side_by_side, name):
    folder, ran = side_by_side
    assert f" {name}.jsonl" not in ran.said
    assert (folder / "out" / f"{name}.jsonl").read_bytes() == (folder / f"{name}.jsonl").read_bytes()


def test_one_of_them_alone_is_exit_1(run):
    assert run(bad(b"42\n"), "--threshold", "1.0").code == 1
    assert run(bad(b"\n"), "--threshold", "1.0").code == 0


@pytest.mark.parametrize(
    ("at", "after"), [(38, 3), (20, None)], ids=["in the tail", "in the middle, which goes into the summary"]
)
def test_the_rest_of_the_file_is_compacted_around_them(run, at, after):
    lines = [line for line, _ in BROKEN.values()]
    ran = run(bad(b"".join(lines), at))
    assert ran.code == 1
    assert "summarised" in ran.said
    assert [f"chat.jsonl:{n}: " in ran.said for n in range(at + 1, at + 1 + len(lines))] == [True] * len(lines)
    result = ran.out.splitlines(keepends=True)
    assert [line for line in result if line in lines] == lines
    assert len(result) < 25 + len(lines)
    assert sum(b"CONTEXT COMPACTION] Earlier" in line for line in result) == 1
    if after:  # they stand where they stood
        assert result[-after:] == LINES[-after:]
        assert result[-after - len(lines) : -after] == lines


# Files as a whole.


def test_line_ends_and_marks_of_the_file_stay_when_it_is_compacted(run):
    ran = run(b"\xef\xbb\xbf" + lined(LONG).replace(b"\n", b"\r\n")[:-2])
    assert ran.code == 0
    assert ran.out.startswith(b"\xef\xbb\xbf" + LINES[0][:-1] + b"\r\n")
    assert ran.out.endswith(b"\r\n" + LINES[-1][:-1])
    assert b"\n" not in ran.out.replace(b"\r\n", b"")


def test_a_last_line_that_was_cut_off_is_told_and_stays(run):
    content = lined(LONG)[:-30]
    ran = run(content)
    assert ran.code == 1
    assert "chat.jsonl:41: cut off after column" in ran.said
    assert ran.out.endswith(content.splitlines(keepends=True)[-1])
    assert len(ran.out) < len(content)


# A conversation a line.


def test_one_broken_line_among_many_spoils_none_of_the_others(run):
    good = [row(talk(41, topic=f"pump{n}"), id=n) for n in range(2)]
    ran = run(good[0] + b'{"messages": [{"role":\n' + good[1])
    assert ran.code == 1
    assert "compactor: chat.jsonl:2: cut off after column 22: the JSON value does not end" in ran.said
    assert "3 conversations: 2 summarised, 1 unreadable" in ran.said
    first, broken, second = ran.out.splitlines(keepends=True)
    assert broken == b'{"messages": [{"role":\n'
    assert [json.loads(line)["id"] for line in (first, second)] == [0, 1]
    assert all(len(handoffs(json.loads(line)["messages"])) == 1 for line in (first, second))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b'{"messages": 5}\n', "$.messages: 5 is not an array"),
        (b'{"id": 1}\n', "$.messages: missing; there is id"),
        (row([5]), "$.messages[0]: 5 is not an object"),
        (row([{"content": "x"}]), "$.messages[0].role: missing"),
        (row([*talk(3), {"role": "user", "content": {"a": 1}}]), "$.messages[3].content: an object is not"),
        (row([{"role": "assistant", "tool_calls": [{"function": {"name": 5}}]}]), "$.messages[0].tool_calls[0]"),
    ],
)
def test_what_is_wrong_within_a_conversation_is_told_with_its_path(run, line, said):
    content = row(talk(3)) + line + row(talk(5))
    ran = run(content)
    assert ran.code == 1
    assert f"compactor: chat.jsonl:2: {said}" in ran.said
    assert ran.out == content


# What is no transcript at all: nothing is written, exit 2, and the other files are done all the same.

FOREIGN = {
    "binary": (bytes(range(256)) * 8, "binary data, or text that is not UTF-8"),
    "text": (b"Dear diary,\nnothing happened.\n", "no JSON object in the first lines"),
    "another log": (b'{"level": "info", "msg": "started"}\n', "the first object has the keys level, msg"),
    "cut-off gzip": (gzip.compress(lined(LONG))[:-20], "the compressed data is cut off"),
    "damaged gzip": (gzip.compress(lined(LONG))[:-8] + b"?" * 8, "the compressed data is damaged"),
}


@pytest.mark.parametrize(("content", "said"), FOREIGN.values(), ids=FOREIGN)
def test_what_is_no_transcript_is_refused_and_the_others_are_done(tmp_path, content, said):
    (tmp_path / "odd.jsonl").write_bytes(content)
    (tmp_path / "good.jsonl").write_bytes(lined(LONG))
    ran = compact(tmp_path, "odd.jsonl", "good.jsonl", "-o", "out/")
    assert ran.code == 2
    assert f"compactor: odd.jsonl: {said}" in ran.said
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["good.jsonl"]
    assert (tmp_path / "odd.jsonl").read_bytes() == content


@pytest.mark.parametrize(("content", "said"), FOREIGN.values(), ids=FOREIGN)
def test_in_place_it_stays_as_it_is(tmp_path, content, said):
    (tmp_path / "odd.jsonl").write_bytes(content)
    assert compact(tmp_path, "odd.jsonl", "-i").code == 2
    assert (tmp_path / "odd.jsonl").read_bytes() == content
    assert [p.name for p in tmp_path.iterdir()] == ["odd.jsonl"]


def test_a_missing_file_is_named_and_the_others_are_done(tmp_path):
    (tmp_path / "good.jsonl").write_bytes(lined(LONG))
    ran = compact(tmp_path, "gone.jsonl", "good.jsonl", "-o", "out/")
    assert ran.code == 2
    assert "compactor: gone.jsonl: does not exist; check the path" in ran.said
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["good.jsonl"]


def test_a_folder_without_transcripts_is_said_to_have_none(tmp_path):
    (tmp_path / "empty").mkdir()
    ran = compact(tmp_path, "empty", "-o", "out/")
    assert (ran.code, ran.out) == (2, b"")
    assert "no transcripts below empty" in ran.said


@pytest.mark.skipif(os.geteuid() == 0, reason="permissions do not bind the superuser")
def test_a_file_that_may_not_be_read_is_named(tmp_path):
    (tmp_path / "secret.jsonl").write_bytes(lined(LONG))
    (tmp_path / "secret.jsonl").chmod(0)
    ran = compact(tmp_path, "secret.jsonl")
    assert (ran.code, ran.out) == (2, b"")
    assert "secret.jsonl: may not be read; check its permissions" in ran.said


def test_a_file_that_fails_while_it_is_read_is_named(tmp_path):
    ran = compact(tmp_path, "/proc/self/mem", "--state-dir", tmp_path)
    assert (ran.code, ran.out) == (2, b"")
    assert "compactor: /proc/self/mem: cannot be read (Input/output error)" in ran.said


# Faults in the report.


def test_the_json_report_carries_every_fault_whatever_characters_it_quotes(run):
    line = b'{"role": "assistant", "tool_calls": "\\ud800 \xf0\x9f\x99\x82"}\n'
    ran = run(bad(line), "-n", "--json")
    assert ran.code == 1
    (fault,) = ran.lines[0]["faults"]
    assert fault == 'chat.jsonl:21: $.tool_calls: "\ud800 🙂" is not an array or null'
