"""Which of a summarizer's notes speak of a file as changed, although every change of it on record has failed?

A model takes a plan, or an edit that was refused, for a deed, and the next session leaves out what was never done. The
failure is written behind such a note, in whatever language it is, and taken off once the file has been changed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from compactor.core.acts import name_words
from compactor.core.revision import items
from compactor.core.summary import Summary
from compactor.core.touches import How, plausible, verb

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from compactor.core.families import Line

SECTIONS_OF_DEEDS = ("done", "files", "context", "tools")
MARK = "(a change of {} failed [{}])"
_MARKED = re.compile(r" \(a change of .+? failed \[\d+\]\)$")
_CALL = re.compile(r"^([\w.-]+)\((.+)\)$")


def beside_failures(notes: Summary, ledger: Iterable[Line]) -> Summary:
    """Write behind each of `notes` that names a file of which the `ledger` knows a failed change and no other: that."""
    missed = _missed(ledger)
    sections: dict[str, list[str]] = {}
    for item in items(notes):
        *before, last = item.lines
        bare = _MARKED.sub("", last)
        name = next((name for name in missed if _speaks_of("\n".join((*before, bare)), name)), "")
        if name and item.section in SECTIONS_OF_DEEDS:
            bare = f"{bare} {MARK.format(name, missed[name])}"
        sections.setdefault(item.section, []).extend((*before, bare))
    return Summary({key: tuple(lines) for key, lines in sections.items()})


def _missed(ledger: Iterable[Line]) -> Mapping[str, int]:
    """Give the names of the files of which all changes failed, each with the message of the last one."""
    failed: dict[str, int] = {}
    changed = set()
    for entry in ledger:
        if entry.family.name == "changed_file":
            changed.add(_name(entry.key))
        elif entry.family.name == "failed" and (call := _CALL.match(entry.key)) and _changes(call[1], call[2]):
            failed[_name(call[2])] = entry.number
    return {name: number for name, number in failed.items() if name not in changed}


def _changes(tool: str, path: str) -> bool:
    return plausible(path) and verb(name_words(tool)) not in (None, How.READ)


def _name(path: str) -> str:
    return re.split(r"[/\\]", path)[-1]


def _speaks_of(words: str, name: str) -> bool:
    return bool(re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", words))
