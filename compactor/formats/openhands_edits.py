"""What are the bytes of an OpenHands event once something in it has changed, or of a new one?

The tool refuses events with a member that it does not know, and lets most be absent. So nothing is ever added but what
the same log has already; with a pruned result go the file before and after an edit and what is said of a command's end.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple
from uuid import NAMESPACE_OID, uuid5

from compactor.core.messages import Kept
from compactor.formats.copies import without_copies
from compactor.formats.jsonbytes import members, quoted, rewritten, whole
from compactor.formats.openhands_events import CONDENSATION, kind, words_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from compactor.core.messages import Message, Piece
    from compactor.formats.openhands_view import Turn
    from compactor.formats.records import Record

_BESIDE = ("metadata", "old_content", "new_content", "screenshot_data", "diff_cache")


class Mark(NamedTuple):
    """A condensation: its id, and its bytes."""

    name: str
    raw: bytes


def changed(records: Sequence[Record], turns: Sequence[Turn], pieces: Sequence[Piece]) -> dict[int, bytes]:
    """Give the bytes of the events that change, by ordinal. Only results do: an event has no part that could go."""
    found: dict[int, bytes] = {}
    for piece in pieces:
        if isinstance(piece, Kept) and piece.stubs:
            turn = turns[piece.index]
            found[turn.events[0]] = stubbed(records[turn.events[0]].raw, turn.message, piece.stubs[0])
    return found


def stubbed(raw: bytes, message: Message, stub: str) -> bytes:
    """Write the observation that came as `raw` with `stub` for its words."""
    raw = without_copies(raw, message.results[0].text, stub)
    span = whole(raw)
    found = members(raw, span)
    changes: dict[str, bytes | None] = {"extended_content": None}
    if "observation" in found:
        place = found["observation"]
        seen = json.loads(place.of(raw))
        key = words_key(seen)
        new = b'[{"type":"text","text":' + quoted(stub) + b"}]" if isinstance(seen.get(key), list) else quoted(stub)
        changes["observation"] = rewritten(raw, place, {**dict.fromkeys(_BESIDE), key: new})
    else:
        changes["error"] = quoted(stub)
    return raw[: span.start] + rewritten(raw, span, changes) + raw[span.stop :]


def linked(raw: bytes, names: Mapping[str, str]) -> bytes:
    """Write an event with other ids under the keys of `names`; without the member where the new one is ""."""
    span = whole(raw)
    changes = {key: quoted(name) if name else None for key, name in names.items()}
    return raw[: span.start] + rewritten(raw, span, changes) + raw[span.stop :]


def moved(raw: bytes, offset: int, parent: str) -> bytes:
    """Write a condensation that forgets nothing and puts its summary at `offset`."""
    span = whole(raw)
    changes: dict[str, bytes | None] = {"forgotten_event_ids": b"[]", "summary_offset": b"%d" % offset}
    if parent:
        changes["parent_id"] = quoted(parent)
    return raw[: span.start] + rewritten(raw, span, changes) + raw[span.stop :]


def condensation(  # noqa: PLR0913 - the members of the event
    values: Sequence[Mapping[str, object]], near: int, parent: str, forgotten: Sequence[str], text: str, offset: int
) -> Mark:
    """Write a condensation as the tool would beside the event `near`, whose time it has; `parent` is "" for none."""
    seed = f"{values[near].get('id')} {offset} {len(forgotten)} {text}"
    name = new_name(seed, CONDENSATION)
    head = {"kind": CONDENSATION, "id": name, "timestamp": values[near].get("timestamp"), "source": "environment"}
    tree = {"parent_id": parent} if parent else {}
    answer = {"llm_response_id": f"compactor-{new_name(seed, 'answer')}"} if _names_answers(values) else {}
    rest = {**tree, "forgotten_event_ids": list(forgotten), "summary_offset": offset, **answer}
    return Mark(name, _object({**head, **rest})[:-1] + b',"summary":' + quoted(text) + b"}")


def new_name(seed: str, old: str) -> str:
    """Make an id: the same from the same."""
    return str(uuid5(NAMESPACE_OID, f"{seed} {old}"))


def _object(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _names_answers(values: Sequence[Mapping[str, object]]) -> bool:
    """Tell whether this version gives condensations the id of an answer: new ones must have it, old ones may not."""
    known = [value for value in values if kind(value) == CONDENSATION]
    if known:
        return "llm_response_id" in known[-1]
    return not any("activated_microagents" in value for value in values)
