"""Claude Code sessions: which records are the conversation, and what the client goes on from afterwards.

The trees and what is read of them are those that the client itself (2.1.197) was seen to send.
"""

import json
import re
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactor.core.handoff import KNOWN_PREFIXES, PREFIX, is_handoff
from compactor.core.messages import CALL_REMOVED, Handoff, Kept, Opening, Role
from compactor.core.tokens import PER_IMAGE
from compactor.core.verify import broken
from compactor.formats import rows
from compactor.tokenizer import tokenizer
from compactor.tools import Native
from tests.offline import compacted
from tests.samples import claude_code as sample

REAL = Path(__file__).resolve().parents[2] / "shared" / "transcripts" / "claude-code"
COUNT = tokenizer()


# A record in a few words: its id is its name, and what it says is its name in capitals.


def record(kind, name, parent, **members):
    return {"parentUuid": parent, "isSidechain": False, "sessionId": "s", "type": kind, "uuid": name, **members}


def user(name, parent, content=None, **members):
    return record("user", name, parent, message={"role": "user", "content": content or name.upper()}, **members)


def says(name, parent, *blocks, answer="", **members):
    content = list(blocks) or [{"type": "text", "text": name.upper()}]
    usage = {"input_tokens": 3, "cache_read_input_tokens": 160_000, "output_tokens": 7}
    message = {"id": answer or f"msg_{name}", "role": "assistant", "model": "m", "content": content, "usage": usage}
    return record("assistant", name, parent, message=message, **members)


def use(call):
    return {"type": "tool_use", "id": call, "name": "Read", "input": {"file_path": f"/{call}"}}


def result(name, parent, call, text="", *more, **members):
    block = {"type": "tool_result", "tool_use_id": call, "content": text or f"OUT {call}"}
    return user(name, parent, [block, *more], toolUseResult={"stdout": "copy"}, **members)


def boundary(name="b", parent=None, **meta):
    metadata = {"trigger": "auto", "preTokens": 167_000, **meta}
    return record("system", name, parent, subtype="compact_boundary", compactMetadata=metadata)


def summary(name="s", parent="b", text=""):
    text = text or f"{KNOWN_PREFIXES[2]}. {name.upper()}"
    return user(name, parent, text, isCompactSummary=True, isVisibleInTranscriptOnly=True)


def attachment(name, parent, kind, **members):
    return record("attachment", name, parent, attachment={"type": kind, **members})


def local(name, parent):
    text = f"<local-command-stdout>{name.upper()}</local-command-stdout>"
    return record("system", name, parent, subtype="local_command", content=text)


def progress(name, parent):
    return record("progress", name, parent, data={"type": "hook_progress"}, parentToolUseID="t")


def lines(*records):
    return b"".join((r if isinstance(r, bytes) else json.dumps(r).encode()) + b"\n" for r in records)


def only(content, name="session.jsonl"):
    [row] = rows(BytesIO(content), name)
    return row


def row_of(*records):
    return only(lines(*records))


def brief(conversation):
    """A conversation in a few words: roles, what is said, calls and results."""
    told = []
    for m in conversation.messages:
        words = [m.text.split()[-1]] if m.text else []
        words += [f"({m.other.split('>')[-2].split('<')[0] if '>' in m.other else m.other})"] if m.other else []
        words += [f"?{c.id}" for c in m.calls] + [f"={r.call_id}" for r in m.results]
        told.append(f"{m.role[0]}:" + ",".join(words))
    return " ".join(told)


def records_of(content):
    return [json.loads(line) for line in content.splitlines()]


# The path.

BEGIN = (user("u", None), says("a", "u"))
TURN = (user("v", "a"), says("w", "v"))
LINES = {"answer": "m"}
OLD = (*BEGIN, user("v", "a"), says("w", "v", use("1")), result("r", "w", "1"), says("x", "r"))
LISTED = {"preservedMessages": {"anchorUuid": "s", "uuids": ["v", "w", "r", "x"], "allUuids": []}}
SEGMENT = {"preservedSegment": {"anchorUuid": "s", "headUuid": "v", "tailUuid": "x"}}
PRESERVED = "u:S u:V a:?1 t:=1 a:X"

TREES = {
    "a plain talk": ((*BEGIN, *TURN), "u:U a:A u:V a:W"),
    "the last in the file leads, whatever its time": (
        (*BEGIN, user("v", "a", timestamp="2026-02-02"), user("z", "a", timestamp="2026-01-01")),
        "u:U a:A u:Z",
    ),
    "a progress line does not lead": ((*BEGIN, *TURN, progress("p", "a")), "u:U a:A u:V a:W"),
    "nor does a system line": ((*BEGIN, *TURN, record("system", "d", "a", subtype="x")), "u:U a:A u:V a:W"),
    "an attachment leads": ((*BEGIN, *TURN, attachment("t", "a", "file")), 'u:U a:A u:({"type":"file"})'),
    "a local command leads": ((*BEGIN, *TURN, local("l", "a")), "u:U a:A u:(L)"),
    "a hidden line leads": ((*BEGIN, *TURN, user("h", "a", isMeta=True)), "u:U a:A u:(H)"),
    "a sub-agent does not lead": (
        (*BEGIN, user("q", None, isSidechain=True), says("y", "q", isSidechain=True)),
        "u:U a:A",
    ),
    "a sub-agent's own file": ((user("q", None, isSidechain=True), says("y", "q", isSidechain=True)), "u:Q a:Y"),
    "of two roots the last": ((*BEGIN, user("v", None), says("w", "v")), "u:V a:W"),
    "a missing parent ends the walk": ((*BEGIN, user("v", "gone"), says("w", "v")), "u:V a:W"),
    "a ring ends where it closes": ((user("u", "a"), says("a", "u")), "u:U a:A"),
    "of two with one id the last": ((*BEGIN, user("u", None, "AGAIN")), "u:AGAIN"),
    "progress lines stand between": ((*BEGIN, progress("p", "a"), user("v", "p")), "u:U a:A u:V"),
    "a line without an id leads": ((*BEGIN, {**user("v", "a"), "uuid": None}), "u:U a:A u:V"),
    "a log without links is read in its order": (
        tuple({**r, "parentUuid": None} for r in (*BEGIN, *TURN)),
        "u:U a:A u:V a:W",
    ),
    "parallel calls, results on their own lines": (
        (
            BEGIN[0],
            says("a", "u", **LINES),
            says("b", "a", use("1"), **LINES),
            says("c", "b", use("2"), **LINES),
            result("r", "b", "1", sourceToolAssistantUUID="b"),
            result("q", "c", "2", sourceToolAssistantUUID="c"),
            says("z", "q"),
        ),
        "u:U a:A,?1,?2 t:=1 t:=2 a:Z",
    ),
    "parallel calls, results that name no source": (
        (
            BEGIN[0],
            says("b", "u", use("1"), **LINES),
            says("c", "b", use("2"), **LINES),
            result("r", "b", "1"),
            result("q", "c", "2"),
            says("z", "q"),
        ),
        "u:U a:?1,?2 t:=1 t:=2 a:Z",
    ),
    "parallel calls off the path": (
        (
            BEGIN[0],
            says("b", "u", use("1"), **LINES),
            says("c", "u", use("2"), **LINES),
            result("r", "b", "1", sourceToolAssistantUUID="b"),
            result("q", "c", "2", sourceToolAssistantUUID="c"),
            says("z", "q"),
        ),
        "u:U a:?1,?2 t:=1 t:=2 a:Z",
    ),
    "a result that hangs on a progress line names its source": (
        (
            BEGIN[0],
            says("b", "u", use("1"), **LINES),
            says("c", "b", use("2"), **LINES),
            progress("p", "b"),
            result("r", "p", "1", sourceToolAssistantUUID="b"),
            result("q", "c", "2", sourceToolAssistantUUID="c"),
            says("z", "q"),
        ),
        "u:U a:?1,?2 t:=1 t:=2 a:Z",
    ),
    "a result of another branch, by the same id": (
        (BEGIN[0], says("g", "u", use("1")), result("r", "g", "1"), says("b", "u", use("1")), user("z", "b")),
        "u:U a:?1 u:Z",
    ),
    "an id that is used again": (
        (
            says("b", None, use("1")),
            result("r", "b", "1", "FIRST"),
            says("c", "r", use("1")),
            result("q", "c", "1", "SECOND"),
        ),
        "a:?1 t:=1 a:?1 t:=1",
    ),
    "parallel calls with a result between": (
        (
            BEGIN[0],
            says("b", "u", use("1"), **LINES),
            result("r", "b", "1"),
            says("c", "r", use("2"), **LINES),
            result("q", "c", "2"),
            says("z", "q"),
        ),
        "u:U a:?1,?2 t:=1 t:=2 a:Z",
    ),
    "parallel calls at a missing parent": (
        (
            says("b", "gone", use("1"), **LINES),
            says("c", "gone", use("2"), **LINES),
            result("r", "b", "1", sourceToolAssistantUUID="b"),
            result("q", "c", "2", sourceToolAssistantUUID="c"),
        ),
        "a:?1,?2 t:=1 t:=2",
    ),
    "a prompt given up beside the path is no result": (
        (BEGIN[0], says("b", "u", use("1")), user("g", "b"), result("r", "b", "1"), says("z", "r")),
        "u:U a:?1 t:=1 a:Z",
    ),
    "words among results end the group": (
        (
            BEGIN[0],
            says("b", "u", use("1"), use("2")),
            result("r", "b", "1", "", {"type": "text", "text": "STOP"}),
            result("q", "r", "2"),
        ),
        "u:U a:?1,?2 t:=2 u:STOP,=1",
    ),
    "an orphan stands where it is": ((result("r", "gone", "9"), user("v", "r"), says("w", "v")), "t:=9 u:V a:W"),
    "a compaction": ((*OLD, boundary(), summary(), user("n", "s")), "u:S u:N"),
    "a compaction and nothing after it": ((*OLD, boundary(), summary()), "u:S"),
    "the newest compaction on the path": (
        (boundary(), summary(), *(user("n", "s"), boundary("c", "n"), summary("t", "c"), user("k", "t"))),
        "u:T u:K",
    ),
    "a newer compaction off the path": (
        (boundary(), summary(), user("n", "s"), boundary("c"), summary("t", "c"), user("k", "n")),
        "u:S u:N u:K",
    ),
    "a compaction that preserved messages": ((*OLD, boundary(**LISTED), summary()), PRESERVED),
    "preserved, then a turn": ((*OLD, boundary(**LISTED), summary(), user("n", "s")), f"{PRESERVED} u:N"),
    "preserved, then a turn that hangs on it": (
        (*OLD, boundary(**LISTED), summary(), user("n", "x")),
        f"{PRESERVED} u:N",
    ),
    "preserved as a segment": ((*OLD, boundary(**SEGMENT), summary(), user("n", "s")), f"{PRESERVED} u:N"),
    "preserved, but one is missing": (
        (*OLD[1:], boundary(preservedMessages={"anchorUuid": "s", "uuids": ["u", "a"]}), summary(), user("n", "s")),
        "u:S u:N",
    ),
    "a segment whose end is missing": (
        (
            *OLD,
            boundary(preservedSegment={"anchorUuid": "s", "headUuid": "v", "tailUuid": "gone"}),
            summary(),
            user("n", "s"),
        ),
        "u:S u:N",
    ),
    "copies of an answer with its old id are their own": (
        (*OLD, boundary(), summary(), user("n", "s"), says("k", "n", answer="msg_x")),
        "u:S u:N a:K",
    ),
}


@pytest.mark.parametrize(("records", "wanted"), TREES.values(), ids=TREES)
def test_the_path_is_the_clients(records, wanted):
    assert brief(row_of(*records).conversation) == wanted


# What a record says.

FILE = {"content": {"type": "text", "file": {"filePath": "/x", "content": "BODY"}}}
SPOKEN = {
    "the user's words": (user("v", "a"), "V", ""),
    "a list of blocks": (
        user("v", "a", [{"type": "text", "text": "ONE"}, {"type": "text", "text": "TWO"}]),
        "ONE\nTWO",
        "",
    ),
    "bare strings": (user("v", "a", ["ONE", {"type": "text", "text": "TWO"}]), "ONE\nTWO", ""),
    "a hidden line": (user("v", "a", isMeta=True), "", "V"),
    "the output of a local command": (user("v", "a", "<local-command-stdout>x"), "", "<local-command-stdout>x"),
    "a slash command": (user("v", "a", "<command-name>/go</command-name>"), "<command-name>/go</command-name>", ""),
    "what was typed meanwhile": (attachment("v", "a", "queued_command", prompt="WAIT"), "WAIT", ""),
    "a task's notice": (
        attachment("v", "a", "queued_command", prompt="x", commandMode="task-notification"),
        "",
        '{"type":"queued_command","prompt":"x","commandMode":"task-notification"}',
    ),
    "a file": (attachment("v", "a", "file", **FILE), "", json.dumps({"type": "file", **FILE}, separators=(",", ":"))),
    "a picture": (
        user("v", "a", [{"type": "image", "source": {"type": "url", "url": "http://x"}}]),
        "",
        "[image: http://x]",
    ),
}
SILENT = {
    "an empty prompt": user("v", "a", " "),
    "an answer without words": says("v", "a", {"type": "text", "text": "(no content)"}),
    "an error of the API": says("v", "a", isApiErrorMessage=True)
    | {"message": {"model": "<synthetic>", "content": "x"}},
    "permissions": attachment("v", "a", "command_permissions", allowedTools=["Bash"]),
    "a hook that went well": attachment("v", "a", "hook_success", hookEvent="Stop", content="x"),
    "a hook that failed": attachment("v", "a", "hook_non_blocking_error", stderr="x"),
    "the end of a turn": record("system", "v", "a", subtype="turn_duration"),
    "pruning by the client, which it does not repeat": record("system", "v", "a", subtype="microcompact_boundary"),
}


@pytest.mark.parametrize(("said", "text", "other"), SPOKEN.values(), ids=SPOKEN)
def test_a_record_says(said, text, other):
    message = row_of(*BEGIN, said, says("z", "v")).conversation.messages[2]
    assert (message.role, message.text, message.other) == (Role.USER, text, other)


@pytest.mark.parametrize("silent", SILENT.values(), ids=SILENT)
def test_a_record_says_nothing(silent):
    row = row_of(*BEGIN, silent, user("y", "v"))
    assert brief(row.conversation) == "u:U a:A u:Y"
    assert not row.faults


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit"])
def test_what_a_hook_adds_to_a_prompt_is_sent(event):
    said = attachment("v", "a", "hook_success", hookEvent=event, content="HOOKED")
    assert "HOOKED" in row_of(*BEGIN, said).conversation.messages[2].other


def test_a_picture_costs_what_a_picture_costs_and_its_base64_is_nowhere():
    source = {"type": "base64", "media_type": "image/png", "data": "iVBOR" * 400}
    block = {"type": "image", "source": source}
    row = row_of(*BEGIN, user("v", "a", [block]), says("w", "v", use("1")), result("r", "w", "1", [block]))
    shown, [seen] = row.conversation.messages[2], row.conversation.messages[4].results
    assert shown.image_tokens == seen.image_tokens == PER_IMAGE
    assert shown.other == seen.text == "[image: image/png, 2,000 characters of base64]"


def test_thoughts_are_reasoning_and_a_failed_result_says_so():
    failed = [{"type": "tool_result", "tool_use_id": "1", "content": "no such file", "is_error": True}]
    thought = {"type": "thinking", "thinking": "HM", "signature": "c2ln"}
    row = row_of(BEGIN[0], says("a", "u", thought, **LINES), says("b", "a", use("1"), **LINES), user("r", "b", failed))
    _, answer, got = row.conversation.messages
    assert answer.reasoning == "HM"
    assert got.results[0].failed


def test_an_answer_of_the_user_is_never_pruned():
    question = {"type": "tool_use", "id": "1", "name": "AskUserQuestion", "input": {}}
    row = row_of(BEGIN[0], says("a", "u", question), result("r", "a", "1"))
    assert row.conversation.messages[2].results[0].protected


def test_a_summary_of_unknown_wording_is_a_handoff_too():
    row = row_of(boundary(), summary(text="All went well."), user("n", "s"))
    assert is_handoff(row.conversation.messages[0])
    assert row.conversation.messages[0].text.endswith("All went well.")
    assert row.conversation.opening is Opening.HANDOFF


MALFORMED = {
    "no message": ({**user("v", "a"), "message": "error"}, '$.message: "error" is not an object'),
    "no content": ({**user("v", "a"), "message": {"role": "user"}}, "$.message.content: missing; there is role"),
    "content of another kind": (user("v", "a", 7), "$.message.content: 7 is not a string or an array of blocks"),
    "a block of another kind": (
        user("v", "a", [7]),
        "$.message.content[0]: 7 is not a block: an object with a type, or a string",
    ),
    "an attachment that is none": ({**user("v", "a"), "type": "attachment"}, "$.attachment: null is not an object"),
}


@pytest.mark.parametrize(("bad", "what"), MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_record_is_reported_and_still_links(bad, what):
    row = row_of(*BEGIN, bad, user("y", "v"))
    assert [str(fault) for fault in row.faults] == [f"session.jsonl:3: {what}"]
    assert brief(row.conversation) == "u:U a:A u:Y"
    assert row.conversation.gaps == {1}


def test_a_fault_before_the_compaction_tears_nothing_of_today():
    row = row_of(*BEGIN, b"{bad", boundary(), summary(), user("n", "s"))
    assert len(row.faults) == 1
    assert row.conversation.gaps == frozenset()


# Writing: a session of ten turns, and what is put into it.


def long(turns=10):
    return sample.session(turns).records


def ids(records):
    return {r["uuid"] for r in records if "uuid" in r}


def dangling(before, after):
    """The parents that `after` names and does not have, though `before` had them."""
    return {r["parentUuid"] for r in after if r.get("parentUuid")} & (ids(before) - ids(after))


@pytest.mark.parametrize("native", Native)
def test_the_mark_is_the_clients_own(native):
    before = long()
    silent = says("silent", before[-2]["uuid"])  # what the client itself says under the model's name costs nothing
    silent["message"]["usage"] = {"input_tokens": 0, "output_tokens": 0}
    after = records_of(compacted(row_of(*before, silent), native).content)
    place = next(n for n, r in enumerate(after) if r.get("subtype") == "compact_boundary")
    mark, said, first = after[place : place + 3]
    assert mark["parentUuid"] is None
    assert mark["logicalParentUuid"] in ids(before)
    assert mark["compactMetadata"] == {"trigger": "manual", "preTokens": 150_000 + 3 + 812 + 9}
    assert said["isCompactSummary"] is said["isVisibleInTranscriptOnly"] is True
    assert said["parentUuid"] == mark["uuid"]
    assert first["parentUuid"] == said["uuid"]
    for key in ("sessionId", "cwd", "version", "gitBranch", "slug", "timestamp"):
        assert mark[key] == said[key] == first[key]
    assert not dangling(before, after)


@pytest.mark.parametrize("native", Native)
def test_no_answer_says_any_more_how_full_the_context_was(native):
    before = long()
    after = records_of(compacted(row_of(*before), native).content)
    place = next(n for n, r in enumerate(after) if r.get("subtype") == "compact_boundary")
    usages = [r["message"]["usage"] for r in after[place:] if r["type"] == "assistant"]
    assert usages
    for usage in usages:
        assert usage["input_tokens"] == usage["cache_read_input_tokens"] == 0
        assert usage["cache_creation"]["ephemeral_1h_input_tokens"] == 0
        assert usage["output_tokens"] == 9


def test_rewritten_the_tail_stays_byte_for_byte_but_for_links_and_usage():
    row = row_of(*long())
    after = compacted(row).content.splitlines()
    before = {json.loads(line)["uuid"]: line for line in row.raw.splitlines() if b'"uuid"' in line}
    tail = [line for line in after if b'"uuid"' in line and b"ompact" not in line]
    assert len(tail) > 10
    for line in tail[1:]:
        was = before[json.loads(line)["uuid"]]
        pair = [re.sub(rb'(_tokens": )\d+', rb"\1_", text) if b'"usage"' in was else text for text in (was, line)]
        assert pair[0] == pair[1]


def test_rewritten_titles_and_queues_stay_and_snapshots_of_what_is_gone_go():
    after = records_of(compacted(row_of(*long())).content)
    kinds = [r["type"] for r in after]
    assert kinds.count("summary") == kinds.count("queue-operation") == kinds.count("custom-title") == 1
    snapshots = [r["messageId"] for r in after if r["type"] == "file-history-snapshot"]
    assert 0 < len(snapshots) < 10
    assert set(snapshots) <= ids(after)


def test_rewritten_progress_lines_stay_only_where_something_hangs_on_them():
    before = long()
    lead = progress("lead", before[-2]["uuid"])
    idle = progress("idle", "lead")
    after = records_of(compacted(row_of(*before, lead, idle, user("n", "lead"))).content)
    assert [r["uuid"] for r in after if r["type"] == "progress"] == ["lead"]
    assert not dangling(before, after)


def test_rewritten_branches_stay_unless_they_hang_on_what_is_gone():
    before = long()
    first, *_, last, _ = (r["uuid"] for r in before if r["type"] == "assistant")
    branches = [user("early", first), says("early2", "early"), user("late", last), user("own", None)]
    agent = [user("agent", None, isSidechain=True), says("agent2", "agent", isSidechain=True)]
    row = row_of(*branches[2:3], *agent, *branches[3:], *branches[:2], *before)
    after = records_of(compacted(row).content)
    assert {"late", "own", "agent", "agent2"} <= ids(after)
    assert not {"early", "early2"} & ids(after)
    assert not dangling([*before, *branches, *agent], after)


def test_rewritten_after_an_older_compaction_all_before_it_goes():
    content = sample.more_lines(compacted(row_of(*long()), Native.APPEND).content, 8)
    agent = lines(user("agent", None, isSidechain=True), says("agent2", "agent", isSidechain=True))
    row = only(agent + content)
    done = compacted(row)
    after = records_of(done.content)
    assert {"agent", "agent2"} <= ids(after)
    assert sum(r.get("subtype") == "compact_boundary" for r in after) == 1
    assert not ids(long()) & ids(after)
    assert len(done.content) < len(content) / 4


def test_rewritten_with_preserved_messages_the_tail_is_linked_anew():
    before = long()
    kept = [r["uuid"] for r in before[-60:] if r["type"] in {"user", "assistant"}]
    mark = boundary(preservedMessages={"anchorUuid": "s", "uuids": kept})
    row = row_of(*before, mark, summary(), user("n", "s"), says("k", "n"))
    assert len(row.conversation.messages) > 10
    done = compacted(row)
    assert done.report.outcome == "summarised"
    after = records_of(done.content)
    assert "preservedMessages" not in done.content.decode()
    by_id = {r["uuid"]: r for r in after if "uuid" in r}
    path = [by_id["k"]]
    while path[-1]["parentUuid"]:
        path.append(by_id[path[-1]["parentUuid"]])
    assert path[-1]["subtype"] == "compact_boundary"
    assert sum(r["uuid"] in kept for r in path) > 3


def test_appended_everything_new_has_ids_of_its_own():
    before = long()
    done = compacted(row_of(*before), Native.APPEND)
    after = records_of(done.content)
    assert after[: len(before)] == before
    new = after[len(before) :]
    assert len(ids(new)) == len(new)
    assert not ids(new) & ids(before)
    answers = {r["message"]["id"] for r in new if r["type"] == "assistant"}
    assert not answers & {r["message"]["id"] for r in before if r["type"] == "assistant"}
    assert len(answers) == len([m for m in row_of(*new).conversation.messages if m.role is Role.ASSISTANT])
    assert {r["sourceToolAssistantUUID"] for r in new if "sourceToolAssistantUUID" in r} <= ids(new)
    assert not any(r["type"] in {"progress", "file-history-snapshot"} for r in new)


@pytest.mark.parametrize("native", Native)
def test_a_log_without_links_is_linked_where_it_is_compacted(native):
    row = row_of(*({**r, "parentUuid": None} if "uuid" in r else r for r in long()))
    done = compacted(row, native)
    assert done.report.outcome == "summarised"
    again = row.read_back(done.content)
    assert sum(map(is_handoff, again.messages)) == 1


def test_glued_records_are_read_and_stand_apart_once_something_changes():
    before = lines(*long()).splitlines()
    glued = b"\n".join([*before[:-3], before[-3] + before[-2], before[-1]])
    row = only(glued)
    assert row.raw == glued
    assert row.conversation.messages == row_of(*long()).conversation.messages
    done = compacted(row)
    assert all(json.loads(line) for line in done.content.splitlines())
    assert not done.content.endswith(b"\n")


def test_pruned_a_result_loses_its_copy_and_nothing_else_is_touched():
    row = row_of(*long())
    where = next(n for n, m in enumerate(row.conversation.messages) if m.results)
    pieces = [Kept(n, {0: "STUB"} if n == where else {}) for n in range(len(row.conversation.messages))]
    after = records_of(row.render(pieces))
    [stubbed] = [r for r in after if r["type"] == "user" and "STUB" in str(r["message"])]
    assert "toolUseResult" not in stubbed
    assert sum("toolUseResult" in r for r in after) == sum("toolUseResult" in r for r in long()) - 1
    assert not any(r["type"] == "progress" for r in after)
    usages = [r["message"]["usage"]["cache_read_input_tokens"] for r in after if r["type"] == "assistant"]
    assert usages[0] > 0
    assert usages[-1] == 0
    assert row.read_back(row.render(pieces)).messages[where].results[0].text == "STUB"


CALLS = {
    "a call beside words": (says("w", "v", {"type": "text", "text": "W"}, use("1")), ["W"]),
    "a call and nothing else": (says("w", "v", use("1")), [CALL_REMOVED]),
    "two calls and nothing else": (says("w", "v", use("1"), use("2")), [CALL_REMOVED]),
}


@pytest.mark.parametrize(("answer", "left"), CALLS.values(), ids=CALLS)
def test_a_call_that_nothing_answers_is_taken_out(answer, left):
    row = row_of(*BEGIN, user("v", "a"), answer, user("y", "w"))
    gone = frozenset(range(len(row.conversation.messages[3].calls)))
    pieces = [Kept(n, without_calls=gone if n == 3 else frozenset()) for n in range(5)]
    [written] = [r for r in records_of(row.render(pieces)) if r["uuid"] == "w"]
    assert [block["text"] for block in written["message"]["content"]] == left


def test_a_line_with_nothing_but_such_a_call_goes_and_its_children_are_linked_anew():
    answer = (says("w", "v", **LINES), says("x", "w", use("1"), **LINES))
    row = row_of(*BEGIN, user("v", "a"), *answer, user("y", "x"))
    after = records_of(row.render([Kept(n, without_calls=frozenset({0} if n == 3 else ())) for n in range(5)]))
    assert [(r["uuid"], r["parentUuid"]) for r in after[-2:]] == [("w", "v"), ("y", "w")]


def test_of_lines_with_nothing_but_such_calls_one_stays_with_a_note():
    answer = (says("w", "v", use("1"), **LINES), says("x", "w", use("2"), **LINES))
    row = row_of(*BEGIN, user("v", "a"), *answer, user("y", "x"))
    pieces = [Kept(n, without_calls=frozenset({0, 1} if n == 3 else ())) for n in range(5)]
    content = row.render(pieces)
    assert [r["uuid"] for r in records_of(content)] == ["u", "a", "v", "w", "y"]
    assert row.read_back(content).messages[3].text == CALL_REMOVED


def test_an_orphan_goes_and_the_next_record_becomes_the_root():
    row = row_of(result("r", "gone", "9"), user("v", "r"), says("w", "v"))
    assert [(r["uuid"], r["parentUuid"]) for r in records_of(row.render([Kept(1), Kept(2)]))] == [
        ("v", None),
        ("w", "v"),
    ]


def test_an_orphan_beside_words_goes_alone():
    row = row_of(*BEGIN, result("r", "a", "9", "", {"type": "text", "text": "STOP"}), says("z", "r"))
    [written] = records_of(row.render([Kept(0), Kept(1), Kept(2, without_results=frozenset({0})), Kept(3)]))[2:3]
    assert written["message"]["content"] == [{"type": "text", "text": "STOP"}]


def test_the_same_input_gives_the_same_bytes_and_another_handoff_other_ids():
    row = row_of(*long())
    last = len(row.conversation.messages) - 1
    first, second, third = (row.append([Handoff(Role.USER, text), Kept(last)]) for text in ("A", "A", "B"))
    assert first == second
    new = [ids(records_of(content)[len(long()) :]) for content in (first, third)]
    assert not new[0] & new[1]


@pytest.mark.parametrize("native", Native)
def test_text_that_is_no_unicode_does_no_harm(native):
    records = [json.dumps(r).replace("please look", "\\ud83d look").encode() for r in long()]
    row = row_of(*records)
    assert compacted(row, native).report.outcome == "summarised"
    text = f"{PREFIX} \ud83d"
    pieces = [Handoff(Role.USER, text), Kept(len(row.conversation.messages) - 1)]
    content = row.append(pieces) if native is Native.APPEND else row.render(pieces)
    assert row.read_back(content).messages[0].text == text


# Whatever happened to the links, nothing raises, nothing dangles, and what is written is what was meant.


@st.composite
def damaged(draw):
    records = [dict(r) for r in BASE]
    spots = st.integers(0, len(records) - 1)
    for spot, harm in draw(st.lists(st.tuples(spots, st.sampled_from(HARMS)), max_size=6)):
        records[spot] = harm(records[spot], BASE[draw(spots)])
    gone = draw(st.sets(spots, max_size=3))
    return [r for n, r in enumerate(records) if n not in gone]


BASE = long(8)
HARMS = (
    lambda r, other: {**r, "parentUuid": other.get("uuid")},
    lambda r, _: {**r, "parentUuid": None},
    lambda r, other: {**r, "uuid": other.get("uuid")},
    lambda r, _: {**r, "isSidechain": True},
    lambda r, _: {**r, "message": {"role": "user", "content": [3]}},
    lambda _, other: other,
)


@given(damaged())
def test_damaged_links_do_no_harm(records):
    row = row_of(*records)
    if row.conversation is None:
        return
    everything = [Kept(n) for n in range(len(row.conversation.messages))]
    assert row.render(everything) == row.raw
    for native in Native:
        done = compacted(row, native)
        assert done.report.outcome != "failed", done.report.why
        if native is Native.REWRITE:
            assert not dangling(records, records_of(done.content))


# Real sessions.

FILES = sorted(REAL.glob("*.jsonl"))
NONE_HERE = pytest.mark.skipif(not FILES, reason="no real sessions beside the project")


@NONE_HERE
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_real_session(path):
    content = path.read_bytes()
    row = only(content, path.name)
    assert row.format.name == "claude-code"
    assert row.render([Kept(n) for n in range(len(row.conversation.messages))]) == row.raw == content
    for native in Native:
        done = compacted(row, native, context_window=40_000)
        assert done.report.outcome in {"summarised", "untouched"}
        if done.report.outcome == "summarised":
            again = row.read_back(done.content)
            assert not broken(again, [Kept(n) for n in range(len(again.messages))])
            assert sum(map(is_handoff, again.messages)) == 1
            assert done.report.after_most < done.report.before
            assert done.content.startswith(content) if native is Native.APPEND else len(done.content) < len(content) / 4
