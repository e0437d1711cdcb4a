"""A Claude Code session with every kind of record that real ones have."""

import json
import uuid

from tests.samples import Sample, talk

SESSION = "5d0c1b1e-7a60-4c3e-9d5b-2f1f0c9a7e11"
COMMON = {
    "isSidechain": False,
    "userType": "external",
    "cwd": "/home/user/shop",
    "sessionId": SESSION,
    "version": "2.1.39",
    "gitBranch": "main",
    "slug": "quiet-counting-otter",
}


def uid(*name):
    return str(uuid.uuid5(uuid.NAMESPACE_OID, "/".join(map(str, name))))


class Log:
    """Writes records the way the client does: each hangs on the one before unless it is told another."""

    def __init__(self, parent=None, name="a"):
        self.records = []
        self.parent = parent
        self.name = name

    def put(self, kind, parent="", lead=True, **members):
        number = len(self.records)
        record = {
            "parentUuid": self.parent if parent == "" else parent,
            **COMMON,
            **members,
            "type": kind,
            "uuid": uid(self.name, number),
            "timestamp": f"2026-02-11T{9 + number // 3600:02d}:{number // 60 % 60:02d}:{number % 60:02d}.000Z",
        }
        self.records.append(record)
        if lead:
            self.parent = record["uuid"]
        return record["uuid"]

    def note(self, kind, **members):
        self.records.append({"type": kind, **members})

    def user(self, content, parent="", **members):
        return self.put("user", parent, message={"role": "user", "content": content}, **members)

    def says(self, answer, block, context=0, **members):
        usage = {
            "input_tokens": 3,
            "cache_creation_input_tokens": 812,
            "cache_read_input_tokens": context,
            "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 812},
            "output_tokens": 9,
            "service_tier": "standard",
        }
        about = {"model": "claude-opus-4-6", "id": f"msg_{answer}", "type": "message", "role": "assistant"}
        message = {**about, "content": [block], "stop_reason": None, "stop_sequence": None, "usage": usage}
        return self.put("assistant", message=message, requestId=f"req_{answer}", **members)

    def result(self, call, output, source, **members):
        block = {"tool_use_id": call, "type": "tool_result", "content": output}
        numbered = output.replace("  def", "\tdef")
        copy = {"type": "text", "file": {"filePath": "/home/user/shop/x.py", "content": numbered, "numLines": 30}}
        return self.user([block], source, sourceToolAssistantUUID=source, toolUseResult=copy, **members)

    def progress(self, kind, call):
        data = {"type": kind, "hookEvent": "PostToolUse", "hookName": "PostToolUse:Read", "command": "make lint"}
        return self.put("progress", lead=False, data=data, parentToolUseID=call, toolUseID=call)


def use(call, name, **arguments):
    return {"type": "tool_use", "id": call, "name": name, "input": arguments}


def say(text):
    return {"type": "text", "text": text}


def turn(log, number):
    """One turn: a thought, words, two parallel calls on lines of their own, results out of order, an answer."""
    words, tag = talk(number), f"{log.name}{number}"
    context = min(60_000 + number * 9_000, 168_000)  # the client compacts by itself at about 167,000
    log.note(
        "file-history-snapshot", messageId=uid(log.name, len(log.records) + 1), snapshot={}, isSnapshotUpdate=False
    )
    log.user(words["ask"], permissionMode="default")
    thought = {"type": "thinking", "thinking": f"Ticket of turn {number} first.", "signature": "c2lnbmF0dXJl"}
    log.says(tag, thought, context)
    log.says(tag, say(words["plan"]), context)
    read = log.says(tag, use(f"toolu_r{tag}", "Read", file_path=words["path"]), context)
    bash = log.says(tag, use(f"toolu_b{tag}", "Bash", command=f"make test-{number}"), context)
    log.progress("bash_progress", f"toolu_b{tag}")
    log.result(f"toolu_r{tag}", words["output"], read)
    log.progress("hook_progress", f"toolu_r{tag}")
    log.result(f"toolu_b{tag}", f"{10 + number} passed", bash)
    log.says(f"{tag}z", say(words["answer"]), context + 9_000)
    log.put("system", subtype="turn_duration", durationMs=1_234, isMeta=False)


def session(turns):
    log = Log()
    log.note("summary", summary="Tickets of the shop", leafUuid=uid("elsewhere"))
    log.note("queue-operation", operation="enqueue", timestamp="2026-02-11T08:59:59.000Z", sessionId=SESSION)
    listing = {"type": "skill_listing", "content": "- verify: run the app", "names": ["verify"]}
    log.put("attachment", attachment=listing)
    log.user("<local-command-caveat>Local commands follow.</local-command-caveat>", isMeta=True)
    log.put("system", subtype="local_command", content="<local-command-stdout>Set model</local-command-stdout>")
    for number in range(turns):
        turn(log, number)
    log.note("custom-title", customTitle="shop tickets", sessionId=SESSION)
    return log


def written(records):
    return b"".join(json.dumps(record, separators=(",", ":")).encode() + b"\n" for record in records)


def lines(turns):
    return written(session(turns).records)


def more_lines(content, turns):
    last = next(r for line in reversed(content.splitlines()) if "uuid" in (r := json.loads(line)))
    log = Log(last["uuid"], f"more-{last['uuid']}")
    for number in range(100, 100 + turns):
        turn(log, number)
    return content + written(log.records)


SAMPLE = Sample("claude-code", f"{SESSION}.jsonl", lines, more_lines)
