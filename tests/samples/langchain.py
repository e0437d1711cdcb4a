"""LangChain messages in their three spellings, in lists a line, under a key, a message a line and as an array."""

import json

from tests.samples import Sample, talk

CLASSES = {"system": "SystemMessage", "human": "HumanMessage", "ai": "AIMessage", "tool": "ToolMessage"}


def message(kind, content, **more):
    base = {
        "content": content,
        "additional_kwargs": {},
        "response_metadata": {},
        "type": kind,
        "name": None,
        "id": None,
    }
    return kind, {**base, **more}


def turn(number):
    """Two calls at once, with copies where providers leave them, an artifact, and a failure every third time."""
    words = talk(number)
    calls = [
        {"name": "read_file", "args": {"path": words["path"]}, "id": f"call_{number}", "type": "tool_call"},
        {"name": "grep", "args": {"pattern": "total", "n": 1.50}, "id": f"call_{number}b", "type": "tool_call"},
    ]
    raw = [
        {"id": c["id"], "type": "function", "function": {"name": c["name"], "arguments": json.dumps(c["args"])}}
        for c in calls
    ]
    blocks = [{"type": "text", "text": words["plan"]}] + [
        {"type": "tool_use", "id": c["id"], "name": c["name"], "input": c["args"]} for c in calls
    ]
    usage = {"input_tokens": 9_000 + number, "output_tokens": 80, "total_tokens": 9_080 + number}
    found = f"{words['path']}:3: total"
    return [
        message("human", words["ask"]),
        message(
            "ai",
            blocks if number % 2 else words["plan"],
            tool_calls=calls,
            invalid_tool_calls=[],
            usage_metadata=usage,
            additional_kwargs={"tool_calls": raw, "reasoning_content": f"Ticket {number} first."},
        ),
        message("tool", words["output"], tool_call_id=calls[0]["id"], artifact={"text": words["output"]}),
        message("tool", found, tool_call_id=calls[1]["id"], status="error" if number % 3 == 0 else "success"),
        message("ai", words["answer"], tool_calls=[], invalid_tool_calls=[], id=f"run-{number}"),
    ]


def conversation(turns, first=0):
    opening = [] if first else [message("system", "You are a coding assistant. Be brief.")]
    return [*opening, *(m for number in range(first, first + turns) for m in turn(number))]


def nested(messages):
    return [{"type": kind, "data": body} for kind, body in messages]


def constructed(messages):
    module = ["langchain", "schema", "messages"]
    return [{"lc": 1, "type": "constructor", "id": [*module, CLASSES[kind]], "kwargs": body} for kind, body in messages]


def flat(messages):
    return [body for _, body in messages]


def under_a_key(turns):
    return json.dumps({"thread": "t1", "messages": nested(conversation(turns))}).encode() + b"\n"


def more_under_a_key(content, turns):
    value = json.loads(content)
    value["messages"] += nested(conversation(turns, first=100))
    return json.dumps(value).encode() + b"\n"


def bare(turns):
    """Two lists of which the second is too short for anything."""
    return json.dumps(constructed(conversation(turns))).encode() + b"\n"


def more_in_bare(content, turns):
    return json.dumps([*json.loads(content), *constructed(conversation(turns, first=100))]).encode() + b"\n"


def lines(turns):
    return b"".join(json.dumps(m).encode() + b"\n" for m in flat(conversation(turns)))


def more_lines(content, turns):
    return content + b"".join(json.dumps(m).encode() + b"\n" for m in flat(conversation(turns, first=100)))


def array(turns):
    return json.dumps(nested(conversation(turns)), indent=1).encode() + b"\n"


def more_in_array(content, turns):
    return json.dumps([*json.loads(content), *nested(conversation(turns, first=100))], indent=1).encode() + b"\n"


SAMPLES = [
    Sample("langchain", "threads.jsonl", under_a_key, more_under_a_key),
    Sample("langchain", "dumpd.jsonl", bare, more_in_bare, lines=False),
    Sample("langchain", "messages.jsonl", lines, more_lines),
    Sample("langchain", "history.json", array, more_in_array, lines=False),
]
