"""What did each tool call do, and what came of it?

An act is a call with its result. The shell gets special care: its commands carry most of what coding agents do.

>>> from compactor.core.messages import Call, Message, Result, Role, groups
>>> turns = (Message(Role.ASSISTANT, calls=(Call("1", "bash", '{"command": "cd /srv && pytest -q"}'),)),
...          Message(Role.TOOL, results=(Result("1", "3 passed"),)))
>>> [(a.number, a.subject, a.outcome) for a in acts(turns, groups(turns))]
[(1, 'cd /srv && pytest -q', 'ok')]
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from compactor.core.commands import brief
from compactor.core.prune import STUB_SENTENCE
from compactor.core.results import exit_status, failed, main_argument, results
from compactor.core.sentences import LINE_CHARS, clip, flat, without_reminders

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from compactor.core.messages import Call, Group, Message, Result

COMMAND_CHARS = 240  # longest command that is shown; nine in ten of the commands in real transcripts are shorter
NAME_CHARS = 80
ARGUMENTS_CHARS = 400  # all arguments of a call that changed something: a booking with its flights fits


@dataclass(frozen=True, slots=True)
class Act:
    """A call with its result (None while it is open).

    `number` is that of the message that made the call, counted from 1; `command` is "" unless a shell ran it.
    `output` is what the result gave back, out of its JSON envelope: "" where an earlier run has cleared it.
    """

    number: int
    call: Call
    arguments: Mapping[str, object]
    command: str
    result: Result | None
    output: str
    failed: bool
    words: str

    @property
    def tool(self) -> str:
        """The tool's name on one line; models have been seen to write whole sentences there."""
        return clip(flat(self.call.name), NAME_CHARS) or "tool"

    @property
    def subject(self) -> str:
        """The command as it is shown, or the tool with its main argument."""
        if self.command:
            return clip(brief(self.command), COMMAND_CHARS)
        argument = flat(main_argument(self.call))
        return f"{self.tool}({argument})" if argument else self.tool

    @property
    def outcome(self) -> str:
        """How it ended, in one or two words: "exit 1", "failed", "ok", "open"."""
        if self.result is None:
            return "open"
        stub = _STUB_EXIT.search(self.result.text) if _stubbed(self.result) else None
        status = stub[1] if stub else exit_status(self.result.text)
        if status is not None:
            return f"exit {status}"
        return "failed" if self.failed else "ok"


def acts(messages: Sequence[Message], groups: Sequence[Group], first: int = 0) -> tuple[Act, ...]:
    """Pair every call of `messages` with its result, in order; `first` is the first message's place in the whole."""
    found: list[Act] = []
    for group in groups:
        number = first + group.start + 1
        speaker = messages[group.start]
        pairs = [(c, r) for _, c, r in results(tuple(messages), (group,)) if c is not None]
        pairs_open = [(speaker.calls[n], None) for n in group.open]
        for call, result in (*pairs, *pairs_open):
            arguments = parsed(call.arguments)
            command = _command(call.name, arguments)
            missed = result is not None and _missed(result)
            found.append(Act(number, call, arguments, command, result, _output(result), missed, speaker.text))
    return tuple(found)


_STUB_EXIT = re.compile(r", exit (-?\d+)")  # as `results.describe` writes it
_STUB_FAILED = re.compile(r", FAILED(?:: (.*))?$")


def _stubbed(result: Result) -> bool:
    return result.text.startswith(STUB_SENTENCE)


def _missed(result: Result) -> bool:
    if _stubbed(result):
        return bool(_STUB_FAILED.search(result.text))
    return failed(result) or result.text.lstrip().startswith("<tool_use_error>")


_ENVELOPE = ("output", "stdout", "stderr")


def _output(result: Result | None) -> str:
    """Take what a program printed out of the JSON object, and from the reminders, that some harnesses put around it."""
    if result is None or _stubbed(result):
        return ""
    text = without_reminders(result.text)
    if not text.lstrip().startswith("{"):
        return text
    inner = parsed(text)
    printed = [v for k in _ENVELOPE if isinstance(v := inner.get(k), str) and v]
    return "\n".join(printed) if any(k in inner for k in _ENVELOPE) else text


def parsed(arguments: str) -> Mapping[str, object]:
    """Read the arguments of a call by name; empty where they are no JSON object."""
    try:
        value = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def name_words(name: str) -> tuple[str, ...]:
    """Split a tool's name into words: "mcp__linear__createIssue" gives mcp, linear, create, issue."""
    return tuple(w.lower() for w in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", name))


_SHELLS = frozenset(("bash", "shell", "terminal", "command", "commands", "exec", "execute", "run", "sh", "zsh", "cmd"))


def _command(name: str, arguments: Mapping[str, object]) -> str:
    if not _SHELLS.intersection(name_words(name)):
        return ""
    value = arguments.get("command") or arguments.get("cmd") or arguments.get("script")
    if isinstance(value, list):
        words = [str(w) for w in value]
        return words[-1] if len(words) > 2 and words[1].startswith("-") else " ".join(words)  # noqa: PLR2004 - sh -c X
    return value if isinstance(value, str) else ""


_CHANGES = frozenset(
    re.findall(
        r"\w+",
        "add apply approve archive assign book buy cancel charge close comment commit create delete deploy "
        "exchange invite issue merge modify move order pay place post publish purchase push refund register "
        "remove rename reply reschedule reserve reset return save schedule send set start stop submit transfer "
        "uninstall update upload write",
    )
)


def changes_something(act: Act) -> bool:
    """Tell whether the tool's name says that it changes the world outside: sends, books, cancels, creates."""
    words = name_words(act.call.name)
    return not act.command and bool(_CHANGES.intersection(words))


def arguments_shown(act: Act) -> str:
    """Put the arguments of `act` on one line as its call wrote them, without the outer braces."""
    text = flat(act.call.arguments.strip().removeprefix("{").removesuffix("}"))
    return clip(text, ARGUMENTS_CHARS)


_WRAPPER = re.compile(
    r"<returncode>.*?</returncode>|</?[a-z_]+>|^\[?(?:the )?(?:command \w+ with )?exit code:? -?\d+\.?\]?$|"
    r"^\[(?:current working directory|python interpreter): .*\]$",
    re.IGNORECASE,
)
EDGE_LINES = 200  # at either end of a result, where tools say what came of a call


def spoken_lines(act: Act) -> Iterator[str]:
    """Yield the lines of the result that hold words or figures, without the wrapping of harnesses."""
    stub = _STUB_FAILED.search(act.result.text) if act.result and _stubbed(act.result) else None
    lines = [stub[1] or ""] if stub else act.output.splitlines()
    edges = lines if len(lines) <= 2 * EDGE_LINES else lines[:EDGE_LINES] + lines[-EDGE_LINES:]
    return (line for raw in edges if (line := flat(_WRAPPER.sub("", raw[:LINE_CHARS]))))
