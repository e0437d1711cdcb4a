"""What are the bytes of items once something in them has been replaced, or of a new one, and which of them stay?

Only the value that changes is exchanged. An item that has lost its partner goes; a thought stays with what it led to.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from compactor.core.messages import CALL_REMOVED, Handoff, Kept, Role
from compactor.formats.jsonbytes import elements, members, patched, quoted, rewritten, whole
from compactor.formats.responses_items import Kind, item

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from compactor.core.messages import Message, Piece
    from compactor.formats.responses_turns import Turn


class Plan(NamedTuple):
    """What becomes of items, by ordinal: their bytes, None for those that go.

    `handoff` is the new message, to stand before the item `at`; `head` are the items of what is kept before it.
    `first` is the first item that changes or goes.
    """

    items: Mapping[int, bytes | None]
    handoff: Handoff | None
    at: int
    head: frozenset[int]
    first: int


def plan(turns: Sequence[Turn], raws: Sequence[bytes], pieces: Sequence[Piece]) -> Plan:
    """Say what becomes of the items of `turns`, given the bytes of each item by ordinal."""
    items: dict[int, bytes | None] = {n: None for turn in turns for n in turn.items}
    place = next((n for n, piece in enumerate(pieces) if isinstance(piece, Handoff)), None)
    handoff = None if place is None else pieces[place]
    before: list[int] = []  # the messages of the head
    for n, piece in enumerate(pieces):
        if isinstance(piece, Kept):
            turn = turns[piece.index]
            items |= changed({n: raws[n] for n in turn.items}, turn.message, piece)
            before += [piece.index] if place is not None and n < place else []
    after_head = max(before, default=-1) + 1
    at = turns[after_head].items[0] if after_head < len(turns) else len(raws)
    # A stray result may stand among the items of an answer, which a handoff must not part.
    at = max([at, *(turns[index].items[-1] + 1 for index in before if turns[index].message.role is not Role.TOOL)])
    head = frozenset(n for index in before for n in turns[index].items)
    first = min((n for n, raw in items.items() if raw != raws[n]), default=len(raws))
    return Plan(items, handoff if isinstance(handoff, Handoff) else None, at, head, first)


def words(role: Role, text: str) -> bytes:
    """Write a message item, without a line end."""
    kind = b"output_text" if role is Role.ASSISTANT else b"input_text"
    part = b'{"type":"' + kind + b'","text":' + quoted(text) + b"}"
    return b'{"type":"message","role":' + quoted(role) + b',"content":[' + part + b"]}"


def changed(raws: Mapping[int, bytes], message: Message, kept: Kept) -> dict[int, bytes | None]:
    """Write the items of a message with the changes that `kept` asks for; None for an item that goes.

    Raises ValueError for a result that is to go without its message: here a result is a message of its own.
    """
    if kept.without_results:
        raise ValueError("an item holds one result: leave the message out instead")
    found: dict[int, bytes | None] = dict(raws)
    if kept.stubs:
        found = {n: _stubbed(raw, kept.stubs[0]) for n, raw in raws.items()}
    if kept.without_calls:
        calls = [n for n, raw in raws.items() if item(json.loads(raw)).kind is Kind.CALL]
        gone = [n for ordinal, n in enumerate(calls) if ordinal in kept.without_calls]
        found |= dict.fromkeys(gone)
        if len(gone) == len(calls) and not (message.text.strip() or message.other):
            raw = raws[gone[0]]
            found[gone[0]] = patched(raw, [(whole(raw), words(Role.ASSISTANT, CALL_REMOVED))])
    return found


def _stubbed(raw: bytes, stub: str) -> bytes:
    span = whole(raw)
    found = members(raw, span)
    new = quoted(stub)
    if json.loads(found["type"].of(raw)) == "shell_call_output":
        last = elements(raw, found["output"])[-1]
        new = b"[" + rewritten(raw, last, {"stdout": new, "stderr": b'""'}) + b"]"
    return patched(raw, [(span, rewritten(raw, span, {"output": new}))])
