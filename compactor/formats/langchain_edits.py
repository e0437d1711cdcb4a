"""What are the bytes of a LangChain message once something in it has been replaced, or of a new one?

Only values that change are exchanged. A call that goes, goes from everywhere that it stands. Copies of a pruned result
in its message, such as the `artifact` that a tool gives to programs, go with it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from compactor.core.messages import CALL_REMOVED, Role
from compactor.formats.copies import without_copies
from compactor.formats.jsonbytes import elements, members, patched, quoted, rebuilt, rewritten, whole
from compactor.formats.langchain_messages import SOURCES, opened, standing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from compactor.core.messages import Handoff, Kept, Message
    from compactor.formats.jsonbytes import Span
    from compactor.formats.langchain_messages import Spelling

_NOTE = b'{"type":"text","text":' + quoted(CALL_REMOVED) + b"}"


def handoff_bytes(spelling: Spelling, handoff: Handoff) -> bytes:
    """Write the handoff as a message, without a line end."""
    kind, name = ("ai", "AIMessage") if handoff.role is Role.ASSISTANT else ("human", "HumanMessage")
    inner = b'"content":' + quoted(handoff.text) + b',"type":' + quoted(kind)
    if spelling.key == "kwargs":
        classes = json.dumps([*spelling.classes, name]).encode()
        return b'{"lc":1,"type":"constructor","id":' + classes + b',"kwargs":{' + inner + b"}}"
    return b'{"type":' + quoted(kind) + b',"data":{' + inner + b"}}" if spelling.key else b"{" + inner + b"}"


def kept_bytes(raw: bytes, message: Message, kept: Kept) -> bytes:
    """Write the message that came as `raw` with the changes that `kept` asks for; none, and it is `raw`.

    Raises ValueError for a result that is to go without its message: here a result is a message of its own.
    """
    if kept.without_results:
        raise ValueError("a LangChain tool message holds one result: leave the message out instead")
    if not (kept.stubs or kept.without_calls):
        return raw
    changes: dict[str, bytes | None] = {}
    if kept.stubs:
        raw = without_copies(raw, message.results[0].text, kept.stubs[0])
        changes["content"] = quoted(kept.stubs[0])
    inner = _inner(raw)
    if kept.without_calls:
        silent = len(kept.without_calls) == len(message.calls) and not (message.text.strip() or message.other)
        changes.update(_without_calls(raw, inner, kept.without_calls, note=silent))
    return patched(raw, [(inner, rewritten(raw, inner, changes))])


def _inner(raw: bytes) -> Span:
    span = whole(raw)
    found = opened(json.loads(span.of(raw)))
    return members(raw, span)[found.spelling.key] if found and found.spelling.key else span


def _without_calls(raw: bytes, inner: Span, gone: frozenset[int], *, note: bool) -> dict[str, bytes | None]:
    """Give the members that change when the calls with these ordinals go; `note` puts words where none are left."""
    found = [s for s in standing(json.loads(inner.of(raw))) if s.ordinal in gone]
    places: dict[tuple[str, ...], set[int]] = {
        source: {s.place for s in found if s.source == source} for source in SOURCES
    }
    known = members(raw, inner)
    changes: dict[str, bytes | None] = {}
    for source in (("tool_calls",), ("invalid_tool_calls",), ("tool_call_chunks",)):
        if places[source]:
            changes[source[0]] = _without(raw, known[source[0]], places[source])
    if extra := _extra(raw, known.get("additional_kwargs"), places):
        changes["additional_kwargs"] = rewritten(raw, known["additional_kwargs"], extra)
    if places["content",] or note:
        changes["content"] = _without_blocks(raw, known.get("content"), places["content",], note=note)
    return changes


def _extra(raw: bytes, span: Span | None, places: Mapping[tuple[str, ...], set[int]]) -> dict[str, bytes | None]:
    changes: dict[str, bytes | None] = {}
    if span and places["additional_kwargs", "tool_calls"]:
        listed = members(raw, span)["tool_calls"]
        changes["tool_calls"] = _without(raw, listed, places["additional_kwargs", "tool_calls"])
    if places["additional_kwargs", "function_call"]:
        changes["function_call"] = None
    return changes


def _without(raw: bytes, span: Span, gone: set[int]) -> bytes:
    return rebuilt(raw, span, [(n, e.of(raw)) for n, e in enumerate(elements(raw, span)) if n not in gone])


def _without_blocks(raw: bytes, span: Span | None, gone: set[int], *, note: bool) -> bytes:
    if span is None or not span.of(raw).startswith(b"["):
        return quoted(CALL_REMOVED)
    chosen: list[tuple[int | None, bytes]] = [
        (n, e.of(raw)) for n, e in enumerate(elements(raw, span)) if n not in gone
    ]
    return rebuilt(raw, span, [*chosen, (None, _NOTE)] if note else chosen)
