"""Are transcripts that real tools wrote compacted without damage? They are not part of the project: see TRANSCRIPTS."""

import json
from itertools import pairwise

import pytest

from compactor.core.handoff import PREFIX
from compactor.formats import rows
from tests.running import ROOT, ask, checked, compactor
from tests.standin import Standin, between, earlier

TRANSCRIPTS = ROOT.parent / "shared" / "transcripts" / "openai-chat"
FILES = sorted(TRANSCRIPTS.glob("*.jsonl"))
CUTS = (200, 260, 320, 378)
SWE = TRANSCRIPTS / "mini-swe-agent__pylint-dev__astroid-1333.jsonl"

pytestmark = pytest.mark.skipif(not FILES, reason=f"there are no transcripts in {TRANSCRIPTS}")


def read(path):
    """The conversations of a file, and the rows that hold none."""
    found = list(rows(path.read_bytes().splitlines(keepends=True), path.name))
    return [row.conversation for row in found if row.conversation], sum(row.conversation is None for row in found)


@pytest.mark.parametrize("words", [(), ("--context-window", "8000")], ids=["as they come", "for a small model"])
def test_a_dry_run_foresees_what_a_run_does_and_no_conversation_is_damaged(tmp_path, words):
    words = (*FILES, "--state-dir", tmp_path, "-j", "8", *words, "--json")
    planned = compactor(tmp_path, "compact", "-n", *words)
    ran = compactor(tmp_path, "compact", "-o", "out/", *words)
    assert ran.code == planned.code == 0
    reports = list(zip(checked(planned.lines), checked(ran.lines), strict=True))[:-1]
    for source in FILES:
        before, unread = read(source)
        after, unread_after = read(tmp_path / "out" / source.name)
        assert (len(after), unread_after) == (len(before), unread)
        mine = [
            pair for pair in reports if pair[0]["name"].partition(".jsonl")[0] == str(source).removesuffix(".jsonl")
        ]
        for (foreseen, real), old, new in zip(mine, before, after, strict=True):
            assert_sound(foreseen, real, old.messages, new.messages)
    assert compactor(tmp_path, "compact", "-o", "again/", *words).code == 0
    for source in FILES:
        assert (tmp_path / "again" / source.name).read_bytes() == (tmp_path / "out" / source.name).read_bytes()


def assert_sound(foreseen, real, before, after):
    """One conversation: it is what was foreseen, and what was kept of it is as it was."""
    assert foreseen["outcome"] == real["outcome"]
    if real["outcome"] == "untouched":
        assert after == before
        return
    assert real["after_most"] < real["before"]
    assert foreseen["after_least"] <= real["after_most"] <= foreseen["after_most"]
    kept = [m for m in after if not m.text.startswith(PREFIX)]
    assert len(after) - len(kept) == (real["outcome"] == "summarised")
    assert kept[0] == before[0]
    assert kept[-1].text == before[-1].text


def test_rows_that_change_nothing_keep_every_byte():
    for source in FILES:
        found = rows(source.read_bytes().splitlines(keepends=True), source.name)
        assert b"".join(row.raw for row in found) == source.read_bytes()


@pytest.mark.skipif(not SWE.exists(), reason=f"{SWE.name} is not there")
def test_a_session_that_grows_is_summarised_piece_by_piece(tmp_path):
    """Four cuts, one sidecar: each prompt holds the notes and what came since."""
    lines = SWE.read_bytes().splitlines(keepends=True)
    path = tmp_path / "session.jsonl"
    state = tmp_path / "session.jsonl.state"
    written = []
    with Standin() as endpoint:
        for cut in CUTS:
            path.write_bytes(b"".join(lines[:cut]))
            ran = compactor(tmp_path, "compact", path, "--force", *ask(endpoint), "-v")
            assert ran.code == 0, ran.said
            written.append([m["content"] for m in ran.lines if str(m["content"]).startswith(PREFIX)])
    assert [len(handoffs) for handoffs in written] == [1] * len(CUTS)
    assert endpoint.hits == len(CUTS)
    (entry,) = [json.loads(line) for line in state.read_bytes().splitlines()]
    ends = [2 + g["covered"]["count"] for g in entry["generations"]]
    assert all(end <= cut for end, cut in zip(ends, CUTS, strict=True))
    numbers = [_turns(one) for one in endpoint.asks]
    for (_, last), (first, _) in pairwise(numbers):
        assert first > last  # no turn twice
    for one, ((handoff,), _) in zip(endpoint.asks[1:], pairwise(written), strict=True):
        assert earlier(one)
        assert set(earlier(one)) <= set(handoff.splitlines())
        assert PREFIX not in one.text("user")


def _turns(one):
    """The numbers of the first and the last turn in a prompt."""
    marks = [line[1:].partition("]")[0] for line in between(one.text("user"), "transcript").splitlines()]
    numbers = [int(mark) for mark in marks if mark.isdecimal()]
    return numbers[0], numbers[-1]
