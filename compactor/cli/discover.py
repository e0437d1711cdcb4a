"""`compactor discover` and `compactor formats`: what is there, and what can be done with it?"""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from compactor.console import aligned, json_lines
from compactor.discover import Session, sessions
from compactor.formats import FORMATS
from compactor.tokenizer import tokenizer

UNFOLDED = 8_192  # columns, so that a path, of at most 4,096 bytes on Linux, can be copied from the table
_HEADINGS = ("tool", "changed", "messages", "tokens", "bytes", "session")

Json = Annotated[bool, typer.Option("--json", help="JSON lines instead of a table.")]


def discover(*, json: Json = False) -> None:
    """List the sessions of Claude Code, Codex, pi and gemini-cli on this machine; write nothing.

    Tokens are those that a model would be given, which is far less than the file holds.
    """
    found = sessions(Path.home(), os.environ, tokenizer())
    if json:
        for session in found:
            sys.stdout.buffer.write(json_lines([_object(session)]))
        return
    rows = [_cells(session) for session in found]
    shown = aligned(_HEADINGS, rows, UNFOLDED) if rows else "no sessions found"
    sys.stdout.buffer.write(f"{shown}\n".encode(sys.stdout.encoding, "backslashreplace"))


def _object(session: Session) -> dict[str, object]:
    return {
        "tool": session.tool,
        "path": str(session.path),
        "changed": _time(session.changed),
        "bytes": session.size,
        "messages": session.messages,
        "tokens": session.tokens,
        "problem": session.problem,
    }


def _cells(session: Session) -> tuple[str, ...]:
    sizes = (f"{n:,}" for n in (session.messages, session.tokens, session.size))
    where = f"{session.path}" + (f" ({session.problem})" if session.problem else "")
    return (session.tool, _time(session.changed), *sizes, where)


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")


def formats() -> None:
    """List the formats that are read and written, how each marks a compaction, and which tool resumes it."""
    rows = [(f.name, f.title, f.mark or "a handoff message", f.resumes or "-") for f in FORMATS]
    print(aligned(("format", "what it is", "a compaction is", "resumed by"), rows))
