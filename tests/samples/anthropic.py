"""Anthropic Messages: one a line, as requests, and as one array."""

import json

from tests.samples import Sample, talk

SYSTEM = [{"type": "text", "text": "You are a coding assistant. Be brief.", "cache_control": {"type": "ephemeral"}}]
TOOLS = [
    {
        "name": "read_file",
        "description": "Read a file.",
        "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    },
    {"type": "web_search_20250305", "name": "web_search", "max_uses": 3},
]


def turn(number):
    """Two calls at once, one of which failed; every third turn a search that the API ran itself."""
    words = talk(number)
    use = {"type": "tool_use", "id": f"toolu_{number:03d}", "name": "read_file", "input": {"path": words["path"]}}
    more = {"type": "tool_use", "id": f"toolu_{number:03d}b", "name": "read_file", "input": {"path": "none.py"}}
    out = {"type": "tool_result", "tool_use_id": use["id"], "content": words["output"], "is_error": False}
    failed = {"type": "tool_result", "tool_use_id": more["id"], "content": "no such file", "is_error": True}
    thinking = {"type": "thinking", "thinking": f"Ticket first: {words['plan']}", "signature": f"c2lnbmVk{number:04d}"}
    said = {"type": "text", "text": words["plan"]}
    return [
        {"role": "user", "content": words["ask"]},
        {"role": "assistant", "content": [thinking, *(searched(number) if number % 3 == 0 else []), said, use, more]},
        {"role": "user", "content": [out, failed]},
        {"role": "assistant", "content": [{"type": "text", "text": words["answer"]}]},
    ]


def searched(number):
    found = {"type": "web_search_result", "url": f"https://docs.example/{number}", "title": f"Release {number}"}
    call_id = f"srvtoolu_{number:03d}"
    return [
        {"type": "server_tool_use", "id": call_id, "name": "web_search", "input": {"query": f"release {number}"}},
        {"type": "web_search_tool_result", "tool_use_id": call_id, "content": [{**found, "encrypted_content": "Eqgf"}]},
    ]


def messages(turns, first=0):
    return [message for number in range(first, first + turns) for message in turn(number)]


def lines(turns):
    return b"".join(json.dumps(m).encode() + b"\n" for m in messages(turns))


def more_lines(content, turns):
    return content + b"".join(json.dumps(m).encode() + b"\n" for m in messages(turns, first=100))


def request(turns):
    value = {"model": "claude", "max_tokens": 1024, "system": SYSTEM, "tools": TOOLS, "messages": messages(turns)}
    return json.dumps(value).encode() + b"\n"


def more_in_request(content, turns):
    value = json.loads(content)
    value["messages"] += messages(turns, first=100)
    return json.dumps(value).encode() + b"\n"


def array(turns):
    return json.dumps(messages(turns), indent=2).encode() + b"\n"


def more_in_array(content, turns):
    return json.dumps([*json.loads(content), *messages(turns, first=100)], indent=2).encode() + b"\n"


SAMPLES = [
    Sample("anthropic", "messages.jsonl", lines, more_lines),
    Sample("anthropic", "requests.jsonl", request, more_in_request),
    Sample("anthropic", "messages.json", array, more_in_array, lines=False),
]
