"""Codex sessions: what counts, the client's own compaction, and what is left of a session that is rewritten."""

import json
from pathlib import Path

import pytest

from compactor.core.handoff import PREFIX, is_handoff
from compactor.core.messages import Kept, Role
from compactor.core.verify import broken
from compactor.formats import rows
from compactor.tools import Native
from tests.offline import compacted
from tests.samples import codex
from tests.samples.openai_responses import turn

SHARED = Path(__file__).parents[2] / "shared" / "transcripts" / "codex"
FILES = sorted(SHARED.glob("*.jsonl")) if SHARED.is_dir() else []


def only(content):
    (row,) = rows(content.splitlines(keepends=True), codex.SAMPLE.file)
    return row


def lines(content):
    return [json.loads(line) for line in content.splitlines()]


def texts(content):
    return [m.text for m in only(content).conversation.messages]


def test_events_and_contexts_are_no_messages():
    messages = only(codex.long(2)).conversation.messages
    assert [m.role for m in messages[:6]] == [
        Role.USER, Role.USER, Role.ASSISTANT, Role.TOOL, Role.TOOL, Role.ASSISTANT,
    ]  # fmt: skip
    assert [c.name for c in messages[2].calls] == ["shell", "apply_patch"]
    assert messages[2].reasoning == "**Looking at turn 0**"


def test_the_instructions_are_charged_for():
    assert only(codex.long(1)).conversation.preamble == codex.META["base_instructions"]["text"]


def test_the_newest_compaction_of_the_client_is_where_the_context_begins():
    messages = only(codex.compacted_by_the_client(3)).conversation.messages
    assert [m.role for m in messages[:4]] == [Role.USER] * 4
    assert is_handoff(messages[3])
    assert messages[4].text.startswith("Turn 200:")


def test_rewritten_it_is_the_header_what_stays_and_the_tail_with_its_events():
    content = codex.long(14)
    made = lines(compacted(only(content)).content)
    assert made[0] == lines(content)[0]
    kinds = {line["payload"]["type"] for line in made if line["type"] == "event_msg"}
    assert "token_count" not in kinds
    assert "agent_message" in kinds
    assert sum(line["type"] == "turn_context" for line in made) >= 1
    assert made[-1] == lines(content)[-1]


def test_rewritten_after_a_compaction_of_the_client_only_the_new_one_is_left():
    content = codex.compacted_by_the_client(6) + codex.written(codex.session(9, first=300))
    done = compacted(only(content))
    made = lines(done.content)
    assert not [line for line in made if line["type"] == "compacted"]
    assert sum(text.startswith(PREFIX) for text in texts(done.content)) == 1
    assert not any("Another language model" in text for text in texts(done.content))


def test_appended_the_old_lines_stay_and_a_compaction_stands_after_them():
    content = codex.long(14)
    done = compacted(only(content), native=Native.APPEND)
    assert done.content.startswith(content)
    (mark,) = lines(done.content[len(content) :])
    assert mark["type"] == "compacted"
    assert mark["payload"]["message"].startswith(PREFIX)
    assert texts(done.content) == texts(compacted(only(content)).content)


def test_a_byte_order_mark_goes_because_the_client_refuses_it():
    done = compacted(only(b"\xef\xbb\xbf" + codex.long(14)))
    assert done.content.startswith(b'{"timestamp"')


def test_a_stub_inside_a_compaction_changes_its_own_bytes_only():
    content = codex.long(14)
    appended = compacted(only(content), native=Native.APPEND).content
    row = only(appended)
    messages = row.conversation.messages
    place = next(n for n, m in enumerate(messages) if m.results and len(m.results[0].text) > 300)
    pieces = [Kept(n, {0: "[cleared]"} if n == place else {}) for n in range(len(messages))]
    new = row.render(pieces)
    assert new.startswith(content)
    assert only(new).conversation.messages[place].results[0].text == "[cleared]"


def test_reasoning_goes_with_the_call_that_it_led_to():
    items = [codex.line("response_item", item) for item in turn(1)[:5]]
    items[2:4] = []  # neither words nor the first call: reasoning, then one call without a result
    content = codex.written([codex.line("session_meta", codex.META), *items])
    row = only(content)
    call = next(n for n, m in enumerate(row.conversation.messages) if m.calls)
    pieces = [Kept(n, without_calls=frozenset({0}) if n == call else frozenset()) for n in range(call + 1)]
    kinds = [line["payload"].get("type") for line in lines(row.render(pieces))]
    assert "reasoning" not in kinds
    assert "custom_tool_call" not in kinds


def test_what_is_malformed_is_named_and_stays():
    bad = codex.line("response_item", {"type": "message", "role": 7, "content": []})
    content = codex.written([*codex.session(2), bad, *codex.session(12, first=300)])
    row = only(content)
    assert [str(fault) for fault in row.faults] == [
        f"{codex.SAMPLE.file}:{len(codex.session(2)) + 1}: $.payload.role: 7 is not a string"
    ]


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
