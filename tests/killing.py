"""Run the command line until its nth step that touches a disk, then kill it, or let that step fail.

`python -m tests.killing 7 compact -i log.jsonl` is killed (SIGKILL) before the seventh; with `7:5` that step raises the
error number 5 (EIO) instead. A run that has fewer steps ends as any other.
"""

import os
import signal
import sys

from compactor.cli import main

STEPS = ("open", "write", "fsync", "ftruncate", "replace", "unlink")


def armed(at, number):
    """Put the step `at` among all calls that change what is on disk."""
    passed = 0

    def wrapped(name, call):
        def step(*words, **more):
            nonlocal passed
            writes = name != "open" or (len(words) > 1 and isinstance(words[1], int) and words[1] & os.O_CREAT)
            passed += bool(writes)
            if writes and passed == at:
                print(f"step {at}: {name}", file=sys.stderr, flush=True)
                if number is None:
                    os.kill(os.getpid(), signal.SIGKILL)
                raise OSError(number, os.strerror(number))
            return call(*words, **more)

        return step

    for name in STEPS:
        setattr(os, name, wrapped(name, getattr(os, name)))


if __name__ == "__main__":
    step, _, error = sys.argv.pop(1).partition(":")
    armed(int(step), int(error) if error else None)
    main()
