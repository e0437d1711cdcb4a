"""Where in these bytes does a JSON value stand, and how is one part exchanged without touching the rest?

Whoever loads and dumps a record changes what nobody asked for: number formats, key order, escapes, spacing.
Here a part is found by its place and only its bytes are exchanged. The bytes must be valid JSON in UTF-8
(Python's NaN and Infinity included); nothing is checked again, and nesting costs no recursion.

>>> raw = b'{"n": 1.50, "list": [1e2, "a"]}'
>>> place = members(raw, whole(raw))["list"]
>>> [span.of(raw) for span in elements(raw, place)]
[b'1e2', b'"a"']
>>> patched(raw, [(place, b"null")])
b'{"n": 1.50, "list": null}'
"""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

BOM = b"\xef\xbb\xbf"

_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_BRACKET = re.compile(_STRING.pattern + rb"|[\[\]{}]", re.DOTALL)
_SCALAR = re.compile(rb"[^\s,\]}]++")
_BLANK = re.compile(rb"[ \t\n\r]*+")
_SEPARATOR = b","
# One character of a string as it is spelled: two escapes for one beyond the first 65,536, one escape, or its UTF-8.
_CHARACTER = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\."
    rb"|[\x00-\x7f]|[\x80-\xff][\x80-\xbf]*",
    re.DOTALL,
)


class Span(NamedTuple):
    """A place in bytes: [start, stop)."""

    start: int
    stop: int

    def of(self, raw: bytes) -> bytes:
        """Cut the bytes that stand here out of `raw`."""
        return raw[self.start : self.stop]


class Entry(NamedTuple):
    """One member of an object or element of an array: all of it, and its value; an element has no key."""

    key: str
    span: Span
    value: Span


def whole(raw: bytes) -> Span:
    """Find the one value in `raw`, without a byte order mark and blanks around it."""
    start = _blank_end(raw, len(BOM) if raw.startswith(BOM) else 0)
    return Span(start, len(raw.rstrip(b" \t\n\r")))


def members(raw: bytes, span: Span) -> dict[str, Span]:
    """Find the values of the object at `span` by key; of a repeated key the last one, as in `json`."""
    return {entry.key: entry.value for entry in entries(raw, span)}


def elements(raw: bytes, span: Span) -> list[Span]:
    """Find the values of the array at `span`, in order."""
    return [entry.value for entry in entries(raw, span)]


def entries(raw: bytes, span: Span) -> list[Entry]:
    """List the members of the object, or elements of the array, at `span`, repeated keys included."""
    return list(_entries(raw, span))


def _entries(raw: bytes, span: Span) -> Iterator[Entry]:
    keyed = raw[span.start] == ord("{")
    position = _blank_end(raw, span.start + 1)
    while position < span.stop - 1:
        start, key = position, ""
        if keyed:
            position = _value_end(raw, start)
            key = json.loads(raw[start:position])
            position = _blank_end(raw, _blank_end(raw, position) + len(b":"))
        value = Span(position, _value_end(raw, position))
        yield Entry(key, Span(start, value.stop), value)
        position = _blank_end(raw, _blank_end(raw, value.stop) + len(_SEPARATOR))


def _blank_end(raw: bytes, position: int) -> int:
    return _end(_BLANK, raw, position)


def _value_end(raw: bytes, start: int) -> int:
    first = raw[start : start + 1]
    if first == b'"':
        return _end(_STRING, raw, start)
    return _container_end(raw, start) if first in (b"[", b"{") else _end(_SCALAR, raw, start)


def _container_end(raw: bytes, start: int) -> int:
    for depth, end in _depths(raw, start):
        if depth == 0:
            return end
    raise ValueError(f"no JSON value at byte {start}")


def _end(pattern: re.Pattern[bytes], raw: bytes, start: int) -> int:
    found = pattern.match(raw, start)
    if found is None:
        raise ValueError(f"no JSON value at byte {start}")
    return found.end()


def _depths(raw: bytes, start: int) -> Iterator[tuple[int, int]]:
    """After every bracket outside of strings: how many are open, and where it ends."""
    depth = 0
    for found in _BRACKET.finditer(raw, start):
        token = found.group()
        if token in (b"[", b"{"):
            depth += 1
        elif token in (b"]", b"}"):
            depth -= 1
        else:
            continue
        yield depth, found.end()


def depth(raw: bytes) -> int:
    """Count how deeply arrays and objects are nested; the bytes need not be valid JSON."""
    return max((open_ for open_, _ in _depths(raw, 0)), default=0)


def strings(raw: bytes) -> Iterator[Span]:
    """Find every string in `raw` that is a value, not the key of a member."""
    for found in _STRING.finditer(raw):
        after = _blank_end(raw, found.end())
        if raw[after : after + 1] != b":":
            yield Span(found.start(), found.end())


def patched(raw: bytes, patches: Iterable[tuple[Span, bytes]]) -> bytes:
    """`raw` with other bytes at some places; the places may not overlap."""
    parts, position = [], 0
    for span, replacement in sorted(patches):
        parts += [raw[position : span.start], replacement]
        position = span.stop
    return b"".join([*parts, raw[position:]])


def rebuilt(raw: bytes, span: Span, chosen: Sequence[tuple[int | None, bytes]]) -> bytes:
    """Write the array or object at `span` with `chosen` for its entries: (ordinal of the original, bytes).

    The ordinal of a new entry is None. Entries that were neighbours keep what stood between them; others are
    joined the way the first two were.
    """
    spans = [entry.span for entry in entries(raw, span)] or [Span(span.stop - 1, span.stop - 1)]
    between = [raw[a.stop : b.start] for a, b in pairwise(spans)]
    parts = [raw[span.start : spans[0].start]]
    before: int | None = None
    for position, (origin, new) in enumerate(chosen):
        if position:
            neighbours = origin is not None and before == origin - 1
            parts.append(between[origin - 1] if origin and neighbours else (between or [_SEPARATOR])[0])
        parts.append(new)
        before = origin
    return b"".join([*parts, raw[spans[-1].stop : span.stop]])


def rewritten(raw: bytes, span: Span, changes: Mapping[str, bytes | None]) -> bytes:
    """Write the object at `span` with the values in `changes`; None removes a member, a new key comes last."""
    chosen: list[tuple[int | None, bytes]] = []
    known = set()
    for ordinal, entry in enumerate(entries(raw, span)):
        known.add(entry.key)
        change = changes.get(entry.key, entry.value.of(raw))
        if change is not None:
            chosen.append((ordinal, raw[entry.span.start : entry.value.start] + change))
    for key, change in changes.items():
        if change is not None and key not in known:
            chosen.append((None, quoted(key) + b":" + change))
    return rebuilt(raw, span, chosen)


def respelled(raw: bytes, span: Span, cuts: Iterable[tuple[int, int, str]]) -> bytes:
    """Write the string at `span` with other text at some places; the rest keeps its spelling, escapes included.

    `cuts` are (first character, character after the last, new text), counted in the text that the string spells.
    """
    places = [found.start() for found in _CHARACTER.finditer(raw, span.start + 1, span.stop - 1)] + [span.stop - 1]
    inside = [(Span(places[a] - span.start, places[b] - span.start), quoted(new)[1:-1]) for a, b, new in cuts]
    return patched(span.of(raw), inside)


def quoted(text: str) -> bytes:
    """Write `text` as a JSON string in valid UTF-8; lone surrogates, which UTF-8 has no bytes for, as escapes."""
    try:
        return json.dumps(text, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(text).encode()
