"""What is left of turns, in at most so many characters, by one way of compacting or another?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from compactor.core import acts
from compactor.core.merge import merged
from compactor.core.messages import Kept, applied, groups
from compactor.core.prompt import Turns, request
from compactor.core.prune import prunable
from compactor.core.scene import by_message
from compactor.core.settings import Settings
from compactor.core.summary import SECTIONS, Summary, judge, render
from compactor.tokenizer import tokenizer
from tests.standin import Ask, notes

COUNT = tokenizer("o200k_base")
SETTINGS = Settings()


def text_of(messages):
    """Everything that a model reads of messages, as text; arguments without the escapes of their JSON."""
    parts = []
    for m in messages:
        parts += [m.text, m.reasoning, m.other, *(r.text for r in m.results)]
        parts += [word for call in m.calls for word in (call.name, *_words(acts.parsed(call.arguments)))]
    return "\n".join(filter(None, parts))


def _words(value):
    if isinstance(value, Mapping | list):
        inner = value.values() if isinstance(value, Mapping) else value
        return [word for member in inner for word in _words(member)]
    return [str(value)]


def pruned(messages):
    """Stage 1 alone: the turns with stubs for their old results; the size is what it is."""
    stubs = by_message(prunable(messages, groups(messages), 0, len(messages), SETTINGS))
    return text_of(applied(m, Kept(n, stubs.get(n, {}))) for n, m in enumerate(messages))


def tail(messages, chars):
    """The end of the turns."""
    return text_of(messages)[-chars:]


def ends(messages, chars):
    """The beginning and the end of the turns, without their middle."""
    text = text_of(messages)
    return text[: chars // 2] + text[-chars // 2 :]


def asked(messages, ceiling, previous=None):
    """A request to summarise the turns in at most `ceiling` tokens."""
    return request(Turns(tuple(messages), groups(messages), 0), previous, (), (), ceiling, SETTINGS)


def offline(messages, ceiling):
    """The extractive arm: code alone."""
    return merged(asked(messages, ceiling), Summary({}), COUNT).summary


def model_alone(messages, ceiling):
    """What a stand-in for a small model writes, and nothing beside it."""
    made = asked(messages, ceiling)
    found = judge(_reply(made), ceiling, COUNT)
    return found if isinstance(found, Summary) else Summary({})


def model_and_ledger(messages, ceiling):
    """The same reply, with the facts that code keeps."""
    made = asked(messages, ceiling)
    reply = judge(_reply(replace(made, ceiling=ceiling // 2)), ceiling, COUNT)
    return merged(made, reply if isinstance(reply, Summary) else Summary({}), COUNT).summary


def _reply(made):
    body = {"messages": [{"role": "system", "content": made.system}, {"role": "user", "content": made.user}]}
    return notes(Ask(1, "/v1/chat/completions", {}, body, 0.0))


def in_chars(summarise, messages, chars, write=render):
    """Let `summarise` take as many tokens as fit `chars` characters once written; give the text."""
    low, high, best = 1, max(chars // 2, 60), ""
    while low <= high:
        ceiling = (low + high) // 2
        text = write(summarise(messages, ceiling))
        if len(text) > chars:
            high = ceiling - 1
        else:
            best, low = max(best, text, key=len), ceiling + 1
    for ceiling in range(max(high - 6, 1), high + 40, 2):  # more tokens need not be more characters
        text = write(summarise(messages, ceiling))
        best = text if len(best) < len(text) <= chars else best
    return best


def brief(summary):
    """Write a summary without the headings of empty sections."""
    filled = (s for s in SECTIONS if summary[s.key])
    return "\n".join("\n".join((f"{'#' * s.level} {s.heading}", *summary[s.key])) for s in filled)
