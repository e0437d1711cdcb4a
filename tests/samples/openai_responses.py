"""Items of the Responses API: one a line, as requests, as lists a line and as one array."""

import json

from tests.samples import Sample, talk


def turn(number):
    """Reasoning before two calls at once; every third turn a search that the API ran itself and a patch."""
    words = talk(number)
    thought = {
        "id": f"rs_{number:04d}",
        "type": "reasoning",
        "summary": [{"type": "summary_text", "text": f"**Looking at turn {number}**"}],
        "encrypted_content": "gAAAA" + "x" * 40,
    }
    read = {"type": "function_call", "name": "shell", "call_id": f"call_{number}", "status": "completed",
            "arguments": json.dumps({"command": ["cat", words["path"]]})}  # fmt: skip
    patch = {"type": "custom_tool_call", "name": "apply_patch", "call_id": f"call_{number}p", "status": "completed",
             "input": f"*** Begin Patch\n*** Update File: {words['path']}\n+{number}\n***"}  # fmt: skip
    search = {
        "type": "web_search_call",
        "id": f"ws_{number}",
        "status": "completed",
        "action": {"type": "search", "query": "release"},
    }
    return [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": words["ask"]}]},
        thought,
        *([search] if number % 3 == 0 else []),
        said(words["plan"]),
        read,
        patch,
        {"type": "function_call_output", "call_id": read["call_id"], "output": words["output"]},
        {"type": "custom_tool_call_output", "call_id": patch["call_id"], "output": f"Success. M {words['path']}"},
        said(words["answer"]),
    ]


def said(text):
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}


def items(turns, first=0):
    return [item for number in range(first, first + turns) for item in turn(number)]


def lines(turns):
    return b"".join(json.dumps(item).encode() + b"\n" for item in items(turns))


def more_lines(content, turns):
    return content + b"".join(json.dumps(item).encode() + b"\n" for item in items(turns, first=100))


def request(turns):
    tools = [{"type": "function", "name": "shell", "parameters": {"type": "object"}}]
    value = {"model": "gpt", "instructions": "You are a coding agent.", "input": items(turns), "tools": tools}
    return json.dumps(value).encode() + b"\n"


def more_in_request(content, turns):
    value = json.loads(content)
    value["input"] += items(turns, first=100)
    return json.dumps(value).encode() + b"\n"


def array(turns):
    return json.dumps(items(turns), indent=2).encode() + b"\n"


def more_in_array(content, turns):
    return json.dumps([*json.loads(content), *items(turns, first=100)], indent=2).encode() + b"\n"


SAMPLES = [
    Sample("openai-responses", "items.jsonl", lines, more_lines),
    Sample("openai-responses", "requests.jsonl", request, more_in_request),
    Sample("openai-responses", "items.json", array, more_in_array, lines=False),
]
