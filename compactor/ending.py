"""How did a run end, and which exit code says so?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from compactor.core.report import Outcome

if TYPE_CHECKING:
    from compactor.core.report import Report
    from compactor.errors import CompactorError


@dataclass(slots=True)
class Ending:
    """How a run ended; `of` holds the reports of each input, in the order of the inputs."""

    of: dict[str, list[Report]] = field(default_factory=dict)
    errors: list[CompactorError] = field(default_factory=list)
    interrupted: bool = False
    unavailable: bool = False

    @property
    def reports(self) -> tuple[Report, ...]:
        """All reports, in the order of the inputs."""
        return tuple(report for reports in self.of.values() for report in reports)

    @property
    def exit_code(self) -> int:
        """0 fine; 1 a conversation failed; 2 a file could not be worked on; 3 no summarizer; 130 interrupted."""
        if self.interrupted:
            return 130
        failed = any(r.outcome is Outcome.FAILED for r in self.reports)
        if self.unavailable and failed:
            return 3
        if self.errors:
            return 2
        return 0 if all(r.fine for r in self.reports) else 1
