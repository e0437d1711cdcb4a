"""Sessions of gemini-cli: JSON Lines as 0.61 writes them; `OLD` is the single object of versions before 0.40."""

import json

from tests.samples import Sample, talk

HASH = "6b1f0c3e9a7d4e52810c3b5f7a9e2d4c6b8f0a1e3d5c7b9f1a3e5d7c9b0f2a4e"
METADATA = {
    "sessionId": "2f6c1a90-4b7d-4e35-9c11-7d0a5e3b8f42",
    "projectHash": HASH,
    "startTime": "2026-11-30T09:00:00.000Z",
    "lastUpdated": "2026-11-30T09:00:00.000Z",
    "kind": "main",
}


def stamp(number, second):
    return f"2026-11-30T09:{number % 60:02d}:{second:02d}.000Z"


def record(number, second, kind, content, **more):
    name = f"{number:08x}-0000-4000-8000-{second:012x}"
    return {"id": name, "timestamp": stamp(number, second), "type": kind, "content": content, **more}


def user(number, text):
    return record(number, 0, "user", [{"text": text}])


def gemini(number, second, text, **more):
    """A reply whose token counts say that the conversation is huge."""
    total = 900_000 + 1_000 * (number % 50)
    tokens = {"input": total - 50, "output": 30, "cached": 0, "thoughts": 20, "tool": 0, "total": total}
    thoughts = [{"subject": "Weighing it", "description": "The file decides.", "timestamp": stamp(number, second)}]
    return record(number, second, "gemini", text, thoughts=thoughts, tokens=tokens, model="gemini-2.5-flash", **more)


def tool_call(number, name, words):
    output = f"{name}:\n{words['output']}"
    call_id = f"{name}-17685103{number:05d}-c85bc7ab6bf4a8"
    response = {"id": call_id, "name": name, "response": {"output": output}}
    return {
        "id": call_id,
        "name": name,
        "args": {"file_path": words["path"]},
        "result": [{"functionResponse": response}],
        "status": "success",
        "timestamp": stamp(number, 3),
        "resultDisplay": output,
        "description": words["path"],
        "displayName": name.title(),
        "renderOutputAsMarkdown": True,
    }


def messages(turns, first=0):
    """The records in their last versions; every third turn calls two tools at once."""
    found = []
    for number in range(first, first + turns):
        words = talk(number)
        names = ["read_file", "grep_search"] if number % 3 == 0 else ["read_file"]
        calls = [tool_call(number, name, words) for name in names]
        found += [
            user(number, words["ask"]),
            gemini(number, 2, words["plan"], toolCalls=calls),
            gemini(number, 4, words["answer"]),
        ]
        if number % 4 == 1:
            found.append(record(number, 5, "info", "Update available! 0.60.0 → 0.61.0"))
        if number % 4 == 2:
            found.append(record(number, 6, "user", [{"text": "/stats"}]))
    return found


def dumped(*values):
    return b"".join(json.dumps(v, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" for v in values)


def events(turns, first=0):
    """What the client appends: a reply first without its calls, and the time after every message."""
    for value in messages(turns, first):
        if "toolCalls" in value:
            yield {key: member for key, member in value.items() if key != "toolCalls"}
            yield {"$set": {"lastUpdated": value["timestamp"]}}
        yield value
        yield {"$set": {"lastUpdated": value["timestamp"]}}


def lines(turns):
    return dumped(METADATA, *events(turns))


def more_lines(content, turns):
    return content + dumped({"$set": {"sessionId": METADATA["sessionId"]}}, *events(turns, first=100))


def old(turns):
    return json.dumps({**METADATA, "messages": messages(turns)}, indent=2).encode()


def more_old(content, turns):
    value = json.loads(content)
    value["messages"] += messages(turns, first=100)
    return json.dumps(value, indent=2).encode()


SAMPLE = Sample("gemini-cli", "session.jsonl", lines, more_lines)
OLD = Sample("gemini-cli", "session.json", old, more_old, lines=False)
