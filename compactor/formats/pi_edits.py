"""What are the bytes of an entry of a pi session once something in it has changed, or of a new one?

Only values that change are exchanged. `details`, what a tool keeps for the screen or for itself, stays, but for long
strings in it that repeat a result which is replaced by a stub.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from compactor.formats.anthropic_edits import note_for
from compactor.formats.copies import without_copies
from compactor.formats.jsonbytes import elements, members, patched, quoted, rebuilt, rewritten, whole

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from compactor.core.messages import Kept, Message
    from compactor.formats.jsonbytes import Span

# What pi takes for the size of the context: the sum, or else all but the sum.
CONTEXT_SIZES = ("input", "cacheRead", "cacheWrite", "totalTokens")


def kept_bytes(raw: bytes, message: Message, kept: Kept) -> bytes:
    """Write the entry of a message with the changes that `kept` asks for; none, and it is `raw`.

    Raises ValueError for a result that is to go without its message: here a result is a message of its own.
    """
    if kept.without_results:
        raise ValueError("a pi entry holds one result: leave the message out instead")
    if kept.stubs:
        raw = without_copies(raw, message.results[0].text, kept.stubs[0])
        stub = b'[{"type":"text","text":' + quoted(kept.stubs[0]) + b"}]"
        raw = patched(raw, [(_within(raw, "message", "content"), stub)])
    if kept.without_calls:
        raw = _without_calls(raw, kept.without_calls, note_for(message, kept))
    return raw


def _within(raw: bytes, *keys: str) -> Span:
    span = whole(raw)
    for key in keys:
        span = members(raw, span)[key]
    return span


def _without_calls(raw: bytes, gone: Collection[int], note: str) -> bytes:
    span = _within(raw, "message", "content")
    chosen: list[tuple[int | None, bytes]] = []
    calls = 0
    for n, place in enumerate(elements(raw, span)):
        block = place.of(raw)
        if json.loads(block).get("type") != "toolCall":
            chosen.append((n, block))
            continue
        if calls not in gone:
            chosen.append((n, block))
        elif note:
            chosen.append((None, b'{"type":"text","text":' + quoted(note) + b"}"))
            note = ""
        calls += 1
    return patched(raw, [(span, rebuilt(raw, span, chosen))])


def lowered(raw: bytes) -> bytes:
    """Take the sizes of the context that an answer reports for nothing: they are stale, and may make pi compact."""
    message = members(raw, whole(raw)).get("message")
    usage = members(raw, message).get("usage") if message and message.of(raw).startswith(b"{") else None
    if usage is None or not usage.of(raw).startswith(b"{"):
        return raw
    found = members(raw, usage)
    return patched(raw, [(found[key], b"0") for key in CONTEXT_SIZES if key in found and found[key].of(raw) != b"0"])


def with_members(raw: bytes, changes: Mapping[str, bytes | None]) -> bytes:
    """Write an entry with other values of some of its own members."""
    return patched(raw, [(whole(raw), rewritten(raw, whole(raw), changes))]) if changes else raw


def context_tokens(values: Iterable[Mapping[str, object]]) -> int:
    """Read how large the last answer says that the context was, in tokens; 0 if none does."""
    tokens = 0
    for value in values:
        message = value.get("message")
        usage = message.get("usage") if isinstance(message, dict) else None
        if isinstance(usage, dict):
            numbers = [usage.get(key) for key in ("totalTokens", "input", "output", "cacheRead", "cacheWrite")]
            total, *parts = (n if type(n) is int else 0 for n in numbers)
            tokens = total or sum(parts) or tokens
    return tokens


def mark(text: str, links: Mapping[str, bytes], first: Mapping[str, bytes], stamp: bytes, tokens: int) -> bytes:
    """Write pi's mark of a compaction, whose summary says `text`.

    `links` are its id and its parent, `first` names the first entry that it keeps, `tokens` is what the context had.
    """
    values = {
        "type": b'"compaction"',
        **links,
        "timestamp": stamp,
        "summary": quoted(text),
        **first,
        "tokensBefore": b"%d" % tokens,
    }
    return b"{" + b",".join(quoted(key) + b":" + value for key, value in values.items()) + b"}"


def new_id(known: Collection[str], *parts: str) -> str:
    """Make an id of 8 hex digits that repeats for the same parts and is not among `known`."""
    text = "\0".join(("pi", *parts)).encode("utf-8", "surrogatepass")
    digits = hashlib.blake2b(text).hexdigest()
    return next((found for n in range(0, len(digits), 8) if (found := digits[n : n + 8]) not in known), digits)
