"""How is a summary had of turns that are too long for the summarizer's window?

They are folded in piece by piece, cut at tool groups: each piece goes with the notes that the pieces before it came to,
as an update does. How much a model takes is what the user says, or what an endpoint has refused or cut off in silence.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from compactor.core.faith import echoes
from compactor.core.families import as_prose, prose
from compactor.core.messages import Group
from compactor.core.prompt import MESSAGE_CHARS, Turns, labelled, request
from compactor.core.revision import difference, revised
from compactor.core.summary import Summary, fit
from compactor.errors import PromptTooLong, SummaryError
from compactor.summarizers import Usage, spent_by, summarise

if TYPE_CHECKING:
    from collections.abc import Iterator

    from compactor.core.prompt import Request
    from compactor.summarizers import Summarizer
    from compactor.tools import Tools

LEAST_ROOM = 500  # tokens of turns in one prompt
LEAST_CHARS = 60  # of one message, call or result, however many of them one tool group has
SHARE = 4  # a quarter of the window is for the answer, and as much for the notes so far
MARKED = 0.8  # of the notes' share: the mark before each of them takes the rest


async def folded(summarizer: Summarizer, asked: Request, tools: Tools) -> tuple[Summary, Usage]:
    """Get an acceptable reply to `asked`, in one piece if it fits the window, else folded.

    Raises SummaryError as `summarise` does, with the cost of all calls.
    """
    spent = Usage()
    if await asyncio.to_thread(fits, asked, tools):
        try:
            return await _one(summarizer, asked, tools)
        except PromptTooLong as error:
            if not _learns(error, asked, tools):
                raise
            spent = spent_by(error)
    return await _in_pieces(summarizer, asked, tools, spent)


def fits(asked: Request, tools: Tools) -> bool:
    """Tell whether a prompt and its answer go into the window, as far as that is known."""
    return not tools.window.tokens or size_of(asked, tools) + asked.ceiling <= tools.window.tokens


async def _one(summarizer: Summarizer, asked: Request, tools: Tools) -> tuple[Summary, Usage]:
    size = await asyncio.to_thread(size_of, asked, tools)
    room = max(tools.window.tokens - size, asked.ceiling) if tools.window.tokens else 0
    return await summarise(summarizer, replace(asked, size=size, room=room), tools.count, tools.mask)


def _learns(error: PromptTooLong, asked: Request, tools: Tools) -> bool:
    return tools.window.learn(size_of(asked, tools), asked.ceiling, error)


async def _in_pieces(summarizer: Summarizer, asked: Request, tools: Tools, spent: Usage) -> tuple[Summary, Usage]:
    before = prose(asked.previous or Summary({}))
    notes, rest = before, asked.turns
    while rest.messages:
        part, left = await asyncio.to_thread(_next, asked, notes, rest, tools)
        try:
            reply, usage = await _one(summarizer, part, tools)
            if echoes(reply, part):
                error = SummaryError(
                    f"{summarizer.name} gave its notes back for messages {_span(part.turns)}", "try another model"
                )
                error.spent = usage
                raise error
            notes, spent, rest = revised(notes, as_prose(reply)), spent + usage, left
        except SummaryError as error:
            error.spent = spent = spent + spent_by(error)
            if not isinstance(error, PromptTooLong) or not _learns(error, part, tools):
                raise
    return difference(before, notes), spent


def _span(turns: Turns) -> str:
    return f"{turns.first + 1} to {turns.first + len(turns.messages)}"


def _next(asked: Request, notes: Summary, rest: Turns, tools: Tools) -> tuple[Request, Turns]:
    """Ask about as many of the turns in `rest` as fit beside the notes so far; give those that are left, too."""
    ceiling = min(asked.ceiling, tools.window.tokens // SHARE)
    shown = fit(notes, int(MARKED * tools.window.tokens / SHARE), tools.count)
    known = shown if shown.sections or asked.previous else None
    empty = request(Turns((), (), 0), known, asked.head, asked.tail, ceiling, tools.settings)
    turns, most, left = cut(rest, tools.window.tokens - ceiling - size_of(empty, tools), tools)
    return request(turns, known, asked.head, asked.tail, ceiling, tools.settings, most), left


def cut(turns: Turns, room: int, tools: Tools) -> tuple[Turns, int, Turns]:
    """Cut off the first tool groups, of `room` tokens at most: these, the characters to show of each message, the rest.

    A group that is larger by itself goes alone, with as many characters of each of its messages as fit.
    """
    room = max(room, LEAST_ROOM)
    stop = size = 0
    for group in turns.groups:
        cost = _cost(_part(turns, group.start, group.stop), MESSAGE_CHARS, tools)
        if stop and size + cost > room:
            break
        stop, size = group.stop, size + cost
    piece, most = _part(turns, 0, stop), MESSAGE_CHARS
    while size > room and most > LEAST_CHARS:
        most = most * 3 // 4
        size = _cost(piece, most, tools)
    return piece, most, _part(turns, stop, len(turns.messages))


def pieces(turns: Turns, room: int, tools: Tools) -> Iterator[Turns]:
    """Cut turns into pieces of at most `room` tokens."""
    while turns.messages:
        piece, _, turns = cut(turns, room, tools)
        yield piece


def foreseen(asked: Request, tools: Tools) -> tuple[int, int]:
    """Foresee the calls, and at most how many prompt tokens: notes between pieces are taken for as long as may be."""
    size = size_of(asked, tools)
    if not tools.window.tokens or size + asked.ceiling <= tools.window.tokens:
        return 1, size
    ceiling = min(asked.ceiling, tools.window.tokens // SHARE)
    empty = request(Turns((), (), 0), None, asked.head, asked.tail, ceiling, tools.settings)
    around = size_of(empty, tools) + tools.window.tokens // SHARE
    cut_into = list(pieces(asked.turns, tools.window.tokens - ceiling - around, tools))
    return len(cut_into), sum(around + _cost(piece, MESSAGE_CHARS, tools) for piece in cut_into)


def _cost(turns: Turns, most: int, tools: Tools) -> int:
    return tools.count("\n\n".join(labelled(turns, tools.settings, most))) + 2


def _part(turns: Turns, start: int, stop: int) -> Turns:
    inside = (g for g in turns.groups if start <= g.start and g.stop <= stop)
    moved = (
        Group(g.start - start, g.stop - start, g.open, tuple((m - start, n) for m, n in g.orphans)) for g in inside
    )
    return replace(turns, messages=turns.messages[start:stop], groups=tuple(moved), first=turns.first + start)


def size_of(asked: Request, tools: Tools) -> int:
    """Count the tokens of a prompt."""
    return tools.count(asked.system) + tools.count(asked.user)
