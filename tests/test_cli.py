"""Does the command line send the product where it should, talk beside it, and end with the right exit code?"""

import json
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.running import PROGRAM, ask, checked, compact, contents, environment, handoffs, lined, row, talk, text_of
from tests.standin import Standin

OFFLINE = "compactor: no endpoint is configured, so summaries were extracted offline (see --summarizer)\n"
LONG, SHORT = lined(talk(41)), lined(talk(9))


@pytest.fixture
def folder(tmp_path):
    """A folder with one file to compact, one that is short, and one with a conversation a line."""
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "long.jsonl").write_bytes(LONG)
    (folder / "short.jsonl").write_bytes(SHORT)
    (folder / "rows.jsonl").write_bytes(row(talk(9)) + row(talk(41, topic="crane")))
    return folder


# Where the product goes.


def test_one_file_goes_to_stdout_with_its_sidecar_beside_it(folder):
    ran = compact(folder, "long.jsonl")
    assert ran.code == 0
    assert len(handoffs(ran.lines)) == 1
    assert (ran.lines[:2], ran.lines[-4:]) == (talk(2), talk(37, 41))
    assert (folder / "long.jsonl.state").is_file()
    assert contents(folder)["long.jsonl"] == LONG


@pytest.mark.parametrize("words", [(), ("-",)], ids=["no file", "-"])
def test_a_filter_gives_a_transcript_and_leaves_nothing_behind(folder, words):
    before = contents(folder)
    ran = compact(folder, *words, stdin=LONG)
    assert ran.code == 0
    assert (len(handoffs(ran.lines)), ran.lines[-4:]) == (1, talk(37, 41))
    assert contents(folder) == before


def test_a_filter_keeps_a_sidecar_where_it_is_told_to(folder):
    first = compact(folder, "--state", "mine.state", stdin=LONG)
    ran = compact(folder, "--state", "mine.state", stdin=LONG)
    assert "no call" in ran.said
    assert ran.out == first.out


def test_a_pipe_with_a_name_is_read_once_even_if_it_has_a_sidecar(folder):
    line = f"{shlex.join(PROGRAM)} compact --context-window 4000 --state mine.state <(cat long.jsonl)"
    runs = [
        subprocess.run(["bash", "-c", line], cwd=folder, env=environment(), capture_output=True, check=True)
        for _ in range(2)
    ]
    assert len(handoffs([json.loads(one) for one in runs[0].stdout.splitlines()])) == 1
    assert runs[1].stdout == runs[0].stdout
    assert b"no call" in runs[1].stderr


@pytest.mark.parametrize(
    ("words", "made"),
    [
        (("long.jsonl", "-o", "small.jsonl"), ["small.jsonl", "long.jsonl.state"]),
        (("long.jsonl", "--output", "out/"), ["out/long.jsonl", "long.jsonl.state"]),
        (("long.jsonl", "rows.jsonl", "-o", "a/b"), ["a/b/long.jsonl", "a/b/rows.jsonl", "rows.jsonl.state"]),
        (("long.jsonl", "-o", "out/", "--state", "x.state"), ["out/long.jsonl", "x.state"]),
        (("long.jsonl", "-o", "out/", "--state-dir", "s/t"), ["out/long.jsonl", "s/t/long.jsonl.state"]),
        (("-i", "long.jsonl", "rows.jsonl"), ["long.jsonl", "long.jsonl.state", "rows.jsonl.state"]),
        (("-i", "long.jsonl", "--state-dir", "states"), ["long.jsonl", "states/long.jsonl.state"]),
    ],
    ids=" ".join,
)
def test_files_go_where_they_are_sent(folder, words, made):
    before = contents(folder)
    ran = compact(folder, *words)
    assert (ran.code, ran.out) == (0, b"")
    after = contents(folder)
    assert set(made) <= set(after)
    changed = {name for name in after if after[name] != before.get(name)}
    expected = {*made, "long.jsonl.state", "rows.jsonl", "rows.jsonl.state"} if "-i" in words else set(made)
    archives = {"long.jsonl.archive", "rows.jsonl.archive"} if "-i" in words else set()
    assert changed <= expected | {"long.jsonl.state"} | archives
    result = after["long.jsonl" if "-i" in words else made[0]]
    assert len(handoffs([json.loads(line) for line in result.splitlines()])) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("long.jsonl", "short.jsonl"), "2 inputs and no place for the results; give -o DIR, or -i, or -n"),
        (("long.jsonl", "-o", "long.jsonl"), "long.jsonl is also the input; give -i to replace it"),
        (("long.jsonl", "--state", "long.jsonl"), "long.jsonl:1: $: 'version' is a required property"),
        (("long.jsonl", "-o", "short.jsonl/x"), "short.jsonl/x: cannot be written (Not a directory)"),
        (("long.jsonl", "--state", "short.jsonl/x"), "short.jsonl/x: cannot be written"),
        (("long.jsonl", "-o", "no/x.jsonl"), "no/x.jsonl: cannot be written (No such file or directory); create"),
        (("long.jsonl", "-o", "/dev/null"), "/dev/null: cannot be replaced, it is not a regular file"),
        (("long.jsonl", "--threshold", "2"), "threshold is 2.0; give a share of the window, over 0 and up to 1"),
        (("long.jsonl", "--on-failure", "cry"), "on_failure is 'cry'; it must be one of keep, drop, extract"),
        (("long.jsonl", "--encoding", "morse"), "'morse'; choose o200k_base or cl100k_base"),
        (("long.jsonl", "--base-url", "localhost"), "the base URL is no http(s) URL"),
        (("long.jsonl", "--jobs", "many"), "Invalid value for '--jobs'"),
        (("long.jsonl", "--wrong"), "No such option: --wrong"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_makes_no_sense_is_exit_2_and_writes_nothing(folder, words, said):
    before = contents(folder)
    ran = compact(folder, *words)
    assert ran.code == 2
    assert said in " ".join(ran.said.replace("│", " ").split())
    assert ran.out == b""
    assert {k: v for k, v in contents(folder).items() if not k.endswith(".state")} == before


def test_without_a_terminal_or_a_pipe_there_is_no_input(folder):
    line = f"{shlex.join(PROGRAM)} compact <&-"
    done = subprocess.run(["bash", "-c", line], cwd=folder, env=environment(), capture_output=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(b"compactor: no input; name a file, or pipe one in")


@pytest.mark.parametrize("words", [(), ("-n",)], ids=["transcript", "table"])
def test_a_full_disk_under_stdout_is_said(folder, words):
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*PROGRAM, "compact", "long.jsonl", *words],
            cwd=folder,
            env=environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 2
    assert b"No space left on device" in done.stderr
    assert b"Traceback" not in done.stderr


# What is said, and how loud.


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("long.jsonl",), r"long.jsonl: 2,422 -> 1,\d\d\d tokens \(-\d\d%\), middle of 1,609 tokens summarised by "
         r"extractive, generation 1\n" + re.escape(OFFLINE)),
        (("long.jsonl", "-q"), ""),
        (("long.jsonl", "--summarizer", "extractive"), r"long.jsonl: [^\n]*\n"),
        (("short.jsonl",), r"short.jsonl: untouched: below the trigger\n"),
        (("short.jsonl", "-q"), ""),
        (("short.jsonl", "-v"), r"short.jsonl: untouched: below the trigger\n"),
        (("rows.jsonl", "-i"), r"rows.jsonl:2: [^\n]*\n" + re.escape(OFFLINE)
         + r"2 conversations: 1 untouched, 1 summarised; 2,422 -> [^\n]*\n"),
        (("rows.jsonl", "-i", "-q"), ""),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)  # fmt: skip
def test_all_talk_is_on_stderr(folder, words, said):
    ran = compact(folder, *words)
    assert ran.code == 0
    assert re.fullmatch(said, ran.said), ran.said
    assert b"tokens (-" not in ran.out


def test_json_goes_to_stdout_unless_transcripts_do(folder):
    ran = compact(folder, "long.jsonl", "short.jsonl", "-o", "out/", "--json", "-q")
    assert ran.said == ""
    long, short, totals = checked(ran.lines)
    assert (long["name"], long["outcome"], long["summarizer"]) == ("long.jsonl", "summarised", "extractive")
    assert (short["name"], short["outcome"], short["before"]) == ("short.jsonl", "untouched", None)
    assert totals["outcomes"] == {"summarised": 1, "untouched": 1}
    ran = compact(folder, "long.jsonl", "--json", "-q")
    checked([json.loads(line) for line in ran.said.splitlines()])
    assert len(handoffs(ran.lines)) == 1


def test_the_report_of_a_run_tells_what_its_calls_cost(folder):
    with Standin() as endpoint:
        ran = compact(folder, "long.jsonl", "-o", "out/", "--json", *ask(endpoint))
    report, totals = checked(ran.lines)
    assert (report["calls"], totals["calls"]) == (1, 1)
    assert report["prompt_tokens"] == sum(len(m["content"]) for m in endpoint.asks[0].body["messages"]) // 4
    assert report["after_most"] == report["after_least"] < report["before"] == 2_422


# Names that are not plain.

NAMES = ["ünï 漢字 🙂.jsonl", "a b\tc.jsonl", "[red]x.jsonl", "-n.jsonl", b"latin-\xe9.jsonl"]


def test_any_file_name_will_do(tmp_path):
    for name in NAMES:
        (tmp_path / os.fsdecode(name)).write_bytes(LONG)
    assert compact(tmp_path, "-o", "out/", "--", *NAMES).code == 0
    for name in map(os.fsdecode, NAMES):
        result = (tmp_path / "out" / name).read_bytes()
        assert len(handoffs([json.loads(line) for line in result.splitlines()])) == 1
        assert (tmp_path / f"{name}.state").is_file()
    assert [line["name"] for line in compact(tmp_path, "-n", "--json", "--", *NAMES).lines[:-1]] == [
        os.fsdecode(name) for name in NAMES
    ]
    table = compact(tmp_path, "-n", "--", *NAMES).out
    assert all(part in table for part in ("ünï 漢字 🙂.jsonl".encode(), b"[red]x.jsonl", b"\\udce9.jsonl"))


def test_a_terminal_that_knows_no_unicode_gets_escapes(tmp_path):
    (tmp_path / "漢.jsonl").write_bytes(SHORT)
    ran = compact(tmp_path, "-n", "漢.jsonl", PYTHONIOENCODING="latin-1")
    assert ran.code == 0
    assert b"\\u6f22.jsonl" in ran.out


def test_text_of_the_transcript_reaches_stdout_in_its_own_characters(folder):
    messages = [*talk(3), {"role": "user", "content": "Grüße, 漢字, \u2028 and \ud83d\ude42"}]
    content = "".join(json.dumps(m, ensure_ascii=False) + "\n" for m in messages).encode("utf-8", "surrogatepass")
    content = content.replace(b"\xed\xa0\xbd\xed\xb9\x82", "🙂".encode())
    ran = compact(folder, stdin=content)
    assert ran.out == content
    assert "🙂" in text_of(ran.lines)[-1]
