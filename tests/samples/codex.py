"""A session of Codex, with every kind of line that its files have."""

import json

from tests.samples import Sample, talk
from tests.samples.openai_responses import said, turn

META = {
    "id": "019a7ae6-1945-7c63-98f2-210adb922af9",
    "timestamp": "2026-03-01T09:00:00.000Z",
    "cwd": "/srv/shop",
    "originator": "codex_cli_rs",
    "cli_version": "0.104.0",
    "source": "cli",
    "model_provider": "openai",
    "base_instructions": {"text": "You are a coding agent running in a terminal."},
}
CONTEXT = {"cwd": "/srv/shop", "approval_policy": "on-request", "model": "gpt-5-codex", "effort": "high"}


def line(kind, payload, number=0, step=0):
    stamp = f"2026-03-01T{9 + number // 60 % 15:02d}:{number % 60:02d}:{step:02d}.000Z"
    return {"timestamp": stamp, "type": kind, "payload": payload}


def event(kind, number, step, **more):
    return line("event_msg", {"type": kind, **more}, number, step)


def session_turn(number):
    """The items of a turn among the events that repeat them, with a context and counts as the client writes them."""
    words = talk(number)
    items = turn(number)
    usage = {"input_tokens": 150_000 + number, "output_tokens": 90, "total_tokens": 150_090 + number}
    counted = event("token_count", number, 50, info={"total_token_usage": usage, "model_context_window": 258_400})
    return [
        line("response_item", items[0], number, 1),
        event("user_message", number, 1, message=words["ask"], images=[]),
        line("turn_context", CONTEXT, number, 2),
        event("agent_reasoning", number, 3, text=f"**Looking at turn {number}**"),
        *(line("response_item", item, number, 3 + n) for n, item in enumerate(items[1:-1])),
        counted,
        line("response_item", {"type": "ghost_snapshot", "ghost_commit": {"id": f"{number:040x}"}}, number, 51),
        line("response_item", items[-1], number, 52),
        event("agent_message", number, 52, message=words["answer"]),
    ]


def session(turns, first=0):
    opening = [
        line("session_meta", META),
        line("response_item", {"type": "message", "role": "user", "content": [
            {"type": "input_text", "text": "<environment_context>\n  <cwd>/srv/shop</cwd>\n</environment_context>"}]}),
    ]  # fmt: skip
    body = [one for number in range(first, first + turns) for one in session_turn(number)]
    return [*([] if first else opening), *body]


def written(lines):
    return b"".join(json.dumps(one, separators=(",", ":")).encode() + b"\n" for one in lines)


def long(turns):
    return written(session(turns))


def grown(content, turns):
    return content + written(session(turns, first=100))


def compacted_by_the_client(turns):
    """A session after a compaction of the client's own."""
    prefix = "Another language model started to solve this problem and produced a summary of its thinking process."
    asked = [item for number in range(turns) for item in turn(number)[:1]]
    summary = {"type": "message", "role": "user", "content": [
        {"type": "input_text", "text": f"{prefix}\n## Goal\nMend the shop."}]}  # fmt: skip
    mark = line("compacted", {"message": f"{prefix} ...", "replacement_history": [*asked, summary]}, turns)
    return written([*session(turns), mark, event("context_compacted", turns, 59), *session(2, first=200)])


__all__ = ["SAMPLE", "compacted_by_the_client", "grown", "long", "said"]
SAMPLE = Sample("codex", "rollout-2026-03-01T09-00-00-019a7ae6-1945-7c63-98f2-210adb922af9.jsonl", long, grown)
