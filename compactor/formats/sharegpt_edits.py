"""What are the bytes of a ShareGPT turn once something in it has been replaced, or of a new one?

Only characters that change are exchanged, inside the text as well: a block of a Hermes trajectory goes with both of its
tags, or keeps both and gets another content.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from compactor.core.messages import CALL_REMOVED, Role
from compactor.formats.anthropic_edits import note_for
from compactor.formats.jsonbytes import elements, members, patched, quoted, rebuilt, respelled, rewritten, whole
from compactor.formats.sharegpt_tags import RESULT, Block, tagged, without
from compactor.formats.sharegpt_turns import CALLING, called, reply_blocks

if TYPE_CHECKING:
    from compactor.core.messages import Handoff, Kept, Message
    from compactor.formats.jsonbytes import Span

    Cut = tuple[int, int, str]

_NAMES = {Role.SYSTEM: "system", Role.USER: "human", Role.ASSISTANT: "gpt"}


def handoff_bytes(handoff: Handoff) -> bytes:
    """Write the handoff as a turn of `human` or `gpt`."""
    return b'{"from":' + quoted(_NAMES[handoff.role]) + b',"value":' + quoted(handoff.text) + b"}"


def user_handoff_bytes(handoff: Handoff) -> bytes:
    """Write the handoff as a turn of `user` or `assistant`."""
    return b'{"from":' + quoted(handoff.role) + b',"value":' + quoted(handoff.text) + b"}"


def kept_bytes(raw: bytes, message: Message, kept: Kept) -> bytes:
    """Write the turn that came as `raw` with the changes that `kept` asks for; none, and it is `raw`."""
    if not (kept.stubs or kept.without_calls or kept.without_results):
        return raw
    found = members(raw, whole(raw))
    text = json.loads(found["value"].of(raw))
    if kept.without_calls and json.loads(found["from"].of(raw)) == CALLING:
        return _without_calls(raw, text, kept.without_calls)
    if message.role is Role.TOOL:
        return _answers(raw, found["value"], text, kept)
    cuts = _call_cuts(text, message, kept)
    return patched(raw, [(found["value"], respelled(raw, found["value"], cuts))])


def _call_cuts(text: str, message: Message, kept: Kept) -> list[Cut]:
    first, blocks = reply_blocks(text)
    if note := note_for(message, kept):
        start = first.stop if first else 0
        return [(start, len(text), f"\n{note}" if first else note)]
    shift = 1 if first else 0
    return without(text, [first, *blocks] if first else blocks, {n + shift for n in kept.without_calls})


def _without_calls(raw: bytes, text: str, gone: frozenset[int]) -> bytes:
    """Take calls out of a turn that is nothing else; with the last one it becomes a reply that says so."""
    span = whole(raw)
    inner = text.encode("utf-8", "surrogatepass")
    if len(gone) == len(called(text)):
        changes = {"from": quoted("gpt"), "value": quoted(CALL_REMOVED)}
    else:
        left = [(n, e.of(inner)) for n, e in enumerate(elements(inner, whole(inner))) if n not in gone]
        listed = rebuilt(inner, whole(inner), left).decode("utf-8", "surrogatepass")
        changes = {"value": quoted(listed)}
    return patched(raw, [(span, rewritten(raw, span, changes))])


def _answers(raw: bytes, span: Span, text: str, kept: Kept) -> bytes:
    blocks = tagged(text, RESULT)
    if not blocks:
        if kept.without_results:
            raise ValueError("this turn holds one result: leave it out instead")
        return patched(raw, [(span, quoted(kept.stubs[0]))])
    stubs = [(n, stub) for n, stub in kept.stubs.items() if n not in kept.without_results]
    cuts = [_stubbed(text, blocks[n], stub) for n, stub in stubs]
    return patched(raw, [(span, respelled(raw, span, [*cuts, *without(text, blocks, kept.without_results)]))])


def _stubbed(text: str, block: Block, stub: str) -> Cut:
    """Put `stub` in the place of the content, which is a value in the block's JSON or all that stands there."""
    if block.value is None or "content" not in block.value:
        return block.body, block.body_stop, stub
    inner = text[block.body : block.body_stop].encode("utf-8", "surrogatepass")
    content = members(inner, whole(inner))["content"]
    start, stop = (len(inner[:at].decode("utf-8", "surrogatepass")) + block.body for at in content)
    return start, stop, quoted(stub).decode()
