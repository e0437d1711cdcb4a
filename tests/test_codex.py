"""Codex sessions: real ones are read, written back and compacted in both ways."""

from pathlib import Path

import pytest

from compactor.core.handoff import PREFIX
from compactor.core.messages import Kept
from compactor.core.verify import broken
from compactor.formats import rows
from compactor.tools import Native
from tests.offline import compacted
from tests.samples import codex

SHARED = Path(__file__).parents[2] / "shared" / "transcripts" / "codex"
FILES = sorted(SHARED.glob("*.jsonl")) if SHARED.is_dir() else []


def only(content):
    (row,) = rows(content.splitlines(keepends=True), "rollout.jsonl")
    return row


def texts(content):
    return [m.text for m in only(content).conversation.messages]


@pytest.mark.parametrize("sample", codex.SAMPLES, ids=lambda s: s.file)
def test_both_ways_of_writing_give_a_model_the_same(sample):
    row = only(sample.long(14))
    rewritten, appended = (compacted(row, native=native).content for native in (Native.REWRITE, Native.APPEND))
    assert texts(rewritten) == texts(appended)
    assert appended.startswith(row.raw)


def test_a_byte_order_mark_goes_because_the_client_refuses_it():
    assert compacted(only(b"\xef\xbb\xbf" + codex.NEW.long(14))).content.startswith(b'{"timestamp"')


@pytest.mark.skipif(not FILES, reason="the shared transcripts are not beside the project")
@pytest.mark.parametrize("native", list(Native))
@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_real_sessions_are_compacted_and_read_back(path, native):
    content = path.read_bytes()
    row = only(content)
    everything = [Kept(n) for n in range(len(row.conversation.messages))]
    assert row.render(everything) == content
    assert not row.faults
    assert not broken(row.conversation, everything)
    done = compacted(row, native=native)
    if done.report.outcome == "summarised":
        assert sum(text.startswith(PREFIX) for text in texts(done.content)) == 1
        assert (len(done.content) < len(content)) == (native is Native.REWRITE)
    else:
        assert done.content == content
