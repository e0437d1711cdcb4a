"""Which entries of a pi session are on the path that pi would go on from, and where does its context begin?

From version 2 on a session is a tree: each entry names its parent, the last one in the file leads, and of two with one
id the later counts. Version 1 is a line of entries without ids. The newest compaction on the path is where the context
begins: its summary, then what was kept before it, from the entry that it names (by id, or in version 1 by its place
among the lines that pi can read), then what stands after it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import count, dropwhile, pairwise
from typing import TYPE_CHECKING

from compactor.formats.links import ancestors
from compactor.formats.records import MISSING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from compactor.formats.records import Record

COMPACTION = "compaction"


@dataclass(frozen=True, slots=True)
class Entry:
    """A record below the header: its ordinal in the file, what it is, its id and its parent's as written, or ""."""

    ordinal: int
    kind: str
    value: Mapping[str, object]
    id: str
    parent: str

    @property
    def is_result(self) -> bool:
        """Tell whether it holds the result of a call."""
        message = self.value.get("message")
        return self.kind == "message" and isinstance(message, dict) and message.get("role") == "toolResult"


@dataclass(frozen=True, slots=True)
class Tree:
    """A session: its entries by ordinal, what each hangs on, the path (oldest first), and what of it pi sends.

    `linear` is a session of version 1. `named` holds the ordinal of each id; `places` the place, by ordinal, of what
    pi can read among all that it can, the header being 0: it reads nothing of a line with two objects.
    """

    linear: bool
    entries: Mapping[int, Entry]
    up: Mapping[int, int | None]
    path: tuple[int, ...]
    live: tuple[int, ...]
    named: Mapping[str, int]
    places: Mapping[int, int]

    def first_kept(self, mark: int, lost: Collection[int] = ()) -> int | None:
        """Find the first entry before the compaction `mark` that it keeps and that is not lost."""
        before = [*ancestors(self.up, mark)][::-1]
        named = _named_by(self, mark)
        return next((n for n in dropwhile(lambda n: n != named, before) if n not in lost), None)


def _named_by(tree: Tree, mark: int) -> int | None:
    value = tree.entries[mark].value
    if not tree.linear:
        return tree.named.get(_word(value.get("firstKeptEntryId")))
    place = value.get("firstKeptEntryIndex")
    return next((n for n, at in tree.places.items() if at == place and type(place) is int), None)


def tree(records: Sequence[Record]) -> Tree:
    """Lay out a session."""
    values = {n: record.value for n, record in enumerate(records) if record.value is not MISSING}
    header = next((value for value in values.values() if value.get("type") == "session"), {})
    version = header.get("version")
    linear = type(version) is not int or version < 2  # noqa: PLR2004 - the version that brought ids
    entries = {n: _entry(n, value) for n, value in values.items() if value.get("type") != "session"}
    named = {entry.id: n for n, entry in entries.items() if entry.id}
    if linear:
        up: dict[int, int | None] = {b: a for a, b in pairwise((None, *entries)) if b is not None}
    else:
        up = {n: named.get(entry.parent) for n, entry in entries.items()}
    shared = Counter(record.line for record in records)
    numbers = count()
    places = {n: next(numbers) for n in values if shared[records[n].line] == 1}
    leaf = next(reversed(entries), None)
    path = () if leaf is None else (leaf, *ancestors(up, leaf))[::-1]
    up |= dict.fromkeys(path[:1])  # else a ring of links would go on behind its first entry
    return _sent(Tree(linear, entries, up, path, path, named, places))


def _entry(ordinal: int, value: Mapping[str, object]) -> Entry:
    return Entry(ordinal, _word(value.get("type")), value, _word(value.get("id")), _word(value.get("parentId")))


def _word(value: object) -> str:
    return value if isinstance(value, str) else ""


def _sent(whole: Tree) -> Tree:
    """Put the newest compaction first, then what it kept, then the rest."""
    marks = [place for place, n in enumerate(whole.path) if whole.entries[n].kind == COMPACTION]
    if not marks:
        return whole
    mark = whole.path[marks[-1]]
    first = whole.first_kept(mark)
    kept = [n for n in dropwhile(lambda n: n != first, whole.path[: marks[-1]]) if whole.entries[n].kind != COMPACTION]
    live = (mark, *kept, *whole.path[marks[-1] + 1 :])
    return Tree(whole.linear, whole.entries, whole.up, whole.path, live, whole.named, whole.places)
