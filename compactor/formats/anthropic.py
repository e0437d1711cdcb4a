"""Which conversations of Anthropic's Messages API does this file hold?

The layouts are those of OpenAI chat: a message a line, or requests with `messages`, `system` and `tools`. Messages with
nothing but strings are the same in both; they are read as OpenAI chat. Told are these by blocks that only Anthropic
has, by `system` beside the messages, or by `input_schema` in the tools.

Before a `compaction` block the API reads nothing: messages before it are no messages here. They stay in the file as
long as that block does, and go with it when it is summarised.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from compactor.core.messages import Message, Role
from compactor.formats import openai_chat
from compactor.formats.anthropic_blocks import SERVED, Content, content, plain
from compactor.formats.anthropic_edits import kept_bytes
from compactor.formats.layouts import Turns
from compactor.formats.openai_edits import handoff_bytes
from compactor.formats.records import brief
from compactor.formats.row import Format
from compactor.formats.values import MalformedError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "system": Role.SYSTEM}
OWN_BLOCKS = SERVED | {"tool_use", "tool_result", "redacted_thinking", "compaction", "container_upload"}
MEDIA = frozenset({"image", "document"})
# How reasoning is carried that no signature of the API's came with (see `convert`).
THOUGHT = re.compile(r"<think>\n(.*)\n</think>", re.DOTALL)


def detect(values: Sequence[Mapping[str, object]]) -> bool:
    """Tell from the first objects of a file whether it is ours; a role or a key of OpenAI's says that it is not."""
    turns = [turn for value in values for turn in _turns(value)]
    if any(turn.get("role") not in ROLES or "tool_calls" in turn for turn in turns):
        return False
    return any(map(_is_request, values)) or any(map(_is_ours, turns))


def _turns(value: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    listed = TURNS.listed(value)
    for turn in [value] if listed is None else listed:
        if isinstance(turn, dict) and TURNS.named(turn):
            yield turn


def _is_request(value: Mapping[str, object]) -> bool:
    if TURNS.listed(value) is None:
        return False
    tools = value.get("tools")
    schemas = isinstance(tools, list) and any(isinstance(t, dict) and "input_schema" in t for t in tools)
    first = next(_turns(value), {})
    return schemas or (isinstance(value.get("system"), str | list) and first.get("role") != "system")


def _is_ours(turn: Mapping[str, object]) -> bool:
    return any(_is_own_block(block) for block in _blocks(turn))


def _is_own_block(block: Mapping[str, object]) -> bool:
    kind = block.get("type")
    if kind == "thinking":
        return isinstance(block.get("thinking"), str)
    if kind in MEDIA:
        return isinstance(block.get("source"), dict)
    if kind == "text":
        return THOUGHT.fullmatch(str(block.get("text"))) is not None
    return isinstance(kind, str) and (kind in OWN_BLOCKS or kind.endswith("_tool_result"))


def _blocks(turn: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    listed = turn.get("content")
    yield from (block for block in listed if isinstance(block, dict)) if isinstance(listed, list) else ()


def message(value: Mapping[str, object]) -> Message | None:
    """Read one message; None for what has no role of ROLES. Raises MalformedError with a path from `$`."""
    named = value.get("role")
    if named is not None and not isinstance(named, str):
        raise MalformedError("$.role", f"{brief(named)} is not a string")
    role = ROLES.get(named or "")
    if role is None:
        return None
    if "content" not in value:
        raise MalformedError("$.content", f"missing; there is {', '.join(value)}")
    found = content(value["content"], "$.content", role, _spoken if role is Role.ASSISTANT else plain)
    return found.message(Role.TOOL if role is Role.USER and found.only_results else role)


def _spoken(text: str) -> Content:
    thought = THOUGHT.fullmatch(text)
    return Content(reasoning=(thought.group(1),)) if thought else plain(text)


def lead(value: Mapping[str, object]) -> Message | None:
    """Read the system prompt, which stands beside the messages. Raises MalformedError with a path from `$`."""
    if not value.get("system"):
        return None
    found = content(value["system"], "$.system", Role.SYSTEM)
    return Message(Role.SYSTEM, "\n".join(found.texts), other="\n".join(found.shown), image_tokens=found.tokens)


def begins(value: Mapping[str, object]) -> bool:
    """Tell whether the API reads nothing before this message. A compaction that failed has no content."""
    return any(block.get("type") == "compaction" and block.get("content") is not None for block in _blocks(value))


TURNS = Turns(
    ("messages",),
    "role",
    message,
    openai_chat.TURNS.preamble,
    handoff_bytes,
    kept_bytes,
    lead=lead,
    begins=begins,
)
FORMAT = Format(
    name="anthropic",
    title="Anthropic Messages",
    expects='messages with content blocks, one a line or under "messages", with "system" beside them',
    detect=detect,
    read=TURNS.read,
)
