"""pi sessions: which entries are the conversation, and what pi goes on from afterwards.

The trees and what is read of them are those that pi itself (0.73.1) was seen to make of the same files.
"""

import json
from datetime import datetime
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactor.core.handoff import KNOWN_PREFIXES, PREFIX, is_handoff
from compactor.core.messages import CALL_REMOVED, Handoff, Kept, Opening, Role
from compactor.core.tokens import PER_IMAGE
from compactor.core.verify import broken
from compactor.errors import InputError
from compactor.formats import format_named, rows
from compactor.tokenizer import tokenizer
from compactor.tools import Native
from tests.offline import compacted
from tests.samples import pi as sample

REAL = Path(__file__).resolve().parents[2] / "shared" / "transcripts" / "pi"
COUNT = tokenizer()
HEAD = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-03-02T09:00:00.000Z", "cwd": "/x"}
OLD_HEAD = {"type": "session", "id": "s", "timestamp": "2026-03-02T09:00:00.000Z", "cwd": "/x"}


# An entry in a few words: its id is its name, and what it says is its name in capitals.


def entry(kind, name, parent, /, **members):
    return {"type": kind, "id": name, "parentId": parent, "timestamp": "2026-03-02T09:01:00.000Z", **members}


def said(name, parent, role, content=None, /, **members):
    return entry("message", name, parent, message={"role": role, "content": content or name.upper(), **members})


def user(name, parent, content=None):
    return said(name, parent, "user", content)


def says(name, parent, *blocks, stop="stop", **members):
    usage = {"input": 3, "output": 7, "cacheRead": 160_000, "cacheWrite": 40, "totalTokens": 160_050}
    usage["cost"] = {"input": 0.5, "output": 0.25, "cacheRead": 0.125, "cacheWrite": 0, "total": 0.875}
    content = list(blocks) or [sample.say(name.upper())]
    return said(name, parent, "assistant", content, usage=usage, stopReason=stop, **members)


def use(call):
    return sample.use(call, "read", path=f"/{call}")


def result(name, parent, call, text="", **members):
    content = [sample.say(text or f"OUT {call}")]
    return said(name, parent, "toolResult", content, toolCallId=call, toolName="read", isError=False, **members)


def compaction(name, parent, first="", text=""):
    text = text or f"{PREFIX} {name.upper()}"
    return entry("compaction", name, parent, summary=text, firstKeptEntryId=first, tokensBefore=160_050)


def model(name, parent, to="m"):
    return entry("model_change", name, parent, provider="p", modelId=to)


def without_id(record):
    return {key: value for key, value in record.items() if key != "id"}


def without_links(record):
    return {key: value for key, value in record.items() if key not in {"id", "parentId"}}


def old_compaction(first, text):
    record = without_links(compaction("", None, "", f"{PREFIX} {text}"))
    return {**{k: v for k, v in record.items() if k != "firstKeptEntryId"}, "firstKeptEntryIndex": first}


def lines(*records):
    return b"".join((r if isinstance(r, bytes) else json.dumps(r).encode()) + b"\n" for r in records)


def only(content, name="session.jsonl"):
    [row] = rows(BytesIO(content), name)
    return row


def row_of(*records):
    return only(lines(HEAD, *records))


def brief(conversation):
    """A conversation in a few words: roles, what is said, calls and results."""
    told = []
    for m in conversation.messages:
        words = [m.text.split()[-1]] if m.text else []
        words += [f"({m.other.split()[-1]})"] if m.other else []
        words += [f"?{c.id}" for c in m.calls] + [f"={r.call_id}" for r in m.results]
        told.append(f"{m.role[0]}:" + ",".join(words))
    return " ".join(told)


def records_of(content):
    return [json.loads(line) for line in content.splitlines()]


def named(content):
    return [(r["id"], r["parentId"]) for r in records_of(content)[1:]]


def everything(row):
    return [Kept(n) for n in range(len(row.conversation.messages))]


# The path.

BEGIN = (user("u", None), says("a", "u"))
TURN = (user("v", "a"), says("w", "v"))
FOUR = (*BEGIN, *TURN)

TREES = {
    "a plain talk": (FOUR, "u:U a:A u:V a:W"),
    "the last in the file leads, whatever its time": (
        (*BEGIN, user("v", "a"), {**user("z", "a"), "timestamp": "2025-01-01T00:00:00.000Z"}),
        "u:U a:A u:Z",
    ),
    "whatever its kind": ((*FOUR, model("m", "a")), "u:U a:A"),
    "a label leads too": ((*FOUR, entry("label", "l", "a", targetId="w", label="x")), "u:U a:A"),
    "of two roots the last": ((*BEGIN, user("v", None), says("w", "v")), "u:V a:W"),
    "a missing parent ends the walk": ((*BEGIN, user("v", "gone"), says("w", "v")), "u:V a:W"),
    "a ring ends where it closes": ((user("u", "a"), says("a", "u")), "u:U a:A"),
    "of two with one id the last": ((*BEGIN, user("u", None, "AGAIN"), user("v", "u")), "u:AGAIN u:V"),
    "the last may lack an id": ((*BEGIN, without_id(user("v", "a"))), "u:U a:A u:V"),
    "an entry of an unknown kind stands between": ((*BEGIN, entry("x", "x", "a"), user("v", "x")), "u:U a:A u:V"),
    "parallel calls": (
        (BEGIN[0], says("a", "u", use("1"), use("2")), result("r", "a", "2"), result("q", "r", "1"), says("z", "q")),
        "u:U a:?1,?2 t:=2 t:=1 a:Z",
    ),
    "an orphan stands where it is": ((result("r", "gone", "9"), user("v", "r"), says("w", "v")), "t:=9 u:V a:W"),
    "a compaction that keeps nothing": ((*FOUR, compaction("c", "w"), user("n", "c")), "u:C u:N"),
    "a compaction that keeps a tail": ((*FOUR, compaction("c", "w", "v"), user("n", "c")), "u:C u:V a:W u:N"),
    "a compaction and nothing after it": ((*FOUR, compaction("c", "w", "v")), "u:C u:V a:W"),
    "what it keeps may begin with a change of model": (
        (*BEGIN, model("m", "a"), user("v", "m"), says("w", "v"), compaction("c", "w", "m")),
        "u:C u:V a:W",
    ),
    "what it keeps is off the path": (
        (*FOUR, user("o", "a"), compaction("c", "w", "o"), user("n", "c")),
        "u:C u:N",
    ),
    "what it keeps stands after it": ((*BEGIN, compaction("c", "a", "v"), user("v", "c")), "u:C u:V"),
    "it keeps from itself": ((*BEGIN, compaction("c", "a", "c"), user("v", "c")), "u:C u:V"),
    "the newest compaction on the path": (
        (*FOUR, compaction("c", "w", "v"), user("n", "c"), compaction("d", "n", "n"), user("k", "d")),
        "u:D u:N u:K",
    ),
    "it keeps from before an earlier one": (
        (*FOUR, compaction("c", "w", "v"), user("n", "c"), compaction("d", "n", "w"), user("k", "d")),
        "u:D a:W u:N u:K",
    ),
    "a newer compaction off the path": (
        (*FOUR, compaction("c", "w", "v"), user("n", "c"), compaction("d", "n", "n"), user("k", "c")),
        "u:C u:V a:W u:K",
    ),
}
LINES = {
    "a plain talk": (FOUR, "u:U a:A u:V a:W"),
    "links are not looked at": ((user("u", "z"), says("a", "u"), user("z", "gone")), "u:U a:A u:Z"),
    "a compaction counts from the header": ((*FOUR, old_compaction(3, "C"), user("n", "")), "u:C u:V a:W u:N"),
    "a compaction that keeps from the header keeps nothing": (
        (*FOUR, old_compaction(0, "C"), user("n", "")),
        "u:C u:N",
    ),
    "a compaction that keeps from itself": ((*FOUR, old_compaction(5, "C"), user("n", "")), "u:C u:N"),
    "a compaction that keeps from after it": ((*FOUR, old_compaction(6, "C"), user("n", "")), "u:C u:N"),
    "a compaction that names no place": ((*FOUR, old_compaction(True, "C"), user("n", "")), "u:C u:N"),
    "a line that cannot be read does not count": (
        (BEGIN[0], b"{garbage", *FOUR[1:], old_compaction(3, "C")),
        "u:C u:V a:W",
    ),
    "nor do two objects on one line": (
        (BEGIN[0], json.dumps(model("m", "")).encode() * 2, *FOUR[1:], old_compaction(3, "C")),
        "u:C u:V a:W",
    ),
}


@pytest.mark.parametrize(("records", "wanted"), TREES.values(), ids=TREES)
@pytest.mark.parametrize("version", [2, 3])
def test_the_path_is_that_of_pi(records, wanted, version):
    assert brief(only(lines({**HEAD, "version": version}, *records)).conversation) == wanted


@pytest.mark.parametrize(("records", "wanted"), LINES.values(), ids=LINES)
def test_version_1_is_a_line(records, wanted):
    bare = [r if isinstance(r, bytes) else without_links(r) for r in records]
    assert brief(only(lines(OLD_HEAD, *bare)).conversation) == wanted


def test_nothing_stands_before_the_summary():
    assert row_of(*FOUR).conversation.opening is Opening.HANDOFF


# What an entry says.

SHELL = {"command": "ls", "output": "a.txt", "exitCode": 0, "cancelled": False, "truncated": False}
CUT = {"exitCode": 2, "cancelled": False, "truncated": True, "fullOutputPath": "/tmp/o"}
SPOKEN = {
    "the user's words": (user("v", "a"), "V", ""),
    "a list of blocks": (user("v", "a", [sample.say("ONE"), sample.say("TWO")]), "ONE\nTWO", ""),
    "a command that the user ran": (said("v", "a", "bashExecution", **SHELL), "", "Ran `ls`\n```\na.txt\n```"),
    "a command without output": (
        said("v", "a", "bashExecution", **{**SHELL, "output": ""}),
        "",
        "Ran `ls`\n(no output)",
    ),
    "a command that was stopped": (
        said("v", "a", "bashExecution", **{**SHELL, "cancelled": True}),
        "",
        "Ran `ls`\n```\na.txt\n```\n\n(command cancelled)",
    ),
    "a command that failed and said much": (
        said("v", "a", "bashExecution", **{**SHELL, **CUT}),
        "",
        "Ran `ls`\n```\na.txt\n```\n\nCommand exited with code 2\n\n[Output truncated. Full output: /tmp/o]",
    ),
    "an extension": (entry("custom_message", "v", "a", customType="x", content="TIME", display=False), "", "TIME"),
    "an extension, as a message": (said("v", "a", "custom", [sample.say("TIME")], customType="x"), "", "TIME"),
    "an extension in version 2": (said("v", "a", "hookMessage", "TIME", customType="x"), "", "TIME"),
    "a picture": (
        user("v", "a", [{"type": "image", "mimeType": "image/png", "data": "iVBOR" * 400}]),
        "",
        "[image: image/png, 2,000 characters of base64]",
    ),
}
SILENT = {
    "an empty prompt": user("v", "a", " "),
    "an answer that was broken off": says("v", "a", stop="aborted"),
    "an answer that failed": says("v", "a", stop="error"),
    "an answer of nothing": {**says("v", "a"), "message": {"role": "assistant", "content": [], "stopReason": "stop"}},
    "a command of the user that is not to be sent": said("v", "a", "bashExecution", **SHELL, excludeFromContext=True),
    "a change of model": model("v", "a"),
    "a change of thinking level": entry("thinking_level_change", "v", "a", thinkingLevel="high"),
    "a label": entry("label", "v", "a", targetId="u", label="x"),
    "a name": entry("session_info", "v", "a", name="x"),
    "a note of an extension": entry("custom", "v", "a", customType="x", data={"content": "X"}),
    "a summary of a branch that is empty": entry("branch_summary", "v", "a", fromId="x", summary=""),
    "a role that nobody knows": said("v", "a", "narrator"),
    "a kind that nobody knows": entry("x", "v", "a", message={"role": "user", "content": "X"}),
}


@pytest.mark.parametrize(("record", "text", "other"), SPOKEN.values(), ids=SPOKEN)
def test_an_entry_says(record, text, other):
    message = row_of(*BEGIN, record, says("z", "v")).conversation.messages[2]
    assert (message.role, message.text, message.other) == (Role.USER, text, other)


@pytest.mark.parametrize("silent", SILENT.values(), ids=SILENT)
def test_an_entry_says_nothing(silent):
    row = row_of(*BEGIN, silent, user("y", "v"))
    assert brief(row.conversation) == "u:U a:A u:Y"
    assert not row.faults


@pytest.mark.parametrize("record", [
    entry("branch_summary", "v", "a", fromId="x", summary="LEFT"),
    said("v", "a", "branchSummary", fromId="x", summary="LEFT"),
], ids=["entry", "message"])  # fmt: skip
def test_the_summary_of_a_branch_is_no_handoff(record):
    message = row_of(*BEGIN, record).conversation.messages[2]
    assert message.other.startswith("The following is a summary of a branch")
    assert message.other.endswith("LEFT")
    assert not is_handoff(message)


def test_a_compaction_says_ours_as_we_wrote_it_and_anothers_below_the_words_of_pi():
    texts = (f"{PREFIX} X", "# Goal\n\nAll of it.")
    ours, other = (row_of(*FOUR, compaction("c", "w", "v", text)).conversation.messages[0] for text in texts)
    assert ours.text == texts[0]
    assert other.text.startswith(KNOWN_PREFIXES[3])
    assert other.text.endswith(texts[1])
    assert is_handoff(other)


def test_a_picture_in_a_result_costs_what_a_picture_costs():
    picture = {"type": "image", "mimeType": "image/png", "data": "iVBOR" * 400}
    record = result("r", "a", "1")
    record["message"]["content"].append(picture)
    [found] = row_of(BEGIN[0], says("a", "u", use("1")), record).conversation.messages[2].results
    assert found.image_tokens == PER_IMAGE
    assert found.text == "OUT 1\n[image: image/png, 2,000 characters of base64]"


def test_thoughts_are_reasoning_and_a_failed_result_says_so():
    thought = {"type": "thinking", "thinking": "HM", "thinkingSignature": "c2ln"}
    bad = result("r", "a", "1")
    bad["message"]["isError"] = True
    _, answer, done = row_of(BEGIN[0], says("a", "u", thought, use("1")), bad).conversation.messages
    assert (answer.reasoning, answer.text) == ("HM", "")
    assert answer.calls[0].arguments == '{"path":"/1"}'
    assert (done.results[0].name, done.results[0].failed) == ("read", True)


MALFORMED = {
    "no message": (entry("message", "v", "a"), "$.message: null is not an object"),
    "content of a wrong type": (user("v", "a", 3), "$.message.content: 3 is not a string or an array of blocks"),
    "a block of a wrong type": (user("v", "a", [3]), "$.message.content[0]: 3 is not a block: an object with a type"),
    "a text of a wrong type": (user("v", "a", [sample.say(3)]), "$.message.content[0].text: 3 is not a string"),
    "a call of a wrong type": (says("v", "a", {**use("1"), "id": 3}), "$.message.content[0].id: 3 is not a string"),
    "a role of a wrong type": (said("v", "a", 3), "$.message.role: 3 is not a string"),
    "a summary of a wrong type": (compaction("v", "a", "u", [3]), "$.summary: an array is not a string"),
}


@pytest.mark.parametrize(("bad", "what"), MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_entry_is_reported_stays_and_still_links(bad, what):
    row = row_of(*BEGIN, bad, user("y", "v"), says("z", "y"))
    assert [str(fault) for fault in row.faults] == [f"session.jsonl:4: {what}"]
    assert row.render(everything(row)) == row.raw
    last = len(row.conversation.messages) - 1
    written = row.render([Handoff(Role.USER, f"{PREFIX} X"), Kept(last)])
    assert json.dumps({**bad, "parentId": None}) in written.decode()
    assert brief(row.read_back(written)) == "u:X a:Z"


def test_a_fault_before_what_is_sent_tears_nothing_of_it():
    row = only(lines(HEAD, b"{garbage", *FOUR, compaction("c", "w", "v"), b"{more", user("n", "c")))
    assert row.conversation.gaps == {2}
    assert len(row.faults) == 2


def test_a_file_without_its_header_is_left_alone():
    content = lines(*FOUR)
    [row] = rows(BytesIO(content), "session.jsonl", format_named("pi"))
    assert row.conversation is None
    assert row.raw == content
    assert "pi would empty the file" in str(row.faults[0])
    with pytest.raises(InputError):
        only(content)


# Writing: what goes, what stays, and what it then hangs on.

WIDE = 20_000  # a window in which the tail stays as it is; in the usual one of these tests its results are stubbed
SIZES = ("input", "cacheRead", "cacheWrite", "totalTokens")  # of the context, as an answer reports them
NEW = Handoff(Role.USER, f"{PREFIX} NEW")


def rewritten(row, *left):
    """Rewrite with a new handoff before the messages `left`, counted from the end."""
    return row.render([NEW, *(Kept(len(row.conversation.messages) - n) for n in left)])


def marks(content):
    return [r for r in records_of(content) if r["type"] == "compaction"]


@pytest.mark.parametrize("native", Native)
def test_the_mark_is_the_one_of_pi(native):
    before = sample.session(3, 14).records
    after = records_of(compacted(only(lines(*before)), native, context_window=WIDE).content)
    assert after[0] == before[0]
    assert list(after[-1]) == ["type", "id", "parentId", "timestamp", "summary", "firstKeptEntryId", "tokensBefore"]
    assert after[-1]["type"] == "compaction"
    assert after[-1]["parentId"] == after[-2]["id"] == before[-1]["id"]
    assert after[-1]["timestamp"] == before[-1]["timestamp"]
    assert after[-1]["tokensBefore"] == 60_000 + 13 * 9_000 + 9_000 + 905
    first = next(r for r in after if r["id"] == after[-1]["firstKeptEntryId"])
    assert first["message"]["role"] in {"user", "assistant"}
    assert len({r["id"] for r in after}) == len(after)


@pytest.mark.parametrize("native", Native)
def test_the_mark_is_no_older_than_any_answer(native):
    """Pi disbelieves what an answer says of its context if the answer is no younger than the newest compaction."""
    after = records_of(compacted(only(sample.lines(14)), native, context_window=WIDE).content)
    answers = [r["message"]["timestamp"] for r in after if r.get("message", {}).get("role") == "assistant"]
    assert datetime.fromisoformat(after[-1]["timestamp"]).timestamp() * 1_000 >= max(answers)


def test_rewritten_the_tail_stays_byte_for_byte_but_for_links_and_usage():
    row = only(sample.lines(14))
    after = compacted(row, context_window=WIDE).content.splitlines()
    before = {json.loads(line)["id"]: line for line in row.raw.splitlines()}
    same = 0
    path = [json.loads(after[-1])]
    for line in reversed(after[1:-1]):
        new = json.loads(line)
        old = json.loads(before[new["id"]])
        same += line == before[new["id"]]
        if new["id"] == path[-1]["parentId"]:
            path.append(new)
            if usage := new.get("message", {}).get("usage"):
                assert usage == {**old["message"]["usage"], **dict.fromkeys(SIZES, 0)}
                old["message"]["usage"] = usage
        assert new == {**old, "parentId": new["parentId"]}
    assert path[-1]["parentId"] is None
    assert len(path) > 12
    assert same > 5


STAYING = {
    "of messages only the tail": (FOUR, 1, [("w", None)]),
    "the newest of each change, and of names": (
        (
            model("m", None),
            model("n", "m"),
            entry("thinking_level_change", "t", "n", thinkingLevel="low"),
            entry("session_info", "i", "t", name="x"),
            user("u", "i"),
            model("o", "u"),
            says("a", "o"),
        ),
        1,
        [("t", None), ("i", "t"), ("o", "i"), ("a", "o")],
    ),
    "all changes in the tail": (
        (*FOUR, model("m", "w"), model("n", "m"), user("y", "n")),
        2,
        [("w", None), ("m", "w"), ("n", "m"), ("y", "n")],
    ),
    "what extensions note, and kinds that nobody knows": (
        (entry("custom", "c", None), entry("custom", "d", "c"), entry("x", "x", "d"), user("u", "x"), says("a", "u")),
        1,
        [("c", None), ("d", "c"), ("x", "d"), ("a", "x")],
    ),
    "a label as long as its entry": (
        (
            *FOUR,
            entry("label", "l", "w", targetId="w", label="x"),
            entry("label", "k", "l", targetId="a"),
            user("y", "k"),
        ),
        2,
        [("w", None), ("l", "w"), ("y", "l")],
    ),
    "nothing of what is not sent before the tail": (
        (says("x", None, stop="aborted"), user("u", "x"), says("z", "u", stop="error"), says("a", "z")),
        1,
        [("a", None)],
    ),
    "what is not sent, in the tail": (
        (*BEGIN, user("v", "a"), says("x", "v", stop="aborted"), user("y", "x")),
        2,
        [("v", None), ("x", "v"), ("y", "x")],
    ),
    "no earlier compaction, nor what stood before it": (
        (*FOUR, compaction("c", "w", "v"), user("n", "c"), says("k", "n")),
        3,
        [("w", None), ("n", "w"), ("k", "n")],
    ),
    "a branch from the root": ((user("b", None), says("d", "b"), *FOUR), 1, [("b", None), ("d", "b"), ("w", None)]),
    "a branch from what is gone": (
        (model("m", None), user("u", "m"), says("a", "u"), user("b", "a"), says("d", "b"), *TURN),
        1,
        [("m", None), ("b", "m"), ("d", "b"), ("w", "m")],
    ),
    "a branch from the tail": (
        (*FOUR, user("b", "w"), user("y", "w")),
        2,
        [("w", None), ("b", "w"), ("y", "w")],
    ),
    "a branch without the results whose calls are gone": (
        (
            BEGIN[0],
            says("a", "u", use("1"), use("2")),
            result("r", "a", "1"),
            result("q", "a", "2"),
            says("b", "q"),
            says("z", "r"),
            *(user("v", "z"), says("w", "v")),
        ),
        1,
        [("b", None), ("w", None)],
    ),
    "a branch with a compaction of its own": (
        (*BEGIN, user("b", "a"), compaction("c", "b", "b"), user("d", "c"), *TURN),
        1,
        [("b", None), ("c", "b"), ("d", "c"), ("w", None)],
    ),
}


@pytest.mark.parametrize(("records", "count", "left"), STAYING.values(), ids=STAYING)
def test_rewritten_there_stays(records, count, left):
    row = row_of(*records)
    content = rewritten(row, *range(count, 0, -1))
    *stayed, mark = named(content)
    assert stayed == left
    assert mark[1] == left[-1][0]
    assert brief(row.read_back(content)).startswith("u:NEW ")
    assert len(row.read_back(content).messages) == count + 1


def test_a_compaction_on_a_branch_keeps_from_what_is_left_of_what_it_kept():
    row = row_of(
        *BEGIN, entry("custom", "k", "a"), user("b", "k"), compaction("c", "b", "a"), user("v", "k"), says("w", "v")
    )
    content = rewritten(row, 1)
    assert [m["firstKeptEntryId"] for m in marks(content)] == ["k", "w"]


def test_the_end_of_the_path_leads_though_it_stood_before_a_branch():
    row = row_of(*BEGIN, user("v", "a"), user("b", "a"), result("r", "v", "9"))
    content = row.render([Kept(0), Kept(1), Kept(2)])
    assert named(content) == [("u", None), ("a", "u"), ("b", "a"), ("v", "a")]
    assert brief(row.read_back(content)) == "u:U a:A u:V"


def test_an_orphan_that_goes_takes_nothing_of_what_an_earlier_compaction_keeps():
    row = row_of(*BEGIN, result("r", "a", "9"), *(user("v", "r"), says("w", "v")), compaction("c", "w", "r"))
    assert brief(row.conversation) == "u:C t:=9 u:V a:W"
    content = row.render([Kept(0), Kept(2), Kept(3)])
    assert marks(content)[0]["firstKeptEntryId"] == "v"
    assert brief(row.read_back(content)) == "u:C u:V a:W"


def test_a_line_counts_anew_what_its_compactions_name():
    bare = [without_links(r) for r in (*FOUR, result("r", "", "9"), user("y", ""), says("z", ""))]
    row = only(lines(OLD_HEAD, *bare[:5], old_compaction(3, "C"), *bare[5:]))
    assert brief(row.conversation) == "u:C u:V a:W t:=9 u:Y a:Z"
    pruned = row.render([Kept(n) for n in (0, 1, 2, 4, 5)])
    assert marks(pruned)[0]["firstKeptEntryIndex"] == 3
    assert brief(row.read_back(pruned)) == "u:C u:V a:W u:Y a:Z"
    late = row.render([Kept(n) for n in (0, 2, 4, 5)])
    assert marks(late)[0]["firstKeptEntryIndex"] == 3
    assert brief(row.read_back(late)) == "u:C a:W u:Y a:Z"
    new = rewritten(row, 2, 1)
    assert [list(r) for r in marks(new)] == [["type", "timestamp", "summary", "firstKeptEntryIndex", "tokensBefore"]]
    assert marks(new)[0]["firstKeptEntryIndex"] == 1
    assert brief(row.read_back(new)) == "u:NEW u:Y a:Z"


def test_a_line_counts_what_was_glued_once_it_stands_apart():
    bare = [without_links(r) for r in (*FOUR, result("r", "", "9"), user("y", ""))]
    glued = b"".join(json.dumps(without_links(model(name, ""))).encode() for name in "mn")
    row = only(lines(OLD_HEAD, glued, *bare[:4], old_compaction(3, "C"), *bare[4:]))
    assert brief(row.conversation) == "u:C u:V a:W t:=9 u:Y"
    content = row.render([Kept(n) for n in (0, 1, 2, 4)])
    assert marks(content)[0]["firstKeptEntryIndex"] == 5
    assert brief(row.read_back(content)) == "u:C u:V a:W u:Y"


def test_a_ring_is_not_closed_anew():
    row = row_of(user("u", "r"), says("a", "u"), result("r", "a", "9"))
    content = row.render([Kept(0), Kept(1)])
    assert named(content) == [("u", "r"), ("a", "u")]
    assert brief(row.read_back(content)) == "u:U a:A"


def test_appended_the_mark_alone_names_a_tail_that_has_not_changed():
    row = only(sample.lines(14))
    done = compacted(row, Native.APPEND, context_window=WIDE)
    assert done.report.outcome == "summarised"
    assert done.content.startswith(row.raw)
    assert len(done.content[len(row.raw) :].splitlines()) == 1


@pytest.mark.parametrize("version", [3, 1])
def test_appended_a_tail_that_has_changed_is_copied(version):
    row = only(sample.lines(10, version))
    messages = row.conversation.messages
    where = next(n for n in range(len(messages) - 6, len(messages)) if messages[n].results)
    pieces = [NEW, *(Kept(n, {0: "STUB"} if n == where else {}) for n in range(where - 1, len(messages)))]
    content = row.append(pieces)
    assert content.startswith(row.raw)
    mark, *copies = records_of(content[len(row.raw) :])
    if version == 1:
        assert mark["firstKeptEntryIndex"] == len(row.raw.splitlines())
    else:
        chain = [mark["id"], *(r["id"] for r in copies)]
        assert mark["firstKeptEntryId"] == mark["id"]
        assert [r["parentId"] for r in copies] == chain[:-1]
        assert not set(chain) & {r["id"] for r in records_of(row.raw)}
        assert len(set(chain)) == len(chain)
    assert len(copies) == len(pieces) - 1
    assert all(
        r["message"]["usage"]["totalTokens"] == 0 for r in copies if r.get("message", {}).get("role") == "assistant"
    )
    again = row.read_back(content).messages
    assert again[0].text == NEW.text
    assert next(r.text for m in again for r in m.results) == "STUB"
    assert again[3:] == messages[where + 1 :]


@pytest.mark.parametrize("native", Native)
def test_the_last_entry_gets_an_id_where_something_hangs_on_it(native):
    row = row_of(*BEGIN, user("v", "a"), without_id(says("w", "v")))
    pieces = [NEW, Kept(2), Kept(3)]
    content = row.append(pieces) if native is Native.APPEND else row.render(pieces)
    assert brief(row.read_back(content)) == "u:NEW u:V a:W"


@pytest.mark.parametrize("native", Native)
def test_glued_entries_are_read_and_pi_finds_them_once_something_changes(native):
    before = lines(HEAD, *FOUR, *(user("y", "w"), says("z", "y"))).splitlines()
    glued = b"\n".join([*before[:-2], before[-2] + before[-1]])
    row = only(glued)
    assert row.raw == glued
    assert brief(row.conversation) == "u:U a:A u:V a:W u:Y a:Z"
    pieces = [NEW, Kept(4), Kept(5)]
    content = row.append(pieces) if native is Native.APPEND else row.render(pieces)
    assert content.startswith(glued) == (native is Native.APPEND)
    alone = [json.loads(line) for line in content.splitlines() if line != before[-2] + before[-1]]
    assert brief(row.read_back(lines(*alone))) == "u:NEW u:Y a:Z"
    assert not content.endswith(b"\n")


def test_pruned_a_result_loses_its_copies_in_details_and_nothing_else_is_touched():
    long = "\n".join(f"line {n}" for n in range(100))
    details = {"truncation": {"content": long, "lines": 100}, "todo": ["x"]}
    row = row_of(
        *BEGIN, user("v", "a"), says("w", "v", use("1")), result("r", "w", "1", long, details=details), says("z", "r")
    )
    content = row.render([Kept(n, {0: "STUB"} if n == 4 else {}) for n in range(6)])
    before, after = records_of(row.raw), records_of(content)
    assert after[5]["message"]["content"] == [{"type": "text", "text": "STUB"}]
    assert after[5]["message"]["details"] == {"truncation": {"content": "STUB", "lines": 100}, "todo": ["x"]}
    assert after[:5] == before[:5]
    assert after[6]["message"]["usage"]["totalTokens"] == 0
    assert row.read_back(content).messages[4].results[0].text == "STUB"


CALLS = {
    "a call beside words": (says("w", "v", sample.say("W"), use("1")), ["W"]),
    "a call and nothing else": (says("w", "v", use("1")), [CALL_REMOVED]),
    "two calls and nothing else": (says("w", "v", use("1"), use("2")), [CALL_REMOVED]),
}


@pytest.mark.parametrize(("answer", "left"), CALLS.values(), ids=CALLS)
def test_a_call_that_nothing_answers_is_taken_out(answer, left):
    row = row_of(*BEGIN, user("v", "a"), answer, user("y", "w"))
    gone = frozenset(range(len(row.conversation.messages[3].calls)))
    pieces = [Kept(n, without_calls=gone if n == 3 else frozenset()) for n in range(5)]
    written = records_of(row.render(pieces))[4]
    assert [block["text"] for block in written["message"]["content"]] == left


def test_the_same_input_gives_the_same_bytes_and_another_handoff_another_id():
    row = row_of(*FOUR)
    first, second, third = (row.append([Handoff(Role.USER, text), Kept(3)]) for text in ("A", "A", "B"))
    assert first == second
    assert named(first)[-1][0] != named(third)[-1][0]


def test_ids_are_never_used_twice():
    row = row_of(*FOUR)
    taken = named(row.append([NEW, Kept(3)]))[-1][0]
    again = row_of(*FOUR[:3], says(taken, "v"))
    [new] = [name for name, _ in named(again.append([NEW, Kept(2), Kept(3)])) if name not in {"u", "a", "v", taken}]
    assert new != taken


@pytest.mark.parametrize("native", Native)
def test_text_that_is_no_unicode_does_no_harm(native):
    records = [json.dumps(r).replace("please look", "\\ud83d look").encode() for r in sample.session(3, 10).records]
    row = only(lines(*records))
    assert compacted(row, native).report.outcome == "summarised"
    pieces = [Handoff(Role.USER, f"{PREFIX} \ud83d"), Kept(len(row.conversation.messages) - 1)]
    content = row.append(pieces) if native is Native.APPEND else row.render(pieces)
    assert row.read_back(content).messages[0].text == pieces[0].text


# Whatever happened to the links, nothing raises, nothing dangles, and what is written is what was meant.

BASE = sample.session(3, 8).records
HARMS = (
    lambda r, other: {**r, "parentId": other.get("id")},
    lambda r, _: {**r, "parentId": None},
    lambda r, other: {**r, "id": other.get("id")},
    lambda r, _: {k: v for k, v in r.items() if k != "id"},
    lambda r, other: {**r, "type": "compaction", "summary": "X", "firstKeptEntryId": other.get("id")},
    lambda r, _: {**r, "message": {"role": "user", "content": [3]}},
    lambda _, other: other,
)


@st.composite
def damaged(draw):
    records = [dict(r) for r in BASE]
    spots = st.integers(1, len(records) - 1)
    for spot, harm in draw(st.lists(st.tuples(spots, st.sampled_from(HARMS)), max_size=6)):
        records[spot] = harm(records[spot], BASE[draw(spots)])
    gone = draw(st.sets(spots, max_size=3))
    return [r for n, r in enumerate(records) if n not in gone]


@given(damaged())
def test_damaged_links_do_no_harm(records):
    row = only(lines(*records))
    if row.conversation is None:
        return
    assert row.render(everything(row)) == row.raw
    before = {r.get("id") for r in records}
    for native in Native:
        done = compacted(row, native)
        assert done.report.outcome != "failed", done.report.why
        after = records_of(done.content)
        assert after[0] == records[0]
        if native is Native.REWRITE:
            lost = before - {r.get("id") for r in after}
            assert not lost & {r.get("parentId") for r in after[1:]} - {None}


# Real sessions.

FILES = sorted(REAL.glob("*.jsonl"))
NONE_HERE = pytest.mark.skipif(not FILES, reason="no real sessions beside the project")


@NONE_HERE
@pytest.mark.parametrize("cut", [0, 2], ids=["whole", "before its last command"])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_real_session(path, cut):
    records = path.read_bytes().splitlines(keepends=True)
    content = b"".join(records[: len(records) - cut])
    row = only(content, path.name)
    assert row.format.name == "pi"
    assert not row.faults
    assert is_handoff(row.conversation.messages[0])
    assert row.render(everything(row)) == row.raw == content
    for native in Native:
        done = compacted(row, native, context_window=40_000)
        assert done.report.outcome == "summarised"
        again = row.read_back(done.content)
        assert not broken(again, [Kept(n) for n in range(len(again.messages))])
        assert sum(map(is_handoff, again.messages)) == 1
        assert done.report.after_most < done.report.before
        assert done.content.startswith(content) if native is Native.APPEND else len(done.content) < len(content) / 10


@pytest.mark.skipif(len(FILES) < 2, reason="no real sessions beside the project")
def test_a_real_session_says_the_same_before_and_after_pi_has_given_it_ids():
    old, new = (only(path.read_bytes()).conversation for path in FILES)
    assert old.messages == new.messages
