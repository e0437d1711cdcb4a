"""Part c: the user's side constraints of COMPINT. Which of them still stand, word for word, after a compaction?

`conpact` carries the fifteen constraints, and how they are framed and put before a user's turn; the long histories are
built from the shared transcripts. Its package needs much that this does not, so only that one file of it is loaded.
"""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path

from compactor.core.finish import Compacted, finish
from compactor.core.merge import merged
from compactor.core.messages import Conversation, Message, Role
from compactor.core.plan import make_plan
from compactor.core.settings import Settings, Trigger
from compactor.core.summary import Summary
from compactor.core.verify import result_messages
from compactor.formats import rows
from tests.quality import arms

SHARED = Path(__file__).resolve().parents[3] / "shared" / "transcripts"
SETTINGS = Settings(context_window=32_000, trigger_mode=Trigger.FORCE)
AGENTS = 5
CHATS = 4
CHATS_JOINED = 12  # short support chats that make up one long history
POSITIONS = ("top", "middle", "bottom")


def constraints():
    """Load the fifteen constraints and their framing; None if the package is not installed."""
    for entry in sys.path:
        path = Path(entry) / "conpact" / "constraints.py"
        if path.is_file():
            spec = importlib.util.spec_from_file_location("conpact_constraints", path)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            return module
    return None


def histories():
    """Give long agent sessions and long chats, by kind."""
    agents = [row.conversation for path in sorted(SHARED.glob("claude-code/*.jsonl")) for row in _rows(path)]
    agents = [c for c in agents if c and len(c.messages) > 20][:AGENTS]
    tau = SHARED / "openai-chat" / "tau-bench-airline.messages.jsonl"
    short = [row.conversation for row in _rows(tau)] if tau.is_file() else []
    opening = Message(Role.SYSTEM, "You are an airline's agent.")
    chats = []
    for n in range(CHATS):
        some = short[n * CHATS_JOINED : (n + 1) * CHATS_JOINED]
        turns = [m for conversation in some for m in conversation.messages if m.role is not Role.SYSTEM]
        chats += [Conversation((opening, *turns))] if turns else []
    return {"agent": agents, "chat": chats}


def _rows(path):
    return list(rows(path.read_bytes().splitlines(keepends=True), path.name))


def kept(conversation, position, sentence):
    """Tell whether `sentence`, put before the user's turn at `position`, is in what a model reads afterwards."""
    asks = [n for n, m in enumerate(conversation.messages) if m.role is Role.USER and m.text.strip() and not m.results]
    place = {"top": asks[0], "middle": asks[len(asks) // 2], "bottom": asks[-1]}[position]
    messages = list(conversation.messages)
    messages[place] = replace(messages[place], text=f"{sentence}\n{messages[place].text}")
    spoken = replace(conversation, messages=tuple(messages))
    plan = make_plan(spoken, (), SETTINGS, arms.COUNT)
    made = merged(plan.request, Summary({}), arms.COUNT) if plan.request else None
    result = finish(plan, made, {}, SETTINGS, arms.COUNT)
    after = result_messages(spoken, result.pieces) if isinstance(result, Compacted) else ()
    return sentence.removeprefix("For the rest of this session. ") in arms.text_of(after)


def report():
    """Print the share of constraints that stand, by kind of history and position."""
    module = constraints()
    found = histories()
    if module is None or not any(found.values()):
        print("(conpact is not installed, or the shared transcripts are not there)")
        return
    for kind, conversations in found.items():
        for position in POSITIONS:
            sentences = [module.render_sc(sc["sc"], strict=False, direct=True) for sc in module.SCS]
            stand = [kept(c, position, sentence) for c in conversations for sentence in sentences]
            print(f"{kind} histories, {position}: {sum(stand)} of {len(stand)} constraints stand word for word")
