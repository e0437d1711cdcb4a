"""What did a model read of this LangChain message?

The arguments of calls are objects here. Vendors' classes put the same call into a message more than once (as a block of
the content, among the raw `additional_kwargs`, as chunks of a stream); it counts once. The `artifact` of a tool message
is for programs: no model reads it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from compactor.core.messages import Call, Message, Result, Role
from compactor.formats import media
from compactor.formats.langchain_blocks import content, text_in
from compactor.formats.openai_messages import ROLES, MalformedError, compact
from compactor.formats.records import brief

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

KINDS: Final = {
    "human": Role.USER,
    "ai": Role.ASSISTANT,
    "system": Role.SYSTEM,
    "tool": Role.TOOL,
    "function": Role.TOOL,
    "chat": None,  # says its role itself
    "remove": None,
}
ALL_OF_THEM = "__remove_all__"  # LangGraph's id for all messages before
_CLASS = re.compile(r"(\w+?)(?:Message(?:Chunk)?)?")
# Where calls stand, the first place first; in the later ones they are mostly there a second time.
SOURCES: Final = (
    ("tool_calls",),
    ("invalid_tool_calls",),
    ("additional_kwargs", "tool_calls"),
    ("additional_kwargs", "function_call"),
    ("content",),
    ("tool_call_chunks",),
)
CALL_BLOCKS = frozenset({"tool_use", "tool_call", "function_call", "invalid_tool_call"})


class Spelling(NamedTuple):
    """How messages are spelt: the key that their members stand under ("" if none), and the path of dumpd's classes."""

    key: str
    classes: tuple[object, ...] = ()


class Opened(NamedTuple):
    """A message: its kind (a key of KINDS), its members, and how it is spelt."""

    kind: str
    inner: Mapping[str, object]
    spelling: Spelling


class Standing(NamedTuple):
    """Where a call stands: its source, its place in that, and its ordinal among the calls of the message."""

    source: tuple[str, ...]
    place: int
    ordinal: int
    call: Call


def opened(value: object) -> Opened | None:
    """Find the members of a message; None if `value` is none. Of dumpd's class path only the last name counts."""
    if not isinstance(value, dict):
        return None
    kwargs, data, names = value.get("kwargs"), value.get("data"), value.get("id")
    if "lc" in value and isinstance(kwargs, dict) and isinstance(names, list) and names:
        found = Opened(_kind(names[-1]), kwargs, Spelling("kwargs", tuple(names[:-1])))
    elif isinstance(data, dict):
        found = Opened(_kind(value.get("type")), data, Spelling("data"))
    else:
        found = Opened(_kind(value.get("type")), value, Spelling(""))
    return found if found.kind in KINDS else None


def _kind(name: object) -> str:
    found = _CLASS.fullmatch(name) if isinstance(name, str) else None
    return found.group(1).lower() if found else ""


def message(found: Opened) -> Message | None:
    """Read one message; None for a RemoveMessage. Raises MalformedError with a path from `$`, the message."""
    path = f"$.{found.spelling.key}" if found.spelling.key else "$"
    inner = found.inner
    if found.kind == "remove":
        return None
    name = _string(inner.get("name"), f"{path}.name")
    role = KINDS[found.kind] or ROLES.get(_string(inner.get("role"), f"{path}.role"), Role.USER)
    read = content(inner.get("content"), f"{path}.content", of_model=role is Role.ASSISTANT)
    if role is Role.TOOL:
        text = "\n".join((*read.texts, *read.shown))
        call_id = _string(inner.get("tool_call_id"), f"{path}.tool_call_id")
        failed = inner.get("status") == "error"
        return Message(role, results=(Result(call_id, text, name, failed, read.tokens),))
    calls, in_calls = distinct(standing(inner, path)) if role is Role.ASSISTANT else ((), 0)
    return Message(
        role,
        "\n".join(read.texts),
        calls=calls,
        reasoning="\n".join(_reasoning(inner, read.reasoning)),
        name=name,
        other="\n".join(read.shown),
        image_tokens=read.tokens + in_calls,
    )


def _string(value: object, path: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise MalformedError(path, f"{brief(value)} is not a string")
    return value


def _reasoning(inner: Mapping[str, object], blocks: Sequence[str]) -> list[str]:
    """Every distinct reasoning text once: that of blocks, and what vendors' classes put among the raw arguments."""
    extra = inner.get("additional_kwargs")
    raw = [extra.get("reasoning_content"), text_in(extra.get("reasoning"))] if isinstance(extra, dict) else []
    return list(dict.fromkeys(t for t in (*blocks, *raw) if isinstance(t, str) and t))


def distinct(found: Sequence[Standing]) -> tuple[tuple[Call, ...], int]:
    """Give each call once, without base64, and the price of that in tokens."""
    calls = {s.ordinal: s.call for s in reversed(found)}
    shown = {n: media.scrubbed(call.arguments) for n, call in calls.items()}
    clean = tuple(Call(calls[n].id, calls[n].name, shown[n].text) for n in sorted(calls))
    return clean, sum(s.tokens for s in shown.values())


def standing(inner: Mapping[str, object], path: str = "$") -> list[Standing]:
    """Find all places of calls. One with the id, or without ids the place, of a call in an earlier source is that."""
    found: list[Standing] = []
    for source in SOURCES:
        known = [(s.ordinal, s.call.id) for s in found]
        count = len({s.ordinal for s in found})
        for number, (place, value) in enumerate(_entries(inner, source, path)):
            call = _call(value, f"{path}.{'.'.join(source)}[{place}]")
            same = [n for n, name in known if (name == call.id if call.id else n == number)]
            ordinal = same[0] if same else count
            count += not same
            if same or source != ("tool_call_chunks",):
                found.append(Standing(source, place, ordinal, call))
    return found


def _entries(inner: Mapping[str, object], source: tuple[str, ...], path: str) -> list[tuple[int, dict[str, object]]]:
    value: object = inner
    for key in source:
        value = value.get(key) if isinstance(value, dict) else None
    if source[-1] == "function_call":
        value = [value] if isinstance(value, dict) else []
    if source == ("content",):
        blocks = value if isinstance(value, list) else []
        return [(n, b) for n, b in enumerate(blocks) if isinstance(b, dict) and b.get("type") in CALL_BLOCKS]
    if value is not None and not isinstance(value, list):
        raise MalformedError(f"{path}.{'.'.join(source)}", f"{brief(value)} is not an array or null")
    odd = next((n for n, entry in enumerate(value or ()) if not isinstance(entry, dict)), None)
    if odd is not None:
        raise MalformedError(f"{path}.{'.'.join(source)}[{odd}]", "not an object")
    return [(n, entry) for n, entry in enumerate(value or ()) if isinstance(entry, dict)]


def _call(value: Mapping[str, object], path: str) -> Call:
    inner = value.get("function")
    inner = inner if isinstance(inner, dict) else value
    call_id = _string(value.get("call_id") or value.get("id"), f"{path}.id")
    key = next((key for key in ("args", "arguments", "input") if inner.get(key) is not None), "args")
    arguments = inner.get(key)
    written = arguments if isinstance(arguments, str) else compact({} if arguments is None else arguments, path)
    return Call(call_id, _string(inner.get("name"), f"{path}.name"), written)


def removed(listed: Sequence[object]) -> frozenset[int]:
    """Find the ordinals of the messages that a later RemoveMessage takes back."""
    gone: set[int] = set()
    named: dict[object, list[int]] = {}
    for n, value in enumerate(listed):
        found = opened(value)
        name = found.inner.get("id") if found else None
        if not found or not isinstance(name, str):
            continue
        if found.kind == "remove":
            gone |= set(range(n)) if name == ALL_OF_THEM else set(named.get(name, ()))
        else:
            named.setdefault(name, []).append(n)
    return frozenset(gone)
