"""Part b: the compaction conformance kit. What survives of facts, rules and their updates in a tenth to a third?

The kit calls `compact(turns, round_num, budget_chars)` and hands the text that it gets back as one system turn to the
next round. Here turns are written as a chat file, compacted as a run does, and written as text; text of ours that comes
back becomes the compacted conversation that it is.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from itertools import pairwise
from statistics import mean

from compaction_kit.cli import COMPACTORS
from compaction_kit.compacted import CompactedContext
from compaction_kit.corpus import build_random_session
from compaction_kit.generated import build_generated_session
from compaction_kit.runner import run_conformance
from compaction_kit.semantic_corpus import build_semantic_heldout_session, build_semantic_session

from compactor.core.handoff import END, PREFIX, is_handoff, read, write
from compactor.core.messages import Message
from compactor.core.settings import Settings, Trigger
from compactor.core.summary import SECTIONS
from tests.quality import arms
from tests.quality.tables import Share, Table

BUDGETS = (0.10, 0.20, 0.30)
ROUNDS = 5
BARS = (
    "bars at 10/20/30 %: survival 45/90/100, conflicts 56/100/100, pairs 100, round 5 = round 1",
    "what is over its budget counts as lost; a session of the kit has 4,000 to 8,000 characters",
)
REFERENCE = "semantic-checklist"  # the best of the kit's own, at every budget
_TURN = re.compile(r"^\[(system|user|assistant|tool)\] ", re.MULTILINE)
_SETTINGS = Settings(context_window=arms.WIDE, protect_first=0, tail_messages=1, trigger_mode=Trigger.FORCE)


def as_file(messages):
    """Messages as (role, text) as a chat file, one a line."""
    lines = [json.dumps({"role": role, "content": text}, ensure_ascii=False) for role, text in messages]
    return "\n".join(lines).encode()


class Whole:
    """compactor without a model; the text is all that a model would read: head, handoff and tail."""

    name = "compactor, whole result"

    def compact(self, turns, round_num=1, budget_chars=None):
        """Answer the kit; a result over the budget is given if there is none within."""
        row = arms.read(as_file(self.opened(turns)), "chat.jsonl")
        if budget_chars is None:
            made = self.run(row, 0)
        else:
            untouched = self.text(row.conversation.messages)
            if len(untouched) <= budget_chars:
                return CompactedContext(untouched, self.name, round_num)
            made = arms.fit(lambda n: self.run(row, n), budget_chars, lambda m: self.text(m.messages))
        text = self.text(made.messages if made else row.conversation.messages)
        return CompactedContext(text, self.name, round_num)

    def run(self, row, size):
        return arms.summarised(arms.compact(row, replace(_SETTINGS, target_tokens=size, tail_messages=0)))

    def opened(self, turns):
        if len(turns) > 1:
            return [(t.role, t.text) for t in turns]
        places = [*_TURN.finditer(turns[0].text), None]
        return [
            (here.group(1), turns[0].text[here.end() : after.start() - 1 if after else None])
            for here, after in pairwise(places)
        ]

    def text(self, messages):
        return "\n".join(f"[{m.role}] {m.text}" for m in messages)


class Bare(Whole):
    """The same without the fixed sentences around every summary and the headings that nothing stands under.

    They have some 500 characters whatever the conversation, which is more than half of the kit's smallest budget.
    """

    name = "compactor, summary and tail"

    def run(self, row, size):
        return arms.summarised(arms.compact(row, replace(_SETTINGS, summary_min=size, summary_max=size)))

    def opened(self, turns):
        if len(turns) > 1:
            return super().opened(turns)
        head, _, rest = turns[0].text.partition("\n[")
        notes = replace(read(f"{PREFIX}\n\n{head}\n\n{END}"), quote="")
        after = super().opened([replace(turns[0], text=f"[{rest}")])
        return [("user" if after and after[0][0] == "assistant" else "assistant", write(notes)), *after]

    def text(self, messages):
        return "\n".join(brief(m) if is_handoff(m) else f"[{m.role}] {m.text}" for m in messages)


class Alone(Bare):
    """The summary without the last turn beside it, as the kit's own compactors keep none."""

    name = "compactor, summary alone"

    def opened(self, turns):
        if len(turns) > 1:
            return Whole.opened(self, turns)
        return [("assistant", write(read(f"{PREFIX}\n\n{turns[0].text}\n\n{END}")))]

    def text(self, messages):
        handoffs = [brief(m).partition("\n> ")[0] for m in messages if is_handoff(m)]
        return "\n".join(handoffs) or super().text(messages)


def brief(handoff: Message):
    """Write a handoff's summary alone, with the headings that something stands under."""
    notes = read(handoff.text)
    filled = [s for s in SECTIONS if notes.summary[s.key]]
    parts = ["\n".join((f"{'#' * s.level} {s.heading}", *notes.summary[s.key])) for s in filled]
    return "\n".join([*parts, *([f"> {notes.quote}"] if notes.quote else [])])


@dataclass
class Found:
    """What one way of compacting comes to at one budget."""

    survival: Share = field(default_factory=Share)
    updates: Share = field(default_factory=Share)
    resolved: Share = field(default_factory=Share)
    pairs: Share = field(default_factory=Share)
    generated: Share = field(default_factory=Share)
    current: Share = field(default_factory=Share)
    stable: Share = field(default_factory=Share)
    within: Share = field(default_factory=Share)
    sizes: list[float] = field(default_factory=list)


def played(factory, session, canaries, budget, found, seed):
    """Run the rounds on one session; give the last one, in which nothing survives if any round was over the budget."""
    run = run_conformance(session, factory(), rounds=ROUNDS, canaries=canaries, budget_fraction=budget)
    first, last = run.rounds[0], run.rounds[-1]
    found.stable.add(first.survived == last.survived, f"seed {seed}: round {ROUNDS} is not round 1")
    within = all(r.within_budget for r in run.rounds)
    found.within.add(within, f"seed {seed}: over the budget")
    found.sizes.append(100 * last.output_chars / first.input_chars)
    if within:
        return last
    nothing = CompactedContext("", last.compactor_name, ROUNDS)
    return replace(last, survived=dict.fromkeys(last.survived, False), context=nothing)


def resolved(canary, text):
    """Whether the latest statement stands and nothing of the one before it, as the kit judges."""
    text = text.lower()
    latest = all(t.lower() in text for t in canary.required_tokens)
    return latest and not any(t.lower() in text for t in canary.superseded_tokens)


def measure(factory, budget, numbers):
    """All three kinds of sessions of the kit, for each seed."""
    found = Found()
    for seed in numbers:
        for build, share, updates in (
            (build_random_session, found.survival, found.updates),
            (build_generated_session, found.generated, found.current),
        ):
            session, canaries = build(seed)
            last = played(factory, session, canaries, budget, found, seed)
            for c in canaries:
                share.add(last.survived[c.id], f"{budget:.0%}: seed {seed}: {c.content}")
                if c.superseded_tokens:
                    updates.add(resolved(c, last.context.text), f"{budget:.0%}: seed {seed}: update: {c.content}")
        for build in (build_semantic_session, build_semantic_heldout_session):
            session, canaries, meta = build(seed)
            last = played(factory, session, canaries, budget, found, seed)
            by_id = {c.id: c for c in canaries}
            for name in meta["conflicts"]:
                hit = resolved(by_id[name], last.context.text)
                found.resolved.add(hit, f"{budget:.0%}: seed {seed}: conflict: {by_id[name].content}")
            for pair in meta["distinct_pairs"]:
                found.pairs.add(all(last.survived[p] for p in pair), f"{budget:.0%}: seed {seed}: pair: {pair}")
    return found


def table(seeds):
    """Part b as a table."""
    rows, lost = [], []
    for budget in BUDGETS:
        for factory in (Alone, Bare, Whole, COMPACTORS[REFERENCE]):
            one = measure(factory, budget, seeds.numbers)
            shares = (one.survival, one.resolved, one.pairs, one.updates, one.generated, one.current, one.stable)
            rows.append((f"{budget:.0%} {factory.name}", *shares, one.within, f"{mean(one.sizes):.1f} %"))
            if factory is Alone:
                lost += [f"{factory.name}: {line}" for s in (*shares, one.within) for line in s.lost]
    headings = (
        "budget",
        "survival",
        "conflicts",
        "pairs",
        "updates",
        "generated",
        "their updates",
        "round 5 = 1",
        "within",
        "size",
    )
    title = "b. Compaction conformance kit 0.8.0: survival after five rounds, in %"
    return [Table(title, headings, tuple(rows), BARS, tuple(lost) if seeds.tuning else ())]
