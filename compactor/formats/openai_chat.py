"""Which OpenAI chat conversations does this file hold: one message a line, or one conversation a line?

The layouts are told apart by content: the first object that has a `messages` array, or a `role`, decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from compactor.formats.layouts import Turns
from compactor.formats.openai_edits import handoff_bytes, kept_bytes
from compactor.formats.openai_messages import FOREIGN_PARTS, is_message, message
from compactor.formats.row import Format
from compactor.formats.values import compact

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from compactor.core.messages import Message


def detect(values: Sequence[Mapping[str, object]]) -> bool:
    """Tell from the first objects of a file whether it is ours; blocks of another API say that it is not."""
    return any(TURNS.found_in(value) for value in values) and not foreign(values)


def foreign(values: Sequence[Mapping[str, object]]) -> str:
    """Name the first type of block in `values` that belongs to another API, or give ""."""
    for value in values:
        listed = TURNS.listed(value)
        for item in [value] if listed is None else listed:
            kinds = [item.get("type"), *_part_types(item)] if isinstance(item, dict) else []
            for kind in kinds:
                if isinstance(kind, str) and kind in FOREIGN_PARTS:
                    return kind
    return ""


def _part_types(item: Mapping[str, object]) -> list[object]:
    content = item.get("content")
    return [p.get("type") for p in content if isinstance(p, dict)] if isinstance(content, list) else []


def _message(value: Mapping[str, object]) -> Message | None:
    return message(value) if is_message(value) else None


def _preamble(value: Mapping[str, object]) -> str:
    tools = value.get("tools") or value.get("functions")
    if isinstance(tools, list):
        return compact(tools, "$.tools")
    return tools if isinstance(tools, str) else ""


TURNS = Turns(("messages",), "role", _message, _preamble, handoff_bytes, kept_bytes)
FORMAT = Format(
    name="openai-chat",
    title="OpenAI chat",
    expects='one message a line ({"role": ..., "content": ...}), or one conversation a line ({"messages": [...]})',
    detect=detect,
    read=TURNS.read,
)
