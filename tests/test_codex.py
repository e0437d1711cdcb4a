"""Codex sessions: which records are the conversation, and what the client goes on from afterwards.

What is in force is what the client itself (0.171) was seen to send when it resumed such files.
"""

import json
from io import BytesIO
from pathlib import Path

import pytest

from compactor.core.handoff import KNOWN_PREFIXES, PREFIX, is_handoff
from compactor.core.messages import Handoff, Kept, Role
from compactor.core.verify import broken, result_messages, rewritten
from compactor.discover import sessions
from compactor.formats import rows
from compactor.tokenizer import tokenizer
from compactor.tools import Native
from tests.samples import codex as sample
from tests.test_format_laws import compacted

REAL = Path(__file__).resolve().parents[2] / "shared" / "transcripts" / "codex"
NATIVE = (Native.REWRITE, Native.APPEND)
HANDOFF = Handoff(Role.ASSISTANT, f"{PREFIX} H")


# Records in few words.


def record(kind, **payload):
    return {"timestamp": f"2026-11-30T09:00:{len(payload):02d}.000Z", "type": kind, "payload": payload}


def item(**payload):
    return record("response_item", **payload)


def event(kind, **payload):
    return record("event_msg", type=kind, **payload)


def said(role, *texts):
    return item(**sample.message(role, *texts))


def call(call_id):
    return item(type="function_call", name="shell", arguments="{}", call_id=call_id)


def output(call_id, text=""):
    return item(type="function_call_output", call_id=call_id, output=text or f"OUT {call_id}")


def mark(*history, message="", **more):
    return record("compacted", message=message, replacement_history=[one["payload"] for one in history], **more)


def counted(tokens):
    usage = {"input_tokens": tokens, "cached_input_tokens": 3, "total_tokens": tokens}
    return event("token_count", info={"total_token_usage": usage, "last_token_usage": usage}, rate_limits=None)


META = record("session_meta", id=sample.SESSION, cwd="/home/user/shop", model_provider="stand-in")
CONTEXT = record("turn_context", cwd="/home/user/shop", model="m")
U1, A1, U2, A2, U3, A3 = (said(role, f"{role[0].upper()}{n}") for n in (1, 2, 3) for role in ("user", "assistant"))


def lines(*records):
    return b"".join((r if isinstance(r, bytes) else json.dumps(r).encode()) + b"\n" for r in records)


def only(content, name="rollout.jsonl"):
    [row] = rows(BytesIO(content), name)
    return row


def of(*records):
    return only(lines(*records))


def texts(row):
    return [m.text for m in row.conversation.messages] if row.conversation else []


def values(content):
    return [json.loads(line) for line in content.splitlines()]


def kinds(content):
    """Each record in a word: its type, or what it carries."""
    found = []
    for value in values(content):
        payload = value["payload"]
        kind = payload.get("type", value["type"])
        text = payload["content"][0]["text"] if "content" in payload else ""
        found.append(text if text and len(text) < 20 else kind)
    return found


def cut(row, begin, end):
    """The pieces of a row with a handoff for its messages from `begin` to `end`."""
    return [*map(Kept, range(begin)), HANDOFF, *map(Kept, range(end, len(row.conversation.messages)))]


# What is in force.

UNSENT = {
    "session_meta": META,
    "turn_context": CONTEXT,
    "world_state": record("world_state", full=True, state={}),
    "token_usage_record": record("token_usage_record", usage={}),
    "ghost_snapshot": item(type="ghost_snapshot", ghost_commit={}),
    "an event": event("agent_message", message="U1"),
    "a kind that nobody knows": record("what_comes_next", text="U1"),
}


@pytest.mark.parametrize("value", UNSENT.values(), ids=UNSENT.keys())
def test_what_the_client_does_not_send_is_no_message(value):
    row = of(META, U1, value, A1)
    assert texts(row) == ["U1", "A1"]
    assert not row.faults


INSTRUCTIONS = {
    "of the project": said("user", sample.AGENTS),
    "of the environment": said("user", sample.ENVIRONMENT),
    "of both in one message": said("user", sample.AGENTS, sample.ENVIRONMENT),
    "of the client": said("developer", "<permissions instructions>"),
}


@pytest.mark.parametrize("value", INSTRUCTIONS.values(), ids=INSTRUCTIONS.keys())
def test_instructions_are_not_the_users_words(value):
    assert [m.role for m in of(META, value, U1).conversation.messages] == [Role.SYSTEM, Role.USER]


def test_what_the_user_says_of_the_environment_is_his_own():
    row = of(META, said("user", "look at <environment_context>"), said("user", "<environment_context>", "and do it"))
    assert [m.role for m in row.conversation.messages] == [Role.USER, Role.USER]


SUMMARY = said("user", f"{KNOWN_PREFIXES[4]} of its thinking process.\nS")
FORCE = {
    "the newest mark": ([U1, mark(U1, SUMMARY), A1, mark(U2, A2), U3], ["U2", "A2", "U3"]),
    "its summary is a handoff": (
        [U1, A1, mark(U1, SUMMARY), U2],
        ["U1", SUMMARY["payload"]["content"][0]["text"], "U2"],
    ),
    "a summary that begins in no known way": (
        [mark(said("developer", "D"), said("user", "S"), message="S"), U2],
        ["D", "[CONTEXT SUMMARY]: S", "U2"],
    ),
    "a mark without a history keeps the user's words": (
        [said("user", sample.AGENTS), U1, A1, call("1"), output("1"), record("compacted", message="S"), U2],
        ["U1", "[CONTEXT SUMMARY]: S", "U2"],
    ),
    "and not the summary before": (
        [U1, record("compacted", message="S"), U2, record("compacted", message="T"), A2],
        ["U1", "U2", "[CONTEXT SUMMARY]: T", "A2"],
    ),
    "a mark that says nothing": ([U1, A1, record("compacted", message=""), U2], ["U1", "U2"]),
    "a turn taken back": ([U1, A1, U2, A2, event("thread_rolled_back", num_turns=1), U3], ["U1", "A1", "U3"]),
    "more turns than there are": ([U1, A1, event("thread_rolled_back", num_turns=9), U3], ["U3"]),
    "no turn at all": ([U1, event("thread_rolled_back", num_turns=0), event("thread_rolled_back"), A1], ["U1", "A1"]),
    "nothing before the first word of the user": (
        [said("developer", "D"), U1, event("thread_rolled_back", num_turns=2), U2],
        ["D", "U2"],
    ),
}


@pytest.mark.parametrize(("records", "expected"), FORCE.values(), ids=FORCE.keys())
def test_what_is_in_force(records, expected):
    row = of(META, *records)
    assert texts(row) == expected
    assert row.render([Kept(n) for n in range(len(expected))]) == row.raw
    assert sum(map(is_handoff, row.conversation.messages)) == sum(t.startswith(KNOWN_PREFIXES) for t in expected)


def test_the_apis_own_compaction_stays_first_and_verbatim():
    sealed = item(type="compaction", encrypted_content="gAAAA" + "x" * 7_295)
    row = of(META, U1, A1, mark(U1, A1, sealed), U2, A2, U3, A3)
    assert texts(row) == ["U2", "A2", "U3", "A3"]
    assert (row.conversation.preamble, row.conversation.messages[0].sealed_tokens) == ("U1", 1_000)
    made = row.render(cut(row, 0, 2))
    history = values(made)[1]["payload"]["replacement_history"]
    assert [history[0], history[1]] == [U1["payload"], sealed["payload"]]
    assert history[2]["content"][0]["text"] == HANDOFF.text
    assert row.read_back(made).preamble == "U1"


# What a smaller file holds.


def full_session():
    return of(
        META,
        said("user", sample.AGENTS),
        event("task_started", turn_id="1"),
        CONTEXT,
        U1,
        event("user_message", message="U1"),
        counted(5),
        event("agent_message", message="A1"),
        A1,
        record("what_comes_next"),
        event("thread_name_updated", thread_name="shop"),
        event("task_complete", turn_id="1"),
        item(type="ghost_snapshot", ghost_commit={}),
        record("world_state", full=True),
        U2,
        event("user_message", message="U2"),
        b"{garbage",
        A2,
        event("task_complete", turn_id="2"),
        event("task_started", turn_id="3"),
        record("turn_context", cwd="/home/user/shop", model="newest"),
        record("world_state", full=False),
        record("token_usage_record", usage={"input_tokens": 9}),
        U3,
        event("user_message", message="U3"),
        counted(250_000),
        A3,
        event("task_complete", turn_id="3"),
    )


def test_rewritten_the_mark_stands_between_what_is_left_of_the_head_and_the_tail():
    row = full_session()
    made = row.render(cut(row, 2, 5))
    good = [line for line in made.splitlines(keepends=True) if line != b"{garbage\n"]
    assert kinds(b"".join(good)) == [
        *("session_meta", "task_started", "user_message", "agent_message", "what_comes_next", "thread_name_updated"),
        *("turn_context", "compacted"),
        *("task_started", "token_usage_record", "U3", "user_message", "token_count", "A3", "task_complete"),
    ]
    assert made.index(b"{garbage") < made.index(b'"compacted"')
    found = values(b"".join(good))
    assert made.startswith(lines(META))
    assert found[6]["payload"]["model"] == "newest"
    assert [i["content"][0]["text"] for i in found[7]["payload"]["replacement_history"]] == [
        sample.AGENTS,
        "U1",
        HANDOFF.text,
    ]
    assert found[7]["payload"]["message"] == HANDOFF.text
    assert found[7]["timestamp"] == found[8]["timestamp"]
    info = found[12]["payload"]["info"]
    assert info["last_token_usage"] == {"input_tokens": 0, "cached_input_tokens": 0, "total_tokens": 0}
    assert info["total_token_usage"]["input_tokens"] == 250_000
    assert lines(U3) in made
    assert rewritten(result_messages(row.conversation, cut(row, 2, 5)), row.read_back(made).messages)


def test_the_clients_list_of_sessions_finds_the_first_words_after_an_older_mark_too():
    older = [META, U1, event("user_message", message="U1"), A1, mark(U1, SUMMARY), CONTEXT, U2]
    row = of(*older, event("user_message", message="U2"), A2, U3, event("user_message", message="U3"), A3)
    made = row.render(cut(row, 1, 4))
    expected = ["session_meta", "user_message", "turn_context", "compacted", "U3", "user_message", "A3"]
    assert kinds(made) == expected
    assert texts(only(made)) == ["U1", HANDOFF.text, "U3", "A3"]


def test_a_tail_that_stands_in_an_older_mark_moves_into_the_new_one():
    row = of(META, U1, mark(U1, SUMMARY, U2, A2), counted(9), U3, A3)
    made = row.render(cut(row, 1, 2))
    assert kinds(made) == ["session_meta", "compacted", "token_count", "U3", "A3"]
    assert texts(only(made)) == ["U1", HANDOFF.text, "U2", "A2", "U3", "A3"]
    assert texts(only(row.append(cut(row, 1, 2)))) == texts(only(made))


def test_a_turn_taken_back_goes_for_good():
    row = of(META, U1, A1, U2, A2, event("thread_rolled_back", num_turns=1), U3, A3)
    made = row.render(cut(row, 1, 2))
    assert kinds(made) == ["session_meta", "compacted", "U3", "A3"]
    assert texts(only(made)) == ["U1", HANDOFF.text, "U3", "A3"]


def test_a_result_in_the_tail_that_was_pruned_has_no_copy_for_the_screen():
    long = "x" * 300
    row = of(
        META, U1, A1, U2, call("1"), event("exec_command_end", call_id="1", stdout=long), output("1", long),
        event("item_completed", item={"id": "1", "aggregated_output": long}),
        event("exec_command_end", call_id="2", stdout="other"), A2,
    )  # fmt: skip
    pieces = [Kept(0), HANDOFF, Kept(2), Kept(3), Kept(4, {0: "stub"}), Kept(5)]
    made = row.render(pieces)
    assert long.encode() not in made
    assert kinds(made)[-3:] == ["function_call_output", "exec_command_end", "A2"]
    assert row.read_back(made).messages[4].results[0].text == "stub"
    plain = [Kept(0), Kept(1), *pieces[2:]]
    assert long.encode() not in row.render(plain)


def test_pruned_alone_a_session_changes_in_place():
    long = "x" * 300
    records = [META, CONTEXT, U1, counted(7), call("1"), output("1", long), CONTEXT, counted(8), A1]
    row = of(*records)
    made = row.render([Kept(0), Kept(1), Kept(2, {0: "stub"}), Kept(3)])
    assert lines(*records[:5]) == b"".join(made.splitlines(keepends=True)[:5])
    assert kinds(made) == [*kinds(row.raw)[:6], "token_count", "A1"]
    counts = [v["payload"]["info"]["last_token_usage"]["input_tokens"] for v in values(made) if "info" in v["payload"]]
    assert counts == [7, 0]


def test_pruned_alone_a_mark_changes_in_place_with_what_it_says_of_its_items():
    long = "x" * 300
    history = mark(
        U1, output("9"), call("1"), output("1", long), replacement_history_metadata=[0, 1, 2, 3], window_number=4
    )
    row = of(META, history, U2)
    made = row.render([Kept(0), Kept(2), Kept(3, {0: "stub"}), Kept(4)])
    payload = values(made)[1]["payload"]
    assert [i["type"] for i in payload["replacement_history"]] == ["message", "function_call", "function_call_output"]
    assert payload["replacement_history"][2]["output"] == "stub"
    assert (payload["replacement_history_metadata"], payload["window_number"]) == ([0, 2, 3], 4)


# Appended.


def test_appended_the_old_records_are_followed_by_the_mark_and_the_tail():
    row = full_session()
    made = row.append(cut(row, 2, 5))
    assert made.startswith(row.raw)
    new = made.removeprefix(row.raw)
    assert kinds(new) == ["compacted", "U3", "A3", "token_count"]
    assert lines(U3, A3) in new
    assert values(new)[3]["payload"]["info"]["last_token_usage"]["input_tokens"] == 0
    assert rewritten(result_messages(row.conversation, cut(row, 2, 5)), row.read_back(made).messages)


def test_appended_after_a_turn_was_taken_back_the_mark_begins_a_turn():
    row = of(META, U1, A1, U2, A2, event("thread_rolled_back", num_turns=1), U3, A3)
    new = row.append(cut(row, 1, 2)).removeprefix(row.raw)
    assert kinds(new) == ["task_started", "compacted", "U3", "A3"]
    assert new == row.append(cut(row, 1, 2)).removeprefix(row.raw)


# The file.


@pytest.mark.parametrize("native", NATIVE)
def test_every_record_ends_its_line_because_the_client_appends(native):
    row = only(sample.SAMPLE.long(14).rstrip(b"\n"))
    assert compacted(row, native).content.endswith(b"}\n")


def test_a_byte_order_mark_goes_because_the_client_reads_none():
    row = only(b"\xef\xbb\xbf" + sample.NEW.long(14))
    assert compacted(row).content.startswith(b'{"timestamp"')
    assert compacted(row, Native.APPEND).content.startswith(b'{"timestamp"')


def test_objects_on_one_line_come_apart():
    row = only(lines(META, U1) + json.dumps(A1).encode() + lines(U2, A2))
    assert texts(row) == ["U1", "A1", "U2", "A2"]
    assert kinds(row.render(cut(row, 1, 2))) == ["session_meta", "compacted", "U2", "A2"]


def test_an_array_of_records_stays_one():
    raw = json.dumps([META, U1, A1, U2, A2], indent=1).encode()
    [row] = rows(BytesIO(raw), "rollout.json")
    assert row.raw == raw
    assert [v["type"] for v in json.loads(row.render(cut(row, 1, 2)))][:2] == ["session_meta", "compacted"]


FAULTS = {
    "no payload": ({"type": "response_item", "payload": 5}, "$.payload: 5 is not an item"),
    "an item that is none": (item(type="message", role=5), "$.payload.role: 5 is no role of a message"),
    "in a mark": (
        mark(U1, item(type="reasoning", summary=5)),
        "$.payload.replacement_history[1].summary: 5 is not an array",
    ),
    "no item in a mark": (
        record("compacted", message="", replacement_history=[5]),
        "$.payload.replacement_history[0]: 5 is not an item",
    ),
}


@pytest.mark.parametrize(("value", "fault"), FAULTS.values(), ids=FAULTS.keys())
def test_what_cannot_be_read_is_a_fault(value, fault):
    row = of(META, U1, value, U2, A2)
    assert [str(f) for f in row.faults] == [f"rollout.jsonl:3: {fault}"]
    assert row.conversation.gaps
    assert row.render([Kept(n) for n in range(len(row.conversation.messages))]) == row.raw


def test_an_item_that_cannot_be_read_stays_where_it_was():
    odd = item(type="message", role=5)
    row = of(META, U1, odd, A1, U2, odd, A2)
    assert row.conversation.gaps == {0, 2}
    assert kinds(row.render(cut(row, 1, 2))) == ["session_meta", "message", "compacted", "U2", "message", "A2"]
    assert row.render(cut(row, 1, 2)).count(lines(odd)) == 2
    assert kinds(row.append(cut(row, 1, 2)).removeprefix(row.raw)) == ["compacted", "U2", "A2"]


def test_a_session_without_a_message_is_no_conversation():
    row = of(META, CONTEXT, event("task_started"))
    assert (row.conversation, row.render([])) == (None, row.raw)


def test_sessions_are_found_in_their_home(tmp_path):
    folder = tmp_path / ".codex" / "sessions" / "2026" / "11" / "30"
    folder.mkdir(parents=True)
    path = folder / f"rollout-2026-11-30T09-00-00-{sample.SESSION}.jsonl"
    path.write_bytes(sample.NEW.long(3))
    (folder / "other.jsonl").write_bytes(b"{}")
    [found] = sessions(tmp_path, {}, tokenizer())
    assert (found.tool, found.path, found.problem) == ("Codex", path, "")
    assert found.messages == len(only(sample.NEW.long(3)).conversation.messages)
    [elsewhere] = sessions(Path("/nowhere"), {"CODEX_HOME": str(tmp_path / ".codex")}, tokenizer())
    assert elsewhere.path == path


# Real sessions, which are no part of the project.


@pytest.mark.skipif(not REAL.exists(), reason=f"there are no transcripts in {REAL}")
@pytest.mark.parametrize("native", NATIVE)
@pytest.mark.parametrize("path", sorted(REAL.glob("*")) or [REAL], ids=lambda p: p.name)
def test_real_files(path, native):
    content = path.read_bytes()
    row = only(content, path.name)
    assert (row.raw, row.format.name) == (content, "codex")
    pieces = [Kept(n) for n in range(len(row.conversation.messages))]
    assert row.render(pieces) == content
    assert not row.faults
    assert not broken(row.conversation, pieces)
    for begin, end in ((0, 1), (1, 2)):
        made = row.append(cut(row, begin, end)) if native is Native.APPEND else row.render(cut(row, begin, end))
        assert rewritten(result_messages(row.conversation, cut(row, begin, end)), row.read_back(made).messages)
    done = compacted(row, native)
    if done.report.outcome != "summarised":
        assert (done.content, done.report.outcome) == (content, "untouched")
        return
    again = row.read_back(done.content)
    assert sum(map(is_handoff, again.messages)) == 1
    assert again.messages[-1].text == row.conversation.messages[-1].text
    assert not broken(again, [Kept(n) for n in range(len(again.messages))])
