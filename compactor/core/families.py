"""Which kinds of lines make up a summary that code writes, where does each stand, and how is it told again?

Every line of the offline summarizer has one of these shapes, so that the next generation reads its own lines
back, adds to them and retires them; a line of any other shape (a model wrote it) is passed on as it is.
`[N]` and `(message N)` name the message that a line comes from, counted from 1.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from compactor.core.room import SEPARATOR
from compactor.core.summary import SECTIONS, Summary

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Family:
    """One shape of line: its section, its weight when room is short, and the pattern that tells it.

    The pattern's group `key` names what the line is about; of two lines with one key the later one holds.
    """

    name: str
    section: str
    weight: float
    shape: re.Pattern[str]


def _family(name: str, section: str, weight: float, shape: str) -> Family:
    return Family(name, section, weight, re.compile(rf"^- {shape}$"))


_N = r" (?:\[\d+\]|\(message \d+\))"
# Weights are shares of the room: the user's rules before all else, then the task, what is open, files and decisions,
# other facts, and narrative. `make quality` measures what a summary keeps with them.
FAMILIES = (
    _family("task", "goal", 3_000, rf'(?P<key>".*"){_N}'),
    _family("asked", "goal", 20, rf'Asked: (?P<key>".*"){_N}'),
    _family("pinned", "constraints", 1_000_000, rf'Pinned: (?P<key>".*"){_N}'),
    _family("rule", "constraints", 100_000, rf'(?P<key>".*"){_N}'),
    _family("commit", "done", 8, rf"Commit (?P<key>[0-9a-f]+): .*{_N}"),
    _family("called", "done", 14, rf"Called (?P<key>.*){_N}"),
    _family("tested", "done", 8, rf'Ran (?P<key>.*): ".*"{_N}'),
    _family("ticked", "done", 6, r"\[x\] (?P<key>.*)"),
    _family("achieved", "done", 8, rf'(?P<key>".*"){_N}'),
    _family("edited", "done", 5, rf'Changed .*: (?P<key>".*"){_N}'),
    _family("answered", "done", 3, rf'Said: (?P<key>".*"){_N}'),
    _family("active", "in_progress", 40, r"\[~\] (?P<key>.*)"),
    _family("running", "in_progress", 40, rf"Still open: (?P<key>.*){_N}"),
    _family("announced", "in_progress", 40, rf'Announced: (?P<key>".*"){_N}'),
    _family("failed", "blocked", 10, rf'Failed: (?P<key>.*?)(?: -> exit \d+)?(?:: ".*")?{_N}'),
    _family("decided", "decisions", 20, rf'(?P<key>".*"){_N}'),
    _family("replied", "decisions", 12, rf'The user answered: (?P<key>".*"){_N}'),
    _family("changed_file", "files", 24, rf"(?P<key>.+): (?P<counts>(?:created|modified|deleted)\b[a-z0-9 ,]*){_N}"),
    _family("read_file", "files", 9, rf"(?P<key>.+): (?P<counts>read(?: x\d+)?){_N}"),
    _family("open", "next_steps", 40, r"\[ \] (?P<key>.*)"),
    _family("asking", "next_steps", 40, rf'Unanswered, (?:from|to) the user: (?P<key>".*"){_N}'),
    _family("next", "next_steps", 14, rf'(?P<key>".*"){_N}'),
    _family("error", "context", 8, rf'Error(?:, .+? succeeded later)?: (?P<key>".*"){_N}'),
    _family("number", "context", 9, rf"Numbers: (?P<key>.*){_N}"),
    _family("identifier", "context", 6, rf"Identifiers: (?P<key>.*){_N}"),
    _family("answer", "context", 4, rf'(?P<key>\S.* gave ".*"){_N}'),
    _family("remark", "context", 2, rf'Remark: (?P<key>".*"){_N}'),
    _family("finding", "context", 6, rf'(?P<key>".*"){_N}'),
    _family("tool", "tools", 20, r"(?P<key>.+): (?P<calls>\d+) calls?(?:, (?P<failures>\d+) failed)?"),
    _family("command", "tools", 12, rf"`(?P<key>.*)` -> [\w ]+{_N}"),
)
# Families that tell what a summarizer tells as well: sentences of the assistant.
NARRATIVE = frozenset(("achieved", "edited", "answered", "next", "announced", "remark", "finding"))
LISTS = frozenset(("number", "identifier"))  # their lines hold several facts
BY_NAME = {f.name: f for f in FAMILIES}
PROSE = {s.key: _family(f"{s.key} prose", s.key, 30, r"(?P<key>.*)") for s in SECTIONS}


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a summary with its family, and the key that it is compared by.

    `parts` are the single facts of a line that lists several.
    """

    family: Family
    text: str
    key: str
    parts: tuple[str, ...] = ()

    @property
    def number(self) -> int:
        """The message that the line comes from; 0 if it does not say."""
        found = re.search(r"(?:\[|\(message )(\d+)[\])]$", self.text)
        return int(found[1]) if found else 0


def read_line(section: str, text: str) -> Line:
    """Tell the family of a line of an earlier summary."""
    for family in FAMILIES:
        if family.section == section and (match := family.shape.match(text)):
            return Line(family, text, match["key"], _listed(family, match["key"]))
    return Line(PROSE[section], text, re.sub(r"^\s*(?:[-*+]|\d+[.)])\s+", "", text).strip())


def prose(summary: Summary) -> Summary:
    """Give the lines of a summary that are a summarizer's own: those of no other family."""
    found = {key: tuple(t for t in lines if read_line(key, t).family is PROSE[key]) for key, lines in _known(summary)}
    return Summary({key: lines for key, lines in found.items() if lines})


def as_prose(summary: Summary) -> Summary:
    """Take from lines that a summarizer wrote the shape of facts: the number of a message is not its to give."""
    return Summary({key: tuple(_unsigned(key, text) for text in lines) for key, lines in summary.sections.items()})


_SIGNATURE = re.compile(rf"{_N}$")


def _unsigned(section: str, text: str) -> str:
    if section not in PROSE or read_line(section, text).family is PROSE[section]:
        return text
    bare = _SIGNATURE.sub("", text)
    return bare if read_line(section, bare).family is PROSE[section] else f"*{bare[1:]}"


def _known(summary: Summary) -> Iterator[tuple[str, tuple[str, ...]]]:
    return ((s.key, summary[s.key]) for s in SECTIONS)


def line(name: str, text: str, parts: tuple[str, ...] = ()) -> Line:
    """Make a line of the family `name`; `text` is all that follows the bullet."""
    family = BY_NAME[name]
    match = family.shape.match(f"- {text}")
    key = match["key"] if match else text
    return Line(family, f"- {text}", key, parts or _listed(family, key))


def _listed(family: Family, key: str) -> tuple[str, ...]:
    return tuple(key.split(SEPARATOR)) if family.name in LISTS else ()
