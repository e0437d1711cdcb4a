"""What does the message that stands for the middle say, in which role, and how is it recognised later?

Nothing in it depends on the clock, so that the same summary gives the same bytes and prompt caches stay warm.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from compactor.core.foreign import foreign_summary
from compactor.core.messages import Message, Role
from compactor.core.summary import SECTIONS, Summary, parse, render

if TYPE_CHECKING:
    from collections.abc import Iterable

PREFIX = (
    "[CONTEXT COMPACTION] Earlier turns in this conversation were compacted to save context space. "
    "The summary below describes work that was already completed, and the current session state may still "
    "reflect that work (for example, files may already be changed). Use the summary and the current state to "
    "continue from where things left off, and avoid repeating work:"
)
END = "[END OF CONTEXT COMPACTION]"
# Openings that compactors have given to such a message: Hermes Agent's two, and those of Claude Code, pi, Codex
# and gemini-cli as recorded from the real clients.
KNOWN_PREFIXES = (
    "[CONTEXT COMPACTION",
    "[CONTEXT SUMMARY]:",
    "This session is being continued from a previous conversation that ran out of context",
    "The conversation history before this point was compacted into the following summary:",
    "Another language model started to solve this problem and produced a summary",
    "<state_snapshot>",
)
_QUOTE_OPEN = "The user's latest message, word for word; the turns below still work on it:\n<latest_user_message>"
_QUOTE_CLOSE = "</latest_user_message>"
_AS_OF = (
    "These notes are as of message {}. Where a turn after them says otherwise, the turn holds; within them the user's "
    "own words hold over the rest."
)
_AS_OF_LINE = re.compile(re.escape(_AS_OF).replace(r"\{\}", r"\d+") + r"\Z")


@dataclass(frozen=True, slots=True)
class Notes:
    """What a handoff says: the summary, and the user's message that the turns after it still work on ("" if none)."""

    summary: Summary
    quote: str = ""


def is_handoff(message: Message) -> bool:
    """Tell whether the message stands for turns that some compactor has summarised."""
    return message.role is not Role.TOOL and message.text.lstrip().startswith(KNOWN_PREFIXES)


def is_spoken(message: Message) -> bool:
    """Tell whether people would see words or images here: not blank, not a handoff."""
    return bool(message.text.strip() or message.image_tokens) and not is_handoff(message)


def write(notes: Notes, as_of: int = 0) -> str:
    """Write the text of the handoff: fixed prefix, summary, the user's open message, order of truth, end marker.

    `as_of` is the number of the last message that went into the summary, counted from 1 as in the summary's own
    references; 0 where it is not known.
    """
    parts = [PREFIX, _inert(render(notes.summary))]
    if notes.quote:
        parts.append(f"{_QUOTE_OPEN}\n{notes.quote}\n{_QUOTE_CLOSE}")
    if as_of:
        parts.append(_AS_OF.format(as_of))
    return "\n\n".join([*parts, END])


def _inert(text: str) -> str:
    """Take the brackets from marks of ours that a summary quotes: what follows them is still part of it."""
    for mark in (END, KNOWN_PREFIXES[0]):
        text = text.replace(mark, mark.replace("[", "(").replace("]", ")"))
    return text.replace(_QUOTE_CLOSE, "(/latest_user_message)")


def read(text: str) -> Notes:
    """Read a handoff back, ours or another tool's; free text without our headings is kept as critical context."""
    body = text.strip()
    if body.endswith(END):
        body = body[: -len(END)].rstrip()
    body = _AS_OF_LINE.sub("", body).rstrip()
    quote = ""
    if body.endswith(_QUOTE_CLOSE) and _QUOTE_OPEN in body:
        body, _, quoted = body.partition(_QUOTE_OPEN)
        quote = quoted[1 : -len(_QUOTE_CLOSE) - 1]
    summary, missing = parse(body)
    if len(missing) == len(SECTIONS) and not summary.sections:
        for prefix in (PREFIX, *KNOWN_PREFIXES):
            body = body.removeprefix(prefix).lstrip()
        summary = foreign_summary(body)
    return Notes(summary, quote)


def role_between(before: Iterable[Message], after: Iterable[Message]) -> tuple[Role, bool]:
    """Choose the role of a handoff between two runs of messages, and tell whether roles then alternate around it.

    Alternation ignores tool traffic, as strict chat templates do: results, and assistant messages with calls. A
    conversation without any user message before the handoff gets one: it must not open with the assistant.
    """
    left = next((m.role for m in reversed(list(before)) if is_turn(m)), None)
    right = next((m.role for m in after if is_turn(m)), None)
    if left is None:
        return Role.USER, right is not Role.USER
    role = Role.ASSISTANT if left is Role.USER else Role.USER
    return role, role is not right


def is_turn(message: Message) -> bool:
    """Tell whether strict chat templates count it in the alternation: a user message or a plain assistant reply."""
    return not message.calls and message.role in (Role.USER, Role.ASSISTANT)
