"""pi sessions with every kind of record that real ones have: a tree (version 3), and a line of entries (version 1)."""

import hashlib
import json

from tests.samples import Sample, talk

SESSION = "0199d1f0-4b7e-7cc0-9d36-5d1c3a6a7f10"
START = 1_772_442_000_000  # 2026-03-02T09:00:00Z
CWD = "/home/user/shop"


def short(*name):
    return hashlib.blake2b("/".join(map(str, name)).encode(), digest_size=4).hexdigest()


class Log:
    """Writes entries the way pi does: each hangs on the one before; without ids in version 1."""

    def __init__(self, version, name="a", parent=None):
        self.records = []
        self.version = version
        self.name = name
        self.parent = parent
        self.clock = START if name == "a" else START + 40_000_000

    def header(self, **more):
        version = {"version": self.version} if self.version > 1 else {}
        place = {"timestamp": self.time(), "cwd": CWD}
        self.records.append({"type": "session", **version, "id": SESSION, **place, **more})

    def time(self):
        seconds = (self.clock - START) // 1000
        return f"2026-03-{2 + seconds // 86_400:02d}T{9 + seconds // 3600 % 15:02d}:{seconds // 60 % 60:02d}:00.000Z"

    def put(self, kind, **members):
        self.clock += 60_000
        number = len(self.records)
        links = {"id": short(self.name, number), "parentId": self.parent} if self.version > 1 else {}
        self.records.append({"type": kind, **links, "timestamp": self.time(), **members})
        self.parent = links.get("id")
        return self.parent

    def message(self, role, **members):
        return self.put("message", message={"role": role, **members, "timestamp": self.clock + 59_000})

    def user(self, text):
        return self.message("user", content=[say(text)])

    def answer(self, *blocks, context=0, stop="stop", **members):
        cost = {"input": 0.001, "output": 0.002, "cacheRead": 0.06, "cacheWrite": 0, "total": 0.063}
        usage = {"input": 3, "output": 90, "cacheRead": context, "cacheWrite": 812, "totalTokens": context + 905}
        model = {"api": "anthropic-messages", "provider": "anthropic", "model": "claude-opus-4-5"}
        usage["cost"] = cost
        return self.message("assistant", content=list(blocks), **model, usage=usage, stopReason=stop, **members)

    def result(self, call, name, output, **members):
        return self.message("toolResult", toolCallId=call, toolName=name, content=[say(output)], **members)


def say(text):
    return {"type": "text", "text": text}


def use(call, name, **arguments):
    return {"type": "toolCall", "id": call, "name": name, "arguments": arguments}


def turn(log, number):
    """One turn: a thought, words, two parallel calls, results out of order, an answer; and what stands between."""
    words, tag = talk(number), f"{log.name[:4]}{number}"
    context = min(60_000 + number * 9_000, 181_000)
    if number % 4 == 1:
        log.put("thinking_level_change", thinkingLevel=("low", "high")[number % 2])
    log.user(words["ask"])
    thought = {"type": "thinking", "thinking": f"Ticket of turn {number} first.", "thinkingSignature": "c2lnbmF0dXJl"}
    calls = (use(f"toolu_r{tag}", "read", path=words["path"]), use(f"toolu_b{tag}", "bash", command="make test"))
    log.answer(thought, say(words["plan"]), *calls, context=context, stop="toolUse")
    log.result(f"toolu_b{tag}", "bash", f"{10 + number} passed", isError=False)
    copy = {"truncation": {"content": words["output"], "truncated": False}}
    log.result(f"toolu_r{tag}", "read", words["output"], details=copy, isError=False)
    if number % 5 == 2:
        log.answer(say("Let me"), stop="aborted", errorMessage="Request was aborted.")
        shell = {"exitCode": 0, "cancelled": False, "truncated": False}
        log.message("bashExecution", command=f"git status {number}", output="clean", **shell)
    log.answer(say(words["answer"]), context=context + 9_000)


def more_of_a_tree(log, number):
    """What only later versions have: names, labels, extensions, a branch that was left and its summary."""
    log.put("custom", customType="todo", data={"open": number})
    log.put("label", targetId=log.parent, label=f"turn {number}")
    log.put("custom_message", customType="clock", content=f"It is hour {number}.", display=False)
    before = log.parent
    log.user(f"Try another way in turn {number}.")
    left = log.answer(say(f"Another way of turn {number} leads nowhere."))
    log.parent = before
    log.put("branch_summary", fromId=left, summary=f"Turn {number} was tried another way.")


def session(version, turns):
    log = Log(version)
    old = {"provider": "anthropic", "modelId": "claude-opus-4-5", "thinkingLevel": "off"}
    log.header(**(old if version == 1 else {}))
    log.put("model_change", provider="anthropic", modelId="claude-opus-4-5")
    if version > 1:
        log.put("session_info", name="shop tickets")
    for number in range(turns):
        turn(log, number)
        if version > 1 and number % 6 == 3:
            more_of_a_tree(log, number)
    return log


def written(records):
    return b"".join(json.dumps(record, separators=(",", ":")).encode() + b"\n" for record in records)


def records_of(content):
    return [json.loads(line) for line in content.splitlines()]


def lines(turns, version=3):
    return written(session(version, turns).records)


def more_lines(content, turns):
    found = records_of(content)
    log = Log(found[0].get("version", 1), f"more{len(found)}", found[-1].get("id"))
    for number in range(100, 100 + turns):
        turn(log, number)
    return content + written(log.records)


def old_lines(turns):
    return lines(turns, 1)


SAMPLE = Sample("pi", f"2026-03-02T09-00-00-000Z_{SESSION}.jsonl", lines, more_lines)
SAMPLES = [SAMPLE, Sample("pi", "version-1.jsonl", old_lines, more_lines)]
