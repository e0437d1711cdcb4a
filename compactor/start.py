"""What is a run made of: which jobs, which tokenizer, which summarizer, and who hears a Ctrl-C?"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from compactor.config import Options, SummarizerKind
from compactor.errors import UsageError
from compactor.formats import format_named
from compactor.redact import masker
from compactor.run import Act, Earlier, Ending, Job, Run
from compactor.summarizers.extractive import Extractive
from compactor.tokenizer import tokenizer
from compactor.tools import Tools

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compactor.console import Console
    from compactor.core.settings import Settings
    from compactor.summarizers import Summarizer

STDIN = Path("-")


@dataclass(frozen=True, slots=True)
class Places:
    """Where results and sidecars go, as the command line says."""

    output: Path | None
    in_place: bool
    state: Path | None
    state_dir: Path | None
    act: Act


def jobs_of(sources: Sequence[Path], places: Places, stdin: TextIO) -> tuple[Job, ...]:
    """Turn inputs and places into jobs. Raises UsageError where they do not fit together."""
    sources = sources or [STDIN]
    if sources == [STDIN] and stdin.isatty():
        raise UsageError("no input", "name a file, or pipe one in; compactor compact --help shows examples")
    _check(sources, places)
    return tuple(_job(source, places, len(sources)) for source in sources)


def _check(sources: Sequence[Path], places: Places) -> None:
    several = len(sources) > 1
    if places.in_place and (places.output or STDIN in sources):
        raise UsageError("--in-place replaces named files", "leave out --output, and name the files instead of stdin")
    if several and not (places.output or places.in_place or places.act is Act.PLAN):
        raise UsageError(
            f"{len(sources)} inputs and no place for the results", "give -o DIR, or -i, or -n to only look"
        )
    if several and places.output and places.output.exists() and not places.output.is_dir():
        raise UsageError(f"{places.output} is a file, but there are {len(sources)} inputs", "name a folder with -o")
    if several and places.state:
        raise UsageError("--state names the sidecar of one input", "give --state-dir for several")
    names = Counter(source.name for source in sources)
    twice = next((name for name, n in names.items() if n > 1), None)
    if twice and (places.output or places.state_dir):
        raise UsageError(f"two inputs are called {twice}", "compact them one after the other, into different folders")
    if len(set(map(_real, sources))) < len(sources):
        raise UsageError("an input is named twice", "name it once")


def _real(path: Path) -> str:
    return "-" if path == STDIN else os.path.realpath(path)


def _job(source: Path, places: Places, inputs: int) -> Job:
    file = None if source == STDIN else source
    target = None
    if places.act is Act.COMPACT:
        target = file if places.in_place else _target(source, places.output, inputs)
    if file and target and not places.in_place and _real(file) == _real(target):
        raise UsageError(f"{target} is also the input", "give -i to replace it")
    state = places.state
    if state is None and file is not None:
        folder = places.state_dir or file.parent
        state = folder / f"{file.name}.state"
    return Job(str(file) if file else "stdin", file, target, state)


def _target(source: Path, output: Path | None, inputs: int) -> Path | None:
    if output is None:
        return None
    if inputs > 1 or output.is_dir() or str(output).endswith("/"):
        output.mkdir(parents=True, exist_ok=True)
        return output / ("stdin.jsonl" if source == STDIN else source.name)
    return output


async def start(  # noqa: PLR0913 - each is something that the command line has settled
    jobs: Sequence[Job],
    settings: Settings,
    options: Options,
    given: frozenset[str],
    console: Console,
    act: Act,
    earlier: Earlier,
) -> Ending:
    """Build the tools and do the jobs; an interrupt or a request to end lets finished rows be written."""
    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(os.cpu_count()))  # more threads than cores count no faster
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    count = tokenizer(options.encoding or None, options.model if "model" in given else None)
    offline = Extractive(count)
    kind = _kind(options, given)
    tools = Tools(
        settings,
        count,
        _summarizer(kind, options, offline),
        offline,
        time.time,
        asyncio.Semaphore(options.jobs),
        masker(),
    )
    form = format_named(options.format) if options.format else None
    ending = await Run(act, earlier, tools, sys.stdout.buffer, console, stop, form).over(jobs)
    if "summarizer" not in given and any(r.summarizer == offline.name for r in ending.reports):
        console.note("compactor: no endpoint is configured, so summaries were extracted offline (see --summarizer)")
    return ending


def _kind(options: Options, given: frozenset[str]) -> SummarizerKind:
    if options.summarizer is not SummarizerKind.AUTO:
        return options.summarizer
    if options.summarizer_command:
        return SummarizerKind.COMMAND
    named = options.base_url or "model" in given
    if named or os.environ.get("OPENAI_BASE_URL") or os.environ.get("OPENAI_API_KEY"):
        return SummarizerKind.OPENAI
    return SummarizerKind.EXTRACTIVE


def _summarizer(kind: SummarizerKind, options: Options, offline: Extractive) -> Summarizer:
    if kind is SummarizerKind.COMMAND:
        from compactor.summarizers.command import CommandSummarizer  # noqa: PLC0415 - start-up time

        return CommandSummarizer(options.summarizer_command, options.timeout)
    if kind is SummarizerKind.OPENAI:
        from compactor.summarizers.endpoint import Endpoint, EndpointSummarizer  # noqa: PLC0415 - start-up time

        endpoint = Endpoint(options.model, options.base_url or None, options.timeout, options.retries)
        return EndpointSummarizer(endpoint)
    return offline
