"""What are the bytes of an item of the Responses API once something in it has been replaced, or of a new one?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from compactor.core.messages import CALL_REMOVED, Role
from compactor.formats.copies import without_copies
from compactor.formats.jsonbytes import quoted, rewritten, whole
from compactor.formats.responses_items import OUTPUTS, Kind, kind_of

if TYPE_CHECKING:
    from compactor.core.messages import Handoff, Kept, Message
    from compactor.formats.responses_items import Entry


def handoff_bytes(handoff: Handoff) -> bytes:
    """Write the handoff as an item, without a line end."""
    return said_bytes(handoff.role, handoff.text)


def said_bytes(role: Role, text: str) -> bytes:
    """Write words as an item."""
    part = b"output_text" if role is Role.ASSISTANT else b"input_text"
    content = b'[{"type":"' + part + b'","text":' + quoted(text) + b"}]"
    return b'{"type":"message","role":' + quoted(role) + b',"content":' + content + b"}"


def kept_bytes(raw: bytes, entry: Entry, message: Message, kept: Kept) -> bytes | None:
    """Write the item that came as `raw`, a part of `message`, as `kept` has it; None if it goes.

    Raises ValueError for a result that is to go without its message: an output is a message of its own.
    """
    if kept.without_results:
        raise ValueError("an output is a message of its own: leave the message out instead")
    if kept.stubs and entry.kind is Kind.ANSWERED:
        text = message.results[0].text
        raw = without_copies(raw, text, kept.stubs[0])
        key = OUTPUTS[kind_of(json.loads(raw))]
        value = quoted(kept.stubs[0]) if key == "output" else b"[]"
        return raw[: whole(raw).start] + rewritten(raw, whole(raw), {key: value}) + raw[whole(raw).stop :]
    silent = len(kept.without_calls) == len(message.calls) and not (message.text.strip() or message.other)
    if entry.kind is Kind.CALLED and entry.call in kept.without_calls:
        noted = silent and entry.call == min(kept.without_calls)
        return said_bytes(Role.ASSISTANT, CALL_REMOVED) if noted else None
    if entry.kind is Kind.REASONED and kept.without_calls and silent:
        return None  # reasoning needs the item that it led to
    return raw
