"""`compactor discover`: the sessions of the tools on this machine, and nothing is written anywhere."""

import json
import os
import sys
from datetime import UTC, datetime

import pytest

from compactor.discover import HOMES
from compactor.formats import FORMATS
from tests.running import compactor, contents
from tests.samples import claude_code, gemini_cli, pi, samples

CHANGED = datetime(2026, 3, 2, 12, 30, tzinfo=UTC).timestamp()
PLACES = {
    "Claude Code": (f".claude/projects/-home-user-shop/{claude_code.SAMPLE.file}", claude_code.lines(3)),
    "pi": (f".pi/agent/sessions/--home-user-shop--/{pi.SAMPLE.file}", pi.lines(3)),
    "gemini-cli": (".gemini/tmp/shop/chats/session-2026-11-30T09-00-2f6c1a90.jsonl", gemini_cli.lines(3)),
}
CODEX = [s for s in samples() if s.form.startswith("codex")]
UNREADABLE = os.fsdecode(b"session-\xff.jsonl")  # a name that is no UTF-8


def put(home, name, content, changed=CHANGED):
    path = home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    os.utime(path, (changed, changed))


def discovered(home, *words, **env):
    """What the command lists, by path below `home`; it must leave every file and its times alone."""
    before = contents(home)
    done = compactor(home, "discover", *words, HOME=str(home), **env)
    assert done.code == 0, done.said
    assert done.said == ""
    assert contents(home) == before
    return done


def listed(home, **env):
    return discovered(home, "--json", **env).lines


@pytest.mark.parametrize("tool", PLACES)
def test_a_session_in_the_usual_home_is_listed(tmp_path, tool):
    name, content = PLACES[tool]
    put(tmp_path, name, content)
    [found] = listed(tmp_path)
    assert found["tool"] == tool
    assert found["path"] == str(tmp_path / name)
    assert found["changed"] == "2026-03-02 12:30"
    assert found["bytes"] == len(content)
    assert found["problem"] == ""
    assert found["messages"] >= 12
    assert 500 < found["tokens"] < len(content) / 4  # what a model would be given, not what the file holds


@pytest.mark.skipif(not CODEX, reason="the format of Codex is not there yet")
def test_a_session_of_codex_is_listed(tmp_path):
    put(tmp_path, ".codex/sessions/2026/11/30/rollout-2026-11-30T10-00-00-x.jsonl", CODEX[0].long(3))
    [found] = listed(tmp_path)
    assert (found["tool"], found["problem"]) == ("Codex", "")
    assert found["tokens"] > 500


def test_all_are_listed_tool_by_tool_the_one_changed_last_first(tmp_path):
    for place, (name, content) in enumerate(PLACES.values()):
        put(tmp_path, name, content, CHANGED + place)
    old = PLACES["gemini-cli"][0].replace("2f6c1a90.jsonl", "0ld.json")
    put(tmp_path, old, gemini_cli.old(3), CHANGED + 1_000)
    put(tmp_path, f"{PLACES['pi'][0]}.older.jsonl", pi.lines(2, 1), CHANGED - 1_000)
    found = [(s["tool"], s["path"].removeprefix(f"{tmp_path}/")) for s in listed(tmp_path)]
    assert found == [
        ("Claude Code", PLACES["Claude Code"][0]),
        ("pi", PLACES["pi"][0]),
        ("pi", f"{PLACES['pi'][0]}.older.jsonl"),
        ("gemini-cli", old),
        ("gemini-cli", PLACES["gemini-cli"][0]),
    ]
    table = discovered(tmp_path).out.decode().splitlines()
    assert table[0].split() == ["tool", "changed", "messages", "tokens", "bytes", "session"]
    assert [line.split()[-1] for line in table[1:]] == [str(tmp_path / name) for _, name in found]


VARIABLES = {
    "CLAUDE_CONFIG_DIR": ("Claude Code", "projects/x/s.jsonl"),
    "PI_CODING_AGENT_DIR": ("pi", "sessions/--x--/s.jsonl"),
    "GEMINI_CLI_HOME": ("gemini-cli", ".gemini/tmp/x/chats/session-s.jsonl"),
}


@pytest.mark.parametrize(("variable", "there"), VARIABLES.items(), ids=VARIABLES)
def test_a_home_that_is_elsewhere_is_looked_into_instead(tmp_path, variable, there):
    tool, below = there
    put(tmp_path, f"elsewhere/{below}", PLACES[tool][1])
    put(tmp_path, PLACES[tool][0], PLACES[tool][1])
    [found] = listed(tmp_path, **{variable: str(tmp_path / "elsewhere")})
    assert found["path"] == str(tmp_path / "elsewhere" / below)


def test_tokens_are_those_after_the_newest_compaction(tmp_path):
    name, content = PLACES["pi"]
    put(tmp_path, name, content)
    [whole] = listed(tmp_path)
    last = json.loads(content.splitlines()[-1])
    mark = {"type": "compaction", "id": "0000abcd", "parentId": last["id"], "timestamp": last["timestamp"]}
    mark |= {"summary": "All done.", "firstKeptEntryId": last["id"], "tokensBefore": 1}
    put(tmp_path, name, content + json.dumps(mark).encode() + b"\n")
    [short] = listed(tmp_path)
    assert short["messages"] == 2
    assert short["tokens"] < whole["tokens"] / 5


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere file names are Unicode")
@pytest.mark.parametrize("encoding", ["utf-8:strict", "utf-8:surrogateescape", "ascii:strict"])
def test_a_name_that_is_no_utf_8_is_listed(tmp_path, encoding):
    put(tmp_path, f".pi/agent/sessions/--shop--/{UNREADABLE}", PLACES["pi"][1])
    [found] = listed(tmp_path, PYTHONIOENCODING=encoding)
    assert found["path"].endswith(UNREADABLE)
    table = discovered(tmp_path, PYTHONIOENCODING=encoding)
    assert b"session-\\udcff.jsonl" in table.out


def test_what_cannot_be_read_is_listed_with_its_problem(tmp_path):
    put(tmp_path, PLACES["pi"][0], b"\0\1\2")
    [found] = listed(tmp_path)
    assert found["problem"]
    assert (found["messages"], found["tokens"]) == (0, 0)
    assert found["problem"].split()[0] in discovered(tmp_path).out.decode()


def test_a_session_with_a_header_only_is_listed_as_empty(tmp_path):
    put(tmp_path, PLACES["pi"][0], pi.lines(0).splitlines(keepends=True)[0])
    [found] = listed(tmp_path)
    assert (found["messages"], found["tokens"], found["problem"]) == (0, 0, "")


def test_what_compactor_keeps_beside_a_session_is_no_session(tmp_path):
    for name, _ in PLACES.values():
        for ending in (".state", ".archive"):
            put(tmp_path, name + ending, b"{}\n")
    assert listed(tmp_path) == []


def test_without_sessions_it_says_so(tmp_path):
    assert discovered(tmp_path).out == b"no sessions found\n"
    assert discovered(tmp_path, "--json").out == b""


def test_every_home_is_of_a_tool_that_goes_on_from_what_we_write():
    resumed = {f.resumes for f in FORMATS}
    assert {home.tool for home in HOMES} - {"OpenHands"} == resumed - {""}  # whose client has not been run
