"""Codex sessions: as 0.58 wrote them, and as 0.171 does, with every kind of record that real ones have."""

import json
import uuid

from tests.samples import Sample, talk

SESSION = "019a7ae6-77aa-7c63-98f2-0c5d1e2f3a4b"
META = {
    "id": SESSION,
    "timestamp": "2026-11-30T09:00:00.000Z",
    "cwd": "/home/user/shop",
    "originator": "codex_cli_rs",
    "source": "cli",
    "model_provider": "stand-in",
}
WINDOW = 258_400


def stamp(number, second):
    return f"2026-11-30T{9 + number // 60:02d}:{number % 60:02d}:{second:02d}.000Z"


def record(number, second, kind, payload, **more):
    return {"timestamp": stamp(number, second), "type": kind, "payload": payload, **more}


def message(role, *texts, **more):
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text} for text in texts], **more}


def call(name, call_id, **arguments):
    return {"type": "function_call", "name": name, "arguments": json.dumps(arguments), "call_id": call_id}


def output(call_id, text):
    return {"type": "function_call_output", "call_id": call_id, "output": text}


def thought(text):
    sealed = "gAAAAAB" + uuid.uuid5(uuid.NAMESPACE_OID, text).hex * 40
    summary = [{"type": "summary_text", "text": f"**{text}**"}]
    return {"type": "reasoning", "summary": summary, "content": None, "encrypted_content": sealed}


def counted(number):
    """The count of tokens after an answer, which says that the context is all but full."""
    last = {"input_tokens": 250_000 + number, "cached_input_tokens": 240_000, "output_tokens": 400}
    last |= {"reasoning_output_tokens": 300, "total_tokens": 250_400 + number}
    total = {key: value * (number + 1) for key, value in last.items()}
    info = {"total_token_usage": total, "last_token_usage": last, "model_context_window": WINDOW}
    return {"type": "token_count", "info": info, "rate_limits": None}


CONTEXT = {
    "cwd": "/home/user/shop",
    "approval_policy": "on-request",
    "sandbox_policy": {"mode": "workspace-write", "network_access": False},
    "model": "gpt-5.1-codex",
    "effort": "high",
    "summary": "auto",
}
AGENTS = (
    "# AGENTS.md instructions for /home/user/shop\n\n<INSTRUCTIONS>\nRun make check before a commit.\n</INSTRUCTIONS>"
)
ENVIRONMENT = "<environment_context>\n  <cwd>/home/user/shop</cwd>\n  <shell>bash</shell>\n</environment_context>"


def old_turn(number):
    """One turn as 0.58 wrote it: its context again after each answer, a patch, two calls at once every third turn."""
    words = talk(number)
    answers = [[("shell", f"call_a{number}"), ("shell", f"call_b{number}")] if number % 3 == 0 else []]
    answers[0] = answers[0] or [("shell", f"call_a{number}")]
    yield "response_item", message("user", words["ask"])
    yield "event_msg", {"type": "user_message", "message": words["ask"], "images": []}
    yield "turn_context", CONTEXT
    yield "event_msg", {"type": "agent_reasoning", "text": "**Reading the module**"}
    yield "response_item", thought(f"Reading the module {number}")
    yield "event_msg", {"type": "agent_message", "message": words["plan"]}
    yield "response_item", message("assistant", words["plan"])
    for name, call_id in answers[0]:
        yield "response_item", call(name, call_id, command=["bash", "-lc", f"cat {words['path']}"], workdir="/home")
    for _, call_id in answers[0]:
        said = {"output": f"{call_id}\n{words['output']}", "metadata": {"exit_code": 0, "duration_seconds": 0.2}}
        yield "response_item", output(call_id, json.dumps(said))
    yield "turn_context", CONTEXT
    yield "event_msg", counted(number)
    if number % 4 == 1:
        patch = f"*** Begin Patch\n*** Update File: {words['path']}\n+# {number}\n*** End Patch"
        custom = {
            "type": "custom_tool_call",
            "status": "completed",
            "call_id": f"call_p{number}",
            "name": "apply_patch",
        }
        done = {"output": f"Success. Updated the following files:\nM {words['path']}\n", "metadata": {"exit_code": 0}}
        yield "response_item", thought(f"Patching {number}")
        yield "response_item", custom | {"input": patch}
        answer = {"type": "custom_tool_call_output", "call_id": f"call_p{number}", "output": json.dumps(done)}
        yield "response_item", answer
        yield "turn_context", CONTEXT
    yield "event_msg", {"type": "agent_message", "message": words["answer"]}
    yield "event_msg", counted(number)
    yield "response_item", thought(f"Closing {number}")
    yield "response_item", message("assistant", words["answer"])


def old_records(turns, first=0):
    for number in range(first, first + turns):
        yield from (record(number, second, *told) for second, told in enumerate(old_turn(number)))


def old_session(turns):
    ghost = {"id": "e0f6f4354ede444f2452cdf24a0efdeaf1f98263", "parent": None, "preexisting_untracked_files": [".env"]}
    yield record(0, 0, "session_meta", META | {"cli_version": "0.58.0", "instructions": "Be brief."})
    yield record(0, 0, "response_item", message("user", AGENTS))
    yield record(0, 0, "response_item", message("user", ENVIRONMENT))
    yield from list(old_records(1))
    yield record(0, 59, "response_item", {"type": "ghost_snapshot", "ghost_commit": ghost})
    yield from old_records(turns - 1, 1)


# 0.171


def new_turn(number):
    """One turn as 0.171 writes it: everything names its turn, and parallel results come out of order."""
    words, turn = talk(number), str(uuid.uuid5(uuid.NAMESPACE_OID, f"turn {number}"))
    passed = {"internal_chat_message_metadata_passthrough": {"turn_id": turn}}
    text = f"Chunk ID: {number:06x}\nWall time: 0.2 seconds\nProcess exited with code 0\nOutput:\n{words['output']}"
    ended = {
        "type": "exec_command_end",
        "call_id": f"call_a{number}",
        "turn_id": turn,
        "command": ["bash"],
        "exit_code": 0,
    }
    done = {"type": "task_complete", "turn_id": turn, "last_agent_message": words["answer"], "duration_ms": 900}
    begun = {"type": "task_started", "turn_id": turn, "started_at": 1_796_029_200 + number}
    yield "event_msg", begun | {"model_context_window": WINDOW, "collaboration_mode_kind": "default"}
    yield "turn_context", CONTEXT | {"turn_id": turn, "current_date": "2026-11-30", "timezone": "Etc/UTC"}
    yield "world_state", {"full": number % 100 == 0, "state": {"collaboration_mode": {"mode": "default"}}}
    yield "response_item", message("user", words["ask"], id=f"msg_u{number}", **passed)
    yield "event_msg", {"type": "user_message", "message": words["ask"], "images": [], "local_images": []}
    yield "event_msg", {"type": "agent_reasoning", "text": "**Reading the module**"}
    yield "response_item", thought(f"Reading the module {number}") | {"id": f"rs_{number}"} | passed
    yield "event_msg", {"type": "agent_message", "message": words["plan"], "phase": "commentary"}
    yield "response_item", message("assistant", words["plan"], id=f"msg_p{number}", phase="commentary", **passed)
    yield "response_item", call("exec_command", f"call_a{number}", cmd=f"cat {words['path']}") | passed
    yield "response_item", call("exec_command", f"call_b{number}", cmd=f"make test-{number}") | passed
    yield "response_item", output(f"call_b{number}", f"Process exited with code 0\nOutput:\n{10 + number} passed")
    yield "event_msg", ended | {"stdout": words["output"], "aggregated_output": words["output"], "stderr": ""}
    yield "response_item", output(f"call_a{number}", text) | passed
    if number % 4 == 1:
        action = {"type": "search", "query": f"{words['path']} pytest"}
        yield "response_item", {"type": "web_search_call", "status": "completed", "action": action} | passed
    usage = counted(number)["info"]["last_token_usage"]
    yield "token_usage_record", {"thread_id": SESSION, "turn_id": turn, "response_id": f"resp_{number}", "usage": usage}
    yield "event_msg", counted(number)
    yield "event_msg", {"type": "agent_message", "message": words["answer"], "phase": "final_answer"}
    yield "response_item", message("assistant", words["answer"], id=f"msg_f{number}", phase="final_answer", **passed)
    yield "event_msg", done


def new_records(turns, first=0):
    for number in range(first, first + turns):
        told = enumerate(new_turn(number))
        yield from (
            record(
                number, second, kind, payload, **({"metadata": {"history_sequence": second}} if "item" in kind else {})
            )
            for second, (kind, payload) in told
        )


def new_session(turns):
    meta = META | {"session_id": SESSION, "cli_version": "0.171.0", "base_instructions": {"text": "Be brief."}}
    yield record(0, 0, "session_meta", meta)
    developer = message("developer", "<permissions instructions>\nread-only\n</permissions instructions>", "<skills>")
    yield record(0, 0, "response_item", developer)
    yield record(0, 0, "response_item", message("user", AGENTS, ENVIRONMENT))
    yield from new_records(turns)


def written(records):
    return b"".join(json.dumps(r, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" for r in records)


SAMPLE = Sample(
    "codex",
    "rollout-0.58.jsonl",
    lambda turns: written(old_session(turns)),
    lambda content, turns: content + written(old_records(turns, 100)),
)
NEW = Sample(
    "codex",
    "rollout-0.171.jsonl",
    lambda turns: written(new_session(turns)),
    lambda content, turns: content + written(new_records(turns, 100)),
)
SAMPLES = [SAMPLE, NEW]
