"""What does a tool result say about itself: which call it answers, how large it is, whether it failed?"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from compactor.core.messages import answered

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from compactor.core.messages import Call, Group, Message, Result

# The argument that says most about a call, by the names that tools in the wild give it, best first.
MAIN_ARGUMENTS = (
    "command", "cmd", "script", "code", "file_path", "filePath", "path", "absolute_path", "filename",
    "notebook_path", "url", "pattern", "query", "q", "question", "prompt", "description", "name", "id",
)  # fmt: skip
MAIN_ARGUMENT_CHARS = 80
_LEFT_OUT = " [... {:,} characters left out ...] "


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a result stands: message index, and its ordinal within the message."""

    message: int
    result: int


def results(messages: Sequence[Message], groups: Sequence[Group]) -> Iterator[tuple[Spot, Call | None, Result]]:
    """Give every tool result in order, with the call that it answers (None for an orphan)."""
    for group in groups:
        orphans = set(group.orphans)
        calls = messages[group.start].calls
        outstanding = list(range(len(calls)))
        for index in range(group.start, group.stop):
            for ordinal, result in enumerate(messages[index].results):
                n = None if (index, ordinal) in orphans else answered(result, calls, outstanding)
                if n is not None:
                    outstanding.remove(n)
                yield Spot(index, ordinal), None if n is None else calls[n], result


def describe(call: Call | None, result: Result) -> str:
    """Say in one line what a result was: tool, main argument, size, exit status, and that it failed if it failed."""
    name = (call.name if call else "") or result.name or "tool"
    argument = main_argument(call) if call else ""
    subject = f"{name}({argument})" if argument else name
    lines = result.text.count("\n") + 1
    facts = [f"{len(result.text):,} characters, {lines:,} line{'s'[: lines > 1]}"]
    if (status := exit_status(result.text)) is not None:
        facts.append(f"exit {status}")
    if failed(result):
        facts.append("FAILED" + (f": {why}" if (why := _reason(result.text)) else ""))
    return f"{subject}: {', '.join(facts)}"


def main_argument(call: Call) -> str:
    """Pick the argument of `call` that says most, on one line, shortened in its middle with a mark."""
    try:
        arguments = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        return ""
    if not isinstance(arguments, dict):
        return ""
    candidates = [arguments.get(k) for k in MAIN_ARGUMENTS] + list(arguments.values())
    text = next((v for v in candidates if isinstance(v, str) and v.strip()), "")
    return shorten(" ".join(text.split()), MAIN_ARGUMENT_CHARS)


def shorten(text: str, limit: int) -> str:
    """Cut `text` to `limit` characters: its beginning and end, with the number left out between them."""
    if len(text) <= limit:
        return text
    kept = limit - len(_LEFT_OUT.format(len(text)))
    if kept <= 20:  # too little room for both ends  # noqa: PLR2004
        return (text[: limit - 1] + "…") if limit > 0 else ""
    head = kept * 2 // 3
    return text[:head] + _LEFT_OUT.format(len(text) - kept) + text[len(text) - kept + head :]


_EXIT = (
    re.compile(r"<returncode>\s*(-?\d+)\s*</returncode>"),
    re.compile(r'"(?:exit_?code|returncode|exit_status)"\s*:\s*(-?\d+)', re.IGNORECASE),
    re.compile(r"\b(?:exit(?:ed with)? (?:code|status)|return ?code)[:= ]+(-?\d+)", re.IGNORECASE),
)
_FAILURE = re.compile(
    r'"(?:success|ok)"\s*:\s*false|"(?:is_)?error"\s*:\s*(?:true|"[^"]+|\{)|"status"\s*:\s*"(?:error|failed)"'
)
_ERROR_LINE = re.compile(
    r"^(?:[\w.]*(?:Error|Exception)\b.*|error(?:\[\w+\])?:.*|fatal:.*|E  +\S.*|.*: command not found.*)$",
    re.IGNORECASE | re.MULTILINE,
)
_EDGE = 2_000  # characters at either end in which tools put their status; the middle is content


def _edges(text: str) -> str:
    return text if len(text) <= 2 * _EDGE else text[:_EDGE] + "\n" + text[-_EDGE:]


def exit_status(text: str) -> int | None:
    """Read the exit status that a result reports about itself, or None."""
    edges = _edges(text)
    found = (m for pattern in _EXIT if (m := pattern.search(edges)))
    return next((int(m.group(1)) for m in found), None)


def failed(result: Result) -> bool:
    """Tell whether a result says that its call failed: by the format's flag, its exit status, or its own JSON."""
    if result.failed:
        return True
    status = exit_status(result.text)
    if status is not None:
        return status != 0
    stripped = result.text.lstrip()
    if stripped.startswith("{"):
        return bool(_FAILURE.search(_edges(stripped)))
    return bool(re.match(r"(?:error|traceback|fatal)\b", stripped, re.IGNORECASE))


def _reason(text: str) -> str:
    lines = _ERROR_LINE.findall(_edges(text))
    return shorten(lines[-1].strip(), MAIN_ARGUMENT_CHARS) if lines else ""
