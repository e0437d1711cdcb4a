"""What did a model read of these items of OpenAI's Responses API, and which of them are one message?

An answer comes in several items: reasoning, words, calls. Those that belong together are one message here, so that they
stay or go together: reasoning without the item that it led to is refused by the API, and parallel calls stand before
all their outputs. A handoff is always a message by itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import TYPE_CHECKING

from compactor.core.handoff import is_handoff
from compactor.core.messages import Call, Message, Result, Role
from compactor.formats import media
from compactor.formats.openai_messages import IMAGE_PARTS, ROLES, Content, MalformedError, compact
from compactor.formats.records import brief

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Kind(Enum):
    """What an item is: words of either side, reasoning, a call, its output, or something that the API itself served."""

    ASKED = auto()
    SAID = auto()
    REASONED = auto()
    CALLED = auto()
    ANSWERED = auto()
    SERVED = auto()


# The key of what a call was made with, by the type of the item.
CALLS = {
    "function_call": "arguments",
    "custom_tool_call": "input",
    "local_shell_call": "action",
    "shell_call": "action",
    "apply_patch_call": "operation",
    "computer_call": "action",
    "tool_search_call": "arguments",
}
OUTPUTS = {f"{name}_output": key for name, key in (*((name, "output") for name in CALLS), ("tool_search", "tools"))}
NAMES = {"local_shell_call": "shell", "shell_call": "shell", "apply_patch_call": "apply_patch",
         "computer_call": "computer", "tool_search_call": "tool_search"}  # fmt: skip
COMPACTIONS = frozenset({"compaction", "compaction_summary", "context_compaction"})
SERVED = COMPACTIONS | {
    "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_call",
    "mcp_list_tools", "mcp_approval_request", "mcp_approval_response", "item_reference",
}  # fmt: skip
ITEM_TYPES = frozenset(CALLS) | frozenset(OUTPUTS) | SERVED | {"message", "reasoning"}
TEXT_PARTS = frozenset({"input_text", "output_text", "text", "summary_text", "reasoning_text"})


@dataclass(frozen=True, slots=True)
class Item:
    """One item: what it is, and the message that it would be by itself."""

    kind: Kind
    message: Message


@dataclass(frozen=True, slots=True)
class Entry:
    """Where an item stands: the index of its message, its kind, and the ordinal that a call has in that message."""

    index: int
    kind: Kind
    call: int = -1


def kind_of(value: Mapping[str, object]) -> str:
    """Name the type of an item; one with a role and no type is a message."""
    named = value.get("type")
    return str(named) if named is not None else "message" if isinstance(value.get("role"), str) else ""


def item(value: Mapping[str, object]) -> Item | None:
    """Read one item; None for types that are none of the API's. Raises MalformedError with a path from `$`."""
    kind = kind_of(value)
    if kind == "message":
        return _said(value)
    if kind == "reasoning":
        told = [*_texts(value.get("summary")), *_texts(value.get("content"))]
        return Item(Kind.REASONED, Message(Role.ASSISTANT, reasoning="\n".join(told)))
    if kind in CALLS:
        return _called(value, kind)
    if kind in OUTPUTS:
        found = _content(value.get(OUTPUTS[kind]), f"$.{OUTPUTS[kind]}")
        text = "\n".join((*found.texts, *found.shown))
        failed = value.get("status") in ("failed", "incomplete")
        return Item(Kind.ANSWERED, Message(Role.TOOL, results=(Result(_id(value), text, "", failed, found.tokens),)))
    if kind not in SERVED:
        return None
    opaque = {"type": kind} if kind in COMPACTIONS else value
    shown = media.scrubbed_json(compact(opaque, "$"))
    return Item(Kind.SERVED, Message(Role.ASSISTANT, other=shown.text, image_tokens=shown.tokens))


def _id(value: Mapping[str, object]) -> str:
    named = value.get("call_id", value.get("id"))
    return named if isinstance(named, str) else ""


def _said(value: Mapping[str, object]) -> Item | None:
    named = value.get("role")
    if not isinstance(named, str):
        raise MalformedError("$.role", f"{brief(named)} is not a string")
    role = ROLES.get(named)
    if role is None or role is Role.TOOL:
        return None
    found = _content(value.get("content"), "$.content")
    text, other = "\n".join(found.texts), "\n".join(found.shown)
    kind = Kind.SAID if role is Role.ASSISTANT else Kind.ASKED
    return Item(kind, Message(role, text, other=other, image_tokens=found.tokens))


def _called(value: Mapping[str, object], kind: str) -> Item:
    given = value.get(CALLS[kind])
    arguments = given if isinstance(given, str) else compact(given, f"$.{CALLS[kind]}") if given is not None else ""
    name = value.get("name")
    shown = media.scrubbed(arguments if kind != "custom_tool_call" else compact({"input": arguments}, "$"))
    call = Call(_id(value), name if isinstance(name, str) and name else NAMES.get(kind, kind), shown.text)
    return Item(Kind.CALLED, Message(Role.ASSISTANT, calls=(call,), image_tokens=shown.tokens))


def _texts(parts: object) -> list[str]:
    listed = parts if isinstance(parts, list) else []
    found = [part.get("text") for part in listed if isinstance(part, dict)]
    return [text for text in found if isinstance(text, str) and text]


def _content(value: object, path: str) -> Content:
    if value is None or isinstance(value, str):
        shown = media.scrubbed(value or "")
        return Content(texts=(shown.text,) if value else (), tokens=shown.tokens)
    if isinstance(value, dict):
        return _part(value, path)
    if not isinstance(value, list):
        raise MalformedError(path, f"{brief(value)} is not a string or an array of parts")
    found = [_part(part, f"{path}[{n}]") for n, part in enumerate(value)]
    return Content(
        texts=tuple(t for c in found for t in c.texts),
        shown=tuple(t for c in found for t in c.shown),
        tokens=sum(c.tokens for c in found),
    )


def _part(part: object, path: str) -> Content:
    if not isinstance(part, dict):
        raise MalformedError(path, f"{brief(part)} is not a part: an object with a type")
    kind = part.get("type")
    if kind in TEXT_PARTS or kind == "refusal":
        text = part.get("refusal" if kind == "refusal" else "text")
        return _content(text if isinstance(text, str) else "", path)
    if kind in IMAGE_PARTS or kind == "computer_screenshot":
        shown = media.image(part.get("image_url") or part.get("file_id"), part.get("detail"))
    elif kind == "input_file":
        shown = media.file(part)
    else:
        shown = media.scrubbed_json(compact(part, path))
    return Content(shown=(shown.text,), tokens=shown.tokens)


def bundled(found: Sequence[Item | None]) -> tuple[tuple[Message, ...], tuple[Entry | None, ...]]:
    """Join items into messages; an entry for each item, None for what is none."""
    messages: list[Message] = []
    entries: list[Entry | None] = []
    last: list[Item] = []
    for one in found:
        if one is None:
            entries.append(None)
            continue
        if last and _belongs(one, last):
            messages[-1] = _joined(messages[-1], one.message)
            last.append(one)
        else:
            messages.append(one.message)
            last = [one]
        call = len(messages[-1].calls) - 1 if one.kind is Kind.CALLED else -1
        entries.append(Entry(len(messages) - 1, one.kind, call))
    return tuple(messages), tuple(entries)


_OF_AN_ANSWER = frozenset({Kind.SAID, Kind.REASONED, Kind.CALLED, Kind.SERVED})


def _belongs(one: Item, last: Sequence[Item]) -> bool:
    """Tell whether `one` is of the same answer as the items of `last`."""
    kinds = {item.kind for item in last}
    if one.kind not in _OF_AN_ANSWER or not kinds <= _OF_AN_ANSWER:
        return False
    if is_handoff(one.message) or is_handoff(last[-1].message):
        return False
    return Kind.CALLED in kinds or Kind.SAID not in kinds or one.kind is Kind.CALLED


def _joined(one: Message, other: Message) -> Message:
    def both(a: str, b: str) -> str:
        return "\n".join(filter(None, (a, b)))

    return replace(
        one,
        text=both(one.text, other.text),
        calls=(*one.calls, *other.calls),
        reasoning=both(one.reasoning, other.reasoning),
        other=both(one.other, other.other),
        image_tokens=one.image_tokens + other.image_tokens,
    )
