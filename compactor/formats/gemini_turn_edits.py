"""What are the bytes of a record of gemini-cli once something that the client sends of it has changed?

A call and its result share the record. A record of which only the assistant message is kept loses its results; one
of which only the results are kept stays whole. A stub goes where the result stood (see gemini_edits); of its
`resultDisplay`, copied text becomes the stub and a list, which is cells of a terminal, goes. From a record that
is written anew the copies of other calls' results go, and, with a new handoff, the token counts: the client would take
them for the size of the conversation.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from compactor.core.messages import CALL_REMOVED, Kept, Message, Role
from compactor.formats import gemini_parts
from compactor.formats.copies import without_copies
from compactor.formats.gemini_edits import silenced, text_part, with_parts, with_response
from compactor.formats.gemini_turns import is_copy, others, tool_calls, written_out
from compactor.formats.jsonbytes import elements, members, patched, quoted, rebuilt, rewritten, whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Counts(Enum):
    """What becomes of a record's token counts."""

    STAY = "stay"
    GO = "go"


@dataclass(frozen=True, slots=True)
class Fate:
    """What becomes of the calls of a record: those that go, by id, and their results, by ordinal, with its text."""

    texts: tuple[str, ...] = ()
    stubs: Mapping[int, str] = field(default_factory=dict)
    without_results: frozenset[int] = frozenset()
    without_calls: frozenset[str] = frozenset()


def changed(raw: bytes, pairs: Sequence[tuple[Message, Kept | None]], counts: Counts) -> bytes:
    """Write the record that came as `raw` and is the messages in `pairs`, each with what stays of it (None: nothing).

    If nothing is to be changed it is `raw`.
    """
    value = json.loads(raw)
    if counts is Counts.STAY and all(_as_it_came(kept) for _, kept in pairs):
        return raw
    if value.get("type") == "gemini":
        changes = _of_model(raw, value, pairs)
        if counts is Counts.GO and "tokens" in value:
            changes["tokens"] = None
    else:
        changes = _content(raw, *pairs[0]) if pairs else {}
    return patched(raw, [(whole(raw), rewritten(raw, whole(raw), changes))]) if changes else raw


def _as_it_came(kept: Kept | None) -> bool:
    return kept is not None and not (kept.stubs or kept.without_calls or kept.without_results)


def _of_model(
    raw: bytes, value: Mapping[str, object], pairs: Sequence[tuple[Message, Kept | None]]
) -> dict[str, bytes | None]:
    changes: dict[str, bytes | None] = {}
    said = next(((m, k) for m, k in pairs if m.role is not Role.TOOL and k), None)
    if said and said[1].without_calls:
        if written_out(gemini_parts.parts(value.get("content"), "$")):
            changes = _content(raw, *said)
        elif silenced(*said):
            changes["content"] = quoted(CALL_REMOVED)
    listed = members(raw, whole(raw)).get("toolCalls")
    before = listed.of(raw) if listed else b"null"
    after = _tool_calls(before, tool_calls(value), _fate(pairs, said)) if listed and value["toolCalls"] else before
    return {**changes, "toolCalls": after} if after != before else changes


def _fate(pairs: Sequence[tuple[Message, Kept | None]], said: tuple[Message, Kept] | None) -> Fate:
    calls = frozenset(said[0].calls[n].id for n in said[1].without_calls) if said else frozenset()
    for message, kept in pairs:
        if message.role is Role.TOOL:
            texts = tuple(result.text for result in message.results)
            if kept is None:
                return Fate(texts, without_results=frozenset(range(len(texts))), without_calls=calls)
            return Fate(texts, kept.stubs, kept.without_results, calls)
    return Fate(without_calls=calls)


def _content(raw: bytes, message: Message, kept: Kept | None) -> dict[str, bytes | None]:
    if kept is None or _as_it_came(kept):
        return {}
    content = members(raw, whole(raw))["content"].of(raw)
    listed = content if content.startswith(b"[") else b"[" + content + b"]"
    return {"content": with_parts(listed, message, kept)}


def _tool_calls(raw: bytes, listed: Sequence[Mapping[str, object]], fate: Fate) -> bytes | None:
    """Write the array of calls that came as `raw`; None if no call is left."""
    chosen: list[tuple[int | None, bytes]] = []
    ordinal = -1
    for n, (call, span) in enumerate(zip(listed, elements(raw, whole(raw)), strict=True)):
        found = gemini_parts.parts(call.get("result") or None, "$")
        own = [not is_copy(part, others(listed, n)) for part in found]
        ordinal += any(own)
        if any(own):
            chosen.append((n, _answered(span.of(raw), call, own, ordinal, fate)))
        elif call.get("id") not in fate.without_calls:
            chosen.append((n, span.of(raw)))
    return rebuilt(raw, whole(raw), chosen) if chosen else None


def _answered(raw: bytes, call: Mapping[str, object], own: Sequence[bool], ordinal: int, fate: Fate) -> bytes:
    changes: dict[str, bytes | None] = {}
    found = members(raw, whole(raw))
    result, display = found["result"].of(raw), found.get("resultDisplay")
    if ordinal in fate.without_results:
        changes = {"result": None, "resultDisplay": None}
    elif ordinal in fate.stubs:
        stub = fate.stubs[ordinal]
        changes["result"] = _stubbed(result, call, own, stub)
        if display:
            shown = display.of(raw)
            changes["resultDisplay"] = (
                None if shown.startswith(b"[") else without_copies(shown, fate.texts[ordinal], stub)
            )
    elif not all(own):
        spans = elements(result, whole(result))
        left = [(n, span.of(result)) for n, span in enumerate(spans) if own[n]]
        changes["result"] = rebuilt(result, whole(result), left)
    return rewritten(raw, whole(raw), changes)


def _stubbed(raw: bytes, call: Mapping[str, object], own: Sequence[bool], stub: str) -> bytes:
    """Write the result that came as `raw` with `stub` for its own response, in the shape that it had."""
    if raw.startswith(b'"'):
        return quoted(stub)
    if raw.startswith(b"{"):
        return with_response(raw, stub) if _responds(raw) else text_part(stub)
    mine = [span.of(raw) for n, span in enumerate(elements(raw, whole(raw))) if own[n]]
    response = next((part for part in mine if _responds(part)), None)
    if response:
        return b"[" + with_response(response, stub) + b"]"
    head = b'[{"functionResponse":{"id":' + quoted(str(call.get("id") or "")) + b',"name":'
    return head + quoted(str(call.get("name") or "")) + b',"response":{"output":' + quoted(stub) + b"}}}]"


def _responds(raw: bytes) -> bool:
    return gemini_parts.parts([json.loads(raw)], "$")[0].result is not None
