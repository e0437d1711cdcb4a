"""How do tests call compactor as its users do: a real process, an empty home, and every byte that comes out?

Beside it: small conversations that a small window (SMALL) makes worth compacting.
"""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import jsonschema

from compactor.core.handoff import PREFIX

ROOT = Path(__file__).parents[1]
PROGRAM = (sys.executable, "-W", "error", "-m", "compactor")
WINDOW = 4_000
# Half of the window is the trigger, 40 % of that the tail: conversations of 2,000 tokens are compacted.
SMALL = ("--context-window", str(WINDOW))
MODEL = "stand-in"
REPORT = jsonschema.Draft202012Validator(json.loads((ROOT / "compactor/schemas/report.json").read_bytes()))


@dataclass(frozen=True)
class Ran:
    """How a process ended: its exit code, the bytes of standard output, and what it said."""

    code: int
    out: bytes
    said: str

    @property
    def lines(self):
        return [json.loads(line) for line in self.out.splitlines()]


def environment(**more):
    """What a process gets: a path to programs, the home that conftest made, the project, and `more`."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME")}
    return {**kept, "LC_ALL": "C.UTF-8", "PYTHONPATH": str(ROOT), **more}


def compactor(cwd, *words, stdin=b"", patience=120, **env):
    """Run the command line in `cwd` to its end; a traceback is a failure of any test."""
    words = [*PROGRAM, *(word if isinstance(word, bytes) else str(word) for word in words)]
    env = environment(**env)
    done = subprocess.run(words, cwd=cwd, env=env, input=stdin, capture_output=True, timeout=patience, check=False)
    said = done.stderr.decode("utf-8", "surrogateescape")
    assert "Traceback" not in said, said
    assert "Exception ignored" not in said, said
    assert "never retrieved" not in said, said
    return Ran(done.returncode, done.stdout, said)


def compact(cwd, *words, **more):
    """Run `compactor compact` with the small window."""
    return compactor(cwd, "compact", *SMALL, *words, **more)


def ask(endpoint):
    """Name the options that have the stand-in write the summaries, without waiting between attempts."""
    return "--base-url", endpoint.url, "--model", MODEL, "--encoding", "o200k_base", "--retries", "0"


def talk(first, last=None, topic="pump"):
    """Messages `first` to `last` (or 0 to `first`) of an endless conversation; every one names its number.

    Message 0 is the system's; then come a user, a call, its result, and a reply, over and over. Each four of them
    have about 200 tokens, most of which stay when old results are pruned.
    """
    start, stop = (0, first) if last is None else (first, last)
    return [_message(n, topic) for n in range(start, stop)]


def _message(n, topic):
    if n == 0:
        return {"role": "system", "content": f"You keep the {topic} running."}
    turn, step = divmod(n - 1, 4)
    marks = ", ".join(f"{topic} {n}.{part} at {(n * 7919 + part * 104_729) % 100_003}" for part in range(6))
    if step == 0:
        return {"role": "user", "content": f"Request {n}: look after {marks}. You must never touch valve {turn}."}
    if step == 1:
        call = {"name": "bash", "arguments": json.dumps({"command": f"cat logs/{topic}-{turn}.log"})}
        return {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function", "function": call}]}
    if step == 2:
        return {"role": "tool", "tool_call_id": "c", "content": f"Result {n}: {marks}"[:190]}
    return {"role": "assistant", "content": f"Reply {n}: I decided on {marks} because the log says so."}


def lined(messages):
    """A file with one message a line."""
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


def row(messages, **more):
    """One line that holds a whole conversation."""
    return json.dumps({**more, "messages": messages}).encode() + b"\n"


def text_of(messages):
    return [message["content"] or "" for message in messages]


def handoffs(messages):
    return [text for text in text_of(messages) if text.startswith(PREFIX)]


def named(text, kind, numbers):
    """Which of these messages a text quotes: `kind` is Request, Result or Reply."""
    return [n for n in numbers if f"{kind} {n}:" in text]


def contents(folder):
    """Every file below a folder, with its bytes."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def checked(lines):
    """The lines of a report, each of them what the published schema says."""
    for line in lines:
        REPORT.validate(line)
    assert [line["kind"] for line in lines] == ["conversation"] * (len(lines) - 1) + ["totals"]
    return lines


def entries(path):
    """What a sidecar holds, by key."""
    found = [json.loads(line) for line in path.read_bytes().splitlines()]
    return {entry["key"]: entry for entry in found}
