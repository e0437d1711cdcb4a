"""Does a result keep the promises? Asked before anything is written, of what will be written.

Each law is a sentence that is true; what `broken` answers are the sentences that are not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from compactor.core.handoff import is_handoff
from compactor.core.messages import Handoff, Kept, Message, Role, applied, digest, groups

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compactor.core.messages import Conversation, Piece


def result_messages(conversation: Conversation, pieces: Sequence[Piece]) -> tuple[Message, ...]:
    """Give the messages that a model would read after `pieces` have been written."""
    return tuple(
        Message(p.role, p.text) if isinstance(p, Handoff) else applied(conversation.messages[p.index], p)
        for p in pieces
    )


def broken(conversation: Conversation, pieces: Sequence[Piece]) -> tuple[str, ...]:
    """Name the promises that `pieces` would break, as sentences; none if all is well."""
    kept = [p.index for p in pieces if isinstance(p, Kept)]
    made = result_messages(conversation, pieces)
    found = []
    if kept != sorted(set(kept)):
        found.append("messages stay in order, and none twice")
    if sum(map(is_handoff, made)) > 1:
        found.append("there is at most one handoff")
    if made and is_handoff(made[-1]) and not is_handoff(conversation.messages[-1]):
        found.append("the handoff is never last")
    if any(p.text.strip() == "" for p in pieces if isinstance(p, Handoff)):
        found.append("the handoff says something")
    if _unpaired(conversation, pieces, made):
        found.append("every tool result stands right after its call, and every call but the last has its results")
    if _user_lost(conversation.messages, made):
        found.append("a conversation with a user keeps a user message")
    return tuple(found)


def _unpaired(conversation: Conversation, pieces: Sequence[Piece], made: Sequence[Message]) -> bool:
    return any(
        (group.orphans or (group.open and group.stop < len(made)))
        and not any(_torn(p, conversation) for p in pieces[group.start : group.stop])
        for group in groups(made)
    )


def _torn(piece: Piece, conversation: Conversation) -> bool:
    """Tell whether a record that nobody could read stands right before or after a message."""
    return isinstance(piece, Kept) and not conversation.gaps.isdisjoint((piece.index - 1, piece.index))


def _user_lost(before: Sequence[Message], after: Sequence[Message]) -> bool:
    return any(m.role is Role.USER for m in before) and not any(m.role is Role.USER for m in after)


def rewritten(expected: Sequence[Message], read_back: Sequence[Message]) -> bool:
    """Tell whether the bytes about to be written read back as the messages that were meant."""
    return [digest(m) for m in expected] == [digest(m) for m in read_back]
