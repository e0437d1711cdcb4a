"""How is a summary had of turns that are too long for the summarizer's window?

They are folded in piece by piece, cut at tool groups: each piece goes with the notes that the pieces before it came to,
as an update does. How much a model takes is what the user says, or what an endpoint has refused or cut off in silence.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from compactor.core.families import as_prose, prose
from compactor.core.messages import Group
from compactor.core.prompt import MESSAGE_CHARS, SYSTEM, Turns, labelled, request
from compactor.core.revision import difference, revised
from compactor.core.summary import Summary
from compactor.errors import PromptTooLong
from compactor.summarizers import Usage, spent_by, summarise

if TYPE_CHECKING:
    from collections.abc import Iterator

    from compactor.core.prompt import Request
    from compactor.core.tokens import Count
    from compactor.summarizers import Summarizer
    from compactor.tools import Tools

LEAST_ROOM = 1_000  # tokens of turns in one prompt
LEAST_WINDOW = 3_500  # tokens; a model that takes fewer is of no use here
AROUND = 600  # tokens of a prompt that are neither turns nor notes: the instructions after them, tags, the task's tags
SHRINK = 0.6  # of a prompt that was refused, for the next: tokenizers differ by about a third
# An endpoint that counted so much less than was sent has cut the prompt (Ollama does, without a word).
CUT_SHARE = 0.4
LEAST_CUT = 4_000  # tokens of a prompt; every model takes as many


async def folded(summarizer: Summarizer, asked: Request, tools: Tools) -> tuple[Summary, Usage]:
    """Get an acceptable reply to `asked`, in one piece if it fits the window, else folded.

    Raises SummaryError as `summarise` does.
    """
    spent = Usage()
    while True:
        size = _size(asked, tools.count)
        try:
            if not tools.window.tokens or size + asked.ceiling <= tools.window.tokens:
                reply, usage = await _one(summarizer, asked, tools)
            else:
                reply, usage = await _pieces_in_turn(summarizer, asked, tools)
        except PromptTooLong as error:
            spent += spent_by(error)
            smaller = int(min(size + asked.ceiling, tools.window.tokens or size + asked.ceiling) * SHRINK)
            if smaller < LEAST_WINDOW:
                error.spent = spent
                raise
            tools.window.tokens = smaller
            continue
        return reply, spent + usage


async def _one(summarizer: Summarizer, asked: Request, tools: Tools) -> tuple[Summary, Usage]:
    """Ask once, and do not believe a reply to a prompt that was cut off on the way."""
    size = _size(asked, tools.count)
    reply, usage = await summarise(summarizer, asked, tools.count, tools.mask)
    counted = usage.prompt_tokens // max(usage.calls, 1)
    if size > LEAST_CUT and 0 < counted < CUT_SHARE * size:
        error = PromptTooLong(f"{summarizer.name} has read only {counted:,} of {size:,} tokens", "raise its context")
        error.spent = usage
        raise error
    return reply, usage


async def _pieces_in_turn(summarizer: Summarizer, asked: Request, tools: Tools) -> tuple[Summary, Usage]:
    before = prose(asked.previous or Summary({}))
    notes, spent = before, Usage()
    ceiling = min(asked.ceiling, tools.window.tokens // 4)
    fixed = tools.count(SYSTEM) + AROUND + 2 * ceiling  # the answer, and the notes so far
    for turns in pieces(asked, tools.window.tokens - fixed, tools):
        previous = notes if notes.sections or asked.previous else None
        part = request(turns, previous, asked.head, asked.tail, ceiling, tools.settings, _chars(tools, fixed))
        reply, usage = await _one(summarizer, part, tools)
        notes, spent = revised(notes, as_prose(reply)), spent + usage
    return difference(before, notes), spent


def _chars(tools: Tools, fixed: int) -> int:
    """Bound the characters of one message: a third of a piece, at two characters a token."""
    return max(min(MESSAGE_CHARS, 2 * (tools.window.tokens - fixed) // 3), LEAST_ROOM)


def pieces(asked: Request, room: int, tools: Tools) -> Iterator[Turns]:
    """Cut the turns of `asked` between tool groups into pieces of at most `room` tokens; a group may have more."""
    turns = asked.turns
    start = size = 0
    for group in turns.groups:
        text = "\n\n".join(
            labelled(_part(turns, group.start, group.stop), tools.settings, 2 * max(room, LEAST_ROOM) // 3)
        )
        cost = tools.count(text) + 2
        if size and size + cost > max(room, LEAST_ROOM):
            yield _part(turns, start, group.start)
            start, size = group.start, 0
        size += cost
    yield _part(turns, start, len(turns.messages))


def _part(turns: Turns, start: int, stop: int) -> Turns:
    inside = (g for g in turns.groups if start <= g.start and g.stop <= stop)
    moved = (
        Group(g.start - start, g.stop - start, g.open, tuple((m - start, n) for m, n in g.orphans)) for g in inside
    )
    return replace(turns, messages=turns.messages[start:stop], groups=tuple(moved), first=turns.first + start)


def _size(asked: Request, count: Count) -> int:
    return count(asked.system) + count(asked.user)
