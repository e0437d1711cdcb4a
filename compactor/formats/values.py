"""What do the readers of all formats give back of a JSON value: its content, its text, or what is wrong with it?"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from compactor.formats.jsonbytes import depth

if TYPE_CHECKING:
    from compactor.core.messages import Call

# Half of the stack that Python 3.11 gives to its JSON writer; later versions reach further.
WRITABLE_DEPTH = 500


class MalformedError(Exception):
    """A message is not what its format says: where in it, as a JSON path, and how."""

    def __init__(self, path: str, what: str) -> None:
        super().__init__(f"{path}: {what}")
        self.path = path
        self.what = what


@dataclass(frozen=True, slots=True)
class Content:
    """What the content of one message holds, or one part of it; `shown` is text that stands for something else."""

    texts: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    reasoning: tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()
    tokens: int = 0


def compact(value: object, path: str) -> str:
    """Write a JSON value as text without blanks. Raises MalformedError if it is nested beyond WRITABLE_DEPTH."""
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        text = ""
    if not text or depth(text.encode("utf-8", "surrogatepass")) > WRITABLE_DEPTH:
        raise MalformedError(path, f"nested more than {WRITABLE_DEPTH} levels deep")
    return text
