"""ShareGPT: turns for calls and results, Hermes trajectories, and turns with a role; as lines and as one array."""

import json

from tests.samples import Sample, talk

TOOLS = [{"name": "read_file", "description": "Read a file.", "parameters": {"type": "object", "properties": {}}}]


def plain(number):
    words = talk(number)
    call = {"name": "read_file", "arguments": {"path": words["path"]}}
    return [
        {"from": "human", "value": words["ask"]},
        {"from": "gpt", "value": words["plan"]},
        {"from": "function_call", "value": json.dumps(call)},
        {"from": "observation", "value": words["output"]},
        {"from": "gpt", "value": words["answer"]},
    ]


def tag(name, value):
    return f"<{name}>\n{json.dumps(value, ensure_ascii=False)}\n</{name}>"


def hermes(number):
    """Two calls at once, with both results in one turn."""
    words = talk(number)
    calls = [
        {"name": "read_file", "arguments": {"path": words["path"]}},
        {"name": "list_files", "arguments": {"path": "src"}},
    ]
    answers = [
        {"tool_call_id": f"call_{number}", "name": "read_file", "content": words["output"]},
        {"tool_call_id": f"call_{number}b", "name": "list_files", "content": {"files": [words["path"]], "total": 1}},
    ]
    thought = f"<think>\nTicket first: {words['plan']}\n</think>\n"
    return [
        {"from": "human", "value": words["ask"]},
        {"from": "gpt", "value": thought + "\n".join([words["plan"], *(tag("tool_call", c) for c in calls)])},
        {"from": "tool", "value": "\n".join(tag("tool_response", a) for a in answers)},
        {"from": "gpt", "value": f"<think>\n</think>\n{words['answer']}"},
    ]


def with_roles(number):
    words = talk(number)
    call = {"id": f"call_{number}", "type": "function", "function": {"name": "read_file", "arguments": ""}}
    call["function"]["arguments"] = json.dumps({"path": words["path"]})
    return [
        {"role": "user", "content": words["ask"]},
        {"role": "assistant", "content": words["plan"], "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call["id"], "content": words["output"]},
        {"role": "assistant", "content": words["answer"]},
    ]


def turns(spelling, number, first=0):
    return [turn for n in range(first, first + number) for turn in spelling(n)]


def row(number):
    value = {"id": "x-1", "system": "Be brief.", "conversations": turns(plain, number), "tools": json.dumps(TOOLS)}
    return json.dumps(value).encode() + b"\n"


def trajectory(number):
    system = f"You are a function calling model. <tools>{json.dumps(TOOLS)}</tools>"
    value = {
        "conversations": [{"from": "system", "value": system}, *turns(hermes, number)],
        "timestamp": "2026-03-01T10:00:00.000000",
        "model": "m",
        "completed": True,
    }
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"


def roles(number):
    system = {"role": "system", "content": "Be brief."}
    return json.dumps({"conversations": [system, *turns(with_roles, number)]}).encode() + b"\n"


def array(number):
    return json.dumps([{"conversations": turns(plain, number)}], indent=2).encode() + b"\n"


def more(spelling):
    def grown(content, number):
        value = json.loads(content)
        (value[0] if isinstance(value, list) else value)["conversations"] += turns(spelling, number, first=100)
        indent = 2 if isinstance(value, list) else None
        return json.dumps(value, ensure_ascii=False, indent=indent).encode() + b"\n"

    return grown


SAMPLES = [
    Sample("sharegpt", "conversations.jsonl", row, more(plain)),
    Sample("sharegpt", "trajectory_samples.jsonl", trajectory, more(hermes)),
    Sample("sharegpt", "roles.jsonl", roles, more(with_roles)),
    Sample("sharegpt", "conversations.json", array, more(plain), lines=False),
]
