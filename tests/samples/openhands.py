"""OpenHands events as version 1 of its SDK writes them: one a line; `instance` is a line of an evaluation."""

import json
from uuid import NAMESPACE_URL, uuid5

from tests.samples import Sample, talk

TOOLS = [
    {"kind": "TerminalTool", "name": "terminal", "description": "Runs a command in the shell of the workspace."},
    {"kind": "FileEditorTool", "name": "file_editor", "description": "Views and edits files of the workspace."},
]


def name(*words):
    return str(uuid5(NAMESPACE_URL, " ".join(map(str, words))))


def stamp(number, second):
    return f"2026-11-30T10:{number % 60:02d}:{second:02d}.000000"


def event(kind, source, number, second, **members):
    return {
        "id": name(kind, number, second, *members.get("tool_call_id", "")),
        "timestamp": stamp(number, second),
        "source": source,
        **members,
        "kind": kind,
    }


def text(words):
    return {"cache_prompt": False, "type": "text", "text": words}


def said(source, number, second, words):
    role = "user" if source == "user" else "assistant"
    inner = {"role": role, "content": [text(words)], "thinking_blocks": []}
    more = {"activated_skills": [], "extended_content": []}
    return event("MessageEvent", source, number, second, llm_message=inner, **more)


def action(number, call_id, tool, arguments, thought=""):
    return event(
        "ActionEvent",
        "agent",
        number,
        2,
        thought=[text(thought)] if thought else [],
        thinking_blocks=[],
        action={"kind": f"{tool.title()}Action", **arguments},
        tool_name=tool,
        tool_call_id=call_id,
        tool_call={"id": call_id, "name": tool, "arguments": json.dumps(arguments), "origin": "completion"},
        llm_response_id=f"chatcmpl-{number}",
        security_risk="LOW",
    )


def observation(done, number, output, **members):
    seen = {"content": [text(output)], "is_error": False, **members, "kind": f"{done['tool_name'].title()}Observation"}
    ties = {"tool_name": done["tool_name"], "tool_call_id": done["tool_call_id"], "action_id": done["id"]}
    return event("ObservationEvent", "environment", number, 3, observation=seen, **ties)


SYSTEM = event(
    "SystemPromptEvent",
    "agent",
    0,
    0,
    system_prompt=text("You are OpenHands, an assistant that works in a computer."),
    tools=TOOLS,
    dynamic_context=text("The workspace is /workspace/shop."),
)


def turn(number):
    """Every third turn calls two tools at once; state updates are of no concern to the model."""
    words = talk(number)
    view = {"command": "view", "path": words["path"]}
    reading = action(number, f"toolu_{number}a", "file_editor", view, words["plan"])
    testing = action(number, f"toolu_{number}b", "terminal", {"command": f"pytest -q {words['path']}"})
    ended = {"exit_code": number % 2, "working_dir": "/workspace/shop", "prefix": "", "suffix": ""}
    both = number % 3 == 0
    return [
        said("user", number, 1, words["ask"]),
        reading,
        *([testing] if both else []),
        observation(reading, number, words["output"], path=words["path"], new_content=words["output"]),
        *([observation(testing, number, words["output"][:900], metadata=ended)] if both else []),
        said("agent", number, 4, words["answer"]),
        event("ConversationStateUpdateEvent", "environment", number, 5, key="execution_status", value="finished"),
    ]


def events(turns, first=0):
    return [one for number in range(first, first + turns) for one in turn(number)]


def dumped(*values):
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def lines(turns):
    return dumped(SYSTEM, *events(turns))


def more_lines(content, turns):
    return content + dumped(*events(turns, first=100))


def instance(turns):
    members = {"instance_id": "shop__shop-12", "test_result": {"git_patch": ""}, "metrics": {"cost": 1.50}}
    return dumped({**members, "history": [SYSTEM, *events(turns)], "error": None})


def more_in_instance(content, turns):
    value = json.loads(content)
    value["history"] += events(turns, first=100)
    return dumped(value)


SAMPLE = Sample("openhands", "events.jsonl", lines, more_lines)
INSTANCE = Sample("openhands", "output.jsonl", instance, more_in_instance)
