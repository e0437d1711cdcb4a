"""Which items of a Codex session does the client send when it resumes, by the rules by which it replays the file?

`response_item` records are added one after the other. A `compacted` record puts its `replacement_history` in the place
of all before it; an old one, without, puts the user's messages and its summary there. `thread_rolled_back` drops the
last turns of the user. All other records are for the screen or for the client itself. What it writes in the user's
name (instructions, the environment) is no word of the user's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from compactor.core.handoff import KNOWN_PREFIXES
from compactor.core.messages import Role
from compactor.formats.jsonbytes import elements, members, whole
from compactor.formats.records import MISSING, brief
from compactor.formats.responses_edits import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from compactor.formats.records import Record

UNKNOWN_PREFIX = "[CONTEXT SUMMARY]: "  # before a summary that no known compactor has begun in its way
INJECTED = (
    "# AGENTS.md instructions",
    "<INSTRUCTIONS>",
    "<user_instructions>",
    "<environment_context>",
    "<environments",
    "<skill>",
    "<turn_aborted>",
    "<subagent_notification>",
)
_UNSENT = frozenset({"ghost_snapshot"})  # items for the client itself, with which it undoes


@dataclass(frozen=True, slots=True)
class Live:
    """An item that is still in force: its record, its bytes and value.

    `element` is its ordinal in the record's `replacement_history`, -1 if the record is the item itself. Without a value
    it could not be read; `problem` says why.
    """

    record: int
    raw: bytes
    value: Mapping[str, object] | None
    element: int = -1
    problem: str = ""


class Replay(NamedTuple):
    """What is in force: the items, and the newest `compacted` record, by ordinal (-1: none)."""

    items: tuple[Live, ...]
    mark: int = -1


def kind_of(record: Record) -> str:
    """Give the type of a record, "" if it has none."""
    kind = None if record.value is MISSING else record.value.get("type")
    return kind if isinstance(kind, str) else ""


def payload_of(record: Record) -> Mapping[str, object]:
    """Give what a record carries, {} if that is no object."""
    payload = None if record.value is MISSING else record.value.get("payload")
    return payload if isinstance(payload, dict) else {}


def event_of(record: Record) -> str:
    """Give the type of the event that a record tells, "" if it tells none."""
    kind = payload_of(record).get("type") if kind_of(record) == "event_msg" else None
    return kind if isinstance(kind, str) else ""


def replay(records: Sequence[Record]) -> Replay:
    """Find what is in force after all records."""
    items: list[Live] = []
    mark = -1
    start = max((n for n, record in enumerate(records) if _has_history(record)), default=0)
    for n, record in enumerate(records[start:], start):
        kind = kind_of(record)
        if kind == "compacted":
            items, mark = _compacted(record, n, items), n
        elif kind == "response_item":
            items += _item(record, n)
        elif event_of(record) == "thread_rolled_back":
            items = _without_turns(items, payload_of(record).get("num_turns"))
    return Replay(tuple(items), mark)


def _has_history(record: Record) -> bool:
    return kind_of(record) == "compacted" and isinstance(payload_of(record).get("replacement_history"), list)


def _item(record: Record, ordinal: int) -> Iterator[Live]:
    payload = payload_of(record)
    if not payload:
        found = record.value.get("payload") if record.value is not MISSING else None
        yield Live(ordinal, record.raw, None, problem=f"{brief(found)} is not an item")
    elif payload.get("type") not in _UNSENT:
        yield Live(ordinal, members(record.raw, whole(record.raw))["payload"].of(record.raw), payload)


def _compacted(record: Record, ordinal: int, before: Sequence[Live]) -> list[Live]:
    payload = payload_of(record)
    history = payload.get("replacement_history")
    said = payload.get("message")
    summary = said if isinstance(said, str) else ""
    if not isinstance(history, list):
        kept = [one for one in before if is_user(one)]
        return [*kept, Live(ordinal, *_summary(summary), element=0)] if summary.strip() else kept
    place = members(record.raw, members(record.raw, whole(record.raw))["payload"])["replacement_history"]
    items = []
    for n, (value, span) in enumerate(zip(history, elements(record.raw, place), strict=True)):
        item = value if isinstance(value, dict) else None
        if item and item.get("type") in _UNSENT:
            continue
        problem = "" if item else f"{brief(value)} is not an item"
        items.append(Live(ordinal, span.of(record.raw), item, n, problem))
    return _with_summary(items, summary)


def _with_summary(items: list[Live], summary: str) -> list[Live]:
    """Let the message that says the summary be known as one, however it begins."""
    last = items[-1] if items else None
    if not last or not summary.strip() or _said(last) != [summary] or summary.lstrip().startswith(KNOWN_PREFIXES):
        return items
    return [*items[:-1], Live(last.record, last.raw, _summary(summary)[1], last.element)]


def _summary(text: str) -> tuple[bytes, Mapping[str, object]]:
    text = text if text.lstrip().startswith(KNOWN_PREFIXES) else UNKNOWN_PREFIX + text
    value = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
    return words(Role.USER, text), value


def is_user(item: Live) -> bool:
    """Tell whether an item is a message of the user's own, not a summary."""
    return _is_in_users_name(item) and not is_injected(item) and not _begins(item, KNOWN_PREFIXES)


def is_injected(item: Live) -> bool:
    """Tell whether the client wrote a message in the user's name."""
    return _is_in_users_name(item) and _begins(item, INJECTED)


def _is_in_users_name(item: Live) -> bool:
    value = item.value or {}
    return value.get("type", "message") == "message" and value.get("role") == "user"


def _begins(item: Live, prefixes: tuple[str, ...]) -> bool:
    said = _said(item)
    return bool(said) and all(text.lstrip().startswith(prefixes) for text in said)


def _said(item: Live) -> list[str]:
    content = (item.value or {}).get("content")
    if isinstance(content, str):
        return [content]
    parts = content if isinstance(content, list) else []
    return [text for part in parts if isinstance(part, dict) and isinstance(text := part.get("text"), str)]


def _without_turns(items: list[Live], turns: object) -> list[Live]:
    """Drop so many turns of the user's from the end; before the first one nothing goes."""
    starts = [n for n, item in enumerate(items) if is_user(item)]
    if type(turns) is not int or turns <= 0 or not starts:
        return items
    return items[: starts[max(len(starts) - turns, 0)]]
