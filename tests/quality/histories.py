"""Which long histories are there to put a rule into: agent sessions and chats, out of the shared transcripts?

A history is what `conpact` builds its instances from: messages with roles and texts, a system prompt, a token count
for each. Tool calls and their results keep their places. Tuning and reporting draw from different conversations.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

from tests.quality import arms
from tests.quality.probes import claude_code, loaded

SHARED = Path(__file__).resolve().parents[3] / "shared" / "transcripts"
LENGTH = 24_000  # tokens of a history; COMPINT has 100,000, which would take minutes
CODING, AIRLINE, CHATS = 2, 2, 3  # histories of each kind


def haystack(kind, name, messages):
    """Write messages as `conpact` wants a history."""
    tokens = [arms.COUNT(json.dumps(m, ensure_ascii=False)) for m in messages]
    return {
        "haystack_id": name,
        "source": kind,
        "system_prompt": "",
        "messages": messages,
        "message_tokens": tokens,
        "token_length": sum(tokens),
        "source_conversation_count": 1,
    }


def agents(seeds):
    """Coding sessions with real users, and support sessions with tools that follow on each other."""
    folder = SHARED / "claude-code"
    paths = [p for p in sorted(folder.glob("*.jsonl")) if p.stat().st_size > 500_000]
    found = [haystack("agent", p.stem[:8], _session(p)) for p in seeds.half(paths)[:CODING]]
    tau = SHARED / "openai-chat" / "tau-bench-airline.messages.jsonl"
    if not tau.is_file():
        return []
    airline = [loaded(line)["messages"] for line in tau.read_bytes().splitlines()]
    found += _joined("agent", "airline", seeds.half(airline), seeds, AIRLINE)
    return [h for h in found if h["token_length"] >= LENGTH // 2]


def chats(seeds):
    """Short chats without tools that follow on each other, as one long one with a user who keeps coming back."""
    path = SHARED / "openai-chat" / "llama-factory__v1_sft_demo.jsonl"
    if not path.is_file():
        return []
    every = [[_plain(m) for m in loaded(line)["messages"]] for line in path.read_bytes().splitlines()]
    return _joined("chat", "chats", seeds.half(every), seeds, CHATS)


def _joined(kind, name, conversations, seeds, count):
    found = []
    for n in range(count):
        dice = random.Random(f"{seeds.numbers[0]}/{kind}/{n}")
        messages, size = [{"role": "system", "content": "You are a helpful assistant."}], 0
        for conversation in dice.sample(conversations, len(conversations)):
            if size > LENGTH:
                break
            turns = [m for m in conversation if m["role"] != "system"]
            messages += turns
            size += arms.COUNT(json.dumps(turns, ensure_ascii=False))
        found.append(haystack(kind, f"{name}-{n}", messages))
    return found


def _plain(message):
    parts = message["content"]
    text = parts if isinstance(parts, str) else "".join(p.get("value") or p.get("text") or "" for p in parts)
    return {"role": message["role"], "content": text}


def _session(path):
    """Write a coding session as chat messages, from its raw records."""
    found = [{"role": "system", "content": "You are a coding agent."}]
    for deed in claude_code([loaded(line) for line in path.read_bytes().splitlines()]):
        if deed.kind == "asked":
            found.append({"role": "user", "content": deed.text})
        elif deed.kind == "said":
            found.append({"role": "assistant", "content": deed.text})
        elif deed.kind == "called":
            call = {"name": deed.name, "arguments": json.dumps(deed.given, ensure_ascii=False)}
            calls = [{"id": deed.ident, "type": "function", "function": call}]
            found.append({"role": "assistant", "content": None, "tool_calls": calls})
        elif found[-1].get("tool_calls") and found[-1]["tool_calls"][0]["id"] == deed.ident:
            found.append({"role": "tool", "tool_call_id": deed.ident, "content": deed.text})
    answered = {m["tool_call_id"] for m in found if m["role"] == "tool"}
    return [m for m in found if not m.get("tool_calls") or m["tool_calls"][0]["id"] in answered]
