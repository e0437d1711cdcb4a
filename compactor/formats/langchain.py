"""Which conversations does this file of LangChain messages hold, in which of its three spellings?

`messages_to_dict` puts a message under `data`, `dumpd` under `kwargs` with a class to construct (`lc`, told by the last
element of `id`), `model_dump` leaves it flat. Each comes a message a line, a conversation a line, or as one array. What
is no message of a model's (RemoveMessage) stays among its neighbours; there is no mark for a compaction.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from compactor.core.messages import Message, Result, Role
from compactor.formats import media
from compactor.formats.langchain_edits import BODIES, constructor_bytes, flat_bytes, kept_bytes, nested_bytes
from compactor.formats.langchain_parts import calls, content, reasoning, string
from compactor.formats.layouts import Turns
from compactor.formats.openai_chat import TURNS as OPENAI
from compactor.formats.row import Format
from compactor.formats.values import MalformedError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROLES = {
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "human": Role.USER,
    "user": Role.USER,
    "ai": Role.ASSISTANT,
    "assistant": Role.ASSISTANT,
    "tool": Role.TOOL,
    "function": Role.TOOL,
}
KINDS = frozenset(ROLES) | {"chat", "remove"}
# Types that no other format gives to a flat message with `content`.
OWN_KINDS = frozenset({"human", "ai"})


def detect(values: Sequence[Mapping[str, object]]) -> bool:
    """Tell from the first objects of a file whether it is ours."""
    return any(_is_ours(turn) for value in values for turn in _turns(value))


def _turns(value: Mapping[str, object]) -> list[Mapping[str, object]]:
    listed = TURNS.listed(value)
    return [value] if listed is None else [turn for turn in listed if isinstance(turn, dict)]


def _is_ours(turn: Mapping[str, object]) -> bool:
    if "role" in turn:
        return False
    body = BODIES.get(_spelling(turn), "")
    kind = _kind(turn)
    return kind in KINDS if body else kind in OWN_KINDS and "content" in turn


def _spelling(turn: Mapping[str, object]) -> str:
    """Name the spelling by the key that tells it: `lc`, `data`, or ""."""
    if "lc" in turn and isinstance(turn.get("kwargs"), dict):
        return "lc"
    return "data" if isinstance(turn.get("data"), dict) else ""


def _kind(turn: Mapping[str, object]) -> str:
    """Give the kind of a message: "human" for HumanMessage, HumanMessageChunk and human."""
    named = turn.get("type")
    if _spelling(turn) == "lc":
        path = turn.get("id")
        named = path[-1] if isinstance(path, list) and path else ""
    plain = str(named).removesuffix("Chunk").removesuffix("Message")
    return plain.lower() if plain else str(named).lower()


def message(value: Mapping[str, object]) -> Message | None:
    """Read one message; None for what no model reads. Raises MalformedError with a path from `$`."""
    key = BODIES.get(_spelling(value), "")
    body = value[key] if key else value
    path = f"$.{key}" if key else "$"
    kind = _kind(value)
    if not isinstance(body, dict) or kind not in KINDS or kind == "remove":
        return None
    role = ROLES.get(str(body.get("role")).lower(), Role.USER) if kind == "chat" else ROLES[kind]
    if "content" not in body:
        raise MalformedError(f"{path}.content", f"missing; there is {', '.join(body) or 'nothing'}")
    found = content(body["content"], f"{path}.content")
    name = string(body.get("name"), f"{path}.name")
    if role is Role.TOOL:
        text = "\n".join((*found.texts, *found.shown))
        call_id = string(body.get("tool_call_id"), f"{path}.tool_call_id")
        failed = body.get("status") == "error"
        return Message(role, results=(Result(call_id, text, name, failed, found.tokens),))
    made = calls(body, path) if role is Role.ASSISTANT else ()
    clean = [media.scrubbed(call.arguments) for call in made]
    return Message(
        role,
        "\n".join(found.texts),
        tuple(replace(call, arguments=shown.text) for call, shown in zip(made, clean, strict=True)),
        reasoning="\n".join(dict.fromkeys((*found.reasoning, *reasoning(body)))),
        name=name,
        other="\n".join(found.shown),
        image_tokens=found.tokens + sum(shown.tokens for shown in clean),
    )


def _like(listed: Sequence[object]) -> Turns:
    """Tell the spelling of a list by its first message."""
    first = next((turn for turn in listed if isinstance(turn, dict) and _is_ours(turn)), {})
    writes = {"lc": constructor_bytes, "data": nested_bytes}.get(_spelling(first), flat_bytes)
    if writes is constructor_bytes and isinstance(path := first.get("id"), list):
        named = [str(part) for part in path[:-1]]
        return replace(TURNS, handoff=lambda handoff: constructor_bytes(handoff, named))
    return replace(TURNS, handoff=writes)


TURNS = Turns(("messages",), "type", message, OPENAI.preamble, nested_bytes, kept_bytes, like=_like)
FORMAT = Format(
    name="langchain",
    title="LangChain messages",
    expects='messages as {"type": "human", "data": {...}}, {"lc": 1, "id": [...], "kwargs": {...}} or flat, one a '
    'line, in an array or under "messages"',
    detect=detect,
    read=TURNS.read,
)
