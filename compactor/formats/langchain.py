"""Which LangChain messages does this file hold: one a line, or one conversation a line or element?

Three spellings: `messages_to_dict` ({"type": "human", "data": {...}}), `dumpd` ({"lc": 1, "type": "constructor", ...})
and `model_dump`, flat ({"type": "human", "content": ...}). A handoff is spelt like the messages around it. What a
`RemoveMessage` takes back is not read; it stays in the file, as everything does that is no message.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from compactor.formats.langchain_edits import handoff_bytes, kept_bytes
from compactor.formats.langchain_messages import Spelling, message, opened, removed
from compactor.formats.layouts import Turns
from compactor.formats.openai_messages import compact
from compactor.formats.row import Format

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from compactor.core.messages import Message

# Members of records that other tools write with a `type` and a `content`.
_FOREIGN = frozenset({"role", "uuid", "message", "subtype", "sessionId"})


def detect(values: Sequence[Mapping[str, object]]) -> bool:
    """Tell from the first objects of a file whether it is ours: a message, or a list that has one."""
    return any(_is_own(turn) for value in values for turn in _turns(value))


def _turns(value: Mapping[str, object]) -> list[object]:
    listed = value.get("messages")
    return listed if isinstance(listed, list) else [value]


def _is_own(turn: object) -> bool:
    found = opened(turn)
    if found is None or not isinstance(turn, dict):
        return False
    if found.kind == "remove":
        return found.spelling.key != ""
    return "content" in found.inner and (found.spelling.key != "" or _FOREIGN.isdisjoint(turn))


def _message(value: Mapping[str, object]) -> Message | None:
    found = opened(value)
    return message(found) if found else None


def _preamble(value: Mapping[str, object]) -> str:
    tools = value.get("tools")
    return compact(tools, "$.tools") if isinstance(tools, list) else ""


def _like(listed: Sequence[object]) -> Turns:
    """Spell a handoff as the first message of a list is spelt."""
    found = next(filter(None, map(opened, listed)), None)
    return replace(TURNS, handoff=partial(handoff_bytes, found.spelling)) if found else TURNS


TURNS = Turns(
    ("messages",), "type", _message, _preamble, partial(handoff_bytes, Spelling("data")), kept_bytes, _like, removed
)
FORMAT = Format(
    name="langchain",
    title="LangChain messages",
    expects='one message a line, in the spelling of messages_to_dict, dumpd or model_dump ({"type": "human", "data": '
    '{"content": ...}}), or one conversation a line ({"messages": [...]} or an array)',
    detect=detect,
    read=TURNS.read,
)
