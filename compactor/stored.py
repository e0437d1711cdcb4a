"""Where in a sidecar does the entry of each conversation stand, so that a large one need not be held in memory?"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import orjson

from compactor.entries import entry_from

if TYPE_CHECKING:
    from compactor.core.state import Entry


class Line(NamedTuple):
    """Where a line stands in a file, in bytes."""

    start: int
    size: int


@dataclass(slots=True, eq=False)
class Stored(Mapping[str, "Entry"]):
    """Entries by key, each read from an open file when it is asked for.

    The file is that which was opened, whatever takes its name later; it is closed with the last reference.
    """

    handle: int = -1
    places: dict[str, Line] = field(default_factory=dict)

    def __getitem__(self, key: str) -> Entry:
        return entry_from(orjson.loads(self.line(key)))

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)

    def __contains__(self, key: object) -> bool:
        return key in self.places

    def __del__(self) -> None:
        if self.handle >= 0:
            os.close(self.handle)

    def line(self, key: str) -> bytes:
        """Give the bytes of an entry with a line end."""
        place = self.places[key]
        return os.pread(self.handle, place.size, place.start).rstrip() + b"\n"
