"""What is said to people, where, and how: everything but the product goes to standard error.

A dry run's report is a product: as a table for people, as JSON lines for programs.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections import Counter
from dataclasses import dataclass, field
from enum import IntEnum
from io import StringIO
from typing import TYPE_CHECKING, TextIO

from compactor.core.report import Outcome, Report, Totals, totals

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from compactor.errors import CompactorError


PLENTY = 180  # columns of a table that goes to a file or a pipe
WORDS = 24  # columns that a name or a reason gets at least, however narrow the terminal


class Talk(IntEnum):
    """How much is said: errors only, what changed, or everything."""

    QUIET = 0
    NORMAL = 1
    VERBOSE = 2


@dataclass(frozen=True, slots=True)
class Console:
    """Says what happens, a line a conversation, on `err`."""

    talk: Talk = Talk.NORMAL
    err: TextIO = field(default_factory=lambda: sys.stderr)
    _failed: Counter[str] = field(default_factory=Counter)

    @property
    def width(self) -> int:
        """Columns of a table: the terminal's, or plenty where nobody looks at one."""
        return shutil.get_terminal_size((PLENTY, 0)).columns if sys.stdout.isatty() else PLENTY

    def heard(self, report: Report) -> None:
        """Say what became of a conversation: always if something is wrong with it, else as far as asked."""
        for fault in report.faults:
            self._say(f"compactor: {fault} ({_left(report)})")
        if report.outcome in (Outcome.FAILED, Outcome.LEFT):
            self._failure(report)
        elif self.talk >= Talk.VERBOSE or (self.talk and report.outcome not in _DULL):
            self._say(f"{report.name}: {_story(report)}")

    def repeated(self) -> None:
        """Say how often a failure came again that was said once."""
        for why, times in self._failed.items():
            if times > 1:
                self._say(f"compactor: the same for {_counted(times - 1, 'more conversation')}: {why}")

    def _failure(self, report: Report) -> None:
        """Say a failure in full the first time; with everything to be said, each time."""
        self._failed[report.why] += self.talk < Talk.VERBOSE
        if self._failed[report.why] <= 1:
            self._say(f"compactor: {report.name}: {_failure(report)}")

    def skipped(self, error: CompactorError) -> None:
        """Say that a file below a folder is no transcript, if everything is to be said."""
        if self.talk >= Talk.VERBOSE:
            self._say(f"{error.what} (passed over)")

    def trouble(self, error: CompactorError) -> None:
        """Say why a whole file could not be worked on, and what to do."""
        self._say(f"compactor: {error}")

    def note(self, text: str) -> None:
        """Say something that is good to know."""
        if self.talk:
            self._say(text)

    def summary(self, reports: Sequence[Report]) -> None:
        """Say what a run came to, if it had several conversations, or one that nothing has been said of."""
        if self.talk and len(reports) > 1:
            self._say(_closing(totals(reports)))
        elif self.talk is Talk.NORMAL and [r.outcome for r in reports] == [Outcome.UNTOUCHED]:
            self._say(f"{reports[0].name}: {_story(reports[0])}")

    def _say(self, line: str) -> None:
        print(line, file=self.err, flush=True)


_DULL = (Outcome.UNTOUCHED, Outcome.UNREADABLE)


def _left(report: Report) -> str:
    """Say where a conversation is that nothing was done with; written in another format it is nowhere."""
    return "left out" if report.bytes_before and report.bytes_after == 0 else "left as it came"


def _failure(report: Report) -> str:
    left = _left(report)
    if report.outcome is Outcome.FAILED and report.before and report.after_most and report.after_most < report.before:
        left = f"only pruned, {_change(report)}" if report.pruned == report.after_most else f"cut, {_change(report)}"
    return f"{report.why} ({left})"


def _story(report: Report) -> str:
    if report.before is None or report.outcome is Outcome.UNTOUCHED:
        return f"untouched: {report.why}" + (f" ({report.note})" if report.note else "")
    how = {
        Outcome.SUMMARISED: f"middle of {report.middle:,} tokens summarised by {report.summarizer}, "
        f"generation {report.generation}",
        Outcome.REUSED: f"handoff of generation {report.generation} reused, no call",
        Outcome.PRUNED: "old tool results pruned, no call",
    }[report.outcome]
    if report.summarizer and report.why and report.outcome is Outcome.SUMMARISED and report.why != "at the trigger":
        how += f", because {report.why}"
    beside = filter(None, (report.note, _secrets(report.masked)))
    return "; ".join((f"{_change(report)}, {how}", *beside))


def _change(report: Report) -> str:
    before, after = report.before or 0, report.after_most or 0
    share = f" (-{1 - after / before:.0%})" if before else ""
    about = "" if report.exact else "about "
    return f"{about}{before:,} -> {after:,} tokens{share}"


def _closing(total: Totals) -> str:
    parts = [f"{n:,} {name}" for name, n in total.outcomes.items()]
    line = f"{total.conversations:,} conversations: {', '.join(parts)}"
    if total.before:
        about = "" if total.exact else "about "
        line += f"; {about}{total.before:,} -> {total.after_most:,} tokens (-{total.saved[0]:.0%})"
    if total.calls:
        line += f"; {_counted(total.calls, 'call')}, {total.prompt_tokens:,} + {total.completion_tokens:,} tokens"
    return "; ".join(filter(None, (line, _secrets(total.masked), _money(total, "cost", ""))))


def _secrets(masked: int) -> str:
    return f"{_counted(masked, 'secret')} masked" if masked else ""


def _money(total: Totals, cost: str, at_least: str) -> str:
    if total.cost is None or total.net_saving is None:
        return ""
    return f"{cost} {total.cost:.4f}, net saving {total.net_saving:.4f}{at_least}"


def as_json(reports: Iterable[Report]) -> bytes:
    """Write reports and their totals as JSON lines, each an object of schemas/report.json."""
    every = tuple(reports)
    return json_lines([*(r.as_json() for r in every), totals(every).as_json()])


def json_lines(objects: Iterable[Mapping[str, object]]) -> bytes:
    """Write objects, one a line. A file name may be no UTF-8, and a fault may quote half a character: as escapes."""
    return b"".join(json.dumps(o, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n" for o in objects)


def table(reports: Iterable[Report], width: int) -> str:
    """Write reports as a table of `width` columns for people, with a line of totals under it."""
    every = tuple(reports)
    return f"{aligned(_HEADINGS, map(_cells, every), width)}\n\n{_expectation(totals(every))}\n"


def aligned(headings: Sequence[str], rows: Iterable[Sequence[str]], width: int = PLENTY) -> str:
    """Write a table with aligned columns: words to the left, those of NUMBERS to the right.

    Words are folded to fit `width`; where that is too little even so, lines are longer, as no figure may be cut.
    """
    from rich.console import Console as Rich
    from rich.table import Table

    every = list(rows)
    needed = [max(map(len, column)) for column in zip(headings, *every, strict=True)]
    least = sum((n if h in NUMBERS else min(n, WORDS)) + 2 for h, n in zip(headings, needed, strict=True))
    made = Table(box=None, pad_edge=False)
    for heading in headings:
        number = heading in NUMBERS
        made.add_column(heading, justify="right" if number else "left", no_wrap=number, overflow="fold")
    for row in every:
        made.add_row(*row)
    out = StringIO()
    Rich(file=out, width=max(width, least), highlight=False, markup=False, emoji=False).print(made)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


_HEADINGS = (
    "conversation",
    "messages",
    "tokens",
    "pruned",
    "head",
    "middle",
    "tail",
    "after",
    "calls",
    "prompt",
    "what and why",
)
NUMBERS = frozenset({*_HEADINGS[1:-1], "bytes"})


def _cells(report: Report) -> tuple[str, ...]:
    split = [f"{n:,}" if report.middle else "-" for n in (report.head, report.middle, report.tail)]
    counted = [f"{n:,}" if n is not None else "-" for n in (report.before, report.pruned)]
    asked = [f"{n:,}" if report.calls else "-" for n in (report.calls, report.prompt_tokens)]
    why = ": ".join(filter(None, (str(report.outcome), report.why, report.note)))
    name = report.name or "(no conversation)"
    return (name, f"{report.messages:,}", *counted, *split, _range(report.after_least, report.after_most), *asked, why)


def _range(least: int | None, most: int | None) -> str:
    if least is None or most is None:
        return "-"
    return f"{least:,}" if least == most else f"{least:,}-{most:,}"


def _expectation(total: Totals) -> str:
    least, most = total.saved
    share = f"{least:.0%}" if round(least, 2) == round(most, 2) else f"{least:.0%} to {most:.0%}"
    estimate = "" if total.exact else " (counted by an estimate, not by the model's own tokenizer)"
    calls = _counted(total.calls, "call") + (f" with {total.prompt_tokens:,} prompt tokens" if total.calls else "")
    after = _range(total.after_least, total.after_most)
    many = _counted(total.conversations, "conversation")
    saved = f"{many}: {total.before:,} -> {after} tokens, {share} saved, {calls}"
    return ", ".join(filter(None, (saved, _money(total, "cost at most", " at least")))) + estimate


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}" if number else f"no {noun}"
