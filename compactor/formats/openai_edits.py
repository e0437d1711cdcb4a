"""What are the bytes of an OpenAI chat message once something in it has been replaced, or of a new one?

Only the value that changes is exchanged, and copies of a result's text that stand elsewhere in its message: the rest,
`extra` and the like included, stays as it came.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from compactor.core.messages import CALL_REMOVED
from compactor.formats.copies import without_copies
from compactor.formats.jsonbytes import elements, members, quoted, rebuilt, rewritten, whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from compactor.core.messages import Handoff, Kept, Message
    from compactor.formats.jsonbytes import Span


def handoff_bytes(handoff: Handoff) -> bytes:
    """Write the handoff as a message, without a line end."""
    return b'{"role":' + quoted(handoff.role) + b',"content":' + quoted(handoff.text) + b"}"


def kept_bytes(raw: bytes, message: Message, kept: Kept) -> bytes:
    """Write the message that came as `raw` with the changes that `kept` asks for; none, and it is `raw`.

    Raises ValueError for a result that is to go without its message: here a result is a message of its own.
    """
    if kept.without_results:
        raise ValueError("an OpenAI tool message holds one result: leave the message out instead")
    changes: dict[str, bytes | None] = {}
    if kept.stubs:
        raw = without_copies(raw, message.results[0].text, kept.stubs[0])
        changes["content"] = quoted(kept.stubs[0])
    if kept.without_calls:
        changes.update(_without_calls(raw, message, kept.without_calls))
    if not changes:
        return raw
    span = whole(raw)
    return raw[: span.start] + rewritten(raw, span, changes) + raw[span.stop :]


def _without_calls(raw: bytes, message: Message, gone: frozenset[int]) -> Mapping[str, bytes | None]:
    """Remove calls by ordinal, in the order in which they are read: tool_calls, function_call, typed parts."""
    found = members(raw, whole(raw))
    changes: dict[str, bytes | None] = {}
    listed = _elements(raw, found.get("tool_calls"))
    left = [(n, span.of(raw)) for n, span in enumerate(listed) if n not in gone]
    if len(left) < len(listed):
        changes["tool_calls"] = rebuilt(raw, found["tool_calls"], left) if left else None
    first_part = len(listed)
    if "function_call" in found and found["function_call"].of(raw) != b"null":
        if first_part in gone:
            changes["function_call"] = None
        first_part += 1
    note = len(gone) == len(message.calls) and not (message.text.strip() or message.other)
    in_parts = [n - first_part for n in sorted(gone) if n >= first_part]
    if in_parts:
        changes["content"] = _without_parts(raw, found["content"], in_parts, CALL_REMOVED if note else "")
    elif note:
        changes["content"] = quoted(CALL_REMOVED)
    return changes


def _elements(raw: bytes, span: Span | None) -> list[Span]:
    return elements(raw, span) if span and span.of(raw).startswith(b"[") else []


def _without_parts(raw: bytes, content: Span, gone: list[int], note: str) -> bytes:
    """Remove typed parts by the ordinal of their call; `note`, if any, stands in the place of the first."""
    chosen: list[tuple[int | None, bytes]] = []
    calls = -1
    for n, span in enumerate(elements(raw, content)):
        part = span.of(raw)
        calls += _is_call(part)
        if not (_is_call(part) and calls in gone):
            chosen.append((n, part))
        elif note:
            chosen.append((None, b'{"type":"text","value":' + quoted(note) + b"}"))
            note = ""
    return rebuilt(raw, content, chosen)


def _is_call(part: bytes) -> bool:
    value = json.loads(part)
    return isinstance(value, dict) and value.get("type") == "tool_call" and "value" in value
