"""What would a model have read? The values that every format is read into.

A conversation is a tuple of messages; a message knows nothing of JSON. Tool results are values of their own,
because some formats give each a message and others put several into one, beside text.

>>> ask = Message(Role.USER, "which version is it?")
>>> call = Message(Role.ASSISTANT, calls=(Call("c1", "bash", '{"command": "git describe"}'),))
>>> answer = Message(Role.TOOL, results=(Result("c1", "v1.4.2"),))
>>> [(g.start, g.stop) for g in groups((ask, call, answer))]
[(0, 1), (1, 3)]
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


class Role(StrEnum):
    """Who speaks."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call as the model wrote it; `arguments` is JSON text, `id` is "" where a format has none."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool answered; `failed` is True only where the format itself says so.

    `image_tokens` is the stated price of the images in it. `protected` marks what is never pruned: words of the user
    that came through a tool (a clarifying question, an approval), and instructions that were loaded by one.
    `shaped` marks content of a shape that its format prescribes, so that no text can stand for it: not pruned either.
    """

    call_id: str
    text: str
    name: str = ""
    failed: bool = False
    image_tokens: int = 0
    protected: bool = False
    shaped: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """One message: its words, calls, results, reasoning, and what else a model is charged for.

    `other` holds parts that are none of these, as compact JSON. `image_tokens` is a stated price in tokens, and so is
    `sealed_tokens`: what a model is charged for that only it can read (reasoning that came encrypted).
    """

    role: Role
    text: str = ""
    calls: tuple[Call, ...] = ()
    results: tuple[Result, ...] = ()
    reasoning: str = ""
    name: str = ""
    other: str = ""
    image_tokens: int = 0
    sealed_tokens: int = 0


class Opening(StrEnum):
    """What a compacted conversation may begin with: a protected head, or only the handoff itself.

    Some tools mark a compaction with a record before which they read nothing, so no head can stand before it.
    """

    HEAD = "head"
    HANDOFF = "handoff"


@dataclass(frozen=True, slots=True)
class Conversation:
    """The messages of one conversation, in order.

    `preamble` is what a model is charged for before the first message (tool schemas, as JSON text). `gaps`
    holds the index of every message that is followed by a record nobody could read (-1: before the first): a group
    that touches one may look incomplete without being so. `name` says where it stands ("chat.jsonl", "chats.jsonl:12").
    `voice` is the role in which the tool's own mark gives a handoff to the model; None: whichever alternates best.
    """

    messages: tuple[Message, ...]
    preamble: str = ""
    gaps: frozenset[int] = frozenset()
    name: str = ""
    opening: Opening = Opening.HEAD
    voice: Role | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """A message, or an assistant message with calls together with its results: [start, stop).

    Results of tools that the model's own server runs stand in the message that called them.
    `open` are the ordinals of calls that nothing answered; `orphans` are (message index, result ordinal) of
    results that answer no call right before them, or answer one a second time.
    """

    start: int
    stop: int
    open: tuple[int, ...] = ()
    orphans: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Kept:
    """A message that stays in the result.

    `stubs` holds what stands for its results, by ordinal; `without_calls` and `without_results` the ordinals
    that have lost their partner and go. With none of these the message leaves byte for byte.
    """

    index: int
    stubs: Mapping[int, str] = field(default_factory=dict)
    without_calls: frozenset[int] = frozenset()
    without_results: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Handoff:
    """The one message that stands for the middle."""

    role: Role
    text: str


Piece = Kept | Handoff
CALL_REMOVED = "[tool call without a result removed]"  # the words of a message that had nothing but such calls


def applied(message: Message, piece: Kept) -> Message:
    """Give `message` as it stands in the result."""
    if not (piece.stubs or piece.without_calls or piece.without_results):
        return message
    results = tuple(
        replace(r, text=piece.stubs[n], image_tokens=0) if n in piece.stubs else r
        for n, r in enumerate(message.results)
        if n not in piece.without_results
    )
    calls = tuple(c for n, c in enumerate(message.calls) if n not in piece.without_calls)
    silent = message.calls and not calls and not (message.text.strip() or message.other)
    return replace(message, results=results, calls=calls, text=CALL_REMOVED if silent else message.text)


def groups(messages: Sequence[Message]) -> tuple[Group, ...]:
    """Split messages into tool groups by adjacency; ids repeat within a conversation and are never global.

    Concatenated, the groups are the messages. Pairing is by trimmed id among the calls still outstanding;
    where ids are absent on either side, in order.
    """
    found: list[Group] = []
    index = 0
    while index < len(messages):
        group = _group_at(messages, index)
        found.append(group)
        index = group.stop
    return tuple(found)


def _group_at(messages: Sequence[Message], start: int) -> Group:
    calls = messages[start].calls
    outstanding = list(range(len(calls)))
    orphans: list[tuple[int, int]] = []
    stop = start
    while stop == start or (calls and stop < len(messages) and _answers(messages[stop])):
        for ordinal, result in enumerate(messages[stop].results):
            call = answered(result, calls, outstanding)
            if call is None:
                orphans.append((stop, ordinal))
            else:
                outstanding.remove(call)
        stop += 1
        if stop > start + 1 and messages[stop - 1].role is not Role.TOOL:
            break  # results that share a message with the user's words end the group
    return Group(start, stop, tuple(outstanding), tuple(orphans))


def _answers(message: Message) -> bool:
    """Tell whether results in it are of calls before it; those in a message with calls of its own are of these."""
    return bool(message.results) and not message.calls


def answered(result: Result, calls: Sequence[Call], outstanding: Sequence[int]) -> int | None:
    """Find the call that `result` answers among those of ordinals `outstanding`: by id, else by name, else in order."""
    wanted = result.call_id.strip()
    ids = {n: calls[n].id.strip() for n in outstanding}
    same = [n for n in outstanding if wanted and ids[n] == wanted]
    named = [n for n in outstanding if not (wanted and ids[n]) and result.name in ("", calls[n].name)]
    nameless = [n for n in outstanding if not (wanted or ids[n])]
    return next(iter((*same, *named, *nameless)), None)


def well_formed(text: str) -> str:
    """Give `text` as UTF-8 and a sidecar can hold it: U+FFFD for each half of a surrogate pair that stands alone."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def digest(message: Message) -> str:
    """Name a message by what a model reads of it: 16 hex digits, independent of JSON formatting."""
    words = (
        message.role,
        message.text,
        [[c.id, c.name, c.arguments] for c in message.calls],
        [[r.call_id, r.text] for r in message.results],
        message.reasoning,
        message.name,
        message.other,
    )
    return hashlib.blake2b(json.dumps(words).encode(), digest_size=8).hexdigest()


def chain(messages: Iterable[Message], seed: str = "") -> str:
    """Fold the digests of consecutive messages into one of 16 hex digits; `seed` continues an earlier fold."""
    for message in messages:
        seed = hashlib.blake2b(f"{seed}{digest(message)}".encode(), digest_size=8).hexdigest()
    return seed
