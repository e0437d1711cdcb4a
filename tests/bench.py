"""How long does each step take, as a share of counting the same text once? Ratios of one run; no absolute claims.

Run by `make bench`, never by the tests: a busy machine would make a timed assertion lie.
"""

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

from compactor.attempt import compact_row
from compactor.core.plan import make_plan
from compactor.core.settings import Settings
from compactor.core.tokens import costs, upper_bound
from compactor.formats import rows
from compactor.redact import masker
from compactor.tokenizer import tokenizer
from compactor.tools import Known, Tools

TRANSCRIPTS = Path(__file__).parent.parent / "fixtures" / "transcripts"
REPEATS = 5
COUNT = tokenizer()


def best(work: Callable[[], object]) -> float:
    """Seconds of the quickest of REPEATS runs."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def compacted(row, settings: Settings) -> object:
    tools = Tools(settings, COUNT, None, lambda: 0.0, asyncio.Semaphore(1), masker())
    return asyncio.run(compact_row(row, Known("0" * 16, None, (), lambda: None), tools))


def steps(path: Path) -> None:
    """Print the steps of compacting one file, each relative to counting it."""
    content = path.read_bytes()
    [row] = rows(BytesIO(content), path.name)
    conversation = row.conversation
    tight = Settings(context_window=64_000)
    COUNT("warm")
    masker()("warm")
    counting = best(lambda: costs(conversation.messages, COUNT))
    tokens = sum(costs(conversation.messages, COUNT))
    timed = {
        "counting every message": counting,
        "reading the file": best(lambda: list(rows(BytesIO(content), path.name))),
        "bounding without counting": best(lambda: upper_bound(conversation)),
        "planning (counts once)": best(lambda: make_plan(conversation, (), tight, COUNT)),
        "compacting, offline summary": best(lambda: compacted(row, tight)),
    }
    print(f"{path.name}: {len(content):,} bytes, {tokens:,} tokens, {tokens / counting / 1e6:.1f} M tokens/s counted")
    for name, seconds in timed.items():
        print(f"  {name:32} {seconds / counting:6.2f} x counting")


def startup() -> None:
    """Print how long processes take, relative to an interpreter that does nothing."""

    def process(*words: str) -> float:
        return best(lambda: subprocess.run([sys.executable, *words], capture_output=True, check=True))

    bare = process("-c", "pass")
    file = str(TRANSCRIPTS / "support-chats.jsonl")
    print("start-up, relative to an empty interpreter")
    for name, words in {
        "compactor --version": ("-m", "compactor", "--version"),
        "compactor compact --help": ("-m", "compactor", "compact", "--help"),
        "dry run over 40 conversations": ("-m", "compactor", "compact", "-n", "-q", file),
        "import openai": ("-c", "import openai"),
    }.items():
        print(f"  {name:32} {process(*words) / bare:6.1f} x")


if __name__ == "__main__":
    for name in ("coding-session.jsonl", "research-chat.jsonl"):
        steps(TRANSCRIPTS / name)
    startup()
