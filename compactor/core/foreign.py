"""Under which of our headings do the parts of another tool's summary belong?

Claude Code numbers nine headings, gemini-cli writes tags, OpenHands labels in capitals; the names are those that the
real clients ask their models for. Codex writes free text, and pi our own headings.
"""

from __future__ import annotations

import re
from textwrap import dedent

from compactor.core.summary import Summary

_PARTS = {
    "primary request and intent": "goal",
    "all user messages": "goal",
    "problem solving": "done",
    "files and code sections": "files",
    "current work": "in_progress",
    "pending tasks": "next_steps",
    "optional next step": "next_steps",
    "overall_goal": "goal",
    "active_constraints": "constraints",
    "recent_actions": "done",
    "completed_tasks": "done",
    "artifact_trail": "files",
    "file_system_state": "files",
    "current_plan": "next_steps",
    "task_state": "next_steps",
}
_LABELS = {
    "USER_CONTEXT": "goal",
    "TASK_TRACKING": "next_steps",
    "COMPLETED": "done",
    "PENDING": "next_steps",
    "CURRENT_STATE": "in_progress",
    "CODE_STATE": "files",
    "CHANGES": "done",
}
# Those without a heading of ours keep their own.
_CONTEXT = frozenset(("key technical concepts", "errors and fixes", "key_knowledge"))
_LABELLED_CONTEXT = frozenset(("TESTS", "DEPS", "VERSION_CONTROL_STATUS"))
_LABEL = re.compile(rf"\*{{0,2}}({'|'.join((*_LABELS, *_LABELLED_CONTEXT))})(?:\*\*)?:(?:\*\*)?")
_NAMES = "|".join(map(re.escape, (*_PARTS, *_CONTEXT)))
_HEADING = re.compile(rf"(?:(?:\d\.|#{{1,6}}) ?)?\*{{0,2}}({_NAMES})\b:?\*{{0,2}}:?|<({_NAMES})>", re.IGNORECASE)
_FRAME = re.compile(
    r"</?\w+>|(?:analysis|summary):|\.? ?the (?:summary below covers|conversation is summarized below)\b.*|"
    r"please continue the conversation\b.*",
    re.IGNORECASE,
)
_CLOSING = re.compile(r"</\w{1,40}>$")
_AFTERWORD = re.compile(r"if you need specific details from before compaction", re.IGNORECASE)
ENOUGH = 2  # headings: one may be a sentence that happens to begin so


def foreign_summary(text: str) -> Summary:
    """Sort the lines of another tool's summary under our headings; all under Critical Context if it has none known."""
    found: dict[str, list[str]] = {}
    part: list[str] = []
    key, headings = "context", 0

    def close() -> None:
        found.setdefault(key, []).extend(line.rstrip() for line in dedent("\n".join(part)).splitlines() if line.strip())

    for line in text.splitlines():
        bare = line.strip()
        heading = _HEADING.match(bare) or _LABEL.match(bare)
        if not (heading or _AFTERWORD.match(bare)):
            part.append("" if _FRAME.fullmatch(bare) else _CLOSING.sub("", line.rstrip()))
            continue
        close()
        name = next(filter(None, heading.groups())) if heading else ""
        headings += bool(name)
        key = _LABELS.get(name) or _PARTS.get(name.lower(), "context")
        part = [_CLOSING.sub("", bare[heading.end() :].strip()) if heading else bare]
        if name in _LABELLED_CONTEXT or name.lower() in _CONTEXT:
            found.setdefault(key, []).append(f"{name.replace('_', ' ').capitalize()}:")
    close()
    if headings < ENOUGH:
        found = {"context": [line.rstrip() for line in text.splitlines() if line.strip()]}
    return Summary({name: tuple(lines) for name, lines in found.items() if lines})
