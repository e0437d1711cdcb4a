"""What happens in a conversation that is written here from a seed, and which of it has to stay?

In every round the user sets a rule and asks for something; something is decided, a file is changed, an item of the todo
list is finished and the next one begun; then both wait. Twice a rule of an earlier round is taken back (REVOKED).
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass

from tests.quality.phrases import LANGUAGES, NAMES

ROUNDS = 10
REVOKED = {4: 1, 7: 2}  # in this round, the rule of that one is taken back
WAITING = 2  # messages at the end of a round in which nothing happens
PROSE = 18  # sentences that say nothing worth keeping, in every round


@dataclass(frozen=True)
class Said:
    """What one round says that has to stay, and what a tool printed that looks like a rule."""

    rule: str
    decision: str
    path: str
    printed: str


class Story:
    """The rounds of one conversation; the same seeds and language give the same words."""

    def __init__(self, seeds, seed, language):
        self._words = LANGUAGES[language]
        self._seeds = seeds
        self._dice = random.Random(f"{seed}/{language}")
        self._rules = self._dice.sample(seeds.half(self._words.rules), len(seeds.half(self._words.rules)))
        names = self._dice.sample(NAMES, len(NAMES))
        self._things = [f"{name}_{self._dice.randrange(100, 999)}" for name in names]
        self.said = []
        self.messages = [{"role": "system", "content": "You are a careful engineer."}]

    def _one(self, phrases):
        return self._dice.choice(self._seeds.half(phrases))

    def go_on(self):
        """Write the next round."""
        number, dice = len(self.said), self._dice
        thing = self._things[number % len(NAMES)]
        said = Said(
            self._rules[number % len(self._rules)].format(thing),
            self._one(self._words.decisions).format(f"store_{dice.randrange(100, 999)}"),
            f"src/{thing}/main.py",
            self._rules[(number + 1) % len(self._rules)].format(f"trap_{dice.randrange(100, 999)}"),
        )
        self.said.append(said)
        asked = [said.rule, self._one(self._words.asks).format(thing)]
        if number in REVOKED:
            asked.insert(0, self._one(self._words.revocations).format(self._things[REVOKED[number]]))
        self._write("user", "\n".join(asked))
        self._work(said, number, thing)
        self._write("assistant", f"{self._words.done.format(thing, dice.randrange(10, 99))} {self._prose()}")
        self._write("user", "…")
        self._write("assistant", "OK.")

    def _work(self, said, number, thing):
        items = [{"content": f"step {n}", "status": _status(n, number)} for n in range(ROUNDS + 2)]
        lines = "\n".join(f"{self._dice.randrange(10**9):09d} {thing} line {n}" for n in range(40))
        steps = {
            "Edit": ({"file_path": said.path, "old_string": "a", "new_string": "b"}, "ok"),
            "TodoWrite": ({"todos": items}, "ok"),
            "Bash": ({"command": f"cat logs/{thing}.log"}, f"{lines}\n{said.printed}\n{lines}"),
        }
        calls = [
            {"id": f"{name}{number}", "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
            for name, (given, _) in steps.items()
        ]
        self.messages.append({"role": "assistant", "content": said.decision, "tool_calls": calls})
        for call, (_, printed) in zip(calls, steps.values(), strict=True):
            self.messages.append({"role": "tool", "tool_call_id": call["id"], "content": printed})

    def _prose(self):
        fillers = self._words.fillers
        parts = ((self._dice.choice(fillers), self._dice.randrange(1_000)) for _ in range(PROSE))
        return " ".join(text.format(n, self._dice.randrange(2, 90)) for text, n in parts)

    def _write(self, role, content):
        self.messages.append({"role": role, "content": content})

    def standing(self):
        """The rounds whose rules still hold."""
        gone = {old for new, old in REVOKED.items() if new < len(self.said)}
        return [said for n, said in enumerate(self.said) if n not in gone]

    def revoked(self):
        """The rounds whose rules were taken back."""
        return [self.said[old] for new, old in REVOKED.items() if new < len(self.said)]


def _status(item, number):
    return "completed" if item <= number else "in_progress" if item == number + 1 else "pending"


def as_file(messages):
    """Messages as a chat file, one a line."""
    return b"".join(json.dumps(m, ensure_ascii=False).encode() + b"\n" for m in messages)
