"""Which messages does a gemini-cli session hold in the end, by the rules that the client follows when it resumes?

The first lines say what session it is. A record with an `id` is a message, and replaces an earlier one with that id
where it stands; `{"$rewindTo": id}` drops that message and all after it (all there are, if it is unknown);
`{"$set": {"messages": [...]}}` drops all and puts these in their place; any other `$set` changes what is
known of the session. The client skips whatever it cannot read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from compactor.formats.jsonbytes import BOM, elements, members, patched, rewritten, whole
from compactor.formats.records import MISSING, brief

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from compactor.formats.records import Record

WITHOUT_ID = "missing: the client skips a message without one"


class Key(NamedTuple):
    """Where something stands in the file: ordinal of the record, and of the element within it (-1: the record)."""

    record: int
    element: int = -1


@dataclass(frozen=True, slots=True)
class Live:
    """A message record that is still in force: its place, bytes and value, and where faults say that it stands."""

    key: Key
    raw: bytes
    value: Mapping[str, object]
    where: str
    path: str = "$"


@dataclass(frozen=True, slots=True)
class Other:
    """Anything else: metadata, a `$set`, blanks, or what cannot be read (`problem`, with its JSON path)."""

    key: Key
    raw: bytes
    where: str
    problem: str = ""
    keys: frozenset[str] = frozenset()


Standing: TypeAlias = Live | Other


def is_session(value: Mapping[str, object]) -> bool:
    """Tell whether a record says what session this is."""
    return isinstance(value.get("sessionId"), str) and isinstance(value.get("projectHash"), str)


def is_event(value: Mapping[str, object]) -> bool:
    """Tell whether a record changes a session."""
    return isinstance(value.get("$set"), dict) or isinstance(value.get("$rewindTo"), str)


def checkpoint(records: Sequence[Record]) -> int:
    """Find the last record that puts other messages in the place of all before it, by ordinal; -1 if there is none."""
    found = (n for n, r in enumerate(records) if r.value is not MISSING and _replaces(r.value))
    return max(found, default=-1)


def _replaces(value: Mapping[str, object]) -> bool:
    changes = value.get("$set")
    return isinstance(changes, dict) and isinstance(changes.get("messages"), list)


def body(raw: bytes) -> bytes:
    """Strip a record of a byte order mark, which the client does not read, and of its line end."""
    return raw.removeprefix(BOM).rstrip(b" \t\r\n")


def standing(records: Sequence[Record], name: str) -> list[Standing]:
    """List what is in force, in the order in which the client has it; what stood before the last checkpoint first."""
    live: dict[object, Live] = {}
    others: list[Other] = []
    for n, record in enumerate(records):
        where, value = f"{name}:{record.line}", record.value
        if value is MISSING:
            others.append(Other(Key(n), record.raw, where, record.problem))
        elif isinstance(value.get("$rewindTo"), str):
            _rewind(live, value["$rewindTo"])
        elif isinstance(value.get("id"), str):
            _put(live, value["id"], Live(Key(n), body(record.raw), value, where))
        elif isinstance(value.get("$set"), dict) or is_session(value):
            others += _known(live, record, n, where)
        else:
            problem = WITHOUT_ID if "type" in value else ""
            others.append(Other(Key(n), record.raw, f"{where}: $.id" if problem else where, problem))
    found: list[Standing] = [*live.values(), *_in_force(others)]
    return sorted(found, key=lambda s: s.key)


def _put(live: dict[object, Live], name: object, new: Live) -> None:
    live[name] = replace(new, key=live[name].key) if name in live else new


def _rewind(live: dict[object, Live], name: object) -> None:
    names = list(live)
    for gone in names[names.index(name) :] if name in live else names:
        del live[gone]


def _known(live: dict[object, Live], record: Record, ordinal: int, where: str) -> Iterator[Other]:
    """Take in what a `$set` or a first line says, and the messages in it."""
    raw = body(record.raw)
    value = record.value if record.value is not MISSING else {}
    inner, path = (value, "$") if is_session(value) else (value["$set"], "$.$set")
    if not isinstance(inner, dict):
        return
    setting = inner is not value
    keys = frozenset(inner) - {"messages"} if setting else frozenset()
    if not isinstance(inner.get("messages"), list):
        yield Other(Key(ordinal), record.raw, where, keys=keys)
        return
    if setting:
        live.clear()
    span = members(raw, whole(raw))["$set"] if setting else whole(raw)
    if keys or not setting:
        rest = patched(raw, [(span, rewritten(raw, span, {"messages": None}))])
        yield Other(Key(ordinal), rest, where, keys=keys)
    spans = elements(raw, members(raw, span)["messages"])
    for n, (element, place) in enumerate(zip(inner["messages"], spans, strict=True)):
        at, inside = f"{path}.messages[{n}]", Key(ordinal, n)
        if isinstance(element, dict) and (isinstance(element.get("id"), str) or not setting):
            _put(live, element.get("id", inside), Live(inside, place.of(raw), element, where, at))
        else:
            what = WITHOUT_ID if isinstance(element, dict) else f"{brief(element)} is not an object"
            yield Other(inside, place.of(raw), f"{where}: {at}", what)


def _in_force(others: Iterable[Other]) -> list[Other]:
    """Leave out each `$set` of which every key is set again later."""
    found: list[Other] = []
    later: set[str] = set()
    for other in reversed(list(others)):
        if not other.keys or not other.keys <= later:
            found.append(other)
        later |= other.keys
    return found
