"""How does a command end when it cannot go on: with one sentence and a code, or quietly?"""

from __future__ import annotations

import functools
import os
import sys
from typing import TYPE_CHECKING, ParamSpec

import typer

from compactor.errors import CompactorError

if TYPE_CHECKING:
    from collections.abc import Callable

INTERRUPTED = 130
CLOSED_PIPE = 141

P = ParamSpec("P")


def answered(command: Callable[P, None]) -> Callable[P, None]:
    """Turn what a command raises into an exit code: 2 or 3 with a sentence, 130 interrupted, 141 closed pipe."""

    @functools.wraps(command)
    def called(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except CompactorError as error:
            print(f"compactor: {error}", file=sys.stderr)
            raise typer.Exit(error.exit_code) from None
        except BrokenPipeError:
            _close_stdout()
            raise typer.Exit(CLOSED_PIPE) from None
        except OSError as error:
            print(f"compactor: the run cannot go on: {error}", file=sys.stderr)
            _close_stdout()
            raise typer.Exit(CompactorError.exit_code) from None
        except KeyboardInterrupt:
            raise typer.Exit(INTERRUPTED) from None

    return called


def _close_stdout() -> None:
    """Let what is still to be written vanish: the interpreter flushes it once more, and would complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
