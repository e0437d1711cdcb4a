"""Which records of a Codex session stay in a smaller file, and what do they say of the size of the context?

With a new mark: `session_meta`, what cannot be read and kinds that nobody here knows stay. Of the turns that the mark
stands for all goes; the head is in the mark, and its events stay before it, for the client's list of sessions the first
message of the user's in any case. Of the tail all stays but `world_state` and `turn_context`, which would tell the
client that its instructions are still in the context; the newest `turn_context` stands before the mark, to say with
which model and where the session went on. Without a new mark a `turn_context` goes that repeats
the one before it. In both, token counts after the first change say that the context is empty, or the client would
compact again at once; and an event about a call goes if the result of that call was pruned, which it repeats.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from compactor.formats.codex_session import event_of, kind_of, payload_of
from compactor.formats.jsonbytes import members, patched, rewritten, whole
from compactor.formats.records import MISSING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from compactor.formats.records import Record

# What the client tells of a session, not of a turn.
_LASTING = frozenset({"thread_name_updated", "thread_goal_updated"})
# Records that belong to turns; all others belong to the session.
_OF_TURNS = frozenset({"response_item", "event_msg", "turn_context", "world_state", "token_usage_record", "compacted"})
_BASELINES = frozenset({"turn_context", "world_state"})
# Of the tail: what stays of these is chosen one by one.
_DROPPED = _BASELINES | {"response_item", "compacted"}
# Events after which nothing belongs to what comes before them.
_CLOSING = frozenset(
    {"task_complete", "turn_complete", "turn_aborted", "user_message", "context_compacted", "thread_rolled_back"}
)
_COUNTS = frozenset(
    {
        "input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens", "reasoning_output_tokens",
        "total_tokens",
    }
)  # fmt: skip


class Around(NamedTuple):
    """Ordinals of records around a new mark: those that stay before it and after it."""

    before: tuple[int, ...]
    after: tuple[int, ...]


def around(records: Sequence[Record], head: int, tail: int, kept: Collection[int]) -> Around:
    """Choose what stays around a new mark.

    `head` is the first record that is not of the head, `tail` the first of the tail; `kept` are the records of items
    that stay where they are.
    """
    start = _leading(records, tail)
    context = max((n for n, record in enumerate(records) if kind_of(record) == "turn_context"), default=-1)
    preview = next((n for n, record in enumerate(records) if event_of(record) == "user_message"), -1)
    before: list[int] = []
    after: list[int] = []
    for n, record in enumerate(records):
        kind, event = kind_of(record), event_of(record)
        if kind not in _OF_TURNS or event in _LASTING or n in kept:
            (before if n < start else after).append(n)
        elif n >= start and (kind not in _DROPPED or _unsent(record)):
            after += [n] if event != "thread_rolled_back" else []
        elif n == preview or (event and n < min(head, start) and event != "token_count"):
            before.append(n)
    if context >= 0:
        before.append(context)
    return Around(tuple(before), tuple(after))


def _unsent(record: Record) -> bool:
    return kind_of(record) == "response_item" and payload_of(record).get("type") == "ghost_snapshot"


def _leading(records: Sequence[Record], tail: int) -> int:
    """Find the first record that belongs to the tail: what the client writes before an item is about that item."""
    start = tail
    while start and kind_of(records[start - 1]) in _OF_TURNS - {"response_item", "compacted"}:
        if event_of(records[start - 1]) in _CLOSING:
            break
        start -= 1
    return start


def repeated(records: Sequence[Record]) -> frozenset[int]:
    """Find each `turn_context` that says what the one before it says."""
    found = set()
    last: object = None
    for n, record in enumerate(records):
        if kind_of(record) == "turn_context":
            payload = payload_of(record)
            found |= {n} if payload == last else set()
            last = payload
    return frozenset(found)


def about(record: Record, calls: Collection[str]) -> bool:
    """Tell whether a record is an event about one of `calls`, given by id."""
    if not event_of(record):
        return False
    payload = payload_of(record)
    item = payload.get("item")
    ids = [payload.get("call_id"), payload.get("callId"), item.get("id") if isinstance(item, dict) else None]
    return any(isinstance(one, str) and one in calls for one in ids)


def lowered(record: Record) -> bytes:
    """Write a record with the size of the context that it tells, if any, taken for nothing."""
    raw = record.raw
    info = payload_of(record).get("info")
    if event_of(record) != "token_count" or not isinstance(info, dict) or record.value is MISSING:
        return raw
    if not isinstance(info.get("last_token_usage"), dict):
        return raw
    place = members(raw, members(raw, whole(raw))["payload"])["info"]
    usage = members(raw, place)["last_token_usage"]
    known = members(raw, usage)
    return patched(raw, [(usage, rewritten(raw, usage, dict.fromkeys(_COUNTS & known.keys(), b"0")))])
