"""What does a summary say: which of the ledger's facts, which of the summarizer's words, in how many tokens?

Facts are kept by code, prose by the summarizer, and what both say stands once. What does not fit is left out, the
families sharing the room. Without a summarizer the sentences that the ledger quotes are the prose.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from compactor.core import ledger, story
from compactor.core.claims import beside_failures
from compactor.core.families import FAMILIES, NARRATIVE, PROSE, Line, as_prose, prose
from compactor.core.hearsay import without_hearsay
from compactor.core.invented import without_inventions
from compactor.core.messages import Role
from compactor.core.revision import revised, settled
from compactor.core.room import Claim, apportion
from compactor.core.sentences import clip, flat, said
from compactor.core.summary import SECTIONS, Summary, fit, render

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compactor.core.prompt import Request
    from compactor.core.story import Story
    from compactor.core.tokens import Count

# What the assistant's own sentences weigh where a summarizer has told the story: they fill what room is left.
RETOLD = 0.05
WHOLE_CHARS = 4_000  # of a request that is written out because there is room


@dataclass(frozen=True, slots=True)
class Merged:
    """A summary within its ceiling, the ledger behind it, and what was not taken over as the reply had it.

    `left_out` are the lines that named what is nowhere; `hearsay` and `permissions` count the items that only a tool
    result says: those that were marked so, and those that were left out.
    """

    summary: Summary
    ledger: Summary
    left_out: tuple[str, ...] = ()
    hearsay: int = 0
    permissions: int = 0


def merged(request: Request, reply: Summary, count: Count) -> Merged:
    """Join what a summarizer replied to `request` with what code knows; `reply` is empty if there is no summarizer."""
    tale = story.story(request)
    previous = request.previous or Summary({})
    known = ledger.opened(request.ledger or previous)
    lines = ledger.updated(known, tale)
    reply, left_out = without_inventions(as_prose(reply), request)
    reply, hearsay, permissions = without_hearsay(reply, request)
    words = settled(revised(prose(previous), reply), lines, known, list(story.rules(tale)))
    words = beside_failures(words, lines)
    told = [Line(PROSE[s.key], text, text) for s in SECTIONS for text in words[s.key]]
    weights = {f.name: f.weight for f in (*PROSE.values(), *FAMILIES)}
    if reply.sections:
        weights |= {name: weights[name] * RETOLD for name in NARRATIVE}
    summary = _packed([*told, *lines], weights, request.ceiling, count)
    summary = fit(summary if summary.sections else _last_words(tale), request.ceiling, count)
    summary = _spelled_out(summary, tale, request.ceiling, count)
    return Merged(summary, ledger.closed(ledger.with_cleared(lines, tale)), left_out, hearsay, permissions)


def _spelled_out(summary: Summary, tale: Story, ceiling: int, count: Count) -> Summary:
    """Write requests out in full that are quoted in part, newest first, while there is room."""
    room = ceiling - count(render(summary))
    goal = list(summary["goal"])
    for number, message in reversed(tale.spoken):
        mark = f'…" [{number}]'
        place = next((n for n, text in enumerate(goal) if text.endswith(mark)), None)
        if place is None or message.role is not Role.USER:
            continue
        whole = story.by_user(said(message.text), number, WHOLE_CHARS)
        text = goal[place].partition('"')[0] + whole
        cost = count(text) - count(goal[place])
        if cost <= room:
            room, goal[place] = room - cost, text
    return Summary({**summary.sections, "goal": tuple(goal)}) if goal else summary


def _packed(lines: Sequence[Line], weights: dict[str, float], ceiling: int, count: Count) -> Summary:
    """Take as many of `lines` as fit, the best of each family first, in the order that they came in."""
    queues = {name: places for name in weights if (places := ledger.best_first(name, lines))}
    claims = {name: [Claim(lines[n].text, lines[n].parts) for n in places] for name, places in queues.items()}
    taken = apportion(claims, weights, ceiling - count(render(Summary({}))), count)
    chosen = {queues[name][place]: text for (name, place), text in taken.items()}
    sections: dict[str, list[str]] = {}
    for n in sorted(chosen):
        sections.setdefault(lines[n].family.section, []).append(chosen[n])
    return Summary({key: tuple(dict.fromkeys(value)) for key, value in sections.items()})


def _last_words(tale: Story) -> Summary:
    """Make a summary of turns that hold no fact: the last words that were said."""
    last = next((m.text for _, m in reversed(tale.spoken)), "")
    return Summary({"context": (f'- "{clip(flat(last), story.QUOTE_CHARS)}"',)} if last else {})
