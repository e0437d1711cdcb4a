"""What hangs on what, in a file whose records name the record that they follow?

Works on ordinals: `up` holds the ordinal of what each record hangs on, None for a root.

>>> up = {0: None, 1: 0, 2: 1, 3: 1}
>>> list(ancestors(up, 3))
[1, 0]
>>> nearest(up, 3, lost={1})
0
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping


def ancestors(up: Mapping[int, int | None], ordinal: int) -> Iterator[int]:
    """Walk up from what `ordinal` hangs on; a ring of links ends where it closes."""
    seen = {ordinal}
    at = up.get(ordinal)
    while at is not None and at not in seen:
        seen.add(at)
        yield at
        at = up.get(at)


def nearest(up: Mapping[int, int | None], ordinal: int, lost: Collection[int]) -> int | None:
    """Find the nearest ancestor that is not lost."""
    return next((at for at in ancestors(up, ordinal) if at not in lost), None)
