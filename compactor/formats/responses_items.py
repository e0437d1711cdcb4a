"""What does one item of OpenAI's Responses API say: words, a thought, a call, a result, or something else?

An item says one thing; which items make one message is the affair of `responses_turns`. Kinds that nobody here knows
are kept and charged as they stand, without what is encrypted in them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import TYPE_CHECKING, Final

from compactor.core.messages import Call, Message, Result, Role
from compactor.core.tokens import PER_IMAGE
from compactor.formats import media
from compactor.formats.openai_messages import ROLES, message
from compactor.formats.records import brief
from compactor.formats.values import MalformedError, compact

if TYPE_CHECKING:
    from collections.abc import Mapping

# The kinds of calls, and where each says what is called ("" for the tool that the kind itself is) and with what.
_CALLS: Final[Mapping[str, tuple[str, str]]] = {
    "function_call": ("", "arguments"),
    "custom_tool_call": ("", "input"),
    "tool_search_call": ("tool_search", "arguments"),
    "local_shell_call": ("local_shell", "action"),
    "shell_call": ("shell", "action"),
    "apply_patch_call": ("apply_patch", "operation"),
    "computer_call": ("computer", "action"),
    "mcp_approval_request": ("", "arguments"),
}
_RESULTS: Final[Mapping[str, str]] = {
    "function_call_output": "output",
    "custom_tool_call_output": "output",
    "local_shell_call_output": "output",
    "shell_call_output": "output",
    "apply_patch_call_output": "output",
    "computer_call_output": "output",
    "tool_search_output": "tools",
    "mcp_approval_response": "approve",
}
# A stub is a string: results of these kinds may not be one. An approval is the user's own word besides.
_NO_STUB = frozenset({"computer_call_output", "tool_search_output", "mcp_approval_response"})
_SERVED = frozenset(
    {
        "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_call",
        "mcp_list_tools", "item_reference",
    }
)  # fmt: skip
_COMPACTIONS = frozenset({"compaction", "compaction_summary", "context_compaction"})
KINDS = frozenset({*_CALLS, *_RESULTS, *_SERVED, *_COMPACTIONS, "message", "reasoning"})
SPEAKERS = frozenset(name for name, role in ROLES.items() if role is not Role.TOOL)
_IDS = ("call_id", "id", "approval_request_id")
# What is encrypted grows with the tokens that it holds: fitted to the 43 reasoning items of a Codex session whose sizes
# the API had stated (sum of the fit: 19,185 tokens; stated: 19,968).
_SEALED_ENVELOPE = 900
_SEALED_PER_TOKEN = 6.4


class Kind(Enum):
    """What an item is in a conversation. Only WORDS can be anybody's; the model said all else but RESULT."""

    WORDS = auto()
    THOUGHT = auto()
    CALL = auto()
    RESULT = auto()
    OTHER = auto()
    COMPACTION = auto()


@dataclass(frozen=True, slots=True)
class Item:
    """One item: its kind, what it says as a message of its own, and the tokens of what is encrypted in it."""

    kind: Kind
    message: Message
    sealed: int = 0


def is_item(value: Mapping[str, object]) -> bool:
    """Tell whether `value` is an item, of whatever kind: it has a type, or is a message by its role."""
    return isinstance(value.get("type"), str) or value.get("role") in SPEAKERS


def is_own(value: Mapping[str, object]) -> bool:
    """Tell whether `value` is an item that no other API has."""
    kind = value.get("type")
    if kind == "message":
        content = value.get("content")
        parts = [p.get("type") for p in content if isinstance(p, dict)] if isinstance(content, list) else []
        return value.get("role") in SPEAKERS and not {"input_text", "output_text"}.isdisjoint(parts)
    if kind == "reasoning":
        return isinstance(value.get("summary"), list)
    if kind in _COMPACTIONS:
        return isinstance(value.get("encrypted_content"), str)
    return kind in KINDS and any(isinstance(value.get(key), str) for key in _IDS)


def item(value: Mapping[str, object]) -> Item:
    """Read one item. Raises MalformedError with a path from `$`, the item."""
    kind = value.get("type", "message")
    if not isinstance(kind, str):
        raise MalformedError("$.type", f"{brief(kind)} is not a string")
    if kind == "message":
        if value.get("role") not in SPEAKERS:
            raise MalformedError("$.role", f"{brief(value.get('role'))} is no role of a message")
        return Item(Kind.WORDS, message(value))
    if kind == "reasoning":
        return Item(Kind.THOUGHT, Message(Role.ASSISTANT, reasoning=_thought(value)), _sealed(value))
    if kind in _CALLS:
        return Item(Kind.CALL, _call(value, kind))
    if kind in _RESULTS:
        return Item(Kind.RESULT, _result(value, kind))
    return Item(Kind.COMPACTION if kind in _COMPACTIONS else Kind.OTHER, _other(value), _sealed(value))


def _text(value: Mapping[str, object], key: str) -> str:
    found = value.get(key)
    if found is None:
        return ""
    if not isinstance(found, str):
        raise MalformedError(f"$.{key}", f"{brief(found)} is not a string")
    return found


def _sealed(value: object) -> int:
    """Price what is encrypted in `value`, in tokens."""
    if isinstance(value, list):
        return sum(_sealed(part) for part in value)
    if not isinstance(value, dict):
        return 0
    found = value.get("encrypted_content")
    size = len(found) - _SEALED_ENVELOPE if isinstance(found, str) else 0
    return int(max(size, 0) / _SEALED_PER_TOKEN) + _sealed(value.get("content"))


def _opened(value: Mapping[str, object]) -> dict[str, object]:
    """Leave out what is encrypted."""
    content = value.get("content")
    found = {key: member for key, member in value.items() if key != "encrypted_content"}
    if isinstance(content, list):
        found["content"] = [_opened(part) if isinstance(part, dict) else part for part in content]
    return found


def _thought(value: Mapping[str, object]) -> str:
    texts = []
    for key in ("summary", "content"):
        listed = value.get(key)
        if listed is not None and not isinstance(listed, list):
            raise MalformedError(f"$.{key}", f"{brief(listed)} is not an array")
        texts += [part.get("text") for part in listed or () if isinstance(part, dict)]
    return "\n".join(text for text in texts if isinstance(text, str) and text)


def _call(value: Mapping[str, object], kind: str) -> Message:
    fixed, key = _CALLS[kind]
    name = fixed or ".".join(filter(None, (_text(value, "namespace"), _text(value, "name"))))
    given = value.get(key, value.get("actions"))
    if kind == "custom_tool_call":  # plain text: as JSON like the arguments of all other calls
        given = {key: given}
    text = given if isinstance(given, str) else "" if given is None else compact(given, f"$.{key}")
    shown = media.scrubbed(text)
    call_id = _text(value, "call_id") or _text(value, "id")
    return Message(Role.ASSISTANT, calls=(Call(call_id, name, shown.text),), image_tokens=shown.tokens)


def _result(value: Mapping[str, object], kind: str) -> Message:
    key = _RESULTS[kind]
    output, failed = value.get(key), value.get("status") == "failed"
    call_id = _text(value, "call_id") or _text(value, "approval_request_id")
    if kind in _NO_STUB:
        shown = media.scrubbed_json(compact(output, f"$.{key}"))
        tokens = PER_IMAGE if kind == "computer_call_output" else shown.tokens
        return Message(Role.TOOL, results=(Result(call_id, shown.text, "", failed, tokens, protected=True),))
    if kind == "shell_call_output" and isinstance(output, list):
        failed = failed or not all(map(_ended_well, output))
        output = [text for part in output if isinstance(part, dict) for text in _streams(part)]
    elif isinstance(output, dict) and "content" in output:  # as Codex wrote it before it wrote strings
        failed = failed or output.get("success") is False
        output = output["content"]
    elif isinstance(output, dict):
        output = [output]
    try:
        read = message({"role": "tool", "content": output, "tool_call_id": call_id})
    except MalformedError as error:
        raise MalformedError(error.path.replace("$.content", f"$.{key}"), error.what) from None
    return Message(Role.TOOL, results=(replace(read.results[0], failed=failed),))


def _streams(part: Mapping[str, object]) -> list[str]:
    return [text for key in ("stdout", "stderr") if isinstance(text := part.get(key), str) and text]


def _ended_well(part: object) -> bool:
    outcome = part.get("outcome") if isinstance(part, dict) else None
    return not isinstance(outcome, dict) or (outcome.get("type") != "timeout" and not outcome.get("exit_code"))


def _other(value: Mapping[str, object]) -> Message:
    shown = media.scrubbed_json(compact(_opened(value), "$"))
    drawn = PER_IMAGE if value.get("type") == "image_generation_call" and value.get("result") else 0
    return Message(Role.ASSISTANT, other=shown.text, image_tokens=shown.tokens + drawn)
