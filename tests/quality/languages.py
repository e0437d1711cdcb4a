"""Part e: five languages. Which rules, decisions and paths survive one compaction, whatever language they are said in?

Beside it: is a rule that was taken back gone, and is none believed that only a tool has printed?
"""

from __future__ import annotations

from compactor.core.handoff import read
from compactor.core.settings import Settings, Trigger
from tests.quality import arms
from tests.quality.phrases import LANGUAGES
from tests.quality.tables import Share, Table
from tests.quality.talk import ROUNDS, WAITING, Story, as_file

SUMMARY = 1_500  # tokens: what has to stay takes 700 to 1,000, the talk has ten times as many
SETTINGS = Settings(
    context_window=32_000,
    protect_first=1,
    tail_messages=WAITING,
    summary_min=SUMMARY,
    summary_max=SUMMARY,
    trigger_mode=Trigger.FORCE,
)
WHAT = ("rules", "decisions", "paths", "revoked gone", "printed ones not believed")


def measure(seeds, language):
    """Give (shares by WHAT, share of the tokens that are left)."""
    found = {what: Share() for what in WHAT}
    left = []
    for seed in seeds.numbers:
        story = Story(seeds, seed, language)
        for _ in range(ROUNDS):
            story.go_on()
        made = arms.compact(arms.read(as_file(story.messages), "chat.jsonl"), SETTINGS)
        left.append(100 * made.report.after_most / made.report.before)
        rules = "\n".join(read(made.handoff).summary["constraints"])
        name = f"{language} {seed}"
        for said in story.standing():
            found["rules"].add(said.rule in made.text, f"{name}: {said.rule}")
        for said in story.said:
            found["decisions"].add(said.decision in made.text, f"{name}: {said.decision}")
            found["paths"].add(said.path in made.text, f"{name}: {said.path}")
            found["printed ones not believed"].add(said.printed not in rules, f"{name}: printed: {said.printed}")
        for said in story.revoked():
            found["revoked gone"].add(said.rule not in rules, f"{name}: still listed: {said.rule}")
    return found, sum(left) / len(left)


def table(seeds):
    """Part e as a table."""
    rows, lost = [], []
    for language in LANGUAGES:
        found, left = measure(seeds, language)
        rows.append((language, *found.values(), f"{left:.1f} %"))
        lost += [line for share in found.values() for line in share.lost]
    title = f"e. Five languages, in a summary of {SUMMARY:,} tokens: survival in %"
    return [Table(title, ("language", *WHAT, "size"), tuple(rows), (), tuple(lost) if seeds.tuning else ())]
