"""OpenAI chat in both layouts."""

import json

from tests.samples import Sample, talk

SYSTEM = {"role": "system", "content": "You are a coding assistant. Be brief."}


def turn(number):
    words = talk(number)
    call = {"id": f"call_{number % 3}", "type": "function", "function": {"name": "read_file", "arguments": ""}}
    call["function"]["arguments"] = json.dumps({"path": words["path"]})
    return [
        {"role": "user", "content": words["ask"]},
        {"role": "assistant", "content": words["plan"], "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"call_{number % 3}", "content": words["output"]},
        {"role": "assistant", "content": words["answer"]},
    ]


def messages(turns, first=0):
    return [message for number in range(first, first + turns) for message in turn(number)]


def lines(turns):
    return b"".join(json.dumps(m).encode() + b"\n" for m in [SYSTEM, *messages(turns)])


def more_lines(content, turns):
    return content + b"".join(json.dumps(m).encode() + b"\n" for m in messages(turns, first=100))


def row(turns):
    return json.dumps({"id": 7, "messages": [SYSTEM, *messages(turns)], "reward": 1.50}).encode() + b"\n"


def more_in_row(content, turns):
    value = json.loads(content)
    value["messages"] += messages(turns, first=100)
    return json.dumps(value).encode() + b"\n"


SAMPLES = [
    Sample("openai-chat", "chat.jsonl", lines, more_lines),
    Sample("openai-chat", "chats.jsonl", row, more_in_row),
]
