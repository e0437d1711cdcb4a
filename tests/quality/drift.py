"""Parts d and e: growth, drift and languages. What is there of round 1 at round 10, in how large a summary?

The conversations are written here from a seed; each round the user sets a rule, something is decided and finished, and
one todo item moves on. Rules are said in five languages, in wordings that no test of compactor's uses.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass

from compactor.core.finish import finish
from compactor.core.merge import merged
from compactor.core.messages import Call, Conversation, Message, Result, Role
from compactor.core.plan import make_plan
from compactor.core.settings import Settings, Trigger
from compactor.core.state import Entry, extended
from compactor.core.summary import Summary, render
from compactor.core.verify import result_messages
from tests.quality import arms

ROUNDS = 10
SETTINGS = Settings(context_window=32_000, tail_tokens=1_500, trigger_mode=Trigger.FORCE)
THINGS = ("ledger", "beacon", "orchard", "turbine", "harbour", "lantern", "quarry", "saddle", "meadow", "chimney")
RULES = {
    "English": "Please never rename anything in the {} package without checking with me.",
    "German": "Bitte ändere an der Datei {} niemals etwas, ohne mich vorher zu fragen.",
    "Spanish": "A partir de ahora no toques nunca la carpeta {} sin avisarme.",
    "Chinese": "从现在开始，没有我的同意不要修改 {} 模块。",
    "Japanese": "今後は確認なしに {} モジュールを変更しないでください。",
}
DECISIONS = {
    "English": "I chose {} over the old store because it survives a restart.",
    "German": "Ich habe mich für {} entschieden, weil es einen Neustart übersteht.",
    "Spanish": "Elegí {} porque sobrevive a un reinicio.",
    "Chinese": "因为重启后数据仍在，所以选择了 {}。",
    "Japanese": "再起動しても残るため、{} を選びました。",
}


@dataclass(frozen=True)
class Said:
    """What one round says that has to stay: a rule and a decision, and the path that was worked on."""

    rule: str
    decision: str
    path: str


def turns(number, seed, language):
    """Write one round: messages, and what of them has to stay."""
    dice = random.Random(f"{seed}/{number}/{language}")
    thing = f"{THINGS[number % len(THINGS)]}_{dice.randrange(100, 999)}"
    said = Said(RULES[language].format(thing), DECISIONS[language].format(f"store_{dice.randrange(100, 999)}"),
                f"src/{thing}/main.py")  # fmt: skip
    items = [{"content": f"step {n}", "status": _status(n, number)} for n in range(ROUNDS)]
    noise = "\n".join(f"{dice.randrange(10**9):09d} {thing} line {n}" for n in range(60))
    calls = (
        Call(f"a{number}", "Edit", json.dumps({"file_path": said.path})),
        Call(f"b{number}", "TodoWrite", json.dumps({"todos": items})),
        Call(f"c{number}", "Bash", json.dumps({"command": f"cat logs/{thing}.log"})),
    )
    return (
        Message(Role.USER, f"{said.rule} Look at {thing} next."),
        Message(Role.ASSISTANT, said.decision, calls),
        *(Message(Role.TOOL, results=(Result(c.id, noise if c.name == "Bash" else "ok"),)) for c in calls),
        Message(
            Role.ASSISTANT, f"The work on {thing} is finished, {dice.randrange(10, 99)} tests pass. {_prose(dice)}"
        ),
    ), said


def _prose(dice):
    """Write what assistants fill their answers with."""
    ways = ("reads", "checks", "sorts", "copies", "writes", "locks", "counts", "parses")
    return " ".join(
        f"Function part_{dice.randrange(1_000)} {dice.choice(ways)} {dice.randrange(2, 90)} records of the "
        f"{dice.choice(THINGS)} and hands them to part_{dice.randrange(1_000)}."
        for _ in range(24)
    )


def _status(item, number):
    return "completed" if item <= number else "in_progress" if item == number + 1 else "pending"


def grown(seed, languages, rounds=ROUNDS):
    """Compact a growing conversation; give what was said, the summaries, their ceilings, and all text at the end."""
    talk, said, entry, summaries, ceilings = (Message(Role.SYSTEM, "You are careful."),), [], Entry("0" * 16), [], []
    for number in range(rounds):
        new, kept = turns(number, seed, languages[number % len(languages)])
        talk += new
        said.append(kept)
        ending = (Message(Role.USER, f"Go on with round {number}."), Message(Role.ASSISTANT, "I do."))
        plan = make_plan(Conversation((*talk, *ending)), (entry,), SETTINGS, arms.COUNT)
        if plan.request is None:
            continue
        result = finish(plan, merged(plan.request, Summary({}), arms.COUNT), {}, SETTINGS, arms.COUNT)
        entry = extended(entry, result.generation)
        summaries.append(result.generation.notes.summary)
        ceilings.append(plan.request.ceiling)
    after = result_messages(plan.conversation, result.pieces)
    return said, summaries, ceilings, arms.text_of(after)


def drift(seed, languages):
    """Give the shares of rules, decisions and paths of all rounds that are there at the end, and whether it fits."""
    said, summaries, ceilings, text = grown(seed, languages)
    sizes = [arms.COUNT(render(summary)) for summary in summaries]
    active = "\n".join(summaries[-1]["in_progress"] + summaries[-1]["next_steps"])
    return {
        "rules": sum(s.rule in text for s in said) / len(said),
        "decisions": sum(s.decision in text for s in said) / len(said),
        "paths": sum(s.path in text for s in said) / len(said),
        "largest": max(sizes),
        "within": all(size <= ceiling for size, ceiling in zip(sizes, ceilings, strict=True)),
        "finished listed as active": sum(f"] step {n}" in active for n in range(len(said) - 1)),
    }


def report(seeds=range(21, 26)):
    """Print a line for all languages together, and one for each."""
    for name, languages in {"all languages": list(RULES), **{language: [language] for language in RULES}}.items():
        found = [drift(seed, languages) for seed in seeds]
        shares = ", ".join(f"{k} {sum(f[k] for f in found) / len(found):.1%}" for k in ("rules", "decisions", "paths"))
        wrong = sum(f["finished listed as active"] for f in found)
        fits = "yes" if all(f["within"] for f in found) else "NO"
        largest = max(f["largest"] for f in found)
        print(f"{name}: after {ROUNDS} rounds {shares}; at most {largest:,} tokens, within the ceiling: {fits}; "
              f"finished items listed as active: {wrong}")  # fmt: skip
def table(seeds): return []
