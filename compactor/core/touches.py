"""Which files did a call read, change, create or delete?

Told from the arguments of editing tools, from patch headers, and from shell commands. Only what looks like the
path of a file counts; what a script does inside is seen only where it opens a named file for writing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from compactor.core.acts import name_words
from compactor.core.commands import without_bodies

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from compactor.core.acts import Act

PATH_CHARS = 300
COMMAND_CHARS = 8_000  # of a command without its here-documents; longer ones are generated


class How(StrEnum):
    """What became of the file."""

    CREATED = "created"
    MODIFIED = "modified"
    DELETED = "deleted"
    READ = "read"


@dataclass(frozen=True, slots=True)
class Touch:
    """One file and what was done to it."""

    path: str
    how: How


_PATH_KEYS = (
    "file_path", "filePath", "path", "absolute_path", "filename", "file_name", "file", "notebook_path",
    "target_file", "relative_path", "AbsolutePath", "TargetFile",
)  # fmt: skip
# By the words of a tool's name, or of its `command` argument; the first that fits wins.
_VERBS: tuple[tuple[How | None, frozenset[str]], ...] = (
    (None, frozenset(("grep", "glob", "search", "find", "list", "ls", "tree", "dir", "directory"))),
    (How.DELETED, frozenset(("delete", "remove", "rm", "unlink"))),
    (How.READ, frozenset(("read", "view", "open", "cat", "show", "get"))),
    (How.CREATED, frozenset(("write", "create", "save", "new"))),
    (How.MODIFIED, frozenset(("edit", "replace", "patch", "update", "insert", "multiedit", "modify", "append", "str"))),
)
_PATCH = re.compile(r"^\*\*\* (Update|Add|Delete) File: (.+?)\s*$|^\*\*\* (Move) to: (.+?)\s*$", re.MULTILINE)
_PATCHED = {"Update": How.MODIFIED, "Add": How.CREATED, "Delete": How.DELETED, "Move": How.CREATED}
_DIFF = re.compile(r"^\+\+\+ b/(\S+)", re.MULTILINE)
_OPENED = re.compile(r"\bopen\(\s*f?['\"]([^'\"\n]{1,200})['\"]\s*,\s*(?:mode=)?['\"][wax]")


def touches(act: Act) -> tuple[Touch, ...]:
    """List the files that `act` touched, each path with each way once, in order; none of a tool that failed."""
    if act.result is None or (act.failed and not act.command):
        return ()
    found = dict.fromkeys(t for t in _candidates(act) if plausible(t.path))
    return tuple(found)


def _candidates(act: Act) -> Iterator[Touch]:
    if act.command:
        yield from shell_touches(act.command, all_of_it=not act.failed)
        if not act.failed:
            yield from _patched(act.command)
        return
    yield from (t for v in act.arguments.values() if isinstance(v, str) and "*** " in v for t in _patched(v))
    how = verb(name_words(act.call.name))
    command = act.arguments.get("command")
    if isinstance(command, str) and command:
        how = verb(name_words(command)) or how
    path = next((v for k in _PATH_KEYS if isinstance(v := act.arguments.get(k), str) and v), "")
    if how and path:
        yield Touch(path, how)


def verb(words: Sequence[str]) -> How | None:
    """Tell what a tool does to the file that it is given by the words of its name; None if it is not known to."""
    for how, verbs in _VERBS:
        if verbs.intersection(words):
            return how
    return None


def _patched(text: str) -> Iterator[Touch]:
    for match in _PATCH.finditer(text):
        yield Touch(match[2] or match[4], _PATCHED[match[1] or match[3]])
    if "+++ b/" in text:
        yield from (Touch(m[1], How.MODIFIED) for m in _DIFF.finditer(text))


_TOKEN = re.compile(
    r"""(?P<op>&&|\|\|?|;|\n|&>>?|\d?>>?(?:&\d)?|<<?<?|&)|(?P<word>(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"<>|;&\\])+)""",
    re.DOTALL,
)


def shell_touches(command: str, *, all_of_it: bool = True) -> Iterator[Touch]:
    """Yield the files that a shell command reads or writes by its own words; if it failed, all but those of its end."""
    place = ""
    steps = list(_simple_commands(without_bodies(command)[:COMMAND_CHARS]))
    for words, written in steps if all_of_it else steps[:-1]:
        if words[:1] == ["cd"] and len(words) > 1:
            place = words[1]
            continue
        for touch in (*written, *_by_program(words)):
            yield Touch(_seen_from(place, touch.path), touch.how)
    if all_of_it and "python" in command:
        yield from (Touch(_seen_from(place, m[1]), How.MODIFIED) for m in _OPENED.finditer(command))


def _seen_from(place: str, path: str) -> str:
    """Take the directory that the command went to off a path, so that both spellings name one file."""
    path = path.removeprefix("./")
    return path.removeprefix(place.rstrip("/") + "/") if place.startswith("/") else path


def _simple_commands(command: str) -> Iterator[tuple[list[str], list[Touch]]]:
    words: list[str] = []
    written: list[Touch] = []
    redirect = ""
    for match in _TOKEN.finditer(command):
        op, word = match["op"], match["word"]
        if word is not None:
            bare = re.sub(r"['\"]", "", word)
            if redirect.endswith(">>"):
                written.append(Touch(bare, How.MODIFIED))
            elif redirect.endswith(">"):
                written.append(Touch(bare, How.CREATED))
            elif not redirect:
                words.append(bare)
            redirect = ""
        elif ">" in op or "<" in op:
            redirect = "" if op[-1].isdigit() else op
        else:
            if words or written:
                yield words, written
            words, written, redirect = [], [], ""
    if words or written:
        yield words, written


_SEARCHERS = frozenset(("sed", "awk", "grep", "rg", "egrep", "jq"))
_PROGRAMS = (
    dict.fromkeys(("cat", "head", "tail", "less", "more", "nl", "bat", "wc", *sorted(_SEARCHERS)), How.READ)
    | dict.fromkeys(("sed -i", "tee -a", "git checkout", "git restore"), How.MODIFIED)
    | dict.fromkeys(("touch", "tee"), How.CREATED)
    | dict.fromkeys(("rm", "unlink", "git rm"), How.DELETED)
)
_WRITERS = frozenset(("touch", "tee", "tee -a", "rm", "unlink", "git rm"))  # whose every plain word is a file
_MOVERS = {"mv": How.DELETED, "git mv": How.DELETED, "cp": None}
_PREFIXES = frozenset(("sudo", "time", "env", "command"))


def _by_program(words: list[str]) -> Iterator[Touch]:
    while words and (words[0] in _PREFIXES or re.match(r"\w+=", words[0])):
        words = words[1:]
    if words[:1] == ["git"]:
        words = [f"git {words[1]}", *words[2:]] if len(words) > 1 else words
    if not words:
        return
    program, plain = words[0], [w for w in words[1:] if not w.startswith("-")]
    if program == "sed" and any(re.match(r"-\w*i|--in-place", w) for w in words[1:]):
        program = "sed -i"
    if program in _SEARCHERS:  # their first word is a script or a pattern
        plain = plain[1:]
    if program == "tee" and "-a" in words:
        program = "tee -a"
    if program in _MOVERS and len(plain) > 1:
        how = _MOVERS[program]
        yield from (Touch(p, how) for p in plain[:-1] if how)
        yield Touch(plain[-1], How.CREATED)
    elif program in _PROGRAMS:
        strict = program not in _WRITERS
        yield from (Touch(p, _PROGRAMS[program]) for p in plain if has_suffix(p) or not strict)


def has_suffix(path: str) -> bool:
    """Tell whether the last part of `path` ends like a file's name does, e.g. ".py"."""
    return bool(re.search(r"[\w)\]-]\.[A-Za-z]\w{0,9}$", path)) and plausible(path)


def plausible(path: str) -> bool:
    """Tell whether `path` can be the path of one file: no wildcard, variable, address, device or sentence."""
    if not 0 < len(path) <= PATH_CHARS or path.startswith(("-", "/dev/", "&", "http:", "https:")):
        return False
    if re.search(r"[*?{}$`()=<>|;,\"'\n\\^%]|://|\s\s", path) and not re.match(r"^[A-Za-z]:\\", path):
        return False
    return ("/" in path or "." in path or "\\" in path) and not re.fullmatch(r"[\d./]+|\.+/?", path)
