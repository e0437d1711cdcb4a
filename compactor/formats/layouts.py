"""In which of the two common layouts does a file hold turns: one a record, or lists of them? How is it written back?

What a turn looks like is the affair of a format, given as `Turns`: of one record that is a turn, or of one element of
the list that a record holds under a key ("messages", "conversations"). The first record that is either decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from compactor.core.messages import Conversation, Handoff, Kept
from compactor.formats.answers import with_answers
from compactor.formats.jsonbytes import elements, members, patched, rebuilt, rewritten, whole
from compactor.formats.order import arranged
from compactor.formats.records import BARE, MISSING, brief
from compactor.formats.row import Fault
from compactor.formats.values import MalformedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from compactor.core.messages import Message, Piece
    from compactor.formats.order import Place
    from compactor.formats.records import Record
    from compactor.formats.row import Row, Sheet


@dataclass(frozen=True, slots=True)
class Turns:
    """How a format spells its turns.

    `keys` are those under which a record holds a list of them, `speaker` the one under which every turn says whose it
    is. `message` reads a turn, or gives None for what no model reads; `preamble` reads what a model is charged for
    beside the turns (tool schemas). These two raise MalformedError with a path from `$`. `handoff` and `kept` write.

    `lead` reads the words that stand before all turns under the key `system` of a record that holds a list; it raises
    like `message`. `begins` tells a turn before which the model is given nothing. `like` gives the spelling of a list.
    """

    keys: tuple[str, ...]
    speaker: str
    message: Callable[[Mapping[str, object]], Message | None]
    preamble: Callable[[Mapping[str, object]], str]
    handoff: Callable[[Handoff], bytes]
    kept: Callable[[bytes, Message, Kept], bytes]
    lead: Callable[[Mapping[str, object]], Message | None] | None = None
    begins: Callable[[Mapping[str, object]], bool] | None = None
    like: Callable[[Sequence[object]], Turns] | None = None

    def named(self, value: Mapping[str, object]) -> bool:
        """Tell whether `value` is meant as a turn."""
        return isinstance(value.get(self.speaker), str)

    def key(self, value: Mapping[str, object]) -> str | None:
        """Give the key under which `value` holds a list of turns; None if it holds none."""
        return next((key for key in (*self.keys, BARE) if isinstance(value.get(key), list)), None)

    def listed(self, value: Mapping[str, object]) -> list[object] | None:
        """Give the list of turns that `value` holds; None if it holds none."""
        key = self.key(value)
        found = None if key is None else value[key]
        return found if isinstance(found, list) else None

    def found_in(self, value: Mapping[str, object]) -> bool:
        """Tell whether `value` is a turn, or holds a list of turns or an empty one."""
        listed = self.listed(value)
        if listed is None:
            return self.named(value)
        return not listed or any(isinstance(turn, dict) and self.named(turn) for turn in listed)

    def read(self, records: Iterable[Record], name: str, sheet: Sheet) -> Iterator[Row]:
        """Read the records of a file into rows: all of them one row, or each its own; `name` says where they stand."""
        ahead: list[Record] = []
        rest = iter(records)
        for record in rest:
            ahead.append(record)
            if record.value is not MISSING and self.key(record.value) is not None:
                yield from (_listing(r, name, self) for r in chain(ahead, rest))
                return
            if record.value is not MISSING and self.named(record.value):
                break
        if ahead:
            yield _sequence(tuple(chain(ahead, rest)), name, sheet, self)


@dataclass(frozen=True, slots=True)
class TurnLines:
    """A whole file, one turn a record; `indexes` holds the message index of each record, None for others.

    `ignored` are the ordinals of turns that the model is not given; see `_written`.
    """

    turns: Turns
    records: tuple[Record, ...]
    indexes: tuple[int | None, ...]
    conversation: Conversation | None
    faults: tuple[Fault, ...]
    sheet: Sheet
    ignored: frozenset[int] = frozenset()

    @property
    def raw(self) -> bytes:
        """The bytes as they came."""
        return self.sheet.raw(self.records)

    def render(self, pieces: Sequence[Piece]) -> bytes:
        """Write the file with `pieces` for its messages; records that are none stay among their neighbours."""
        raws = [record.raw for record in self.records]
        messages = self.conversation.messages if self.conversation else ()
        chosen = _written(self, raws, messages, arranged(self.indexes, pieces))
        return self.sheet.write(self.records, chosen)


@dataclass(frozen=True, slots=True)
class ListLine:
    """One record that holds a whole conversation; `indexes` holds the message index of each element, or None.

    The first message stands outside of the list if `led`; `ignored` is as in TurnLines.
    """

    turns: Turns
    raw: bytes
    conversation: Conversation | None = None
    faults: tuple[Fault, ...] = ()
    indexes: tuple[int | None, ...] = ()
    key: str = ""
    ignored: frozenset[int] = frozenset()
    led: bool = False

    def render(self, pieces: Sequence[Piece]) -> bytes:
        """Write the record with `pieces` for its messages; nothing but the list of turns changes."""
        if self.conversation is None:
            return self.raw
        span = whole(self.raw) if self.key == BARE else members(self.raw, whole(self.raw))[self.key]
        raws = [element.of(self.raw) for element in elements(self.raw, span)]
        listed = [p for p in pieces if not (self.led and isinstance(p, Kept) and p.index == 0)]
        places = arranged(self.indexes, listed)
        chosen = _written(self, raws, self.conversation.messages, places)
        new = patched(self.raw, [(span, rebuilt(self.raw, span, chosen))])
        if not self.led or len(listed) < len(pieces):
            return new
        return patched(new, [(whole(new), rewritten(new, whole(new), {"system": None}))])


def _written(
    row: TurnLines | ListLine, raws: Sequence[bytes], messages: Sequence[Message], places: Sequence[Place]
) -> list[tuple[int | None, bytes]]:
    """Write what stands at `places`. Ignored turns stay as long as the turn does that has them ignored."""
    first = next((n for n, index in enumerate(row.indexes) if index is not None), None)
    gone = frozenset() if any(p.origin == first for p in places) else row.ignored
    return [(p.origin, _turn(p, raws, messages, row.turns)) for p in places if p.origin not in gone]


def _turn(place: Place, raws: Sequence[bytes], messages: Sequence[Message], turns: Turns) -> bytes:
    if isinstance(place.piece, Handoff):
        return turns.handoff(place.piece)
    raw = raws[place.origin or 0]
    return turns.kept(raw, messages[place.piece.index], place.piece) if isinstance(place.piece, Kept) else raw


class _Line(NamedTuple):
    """What one record of a file with a turn a record holds."""

    message: Message | None = None
    preamble: str = ""
    fault: Fault | None = None


def _sequence(records: tuple[Record, ...], name: str, sheet: Sheet, turns: Turns) -> TurnLines:
    messages: list[Message] = []
    indexes: list[int | None] = []
    gaps: set[int] = set()
    turns = turns.like([record.value for record in records]) if turns.like else turns
    lines = [_line(record, f"{name}:{record.line}", turns) for record in records]
    start = _beginning([record.value for record in records], turns)
    ignored = frozenset(n for n in range(start) if lines[n].message)
    for n, line in enumerate(lines):
        if line.fault:
            gaps.add(len(messages) - 1)
        read = line.message if n >= start else None
        indexes.append(len(messages) if read else None)
        messages += [read] if read else []
    # Tool schemas stand in records that are no messages, such as `session_meta`; the last ones hold.
    preamble = next((line.preamble for line in reversed(lines) if line.preamble), "")
    conversation = Conversation(with_answers(tuple(messages)), preamble, frozenset(gaps), name)
    faults = tuple(line.fault for line in lines if line.fault)
    return TurnLines(turns, records, tuple(indexes), conversation if messages else None, faults, sheet, ignored)


def _beginning(values: Sequence[object], turns: Turns) -> int:
    """Find the last of `values` before which the model is given nothing; 0 if there is none."""
    begins = turns.begins
    found = [n for n, value in enumerate(values) if begins and isinstance(value, dict) and begins(value)]
    return found[-1] if found else 0


def _line(record: Record, where: str, turns: Turns) -> _Line:
    if record.value is MISSING:
        return _Line(fault=Fault(where, record.problem) if record.problem else None)
    try:
        message = turns.message(record.value)
        return _Line(message, "" if message else turns.preamble(record.value))
    except MalformedError as error:
        return _Line(fault=Fault(f"{where}: {error.path}", error.what))


def _listing(record: Record, name: str, turns: Turns) -> ListLine:
    where = f"{name}:{record.line}"
    if record.value is MISSING:
        return ListLine(turns, record.raw, faults=(Fault(where, record.problem),) if record.problem else ())
    key = turns.key(record.value)
    try:
        listed = _listed(record.value, turns.keys[0] if key is None else key)
        turns = turns.like(listed) if turns.like else turns
        found = [_element(value, f"${f'.{key}' if key else ''}[{n}]", turns) for n, value in enumerate(listed)]
        preamble = turns.preamble(record.value)
        lead = turns.lead(record.value) if turns.lead else None
    except MalformedError as error:
        return ListLine(turns, record.raw, faults=(Fault(f"{where}: {error.path}", error.what),))
    start = _beginning(listed, turns)
    ignored = frozenset(n for n, m in enumerate(found[:start]) if m)
    stands = [m if n >= start else None for n, m in enumerate(found)]
    messages = tuple(m for m in (lead, *stands) if m)
    ordinals = iter(range(1 if lead else 0, len(messages)))
    indexes = tuple(next(ordinals) if m else None for m in stands)
    conversation = Conversation(with_answers(messages), preamble, name=where)
    return ListLine(turns, record.raw, conversation, (), indexes, key or BARE, ignored, bool(lead))


def _listed(value: Mapping[str, object], key: str) -> list[object]:
    listed = value.get(key)
    if key not in value:
        raise MalformedError(f"$.{key}", f"missing; there is {', '.join(value) or 'nothing'}")
    if not isinstance(listed, list):
        raise MalformedError(f"$.{key}", f"{brief(listed)} is not an array")
    return listed


def _element(value: object, path: str, turns: Turns) -> Message | None:
    if not isinstance(value, dict):
        raise MalformedError(path, f"{brief(value)} is not an object")
    if turns.speaker not in value:
        raise MalformedError(f"{path}.{turns.speaker}", "missing")
    try:
        return turns.message(value)
    except MalformedError as error:
        raise MalformedError(path + error.path.removeprefix("$"), error.what) from None
