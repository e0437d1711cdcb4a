"""Are sessions of gemini-cli read as the client resumes them, and written so that it goes on from them?"""

import json
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactor.core.handoff import PREFIX
from compactor.core.messages import CALL_REMOVED, Call, Handoff, Kept, Message, Piece, Result, Role
from compactor.core.tokens import PER_IMAGE
from compactor.core.verify import broken, result_messages
from compactor.formats import rows
from compactor.formats.gemini_places import ACKNOWLEDGED, GO_ON
from compactor.tools import Native
from tests import test_format_laws as laws
from tests.samples import gemini_cli
from tests.samples.gemini_cli import METADATA, OLD, dumped
from tests.test_format_laws import compacted

REAL = Path(__file__).parents[2] / "shared" / "transcripts" / "gemini"
SUMMARY = f"{PREFIX} it went on"
LONG = "a long line of output\n" * 30


def record(name, kind, content, **more):
    return {"id": name, "timestamp": f"2026-11-30T09:00:00.{name[1:]:0>3}Z", "type": kind, "content": content, **more}


def user(name, text):
    return record(name, "user", [{"text": text}])


def gemini(name, text, *calls, **more):
    return record(name, "gemini", text, **({"toolCalls": list(calls)} if calls else {}), **more)


def response(call_id, output, name="ls"):
    return {"functionResponse": {"id": call_id, "name": name, "response": {"output": output}}}


def call(call_id, result=None, **more):
    found = {"id": call_id, "name": "ls", "args": {"path": call_id}}
    return {**found, **({} if result is None else {"result": result}), "status": "success", **more}


def done(call_id, output="a.txt", **more):
    return call(call_id, [response(call_id, output)], **more)


def session(*values):
    return dumped(METADATA, *values)


def only(content, name="session.jsonl"):
    [row] = rows(BytesIO(content), name)
    assert row.format.name == "gemini-cli"
    return row


def messages(*values):
    return only(session(*values)).conversation.messages


def texts(*values):
    return [m.text for m in messages(*values)]


def kept(row):
    return [Kept(n) for n in range(len(row.conversation.messages))]


def rendered(row, *pieces):
    """The lines after `pieces`, which have to read back as they were meant, whether written anew or appended."""
    content = row.render(pieces)
    meant = result_messages(row.conversation, pieces)
    assert row.read_back(content).messages == meant
    appended = row.append(pieces)
    assert appended.startswith(row.raw)
    assert row.read_back(appended).messages == meant
    return [json.loads(line) for line in content.splitlines()]


# Which records count.


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([user("m1", "a"), gemini("m2", "b")], ["a", "b"]),
        ([user("m1", "a"), gemini("m2", "b"), user("m1", "A")], ["A", "b"]),
        ([user("m1", "a"), gemini("m2", "b"), {"$rewindTo": "m2"}, gemini("m3", "c")], ["a", "c"]),
        ([user("m1", "a"), gemini("m2", "b"), {"$rewindTo": "m1"}, user("m2", "c"), user("m1", "d")], ["c", "d"]),
        ([user("m1", "a"), {"$rewindTo": "never"}, user("m2", "b")], ["b"]),
        ([user("m1", "a"), {"$set": {"lastUpdated": "now"}}, gemini("m2", "b")], ["a", "b"]),
        ([user("m1", "a"), {"$set": {"messages": [user("m2", "b")]}}, gemini("m3", "c")], ["b", "c"]),
        ([{"$set": {"messages": [user("m1", "a"), gemini("m2", "b")]}}, gemini("m2", "B")], ["a", "B"]),
        ([{"$set": {"messages": [user("m1", "a"), gemini("m2", "b")]}}, {"$rewindTo": "m2"}], ["a"]),
        ([{"messages": [user("m1", "a")], **METADATA}, user("m2", "b")], ["a", "b"]),
    ],
    ids=[
        "in order",
        "replaced in place",
        "rewound",
        "rewound and back at the end",
        "rewound to nothing known",
        "metadata",
        "checkpoint",
        "replaced in a checkpoint",
        "rewound into a checkpoint",
        "the old object continued",
    ],
)
def test_the_client_s_rules_say_which_records_count(values, expected):
    assert texts(*values) == expected


@pytest.mark.parametrize(
    "silent",
    [
        record("m5", "info", "Update available"),
        record("m5", "error", "API error"),
        record("m5", "warning", "Slow"),
        record("m5", "other", "?"),
        user("m5", "/stats"),
        user("m5", "  ?help"),
        user("m5", "<session_context>\nToday is"),
        user("m5", "<hook_context>x</hook_context>"),
        user("m5", " "),
        record("m5", "user", ""),
        gemini("m5", ""),
        gemini("m5", "", thoughts=[{"subject": "Hm", "description": "!"}]),
        gemini("m5", [{"text": "Hm", "thought": True}]),
        {"id": "m5"},
    ],
    ids=[
        "info", "error", "warning", "unknown type", "command", "question mark", "session context", "hook context",
        "blank", "empty", "empty reply", "thoughts only", "a thought only", "no type",
    ],
)  # fmt: skip
def test_what_the_client_would_not_send_is_no_message(silent):
    row = only(session(silent, user("m1", "a"), silent, gemini("m2", "b")))
    assert [m.text for m in row.conversation.messages] == ["a", "b"]
    assert row.faults == ()


def test_a_reply_holds_calls_and_results():
    said, answered = messages(
        gemini(
            "m1",
            "I look.",
            done("1"),
            call("2", "plain"),
            call("3", [response("3", "seen"), {"inlineData": {"mimeType": "image/png", "data": "AAAA" * 300}}]),
            call("4", response("4", "single")),
            call("5", [{"functionResponse": {"id": "5", "name": "ls", "response": {"error": "gone"}}}], status="error"),
            call("6", []),
            call("7", "no", status="cancelled"),
            thoughts=[{"subject": "Hm", "description": "!"}],
        )
    )
    assert said == Message(
        Role.ASSISTANT, "I look.", calls=tuple(Call(str(n), "ls", f'{{"path":"{n}"}}') for n in range(1, 8))
    )
    assert answered == Message(
        Role.TOOL,
        results=(
            Result("1", "a.txt", "ls"),
            Result("2", "plain", "ls"),
            Result("3", "seen\n[image]", "ls", image_tokens=PER_IMAGE),
            Result("4", "single", "ls"),
            Result("5", "gone", "ls", failed=True),
            Result("7", "no", "ls", failed=True),
        ),
    )


def written_out(name, *ids):
    """What the client makes of a reply with calls when it resumes: calls in the content, each result in every call."""
    results = [response(i, f"{LONG}{i}") for i in ids]
    parts = [{"functionCall": {"id": i, "name": "ls", "args": {"path": i}}, "thoughtSignature": "c2ln"} for i in ids]
    thought = {"text": "Hm.", "thought": True}
    reply = gemini(name, [thought, {"text": "I look."}, *parts], *(call(i, results) for i in ids), tokens={"total": 9})
    return reply, record(f"{name}_response", "user", results)


def test_what_the_client_writes_twice_counts_once():
    values = [user("m1", "a"), *written_out("m2", "1", "2"), gemini("m3", "b")]
    found = messages(*values)
    assert [m.role for m in found] == [Role.USER, Role.ASSISTANT, Role.TOOL, Role.ASSISTANT]
    assert found[1] == Message(Role.ASSISTANT, "I look.", calls=tuple(Call(i, "ls", f'{{"path":"{i}"}}') for i in "12"))
    assert [r.text for r in found[2].results] == [f"{LONG}1", f"{LONG}2"]


def test_what_the_client_writes_twice_is_written_once():
    row = only(session(user("m1", "a"), *written_out("m2", "1", "2"), gemini("m3", "b"), user("m4", "c")))
    made = rendered(row, Kept(0), Kept(1), Kept(2), Handoff(Role.ASSISTANT, SUMMARY), Kept(4))
    assert [m.get("id") for m in made[1:3]] == ["m1", "m2"]
    assert [c["result"] for c in made[2]["toolCalls"]] == [[response(i, f"{LONG}{i}")] for i in "12"]
    assert [p for p in made[2]["content"] if "functionCall" in p] == written_out("m2", "1", "2")[0]["content"][2:]
    made = rendered(row, Kept(0), Kept(1), Kept(2, {0: "stub"}), Kept(3), Kept(4))
    assert [c["result"] for c in made[2]["toolCalls"]] == [[response("1", "stub")], [response("2", f"{LONG}2")]]
    assert LONG + "1" not in json.dumps(made).replace("\\n", "\n")


def test_results_in_a_record_of_their_own_are_results():
    reply = gemini("m2", [{"functionCall": {"id": "1", "name": "ls", "args": {}}}])
    row = only(session(user("m1", "a"), reply, record("m3", "user", [response("1", LONG)]), gemini("m4", "b")))
    assert row.conversation.messages[2] == Message(Role.TOOL, results=(Result("1", LONG, "ls"),))
    made = rendered(row, Kept(0), Kept(1), Kept(2, {0: "stub"}), Kept(3))
    assert made[3]["content"] == [response("1", "stub")]


# What is written.


def test_unchanged_it_leaves_as_it_came_with_all_that_has_no_say():
    content = session(
        user("m1", "a"),
        {"$rewindTo": "m1"},
        {"$set": {"messages": [user("m2", "b"), gemini("m3", "c")]}},
        user("m2", "B"),
    )
    row = only(content)
    assert row.render(kept(row)) == content


def test_rewritten_it_holds_what_is_in_force():
    values = [
        user("m0", "gone"),
        {"$set": {"lastUpdated": "1"}},
        {"$set": {"messages": [user("m1", "a"), gemini("m2", "b")], "lastUpdated": "2", "directories": ["/x"]}},
        record("n1", "info", "after b"),
        user("m3", "c"),
        record("n2", "info", "after c"),
        user("m4", "/stats"),
        gemini("m5", "draft"),
        {"$set": {"summary": "s"}},
        gemini("m5", "d"),
        user("m6", "e"),
        {"$set": {"lastUpdated": "3"}},
        gemini("m7", "rewound"),
        {"$rewindTo": "m7"},
    ]
    made = rendered(only(session(*values)), Kept(0), Kept(1), Handoff(Role.USER, SUMMARY), Kept(3), Kept(4))
    assert made[0] == METADATA
    assert made[1] == {"$set": {"lastUpdated": "2", "directories": ["/x"]}}
    assert [m.get("id", m) for m in made[2:4]] == ["m1", "m2"]
    assert made[4] == record("n1", "info", "after b")
    assert (made[5]["type"], made[5]["content"]) == ("user", [{"text": SUMMARY}])
    assert made[6:] == [gemini("m5", "d"), {"$set": {"summary": "s"}}, user("m6", "e"), {"$set": {"lastUpdated": "3"}}]


def test_appended_the_checkpoint_holds_messages_and_notes():
    content = session(user("m1", "a"), record("n1", "info", "x"), gemini("m2", "b"), user("m3", "c"), gemini("m4", "d"))
    made = only(content).append([Kept(0), Handoff(Role.ASSISTANT, SUMMARY), Kept(2), Kept(3)])
    assert made.startswith(content)
    [mark] = [json.loads(line) for line in made[len(content) :].splitlines()]
    assert list(mark) == ["$set"]
    assert list(mark["$set"]) == ["messages"]
    kinds = [m["type"] for m in mark["$set"]["messages"]]
    assert kinds == ["user", "info", "gemini", "user", "gemini"]


def test_a_handoff_is_a_record_like_the_clients_and_always_the_same():
    row = only(session(user("m1", "a"), gemini("m2", "b"), user("m3", "c"), gemini("m4", "d")))
    pieces = [Kept(0), Kept(1), Handoff(Role.USER, SUMMARY), Kept(3)]
    handoff = rendered(row, *pieces)[3]
    assert handoff == record(handoff["id"], "user", [{"text": SUMMARY}], timestamp="2026-11-30T09:00:00.002Z")
    assert row.render(pieces) == row.render(pieces)
    elsewhere = rendered(row, Kept(0), Handoff(Role.USER, SUMMARY), Kept(3))[2]
    assert elsewhere["id"] != handoff["id"]
    first = rendered(row, Handoff(Role.USER, SUMMARY), Kept(3))[1]
    assert first["timestamp"] == "2026-11-30T09:00:00.001Z"


def test_between_turns_of_one_role_the_word_is_handed_on():
    row = only(session(user("m1", "a"), gemini("m2", "b", done("1")), gemini("m3", "c"), user("m4", "d")))
    made = rendered(row, Kept(0), Handoff(Role.ASSISTANT, SUMMARY), Kept(3), Kept(4))
    assert [(m["type"], m["content"][0]["text"]) for m in made[2:4]] == [("gemini", SUMMARY), ("user", GO_ON)]
    made = rendered(row, Handoff(Role.USER, SUMMARY), Kept(4))
    assert [(m["type"], m["content"][0]["text"]) for m in made[1:3]] == [("user", SUMMARY), ("gemini", ACKNOWLEDGED)]


def test_the_clients_own_compression_is_one_message_and_goes_as_one():
    snapshot = [user("m1", "<state_snapshot>x"), gemini("m2", ACKNOWLEDGED)]
    row = only(session({"$set": {"messages": [*snapshot, user("m3", "a")]}}, gemini("m4", "b"), user("m5", "c")))
    assert [m.text for m in row.conversation.messages] == ["<state_snapshot>x", "a", "b", "c"]
    made = rendered(row, Handoff(Role.USER, SUMMARY), Kept(2), Kept(3))
    assert [m.get("id") for m in made[2:]] == ["m4", "m5"]
    thinking = [user("m1", "<scratchpad>hm</scratchpad><state_snapshot>x"), gemini("m2", ACKNOWLEDGED)]
    assert texts(*thinking, user("m3", "a")) == ["<state_snapshot>x", "a"]


def test_token_counts_go_with_a_new_handoff_only():
    values = [user("m1", "a"), gemini("m2", "b", tokens={"total": 9}), user("m3", "c"), gemini("m4", "d", tokens=None)]
    row = only(session(*values))
    made = rendered(row, Kept(0), Kept(1), Handoff(Role.USER, SUMMARY), Kept(3))
    assert [m for m in made if "tokens" in m] == []
    assert made[2] == gemini("m2", "b")
    assert rendered(row, Kept(0), Kept(1), Kept(3))[2] == values[1]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (LONG, "stub"),
        ({"fileDiff": LONG, "fileName": "a.txt"}, {"fileDiff": "stub", "fileName": "a.txt"}),
        ([[{"text": "a long line of output", "bold": False}]], None),
        ("Read 30 lines", "Read 30 lines"),
        ("", ""),
    ],
    ids=["copy", "copy in an object", "terminal cells", "short", "empty"],
)
def test_the_display_of_a_result_is_pruned_with_it(before, after):
    args = {"command": LONG}
    row = only(session(user("m1", "a"), gemini("m2", "", {**done("1", LONG, resultDisplay=before), "args": args})))
    made = rendered(row, Kept(0), Kept(1), Kept(2, {0: "stub"}))[2]["toolCalls"][0]
    assert made["result"] == [response("1", "stub")]
    assert made.get("resultDisplay") == after
    assert made["args"] == args


@pytest.mark.parametrize(
    ("result", "stubbed"),
    [
        (LONG, "stub"),
        (response("1", LONG), response("1", "stub")),
        ({"text": LONG}, {"text": "stub"}),
        ([response("1", LONG), {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}], [response("1", "stub")]),
        ([{"text": LONG}], [response("1", "stub")]),
    ],
    ids=["text", "a part", "a text part", "parts", "no response"],
)
def test_a_stub_stands_where_the_result_stood(result, stubbed):
    row = only(session(user("m1", "a"), gemini("m2", "", call("1", result))))
    assert rendered(row, Kept(0), Kept(1), Kept(2, {0: "stub"}))[2]["toolCalls"][0]["result"] == stubbed


def test_a_record_of_which_one_message_is_kept():
    row = only(session(user("m1", "a"), gemini("m2", "b", done("1", resultDisplay="x"), call("2")), gemini("m3", "c")))
    made = rendered(row, Kept(0), Kept(1), Kept(3))
    assert made[2]["toolCalls"] == [call("1"), call("2")]
    assert json.loads(row.render([Kept(0), Kept(2), Kept(3)]).splitlines()[2])["content"] == "b"


def test_calls_and_results_that_lost_their_partner_go():
    reply = gemini("m2", "", call("1"), call("2"), done("3"))
    row = only(session(user("m1", "a"), reply, gemini("m3", "c")))
    made = rendered(
        row, Kept(0), Kept(1, without_calls=frozenset({0, 1})), Kept(2, without_results=frozenset()), Kept(3)
    )
    assert made[2]["toolCalls"] == [done("3")]
    row = only(session(user("m1", "a"), gemini("m2", "", call("1")), user("m3", "c")))
    made = rendered(row, Kept(0), Kept(1, without_calls=frozenset({0})), Kept(2))
    assert made[2] == gemini("m2", CALL_REMOVED)
    parts = [{"functionCall": {"id": "1", "name": "ls", "args": {}}}]
    row = only(session(user("m1", "a"), gemini("m2", parts, call("1")), user("m3", "c")))
    made = rendered(row, Kept(0), Kept(1, without_calls=frozenset({0})), Kept(2))
    assert made[2] == gemini("m2", [{"text": CALL_REMOVED}])
    row = only(session(user("m1", "a"), gemini("m2", "b", done("1"), done("2")), user("m3", "c")))
    made = rendered(row, Kept(0), Kept(1), Kept(2, without_results=frozenset({1})), Kept(3))
    assert made[2]["toolCalls"] == [done("1"), call("2")]


# What is not as it should be.


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        (record("m2", "user", 5), "$.content: 5 is neither text nor an array of parts"),
        (record("m2", "user", [5]), "$.content[0]: 5 is not a part: an object, or a string"),
        (gemini("m2", "", 5), "$.toolCalls[0]: 5 is not an object"),
        (record("m2", "gemini", "", toolCalls={}), "$.toolCalls: an object is not an array"),
        (gemini("m2", "", call("1", 5)), "$.toolCalls[0].result: 5 is neither text nor an array of parts"),
        ({"type": "user", "content": "a"}, "$.id: missing: the client skips a message without one"),
    ],
    ids=["content", "part", "call", "calls", "result", "no id"],
)
def test_faults_say_where_and_what(value, fault):
    row = only(session(user("m1", "a"), value, gemini("m3", "b"), user("m4", "c")))
    assert [str(f) for f in row.faults] == [f"session.jsonl:3: {fault}"]
    assert row.conversation.gaps == {0}
    assert value in rendered(row, Kept(0), Handoff(Role.ASSISTANT, SUMMARY), Kept(2))
    row = only(session({"$set": {"messages": [user("m1", "a"), value]}}))
    path, _, what = fault.partition(": ")
    where = "$.$set.messages[1]" + (path[1:] if "id" in value else "")
    assert [str(f) for f in row.faults] == [f"session.jsonl:2: {where}: {what}"]


def test_a_fault_before_the_checkpoint_tears_nothing():
    row = only(session(user("m0", "x")) + b"{garbage\n" + dumped({"$set": {"messages": [user("m1", "a")]}}))
    assert len(row.faults) == 1
    assert row.conversation.gaps == frozenset()
    assert b"{garbage\n" in row.render([])


def test_glued_lines_are_parted_and_the_file_ends_with_a_line():
    values = [user("m1", "a"), gemini("m2", "b"), user("m3", "c")]
    content = dumped(METADATA) + dumped(*values).replace(b"\n", b"")
    row = only(content)
    assert row.raw == content
    assert row.render(kept(row)) == content
    made = row.render([Kept(0), Handoff(Role.ASSISTANT, SUMMARY), Kept(2)])
    assert made.count(b"\n") == 4
    assert made.endswith(b"}\n")
    assert row.append([Handoff(Role.USER, SUMMARY), Kept(2)]).startswith(content + b"\n")


def test_the_byte_order_mark_that_the_client_refuses_goes():
    for content in (gemini_cli.lines(14), gemini_cli.old(14)):
        row = only(b"\xef\xbb\xbf" + content)
        assert compacted(row).content.startswith(b"{")


# The old layout, and files of them.


@pytest.mark.parametrize(
    "law",
    [
        laws.test_it_is_told_by_content,
        laws.test_reading_gives_words_calls_and_results,
        laws.test_unchanged_it_leaves_byte_for_byte,
        laws.test_compacted_it_reads_back_with_one_handoff_and_less,
        laws.test_compacted_it_is_still_told_by_content,
        laws.test_compacted_and_grown_it_is_updated,
        laws.test_without_its_sidecar_it_is_updated_too,
        laws.test_the_same_again_makes_no_call,
    ],
    ids=lambda law: law.__name__,
)
def test_the_old_layout_keeps_the_laws(law):
    law(OLD)


@pytest.mark.parametrize("damage", ["bom", "crlf", "no newline", "blank lines"])
def test_the_old_layout_bears_damage(damage):
    laws.test_damaged_nothing_is_lost(OLD, damage)


def test_of_the_old_layout_only_the_messages_change():
    row = only(gemini_cli.old(14), "session.json")
    done = json.loads(compacted(row).content)
    before = json.loads(row.raw)
    assert {**done, "messages": 0} == {**before, "messages": 0}
    assert [m for m in done["messages"] if "tokens" in m] == []
    assert done["messages"][-1]["content"] == before["messages"][-1]["content"]


def test_nothing_can_be_appended_to_the_old_layout():
    done = compacted(only(gemini_cli.old(14), "session.json"), Native.APPEND)
    assert (done.report.outcome, done.content) == ("failed", gemini_cli.old(14))


def test_old_sessions_in_one_file_are_a_row_each():
    one, two = ({**METADATA, "messages": [user("m1", text)]} for text in "ab")
    for content in (dumped(one, two), json.dumps([one, two], indent=1).encode()):
        found = list(rows(BytesIO(content), "all"))
        assert b"".join(row.raw for row in found) == content
        assert [row.conversation and row.conversation.messages[0].text for row in found] == ["a", "b"]


def test_messages_of_the_old_layout_need_no_id():
    old = {**METADATA, "messages": [{"type": "user", "content": "a"}, {"type": "gemini", "content": "b"}, 5]}
    row = only(json.dumps(old).encode())
    assert [m.text for m in row.conversation.messages] == ["a", "b"]
    assert [str(f) for f in row.faults] == ["session.jsonl:1: $.messages[2]: 5 is not an object"]
    assert json.loads(row.render([Kept(0), Handoff(Role.ASSISTANT, "h")]))["messages"][2] == 5


# Laws.

names = st.sampled_from([f"m{n}" for n in range(1, 5)])
outputs = st.sampled_from([LONG, "short", ""])
any_call = st.builds(lambda i, o, d: done(i, o, resultDisplay=d), st.sampled_from("1234"), outputs, outputs)
any_record = (
    st.builds(user, names, st.sampled_from(["a", "/a", " ", "b"]))
    | st.builds(
        lambda n, t, c: gemini(n, t, *c, tokens={"total": 1}),
        names,
        st.sampled_from(["", "x"]),
        st.lists(any_call, max_size=2),
    )
    | st.builds(lambda n: record(n, "info", "i"), names)
    | st.builds(lambda n: written_out(n, "7", "8")[0], names)
    | st.builds(lambda n: written_out(n, "7", "8")[1], names)
)
any_event = (
    any_record
    | st.builds(lambda n: {"$rewindTo": n}, names)
    | st.builds(lambda m: {"$set": {"messages": m, "lastUpdated": "x"}}, st.lists(any_record, max_size=3))
    | st.just({"$set": {"lastUpdated": "y"}})
    | st.just({"type": "user"})
)


@given(st.lists(any_event, max_size=8), st.sampled_from(["", "{cut"]), st.data())
def test_what_is_written_is_read_as_what_was_meant(values, junk, data):
    content = session(*values) + junk.encode()
    row = only(content)
    if row.conversation is None:
        assert row.raw == content
        return
    assert row.render(kept(row)) == content == row.raw
    found = row.conversation.messages
    pieces: list[Piece] = []
    for n, message in enumerate(found):
        with_its_call = bool(pieces) and isinstance(pieces[-1], Kept) and pieces[-1].index == n - 1
        if with_its_call if message.role is Role.TOOL else data.draw(st.booleans()):
            stubbed = [r for r, result in enumerate(message.results) if result.text and data.draw(st.booleans())]
            pieces.append(Kept(n, {r: f"stub {r}" for r in stubbed}))
    at = data.draw(st.sampled_from([0, *(k + 1 for k, p in enumerate(pieces) if not _torn(found, pieces, k))]))
    pieces[at:at] = [Handoff(data.draw(st.sampled_from([Role.USER, Role.ASSISTANT])), SUMMARY)]
    meant = result_messages(row.conversation, pieces)
    assert row.read_back(row.render(pieces)).messages == meant
    assert row.read_back(row.append(pieces)).messages == meant
    assert [f.what for f in only(row.render(pieces)).faults] == [f.what for f in row.faults]


def _torn(found, pieces, place):
    """Whether the next piece is the results of this one, so that nothing may stand between them."""
    return place + 1 < len(pieces) and found[pieces[place + 1].index].role is Role.TOOL


@pytest.mark.skipif(not REAL.exists(), reason="the recorded transcripts are not beside the project")
@pytest.mark.parametrize("name", ["agent-sessions__jsonl_v040", "resumed_with_checkpoint_by_gemini-cli_0.61"])
@pytest.mark.parametrize("native", list(Native))
def test_real_sessions_are_compacted(name, native):
    content = (REAL / f"{name}.jsonl").read_bytes()
    row = only(content)
    assert row.render(kept(row)) == content
    end = len(row.conversation.messages) - 1
    pieces = [Handoff(Role.USER, SUMMARY), Kept(end)]
    made = row.append(pieces) if native is Native.APPEND else row.render(pieces)
    again = row.read_back(made)
    assert [m.text for m in again.messages] == [SUMMARY, row.conversation.messages[end].text]
    assert not broken(again, [Kept(0), Kept(1)])
    assert b'"tokens"' not in made.removeprefix(content)
