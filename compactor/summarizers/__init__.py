"""Who writes the summary? One small port, its adapters, and the rule by which a reply is accepted.

`extractive` needs no model, `openai` speaks to any compatible endpoint, `command` runs a program.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from compactor.core.faith import doubt, echoes
from compactor.core.prompt import Request, afresh, repaired, shortened
from compactor.core.summary import SECTIONS, Summary, fit, oversize, parse, render, strip_reasoning, whole
from compactor.errors import PromptTooLong, SummaryError

if TYPE_CHECKING:
    from collections.abc import Callable

    from compactor.core.tokens import Count


# An endpoint that counted so much less than was sent has cut the prompt (Ollama does, without a word). Tokenizers of
# today's models count at least two thirds of what o200k_base counts.
CUT_SHARE = 0.6
LEAST_CUT = 3_000  # tokens of a prompt; every model takes as many
OF_AN_UPDATE = (
    len(SECTIONS) // 2
)  # headings that tell notes from a chat reply; what an update leaves out stays as it was
DRAFT_FACTOR = 4  # a reply of more than so many times its ceiling is no draft to be shortened


@dataclass(frozen=True, slots=True)
class Usage:
    """What calls cost, as the endpoint reported it, in tokens; zeros where it reported nothing.

    `calls` are all that were made, those included that brought nothing.
    """

    calls: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        """Add up two costs."""
        return Usage(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.cached_tokens + other.cached_tokens,
            self.completion_tokens + other.completion_tokens,
        )


def spent_by(error: SummaryError) -> Usage:
    """Give what calls have cost that brought nothing."""
    return error.spent if isinstance(error.spent, Usage) else Usage()


@dataclass(frozen=True, slots=True)
class Reply:
    """What a summarizer answered; `fault` says why the text cannot be whole ("" if it finished)."""

    text: str
    fault: str = ""
    usage: Usage = field(default_factory=Usage)


class Summarizer(Protocol):
    """Writes one summary for one request. Raises SummaryError, or SummarizerUnavailable if no other need try."""

    @property
    def name(self) -> str:
        """Name for reports and the sidecar, e.g. "extractive" or "openai:gpt-4o-mini"."""

    async def reply(self, request: Request) -> Reply:
        """Answer `request`."""

    async def close(self) -> None:
        """Let go of connections."""


@dataclass(frozen=True, slots=True)
class _Read:
    """A reply that has been read: the summary if it is one, of how many tokens, and what is wrong with it.

    `echo` is also told of a reply that is no summary: one that breaks off or lacks headings may repeat notes as well.
    """

    summary: Summary | None
    size: int
    complaint: str
    echo: bool


async def summarise(
    summarizer: Summarizer, request: Request, count: Count, mask: Callable[[str], str]
) -> tuple[Summary, Usage]:
    """Get an acceptable summary: one request, and one that asks differently if the reply cannot be used as it is.

    A reply that is only too long is sent back once to be shortened, and then cut; one that is only doubtful (in
    another language) is asked for again once, and taken if no better comes. After an echo of the earlier notes the
    turns alone are asked about, which counts as a first request. What `mask` takes for a secret is neither sent nor
    accepted. Raises SummaryError if no reply is a summary.
    """
    wanted = asked = request
    spent, usable, complaint, again = Usage(), None, "", True
    while True:
        asked = replace(asked, user=await asyncio.to_thread(mask, asked.user))
        try:
            reply = await summarizer.reply(asked)
            _believe(reply, asked, summarizer.name)
        except SummaryError as error:
            error.spent = spent = spent + spent_by(error)
            if usable is None:
                raise
            break
        spent += reply.usage
        read = await asyncio.to_thread(_read, reply, request, count, mask)
        if read.summary is not None and not (again and read.complaint) and read.size <= request.ceiling:
            return read.summary, spent
        complaint = read.complaint
        usable = min((r for r in (usable, read) if r and r.summary), key=lambda r: (r.echo, r.size), default=None)
        if read.echo and wanted is request:
            wanted = asked = replace(afresh(request), size=0)
        elif again and not read.echo:
            again, asked = False, _again(wanted, read)
        else:
            break
    if usable is not None and usable.summary is not None:
        return await asyncio.to_thread(fit, usable.summary, request.ceiling, count), spent
    unusable = SummaryError(f"no usable summary from {summarizer.name}: {complaint}", "try another model")
    unusable.spent = spent
    raise unusable


def _believe(reply: Reply, asked: Request, name: str) -> None:
    """Raise PromptTooLong if the endpoint has counted far less than it was sent."""
    counted = reply.usage.prompt_tokens
    if asked.size > LEAST_CUT and 0 < counted < CUT_SHARE * asked.size:
        what = f"{name} has read only {counted:,} of {asked.size:,} tokens"
        error = PromptTooLong(what, "raise its context, or say it by --summarizer-context", counted, asked.size)
        error.spent = reply.usage
        raise error


def _read(reply: Reply, request: Request, count: Count, mask: Callable[[str], str]) -> _Read:
    text = mask(strip_reasoning(reply.text))
    unbroken = text.rpartition("\n")[0] if reply.fault else text
    echo = echoes(parse(unbroken)[0], request)
    verdict = mask(reply.fault) or whole(text, len(SECTIONS) if request.previous is None else OF_AN_UPDATE)
    if isinstance(verdict, str):
        return _Read(None, 0, verdict, echo)
    size = count(render(verdict))
    return _Read(verdict, size, oversize(size, request.ceiling) or doubt(verdict, request), echo)


def _again(wanted: Request, read: _Read) -> Request:
    """Ask once more, and differently."""
    if read.summary is not None and wanted.ceiling < read.size <= DRAFT_FACTOR * wanted.ceiling:
        return replace(shortened(wanted, render(read.summary), read.size), size=0)
    return repaired(wanted, read.complaint)
