"""Run the command line until its nth step that touches a disk, then kill it, or let that step fail.

`python -m tests.killing 7 compact -i log.jsonl` is killed (SIGKILL) before the seventh; with `7:5` that step raises the
error number 5 (EIO) instead. A run that has fewer steps ends as any other.
"""

import os
import signal
import sys
from contextlib import contextmanager

from compactor.cli import main

STEPS = ("open", "write", "fsync", "ftruncate", "replace", "unlink")


@contextmanager
def watched(before):
    """Have `before(number, name)` called ahead of every call that changes what is on disk."""
    calls = {name: getattr(os, name) for name in STEPS}
    passed = 0

    def wrapped(name):
        def step(*words, **more):
            nonlocal passed
            if name != "open" or (len(words) > 1 and isinstance(words[1], int) and words[1] & os.O_CREAT):
                passed += 1
                before(passed, name)
            return calls[name](*words, **more)

        return step

    for name in STEPS:
        setattr(os, name, wrapped(name))
    try:
        yield
    finally:
        for name, call in calls.items():
            setattr(os, name, call)


def ended_at(at, error):
    """Die before the step `at`, or have it fail with the number `error`."""

    def before(number, name):
        if number == at:
            print(f"step {at}: {name}", file=sys.stderr, flush=True)
            if error is None:
                os.kill(os.getpid(), signal.SIGKILL)
            raise OSError(error, os.strerror(error))

    return before


if __name__ == "__main__":
    step, _, error = sys.argv.pop(1).partition(":")
    with watched(ended_at(int(step), int(error) if error else None)):
        main()
