"""Which conversations of OpenAI's Responses API does this file hold, and how are they written back?

Three layouts, told apart by content: one item a record; objects with `input`, `output` or both, which are requests and
answers as they were logged; and an array of either. A compacted conversation is one with a handoff message in it. Of
items that the API's own compaction has made void those that are not sent any more go when there is a new handoff; the
compaction itself, and all records that are no items, stay byte for byte.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from compactor.core.messages import Conversation
from compactor.formats.answers import with_answers
from compactor.formats.jsonbytes import elements, members, patched, rebuilt, whole
from compactor.formats.records import MISSING, brief
from compactor.formats.responses_edits import plan, words
from compactor.formats.responses_items import is_item, is_own
from compactor.formats.responses_turns import reading
from compactor.formats.row import Fault, Format
from compactor.formats.values import MalformedError, compact

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from compactor.core.messages import Piece
    from compactor.formats.jsonbytes import Span
    from compactor.formats.records import Record
    from compactor.formats.responses_turns import Reading
    from compactor.formats.row import Row, Sheet

_LISTS = ("input", "output")


def detect(values: Sequence[Mapping[str, object]]) -> bool:
    """Tell from the first objects of a file whether it is ours: an item that no other API has."""
    return any(is_own(value) or any(is_own(one) for one in _listed(value) if isinstance(one, dict)) for value in values)


def _listed(value: Mapping[str, object]) -> list[object]:
    lists = [value.get(key) for key in _LISTS]
    return [one for listed in lists if isinstance(listed, list) for one in listed]


def read(records: Iterable[Record], name: str, sheet: Sheet) -> Iterator[Row]:
    """Read the records of a file into rows: all of them one row, or each its own."""
    ahead: list[Record] = []
    rest = iter(records)
    for record in rest:
        ahead.append(record)
        if record.value is not MISSING and any(isinstance(record.value.get(key), list) for key in _LISTS):
            yield from (_exchange(r, name) for r in chain(ahead, rest))
            return
        if record.value is not MISSING and is_item(record.value):
            break
    if ahead:
        yield _sequence(tuple(chain(ahead, rest)), name, sheet)


@dataclass(frozen=True, slots=True)
class ItemLines:
    """A whole file, one item a record."""

    records: tuple[Record, ...]
    reading: Reading
    conversation: Conversation | None
    faults: tuple[Fault, ...]
    sheet: Sheet

    @property
    def raw(self) -> bytes:
        """The bytes as they came."""
        return self.sheet.raw(self.records)

    def render(self, pieces: Sequence[Piece]) -> bytes:
        """Write the file with `pieces` for its messages; records that are none stay among their neighbours."""
        raws = [record.raw for record in self.records]
        chosen = _chosen(raws, self.reading, pieces)
        return self.sheet.write(self.records, [(origin, raw) for _, origin, raw in chosen])


@dataclass(frozen=True, slots=True)
class Exchange:
    """One record that holds a whole conversation; `items` are the places of its items, `lists` those of the lists."""

    raw: bytes
    conversation: Conversation | None = None
    faults: tuple[Fault, ...] = ()
    reading: Reading = reading(())
    items: tuple[Span, ...] = ()
    lists: tuple[Span, ...] = ()

    def render(self, pieces: Sequence[Piece]) -> bytes:
        """Write the record with `pieces` for its messages; nothing but its lists of items changes."""
        if self.conversation is None:
            return self.raw
        chosen = _chosen([span.of(self.raw) for span in self.items], self.reading, pieces)
        patches = []
        begin = 0
        for place in self.lists:
            stop = begin + sum(place.start <= span.start < place.stop for span in self.items)
            mine = [
                (None if origin is None else origin - begin, raw) for at, origin, raw in chosen if begin <= at < stop
            ]
            patches.append((place, _list(self.raw, place, mine)))
            begin = stop
        return patched(self.raw, patches)


def _list(raw: bytes, place: Span, chosen: Sequence[tuple[int | None, bytes]]) -> bytes:
    """Write a list of items, or the words that stand for one."""
    if raw[place.start : place.start + 1] == b"[":
        return rebuilt(raw, place, chosen)
    return place.of(raw) if any(origin == 0 for origin, _ in chosen) else b"[" + b",".join(r for _, r in chosen) + b"]"


def _chosen(raws: Sequence[bytes], found: Reading, pieces: Sequence[Piece]) -> list[tuple[int, int | None, bytes]]:
    """Lay out what stays: where it stands among the originals, its own ordinal (None for the handoff), its bytes."""
    what = plan(found.turns, raws, pieces)
    chosen: list[tuple[int, int | None, bytes]] = []
    for n, raw in enumerate(raws):
        if n == what.at and what.handoff:
            chosen.append((n, None, words(what.handoff.role, what.handoff.text)))
        new = what.items.get(n, raw)
        if new is not None and not (what.handoff and n in found.lapsed):
            chosen.append((n, n, new))
    return chosen


def _sequence(records: tuple[Record, ...], name: str, sheet: Sheet) -> ItemLines:
    values = [r.value if r.value is not MISSING and is_item(r.value) else None for r in records]
    found = reading(values)
    faults: list[Fault] = []
    faulty: list[int] = []
    for n, record in enumerate(records):
        problem = found.bad.get(n)
        if record.problem or problem:
            where = f"{name}:{record.line}"
            faults.append(Fault(f"{where}: {problem.path}", problem.what) if problem else Fault(where, record.problem))
            faulty.append(n)
    return ItemLines(records, found, conversation_of(found, faulty, name), tuple(faults), sheet)


def conversation_of(found: Reading, faulty: Sequence[int], name: str, preamble: str = "") -> Conversation | None:
    """Make the conversation of what was read; `faulty` are the ordinals of what was not. None without messages."""
    if not found.turns:
        return None
    starts = [min(turn.items) for turn in found.turns]
    gaps = frozenset(max((i for i, start in enumerate(starts) if start < n), default=-1) for n in faulty)
    messages = with_answers(tuple(turn.message for turn in found.turns))
    return Conversation(messages, "\n".join(filter(None, (preamble, found.preamble))), gaps, name)


def _exchange(record: Record, name: str) -> Exchange:
    where = f"{name}:{record.line}"
    if record.value is MISSING:
        return Exchange(record.raw, faults=(Fault(where, record.problem),) if record.problem else ())
    spans, lists, values = _items(record)
    try:
        found = _readable([_checked(value, path) for path, value in values], [path for path, _ in values])
        preamble = _preamble(record.value)
    except MalformedError as error:
        return Exchange(record.raw, faults=(Fault(f"{where}: {error.path}", error.what),))
    return Exchange(record.raw, conversation_of(found, (), where, preamble), (), found, spans, lists)


def _readable(values: Sequence[Mapping[str, object]], paths: Sequence[str]) -> Reading:
    """Read all items of a record, each with its path, or none: faults are told one a record."""
    found = reading(values)
    for n, error in sorted(found.bad.items()):
        raise MalformedError(paths[n] + error.path.removeprefix("$"), error.what)
    return found


def _items(record: Record) -> tuple[tuple[Span, ...], tuple[Span, ...], list[tuple[str, object]]]:
    """Find the items of a record: their places, those of the lists, and each with its path; words are one item."""
    raw, value = record.raw, {} if record.value is MISSING else record.value
    places = members(raw, whole(raw))
    spans: list[Span] = []
    lists: list[Span] = []
    values: list[tuple[str, object]] = []
    for key in _LISTS:
        listed = value.get(key)
        if isinstance(listed, list):
            spans += elements(raw, places[key])
            values += [(f"$.{key}[{n}]", one) for n, one in enumerate(listed)]
        elif isinstance(listed, str) and key == "input":
            spans.append(places[key])
            values.append((f"$.{key}", {"role": "user", "content": listed}))
        else:
            continue
        lists.append(places[key])
    return tuple(spans), tuple(lists), values


def _checked(value: object, path: str) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise MalformedError(path, f"{brief(value)} is not an object")
    if not is_item(value):
        raise MalformedError(f"{path}.type", "missing")
    return value


def _preamble(value: Mapping[str, object]) -> str:
    """Give what a model is charged for beside the items: instructions and tool schemas."""
    said, tools = value.get("instructions"), value.get("tools")
    schemas = compact(tools, "$.tools") if isinstance(tools, list) and tools else ""
    return "\n".join(filter(None, (said if isinstance(said, str) else "", schemas)))


FORMAT = Format(
    name="openai-responses",
    title="OpenAI Responses",
    expects='one item a line ({"type": "function_call", "call_id": ...}), or objects with "input" or "output" items',
    detect=detect,
    read=read,
)
