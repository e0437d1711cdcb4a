"""Whatever happens to a transcript and its runs, in any order: is every turn kept or summarised once, and had back?

A run is done in this process, on real files. It is killed by taking the folder as it stood before one of its steps that
touch the disk: what a killed process had not written yet is not in it. `python -m tests.lives 1500` lives so many.
"""

import asyncio
import re
import shutil
import sys
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from compactor.archive import history, in_full
from compactor.core.handoff import is_handoff
from compactor.core.messages import chain
from compactor.core.report import Outcome
from compactor.core.settings import Settings, Trigger
from compactor.formats import rows
from compactor.job import Earlier
from compactor.keeping import faults, forget, kit_of, put_back, restore
from compactor.sidecar import Sidecar
from tests.killing import watched
from tests.making import COUNT
from tests.offline import ran
from tests.running import lined, talk

NUMBERED = re.compile(r"(?:Request|Reply) (\d+):")
CHOSEN = Settings(context_window=2_400, tail_tokens=400, prune_chars=100, summary_min=100, summary_max=300)
STEPS = 20
EXCHANGES = st.integers(2, 8)
SELDOM = st.sampled_from([True, False, False, False])
FORCE = st.sampled_from([Trigger.AUTO, Trigger.AUTO, Trigger.FORCE])


def read(content):
    """The messages that a model would be given."""
    (row,) = rows(content.splitlines(keepends=True), "log.jsonl")
    return row.conversation.messages


def numbers(messages):
    """The numbers of what was said, without handoffs."""
    return [int(found[1]) for m in messages if not is_handoff(m) and (found := NUMBERED.match(m.text))]


class Life(RuleBasedStateMachine):
    """A transcript that an agent writes, and runs of all kinds over it."""

    happened: ClassVar = Counter()

    @initialize(count=EXCHANGES)
    def begin(self, count):
        self.happened["lives"] += 1
        self.folder = Path(tempfile.mkdtemp())
        self.file = self.folder / "log.jsonl"
        self.kit = kit_of(self.file)
        self.whole = b""  # what `restore` is to give
        self.next = 0
        self.left = b""  # the beginning of the file that the last run in place left: what lies in it is not the agent's
        self.topic = 0
        self.estranged = False  # the agent has changed what a sidecar may cover
        self.file.touch()
        self.append(count)

    def teardown(self):
        shutil.rmtree(self.folder)

    # What agents and people do.

    @rule(count=EXCHANGES)
    def append(self, count):
        last = self.next + 4 * count + (self.next == 0)
        added = lined(talk(self.next, last, f"pump-{self.topic}"))
        self.next = last
        self._write(self.file.read_bytes() + added, self.whole + added)

    @rule(count=st.integers(1, 12))
    def rewind(self, count):
        """Go back by some exchanges, which an agent can where a run in place has left its words alone."""
        now = self.file.read_bytes()
        mine = now[len(self.left) :].splitlines(keepends=True)
        lines = mine[: max(0 if self.left else 1, len(mine) - 4 * count)]
        gone = sum(map(len, mine)) - sum(map(len, lines))
        if gone:
            self.happened["rewound"] += 1
            self.estranged = True
            self._write(now[:-gone], self.whole[:-gone])
            self.next -= len(mine) - len(lines)
            self.topic += 1  # what follows is another story

    @precondition(lambda self: not self.left)
    @rule(share=st.floats(0, 1, exclude_max=True))
    def edit(self, share):
        self.happened["edited"] += 1
        self.estranged = True
        lines = self.whole.splitlines(keepends=True)
        at = int(share * len(lines))
        lines[at] = lines[at].replace(b"pump", b"crane", 1)
        self._write(b"".join(lines), b"".join(lines))

    @precondition(lambda self: self.kit.archive.exists() and not self._little_stands())
    @rule()
    def restored(self):
        self.happened["restored"] += 1
        asyncio.run(put_back(self.kit, 0))
        assert self.file.read_bytes() == self.whole
        self.left = self.whole if any(map(is_handoff, read(self.whole))) else b""

    @precondition(lambda self: self.kit.state.exists() or self.kit.archive.exists())
    @rule(really=SELDOM)
    def forgotten(self, really):
        """From now on the file as it stands is all there ever was."""
        if not really:
            return
        self.happened["forgotten"] += 1
        asyncio.run(forget(self.kit, 0))
        self.whole, self.estranged = self.file.read_bytes(), False

    # Runs.

    @rule(trigger=FORCE)
    def compact_in_place(self, trigger):
        self._compact(self.file, trigger)
        self._replaced()

    @rule(trigger=FORCE)
    def compact_elsewhere(self, trigger):
        out = self.folder / "out.jsonl"
        before = self.file.read_bytes()
        self._compact(out, trigger)
        assert self.file.read_bytes() == before

    @rule(step=st.integers(1, 20), in_place=st.booleans())
    def killed(self, step, in_place):
        before, taken = self.file.read_bytes(), self.folder.with_name(f"{self.folder.name}.taken")

        def stop(number, name):
            if number == step:
                shutil.copytree(self.folder, taken)

        with watched(stop):
            self._run(self.file if in_place else self.folder / "out.jsonl", Trigger.FORCE)
        self.happened["killed under way" if taken.exists() else "ended before the kill"] += 1
        if taken.exists():
            shutil.rmtree(self.folder)
            taken.rename(self.folder)
        if self.file.read_bytes() != before:
            self._replaced()

    # What is so at any time.

    @precondition(lambda self: self._can_be_restored())
    @invariant()
    def everything_is_had_back(self):
        if self._little_stands():
            self.happened["killed, and cut so that it cannot be told from a compacted one"] += 1
        else:
            assert b"".join(restore(self.kit)) == self.whole

    @precondition(lambda self: not self.estranged)
    @invariant()
    def no_promise_is_broken(self):
        assert list(faults(self.kit)) == []

    # How.

    def _can_be_restored(self):
        """What was forgotten cannot."""
        return self.kit.archive.exists() or not any(map(is_handoff, read(self.whole)))

    def _little_stands(self):
        """Nothing is left of what a run was to take out that was killed before it did."""
        frames = history(self.kit.archive)(0) if not self.left else ()
        stands = set(self.file.read_bytes().splitlines())
        since = frames[max((n for n, f in enumerate(frames) if f == in_full(0)), default=-1) + 1 :]
        return any(not stands & ({*f.before.splitlines()} - {*f.after.splitlines()}) for f in since)

    def _write(self, now, whole):
        self.file.write_bytes(now)
        self.whole = whole

    def _replaced(self):
        now = self.file.read_bytes()
        if now != self.whole:
            self.left = now

    def _run(self, target, trigger, earlier=Earlier.CONTINUE):
        return ran(self.file, target, replace(CHOSEN, trigger_mode=trigger), earlier, COUNT)

    def _compact(self, target, trigger):
        source = read(self.file.read_bytes())
        ending = self._run(target, trigger)
        if ending.exit_code:
            assert self._refused_with_reason(ending, source)
            self.happened["refused with a reason, and rebuilt"] += 1
            ending = self._run(target, trigger, Earlier.REBUILD)
        assert ending.exit_code == 0, ending
        (report,) = ending.reports
        self.happened[f"compacted: {report.outcome}, generation {report.generation}"] += 1
        self._check(source, read(target.read_bytes()), report)
        # What is too short for a compaction is left alone, whatever was cut away.
        self.estranged = self.estranged and report.outcome is Outcome.UNTOUCHED
        assert not [*self.folder.glob(f".{target.name}.*.tmp"), *self.folder.glob(f".{self.kit.state.name}.*.tmp")]

    def _refused_with_reason(self, ending, source):
        """It was, and rightly: nothing of what any generation covers is there as it was."""
        said = f"{ending.errors}{[report.why for report in ending.reports]}"
        fits = any(map(is_handoff, source)) or any(self._covered(source, g) for g in self._generations())
        return ("edited or cut short" in said or "belongs to another transcript" in said) and not fits

    def _check(self, source, result, report):
        """Every turn of the conversation is kept, in its order, or covered by the generation that the report names."""
        whole = read(self.whole)
        compacted = report.generation > 0 or any(map(is_handoff, source))
        assert sum(map(is_handoff, result)) == compacted
        before, after = numbers(whole), numbers(result)
        gone = [n for n in before if n not in after]
        assert after == [n for n in before if n not in gone]
        assert gone == before[before.index(gone[0]) :][: len(gone)] if gone else True  # in one piece
        missing = sum(not is_handoff(m) for m in whole) - sum(not is_handoff(m) for m in result)
        counts = {g.covered.count for g in self._generations() if g.number == report.generation}
        assert missing in (counts if missing else {0})

    def _covered(self, messages, generation):
        """Tell whether what a generation covers stands somewhere in `messages`."""
        count = generation.covered.count
        return any(chain(messages[n : n + count]) == generation.covered.chain for n in range(len(messages) - count + 1))

    def _generations(self):
        return [g for entry in Sidecar.open(self.kit.state).loaded.values() for g in entry.generations]


def main():
    """Live as often as asked; print what happened how often."""
    examples = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    chosen = settings(max_examples=examples, stateful_step_count=STEPS, deadline=None, database=None)
    run_state_machine_as_test(Life, settings=chosen)
    print(f"{Life.happened['lives']:,} lives of at most {STEPS} steps; nothing was lost, doubled or broken")
    for what, times in sorted(Life.happened.items()):
        print(f"{times:7,} {what}")


if __name__ == "__main__":
    main()
