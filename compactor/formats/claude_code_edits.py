"""What are the bytes of a record of a Claude Code session once something in it has changed, or of a new one?

Only values that change are exchanged. `toolUseResult`, the client's own copy of a result for its screen, goes when the
result is replaced by a stub: no model reads it, and it is larger than the result.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

from compactor.core.messages import Role
from compactor.formats.anthropic_blocks import Part, parts
from compactor.formats.anthropic_edits import Change, blocks, note_for
from compactor.formats.jsonbytes import members, quoted, rewritten, whole
from compactor.formats.records import MISSING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from compactor.core.messages import Kept, Message
    from compactor.formats.records import Record

# What a new record takes over from its neighbour, in the client's order.
COMMON = ("isSidechain", "userType", "entrypoint", "cwd", "sessionId", "version", "gitBranch", "slug", "agentId")
_ROLES = {"assistant": Role.ASSISTANT}  # of records by type; all others are the user's
# What the client adds up to know how full the context is.
_INPUT_TOKENS = re.compile(rb'("(?:cache_creation_|cache_read_|ephemeral_\w+_)?input_tokens"\s*:\s*)\d+')


def changes(values: Sequence[Mapping[str, object]], message: Message, kept: Kept) -> list[Change]:
    """Share out what `kept` asks of a message among the records that it stands for."""
    found = []
    calls = results = 0
    note = note_for(message, kept)
    for value in values:
        found_here = _parts(value)
        calls_here, results_here = found_here.count(Part.CALL), found_here.count(Part.RESULT)
        change = Change(
            {n - results: text for n, text in kept.stubs.items() if results <= n < results + results_here},
            frozenset(n - calls for n in kept.without_calls if calls <= n < calls + calls_here),
            frozenset(n - results for n in kept.without_results if results <= n < results + results_here),
            note,
        )
        note = "" if change.without_calls else note
        found.append(change)
        calls, results = calls + calls_here, results + results_here
    return found


def _parts(value: Mapping[str, object]) -> list[Part]:
    message = value.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    return parts(content, _ROLES.get(str(value.get("type")), Role.USER)) if isinstance(content, list) else []


def edited(
    raw: bytes, change: Change, fields: Mapping[str, bytes | None], message: Mapping[str, bytes | None]
) -> bytes:
    """Write a record with a change of its blocks, of members of it, and of members of its `message`.

    A record of which no block would be left (see `empties`) is not to be written.
    """
    if not (change or fields or message):
        return raw
    top, inner = dict(fields), dict(message)
    span = whole(raw)
    found = members(raw, span)
    if change:
        inner["content"] = _content(raw, change)
        if change.stubs and "toolUseResult" in found:
            top["toolUseResult"] = None
    if inner:
        top["message"] = rewritten(raw, found["message"], inner)
    return raw[: span.start] + rewritten(raw, span, top) + raw[span.stop :]


def empties(raw: bytes, change: Change) -> bool:
    """Tell whether `change` leaves no block of the record."""
    if not (change.without_calls or change.without_results):
        return False
    return _content(raw, change)[1:-1].strip() == b""


def _content(raw: bytes, change: Change) -> bytes:
    found = members(raw, whole(raw))
    role = _ROLES.get(json.loads(found["type"].of(raw)), Role.USER)
    return blocks(raw, members(raw, found["message"])["content"], role, change)


def lowered_usage(raw: bytes) -> dict[str, bytes | None]:
    """Give the change to a record's `message` that takes its sizes of the context for nothing; none if it has none.

    The client takes the context to be as large as the last answer says, and compacts at once if that is stale.
    """
    message = members(raw, whole(raw)).get("message")
    usage = members(raw, message).get("usage") if message and message.of(raw).startswith(b"{") else None
    if usage is None:
        return {}
    old = usage.of(raw)
    new = _INPUT_TOKENS.sub(rb"\g<1>0", old)
    return {} if new == old else {"usage": new}


def context_tokens(values: Iterable[Mapping[str, object]]) -> int:
    """Add up how large the last answer says that the context was, in tokens; 0 if none does."""
    total = 0
    for value in values:
        message = value.get("message")
        usage = message.get("usage") if isinstance(message, dict) else None
        if isinstance(usage, dict):
            keys = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
            numbers = [usage.get(key) for key in keys]
            total = sum(n for n in numbers if type(n) is int) or total
    return total


def link(uuid: str) -> bytes:
    """Write the link to a record, "" for none."""
    return quoted(uuid) if uuid else b"null"


def copies(tail: Iterable[tuple[Record, Change]], parent: str) -> Iterator[bytes]:
    """Copy records with ids of their own, each hanging on the one before, the first on `parent`.

    Ids of answers are new as well: the client puts the lines of one answer together wherever they stand.
    """
    seed = parent
    known: dict[str, str] = {}
    for number, (record, change) in enumerate(tail):
        raw = whole(record.raw).of(record.raw)
        if record.value is MISSING or empties(raw, change):
            continue
        uuid = new_id(seed, str(number))
        fields: dict[str, bytes | None] = {"parentUuid": link(parent), "uuid": link(uuid)}
        source = known.get(str(record.value.get("sourceToolAssistantUUID")))
        if source:
            fields["sourceToolAssistantUUID"] = link(source)
        known[str(record.value.get("uuid"))] = uuid
        yield edited(raw, change, fields, lowered_usage(raw) | _new_answer(record.value, seed))
        parent = uuid


def _new_answer(value: Mapping[str, object], seed: str) -> dict[str, bytes | None]:
    message = value.get("message")
    answer = message.get("id") if isinstance(message, dict) else None
    return {"id": quoted("msg_" + new_id(seed, answer).replace("-", "")[:24])} if isinstance(answer, str) else {}


def new_id(*parts: str) -> str:
    """Make an id that repeats for the same parts."""
    text = "\0".join(("claude-code", *parts))
    return str(UUID(bytes=hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest(), version=5))


class Mark(NamedTuple):
    """The client's mark of a compaction: two records, and the id of the second."""

    boundary: bytes
    summary: bytes
    summary_id: str


def mark(neighbour: bytes, text: str, before: str, tokens: int) -> Mark:
    """Write a mark whose summary says `text`.

    `neighbour` is the first record after it; `before` the id of the last record that it stands for, "" if it has none;
    `tokens` what the context had.
    """
    found = members(neighbour, whole(neighbour))
    given = {key: found[key].of(neighbour) for key in (*COMMON, "timestamp") if key in found}
    stamp = given.pop("timestamp", None)
    own = found["uuid"].of(neighbour).decode() if "uuid" in found else ""
    boundary_id, summary_id = (new_id(text, before, own, name) for name in ("boundary", "summary"))
    when = {"timestamp": stamp} if stamp else {}
    boundary = {
        "parentUuid": b"null",
        "logicalParentUuid": quoted(before) if before else b"null",
        **given,
        "type": b'"system"',
        "subtype": b'"compact_boundary"',
        "content": b'"Conversation compacted"',
        "isMeta": b"false",
        **when,
        "uuid": quoted(boundary_id),
        "level": b'"info"',
        "compactMetadata": b'{"trigger":"manual","preTokens":%d}' % tokens,
    }
    summary = {
        "parentUuid": quoted(boundary_id),
        **given,
        "type": b'"user"',
        "message": b'{"role":"user","content":' + quoted(text) + b"}",
        "isVisibleInTranscriptOnly": b"true",
        "isCompactSummary": b"true",
        "uuid": quoted(summary_id),
        **when,
    }
    return Mark(_object(boundary), _object(summary), summary_id)


def _object(values: Mapping[str, bytes]) -> bytes:
    return b"{" + b",".join(quoted(key) + b":" + value for key, value in values.items()) + b"}"
