"""What is left when a run in place is killed, or fails, at each step that touches a disk?

`python -m tests.kill_matrix` prints the table. Whatever was reached, the next run comes to the same end, and `restore`
gives the original bytes.
"""

import errno
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from tests.running import ROOT, SMALL, compactor, environment, lined, talk

NAME = "log.jsonl"
FIRST, GROWN = lined(talk(61)), lined(talk(61, 121))


@dataclass(frozen=True)
class Ending:
    """How one run ended and what stood on disk then; `wrong` is what did not come right afterwards."""

    step: str
    code: int
    archive: str
    transcript: str
    sidecar: str
    wrong: tuple[str, ...]


def prepared(folder, generations):
    """Put a session into `folder` that was compacted in place so often, and has grown since."""
    path = folder / NAME
    path.write_bytes(FIRST)
    whole = FIRST
    for _ in range(generations):
        assert compactor(folder, "compact", *SMALL, "-i", NAME).code == 0
        path.write_bytes(path.read_bytes() + GROWN)
        whole += GROWN
    return path, whole


def endings(generations=0, error=None, steps=None):
    """Run with a kill (or `error`) at each of `steps`, else at 1, 2, ... until a run has fewer; give how each ended."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path, _ = prepared(folder, generations)
        assert compactor(folder, "compact", *SMALL, "-i", NAME).code == 0
        final = path.read_bytes()
    for step in steps or count(1):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            path, whole = prepared(folder, generations)
            before = {kind: _bytes(folder, kind) for kind in ("", ".archive", ".state")}
            spec = str(step) if error is None else f"{step}:{error}"
            words = [sys.executable, "-m", "tests.killing", spec, "compact", *SMALL, "-i", NAME]
            env = environment(PYTHONPATH=str(ROOT))
            done = subprocess.run(words, cwd=folder, env=env, capture_output=True, check=False, timeout=60)
            said = done.stderr.decode()
            if "step " not in said:
                return
            left = [_is(before[kind], _bytes(folder, kind)) for kind in (".archive", "", ".state")]
            wrong = _afterwards(folder, path, whole, final, said)
            call = re.search(r"^step \d+: (\w+)$", said, re.MULTILINE)[1]
            yield Ending(call, done.returncode, *left, tuple(wrong))


def _bytes(folder, kind):
    path = folder / f"{NAME}{kind}"
    return path.read_bytes() if path.exists() else None


def _is(before, now):
    return "none" if now is None else "as it was" if now == before else "new"


def _afterwards(folder, path, whole, final, said):
    if "Traceback" in said:
        yield "a traceback was shown"
    if compactor(folder, "compact", *SMALL, "-i", NAME).code != 0:
        yield "the next run fails"
    if path.read_bytes() != final:
        yield "the next run comes to another end"
    if left := {p.name for p in folder.iterdir()} - {NAME, f"{NAME}.archive", f"{NAME}.state"}:
        yield f"there is still {left.pop()}"
    if compactor(folder, "verify", NAME).code != 0:
        yield "verify finds a broken promise"
    if (
        compactor(folder, "restore", NAME, "-o", "back.jsonl").code != 0
        or (folder / "back.jsonl").read_bytes() != whole
    ):
        yield "the original is not had back"


def main():
    """Print a table for each way of dying."""
    wrong = 0
    for title, generations, error in (
        ("killed, first generation", 0, None),
        ("killed, second generation", 1, None),
        ("EIO, first generation", 0, errno.EIO),
        ("disk full, second generation", 1, errno.ENOSPC),
    ):
        print(
            f"{title}\n{'step':>5} {'call':10} {'exit':>5}  {'archive':10} {'transcript':10} {'sidecar':10} afterwards"
        )
        for n, one in enumerate(endings(generations, error), 1):
            after = "; ".join(one.wrong) or "same end, original restored"
            wrong += bool(one.wrong)
            print(f"{n:5} {one.step:10} {one.code:5}  {one.archive:10} {one.transcript:10} {one.sidecar:10} {after}")
        print(flush=True)
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
