"""In which order do Gemini turns leave, which of the records that are no messages go, and what bridges equal roles?

A compaction is two turns, as the client writes its own: the summary, and a short turn of the other role where the
next turn would speak in the same one. The API refuses a function call that does not come right after a user's turn.
Read back, both are one message.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from compactor.core.handoff import is_handoff
from compactor.core.messages import Handoff, Kept, Message, Role

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from compactor.core.messages import Piece

# What gemini-cli puts after its own summary, and what we put after one that the model speaks.
ACKNOWLEDGED = "Got it. Thanks for the additional context!"
GO_ON = "Please continue from the summary above."
SNAPSHOT = "<state_snapshot>"


class Holds(Enum):
    """What becomes of something that stands among the messages when the file is written anew."""

    MESSAGES = "stays with its messages"
    RECORD = "always stays"
    ASIDE = "stays where the message before it stays"
    COPY = "goes"


@dataclass(frozen=True, slots=True)
class Slot:
    """One thing of the file in its place: its bytes, the messages [start, stop) that it is, and who speaks in it.

    `origin` is its ordinal among the records or elements that the file is made of, None if it stood within one. `id`
    and `time` are what the record itself says.
    """

    raw: bytes
    holds: Holds
    origin: int | None = None
    start: int = 0
    stop: int = 0
    speaker: str = ""
    id: str = ""
    time: str = ""


@dataclass(frozen=True, slots=True)
class Stay:
    """A slot that stays, with what is to be changed of its messages, by index."""

    slot: Slot
    kept: Mapping[int, Kept] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class New:
    """A turn that was not there: `after` is the slot of a message before it, if there is any."""

    speaker: str
    text: str
    after: Slot | None


Place: TypeAlias = Stay | New


def speaker(role: Role) -> str:
    """Name the role as the API does."""
    return "model" if role is Role.ASSISTANT else "user"


def unchanged(pieces: Sequence[Piece], count: int) -> bool:
    """Tell whether `pieces` are all the messages that there are, as they came."""
    return list(pieces) == [Kept(n) for n in range(count)]


def placed(slots: Sequence[Slot], pieces: Sequence[Piece]) -> list[Place]:
    """Put `pieces` into the order of the slots: a handoff stands before the first message that it stands for."""
    kept = {piece.index: piece for piece in pieces if isinstance(piece, Kept)}
    waiting = list(_handoffs(pieces))
    found: list[Place] = []
    before: Slot | None = None
    stays = True  # the message before
    for slot in slots:
        if slot.holds is Holds.MESSAGES:
            while waiting and slot.start > waiting[0][0]:
                found += _turns(waiting.pop(0)[1], before, _next_speaker(slots, kept, slot.start))
            mine = {n: kept[n] for n in range(slot.start, slot.stop) if n in kept}
            stays = bool(mine)
            if stays:
                found.append(Stay(slot, mine))
                before = slot
        elif slot.holds is Holds.RECORD or (slot.holds is Holds.ASIDE and stays):
            found.append(Stay(slot))
    for _, handoff in waiting:
        found += _turns(handoff, before, "")
    return found


def _handoffs(pieces: Sequence[Piece]) -> Iterator[tuple[int, Handoff]]:
    """Each handoff with the index of the last message before it, -1 if there is none."""
    last = -1
    for piece in pieces:
        if isinstance(piece, Kept):
            last = piece.index
        else:
            yield last, piece


def _next_speaker(slots: Sequence[Slot], kept: Mapping[int, Kept], start: int) -> str:
    later = (s for s in slots if s.holds is Holds.MESSAGES and s.start >= start)
    return next((s.speaker for s in later if any(n in kept for n in range(s.start, s.stop))), "")


def _turns(handoff: Handoff, before: Slot | None, after: str) -> list[Place]:
    spoken = speaker(handoff.role)
    turns: list[Place] = [New(spoken, handoff.text, before)]
    if after == spoken:
        turns.append(New("user", GO_ON, before) if spoken == "model" else New("model", ACKNOWLEDGED, before))
    return turns


def bridges(message: Message, after: Message) -> bool:
    """Tell whether `after` is but the turn that follows the summary in `message`, as compactors put it there."""
    if after != Message(after.role, after.text):
        return False
    if message.role is Role.USER and after.role is Role.ASSISTANT:
        return after.text == ACKNOWLEDGED and (is_handoff(message) or SNAPSHOT in message.text)
    return message.role is Role.ASSISTANT and after.role is Role.USER and after.text == GO_ON and is_handoff(message)


def summary_text(text: str) -> str:
    """Cut off what the client's model thought aloud before its snapshot."""
    return text[text.index(SNAPSHOT) :] if SNAPSHOT in text else text
