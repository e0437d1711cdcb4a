"""What is a summary: which sections, how is it read from text, written as text, judged, and cut to size?

`SECTIONS` is the only source of headings: the prompts, the parser, the validator, the schema of the sidecar
and the offline summarizer all read it.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from compactor.core.messages import well_formed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from compactor.core.tokens import Count


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, its level, what belongs under it, and how dear it is when room is short (9 goes last)."""

    key: str
    heading: str
    level: int
    guide: str
    rank: int


SECTIONS = (
    Section("goal", "Goal", 2, "What the user wants to achieve, and what they asked for last.", 9),
    Section(
        "constraints",
        "Constraints & Preferences",
        2,
        "Rules, limits, wishes and facts of the user that still hold, in the user's own words.",
        8,
    ),
    Section("done", "Done", 3, "Finished work: what, where (file, command), with what outcome and numbers.", 4),
    Section("in_progress", "In Progress", 3, "Work that was begun and is not finished.", 6),
    Section("blocked", "Blocked", 3, "What could not go on, and why, with the exact error.", 6),
    Section("decisions", "Key Decisions", 2, "Choices that were made, each with its reason.", 5),
    Section("files", "Relevant Files", 2, "Files read, changed or created, each with a short note.", 5),
    Section("next_steps", "Next Steps", 2, "What was planned next when these turns ended.", 7),
    Section(
        "context",
        "Critical Context",
        2,
        "Exact facts that would be hard to find again: errors, identifiers, numbers, versions, URLs.",
        3,
    ),
    Section("tools", "Tools & Patterns", 2, "Tools and commands that worked or failed, and how they are used.", 2),
)
PROGRESS = "Progress"  # the heading over Done, In Progress and Blocked; it has no words of its own
NOTHING = "(none)"
OBSOLETE = "obsolete"  # the heading, and key, under which a reply names notes that no longer hold; never rendered


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary by section: for each key of SECTIONS the lines under that heading, without the empty ones.

    A line keeps its indentation and bullet; a section without lines is written as "(none)".
    """

    sections: Mapping[str, tuple[str, ...]]

    def __getitem__(self, key: str) -> tuple[str, ...]:
        """Give the lines of one section."""
        return self.sections.get(key, ())


def render(summary: Summary) -> str:
    """Write a summary as Markdown with every heading of SECTIONS, in their order, without a final newline."""
    parts: list[str] = []
    for section in SECTIONS:
        if section.key == "done":
            parts.append(f"## {PROGRESS}")
        lines = summary[section.key] or (NOTHING,)
        parts.append("\n".join((f"{'#' * section.level} {section.heading}", *lines)))
    return "\n\n".join(parts)


_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(\S.*)")


def _name(heading: str) -> str:
    """Reduce a heading to what is compared: bold, numbers, colons, case and "and" for "&" do not matter."""
    words = re.sub(r"^[\d.)\s]+|[*_`:]", "", heading.rstrip("# ")).replace("&", "and")
    return " ".join(words.lower().split())


_KEYS = {_name(s.heading): s.key for s in SECTIONS} | {OBSOLETE: OBSOLETE}


def parse(text: str) -> tuple[Summary, tuple[str, ...]]:
    """Read a summary from a model's reply; also the headings that it lacks.

    A repeated heading adds to its section; an unknown one stays as a line of the section it stands in; words
    before the first heading are left out. Lines right under "Progress" are work that was done. Fences around the
    whole reply are ignored, and so is a line that its section has already.
    """
    sections: dict[str, list[str]] = {}
    loose: list[str] = []
    current: list[str] | None = None
    for line in map(str.rstrip, _unfenced(well_formed(text)).splitlines()):
        heading = _HEADING.match(line)
        name = _name(heading.group(1)) if heading else ""
        if name in _KEYS:
            current = sections.setdefault(_KEYS[name], [])
        elif name == _name(PROGRESS):
            current = loose
        elif current is not None and line and not _says_nothing(line) and line not in current:
            current.append(line)
    missing = tuple(s.heading for s in SECTIONS if s.key not in sections)
    if loose:
        sections["done"] = list(dict.fromkeys((*loose, *sections.get("done", ()))))
    return Summary({k: tuple(v) for k, v in sections.items() if v}), missing


# With the words of the headings: what a sentence is made of that says that nothing belongs under one.
_IDLE = frozenset({
    "a", "additional", "any", "applicable", "are", "at", "been", "blockers", "currently", "far", "further", "had",
    "has", "have", "identified", "in", "is", "issues", "it", "item", "items", "left", "listed", "made", "mentioned",
    "moment", "more", "n", "needed", "no", "none", "noted", "nothing", "now", "of", "or", "other", "point",
    "provided", "recorded", "remaining", "reported", "required", "so", "specific", "specified", "task", "tasks",
    "that", "the", "there", "this", "time", "to", "was", "were", "work", "yet",
    *(word for name in _KEYS for word in name.split()),
})  # fmt: skip
_DENIALS = frozenset(["no", "none", "nothing", "n"])  # without "not": "it is not done" is news


def _says_nothing(line: str) -> bool:
    """Tell whether a line is "(none)", or a sentence that models write in its place, as "There are no next steps".

    Whoever keeps such a sentence finds it beside the items of the next update. One word of substance makes it a note.
    """
    words = set(re.findall(r"[^\W_]+", line.lower()))
    return words <= _IDLE and bool(words & _DENIALS)


def _unfenced(text: str) -> str:
    fence = re.fullmatch(r"\s*```(?:markdown|md)?\n(.*)\n```\s*", text, re.DOTALL)
    return fence.group(1) if fence else text


def fit(summary: Summary, ceiling: int, count: Count) -> Summary:
    """Cut whole lines, the oldest of the least protected section first, until it fits `ceiling` tokens.

    The order is that of rank; within a rank the longest section gives first. Headings always stay, so a
    ceiling below the bare headings (about 60 tokens) gives those.
    """
    trimmed = summary
    lines = {key: deque(value) for key, value in summary.sections.items()}
    for rank in sorted({s.rank for s in SECTIONS}):
        keys = [s.key for s in SECTIONS if s.rank == rank and lines.get(s.key)]
        while (over := count(render(trimmed)) - ceiling) > 0 and any(lines[k] for k in keys):
            while over > 0 and any(lines[k] for k in keys):  # tokens of lines add up only roughly
                longest = max(keys, key=lambda k: len(lines[k]))
                over -= count(lines[longest].popleft() + "\n")
            trimmed = Summary({k: tuple(v) for k, v in lines.items() if v})
    return trimmed


_THINKING = re.compile(r"<(/?)(think|thinking|reasoning|thought)>\s*", re.IGNORECASE)
_REFUSAL = re.compile(
    r"^\W*(?:i(?:'m| am) (?:sorry|unable|not able)|i (?:can(?:no|')t|won't)|sorry|as an ai\b|"
    r"抱歉|对不起|申し訳|lo siento|no puedo|es tut mir leid|ich kann (?:das|dies|dir|ihnen)? ?nicht|je suis désolé)",
    re.IGNORECASE,
)


# What models write under the headings when they believe that they were given nothing to read.
_NO_TURNS = re.compile(
    r"\W*(?:unknown|not (?:applicable|provided|available|specified))\W*|"
    r".*\b(?:no|empty|without)\b.{0,40}\b(?:conversation|transcript|turns?|messages?|history|content)\b.*|"
    r".*\b(?:conversation|transcript|history)\b.{0,30}\b(?:empty|missing|not (?:provided|included|given))\b.*",
    re.IGNORECASE,
)
NO_TURNS_LINES = 12  # a summary of more lines says something, whatever each of them says


def strip_reasoning(text: str) -> str:
    """Take out the thinking that some models write into a reply, closed or left open at either end."""
    kept: list[str] = []
    start, opened = 0, ""
    for tag in _THINKING.finditer(text):
        closes, name = tag[1], tag[2].lower()
        if opened:
            if closes and name == opened:
                start, opened = tag.end(), ""
        elif closes:  # its beginning is lost: all that stands before it was thought
            kept, start = [], tag.end()
        else:
            kept.append(text[start : tag.start()])
            opened = name
    return "".join([*kept, "" if opened else text[start:]]).strip()


def oversize(size: int, ceiling: int) -> str:
    """Say that a summary of `size` tokens is too long, "" if it is not."""
    return f"the reply has {size:,} tokens where {ceiling:,} are allowed" if size > ceiling else ""


def whole(text: str, headings: int = len(SECTIONS)) -> Summary | str:
    """Accept a reply with so many headings as a summary of any length, or say in one sentence why it is none."""
    if not text.strip():
        return "the reply is empty"
    summary, missing = parse(text)
    if missing and _REFUSAL.match(text):
        return f"the reply is a refusal: {text.strip()[:80]!r}"
    if len(SECTIONS) - len(missing) < headings:
        return f"the reply lacks the heading{'s'[: len(missing) > 1]} {', '.join(missing)}"
    return _empty(summary) or summary


def _empty(summary: Summary) -> str:
    """Say why a summary with every heading says nothing, "" if it does say something."""
    if not summary.sections:
        return "every section of the reply is empty"
    if sum(f"({s.guide})" in summary[s.key] for s in SECTIONS) > 1:
        return "the reply repeats what it was asked"
    lines = [line for value in summary.sections.values() for line in value]
    if len(lines) <= NO_TURNS_LINES and all(map(_NO_TURNS.fullmatch, lines)):
        return "the reply says that there were no turns to read"
    return ""
