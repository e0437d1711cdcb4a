"""LangChain messages in its three spellings: a turn a line, a conversation a line, and an array."""

import json

from tests.samples import Sample, talk

SYSTEM = ("system", {"content": "You are a coding assistant. Be brief."})
CLASSES = {"human": "HumanMessage", "ai": "AIMessage", "system": "SystemMessage", "tool": "ToolMessage"}


def turn(number):
    words = talk(number)
    call_id = f"call_{number % 3}"
    args = {"path": words["path"]}
    raw = {"id": call_id, "type": "function", "function": {"name": "read_file", "arguments": json.dumps(args)}}
    usage = {"input_tokens": 9_000 + number, "output_tokens": 20, "total_tokens": 9_020 + number}
    planned = {
        "content": [{"type": "text", "text": words["plan"]}] if number % 2 else words["plan"],
        "additional_kwargs": {"tool_calls": [raw], "refusal": None},
        "response_metadata": {"model_name": "gpt-4o", "finish_reason": "tool_calls"},
        "id": f"run-{number}-0",
        "tool_calls": [{"name": "read_file", "args": args, "id": call_id, "type": "tool_call"}],
        "invalid_tool_calls": [],
        "usage_metadata": usage,
    }
    answer = {"tool_call_id": call_id, "name": "read_file", "status": "success", "artifact": {"lines": 30}}
    return [
        ("human", {"content": words["ask"], "additional_kwargs": {}, "response_metadata": {}, "example": False}),
        ("ai", planned),
        ("tool", {"content": words["output"], **answer}),
        ("ai", {"content": words["answer"], "tool_calls": [], "invalid_tool_calls": []}),
    ]


def messages(turns, first=0):
    return [message for number in range(first, first + turns) for message in turn(number)]


def data(kind, members):
    return {"type": kind, "data": {**members, "type": kind}}


def flat(kind, members):
    return {**members, "type": kind}


def constructor(kind, members):
    path = ["langchain", "schema", "messages", CLASSES[kind]]
    return {"lc": 1, "type": "constructor", "id": path, "kwargs": {**members, "type": kind}}


def spelt(spelling, found):
    return [spelling(kind, members) for kind, members in found]


def lines(turns):
    return b"".join(json.dumps(m).encode() + b"\n" for m in spelt(data, [SYSTEM, *messages(turns)]))


def more_lines(content, turns):
    return content + b"".join(json.dumps(m).encode() + b"\n" for m in spelt(data, messages(turns, first=100)))


def row(turns):
    return json.dumps({"messages": spelt(constructor, [SYSTEM, *messages(turns)]), "thread": 1.50}).encode() + b"\n"


def more_in_row(content, turns):
    value = json.loads(content)
    value["messages"] += spelt(constructor, messages(turns, first=100))
    return json.dumps(value).encode() + b"\n"


def array(turns):
    return json.dumps(spelt(flat, [SYSTEM, *messages(turns)]), indent=1).encode()


def more_in_array(content, turns):
    return json.dumps([*json.loads(content), *spelt(flat, messages(turns, first=100))], indent=1).encode()


SAMPLES = [
    Sample("langchain", "messages.jsonl", lines, more_lines),
    Sample("langchain", "threads.jsonl", row, more_in_row),
    Sample("langchain", "history.json", array, more_in_array, lines=False),
]
