"""What does a raw session hold that must not be lost: paths, commands, hashes, figures, rules, errors?

Read from the records as their tools wrote them, by the patterns below; nothing of compactor's has a part in it. Which
turns a model has read is followed along the records' own links.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

FAMILIES = ("edited", "read", "command", "hash", "number", "rule", "error")
LAST_COMMANDS = 10
LAST_ERRORS = 5
SHOWN = 60  # characters of a command, sentence or line that have to stand together
EDITS = ("Edit", "Write", "MultiEdit", "NotebookEdit", "edit", "write")
SHELLS = ("Bash", "bash")
_RULE = re.compile(
    r"\b(?:never|always|must|don'?t|do not|only|make sure|should|shouldn'?t|let'?s not|no longer|instead of|please|"
    r"prefer|keep|stick to|from now on|until|without)\b",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"\s*(?:<(?!command-)|\[Request interrupted|Caveat:)")
_HASH = re.compile(r"(?<![\w-])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}(?![\w-])")
_FIGURE = re.compile(r"(?<![\w.,#/:-])(\d[\d,]*(?:\.\d+)?)(%| [a-z]{4,})", re.IGNORECASE)
_FUNCTION_WORDS = frozenset((" with", " from", " that", " this", " were", " have", " then", " into", " more", " when"))
_FAULT = re.compile(r"error|fail|fatal|exception|denied|not found|no such", re.IGNORECASE)


@dataclass(frozen=True)
class Deed:
    """One thing in a session: `kind` is asked, said, called or answered."""

    kind: str
    text: str = ""
    name: str = ""
    given: dict | None = None
    ident: str = ""
    failed: bool = False


def claude_code(records):
    """What happened on the branch that the last record stands on.

    Calls made at once are records of their own; those and their results may hang beside the branch.
    """
    by_id = {r["uuid"]: r for r in records if r.get("uuid")}
    talk = [r for r in records if r.get("type") in ("user", "assistant") and not r.get("isSidechain")]
    branch, at = set(), talk[-1] if talk else None
    while at is not None:
        branch.add(at["uuid"])
        at = by_id.get(at.get("parentUuid") or at.get("logicalParentUuid"))
    replies = {by_id[ident]["message"].get("id") for ident in branch if "message" in by_id[ident]} - {None}
    branch |= {r["uuid"] for r in talk if r["message"].get("id") in replies}
    branch |= {r["uuid"] for r in talk if r.get("sourceToolAssistantUUID") in branch}
    for record in talk:
        if record["uuid"] in branch:
            yield from _claude_record(record)


def _claude_record(record):
    if record.get("isMeta") or record.get("isCompactSummary"):
        return
    content = record["message"].get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content or ()
    for block in blocks:
        if block["type"] == "text":
            yield Deed("asked" if record["type"] == "user" else "said", block["text"])
        elif block["type"] == "tool_use":
            yield Deed("called", "", block["name"], block["input"], block["id"])
        elif block["type"] == "tool_result":
            yield Deed("answered", _joined(block), "", None, block["tool_use_id"], bool(block.get("is_error")))


def pi(records):
    """What happened in a session of pi that is one line of records."""
    for record in records:
        message = record.get("message") or {}
        content = message.get("content") or ()
        role = message.get("role")
        if role == "toolResult":
            yield Deed("answered", _joined(message), "", None, message["toolCallId"], bool(message.get("isError")))
            continue
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            if block["type"] == "text":
                yield Deed("asked" if role == "user" else "said", block["text"])
            elif block["type"] == "toolCall":
                yield Deed("called", "", block["name"], block["arguments"], block["id"])


def _joined(block):
    content = block.get("content")
    return content if isinstance(content, str) else "\n".join(b.get("text", "") for b in content or ())


def frozen(deeds, cwd=""):
    """Give what is looked for, by family, each thing once, in its order."""
    deeds = list(deeds)
    refused = {d.ident for d in deeds if d.kind == "answered" and d.failed}
    done = [d for d in deeds if d.kind == "called" and d.ident not in refused]
    calls = [d for d in deeds if d.kind == "called"]
    edited = [_path(d.given) for d in done if d.name in EDITS]
    read = [_path(d.given) for d in done if d.name in ("Read", "read")]
    commands = [_command(d.given["command"]) for d in calls if d.name in SHELLS and d.given.get("command")]
    shells = {d.ident for d in calls if d.name in SHELLS and re.search(r"\bgit\b", d.given.get("command", ""))}
    printed = [d.text for d in deeds if d.kind == "answered" and d.ident in shells]
    prose = [re.sub(r"[*_`]", "", d.text) for d in deeds if d.kind == "said"]
    faults = [_fault(d.text) for d in deeds if d.kind == "answered" and d.failed]
    found = {
        "edited": [_relative(p, cwd) for p in edited if p],
        "read": [_relative(p, cwd) for p in read if p and p not in edited],
        "command": _distinct(c for c in commands if c)[-LAST_COMMANDS:],
        "hash": [h[:7] for text in (*_committed(printed), *prose) for h in _HASH.findall(text)],
        "number": [f"{n}{w}" for text in prose for n, w in _FIGURE.findall(text) if w.lower() not in _FUNCTION_WORDS],
        "rule": [s for d in deeds if d.kind == "asked" for s in _rules(d.text)],
        "error": [f for f in faults if f][-LAST_ERRORS:],
    }
    return {family: _distinct(values) for family, values in found.items()}


def _distinct(values):
    return list(dict.fromkeys(values))


def _path(given):
    return given.get("file_path") or given.get("path") or given.get("notebook_path") or ""


def _relative(path, cwd):
    return path.removeprefix(cwd).lstrip("/") if cwd else path


def _command(command):
    """The first line of a command, without the change of directory before it."""
    line = re.sub(r"^cd \S+ *(?:&&|;) *", "", command.strip()).partition("\n")[0]
    return plain(line)[:SHOWN].strip()


def _committed(printed):
    """Lines in which git says which commit there is now."""
    return [line for text in printed for line in text.splitlines() if re.match(r"\[\S+.* [0-9a-f]{7,}\]", line)]


def _rules(text):
    if _MARKUP.match(text):
        return
    if "<command-args>" in text:
        text = text.partition("<command-args>")[2].partition("</command-args>")[0]
    for sentence in re.split(r"(?<=[.!?])\s+|\n+", text):
        one = plain(sentence)
        if 15 < len(one) < 400 and not one.endswith("?") and not one.startswith("<") and _RULE.search(one):
            yield one[:SHOWN].strip()


def _fault(text):
    lines = [plain(line) for line in text.splitlines() if _FAULT.search(line)]
    return next((line[:SHOWN].strip() for line in reversed(lines) if len(line) > 10), "")


def plain(text):
    """One space for every run of blanks, and neither bold nor code marks."""
    return " ".join(re.sub(r"[*`]", "", text).split())


def there(family, probe, text):
    """Tell whether a probe stands in a text that is `plain` and in lower case."""
    probe = probe.lower()
    if family in ("edited", "read"):
        return probe in text or "/".join(probe.split("/")[-2:]) in text
    return plain(probe) in text


def loaded(line):
    """The record on a line, {} if there is none."""
    try:
        value = json.loads(line)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
