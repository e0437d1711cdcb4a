"""Which facts of a conversation does code keep, over all generations, whatever a summarizer writes?

A ledger is lines of the families of `families.py`, in the order in which their facts came up. New turns add to it and
retire what they overtake: an item that is done, a failure that was cured, a rule that was revoked, a file or tool whose
counts grew. It holds more than a summary has room for, so that a fact left out of one summary may stand in the next.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from compactor.core import deeds, story
from compactor.core.commands import kind, only_looks
from compactor.core.cures import cures
from compactor.core.families import PROSE, Line, line, read_line
from compactor.core.messages import Role
from compactor.core.room import Claim
from compactor.core.speech import salience
from compactor.core.subjects import states, without_superseded
from compactor.core.summary import SECTIONS, Summary
from compactor.core.touches import How, touches
from compactor.core.wishes import standing, wishes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from compactor.core.story import Story
    from compactor.core.todos import Todo

SENTENCES = frozenset(("decided", "achieved", "finding", "answered", "remark", "next"))
RULES = frozenset(("rule", "pinned"))
FILES = frozenset(("changed_file", "read_file"))
# Lines of one family that are carried on: more than any summary has room for, and a sidecar of some ten kilobytes.
KEPT = 100
LAST_COMMANDS = 10
_SUCCEEDED = re.compile(r"` -> (?:ok|exit 0) \[\d+\]$")
OFTEN = 5  # touches of a file; beyond that one more says nothing
ACKNOWLEDGEMENT = 16  # characters of a request in quotation marks that only says yes


def opened(held: Summary) -> tuple[Line, ...]:
    """Read the lines of a ledger back, or those of a summary that has none beside it; free prose is left out."""
    lines = (read_line(s.key, text) for s in SECTIONS for text in held[s.key])
    return tuple(entry for entry in lines if entry.family.name not in _PROSE_NAMES)


_PROSE_NAMES = frozenset(f.name for f in PROSE.values())


def closed(lines: Iterable[Line]) -> Summary:
    """Write a ledger by section, as a sidecar holds it: of each family the lines that are worth most."""
    lines = tuple(lines)
    names = dict.fromkeys(entry.family.name for entry in lines)
    kept = {n for name in names for n in best_first(name, lines)[: None if name in RULES else KEPT]}
    sections: dict[str, list[str]] = {}
    for n in sorted(kept):
        sections.setdefault(lines[n].family.section, []).append(lines[n].text)
    return Summary({key: tuple(value) for key, value in sections.items()})


def updated(before: Sequence[Line], tale: Story) -> list[Line]:
    """Add to the ledger what the turns of `tale` hold, and take out what they have overtaken."""
    known = dict(parts for old in before if old.family.name == "open" and (parts := _label(old.key)))
    now, items = deeds.lists(tale, known)
    new = sorted((*_new_lines(tale), *items), key=lambda entry: entry.number)
    if any(old.family.name == "task" for old in before):
        new = [_as_request(n) for n in new if n.family.name != "task" or n.number > len(tale.before)]
    return _reconciled(_without_old_looks(_merged(_still_true(before, tale, now, new), new)), tale)


def with_cleared(lines: Sequence[Line], tale: Story) -> list[Line]:
    """Add what only the results say that leave as stubs: when their turns are summarised, it can be read no more."""
    acts = tale.cleared
    results = replace(tale, spoken=(), acts=acts, touched={n: touches(act) for n, act in enumerate(acts)})
    said = [entry for stage in (deeds.commits, deeds.verdicts, deeds.errors, deeds.answers) for entry in stage(results)]
    named = deeds.names(replace(tale, spoken=(), acts=(*tale.acts, *tale.later)))
    return _merged(lines, [*said, *(entry for entry in named if entry.number in {act.number for act in acts})])


def _without_old_looks(lines: Sequence[Line]) -> list[Line]:
    """Leave out the commands that only looked at something and could, all but the last ones: the files say it, too."""
    commands = [entry for entry in lines if entry.family.name == "command"]
    old = {e.text for e in commands[:-LAST_COMMANDS] if only_looks(e.key) and _SUCCEEDED.search(e.text)}
    return [entry for entry in lines if entry.text not in old]


def _as_request(entry: Line) -> Line:
    """Make a request of what new turns alone would take for the task."""
    return line("asked", f"Asked: {entry.text[2:]}") if entry.family.name == "task" else entry


def _label(key: str) -> tuple[str, str] | None:
    found = re.match(r"^(#\d+) (.*)$", key)
    return (found[1], found[2]) if found else None


def _new_lines(tale: Story) -> Iterator[Line]:
    for stage in (
        story.goals, story.rules, story.assertions, story.replies, story.announced, story.open_questions, story.plans,
        deeds.commits, deeds.changes, deeds.verdicts, deeds.running, deeds.failures, deeds.files,
        deeds.errors, deeds.answers, deeds.figures, deeds.names, deeds.tools, deeds.commands,
    ):  # fmt: skip
        yield from stage(tale)


def _still_true(before: Sequence[Line], tale: Story, now: Todo, new: Sequence[Line]) -> list[Line]:
    """Keep the earlier lines that the new turns have not overtaken."""
    answered = cures((*tale.acts, *tale.later))
    closed = {a.subject for a in tale.acts if a.result}
    told = {entry.family.name for entry in new}
    listed = {i.text for i in now.items}
    went_on = bool(tale.acts or tale.spoken)

    def item_listed(key: str) -> bool:
        return now.whole or (_label(key) or ("", key))[1] in listed

    overtaken: dict[str, Callable[[str], bool]] = {
        "failed": lambda key: kind(key) in answered.successes or len(tale.acts) >= deeds.WORKED_AROUND,
        "open": item_listed,
        "active": item_listed,
        "running": closed.__contains__,
        "announced": lambda _: went_on,
        "asking": lambda _: bool(tale.spoken),
        "next": lambda _: "next" in told,
    }
    held = deeds.with_cures(before, answered)
    return [old for old in held if not (rule := overtaken.get(old.family.name)) or not rule(old.key)]


def _merged(before: Sequence[Line], new: Iterable[Line]) -> list[Line]:
    """Join both runs in order, each fact once; what is counted is added up, what has a state has its last."""
    lines: dict[tuple[str, str], Line] = {}
    for entry in _with_one_name((*before, *new)):
        key = _about(entry)
        known = lines.get(key)
        names = {entry.family.name, known.family.name} if known else set()
        if known is None:
            lines[key] = entry
        elif names <= FILES:
            del lines[key]
            lines[key] = deeds.file_line(known.key, _counts(known) + _counts(entry), entry.number)
        elif names == {"tool"}:
            lines[key] = _tools_added(known, entry)
        elif entry.family.name in (*deeds.RUNS, "error") and entry.number >= known.number:
            del lines[key]
            lines[key] = entry
    return list(lines.values())


def _with_one_name(lines: Sequence[Line]) -> Iterator[Line]:
    """Name a file by its whole path wherever a part of it, with a folder, fits no other."""
    whole = dict.fromkeys(entry.key for entry in lines if entry.family.name in FILES and entry.key.startswith("/"))
    for entry in lines:
        if entry.family.name in FILES and "/" in entry.key.lstrip("/") and entry.key not in whole:
            ending = "/" + entry.key.removeprefix("./")
            fitting = [path for path in whole if path.endswith(ending)]
            if len(fitting) == 1:
                yield deeds.file_line(fitting[0], _counts(entry), entry.number)
                continue
        yield entry


def _about(entry: Line) -> tuple[str, str]:
    """Say what a line is about: its section and key; of a command that tests, what stands before its pipes.

    A sentence of the assistant stands in one section only, whatever it was taken for.
    """
    if entry.family.name == "tested":
        return "tested", re.split(r" (?:2>|\|)", entry.key, maxsplit=1)[0]
    return "sentence" if entry.family.name in SENTENCES else entry.family.section, entry.key.casefold()


def _counts(entry: Line) -> Counter[How]:
    match = entry.family.shape.match(entry.text)
    pairs = re.findall(r"(created|modified|deleted|read)(?: x(\d+))?", match["counts"] if match else "")
    return Counter({How(how): int(n or 1) for how, n in pairs})


def _tools_added(old: Line, new: Line) -> Line:
    found = [m for entry in (old, new) if (m := entry.family.shape.match(entry.text))]
    calls, missed = (sum(int(m[group] or 0) for m in found) for group in ("calls", "failures"))
    return deeds.tool_line(new.key, calls, missed)


def _reconciled(lines: Sequence[Line], tale: Story) -> list[Line]:
    """Leave out revoked and superseded rules, and open items that stand under Done as well."""
    later = [w.text for m in tale.after if m.role is Role.USER for w in wishes(m.text, 0)]
    held = standing([*(entry.text for entry in lines if entry.family.section == "constraints"), *later])
    spoken = [entry for entry in lines if entry.family.name in RULES]
    current = without_superseded([entry.key.strip('"') for entry in spoken])
    overtaken = [entry for n, entry in enumerate(spoken) if n not in set(current)]
    finished = {entry.key.casefold() for entry in lines if entry.family.section == "done"}
    return [
        entry
        for entry in _without_copies(lines, overtaken)
        if entry not in overtaken
        and (entry.family.section != "constraints" or entry.text in held)
        and not (entry.family.section in ("in_progress", "next_steps") and entry.key.casefold() in finished)
    ]


def _without_copies(lines: Sequence[Line], overtaken: Sequence[Line]) -> Iterator[Line]:
    """Take out of the lists of figures and names what stands in an overtaken statement of the same message."""
    gone: dict[int, str] = {}
    for entry in overtaken:
        gone[entry.number] = gone.get(entry.number, "") + entry.key
    for entry in lines:
        text = Claim(entry.text, entry.parts).without(gone[entry.number]) if entry.number in gone else entry.text
        if text:
            yield entry if text == entry.text else read_line(entry.family.section, text)


def best_first(name: str, lines: Sequence[Line]) -> list[int]:
    """Order the places of the lines of one family as they go in.

    Newest first. Of sentences, the best of each message before the second best of any, so that one long
    message does not stand for all; of files, the often touched before the once touched; of requests, those of
    more than a word or two first.
    """
    places = [n for n, entry in enumerate(lines) if entry.family.name == name][::-1]
    if name in SENTENCES or name == "edited":
        return _in_turns(places, lines)
    if name in RULES:  # all hold alike: as many as possible go in
        places.sort(key=lambda n: (states(lines[n].key.strip('"')), len(lines[n].text)))
    elif name in FILES:
        touched = {n: min(sum(_counts(lines[n]).values()), OFTEN) for n in places}
        places.sort(key=lambda n: -touched[n] - n / len(lines) * OFTEN)
    elif name == "asked":
        places.sort(key=lambda n: len(lines[n].key) < ACKNOWLEDGEMENT)
    return places


def _in_turns(places: list[int], lines: Sequence[Line]) -> list[int]:
    turn: Counter[int] = Counter()
    rank: dict[int, int] = {}
    for n in sorted(places, key=lambda n: -salience(lines[n].key)):
        rank[n] = turn[lines[n].number]
        turn[lines[n].number] += 1
    return sorted(places, key=lambda n: (rank[n], -n))
