"""Which sessions lie in the usual homes of the tools that write them? Nothing is written anywhere."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from compactor.core.tokens import costs, preamble_cost
from compactor.errors import CompactorError
from compactor.folders import is_conversation, lines, parts
from compactor.formats import rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from compactor.core.tokens import Count


@dataclass(frozen=True, slots=True)
class Home:
    """Where a tool keeps its sessions: below the folder in `variable` if that is set, else below `folder` at home."""

    tool: str
    variable: str
    folder: str
    pattern: str


HOMES = (
    Home("Claude Code", "CLAUDE_CONFIG_DIR", ".claude", "projects/*/*.jsonl"),
    Home("Codex", "CODEX_HOME", ".codex", "sessions/**/rollout-*.jsonl"),
    Home("pi", "PI_CODING_AGENT_DIR", ".pi/agent", "sessions/**/*.jsonl"),
    # The variable of gemini-cli names what stands for the user's home. It may have both kinds of files in one folder.
    Home("gemini-cli", "GEMINI_CLI_HOME", "", ".gemini/tmp/*/chats/session-*.json"),
    Home("gemini-cli", "GEMINI_CLI_HOME", "", ".gemini/tmp/*/chats/session-*.jsonl"),
    Home("OpenHands", "OPENHANDS_PERSISTENCE_DIR", ".openhands", "conversations/*/events"),
)


@dataclass(frozen=True, slots=True)
class Session:
    """A session: its tool, size and last change (seconds since the epoch); `problem` says why it cannot be read.

    `tokens` are those that a model would be given.
    """

    tool: str
    path: Path
    changed: float
    size: int
    messages: int = 0
    tokens: int = 0
    problem: str = ""


def sessions(home: Path, environment: Mapping[str, str], count: Count) -> Iterator[Session]:
    """Find all sessions, tool by tool, the one changed last first."""
    found: dict[str, list[tuple[float, Path]]] = {}
    for place in HOMES:
        root = Path(environment.get(place.variable) or home / place.folder)
        files = [(path.stat().st_mtime, path) for path in root.glob(place.pattern) if _is_session(path)]
        found.setdefault(place.tool, []).extend(files)
    for tool, files in found.items():
        for changed, path in sorted(files, reverse=True):
            yield _session(tool, path, changed, count)


def _is_session(path: Path) -> bool:
    return path.is_file() or is_conversation(path)


def _session(tool: str, path: Path, changed: float, count: Count) -> Session:
    size = sum(part.stat().st_size for part in (parts(path) if path.is_dir() else [path]))
    try:
        found = [row.conversation for row in rows(lines(path), str(path)) if row.conversation]
    except CompactorError as error:
        return Session(tool, path, changed, size, problem=error.what)
    messages = sum(len(conversation.messages) for conversation in found)
    tokens = sum(preamble_cost(c, count) + sum(costs(c.messages, count)) for c in found)
    return Session(tool, path, changed, size, messages, tokens)
