"""How is a conversation written in another format than its own, and what cannot be?

Each target is one line with one conversation. Words, calls, results and reasoning are carried over; what is none of
these (a picture, a part of another kind) would be lost, so such a conversation is refused with the place; and so is one
whose words would be taken for tags.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from compactor.core.messages import Message, Role, groups
from compactor.core.results import results
from compactor.formats.anthropic import THOUGHT
from compactor.formats.convert_tools import for_anthropic, for_openai, for_sharegpt
from compactor.formats.sharegpt_turns import message as read_turn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from compactor.core.messages import Call, Conversation, Result


class Target(StrEnum):
    """The formats that can be written from any other; `same` stands for the conversation's own."""

    SAME = "same"
    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    SHAREGPT = "sharegpt"


class CannotConvertError(Exception):
    """What a conversation holds that the target has no place for; the text names message and reason."""


def converted(conversation: Conversation, messages: Sequence[Message], target: Target) -> bytes:
    """Write `messages` as a line of the target format. Raises CannotConvertError where something would be lost."""
    for number, message in enumerate(messages, 1):
        if message.image_tokens or message.other or any(r.image_tokens for r in message.results):
            raise CannotConvertError(f"message {number} holds an image, or a part that is not text")
    row = _WRITERS[target](_numbered(messages))
    if conversation.preamble:
        row["tools"] = _TOOLS[target](conversation.preamble)
    return json.dumps(row, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"


def _numbered(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Give every call an id of its own where ids are missing or repeat, and its results the same."""
    seen: set[str] = set()
    ids: dict[tuple[int, int], str] = {}
    for n, message in enumerate(messages):
        for c, call in enumerate(message.calls):
            fresh = call.id if re.fullmatch(r"[\w-]+", call.id) and call.id not in seen else f"call_{n}_{c}"
            seen.add(fresh)
            ids[n, c] = fresh
    answers: dict[tuple[int, int], str] = {}
    for group in groups(messages):
        free = list(range(len(messages[group.start].calls)))
        for spot, answered, _ in results(messages, (group,)):
            ordinal = next((c for c in free if messages[group.start].calls[c] is answered), None)
            if ordinal is not None:
                free.remove(ordinal)
                answers[spot.message, spot.result] = ids[group.start, ordinal]
    return tuple(_renamed(n, message, ids, answers) for n, message in enumerate(messages))


def _renamed(n: int, message: Message, ids: dict[tuple[int, int], str], answers: dict[tuple[int, int], str]) -> Message:
    calls = tuple(replace(call, id=ids[n, c]) for c, call in enumerate(message.calls))
    found = tuple(replace(r, call_id=answers.get((n, k), r.call_id)) for k, r in enumerate(message.results))
    return replace(message, calls=calls, results=found)


def _apart(message: Message) -> tuple[Message, ...]:
    """Take the results of tools that a model's server ran out of the answer that called them."""
    if not (message.calls and message.results):
        return (message,)
    return replace(message, results=()), Message(Role.TOOL, results=message.results)


def _openai(messages: Sequence[Message]) -> dict[str, Any]:
    written: list[dict[str, Any]] = []
    for message in (part for whole in messages for part in _apart(whole)):
        written += [
            {"role": "tool", "tool_call_id": r.call_id, "content": r.text, **({"name": r.name} if r.name else {})}
            for r in message.results
        ]
        if message.role is not Role.TOOL and (message.text or message.calls or not message.results):
            written.append(_openai_message(message))
    return {"messages": written}


def _openai_message(message: Message) -> dict[str, Any]:
    made: dict[str, Any] = {"role": str(message.role), "content": message.text}
    if message.name:
        made["name"] = message.name
    if message.reasoning:
        made["reasoning_content"] = message.reasoning
    if message.calls:
        made["content"] = message.text or None
        made["tool_calls"] = [
            {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
            for c in message.calls
        ]
    return made


def _anthropic(messages: Sequence[Message]) -> dict[str, Any]:
    first = next((n for n, m in enumerate(messages) if m.role is not Role.SYSTEM), len(messages))
    late = next((n for n, m in enumerate(messages) if n > first and m.role is Role.SYSTEM), None)
    if late is not None:
        raise CannotConvertError(f"message {late + 1} is a system message after the beginning")
    if first < len(messages) and messages[first].role is Role.ASSISTANT:
        raise CannotConvertError(f"message {first + 1} is of the assistant, where Anthropic wants the user first")
    written: list[dict[str, Any]] = []
    for number, message in _numbered_parts(messages, first):
        role = "assistant" if message.role is Role.ASSISTANT else "user"
        if role == "assistant" and THOUGHT.fullmatch(message.text):
            raise CannotConvertError(f"message {number} has words that would be read as reasoning")
        blocks = list(_blocks(message))
        if written and written[-1]["role"] == role:
            written[-1]["content"] += blocks
        else:
            written.append({"role": role, "content": blocks})
    row: dict[str, Any] = {"messages": written}
    if first:
        row["system"] = "\n\n".join(m.text for m in messages[:first])
    return row


def _blocks(message: Message) -> Iterator[dict[str, Any]]:
    """Give the blocks of a message; reasoning has no signature here, so it is carried as text in tags."""
    for r in message.results:
        failed = {"is_error": True} if r.failed else {}
        yield {"type": "tool_result", "tool_use_id": r.call_id, "content": r.text, **failed}
    if message.reasoning:
        yield {"type": "text", "text": f"<think>\n{message.reasoning}\n</think>"}
    if message.text:
        yield {"type": "text", "text": message.text}
    for call in message.calls:
        yield {"type": "tool_use", "id": call.id, "name": call.name, "input": _arguments(call)}


def _arguments(call: Call) -> dict[str, Any]:
    try:
        value = json.loads(call.arguments or "{}")
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise CannotConvertError(f"the arguments of a call to {call.name} are no JSON object")
    return value


_NAMES = {Role.SYSTEM: "system", Role.USER: "human", Role.ASSISTANT: "gpt"}


def _sharegpt(messages: Sequence[Message]) -> dict[str, Any]:
    """Write turns in the form of Hermes trajectories: calls and results as tags inside the text."""
    turns: list[dict[str, str]] = []
    answers: list[Result] = []
    asked: list[str] = []
    for number, message in _numbered_parts(messages):
        answers += message.results
        if message.role is Role.TOOL:
            continue
        turns += _answered(answers, asked)
        answers, asked = [], [call.id for call in message.calls]
        if message.text or message.calls or message.reasoning or not message.results:
            turns.append(_turn(message, number))
    return {"conversations": [*turns, *_answered(answers, asked)]}


def _answered(answers: Sequence[Result], asked: Sequence[str]) -> list[dict[str, str]]:
    """Write results as one turn, in the order of their calls, which have no ids there; those of none come last."""
    places = {call_id: n for n, call_id in enumerate(asked)}
    ordered = sorted(answers, key=lambda r: places.get(r.call_id, len(places)))
    tags = [_tag("tool_response", {"tool_call_id": r.call_id, "name": r.name, "content": r.text}) for r in ordered]
    return [{"from": "tool", "value": "\n".join(tags)}] if tags else []


def _turn(message: Message, number: int) -> dict[str, str]:
    turn = {"from": _NAMES[message.role], "value": _value(message)}
    again = read_turn(turn)
    if again is None or (again.text, again.reasoning) != (message.text, message.reasoning):
        raise CannotConvertError(f"message {number} has words that would be read as tags")
    return turn


def _numbered_parts(messages: Sequence[Message], start: int = 0) -> Iterator[tuple[int, Message]]:
    """Give the parts of each message from ordinal `start` on, with the number of the message as people count."""
    for number, whole in enumerate(messages[start:], start + 1):
        for part in _apart(whole):
            yield number, part


def _value(message: Message) -> str:
    thought = f"<think>\n{message.reasoning}\n</think>" if message.reasoning else ""
    calls = [_tag("tool_call", {"name": c.name, "arguments": _arguments(c)}) for c in message.calls]
    return "\n".join(filter(None, (thought, message.text, *calls)))


def _tag(name: str, value: dict[str, Any]) -> str:
    return f"<{name}>\n{json.dumps(value, ensure_ascii=False)}\n</{name}>"


_WRITERS: dict[Target, Callable[[Sequence[Message]], dict[str, Any]]] = {
    Target.OPENAI: _openai,
    Target.ANTHROPIC: _anthropic,
    Target.SHAREGPT: _sharegpt,
}
_TOOLS: dict[Target, Callable[[str], object]] = {
    Target.OPENAI: for_openai,
    Target.ANTHROPIC: for_anthropic,
    Target.SHAREGPT: for_sharegpt,
}
