"""What is a run asked to do: with which file, where to, with how much care, and who hears of it?"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    from compactor.core.report import Report
    from compactor.errors import CompactorError


class Act(StrEnum):
    """What a run does: write, or only say what would be written."""

    COMPACT = "compact"
    PLAN = "plan"


class Earlier(StrEnum):
    """What becomes of an earlier state: it is gone on from, or forgotten."""

    CONTINUE = "continue"
    REBUILD = "rebuild"


class Found(StrEnum):
    """How a file came to be an input: somebody named it, or it lay below a folder."""

    NAMED = "named"
    WALKED = "walked"


@dataclass(frozen=True, slots=True)
class Job:
    """One input: `source` None is standard input, `target` None is `out`, `state` None keeps no sidecar."""

    name: str
    source: Path | None
    target: Path | None
    state: Path | None
    how: Found = Found.NAMED

    @property
    def in_place(self) -> bool:
        """Whether the result takes the place of the input."""
        return self.source is not None and self.target == self.source


class Listener(Protocol):
    """Hears what happens, in order within a file."""

    def heard(self, report: Report) -> None:
        """Take note that a conversation is done."""

    def skipped(self, error: CompactorError) -> None:
        """Take note that a file below a folder is no transcript."""

    def trouble(self, error: CompactorError) -> None:
        """Take note that a whole file could not be worked on."""


class Archive(StrEnum):
    """Whether an in-place run keeps what it takes out of a file."""

    KEEP = "keep"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Care:
    """How a run looks after files: what it archives, and for how many seconds it waits for another run."""

    archive: Archive = Archive.KEEP
    patience: float = 10.0
