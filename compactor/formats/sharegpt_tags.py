"""Where in the text of a turn do the tags of Hermes trajectories stand, and what is in them?

A model's turn begins with `<think>`, if it thought, and ends in its calls, each a `<tool_call>` with JSON; the results
of all of them are one turn, each a `<tool_response>`. What stands in a tag may hold such tags itself (a file that was
read may be about them), so that JSON is read to its own end.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

CALL = "tool_call"
RESULT = "tool_response"
_THOUGHT = "think"
_BLANKS = " \t\r\n"
_DECODER = json.JSONDecoder(strict=False)  # models write line ends into their strings


class Block(NamedTuple):
    """A tag with its end tag and what stands between, by characters of the text: all of it, and the body.

    `value` is the JSON object that the body is, or None if it is none.
    """

    start: int
    stop: int
    body: int
    body_stop: int
    value: dict[str, object] | None = None


def thought(text: str) -> Block | None:
    """Find the thought that a turn begins with."""
    opening, closing = f"<{_THOUGHT}>", f"</{_THOUGHT}>"
    start = _after_blanks(text, 0)
    stop = text.find(closing, start) if text.startswith(opening, start) else -1
    return Block(0, stop + len(closing), start + len(opening), stop) if stop >= 0 else None


def tagged(text: str, tag: str, start: int = 0) -> list[Block]:
    """Find the blocks of `tag` from character `start` on; a tag without its end is text."""
    return list(_tagged(text, tag, start))


def _tagged(text: str, tag: str, position: int) -> Iterator[Block]:
    opening = f"<{tag}>"
    while (start := text.find(opening, position)) >= 0:
        found = _block(text, start, tag)
        if found:
            yield found
        position = found.stop if found else start + len(opening)


def _block(text: str, start: int, tag: str) -> Block | None:
    opening, closing = f"<{tag}>", f"</{tag}>"
    body = _after_blanks(text, start + len(opening))
    if text.startswith("{", body):
        try:
            value, end = _DECODER.raw_decode(text, body)
        except (ValueError, RecursionError):
            end = -1
        stop = _after_blanks(text, end) if end >= 0 else -1
        if end >= 0 and text.startswith(closing, stop):
            return Block(start, stop + len(closing), body, end, value)
    stop = text.find(closing, body)
    if stop < 0 or opening in text[body:stop]:
        return None
    return Block(start, stop + len(closing), body, max(body, len(text[:stop].rstrip(_BLANKS))))


def _after_blanks(text: str, position: int) -> int:
    while position < len(text) and text[position] in _BLANKS:
        position += 1
    return position


def between(text: str, blocks: Sequence[Block]) -> str:
    """Give the text around `blocks`; a line end next to one belongs to it."""
    return "\n".join(filter(None, _gaps(text, blocks))) if blocks else text


def _gaps(text: str, blocks: Sequence[Block]) -> list[str]:
    bounds = [0, *(edge for block in blocks for edge in block[:2]), len(text)]
    gaps = [text[a:b] for a, b in zip(bounds[::2], bounds[1::2], strict=True)]
    last = len(gaps) - 1
    opened = [gap.removeprefix("\n") if n else gap for n, gap in enumerate(gaps)]
    return [gap.removesuffix("\n") if n < last else gap for n, gap in enumerate(opened)]


def without(text: str, blocks: Sequence[Block], gone: Collection[int]) -> list[tuple[int, int, str]]:
    """Say what to cut so that `between` stays the same without the blocks of ordinals `gone`: see `respelled`."""
    gaps = _gaps(text, blocks)
    runs: list[list[int]] = []
    for n in sorted(gone):
        if runs and runs[-1][-1] == n - 1 and not gaps[n]:
            runs[-1].append(n)
        else:
            runs.append([n])
    return [_cut(text, blocks[run[0]].start, blocks[run[-1]].stop) for run in runs]


def _cut(text: str, start: int, stop: int) -> tuple[int, int, str]:
    start -= text[:start].endswith("\n")
    stop += text[stop:].startswith("\n")
    return start, stop, "\n" if text[:start] and text[stop:] else ""
