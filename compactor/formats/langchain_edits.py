"""What are the bytes of a LangChain message once something in it has been replaced, or of a new one?

A call that goes takes its copies in the content and under `additional_kwargs` with it; of a stubbed result the copies
in its `artifact` go too.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from compactor.core.messages import CALL_REMOVED, Role
from compactor.formats.copies import without_copies
from compactor.formats.jsonbytes import Span, elements, members, quoted, rebuilt, rewritten, whole
from compactor.formats.langchain_parts import CALL_BLOCKS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compactor.core.messages import Handoff, Kept, Message

# Under which key a message stands, by the key that tells its spelling; "" if it is the record itself.
BODIES = {"lc": "kwargs", "data": "data"}
_CLASSES = {Role.USER: "HumanMessage", Role.ASSISTANT: "AIMessage"}
_TYPES = {Role.USER: b'"human"', Role.ASSISTANT: b'"ai"'}


def nested_bytes(handoff: Handoff) -> bytes:
    """Write the handoff as `messages_to_dict` does, without a line end."""
    kind = _TYPES[handoff.role]
    return b'{"type": ' + kind + b', "data": {"content": ' + quoted(handoff.text) + b', "type": ' + kind + b"}}"


def flat_bytes(handoff: Handoff) -> bytes:
    """Write the handoff as `model_dump` does."""
    return b'{"type": ' + _TYPES[handoff.role] + b', "content": ' + quoted(handoff.text) + b"}"


def constructor_bytes(handoff: Handoff, module: Sequence[str] = ("langchain", "schema", "messages")) -> bytes:
    """Write the handoff as `dumpd` does, with the module that its neighbours are constructed from."""
    path = json.dumps([*module, _CLASSES[handoff.role]]).encode()
    kwargs = b'{"content": ' + quoted(handoff.text) + b', "type": ' + _TYPES[handoff.role] + b"}"
    return b'{"lc": 1, "type": "constructor", "id": ' + path + b', "kwargs": ' + kwargs + b"}"


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
    span = _body(raw)
    if kept.without_calls:
        changes |= _without_calls(raw, span, message, kept.without_calls)
    return raw[: span.start] + rewritten(raw, span, changes) + raw[span.stop :]


def _body(raw: bytes) -> Span:
    found = members(raw, whole(raw))
    return next((found[key] for sign, key in BODIES.items() if sign in found and key in found), whole(raw))


def _without_calls(raw: bytes, body: Span, message: Message, gone: frozenset[int]) -> dict[str, bytes | None]:
    found = members(raw, body)
    ids = {message.calls[n].id for n in gone if message.calls[n].id}
    changes: dict[str, bytes | None] = {}
    if _is_list(raw, found.get("tool_calls")) and elements(raw, found["tool_calls"]):
        changes["tool_calls"] = _left(raw, found["tool_calls"], gone)
    if given := found.get("additional_kwargs"):
        inside = members(raw, given) if given.of(raw).startswith(b"{") else {}
        if _is_list(raw, inside.get("tool_calls")):
            changes["additional_kwargs"] = rewritten(raw, given, {"tool_calls": _left(raw, inside["tool_calls"], gone)})
    if len(gone) == len(message.calls) and not (message.text.strip() or message.other):
        changes["content"] = quoted(CALL_REMOVED)
    elif _is_list(raw, found.get("content")):
        changes["content"] = _without_copies_of(raw, found["content"], ids)
    return changes


def _is_list(raw: bytes, span: Span | None) -> bool:
    return span is not None and span.of(raw).startswith(b"[")


def _left(raw: bytes, listed: Span, gone: frozenset[int]) -> bytes:
    return rebuilt(raw, listed, [(n, e.of(raw)) for n, e in enumerate(elements(raw, listed)) if n not in gone])


def _without_copies_of(raw: bytes, content: Span, ids: set[str]) -> bytes:
    chosen = [(n, e.of(raw)) for n, e in enumerate(elements(raw, content))]
    return rebuilt(raw, content, [(n, block) for n, block in chosen if not _calls(block, ids)])


def _calls(block: bytes, ids: set[str]) -> bool:
    value = json.loads(block)
    return isinstance(value, dict) and value.get("type") in CALL_BLOCKS and value.get("id") in ids
