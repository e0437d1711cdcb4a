"""Does a dry run ask nobody, write nothing, and foresee what a run then does?"""

import re
import subprocess

import pytest

from tests.running import PROGRAM, ROOT, ask, checked, compact, compactor, contents, environment, lined, row, talk
from tests.standin import Standin

FIXTURE = ROOT / "fixtures" / "transcripts" / "coding-session.jsonl"
COLUMNS = ["messages", "tokens", "pruned", "head", "middle", "tail", "after", "calls", "prompt"]
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
