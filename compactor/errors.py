"""What may a user be told when something cannot be done, and what should they do next?"""

from __future__ import annotations


class CompactorError(Exception):
    """A failure that a person can act on: what happened, and the next step.

    `exit_code` is what the command line answers when nothing catches the error first.
    """

    exit_code = 2

    def __init__(self, what: str, next_step: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.next_step = next_step

    def __str__(self) -> str:
        return f"{self.what}; {self.next_step}" if self.next_step else self.what


class UsageError(CompactorError):
    """Options, configuration or their combination make no sense."""


class InputError(CompactorError):
    """A file cannot be read, or is not a transcript that we know."""


class NotATranscript(InputError):
    """A file is readable, but no kind of transcript that we know."""


class OutputError(CompactorError):
    """An output, sidecar or archive cannot be written."""


class StateError(CompactorError):
    """A sidecar is broken, too new, or belongs to another transcript."""


class SummaryError(CompactorError):
    """No summary could be had for one conversation; the others may still succeed.

    `spent` is what the calls have cost all the same, where somebody has counted.
    """

    exit_code = 1
    spent: object = None


class PromptTooLong(SummaryError):
    """A prompt is longer than the summarizer takes.

    `window` is how much it takes and `counted` how much it was sent, in its own tokens; 0 where it does not say.
    """

    def __init__(self, what: str, next_step: str = "", window: int = 0, counted: int = 0) -> None:
        super().__init__(what, next_step)
        self.window = window
        self.counted = counted


class SummarizerUnavailable(SummaryError):
    """The summarizer as such cannot be used (no key, refused, no quota): nobody else need try."""

    exit_code = 3
