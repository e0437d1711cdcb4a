"""What is asked of a summarizer in tests? A small conversation as a real request, and a real counter."""

import asyncio

from compactor.core.messages import Call, Message, Result, Role, groups
from compactor.core.prompt import Turns, request
from compactor.core.settings import Settings
from compactor.core.summary import SECTIONS
from compactor.tokenizer import tokenizer

COUNT = tokenizer("o200k_base")
TURNS = (
    Message(Role.USER, "Fix the crash in app/main.py. You must never touch the tests."),
    Message(Role.ASSISTANT, "I read it first.", (Call("c1", "bash", '{"command": "cat app/main.py"}'),)),
    Message(Role.TOOL, results=(Result("c1", "line 40: raise KeyError\nerror 4711"),)),
    Message(Role.ASSISTANT, "It fails because of a missing key, so I add a default. Next I run build 20931."),
)


def asked(*texts, previous=None, ceiling=2_000):
    """A request about TURNS, or about one user message for each text."""
    messages = tuple(Message(Role.USER, text) for text in texts) or TURNS
    return request(Turns(messages, groups(messages), 3), previous, (), (), ceiling, Settings())


def notes(**lines):
    """A reply with every heading; by default one line under each."""
    return "\n\n".join(
        ("## Progress\n\n" if s.key == "done" else "")
        + f"{'#' * s.level} {s.heading}\n{lines.get(s.key, f'- {s.key} of app/main.py')}"
        for s in SECTIONS
    )


def run(coroutine):
    return asyncio.run(coroutine)
