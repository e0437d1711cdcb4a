"""Which things does a summarizer's reply name that occur nowhere in what it read?

Paths, addresses, hashes and handles are copied or made up: a model that writes `src/auth/tokens.py` has read it, or
has not. A line that names such a thing in vain is left out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from compactor.core.summary import Summary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from compactor.core.messages import Call
    from compactor.core.prompt import Request

_THING = re.compile(
    r"https?://[^\s<>\"'`)\]}]{4,200}|"
    r"(?<![\w/.@])(?:~|\.{1,2})?/?(?:[\w.@+-]+/)+[\w@+-]*\.[A-Za-z]\w{0,9}\b|"
    r"(?<![\w/.@])[\w-]+\.(?:py|js|ts|tsx|jsx|go|rs|c|h|cpp|java|rb|sh|md|json|toml|yaml|yml|txt|html|css|sql|lock)\b|"
    r"(?<![\w.@])@[A-Za-z][\w-]{2,38}\b|"
    r"\b[\w.+-]+@[\w-]+\.[\w.-]+\b|"
    r"\b(?=[0-9a-f]{0,39}\d)(?=[0-9a-f]{0,39}[a-f])[0-9a-f]{7,40}\b"
)


def things(text: str) -> Iterator[str]:
    """Yield what `text` names that can only be copied: paths, file names, addresses, handles, hashes."""
    return (m[0].rstrip(".,;:") for m in _THING.finditer(text))


def without_inventions(reply: Summary, request: Request) -> tuple[Summary, tuple[str, ...]]:
    """Leave out of `reply` the lines that name what `request` holds nowhere; give those lines too."""
    named = {thing for lines in reply.sections.values() for line in lines for thing in things(line)}
    if not named:
        return reply, ()
    read = _read(request)
    invented = {thing for thing in named if thing.casefold() not in read}
    sections: dict[str, tuple[str, ...]] = {}
    left_out: list[str] = []
    for key, lines in reply.sections.items():
        kept = tuple(line for line in lines if invented.isdisjoint(things(line)))
        left_out += [line for line in lines if line not in kept]
        sections |= {key: kept} if kept else {}
    return Summary(sections), tuple(left_out)


def _read(request: Request) -> str:
    """Give everything that a summarizer may have read, and what stays beside the summary."""
    parts = [request.user]
    for message in (*request.head, *request.turns.messages, *request.tail):
        parts += [message.text, message.reasoning, message.other, *(r.text for r in message.results)]
        parts += map(plain_arguments, message.calls)
    return "\n".join(parts).casefold()


def plain_arguments(call: Call) -> str:
    """Give the arguments of a call as text in which a path stands as it is said: in JSON it may be escaped."""
    return call.arguments.replace("\\/", "/").replace("\\\\", "\\")
