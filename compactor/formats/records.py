"""Which JSON values does this file hold, line by line, and which of its bytes belong to each?

Concatenated, the records are the file again. Whatever cannot be read is a record too, with its problem.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Literal

import orjson

from compactor.formats import jsonbytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# orjson reads no deeper; taken over so that the answer does not depend on which reader came to it.
MAX_DEPTH = 1_024
_BLANKS = re.compile(r"[ \t\r\n]*+")


class Missing(Enum):
    """The one value that JSON does not have."""

    MISSING = "missing"


MISSING: Final = Missing.MISSING


# The key under which a list of objects that is a record by itself stands; no format has it.
BARE = ""


@dataclass(frozen=True, slots=True)
class Record:
    """One JSON object, or list of objects, with the bytes that it came as, line end included; `line` counts from 1.

    A blank line has neither value nor problem. With a `problem` (what is wrong, and in which column) the
    value is missing. Of a list the value is an object with the one key BARE.
    """

    raw: bytes
    line: int
    value: dict[str, object] | Literal[Missing.MISSING] = MISSING
    problem: str = ""


def read(lines: Iterable[bytes]) -> Iterator[Record]:
    """Read lines, each with its line end, into records: one a line, or more where objects are glued."""
    for number, raw in enumerate(lines, 1):
        try:
            value = orjson.loads(raw)
        except orjson.JSONDecodeError:
            yield from _second_reading(raw, number)
        else:
            yield _record(raw, number, value)


def _record(raw: bytes, line: int, value: object) -> Record:
    if isinstance(value, dict):
        return Record(raw, line, value)
    if isinstance(value, list) and _holds(value):
        return Record(raw, line, {BARE: value})
    return Record(raw, line, problem=f"column 1: {brief(value)} is not an object")


def _holds(value: object) -> bool:
    """Tell an object, or a list of objects, from any other value."""
    listed = isinstance(value, list) and bool(value) and all(isinstance(element, dict) for element in value)
    return isinstance(value, dict) or listed


def brief(value: object) -> str:
    """Name a JSON value in a few words, as faults do."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "an array"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else f"{text[:36]}..." + '"' * isinstance(value, str)  # noqa: PLR2004 - a glance


def _second_reading(raw: bytes, line: int) -> tuple[Record, ...]:
    """Read what orjson refused: blanks, a byte order mark, lone surrogates, NaN, objects glued together."""
    body = raw.removeprefix(jsonbytes.BOM) if line == 1 else raw
    if not body.strip():
        return (Record(raw, line),)
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        return (Record(raw, line, problem=f"byte {error.start + 1} of the line is not UTF-8"),)
    if "\0" in text:
        return (Record(raw, line, problem=f"column {text.index(chr(0)) + 1}: a NUL byte"),)
    if jsonbytes.depth(body) > MAX_DEPTH:
        return (Record(raw, line, problem=f"nested more than {MAX_DEPTH:,} levels deep"),)
    return _glued(raw, line, text)


def _glued(raw: bytes, line: int, text: str) -> tuple[Record, ...]:
    try:
        values = list(_values(text))
    except json.JSONDecodeError as error:
        return (Record(raw, line, problem=_complaint(error)),)
    except RecursionError:  # close to MAX_DEPTH, on a stack that is already deep
        return (Record(raw, line, problem="nested too deeply"),)
    except ValueError:
        return (Record(raw, line, problem="a number of more than 4,300 digits"),)
    if len(values) > 1 and (odd := next((v for v in values if not _holds(v[1])), None)):
        return (Record(raw, line, problem=f"column {odd[0] + 1}: {brief(odd[1])} is not an object"),)
    bounds = [0, *(start for start, _ in values[1:]), len(text)]
    raws = [text[a:b].encode() for a, b in pairwise(bounds)]
    raws[0] = raw[: len(raw) - len(text.encode())] + raws[0]
    return tuple(_record(part, line, value) for part, (_, value) in zip(raws, values, strict=True))


def _values(text: str) -> Iterator[tuple[int, object]]:
    """Each JSON value in `text` with the column (from 0) in which it begins."""
    decoder = json.JSONDecoder()
    position = _after_blanks(text, 0)
    while position < len(text):
        value, end = decoder.raw_decode(text, position)
        yield position, value
        position = _after_blanks(text, end)


def _after_blanks(text: str, position: int) -> int:
    blanks = _BLANKS.match(text, position)
    return blanks.end() if blanks else position


def _complaint(error: json.JSONDecodeError) -> str:
    end = len(error.doc.rstrip())
    if error.pos >= end or error.msg.startswith("Unterminated string"):
        return f"cut off after column {end}: the JSON value does not end"
    return f"column {error.pos + 1}: not JSON ({error.msg[:1].lower()}{error.msg[1:]})"
