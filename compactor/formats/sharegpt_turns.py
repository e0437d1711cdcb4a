"""What did a model read of this ShareGPT turn, `{"from": ..., "value": ...}`?

Calls and results are turns of their own (`function_call`, `observation`), or stand in tags inside the text, as in
Hermes trajectories. Calls have no ids there; results name the one that they answer by its place.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from compactor.core.messages import Call, Message, Result, Role
from compactor.formats import media
from compactor.formats.records import brief
from compactor.formats.sharegpt_tags import CALL, RESULT, between, tagged, thought
from compactor.formats.values import MalformedError, compact

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from compactor.formats.sharegpt_tags import Block

CALLING: Final = "function_call"
ROLES: Final = {
    "system": Role.SYSTEM,
    "human": Role.USER,
    "user": Role.USER,
    "gpt": Role.ASSISTANT,
    "assistant": Role.ASSISTANT,
    "chatgpt": Role.ASSISTANT,
    "bard": Role.ASSISTANT,
    "bing": Role.ASSISTANT,
    CALLING: Role.ASSISTANT,
    "tool": Role.TOOL,
    "observation": Role.TOOL,
}


def message(value: Mapping[str, object]) -> Message | None:
    """Read one turn; None for a speaker that is none of ROLES. Raises MalformedError with a path from `$`."""
    speaker, text = value.get("from"), value.get("value")
    role = ROLES.get(speaker) if isinstance(speaker, str) else None
    if role is None:
        return None
    if not isinstance(text, str):
        what = f"{brief(text)} is not a string" if "value" in value else f"missing; there is {', '.join(value)}"
        raise MalformedError("$.value", what)
    if speaker == CALLING:
        return _priced(Message(role, calls=tuple(_call(v, "$.value") for v in called(text))))
    if role is Role.TOOL:
        return _answers(text)
    return _priced(_reply(text) if role is Role.ASSISTANT else Message(role, text))


def called(text: str) -> Sequence[object]:
    """Read the calls of a turn that is nothing else: the JSON of one or several, or words."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return (text,)
    if isinstance(value, list) and value and all(map(_is_call, value)):
        return value
    return (value if _is_call(value) else text,)


def _is_call(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("name"), str)


def _call(value: object, path: str) -> Call:
    if not isinstance(value, dict) or not _is_call(value):
        return Call("", "", str(value))
    call_id, arguments = value.get("id"), value.get("arguments", {})
    written = arguments if isinstance(arguments, str) else compact(arguments, path)
    return Call(call_id if isinstance(call_id, str) else "", value["name"], written)


def _priced(message: Message) -> Message:
    """Show base64 in words and arguments by a note, and add its price."""
    words = media.scrubbed(message.text)
    calls = [media.scrubbed_json(call.arguments) for call in message.calls]
    tokens = words.tokens + sum(shown.tokens for shown in calls)
    clean = tuple(replace(call, arguments=shown.text) for call, shown in zip(message.calls, calls, strict=True))
    return replace(message, text=words.text, calls=clean, image_tokens=tokens)


def reply_blocks(text: str) -> tuple[Block | None, list[Block]]:
    """Find the thought of a model's turn, and its calls."""
    first = thought(text)
    return first, tagged(text, CALL, first.stop if first else 0)


def _reply(text: str) -> Message:
    first, blocks = reply_blocks(text)
    spoken = between(text, [first, *blocks] if first else blocks)
    reasoning = text[first.body : first.body_stop].removeprefix("\n").removesuffix("\n") if first else ""
    calls = tuple(_call(_body(text, block), "$.value") for block in blocks)
    return Message(Role.ASSISTANT, spoken, calls, reasoning=reasoning)


def _body(text: str, block: Block) -> object:
    return text[block.body : block.body_stop] if block.value is None else block.value


def _answers(text: str) -> Message:
    blocks = tagged(text, RESULT)
    if not blocks:
        shown = media.scrubbed(text)
        return Message(Role.TOOL, results=(Result("", shown.text, image_tokens=shown.tokens),))
    around = between(text, blocks)
    results = tuple(_result(text, block) for block in blocks)
    return Message(Role.TOOL, results=results, other=media.scrubbed(around).text if around.strip() else "")


def _result(text: str, block: Block) -> Result:
    """Read one result: an object with the call's id, the tool's name and the content, or the content alone."""
    value = block.value
    if value is None or "content" not in value:
        shown = media.scrubbed_json(text[block.body : block.body_stop])
        return Result("", shown.text, image_tokens=shown.tokens)
    content, call_id, name = value["content"], value.get("tool_call_id"), value.get("name")
    shown = media.scrubbed_json(content if isinstance(content, str) else compact(content, "$.value"))
    return Result(
        call_id if isinstance(call_id, str) else "",
        shown.text,
        name if isinstance(name, str) else "",
        image_tokens=shown.tokens,
    )
