"""Items of OpenAI's Responses API: one a line, an array of them, and whole conversations as they were logged."""

import json

from tests.samples import Sample, talk


def message(role, text, **more):
    kind = "output_text" if role == "assistant" else "input_text"
    part = {"type": kind, "text": text} | ({"annotations": []} if role == "assistant" else {})
    return {"type": "message", "role": role, "content": [part], **more}


def turn(number):
    """One turn: thought, words, one call or two at once, a custom one, a search, an answer."""
    words = talk(number)
    names = [f"call_r{number}", f"call_g{number}"] if number % 3 == 0 else [f"call_r{number}"]
    summary = [{"type": "summary_text", "text": f"The ticket of turn {number} first."}]
    yield message("user", words["ask"])
    yield {"type": "reasoning", "id": f"rs_{number}", "summary": summary, "encrypted_content": "gAAAAAB" + "k3Jx" * 300}
    yield message("assistant", words["plan"], id=f"msg_p{number}", status="completed")
    for name in names:
        arguments = json.dumps({"path": words["path"]})
        yield {
            "type": "function_call",
            "id": f"fc_{name}",
            "call_id": name,
            "name": "read_file",
            "arguments": arguments,
        }
    for name in reversed(names):
        yield {"type": "function_call_output", "call_id": name, "output": f"{name}:\n{words['output']}"}
    if number % 4 == 1:
        patch = f"*** Begin Patch\n*** Update File: {words['path']}\n*** End Patch"
        yield {"type": "custom_tool_call", "call_id": f"call_c{number}", "name": "apply_patch", "input": patch}
        yield {"type": "custom_tool_call_output", "call_id": f"call_c{number}", "output": "Done!"}
    if number % 4 == 2:
        action = {"type": "search", "query": words["path"]}
        yield {"type": "web_search_call", "id": f"ws_{number}", "status": "completed", "action": action}
    yield message("assistant", words["answer"], id=f"msg_a{number}", status="completed")


def items(turns, first=0):
    return [item for number in range(first, first + turns) for item in turn(number)]


def dumped(values):
    return b"".join(json.dumps(v, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" for v in values)


def lines(turns):
    return dumped(items(turns))


def array(turns):
    return json.dumps(items(turns), indent=1).encode()


def more_array(content, turns):
    return json.dumps(json.loads(content) + items(turns, 100), indent=1).encode()


def exchange(turns):
    """A request with its answer, as a log holds them on one line."""
    listed = items(turns)
    about = {"id": "resp_1", "object": "response", "created_at": 1_796_029_200, "model": "gpt-5.2"}
    tool = {"type": "function", "name": "read_file", "parameters": {"type": "object"}}
    said = {"instructions": "Be brief.", "tools": [tool], "input": listed[:-1], "output": listed[-1:]}
    return dumped([about | said | {"usage": {"input_tokens": 200_000, "output_tokens": 90}}])


def more_exchange(content, turns):
    value = json.loads(content)
    value["input"] += value["output"] + items(turns, 100)
    value["output"] = [value["input"].pop()]
    return dumped([value])


SAMPLE = Sample("openai-responses", "items.jsonl", lines, lambda content, turns: content + dumped(items(turns, 100)))
ARRAY = Sample("openai-responses", "items.json", array, more_array, lines=False)
EXCHANGE = Sample("openai-responses", "exchanges.jsonl", exchange, more_exchange, lines=False)
SAMPLES = [SAMPLE, ARRAY, EXCHANGE]
