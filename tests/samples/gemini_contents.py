"""Gemini contents: a saved chat (one array), one content a line, and a request a line."""

import json

from tests.samples import Sample, talk

CONTEXT = {"role": "user", "parts": [{"text": "<session_context>\nThe workspace is /srv/shop.\n</session_context>"}]}
READY = {"role": "model", "parts": [{"text": "Understood. What shall I do?"}]}


def turn(number):
    """Every third turn calls two tools at once; ids are there, repeated, or absent, as in the wild."""
    words = talk(number)
    names = ["read_file", "grep_search"] if number % 3 == 0 else ["read_file"]
    ids = {} if number % 3 == 1 else {"id": f"call{number % 4}"}
    calls = [
        {"functionCall": {**ids, "name": name, "args": {"file_path": words["path"]}}, "thoughtSignature": "c2lnbmVk"}
        for name in names
    ]
    answers = [
        {"functionResponse": {**ids, "name": name, "response": {"output": f"{name}:\n{words['output']}"}}}
        for name in names
    ]
    thought = {"text": f"**Looking at turn {number}** The path is known.", "thought": True}
    return [
        {"role": "user", "parts": [{"text": words["ask"]}]},
        {"role": "model", "parts": [thought, {"text": words["plan"]}, *calls]},
        {"role": "user", "parts": answers},
        {"role": "model", "parts": [{"text": words["answer"]}]},
    ]


def contents(turns, first=0):
    return [content for number in range(first, first + turns) for content in turn(number)]


def array(turns):
    return json.dumps([CONTEXT, READY, *contents(turns)], indent=2, ensure_ascii=False).encode() + b"\n"


def more_in_array(content, turns):
    return json.dumps([*json.loads(content), *contents(turns, first=100)], indent=2).encode() + b"\n"


def lines(turns):
    return b"".join(json.dumps(c).encode() + b"\n" for c in [CONTEXT, READY, *contents(turns)])


def more_lines(content, turns):
    return content + b"".join(json.dumps(c).encode() + b"\n" for c in contents(turns, first=100))


def request(turns):
    value = {
        "model": "models/gemini-2.5-flash",
        "systemInstruction": {"parts": [{"text": "You are a coding agent."}]},
        "contents": contents(turns),
        "tools": [{"functionDeclarations": [{"name": "read_file"}, {"name": "grep_search"}]}],
        "generationConfig": {"temperature": 1.0},
    }
    return json.dumps(value).encode() + b"\n"


def more_in_request(content, turns):
    value = json.loads(content)
    value["contents"] += contents(turns, first=100)
    return json.dumps(value).encode() + b"\n"


SAMPLES = [
    Sample("gemini-contents", "chat.json", array, more_in_array, lines=False),
    Sample("gemini-contents", "contents.jsonl", lines, more_lines),
    Sample("gemini-contents", "requests.jsonl", request, more_in_request),
]
