"""What does a model read after one way of compacting or another, in at most so many characters?

The arms are those of a run: its entry, its settings, the bytes that it writes, read back. The two that are none of
compactor's (`tail_only`, and a model's reply without anything beside it) are there to compare with.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, replace
from functools import cached_property
from io import BytesIO

from compactor.attempt import compact_row
from compactor.core.handoff import END, PREFIX, is_handoff
from compactor.core.messages import Message
from compactor.core.plan import make_plan
from compactor.core.report import Report
from compactor.core.settings import OnFailure, Settings, Trigger
from compactor.core.state import Entry
from compactor.errors import SummaryError
from compactor.formats import rows
from compactor.summarizers.endpoint import Endpoint, EndpointSummarizer
from compactor.tokenizer import tokenizer
from compactor.tools import Known, Tools
from tests.standin import Ask, notes

TOKENIZER = tokenizer("o200k_base")
WIDE = 4_000_000  # a window in which no share of it limits anything
CHARS_PER_TOKEN = 4
TRIES = 9
CLOSE = 0.98  # a result that fills so much of its room is not looked for any longer


class Counted:
    """The tokenizer, which remembers: the same messages are counted over and over while a size is looked for."""

    name, exact = TOKENIZER.name, TOKENIZER.exact

    def __init__(self):
        self._known = {}

    def __call__(self, text):
        if text not in self._known:
            self._known[text] = TOKENIZER(text)
        return self._known[text]


COUNT = Counted()


def words(message):
    """Everything that a model reads of a message, arguments without the escapes of their JSON."""
    parts = [message.text]
    for call in message.calls:
        parts += [call.name, *_leaves(_parsed(call.arguments))]
    return "\n".join(filter(None, [*parts, *(r.text for r in message.results)]))


def _parsed(arguments):
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def _leaves(value):
    if isinstance(value, dict | list):
        return [leaf for inner in (value.values() if isinstance(value, dict) else value) for leaf in _leaves(inner)]
    return [str(value)]


@dataclass(frozen=True)
class Made:
    """What a run made of a conversation."""

    messages: tuple[Message, ...]
    content: bytes
    report: Report
    entry: Entry | None

    @cached_property
    def text(self):
        return "\n".join(map(words, self.messages))

    @cached_property
    def handoff(self):
        return next((m.text for m in self.messages if is_handoff(m)), "")

    @property
    def bare(self):
        """The text without the fixed sentences that stand around every summary."""
        return self.text.replace(PREFIX, "").replace(END, "")


def read(content, name="session.jsonl"):
    """The one conversation of a file."""
    [row] = [row for row in rows(BytesIO(content), name) if row.conversation]
    return row


def compact(row, settings, summarizer=None, entry=None):
    """Compact as a run does. `summarizer` makes one, as it lives for one event loop; None is the extractive arm."""

    async def work():
        writes = summarizer() if summarizer else None
        tools = Tools(settings, COUNT, writes, lambda: 0.0, asyncio.Semaphore(1), str)
        known = Known("0" * 16, entry, (entry,) if entry else (), lambda: None)
        try:
            return await compact_row(row, known, tools)
        finally:
            if writes:
                await writes.close()

    done = asyncio.run(work())
    return Made(row.read_back(done.content).messages, done.content, done.report, done.entry)


def fit(make, chars, text=lambda made: made.text, first=0):
    """Find the largest size (in tokens) for which what `make` gives has at most `chars` characters.

    `make` takes a size and gives a Made, or None if it cannot be had so small. None if nothing fits.
    """
    best, low, high = None, 0, 2 * chars
    size = first or chars // CHARS_PER_TOKEN
    for _ in range(TRIES):
        made = make(size)
        length = len(text(made)) if made else 0
        if made is None or length <= chars:
            low = size
            best = made if made and (best is None or length > len(text(best))) else best
        else:
            high = size
        if high - low <= 1 or (best and len(text(best)) >= CLOSE * chars):
            break
        aim = int(size * chars / length) if length else 2 * size
        size = aim if low < aim < high and abs(aim - size) > size // 50 else (low + high) // 2
    return best


def summarised(made):
    """The result if it holds a summary, else None: the size was too small to be had."""
    return made if made.report.outcome == "summarised" else None


def whole(row, chars, summarizer=None):
    """A run with --target-tokens: head, handoff and tail within `chars` characters."""
    settings = Settings(trigger_mode=Trigger.FORCE)
    return fit(lambda n: summarised(compact(row, replace(settings, target_tokens=n), summarizer)), chars)


def handoff_alone(row, chars, summarizer=None):
    """A run whose handoff has at most `chars` characters, with the shortest tail that there can be."""
    settings = Settings(context_window=WIDE, tail_tokens=0, trigger_mode=Trigger.FORCE)

    def make(n):
        return summarised(compact(row, replace(settings, summary_min=n, summary_max=n), summarizer))

    return fit(make, chars, lambda made: made.handoff)


def stage_one(row):
    """A run that prunes and stops there: the window is one that pruning is enough for."""
    before = compact(row, Settings(context_window=WIDE, trigger_mode=Trigger.FORCE, tail_tokens=WIDE)).report
    return compact(row, Settings(context_window=2 * before.effective))


class Refusing:
    """A summarizer that fails, so that --on-failure decides."""

    name = "refusing"

    async def reply(self, request):
        raise SummaryError("it refuses", "nothing")

    async def close(self):
        """Hold nothing."""


def drop_middle(row, chars):
    """A run with --on-failure drop whose summary fails: head and tail, in at most `chars` characters."""
    settings = Settings(context_window=WIDE, on_failure=OnFailure.DROP, trigger_mode=Trigger.FORCE)

    def make(n):
        made = compact(row, replace(settings, tail_tokens=n), Refusing)
        return made if len(made.messages) < len(row.conversation.messages) else None

    return fit(make, chars)


def tail_only(row, chars):
    """The last characters."""
    return "\n".join(map(words, row.conversation.messages))[-chars:]


def reply_alone(row, chars):
    """What the stand-in for a small model replies, with nothing beside it."""
    settings = Settings(context_window=WIDE, tail_tokens=0, trigger_mode=Trigger.FORCE)
    size = chars // CHARS_PER_TOKEN
    asked = make_plan(row.conversation, (), replace(settings, summary_min=size, summary_max=size), COUNT).request
    roles = [{"role": "system", "content": asked.system}, {"role": "user", "content": asked.user}]
    return notes(Ask(1, "/v1/chat/completions", {}, {"messages": roles}, 0.0))[:chars]


def endpoint(url, model="stand-in"):
    """A maker of summarizers that ask an endpoint."""
    return lambda: EndpointSummarizer(Endpoint(model, url, 600.0, 1))
