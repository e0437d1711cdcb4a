"""Do the real clients go on from a session that was compacted, and what do they then send to their model?

Run by `make resume-check`, not by pytest: it installs the clients from npm (pinned) and takes minutes. Each runs in a
home of its own against a stand-in for its model on loopback, resumes a session and is asked one short thing. Every
function `check_...` gives outcomes; `main` prints them and fails if one is not as it must be.
"""

import hashlib
import http.server
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from compactor.core.handoff import PREFIX
from tests.running import compactor
from tests.samples import claude_code, codex, gemini_cli, pi

CLIENTS = Path(tempfile.gettempdir()) / "compactor-resume-clients"
ASKED = "reply OK"


@dataclass(frozen=True)
class Outcome:
    """What a client sent after it resumed: how many requests, the turns of the last one, and what is wrong with it."""

    client: str
    case: str
    requests: int
    shape: str
    wrong: tuple[str, ...]


@dataclass(frozen=True)
class Sent:
    """One turn of a request: its role, its words, and the ids of calls and results in it."""

    role: str
    text: str
    calls: tuple[str, ...] = ()
    results: tuple[str, ...] = ()


def judged(client, case, requests, tail):
    """Make the outcome of the requests that a client sent, each a list of turns; `tail` has to be in the last one."""
    turns = requests[-1] if requests else []
    calls, results = [c for t in turns for c in t.calls], [r for t in turns for r in t.results]
    text = "\n".join(t.text for t in turns)
    laws = {
        "it sends one request (a second one would be a compaction)": len(requests) == 1,
        "the handoff is in it, once": text.count(PREFIX) == 1,
        "the tail is in it": tail in text,
        "the question is last": bool(turns) and turns[-1].text.endswith(ASKED),
        "every call has its one result, and no result is without": sorted(calls) == sorted(results),
        "roles alternate": all(a.role != b.role for a, b in pairwise(turns)),
    }
    shape = " ".join(_brief(t) for t in turns)
    return Outcome(client, case, len(requests), shape, tuple(law for law, held in laws.items() if not held))


def _brief(turn):
    marks = "H" * (PREFIX in turn.text) + "c" * len(turn.calls) + "r" * len(turn.results)
    return turn.role + (f"({marks})" if marks else "")


def installed(package, name):
    """Install a client once and give its program."""
    folder = CLIENTS / re.sub(r"\W+", "-", package).strip("-")
    program = folder / "node_modules" / ".bin" / name
    if not program.exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text("{}")
        install = ["npm", "install", "--silent", "--no-fund", "--no-audit", package]
        subprocess.run(install, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return program


Answer = Callable[[str, dict[str, object]], tuple[str, bytes]]


@contextmanager
def model(answer: Answer) -> Iterator[tuple[str, list[tuple[str, dict[str, object]]]]]:
    """Stand in for a model: `answer(path, body)` gives type and bytes; yields the address and what was asked."""
    asked: list[tuple[str, dict[str, object]]] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
            asked.append((self.path, body))
            kind, content = answer(self.path, body)
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
    finally:
        server.shutdown()


def compacted(folder, content, name, native):
    """Compact a session by the command line, in a window that leaves about two turns, and give the bytes."""
    folder.mkdir()
    (folder / name).write_bytes(content)
    options = ("--force", "--context-window", "8000", "--native", native, "--summarizer", "extractive")
    done = compactor(folder, "compact", name, "-o", "out", "--state-dir", "state", *options)
    assert done.code == 0, done.said
    return (folder / "out" / name if (folder / "out").is_dir() else folder / "out").read_bytes()


# gemini-cli


def check_gemini():
    """Resume by rewrite and append, the old layout, and once more what the client itself has then made of it."""
    tail = "Done with search in turn 13"
    again = "Done with cache in turn 113"
    with tempfile.TemporaryDirectory() as name:
        room = Path(name)
        for native in ("rewrite", "append"):
            content = compacted(room / native, gemini_cli.lines(14), "session.jsonl", native)
            requests, written = resume_gemini(room / f"{native}-home", content, "jsonl")
            yield judged("gemini-cli", native, requests, tail)
            grown = gemini_cli.more_lines(written, 14)
            content = compacted(room / f"{native}-again", grown, "session.jsonl", native)
            requests, _ = resume_gemini(room / f"{native}-again-home", content, "jsonl")
            yield judged("gemini-cli", f"{native}, resumed, {native}", requests, again)
        content = compacted(room / "old", gemini_cli.old(14), "session.json", "rewrite")
        requests, _ = resume_gemini(room / "old-home", content, "json")
        yield judged("gemini-cli", "rewrite of the old layout", requests, tail)


def resume_gemini(home, content, ending):
    """Resume a session in gemini-cli; the requests that it sends, and the session as it then stands in its file."""
    program = installed("@google/gemini-cli@0.61.0", "gemini")
    work, chats = home / "work", home / ".gemini" / "tmp" / "work" / "chats"
    work.mkdir(parents=True)
    chats.mkdir(parents=True)
    owner = hashlib.sha256(str(work).encode()).hexdigest()
    session = chats / f"session-2026-11-30T09-00-{gemini_cli.METADATA['sessionId'][:8]}.{ending}"
    session.write_bytes(content.replace(gemini_cli.HASH.encode(), owner.encode()))
    (home / ".gemini" / "projects.json").write_text(json.dumps({"projects": {str(work): "work"}}))
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False},
        "telemetry": {"enabled": False},
    }
    (home / ".gemini" / "settings.json").write_text(json.dumps(settings))
    with model(_gemini_answer) as (address, asked):
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "GEMINI_API_KEY": "none",
            "GOOGLE_GEMINI_BASE_URL": address,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        }
        command = [program, "-m", "gemini-2.5-flash", "--resume", gemini_cli.METADATA["sessionId"], "-p", ASKED]
        done = subprocess.run(
            command,
            check=False,
            cwd=work,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=180,
        )
    requests = [_gemini_turns(body) for path, body in asked if "enerateContent" in path]
    if not requests:
        print(done.stdout + done.stderr, file=sys.stderr)
    written = chats / session.with_suffix(".jsonl").name
    return requests, written.read_bytes().replace(owner.encode(), gemini_cli.HASH.encode())


def _gemini_answer(path, _):
    if "countTokens" in path:
        return "application/json", b'{"totalTokens": 1000}'
    answer = {
        "candidates": [{"content": {"role": "model", "parts": [{"text": "OK"}]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 1000, "candidatesTokenCount": 5, "totalTokenCount": 1005},
    }
    if "stream" in path:
        return "text/event-stream", b"data: " + json.dumps(answer).encode() + b"\n\n"
    return "application/json", json.dumps(answer).encode()


def _gemini_turns(body):
    return [
        Sent(
            content["role"],
            "\n".join(part.get("text", "") for part in content["parts"]).strip(),
            tuple(part["functionCall"]["id"] for part in content["parts"] if "functionCall" in part),
            tuple(part["functionResponse"]["id"] for part in content["parts"] if "functionResponse" in part),
        )
        for content in body["contents"]
    ]


# Claude Code


def check_claude():
    """Resume by rewrite and append, and once more what the client itself has then made of it."""
    tail = "Done with search in turn 13"
    again = "Done with cache in turn 113"
    with tempfile.TemporaryDirectory() as name:
        room = Path(name)
        for native in ("rewrite", "append"):
            content = compacted(room / native, claude_code.lines(14), claude_code.SAMPLE.file, native)
            requests, written = resume_claude(room / f"{native}-home", content)
            yield judged("Claude Code", native, requests, tail)
            grown = claude_code.more_lines(written, 14)
            content = compacted(room / f"{native}-again", grown, claude_code.SAMPLE.file, native)
            requests, _ = resume_claude(room / f"{native}-again-home", content)
            yield judged("Claude Code", f"{native}, resumed, {native}", requests, again)


def resume_claude(home, content):
    """Resume a session in Claude Code; the requests that it sends, and the session as it then stands in its file."""
    program = installed("@anthropic-ai/claude-code@2.1.197", "claude")
    work = home / "work"
    work.mkdir(parents=True)
    folder = home / ".claude" / "projects" / re.sub(r"[^A-Za-z0-9]", "-", str(work))
    folder.mkdir(parents=True)
    session = folder / claude_code.SAMPLE.file
    session.write_bytes(content)
    with model(_claude_answer) as (address, asked):
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "ANTHROPIC_BASE_URL": address,
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
        }
        command = [program, "-p", "--resume", claude_code.SESSION, ASKED]
        done = subprocess.run(
            command,
            check=False,
            cwd=work,
            env=environment,
            capture_output=True,
            text=True,
            timeout=180,
            stdin=subprocess.DEVNULL,
        )
    requests = [_claude_turns(body) for path, body in asked if path.split("?")[0].endswith("/v1/messages")]
    if not requests:
        print(done.stdout + done.stderr, file=sys.stderr)
    return requests, session.read_bytes()


def _claude_answer(path, body):
    if "count_tokens" in path:
        return "application/json", b'{"input_tokens": 1000}'
    usage = {"input_tokens": 1000, "output_tokens": 5, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    words = {"type": "text", "text": "OK"}
    answer = {"id": "msg_stand_in", "type": "message", "role": "assistant", "model": body.get("model"), "usage": usage}
    answer |= {"content": [], "stop_reason": None, "stop_sequence": None}
    if not body.get("stream"):
        return "application/json", json.dumps(answer | {"content": [words], "stop_reason": "end_turn"}).encode()
    events: list[dict[str, object]] = [
        {"type": "message_start", "message": answer},
        {"type": "content_block_start", "index": 0, "content_block": words | {"text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "OK"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    ]
    lines = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]
    return "text/event-stream", "".join(lines).encode()


def _claude_turns(body):
    turns = []
    for message in body["messages"]:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        turns.append(
            Sent(
                message["role"],
                "\n".join(block["text"] for block in blocks if block["type"] == "text").strip(),
                tuple(block["id"] for block in blocks if block["type"] == "tool_use"),
                tuple(block["tool_use_id"] for block in blocks if block["type"] == "tool_result"),
            )
        )
    return turns


# Codex


def check_codex():
    """Resume both layouts by rewrite and append, and once more what the client itself has then made of it."""
    tail = "Done with search in turn 13"
    again = "Done with cache in turn 113"
    back = codex.record(13, 59, "event_msg", {"type": "thread_rolled_back", "num_turns": 1})
    with tempfile.TemporaryDirectory() as name:
        room = Path(name)
        for native in ("rewrite", "append"):
            for sample in codex.SAMPLES:
                case = f"{native}, {sample.file.removesuffix('.jsonl')}"
                place = room / case
                content = compacted(place, sample.long(14), sample.file, native)
                requests, written = resume_codex(place / "home", content)
                yield judged("Codex", case, requests, tail)
                content = compacted(place / "again", sample.grown(written, 14), sample.file, native)
                requests, _ = resume_codex(place / "again-home", content)
                yield judged("Codex", f"{case}, resumed, {native}", requests, again)
            place = room / f"{native}, back"
            content = compacted(place, codex.NEW.long(14) + codex.written([back]), codex.NEW.file, native)
            requests, _ = resume_codex(place / "home", content)
            yield judged("Codex", f"{native}, a turn taken back", requests, "Done with billing in turn 12")


def resume_codex(home, content):
    """Resume a session in Codex; the requests that it sends, and the session as it then stands in its file."""
    program = installed("@openai/codex@0.171.0", "codex")
    work, folder = home / "work", home / ".codex" / "sessions" / "2026" / "11" / "30"
    work.mkdir(parents=True)
    folder.mkdir(parents=True)
    session = folder / f"rollout-2026-11-30T09-00-00-{codex.SESSION}.jsonl"
    session.write_bytes(content)
    with model(_codex_answer) as (address, asked):
        provider = codex.META["model_provider"]
        (home / ".codex" / "config.toml").write_text(
            f"""
model = "stand-in-1"
model_provider = "{provider}"
approval_policy = "never"
sandbox_mode = "read-only"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.{provider}]
name = "stand-in"
base_url = "{address}/v1"
wire_api = "responses"
requires_openai_auth = false
"""
        )
        done = subprocess.run(
            [program, "exec", "--skip-git-repo-check", "resume", codex.SESSION, ASKED],
            check=False,
            cwd=work,
            env={"PATH": os.environ["PATH"], "HOME": str(home), "CODEX_HOME": str(home / ".codex")},
            capture_output=True,
            text=True,
            timeout=180,
            stdin=subprocess.DEVNULL,
        )
    requests = [_codex_turns(body) for path, body in asked if path.endswith("/responses")]
    if not requests:
        print(done.stdout + done.stderr, file=sys.stderr)
    return requests, session.read_bytes()


def _codex_answer(_, body):
    words = {"type": "output_text", "text": "OK", "annotations": []}
    item = {"type": "message", "id": "msg_stand_in", "status": "completed", "role": "assistant", "content": [words]}
    usage = {"input_tokens": 1000, "output_tokens": 5, "total_tokens": 1005}
    usage |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    answer = {"id": "resp_stand_in", "object": "response", "status": "completed", "model": body.get("model")}
    events: list[dict[str, object]] = [
        {"type": "response.created", "response": answer | {"status": "in_progress", "output": []}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": answer | {"output": [item], "usage": usage}},
    ]
    lines = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]
    return "text/event-stream", "".join(lines).encode()


def _codex_turns(body):
    """Give the items of one speaker in a row as one turn: this API takes them in any order."""
    turns = []
    for item in body["input"]:
        kind, ids = item["type"], (item.get("call_id", ""),)
        role = "tool" if kind.endswith("_output") else item.get("role", "assistant")
        text = "\n".join(part.get("text", "") for part in item.get("content") or [])
        called = ids if kind in ("function_call", "custom_tool_call") else ()
        one = Sent(role, text, called, ids if role == "tool" else ())
        if turns and turns[-1].role == role:
            last = turns.pop()
            one = Sent(role, f"{last.text}\n{text}".strip(), last.calls + called, last.results + one.results)
        turns.append(one)
    return turns


# pi

PI_WINDOW = 64_000  # far less than the sessions say that their context has: pi compacts at once if it believes them
REAL_PI = Path(__file__).resolve().parents[2] / "shared" / "transcripts" / "pi"


def check_pi():
    """Resume both versions by rewrite and append, once more what pi itself has then made of it, and real sessions."""
    tail = "Done with search in turn 13"
    again = "Done with cache in turn 113"
    with tempfile.TemporaryDirectory() as name:
        room = Path(name)
        for version in (3, 1):
            for native in ("rewrite", "append"):
                case = f"{native} of version {version}"
                content = compacted(room / case, pi.lines(14, version), pi.SAMPLE.file, native)
                requests, written = resume_pi(room / f"{case}-home", content)
                yield judged_pi(case, requests, tail)
                content = compacted(room / f"{case}-again", pi.more_lines(written, 14), pi.SAMPLE.file, native)
                requests, _ = resume_pi(room / f"{case}-again-home", content)
                yield judged_pi(f"{case}, twice", requests, again)
            # In this tail results are stubbed, so copies of it follow the mark.
            case = f"append of version {version}, copies"
            content = compacted(room / case, pi.lines(10, version), pi.SAMPLE.file, "append")
            assert b'"compaction"' not in content.splitlines()[-1]
            requests, _ = resume_pi(room / f"{case}-home", content)
            yield judged_pi(case, requests, "Done with mailer in turn 9")
        for path in sorted(REAL_PI.glob("*.jsonl")):
            for native in ("rewrite", "append"):
                yield _real_pi(room / f"{path.stem}-{native}", path, native)


def _real_pi(room, path, native):
    """Resume a real session as it was before its last command, whose output alone fills the window."""
    lines = path.read_bytes().splitlines(keepends=True)[:-2]
    said = [json.loads(line).get("message", {}) for line in lines]
    last = next(m for m in reversed(said) if m.get("role") == "assistant" and m["stopReason"] == "stop")
    content = compacted(room, b"".join(lines), path.name, native)
    requests, _ = resume_pi(room / "home", content)
    return judged_pi(f"{native} of {path.stem[-24:]}", requests, last["content"][-1]["text"])


def judged_pi(case, requests, tail):
    """Judge as of any client, after its own words; pi sends what a user says and runs as messages of their own."""
    outcome = judged("pi", case, requests, tail)
    return replace(outcome, wrong=tuple(law for law in outcome.wrong if law != "roles alternate"))


def resume_pi(home, content):
    """Resume a session in pi; the requests that it sends, and the session as it then stands in its file."""
    program = installed("@mariozechner/pi-coding-agent@0.73.1", "pi")
    work, agent = home / "work", home / ".pi" / "agent"
    work.mkdir(parents=True)
    agent.mkdir(parents=True)
    header, rest = content.split(b"\n", 1)
    opened = json.loads(header)
    session = home / pi.SAMPLE.file
    session.write_bytes(json.dumps({**opened, "cwd": str(work)}).encode() + b"\n" + rest)
    with model(_pi_answer) as (address, asked):
        about = {"id": "m", "name": "m", "reasoning": False, "input": ["text"], "maxTokens": 8_000}
        about |= {"contextWindow": PI_WINDOW, "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}}
        provider = {"baseUrl": f"{address}/v1", "api": "openai-completions", "apiKey": "none", "models": [about]}
        (agent / "models.json").write_text(json.dumps({"providers": {"stand-in": provider}}))
        command = [program, "--provider", "stand-in", "--model", "m", "--session", session, "-p", ASKED]
        done = subprocess.run(
            command,
            check=False,
            cwd=work,
            env={"PATH": os.environ["PATH"], "HOME": str(home), "PI_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=180,
        )
    requests = [_pi_turns(body) for path, body in asked if path.endswith("/chat/completions")]
    if not requests:
        print(done.stdout + done.stderr, file=sys.stderr)
    header, rest = session.read_bytes().split(b"\n", 1)
    return requests, json.dumps({**json.loads(header), "cwd": opened["cwd"]}).encode() + b"\n" + rest


def _pi_answer(_, body):
    answer = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": body.get("model")}
    usage = {"prompt_tokens": 1000, "completion_tokens": 5, "total_tokens": 1005}
    said = {"index": 0, "delta": {"role": "assistant", "content": "OK"}, "finish_reason": None}
    events: list[dict[str, object]] = [
        {**answer, "choices": [said]},
        {**answer, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
        {**answer, "choices": [], "usage": usage},
    ]
    return "text/event-stream", "".join(f"data: {e}\n\n" for e in [*map(json.dumps, events), "[DONE]"]).encode()


def _pi_turns(body):
    turns = []
    for message in body["messages"]:
        content = message.get("content") or ""
        text = content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)
        calls = tuple(call["id"] for call in message.get("tool_calls", ()))
        results = (message["tool_call_id"],) if message["role"] == "tool" else ()
        turns.append(Sent(message["role"], text.strip(), calls, results))
    return turns[1:]  # after the client's own words


def main():
    """Run every check and print a line for each outcome; the exit code says whether all is well."""
    wrong = 0
    for check in [found for name, found in sorted(globals().items()) if name.startswith("check_")]:
        for outcome in check():
            wrong += bool(outcome.wrong)
            verdict = "ok" if not outcome.wrong else "WRONG: " + "; ".join(outcome.wrong)
            print(f"{outcome.client:12} {outcome.case:28} {outcome.requests} request(s)  {verdict}")
            print(f"{'':12} {outcome.shape}", flush=True)
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
