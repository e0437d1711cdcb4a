"""Which laws must every format keep? One suite for all of them; a new format joins by a module in tests/samples."""

import asyncio
from io import BytesIO

import pytest

from compactor.attempt import compact_row
from compactor.core.handoff import is_handoff
from compactor.core.messages import Kept
from compactor.core.settings import Settings, Trigger
from compactor.core.verify import broken
from compactor.formats import FORMATS, rows
from compactor.tokenizer import tokenizer
from compactor.tools import Known, Native, Tools
from tests.samples import samples

SAMPLES = samples()
EVERY = pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: f"{s.form}:{s.file}")
WINDOW = 8_000  # a tail of 1,600 tokens: about two turns
COUNT = tokenizer()


def read(sample, content):
    return list(rows(BytesIO(content), sample.file))


def only(sample, content):
    found = [row for row in read(sample, content) if row.conversation is not None]
    assert len(found) == 1
    return found[0]


def compacted(row, native=Native.REWRITE, entry=None):
    async def work():
        settings = Settings(context_window=WINDOW, trigger_mode=Trigger.FORCE)
        tools = Tools(settings, COUNT, None, lambda: 0.0, asyncio.Semaphore(1), str, native)
        known = Known("0" * 16, entry, (entry,) if entry else (), lambda: None)
        return await compact_row(row, known, tools)

    return asyncio.run(work())


def texts(conversation):
    return [m.text for m in conversation.messages]


def marks(sample):
    return next(f for f in FORMATS if f.name == sample.form).mark


def test_every_format_has_a_sample():
    assert {s.form for s in SAMPLES} == {f.name for f in FORMATS}


@EVERY
def test_it_is_told_by_content(sample):
    assert {row.format.name for row in read(sample, sample.long(2))} == {sample.form}


@EVERY
def test_reading_gives_words_calls_and_results(sample):
    conversation = only(sample, sample.long(3)).conversation
    assert sum(len(m.calls) for m in conversation.messages) >= 3
    assert sum(len(m.results) for m in conversation.messages) >= 3
    assert not broken(conversation, [Kept(n) for n in range(len(conversation.messages))])
    assert "ticket #4002" in "\n".join(texts(conversation))


@EVERY
def test_unchanged_it_leaves_byte_for_byte(sample):
    content = sample.long(4)
    found = read(sample, content)
    assert b"".join(row.raw for row in found) == content
    row = only(sample, content)
    assert row.render([Kept(n) for n in range(len(row.conversation.messages))]) == row.raw


@EVERY
def test_compacted_it_reads_back_with_one_handoff_and_less(sample):
    row = only(sample, sample.long(14))
    done = compacted(row)
    assert done.report.outcome == "summarised", done.report
    again = row.read_back(done.content)
    assert sum(map(is_handoff, again.messages)) == 1
    assert not is_handoff(again.messages[-1])
    assert done.report.after_most < done.report.before
    assert len(done.content) < len(row.raw)
    assert "Done with" in texts(again)[-1]
    assert not broken(again, [Kept(n) for n in range(len(again.messages))])
    assert not done.content.startswith(b"\xef\xbb\xbf")


@EVERY
def test_compacted_it_is_still_told_by_content(sample):
    done = compacted(only(sample, sample.long(14)))
    assert {row.format.name for row in read(sample, done.content)} == {sample.form}


@EVERY
def test_compacted_and_grown_it_is_updated(sample):
    first = compacted(only(sample, sample.long(14)))
    grown = only(sample, sample.grown(first.content, 12))
    done = compacted(grown, entry=first.entry)
    assert done.report.outcome == "summarised", done.report
    assert done.report.generation == 2
    again = grown.read_back(done.content)
    assert sum(map(is_handoff, again.messages)) == 1
    handoff = next(m.text for m in again.messages if is_handoff(m))
    assert handoff in first.content.decode() or "never push to main" in handoff


@EVERY
def test_without_its_sidecar_it_is_updated_too(sample):
    first = compacted(only(sample, sample.long(14)))
    grown = only(sample, sample.grown(first.content, 12))
    done = compacted(grown)
    again = grown.read_back(done.content)
    assert sum(map(is_handoff, again.messages)) == 1
    assert done.entry.generations[-1].number == 2


@EVERY
def test_the_same_again_makes_no_call(sample):
    row = only(sample, sample.long(14))
    first = compacted(row)
    again = compacted(row, entry=first.entry)
    assert again.report.outcome == "reused"
    assert again.content == first.content


@EVERY
def test_appended_the_old_records_stay_and_the_mark_decides(sample):
    row = only(sample, sample.long(14))
    done = compacted(row, Native.APPEND)
    if not marks(sample):
        assert done.report.outcome == "failed"
        assert done.content == row.raw
        return
    assert done.report.outcome == "summarised", done.report
    assert done.content.startswith(row.raw.rstrip(b"\r\n"))
    again = row.read_back(done.content)
    assert again.messages == row.read_back(compacted(row).content).messages
    grown = only(sample, sample.grown(done.content, 12))
    updated = compacted(grown, Native.APPEND, done.entry)
    assert updated.report.generation == 2
    assert sum(map(is_handoff, grown.read_back(updated.content).messages)) == 1


@EVERY
@pytest.mark.parametrize("damage", ["bom", "crlf", "cut", "garbage", "no newline", "blank lines"])
def test_damaged_nothing_is_lost(sample, damage):
    content = sample.long(14)
    lines = content.splitlines(keepends=True)
    if not sample.lines and damage in ("garbage", "cut"):
        pytest.skip("one JSON value cannot be read in parts")
    damaged = {
        "bom": b"\xef\xbb\xbf" + content,
        "crlf": content.replace(b"\n", b"\r\n"),
        "cut": content + lines[-1][:-20],
        "garbage": b"".join([*lines[:-1], b"{garbage\n", lines[-1]]),
        "no newline": content.rstrip(b"\n"),
        "blank lines": b"\n" + content + b"\n\n",
    }[damage]
    found = read(sample, damaged)
    assert b"".join(row.raw for row in found) == damaged
    assert {row.format.name for row in found} == {sample.form}
    [row] = [row for row in found if row.conversation is not None]
    done = compacted(row)
    assert done.report.outcome == "summarised", done.report
    faulty = damage in ("cut", "garbage")
    assert bool([fault for row in found for fault in row.faults]) == faulty
    if damage == "garbage" and row.faults:
        assert b"{garbage" in done.content
