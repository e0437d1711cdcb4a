"""What are the bytes of content blocks once something in them has been replaced?

Only what changes is exchanged: of a result its `content`, so that `is_error`, `cache_control` and its type stay; a call
or result that goes takes its own bytes with it. Thinking is never touched, or its signature would not hold.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from compactor.core.messages import CALL_REMOVED, Role
from compactor.formats.anthropic_blocks import Part, parts
from compactor.formats.jsonbytes import elements, members, patched, quoted, rebuilt, rewritten, whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from compactor.core.messages import Kept, Message
    from compactor.formats.jsonbytes import Span


@dataclass(frozen=True, slots=True)
class Change:
    """What changes in the blocks of one record: stubs by ordinal of its results, and what has lost its partner.

    `note` stands where the first call was that goes, "" if nothing needs to.
    """

    stubs: Mapping[int, str] = field(default_factory=dict)
    without_calls: frozenset[int] = frozenset()
    without_results: frozenset[int] = frozenset()
    note: str = ""

    def __bool__(self) -> bool:
        return bool(self.stubs or self.without_calls or self.without_results)


def note_for(message: Message, kept: Kept) -> str:
    """Say what stands in a message that had nothing but the calls that go; "" if it has more."""
    silent = len(kept.without_calls) == len(message.calls) and not (message.text.strip() or message.other)
    return CALL_REMOVED if silent else ""


def kept_bytes(raw: bytes, message: Message, kept: Kept) -> bytes:
    """Write the message that came as `raw` with the changes that `kept` asks for; none, and it is `raw`."""
    change = Change(kept.stubs, kept.without_calls, kept.without_results, note_for(message, kept))
    if not change:
        return raw
    span = members(raw, whole(raw))["content"]
    return patched(raw, [(span, blocks(raw, span, message.role, change))])


def blocks(raw: bytes, span: Span, role: Role, change: Change) -> bytes:
    """Write the array of blocks at `span`, content of a message of `role`, with `change`."""
    chosen: list[tuple[int | None, bytes]] = []
    places = elements(raw, span)
    calls = results = 0
    note = change.note
    for n, (place, part) in enumerate(zip(places, parts(json.loads(span.of(raw)), role), strict=True)):
        block = place.of(raw)
        if part is Part.CALL:
            if calls not in change.without_calls:
                chosen.append((n, block))
            elif note:
                chosen.append((None, b'{"type":"text","text":' + quoted(note) + b"}"))
                note = ""
            calls += 1
        elif part is Part.RESULT:
            if results not in change.without_results:
                chosen.append((n, _stubbed(block, change.stubs[results]) if results in change.stubs else block))
            results += 1
        else:
            chosen.append((n, block))
    return rebuilt(raw, span, chosen)


def _stubbed(block: bytes, stub: str) -> bytes:
    """Put `stub` in the place of a result's content; a mark for the cache within it moves to the result."""
    changes: dict[str, bytes | None] = {"content": quoted(stub)}
    found = members(block, whole(block))
    if "cache_control" not in found and "content" in found and found["content"].of(block).startswith(b"["):
        inside = [members(block, e) for e in elements(block, found["content"]) if e.of(block).startswith(b"{")]
        marks = [inner["cache_control"].of(block) for inner in inside if "cache_control" in inner]
        changes |= {"cache_control": marks[-1]} if marks else {}
    return rewritten(block, whole(block), changes)
