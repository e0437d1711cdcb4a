"""What are the bytes of Gemini parts once something in them has been replaced?

A stub stands in the place of the response: `{"output": stub}`, or `{"error": stub}` where there was nothing but an
error, because a response must stay an object. Pictures that belong to it go, the rest of its part stays: id, name.
A part that goes takes its thought signature with it; every other part stays as it came.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from compactor.core.messages import CALL_REMOVED
from compactor.formats import gemini_parts
from compactor.formats.gemini_parts import RESPONSE_KEYS
from compactor.formats.jsonbytes import elements, members, patched, quoted, rebuilt, rewritten, whole

if TYPE_CHECKING:
    from compactor.core.messages import Kept, Message


def text_part(text: str) -> bytes:
    """Write a part that is nothing but text."""
    return b'{"text":' + quoted(text) + b"}"


def with_response(raw: bytes, stub: str) -> bytes:
    """Write a `functionResponse` part with `stub` for its response."""
    outer = members(raw, whole(raw))
    span = next(outer[key] for key in RESPONSE_KEYS if key in outer and outer[key].of(raw) != b"null")
    response = json.loads(span.of(raw)).get("response")
    key = b'"error"' if isinstance(response, dict) and list(response) == ["error"] else b'"output"'
    changes: dict[str, bytes | None] = {"response": b"{" + key + b":" + quoted(stub) + b"}", "parts": None}
    return patched(raw, [(span, rewritten(raw, span, changes))])


def silenced(message: Message, kept: Kept) -> bool:
    """Tell whether the message loses all its calls and has no words: then CALL_REMOVED stands for it."""
    return bool(kept.without_calls) and len(kept.without_calls) == len(message.calls) and not message.text.strip()


def with_parts(raw: bytes, message: Message, kept: Kept) -> bytes:
    """Write the array of parts that came as `raw`, read as `message`, with the changes that `kept` asks for."""
    span = whole(raw)
    spans = elements(raw, span)
    found = gemini_parts.parts(json.loads(raw), "$")
    chosen: list[tuple[int | None, bytes]] = []
    call, note = -1, silenced(message, kept)
    for n, (part, owner) in enumerate(zip(found, gemini_parts.owners(found), strict=True)):
        part_raw = spans[n].of(raw)
        call += part.call is not None
        if part.call is not None and call in kept.without_calls:
            chosen += [(None, text_part(CALL_REMOVED))] * note
            note = False
        elif owner is None or not (owner in kept.stubs or owner in kept.without_results):
            chosen.append((n, part_raw))
        elif part.result is not None and owner not in kept.without_results:
            chosen.append((n, with_response(part_raw, kept.stubs[owner])))
    return rebuilt(raw, span, chosen)
