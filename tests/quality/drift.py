"""Part d: growth and drift. What is there of round 1 at round 10, in how large a summary, and is its state right?

After every round the conversation is compacted anew: either into another file, with what the sidecar knows, or in its
own place, where the handoff of the last time is all that is left of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum

from compactor.core.handoff import read
from compactor.core.plan import make_plan
from compactor.core.settings import Settings, Trigger
from compactor.core.summary import render
from tests.quality import arms
from tests.quality.phrases import LANGUAGES
from tests.quality.tables import Share, Table
from tests.quality.talk import ROUNDS, WAITING, Story, as_file
from tests.standin import Standin

# All that a round says is in the middle: the tail is the wait at its end.
SETTINGS = Settings(context_window=32_000, tail_messages=WAITING, protect_first=1, trigger_mode=Trigger.FORCE)


BARS = "bars: 100 in every column, without the sidecar too"


class Way(StrEnum):
    """Where the results go."""

    BESIDE = "another file, sidecar"
    IN_PLACE = "in place, sidecar lost"


@dataclass
class Found:
    """What came of ten rounds, over some stories."""

    first: Share = field(default_factory=Share)
    rules: Share = field(default_factory=Share)
    decisions: Share = field(default_factory=Share)
    paths: Share = field(default_factory=Share)
    revoked: Share = field(default_factory=Share)
    finished: Share = field(default_factory=Share)
    active: Share = field(default_factory=Share)
    within: Share = field(default_factory=Share)
    sizes: list[list[int]] = field(default_factory=list)

    def judge(self, story, made, name):
        """Look for everything that was said in what is left, and for each state in its section."""
        text, notes = made.text, read(made.handoff).summary
        first = story.said[0]
        for what in (first.rule, first.decision, first.path):
            self.first.add(what in text, f"{name}: round 1: {what}")
        for said in story.standing():
            self.rules.add(said.rule in text, f"{name}: rule: {said.rule}")
        for said in story.said:
            self.decisions.add(said.decision in text, f"{name}: decision: {said.decision}")
            self.paths.add(said.path in text, f"{name}: path: {said.path}")
        for said in story.revoked():
            standing = "\n".join(notes["constraints"])
            self.revoked.add(said.rule not in standing, f"{name}: taken back, and still listed: {said.rule}")
        active = [line.rstrip().replace('"', "") for line in (*notes["in_progress"], *notes["next_steps"])]
        listed = {n for n in range(ROUNDS + 2) if any(re.search(rf"step {n}(?!\d)", line) for line in active)}
        begun = len(story.said)
        for n in range(begun):
            self.finished.add(n not in listed, f"{name}: finished, listed as active: step {n}")
        self.active.add(begun in listed, f"{name}: begun, not listed as active: step {begun}")


def rounds(story, way, summarizer=None):
    """Compact after every round; yield (result, tokens of the summary, its ceiling)."""
    entry, content = None, b""
    for _ in range(ROUNDS):
        before = len(story.messages)
        story.go_on()
        new = as_file(story.messages[before:] if content else story.messages)
        content = content + new if way is Way.IN_PLACE else as_file(story.messages)
        row = arms.read(content, "chat.jsonl")
        plan = make_plan(row.conversation, (entry,) if entry else (), SETTINGS, arms.COUNT)
        made = arms.compact(row, SETTINGS, summarizer, entry)
        if way is Way.BESIDE:
            entry = made.entry or entry
        else:
            content = made.content
        if plan.request:
            yield made, arms.COUNT(render(read(made.handoff).summary)), plan.request.ceiling


def measure(seeds, way, languages, summarizer=None):
    """Ten rounds for every seed in every language."""
    found = Found()
    for seed in seeds.numbers:
        for language in languages:
            story = Story(seeds, seed, language)
            steps = list(rounds(story, way, summarizer))
            for _, size, ceiling in steps:
                found.within.add(size <= ceiling, f"{language} {seed}: {size} tokens where {ceiling} are allowed")
            found.sizes.append([size for _, size, _ in steps])
            found.judge(story, steps[-1][0], f"{language} {seed}")
    return found


def table(seeds):
    """Part d as a table."""
    rows, notes, lost = [], [BARS], []
    with Standin() as standin:
        arm = {"extractive": None, "stand-in model + ledger": arms.endpoint(standin.url)}
        for name, summarizer in arm.items():
            for way in Way:
                languages = LANGUAGES if summarizer is None else ["English"]
                one = measure(seeds, way, languages, summarizer)
                shares = (
                    one.first,
                    one.rules,
                    one.decisions,
                    one.paths,
                    one.revoked,
                    one.finished,
                    one.active,
                    one.within,
                )
                rows.append((f"{name}, {way}", *shares, max(map(max, one.sizes))))
                means = [round(sum(sizes) / len(sizes)) for sizes in zip(*one.sizes, strict=False)]
                notes.append(f"{name}, {way}: tokens of the summary by round: {means}")
                lost += [f"{name}, {way}: {line}" for s in shares for line in s.lost]
    headings = (
        "arm", "round 1", "rules", "decisions", "paths", "revoked gone", "finished right", "active right", "in ceiling",
        "largest",
    )  # fmt: skip
    title = f"d. Growth and drift: what is there after {ROUNDS} rounds, in %"
    return [Table(title, headings, tuple(rows), tuple(notes), tuple(lost) if seeds.tuning else ())]
