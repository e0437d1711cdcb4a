"""Are OpenHands events read as the tool's own view has them, and written so that it goes on from them?"""

import json
from io import BytesIO
from pathlib import Path

import pytest

from compactor.core.handoff import PREFIX, is_handoff
from compactor.core.messages import Handoff, Kept, Role
from compactor.core.verify import broken, result_messages
from compactor.formats import rows
from compactor.formats.openhands_events import SUMMARY
from compactor.tools import Native
from tests.samples import openhands, talk
from tests.samples.openhands import SYSTEM, action, dumped, event, observation, said
from tests.test_format_laws import compacted

REAL = Path(__file__).parents[2] / "shared" / "transcripts" / "openhands"
FILES = sorted(REAL.glob("*"))
HANDOFF = Handoff(Role.USER, f"{PREFIX} it went on")
NATIVE = pytest.mark.parametrize("native", list(Native))


def only(*values):
    [row] = rows(BytesIO(dumped(*values)), "events.jsonl")
    assert row.format.name == "openhands"
    return row


def texts(*values):
    return [m.text or [r.text for r in m.results] for m in only(*values).conversation.messages]


def condensation(number, forgotten, summary="it went on", offset=1, **more):
    ids = [one["id"] if isinstance(one, dict) else one for one in forgotten]
    members = {"forgotten_event_ids": ids, "summary": summary, "summary_offset": offset, **more}
    return event("Condensation", "environment", number, 9, **members)


def acted(number, *names):
    """Actions of one answer, then their observations."""
    actions = [
        action(number, name, "terminal", {"command": name}, "so" if not n else "") for n, name in enumerate(names)
    ]
    return [*actions, *(observation(one, number, f"out of {one['tool_call_id']}") for one in actions)]


def written(row, native, *pieces):
    """The events after `pieces`, which have to read back as they were meant."""
    content = row.append(pieces) if native is Native.APPEND else row.render(pieces)
    assert row.read_back(content).messages == result_messages(row.conversation, pieces)
    return [json.loads(line) for line in content.splitlines()]


USERS = [said("user", n, 1, f"ask {n}") for n in range(8)]


def test_actions_of_one_answer_are_one_message_before_their_results():
    conversation = only(SYSTEM, USERS[0], *acted(1, "a", "b"), USERS[1]).conversation
    found = conversation.messages
    assert [m.role.value for m in found] == ["system", "user", "assistant", "tool", "tool", "user"]
    assert [c.id for c in found[2].calls] == ["a", "b"]
    assert found[2].text == "so"
    assert "terminal" in conversation.preamble
    assert not broken(conversation, [Kept(n) for n in range(len(found))])


def test_results_between_the_actions_of_one_answer_come_behind_them():
    one, two, first, second = acted(1, "a", "b")
    assert texts(SYSTEM, one, first, two, second)[1:] == ["so", ["out of a"], ["out of b"]]


def test_a_result_after_words_of_the_user_comes_before_them():
    one, first = acted(1, "a")
    row = only(SYSTEM, one, USERS[0], first, USERS[1])
    assert [m.role.value for m in row.conversation.messages] == ["system", "assistant", "tool", "user", "user"]
    for native in Native:
        written(row, native, Kept(0), Kept(1), Kept(2), HANDOFF, Kept(4))
        written(row, native, Kept(0), Kept(1), Kept(2), HANDOFF, Kept(3))
        written(row, native, Kept(0), HANDOFF, Kept(3), Kept(4))


@pytest.mark.parametrize("missing", [0, 1, 2, 3])
def test_an_answer_that_is_not_whole_is_not_read_and_stays(missing):
    events = acted(1, "a", "b")
    del events[missing]
    row = only(SYSTEM, USERS[0], *events, USERS[1])
    expected = 4 if missing in (0, 1) else 3
    assert len(row.conversation.messages) in {3, expected + 1}
    made = written(row, Native.REWRITE, Kept(0), HANDOFF, *(Kept(n) for n in range(2, len(row.conversation.messages))))
    assert {one["id"] for one in events} <= {one["id"] for one in made}


def test_of_two_results_of_a_call_the_first_counts():
    one, first = acted(1, "a")
    second = {**observation(one, 2, "again"), "id": "second"}
    assert texts(SYSTEM, one, first, second, USERS[0])[1:] == ["so", ["out of a"], "ask 0"]


@pytest.mark.parametrize("which", [0, 1], ids=["its action", "its result"])
def test_what_the_tool_left_without_its_partner_goes(which):
    pair = acted(1, "a")
    row = only(SYSTEM, *pair, *USERS[:3], condensation(2, [pair[which]]), *USERS[3:])
    made = written(row, Native.REWRITE, Kept(0), HANDOFF, Kept(9))
    assert [one["kind"] for one in made] == ["SystemPromptEvent", "Condensation", "MessageEvent"]


def test_an_answer_of_which_an_action_is_forgotten_is_not_read():
    events = acted(1, "a", "b")
    assert texts(SYSTEM, *events, USERS[0], condensation(2, [events[0], events[2]]))[1:] == [
        f"{SUMMARY}it went on",
        "ask 0",
    ]


def test_an_action_that_waits_for_its_result_is_not_forgotten():
    waits = action(7, "w", "terminal", {"command": "sleep"})
    row = only(SYSTEM, *USERS, waits)
    assert len(row.conversation.messages) == 9
    made = written(row, Native.APPEND, Kept(0), HANDOFF, Kept(8))
    assert waits["id"] not in made[-1]["forgotten_event_ids"]
    assert waits["id"] in {one["id"] for one in written(row, Native.REWRITE, Kept(0), HANDOFF, Kept(8))}


def test_condensations_are_applied_in_order():
    first = condensation(2, [USERS[0], USERS[1]])
    second = condensation(4, [f"{first['id']}-summary", USERS[2]], "and on")
    assert texts(SYSTEM, *USERS[:3], first)[1:] == [f"{SUMMARY}it went on", "ask 2"]
    assert texts(SYSTEM, *USERS[:3], first, USERS[3], second)[1:] == [f"{SUMMARY}and on", "ask 3"]


def test_a_summary_that_was_not_forgotten_is_words_like_others():
    first, second = condensation(2, [USERS[0]]), condensation(4, [USERS[1]], "and on", 2)
    assert texts(SYSTEM, *USERS[:3], first, second)[1:] == ["it went on", f"{SUMMARY}and on", "ask 2"]


def test_an_id_that_no_event_has_is_that_of_the_summary_before():
    first = condensation(2, [USERS[0]])
    second = condensation(4, ["74fe934a-c498-4455-b004-b1e0c1a7da9b", USERS[1]], "and on")
    assert texts(SYSTEM, *USERS[:3], first, second)[1:] == [f"{SUMMARY}and on", "ask 2"]


@pytest.mark.parametrize("more", [{"summary": None}, {"offset": None}, {"summary": ""}])
def test_without_words_or_place_a_condensation_only_forgets(more):
    assert texts(SYSTEM, *USERS[:3], condensation(2, [USERS[0]], **more))[1:] == ["ask 1", "ask 2"]


@NATIVE
def test_the_mark_is_the_tools_own_and_the_view_is_what_was_meant(native):
    row = only(SYSTEM, *USERS)
    made = written(row, native, Kept(0), Kept(1), HANDOFF, Kept(6), Kept(7), Kept(8))
    [mark] = [one for one in made if one["kind"] == "Condensation"]
    assert set(mark) == {
        "kind", "id", "timestamp", "source", "forgotten_event_ids", "summary", "summary_offset", "llm_response_id"
    }  # fmt: skip
    assert (mark["summary"], mark["summary_offset"]) == (HANDOFF.text, 2)
    gone = [one["id"] for one in USERS[1:5]]
    assert mark["forgotten_event_ids"] == (gone if native is Native.APPEND else [])
    assert len(made) == (10 if native is Native.APPEND else 6)
    assert mark["timestamp"] == (USERS[7] if native is Native.APPEND else USERS[5])["timestamp"]


@NATIVE
def test_a_former_summary_goes_and_requests_for_one_too(native):
    first = condensation(3, [USERS[0]])
    asked = event("CondensationRequest", "environment", 3, 8)
    row = only(SYSTEM, *USERS[:4], asked, first, *USERS[4:])
    made = written(row, native, Kept(0), HANDOFF, Kept(5), Kept(6))
    if native is Native.APPEND:
        assert f"{first['id']}-summary" in made[-1]["forgotten_event_ids"]
    else:
        assert [one["kind"] for one in made] == ["SystemPromptEvent", "Condensation", "MessageEvent", "MessageEvent"]


@NATIVE
def test_a_pruned_result_in_the_tail_loses_what_stands_beside_its_words(native):
    output = talk(3)["output"]
    one, _ = acted(5, "a")
    seen = observation(one, 5, output, old_content=output, new_content=f"{output}\n", metadata={"exit_code": 1})
    row = only(SYSTEM, *USERS[:3], one, seen, USERS[7])
    assert row.conversation.messages[5].results[0].text.endswith("[Command finished with exit code 1]")
    pieces = [Kept(0), HANDOFF, Kept(3), Kept(4), Kept(5, {0: "[terminal: 30 lines]"}), Kept(6)]
    made = written(row, native, *pieces)
    if native is Native.REWRITE:
        assert output not in json.dumps(made)
        return
    *_, sees, last, mark = made
    assert [one["kind"] for one in made[:7]] == [one["kind"] for one in (SYSTEM, *USERS[:3], one, seen, USERS[7])]
    assert mark["forgotten_event_ids"][-2:] == [seen["id"], USERS[7]["id"]]
    assert sees["action_id"] == one["id"]
    assert sees["id"] not in mark["forgotten_event_ids"]
    assert last["llm_message"] == USERS[7]["llm_message"]


def test_an_answer_that_comes_anew_has_ids_of_its_own():
    first = acted(5, "a")
    second = acted(6, "b")
    row = only(SYSTEM, USERS[0], *first, *second, USERS[7])
    made = written(row, Native.APPEND, Kept(0), HANDOFF, Kept(2), Kept(3, {0: "[gone]"}), Kept(4), Kept(5), Kept(6))
    *_, sees, acts, then, last, mark = made
    assert [one["kind"] for one in (sees, acts)] == ["ObservationEvent", "ActionEvent"]
    assert last["llm_message"] == USERS[7]["llm_message"]
    assert sees["action_id"] == first[0]["id"]
    assert then["action_id"] == acts["id"] != second[0]["id"]
    assert acts["llm_response_id"] != second[0]["llm_response_id"]
    assert acts["tool_call_id"] == then["tool_call_id"] == "b"
    assert {one["id"] for one in (*second, USERS[7])} < set(mark["forgotten_event_ids"])


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ([SYSTEM, *USERS], True),
        ([SYSTEM, {**USERS[0], "activated_microagents": []}, *USERS[1:]], False),
        ([SYSTEM, *USERS[:6], condensation(5, []), *USERS[6:]], False),
        ([SYSTEM, *USERS[:6], condensation(5, [], llm_response_id="x"), *USERS[6:]], True),
    ],
    ids=["new", "old", "as the one before: without", "as the one before: with"],
)
def test_a_mark_has_the_members_that_this_version_knows(values, named):
    row = only(*values)
    count = len(row.conversation.messages)
    made = written(row, Native.APPEND, Kept(0), HANDOFF, Kept(count - 2), Kept(count - 1))
    assert ("llm_response_id" in made[-1]) == named


@NATIVE
@pytest.mark.parametrize("cut", ["in the tail", "in the head"])
def test_a_tool_loop_is_read_whole_or_not_at_all(native, cut):
    """Of events that one thinking opens the tool reads all or none, so what is kept of them comes anew."""
    first, *rest = acted(1, "a")
    first["thinking_blocks"] = [{"type": "thinking", "thinking": "hm", "signature": "s"}]
    row = only(SYSTEM, USERS[0], first, *rest, *acted(2, "b"), *acted(3, "c"), USERS[1])
    tail = [Kept(6), Kept(7), Kept(8)]
    head = [Kept(0), Kept(1)] if cut == "in the tail" else [Kept(n) for n in range(4)]
    made = written(row, native, *head, HANDOFF, *tail)
    if native is Native.REWRITE:
        return
    mark = made[-1]
    names = [one["id"] for one in made[: len(row.row.records)]]
    assert set(names[2:]) == set(mark["forgotten_event_ids"])
    assert len(made) == len(names) + len(head) + len(tail) - 2 + 1


def linked(*values):
    """Give events parents: each the one before, unless it says another."""
    found = []
    for value in values:
        parent = {"parent_id": found[-1]["id"]} if found and "parent_id" not in value else {}
        found.append({**value, **parent})
    return found


def test_of_a_tree_only_the_path_to_the_last_event_is_read():
    row = only(*linked(SYSTEM, *USERS[:3], {**USERS[3], "parent_id": USERS[0]["id"]}, USERS[4]))
    assert [m.text for m in row.conversation.messages[1:]] == ["ask 0", "ask 3", "ask 4"]


def test_a_tree_may_begin_anew_and_loose_events_are_no_part_of_it():
    loose = event("ConversationStateUpdateEvent", "environment", 9, 9, key="k", value=1)
    row = only(*linked(SYSTEM, USERS[0], {**SYSTEM, "id": "s2", "parent_id": "__root__"}, *USERS[1:4], loose))
    assert [m.text for m in row.conversation.messages[1:]] == ["ask 1", "ask 2", "ask 3"]
    mark = written(row, Native.APPEND, Kept(0), HANDOFF, Kept(3))[-1]
    assert mark["parent_id"] == USERS[3]["id"]


def test_a_parent_that_is_missing_is_the_event_before():
    assert texts(*linked(SYSTEM, USERS[0], {**USERS[1], "parent_id": "nobody"}, USERS[2]))[1:] == [
        "ask 0",
        "ask 1",
        "ask 2",
    ]


@NATIVE
def test_in_a_tree_every_parent_stands_before_its_child(native):
    aside = {**event("PauseEvent", "user", 1, 7), "parent_id": USERS[1]["id"]}
    row = only(*linked(SYSTEM, *USERS[:2], aside, {**USERS[2], "parent_id": USERS[1]["id"]}, *USERS[3:]))
    made = written(row, native, Kept(0), HANDOFF, Kept(6), Kept(7), Kept(8))
    known = {made[0]["id"]}
    for one in made[1:]:
        assert one["parent_id"] in known
        known.add(one["id"])
    [mark] = [n for n, one in enumerate(made) if one["kind"] == "Condensation"]
    if native is Native.REWRITE:
        assert made[mark + 1]["kind"] == "PauseEvent" or made[mark + 1]["parent_id"] == made[mark]["id"]


@pytest.mark.parametrize(
    ("seen", "text", "failed"),
    [
        ({"kind": "X", "content": "words"}, "words", False),
        ({"kind": "X", "output": "words", "error": False}, "words", False),
        ({"kind": "X", "output": "", "error": "no such file"}, "no such file", True),
        ({"kind": "X", "message": "done"}, "done", False),
        ({"kind": "X", "content": [{"type": "text", "text": "a"}], "is_error": True}, "a", True),
        ({"kind": "X"}, "", False),
    ],
)
def test_observations_of_all_versions_say_what_the_model_reads(seen, text, failed):
    one, other = acted(1, "a")
    row = only(SYSTEM, one, {**other, "observation": seen}, USERS[7])
    [result] = row.conversation.messages[2].results
    assert (result.text, result.failed) == (text, failed)
    if text:
        written(row, Native.REWRITE, Kept(0), Kept(1), Kept(2, {0: "[gone]"}), Kept(3))


def test_a_refusal_is_the_users_word_and_an_error_is_a_failure():
    first, second = acted(1, "a")[0], acted(2, "b")[0]
    ties = {"tool_name": "terminal", "action_id": first["id"]}
    refused = event("UserRejectObservation", "user", 1, 4, **ties, tool_call_id="a", rejection_reason="not that one")
    erred = event("AgentErrorEvent", "agent", 2, 4, tool_name="terminal", tool_call_id="b", error="no such tool")
    found = only(SYSTEM, first, refused, second, erred).conversation.messages
    assert (found[2].results[0].text, found[2].results[0].protected) == ("Action rejected: not that one", True)
    assert (found[4].results[0].text, found[4].results[0].failed) == ("no such tool", True)


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ({**USERS[1], "llm_message": None}, "$.llm_message"),
        ({**USERS[1], "llm_message": {"role": "robot"}}, "$.llm_message.role"),
        ({k: v for k, v in USERS[1].items() if k != "id"}, "$.id"),
        ({**acted(1, "a")[0], "tool_call": None}, "$.tool_call"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(value, place):
    row = only(SYSTEM, USERS[0], value, USERS[2])
    [fault] = row.faults
    assert fault.where == f"events.jsonl:3: {place}"
    assert row.conversation.gaps == {1}
    assert row.render([Kept(n) for n in range(3)]) == row.raw


@pytest.mark.parametrize("form", ["instance", "array"])
def test_an_evaluation_has_a_conversation_a_line_and_a_file_may_be_one_array(form):
    events = [SYSTEM, *openhands.events(14)]
    array = json.dumps(events, indent=1).encode()
    content = openhands.instance(14) + openhands.instance(2) if form == "instance" else array
    row, *more = rows(BytesIO(content), "output.jsonl")
    assert b"".join(r.raw for r in (row, *more)) == content
    for native in Native:
        done = compacted(row, native)
        assert done.report.outcome == "summarised", done.report
        value = json.loads(done.content)
        made = value["history"] if form == "instance" else value
        assert sum(one["kind"] == "Condensation" for one in made) == 1
        assert (made[: len(events)] == events) == (native is Native.APPEND)
    grown = openhands.more_in_instance(done.content, 12) if form == "instance" else b""
    for again in rows(BytesIO(grown), "output.jsonl"):
        assert compacted(again, entry=done.entry).report.generation == 2


def test_an_evaluation_without_a_history_leaves_as_it_came():
    base = {"instance_id": "a", "test_result": {}}
    lines = dumped(
        {**base, "history": None}, {**base, "history": []}, {**base, "history": [{"id": 0, "action": "run"}]}
    )
    found = list(rows(BytesIO(lines), "output.jsonl"))
    assert [row.conversation for row in found] == [None] * 3
    assert b"".join(row.raw for row in found) == lines
    assert "before 1.0" in found[2].faults[0].what


@pytest.mark.skipif(not FILES, reason=f"there are no transcripts in {REAL}")
@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
@NATIVE
def test_real_conversations_come_back_and_are_compacted(path, native):
    content = path.read_bytes()
    [row] = rows(BytesIO(content), path.name)
    everything = [Kept(n) for n in range(len(row.conversation.messages))]
    assert row.raw == row.render(everything) == content
    assert not broken(row.conversation, everything)
    done = compacted(row, native)
    assert done.report.outcome == "summarised", done.report
    assert (len(done.content) < len(content)) == (native is Native.REWRITE)
    again = row.read_back(done.content)
    assert sum(map(is_handoff, again.messages)) == 1
    assert not broken(again, [Kept(n) for n in range(len(again.messages))])
