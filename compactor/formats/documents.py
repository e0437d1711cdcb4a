"""Is this whole file one JSON value rather than lines of them, and what are its records then?

An array of objects is read as if each element stood on a line; a single object, pretty-printed or not, as one record.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import orjson

from compactor.formats.jsonbytes import BOM, elements, whole
from compactor.formats.records import Record, read
from compactor.formats.row import Array, Lines

if TYPE_CHECKING:
    from compactor.formats.row import Sheet


@dataclass(frozen=True, slots=True)
class Document:
    """A file that is one JSON value: its bytes, its records, and how records are put together again."""

    raw: bytes
    elements: tuple[Record, ...]
    sheet: Sheet


def document(raw: bytes) -> Document | None:
    """Read `raw` as one JSON value; None if it is none, so that it may be read as lines with their faults."""
    try:
        value = orjson.loads(raw.removeprefix(BOM))
    except orjson.JSONDecodeError:
        return None
    if isinstance(value, dict):
        return Document(raw, (Record(raw, 1, value),), Lines())
    if not isinstance(value, list) or not value:
        return None
    spans = elements(raw, whole(raw))
    found = [replace(next(iter(read([span.of(raw)]))), line=number) for number, span in enumerate(spans, 1)]
    return Document(raw, tuple(found), Array(raw))
