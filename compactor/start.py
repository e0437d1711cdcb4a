"""What is a run made of: which tokenizer, which summarizer, and who hears a Ctrl-C?"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from compactor.asking import OFFLINE
from compactor.config import Options, SummarizerKind
from compactor.formats import format_named
from compactor.job import Act, Archive, Care, Earlier
from compactor.redact import Redact, masker
from compactor.run import Run
from compactor.tokenizer import tokenizer
from compactor.tools import Tools, Window

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compactor.console import Console
    from compactor.core.settings import Settings
    from compactor.ending import Ending
    from compactor.job import Job
    from compactor.summarizers import Summarizer


async def start(  # noqa: PLR0913 - each is something that the command line has settled
    jobs: Sequence[Job],
    settings: Settings,
    options: Options,
    given: frozenset[str],
    console: Console,
    act: Act,
    earlier: Earlier,
    keep: Archive,
    redact: Redact = Redact.SECRETS,
) -> Ending:
    """Build the tools and do the jobs; an interrupt or a request to end lets finished rows be written."""
    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(os.cpu_count()))  # more threads than cores count no faster
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    count = tokenizer(options.encoding or None, options.model if "model" in given else None)
    kind = _kind(options, given)
    tools = Tools(
        settings,
        count,
        _summarizer(kind, options),
        time.time,
        asyncio.Semaphore(options.jobs),
        masker(redact),
        options.native,
        options.to,
        window=Window(options.summarizer_context),
        prices=options.prices,
    )
    care = Care(keep, options.lock_timeout)
    form = format_named(options.format) if options.format else None
    ending = await Run(act, earlier, tools, sys.stdout.buffer, console, stop, form, care).over(jobs)
    console.repeated()
    chosen = options.summarizer is SummarizerKind.EXTRACTIVE
    if kind is SummarizerKind.EXTRACTIVE and not chosen and any(r.summarizer == OFFLINE for r in ending.reports):
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


def _summarizer(kind: SummarizerKind, options: Options) -> Summarizer | None:
    if kind is SummarizerKind.COMMAND:
        from compactor.summarizers.command import CommandSummarizer  # noqa: PLC0415 - start-up time

        return CommandSummarizer(options.summarizer_command, options.timeout)
    if kind is SummarizerKind.OPENAI:
        from compactor.summarizers.endpoint import Endpoint, EndpointSummarizer  # noqa: PLC0415 - start-up time
        from compactor.summarizers.pace import Pace  # noqa: PLC0415

        endpoint = Endpoint(options.model, options.base_url or None, options.timeout, options.retries)
        return EndpointSummarizer(endpoint, pace=Pace(options.rpm, options.tpm))
    return None
