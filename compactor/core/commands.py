"""What does a shell command do: which sort of work is it, and does it only look?"""

from __future__ import annotations

import re

from compactor.core.sentences import flat

_HEREDOC = re.compile(r"(<<-?\s*(['\"]?)([A-Za-z_]\w*)\2[^\n]*\n)(.*?)(?:\n[ \t]*\3(?=[\s)]|$)|\Z)", re.DOTALL)


def without_bodies(command: str) -> str:
    """Leave the text of each here-document out of `command`."""
    return _HEREDOC.sub(lambda m: f"{m[1]}…\n{m[3]}", command) if "<<" in command else command


def brief(command: str) -> str:
    """Put `command` on one line, without the text of here-documents."""
    return flat(without_bodies(command))


_LEADING = re.compile(r"^(?:\w+=\S*|sudo|time|env|nohup|command|exec|timeout(?: -\S+)* \S+)\s+")
_SETTING = re.compile(r"^(?:cd|mkdir|touch|export|set|source|\.|echo|printf|sleep|pwd|true|unset)\b|^cat\b.*>")
_GOES_ON = frozenset(("run", "exec", "-m", "x", "dlx", "compose", "tool"))
_INLINE = frozenset(("-c", "-e"))  # the program is written in the command: any later one is another try


def kind(subject: str) -> str:
    """Name the sort of work that a subject is: program and subcommand, or the tool; by it a success answers a failure.

    >>> kind("cd /srv && CI=1 python -m pytest tests -q 2>&1 | tail -3"), kind("Edit(/srv/a.py)"), kind("book(7)")
    ('python -m pytest', 'Edit(/srv/a.py)', 'book')
    """
    called = re.match(r"^([\w.:-]+)\((.*)\)$", subject)
    if called:
        return subject if "/" in called[2] else called[1]
    for part in re.split(r"&&|\|\||[;\n]|\s…\s\w+\s", subject):
        command = part.strip()
        while lead := _LEADING.match(command):
            command = command[lead.end() :]
        if command and not _SETTING.match(command):
            return _program(command)
    return subject


def _program(command: str) -> str:
    words = command.split("|", maxsplit=1)[0].split()
    kept = words[:1]
    for word in words[1:]:
        if word in _INLINE:
            return f"{words[0]} {word}"
        if word.startswith(("-", ">", "2>", "<")) and word not in _GOES_ON:
            continue
        kept.append(word)
        if word not in _GOES_ON:
            break
    return " ".join(kept)


_LOOKS = frozenset(
    re.findall(r"\w+", "cd cat head tail nl less ls find fd tree rg grep egrep ag wc stat file which type pwd date")
)
_LOOKS_WITH = re.compile(r"sed -n\b(?!.* -i)|git (?:status|diff|log|show|branch|blame)\b(?!.* -[dDm]\b)")
_QUOTED = re.compile(r"""'[^']*'|"(?:\\.|[^"\\])*\"""")
_SEAM = re.compile(r"\|\|?|&&|[;\n]")
_WRITES = re.compile(r"(?<![0-9&])>(?!&|\s*/dev/null)")


def only_looks(command: str) -> bool:
    """Tell whether a command reads, lists and searches, and does nothing else.

    >>> only_looks("cd src && rg -n 'x|y' | head -3"), only_looks("cat a > b"), only_looks("ls && pytest")
    (True, False, False)
    """
    bare = _QUOTED.sub("''", without_bodies(command))
    parts = [part.split() for part in _SEAM.split(bare) if part.strip()]
    looks = all(words[0] in _LOOKS or _LOOKS_WITH.match(" ".join(words)) for words in parts)
    return bool(parts) and looks and not _WRITES.search(bare)
