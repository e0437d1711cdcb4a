"""In which of the two common layouts does a file hold turns: one a record, or lists of them? How is it written back?

What a turn looks like is the affair of a format, given as `Turns`: of one record that is a turn, or of one element of
the list that a record holds under a key ("messages", "conversations") or is. The first record that is either decides.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from compactor.core.messages import Conversation, Handoff, Kept
from compactor.formats.answers import with_answers
from compactor.formats.jsonbytes import elements, members, patched, rebuilt, whole
from compactor.formats.openai_messages import MalformedError
from compactor.formats.order import arranged
from compactor.formats.records import MISSING, brief
from compactor.formats.row import Fault

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

    `like` gives the spelling of a list. `removed` gives the ordinals of turns in a list that later ones take back.
    """

    keys: tuple[str, ...]
    speaker: str
    message: Callable[[Mapping[str, object]], Message | None]
    preamble: Callable[[Mapping[str, object]], str]
    handoff: Callable[[Handoff], bytes]
    kept: Callable[[bytes, Message, Kept], bytes]
    like: Callable[[Sequence[object]], Turns] | None = None
    removed: Callable[[Sequence[object]], frozenset[int]] | None = None

    def named(self, value: Mapping[str, object]) -> bool:
        """Tell whether `value` is meant as a turn."""
        return isinstance(value.get(self.speaker), str)

    def key(self, value: Mapping[str, object]) -> str:
        """Give the key under which `value` holds a list of turns, or ""."""
        return next((key for key in self.keys if isinstance(value.get(key), list)), "")

    def found_in(self, value: Mapping[str, object]) -> bool:
        """Tell whether `value` is a turn, or holds a list of turns or an empty one."""
        key = self.key(value)
        listed = value[key] if key else None
        if not isinstance(listed, list):
            return self.named(value)
        return not listed or self._is_list(listed)

    def _is_list(self, listed: Sequence[object] | None) -> bool:
        return any(isinstance(turn, dict) and self.named(turn) for turn in listed or ())

    def read(self, records: Iterable[Record], name: str, sheet: Sheet) -> Iterator[Row]:
        """Read the records of a file into rows: all of them one row, or each its own; `name` says where they stand."""
        ahead: list[Record] = []
        rest = iter(records)
        for record in rest:
            ahead.append(record)
            if self._is_list(record.array):
                yield from (_listing(r, name, self) for r in chain(ahead, rest))
                return
            if record.value is not MISSING and self.key(record.value):
                yield from (_listing(replace(r, array=None), name, self) for r in chain(ahead, rest))
                return
            if record.value is not MISSING and self.named(record.value):
                break
        if ahead:
            yield _sequence(tuple(chain(ahead, rest)), name, sheet, self)


@dataclass(frozen=True, slots=True)
class TurnLines:
    """A whole file, one turn a record; `indexes` holds the message index of each record, None for others."""

    turns: Turns
    records: tuple[Record, ...]
    indexes: tuple[int | None, ...]
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
        messages = self.conversation.messages if self.conversation else ()
        chosen = [(p.origin, _written(p, raws, messages, self.turns)) for p in arranged(self.indexes, pieces)]
        return self.sheet.write(self.records, chosen)


@dataclass(frozen=True, slots=True)
class ListLine:
    """One record that holds a whole conversation; `indexes` holds the message index of each element, or None.

    The list stands under `key`, or is the whole record ("").
    """

    turns: Turns
    raw: bytes
    conversation: Conversation | None = None
    faults: tuple[Fault, ...] = ()
    indexes: tuple[int | None, ...] = ()
    key: str = ""

    def render(self, pieces: Sequence[Piece]) -> bytes:
        """Write the record with `pieces` for its messages; nothing but the list of turns changes."""
        if self.conversation is None:
            return self.raw
        span = members(self.raw, whole(self.raw))[self.key] if self.key else whole(self.raw)
        raws = [element.of(self.raw) for element in elements(self.raw, span)]
        places = arranged(self.indexes, pieces)
        chosen = [(p.origin, _written(p, raws, self.conversation.messages, self.turns)) for p in places]
        return patched(self.raw, [(span, rebuilt(self.raw, span, chosen))])


def _written(place: Place, raws: Sequence[bytes], messages: Sequence[Message], turns: Turns) -> bytes:
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
    values = [record.value for record in records]
    turns = turns.like(values) if turns.like else turns
    removed = turns.removed(values) if turns.removed else frozenset()
    lines = [_line(record, f"{name}:{record.line}", turns) for record in records]
    for n, line in enumerate(lines):
        if line.fault:
            gaps.add(len(messages) - 1)
        read = None if n in removed else line.message
        indexes.append(len(messages) if read else None)
        messages += [read] if read else []
    # Tool schemas stand in records that are no messages, such as `session_meta`; the last ones hold.
    preamble = next((line.preamble for line in reversed(lines) if line.preamble), "")
    conversation = Conversation(with_answers(tuple(messages)), preamble, frozenset(gaps), name)
    faults = tuple(line.fault for line in lines if line.fault)
    return TurnLines(turns, records, tuple(indexes), conversation if messages else None, faults, sheet)


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
    if record.value is MISSING and record.array is None:
        return ListLine(turns, record.raw, faults=(Fault(where, record.problem),) if record.problem else ())
    value = {} if record.value is MISSING else record.value
    key = turns.key(value)
    try:
        listed = _listed(value, key or turns.keys[0]) if record.array is None else record.array
        turns = turns.like(listed) if turns.like else turns
        removed = turns.removed(listed) if turns.removed else frozenset()
        path = f"$.{key}" if key else "$"
        read = [_element(value, f"{path}[{n}]", turns) for n, value in enumerate(listed)]
        preamble = turns.preamble(value)
    except MalformedError as error:
        return ListLine(turns, record.raw, faults=(Fault(f"{where}: {error.path}", error.what),))
    found = [None if n in removed else m for n, m in enumerate(read)]
    messages = tuple(m for m in found if m)
    ordinals = iter(range(len(messages)))
    indexes = tuple(next(ordinals) if m else None for m in found)
    return ListLine(turns, record.raw, Conversation(with_answers(messages), preamble, name=where), (), indexes, key)


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
