"""Is any conversation of a large file summarised twice when the run is killed (SIGKILL) on its way and run again?

`python -m tests.counting_run --rows 100000` writes a file of so many conversations and has a real HTTP server summarise
them all, which counts the calls for each. The run is killed when 60 % are in the sidecar, and run again. What it comes
to has to be what a run comes to that nobody disturbed: in place if this one writes elsewhere, and the other way round.
"""

import argparse
import filecmp
import hashlib
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from compactor.core.summary import SECTIONS
from tests.running import PROGRAM, ask, compactor, environment, row
from tests.standin import Ask, Standin, completion

SOURCE, RESULT = "rows.jsonl", "out.jsonl"
WINDOW = 800  # tokens; half of it is the trigger, and every conversation has more
EXCHANGES = (6, 8)
WORDS = 28  # of a message
VOCABULARY = ["amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "heath", "islet", "jetty", "knoll"]
REPLY = "\n".join(f"{'#' * s.level} {s.heading}\n{'- go on' if s.key == 'goal' else '(none)'}" for s in SECTIONS)
NAMED = re.compile(r"walk number (\d+)")


class CountingServer(Standin):
    """A summarizer that remembers of its requests only how many there were about each conversation."""

    def __init__(self):
        super().__init__()
        self.asked = Counter()

    def answer(self, path, headers, body):
        request = Ask(0, path, headers, body, 0.0)
        with self._lock:
            self.asked[int(NAMED.search(request.text("user"))[1])] += 1
        return completion(request, REPLY)


@dataclass(frozen=True)
class Ended:
    """How a process ended: its exit code, seconds, the most memory that it held (MB), what it said."""

    code: int
    seconds: float
    megabytes: float
    said: str


@dataclass(frozen=True)
class Counted:
    """What came of it.

    `finished` conversations were in the sidecar at the kill; `again` are those for which there were two calls, and
    `finished_again` those among them that were finished.
    """

    killed: Ended
    resumed: Ended
    undisturbed: Ended
    finished: int
    calls: int
    again: int
    finished_again: int
    wrong: tuple[str, ...]


def write_rows(path, count, seed=1):
    """Write `count` conversations of different lengths, each with a number of its own."""
    dice = random.Random(seed)
    with path.open("wb") as file:
        for number in range(count):
            file.write(row(list(_messages(number, dice)), id=number))


def _messages(number, dice):
    yield {"role": "system", "content": "You walk along."}
    for n in range(dice.randint(*EXCHANGES)):
        for role in ("user", "assistant"):
            words = " ".join(dice.choices(VOCABULARY, k=WORDS))
            yield {"role": role, "content": f"On walk number {number}, stretch {n}, it was {words}."}


def counted(folder, count, in_place, share=0.6, jobs=4):
    """Kill a run over `count` conversations when that share of them is finished, and run it again."""
    here, there = (["-i"], ["-o", RESULT]) if in_place else (["-o", RESULT], ["-i"])
    one, other = folder / "killed", folder / "undisturbed"
    for place in (one, other):
        place.mkdir()
        write_rows(place / SOURCE, count)
    with CountingServer() as server:
        words = [SOURCE, "--context-window", WINDOW, "-j", jobs, "-q", *ask(server)]
        killed = _ran(one, [*words, *here], share * count)
        finished = {int(NAMED.search(line)[1]) for line in _whole(one / f"{SOURCE}.state")}
        resumed = _ran(one, [*words, *here])
        asked, server.asked = server.asked, Counter()
        undisturbed = _ran(other, [*words, *there])
    again = sum(n > 1 for n in asked.values())
    finished_again = sum(asked[n] > 1 for n in finished)
    laws = {
        "the first run was not killed": killed.code == -signal.SIGKILL,
        "a later run failed": resumed.code == undisturbed.code == 0,
        "what was finished was asked for again": finished_again == 0,
        "something was never asked for": len(asked) == len(server.asked) == count,
        "more was asked for again than was in flight": again <= jobs and max(asked.values()) <= 1 + (again > 0),
        "undisturbed, something was asked for twice": max(server.asked.values()) == 1,
        **_compared(folder, *((one, other) if in_place else (other, one))),
    }
    wrong = tuple(law for law, holds in laws.items() if not holds)
    return Counted(killed, resumed, undisturbed, len(finished), asked.total(), again, finished_again, wrong)


def _compared(folder, in_place, elsewhere):
    """Compare the results of the run in place with those of the run that wrote elsewhere."""
    full = compactor(folder, "restore", in_place / SOURCE, "-o", "full.jsonl", patience=3_600)
    checked = [compactor(folder, "verify", place / SOURCE, patience=3_600) for place in (in_place, elsewhere)]
    same = filecmp.cmp(in_place / SOURCE, elsewhere / RESULT, shallow=False)
    restored = full.code == 0 and filecmp.cmp(folder / "full.jsonl", elsewhere / SOURCE, shallow=False)
    states = [_lines_of(place / f"{SOURCE}.state") for place in (in_place, elsewhere)]
    return {
        "the results differ": same,
        "the sidecars differ": states[0] == states[1],
        "restore does not give the original": restored,
        "verify finds a broken promise": [ran.code for ran in checked] == [0, 0],
        "something is left over": {p.name for place in (in_place, elsewhere) for p in place.iterdir()}
        == {SOURCE, RESULT, f"{SOURCE}.state", f"{SOURCE}.archive", "said"},
    }


def _lines_of(path):
    """The lines of a sidecar whatever their order and the time they are of, in little memory."""
    with path.open("rb") as file:
        timeless = (re.sub(rb'"at":\d+', b"", line) for line in file)
        return Counter(hashlib.blake2b(line, digest_size=8).digest() for line in timeless)


def _whole(path):
    with path.open(encoding="utf-8") as file:
        yield from (line for line in file if line.endswith("\n"))


def _ran(folder, words, enough=None):
    """Run `compactor compact` to its end, or kill it when its sidecar has `enough` lines."""
    begun = time.monotonic()
    with (folder / "said").open("wb") as said:
        words = [*PROGRAM, "compact", *map(str, words)]
        process = subprocess.Popen(words, cwd=folder, env=environment(), stderr=said)
    if enough:
        _wait_for(enough, folder / f"{SOURCE}.state", process)
        process.kill()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.monotonic() - begun
    return Ended(process.returncode, seconds, used.ru_maxrss / 1024, (folder / "said").read_text(encoding="utf-8"))


def _wait_for(enough, state, process):
    while not state.exists():
        time.sleep(0.01)
    seen = 0
    with state.open("rb") as file:
        while seen < enough and os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            seen += file.read(1 << 20).count(b"\n")
            time.sleep(0.01)


def main():
    """Print what a run over many conversations comes to."""
    options = argparse.ArgumentParser(description="Kill a large run and run it again; count the calls.")
    options.add_argument("--rows", type=int, default=2_000, help="conversations in the file (default 2000)")
    options.add_argument("--in-place", action="store_true", help="kill the run that writes in place, not the other")
    options.add_argument("--folder", type=Path, help="where to work (default: a temporary folder)")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        found = counted(Path(folder), chosen.rows, chosen.in_place)
    print(f"{'run':12} {'exit':>5} {'seconds':>8} {'MB':>6} {'rows/s':>7}")
    for name, rows in (("killed", found.finished), ("resumed", chosen.rows), ("undisturbed", chosen.rows)):
        run = getattr(found, name)
        print(f"{name:12} {run.code:5} {run.seconds:8.1f} {run.megabytes:6.0f} {rows / run.seconds:7.1f}")
    print(f"{chosen.rows:,} conversations, {found.calls:,} calls; finished at the kill: {found.finished:,}")
    print(f"asked for twice: {found.again} (of those that were finished: {found.finished_again})")
    print("\n".join(found.wrong) or "the results are those of an undisturbed run, and restore gives the original")
    sys.exit(bool(found.wrong))


if __name__ == "__main__":
    main()
