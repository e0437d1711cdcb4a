"""Does the command line do what its help says: where the product goes, what is said beside it, and which exit code?"""

import gzip
import json
import os
import re
import shlex
import subprocess
from pathlib import Path

import jsonschema
import pytest

from tests.running import (
    PROGRAM,
    ROOT,
    ask,
    compact,
    compactor,
    environment,
    handoffs,
    lined,
    row,
    talk,
    text_of,
)
from tests.standin import Standin

SCHEMA = json.loads((ROOT / "compactor" / "schemas" / "report.json").read_bytes())
FIXTURE = ROOT / "fixtures" / "transcripts" / "coding-session.jsonl"
LONG, SHORT = lined(talk(41)), lined(talk(9))
COLUMNS = ["messages", "tokens", "pruned", "head", "middle", "tail", "after", "calls", "prompt"]
OFFLINE = "compactor: no endpoint is configured, so summaries were extracted offline (see --summarizer)\n"


@pytest.fixture
def folder(tmp_path):
    """A folder with one file to compact, one that is short, and one with a conversation a line."""
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "long.jsonl").write_bytes(LONG)
    (folder / "short.jsonl").write_bytes(SHORT)
    (folder / "rows.jsonl").write_bytes(row(talk(9)) + row(talk(41, topic="crane")))
    return folder


def contents(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def checked(lines):
    for line in lines:
        jsonschema.validate(line, SCHEMA)
    assert [line["kind"] for line in lines] == ["conversation"] * (len(lines) - 1) + ["totals"]
    return lines


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
        (("short.jsonl",), ""),
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


# The dry run.


def test_a_dry_run_asks_nobody_and_writes_nothing(folder):
    before = contents(folder)
    with Standin() as endpoint:
        ran = compact(folder, "long.jsonl", "rows.jsonl", "-n", "-o", "out/", "--state-dir", "s", *ask(endpoint))
        assert endpoint.hits == 0
    assert (ran.code, ran.said) == (0, "")
    assert contents(folder) == before
    head, first, second, third, blank, totals = ran.out.decode().splitlines()
    assert head.split("  ")[0] == "conversation"
    assert re.split(r" {2,}", head)[1:-1] == COLUMNS
    assert re.split(r" {2,}", first)[:7] == ["long.jsonl", "41", "2,422", "2,422", "91", "1,609", "722"]
    assert "untouched: below the trigger" in second
    assert "summarised: at the trigger" in third
    assert blank == ""
    assert re.match(r"3 conversations: 5,\d{3} -> \S+ tokens, \d+%( to \d+%)? saved, 2 calls with [\d,]+ pro", totals)


def test_a_dry_run_as_json_is_what_its_schema_says(folder):
    ran = compact(folder, "long.jsonl", "rows.jsonl", "-n", "--json")
    long, short, crane, totals = checked(ran.lines)
    assert [r["name"] for r in (long, short, crane)] == ["long.jsonl", "rows.jsonl:1", "rows.jsonl:2"]
    assert long["head"] + long["middle"] + long["tail"] == long["before"] == 2_422
    assert (long["calls"], short["calls"], totals["calls"]) == (1, 0, 2)
    assert totals["before"] == sum(r["before"] for r in (long, short, crane))
    assert long["exact"] is True
    assert long["encoding"] == "o200k_base"


def test_a_dry_run_counts_the_prompt_that_a_run_would_send(folder):
    planned = compact(folder, "long.jsonl", "-n", "--json").lines[0]["prompt_tokens"]
    with Standin() as endpoint:
        compact(folder, "long.jsonl", *ask(endpoint))
    sent = row([{"role": m["role"], "content": m["content"]} for m in endpoint.asks[0].body["messages"]])
    counted = compact(folder, "-n", "--json", stdin=sent).lines[0]["before"]
    assert planned <= counted <= planned + 20  # what two messages have around their text


@pytest.mark.parametrize(
    ("words", "imported"), [(("-n",), False), ((), True)], ids=["a dry run does not", "a run does"]
)
def test_openai_is_imported_only_if_it_is_asked(folder, words, imported):
    program = [PROGRAM[0], "-X", "importtime", *PROGRAM[1:]]
    with Standin() as endpoint:
        done = subprocess.run(
            [*program, "compact", "--context-window", "4000", "long.jsonl", *words, *ask(endpoint)],
            cwd=folder,
            env=environment(),
            capture_output=True,
            check=True,
        )
    modules = {line.split(b"|")[-1].strip() for line in done.stderr.splitlines() if line.startswith(b"import time:")}
    assert b"compactor.start" in modules
    assert (b"openai" in modules) is imported


def expected_and_real(folder, *words):
    planned = compactor(folder, "compact", *words, "-n", "--json").lines[0]
    real = compactor(folder, "compact", *words, "--json", "-o", "result.jsonl").lines[0]
    assert real["outcome"] == planned["outcome"]
    return planned["after_least"], real["after_most"], planned["after_most"]


@pytest.mark.parametrize(
    "words",
    [(), ("--context-window", "48000", "--force")],
    ids=" ".join,
)
def test_the_expected_range_holds_what_a_run_then_gives(folder, words):
    least, real, most = expected_and_real(folder, FIXTURE, "--state-dir", "states", *words)
    assert least <= real <= most


def test_the_expected_range_holds_for_small_middles_too(folder):
    least, real, most = expected_and_real(folder, "long.jsonl", "--context-window", "4000")
    assert least <= real <= most


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


# Help.


@pytest.fixture(scope="module")
def help_text(tmp_path_factory):
    return compactor(tmp_path_factory.mktemp("help"), "compact", "--help", COLUMNS="200").out.decode()


def examples(text):
    found = [line.strip() for line in text.splitlines() if line.strip().startswith(("compactor compact ", "zcat"))]
    return [re.split(r" {3,}", line)[0] for line in found]


def test_help_opens_with_three_examples(help_text):
    assert len(examples(help_text)) == 3
    assert help_text.index("Examples:") < help_text.index(examples(help_text)[0])
    assert help_text.index(examples(help_text)[-1]) < help_text.index("─ Arguments ─")


@pytest.mark.parametrize("number", range(3))
def test_each_example_of_the_help_runs(tmp_path, help_text, number):
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "compactor"
    program.write_text(f'#!/bin/sh\nexec {shlex.join(PROGRAM)} "$@"\n')
    program.chmod(0o755)
    (tmp_path / "sessions").mkdir()
    (tmp_path / "sessions" / "one.jsonl").write_bytes(LONG)
    (tmp_path / "sessions" / "two.jsonl").write_bytes(SHORT)
    (tmp_path / "chat.jsonl").write_bytes(LONG)
    (tmp_path / "c.jsonl.gz").write_bytes(gzip.compress(LONG))
    env = environment(COMPACTOR_CONTEXT_WINDOW="4000")
    env["PATH"] = f"{tmp_path}/bin:{env['PATH']}"
    line = f"set -o pipefail; {examples(help_text)[number]}"
    done = subprocess.run(["bash", "-c", line], cwd=tmp_path, env=env, capture_output=True, check=True)
    product = (tmp_path / "small.jsonl").read_bytes() if number == 0 else done.stdout
    if number == 1:
        assert b"2 conversations: " in product
    else:
        lines = (gzip.decompress(product) if number == 2 else product).splitlines()
        assert len(handoffs([json.loads(one) for one in lines])) == 1


def test_every_option_is_in_the_help_with_its_reason(help_text):
    options = set(re.findall(r"^│ (--[a-z-]+)", help_text, re.MULTILINE))
    assert {"--output", "--in-place", "--state", "--state-dir", "--dry-run", "--json", "--quiet"} <= options
    assert {"--jobs", "--force", "--rebuild", "--on-failure", "--cooldown", "--context-window"} <= options
    assert not re.search(r"--api-key", help_text)


@pytest.mark.parametrize("words", [("--help",), ("-h",), ("compact", "-h")])
def test_help_is_a_product(tmp_path, words):
    ran = compactor(tmp_path, *words)
    assert (ran.code, ran.said) == (0, "")
    assert b"Usage:" in ran.out


def test_the_version(tmp_path):
    ran = compactor(tmp_path, "--version")
    assert (ran.code, ran.said) == (0, "")
    assert re.fullmatch(rb"compactor \d+\.\d+\.\d+\n", ran.out)


def test_text_of_the_transcript_reaches_stdout_in_its_own_characters(folder):
    messages = [*talk(3), {"role": "user", "content": "Grüße, 漢字, \u2028 and \ud83d\ude42"}]
    content = "".join(json.dumps(m, ensure_ascii=False) + "\n" for m in messages).encode("utf-8", "surrogatepass")
    content = content.replace(b"\xed\xa0\xbd\xed\xb9\x82", "🙂".encode())
    ran = compact(folder, stdin=content)
    assert ran.out == content
    assert "🙂" in text_of(ran.lines)[-1]
