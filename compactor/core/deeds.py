"""What was done in the turns between head and tail: files, commands, tests, failures, changes, figures?

Yields lines of the families of `families.py`, taken from calls and their results.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from compactor.core import facts
from compactor.core.acts import Act, arguments_shown, changes_something, name_words, spoken_lines
from compactor.core.commands import kind, only_looks
from compactor.core.cures import cures, prints_failures
from compactor.core.families import Line, line
from compactor.core.messages import Role
from compactor.core.room import SEPARATOR
from compactor.core.sentences import clip, flat, said, sentences
from compactor.core.story import answered_by_user, asserts, quoted
from compactor.core.todos import Status, Todo, checkboxes, todo
from compactor.core.touches import How

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from compactor.core.cures import Cures
    from compactor.core.story import Story

RESULT_CHARS = 200  # of the first line of what a change gave back: its new id, or what is wrong
ANSWER_CHARS = 400  # of what a question to a tool gave back; a record of a database fits
PARTS = 12  # facts in one line that lists several
ERRORS = 40
ERRORS_OF_ONE_RESULT = 3
SORT_CHARS = 60
RUNS = frozenset(("command", "tested", "failed"))  # families that tell of one run of something
WORKED_AROUND = 60  # acts after which a failure that nobody came back to is not what holds up the work
_LISTS = frozenset(("todo", "todos", "task", "tasks", "plan"))  # what these calls say stands in the todo list


def commits(tale: Story) -> Iterator[Line]:
    """Yield the commits that commands made."""
    for act in tale.acts:
        if act.command and not act.failed:
            for commit, subject in facts.commits(act.output):
                yield line("commit", f'Commit {commit}: "{subject}" [{act.number}]')


def changes(tale: Story) -> Iterator[Line]:
    """Yield calls that changed something outside, and edits with the words that announced them."""
    for act, touched in tale.deeds():
        if act.result is None or act.failed:
            continue
        if changes_something(act) and not touched and not _LISTS.intersection(name_words(act.call.name)):
            answer = clip(next(spoken_lines(act), ""), RESULT_CHARS)
            came = f' -> "{answer}"' if answer else ""
            yield line("called", f"Called {act.tool}({arguments_shown(act)}){came} [{act.number}]")
        changed = [t.path for t in touched if t.how is not How.READ]
        words = list(sentences(act.words))[-1:] if changed else []
        yield from (line("edited", f"Changed {changed[0]}: {quoted(s, act.number)}") for s in words if not asserts(s))


def verdicts(tale: Story) -> Iterator[Line]:
    """Yield for each run of tests, builds or checks the line in which it summed itself up."""
    for act in tale.acts:
        if act.command and not only_looks(act.command) and (summed_up := facts.verdict(act.output)):
            yield line("tested", f'Ran {act.subject}: "{summed_up}" [{act.number}]')


def lists(tale: Story, known: Mapping[str, str]) -> tuple[Todo, tuple[Line, ...]]:
    """Give the todo list as the turns leave it, also as lines; what the tail tells of it is left to the tail."""
    now = todo(tale.acts, known)
    ahead = todo(tale.later, {i.label: i.text for i in now.items if i.label} | dict(known))
    boxes = [list(checkboxes(m.text, n)) for n, m in tale.spoken if m.role is Role.ASSISTANT]
    items = [*now.items, *next((b for b in reversed(boxes) if b), [])]
    settled = {i.text for i in ahead.items}
    families = {Status.FINISHED: "ticked", Status.ACTIVE: "active", Status.OPEN: "open"}
    lines = [
        line(families[i.status], f"[{i.status}] {i.label} {i.text}" if i.label else f"[{i.status}] {i.text}")
        for i in items
        if i.status is Status.FINISHED or not (ahead.whole or i.text in settled)
    ]
    return now, tuple(lines)


_BACKGROUND = re.compile(
    r"\b(?:background|launched|async)\b.{0,200}?\b(?:id|ID|agentId|task_id|shell_id)\W{1,4}(\w[\w-]{2,63})", re.DOTALL
)
_OVER = re.compile(r"\b(?:completed|finished|failed|killed|stopped|cancelled|exited|terminated)\b", re.IGNORECASE)


def running(tale: Story) -> Iterator[Line]:
    """Yield the calls at the very end that nothing has answered, and work in the background that is not over."""
    for act in tale.acts:
        if (act.result is None and act.number == tale.acts[-1].number) or _in_background(act, tale):
            yield line("running", f"Still open: {act.subject} [{act.number}]")


def _in_background(act: Act, tale: Story) -> bool:
    started = _BACKGROUND.search(act.output[:1_000])
    return started is not None and not any(
        started[1] in later.call.arguments and _OVER.search(later.output[:1_000]) for later in (*tale.acts, *tale.later)
    )


_FINDS_NOTHING = re.compile(r"^(?:grep|rg|egrep|diff|test|\[|which|git diff|find|ls|pgrep|cmp)\b")


def failures(tale: Story) -> Iterator[Line]:
    """Yield what failed of late and was not done successfully afterwards."""
    answered = cures((*tale.acts, *tale.later))
    for act in tale.acts[-WORKED_AROUND:]:
        if not act.failed or _FINDS_NOTHING.match(kind(act.subject)) or answered.of(act):
            continue
        why = facts.error_lines(act.output, 1) or tuple(spoken_lines(act))
        reason = f': "{clip(why[-1], facts.ERROR_CHARS)}"' if why else ""
        status = f" -> {act.outcome}" if act.outcome.startswith("exit") else ""
        yield line("failed", f"Failed: {act.subject}{status}{reason} [{act.number}]")


def files(tale: Story) -> Iterator[Line]:
    """Yield each file with what was done to it, how often, and when last; the least recent first."""
    counts: dict[str, Counter[How]] = {}
    last: dict[str, int] = {}
    for act, touched in tale.deeds():
        for touch in touched:
            tally = counts.setdefault(touch.path, Counter())
            tally[How.MODIFIED if touch.how is How.CREATED and tally else touch.how] += 1
            last[touch.path] = act.number
    for path in sorted(counts, key=lambda p: last[p]):
        yield file_line(path, counts[path], last[path])


def file_line(path: str, counts: Mapping[How, int], number: int) -> Line:
    """Write one file as a line: what was done and how often."""
    told = ", ".join(h if counts[h] == 1 else f"{h} x{counts[h]}" for h in How if counts.get(h))
    changed = any(counts.get(h) for h in (How.CREATED, How.MODIFIED, How.DELETED))
    return line("changed_file" if changed else "read_file", f"{path}: {told} [{number}]")


def errors(tale: Story) -> Iterator[Line]:
    """Yield the last error lines of failed calls and of commands, each once, with what succeeded after them."""
    answered = cures((*tale.acts, *tale.later))
    found: dict[str, Act] = {}
    for act in tale.acts:
        if not (act.failed or (act.command and not only_looks(act.command))):
            continue
        for text in facts.error_lines(act.output, ERRORS_OF_ONE_RESULT):
            found.pop(text, None)
            found[text] = act
    for text, act in list(found.items())[-ERRORS:]:
        place = facts.error_place(act.output)
        told = f"{place}: {text}" if place else text
        yield error_line(f'"{told}" [{act.number}]', answered.of(act), (text,))


def error_line(told: str, answered: str = "", parts: tuple[str, ...] = ()) -> Line:
    """Write an error as a line; `answered` is the sort of work that succeeded later."""
    return line("error", f"Error{f', {clip(answered, SORT_CHARS)} succeeded later' if answered else ''}: {told}", parts)


def with_cures(before: Sequence[Line], answered: Cures) -> Iterator[Line]:
    """Say of earlier errors what has succeeded since; the other lines of their message tell of which work they are."""
    runs: dict[int, list[Line]] = {}
    for old in before:
        if old.family.name in RUNS:
            runs.setdefault(old.number, []).append(old)
    for old in before:
        told = runs.get(old.number, ()) if old.family.name == "error" else ()
        sorts = [answered.after(kind(r.key), r.number, checked=r.family.name == "tested") for r in told]
        yield error_line(f"{old.key} [{old.number}]", max(sorts)) if any(sorts) else old


def answers(tale: Story) -> Iterator[Line]:
    """Yield what calls gave back that asked for something, and what commands printed if it is short."""
    for act, touched in tale.deeds():
        asked = not (act.command or touched or changes_something(act) or answered_by_user(act))
        if act.failed or _LISTS.intersection(name_words(act.call.name)):
            continue
        if asked or (act.command and len(act.output) <= ANSWER_CHARS):
            told = clip(flat(" ".join(spoken_lines(act))), ANSWER_CHARS)
            if told:
                yield line("answer", f'{act.subject} gave "{told}" [{act.number}]')


def figures(tale: Story) -> Iterator[Line]:
    """Yield the numbers that were said, with their subject, a line for each message."""
    seen: set[str] = set()
    for number, message in tale.spoken:
        told = sentences(message.text) if message.role is not Role.SYSTEM else ()
        phrases = dict.fromkeys(p for s in told for p in facts.numbers(s) if p not in seen)
        seen.update(phrases)
        yield from _listing("number", "Numbers", tuple(phrases), number)


def names(tale: Story) -> Iterator[Line]:
    """Yield identifiers that were said or given to a tool, or that results mention again and again."""
    named = [(a, tuple(dict.fromkeys(_named_in(a.output)))) for a in tale.acts]
    mentions = Counter(i for _, found in named for i in found)
    texts = [(n, tuple(facts.identifiers(said(m.text)))) for n, m in tale.spoken if m.role is not Role.SYSTEM]
    texts += [(a.number, (*_given(a), *(i for i in found if mentions[i] > 1))) for a, found in named]
    seen: set[str] = set()
    for number, found in sorted(texts, key=lambda pair: pair[0]):
        new = tuple(dict.fromkeys(i for i in found if i not in seen))
        seen.update(new)
        yield from _listing("identifier", "Identifiers", new, number)


def _named_in(text: str) -> Iterator[str]:
    yield from facts.keyed_identifiers(text)
    yield from facts.identifiers(text)


def _given(act: Act) -> Iterator[str]:
    return _named_in((act.command or act.call.arguments)[: facts.ARGUMENT_CHARS])


def _listing(name: str, frame: str, parts: tuple[str, ...], number: int) -> Iterator[Line]:
    for start in range(0, len(parts), PARTS):
        yield line(name, f"{frame}: {SEPARATOR.join(parts[start : start + PARTS])} [{number}]")


def tools(tale: Story) -> Iterator[Line]:
    """Yield each tool with its calls and failures, the most used last."""
    calls = Counter(a.tool for a in tale.acts)
    missed = Counter(a.tool for a in tale.acts if a.failed)
    yield from (tool_line(name, calls[name], missed[name]) for name in sorted(calls, key=lambda n: calls[n]))


def tool_line(name: str, calls: int, missed: int) -> Line:
    """Write one tool as a line."""
    return line("tool", f"{name}: {calls} call{'s'[: calls > 1]}{f', {missed} failed' if missed else ''}")


def commands(tale: Story) -> Iterator[Line]:
    """Yield each command with how it ended, the latest last; of repeated ones the last run holds."""
    for act in tale.acts:
        if act.command:
            outcome = f"{act.outcome} but failures printed" if not act.failed and prints_failures(act) else act.outcome
            yield line("command", f"`{act.subject}` -> {outcome} [{act.number}]")
