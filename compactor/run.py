"""In what order is a whole run done: files, rows, calls in flight, results, and what a Ctrl-C leaves?

Rows of a file are worked on side by side and written in their order; a row that waits for its summary delays
nobody else's. A sidecar is appended to as results arrive, before the transcript is replaced.
"""

from __future__ import annotations

import asyncio
import sys
from collections import deque
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, BinaryIO, Protocol

from compactor.attempt import compact_row, plan_row
from compactor.core.report import Outcome, Report
from compactor.core.state import key_of
from compactor.ending import Ending
from compactor.errors import CompactorError, NotATranscript, StateError
from compactor.files import atomic, lines
from compactor.formats import rows
from compactor.sidecar import Sidecar
from compactor.tools import Done, Known

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from compactor.formats import Format, Standing
    from compactor.tools import Tools

ROWS_IN_FLIGHT = 64  # rows of one file that wait at once; each holds its bytes
FILES_IN_FLIGHT = 4


class Act(StrEnum):
    """What a run does: write, or only say what would be written."""

    COMPACT = "compact"
    PLAN = "plan"


class Earlier(StrEnum):
    """What becomes of an earlier state: it is gone on from, or forgotten."""

    CONTINUE = "continue"
    REBUILD = "rebuild"


class Found(StrEnum):
    """How a file came to be an input: somebody named it, or it lay below a folder."""

    NAMED = "named"
    WALKED = "walked"


@dataclass(frozen=True, slots=True)
class Job:
    """One input: `source` None is standard input, `target` None is `out`, `state` None keeps no sidecar."""

    name: str
    source: Path | None
    target: Path | None
    state: Path | None
    how: Found = Found.NAMED


class Listener(Protocol):
    """Hears what happens, in order within a file."""

    def heard(self, report: Report) -> None:
        """Take note that a conversation is done."""

    def skipped(self, error: CompactorError) -> None:
        """Take note that a file below a folder is no transcript."""

    def trouble(self, error: CompactorError) -> None:
        """Take note that a whole file could not be worked on."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run over several inputs; `out` takes what has no target, `stop` is set by an interrupt.

    `form` None tells the format of each input by its content.
    """

    act: Act
    earlier: Earlier
    tools: Tools
    out: BinaryIO
    listener: Listener
    stop: asyncio.Event
    form: Format | None = None
    ending: Ending = field(default_factory=Ending)

    async def over(self, jobs: Sequence[Job]) -> Ending:
        """Do every job, a few at a time; a job that fails leaves the others alone."""
        self.ending.of.update({job.name: [] for job in jobs})
        await _side_by_side([partial(self._job, job) for job in jobs], FILES_IN_FLIGHT)
        await self.tools.summarizer.close()
        self.ending.interrupted = self.stop.is_set()
        self.ending.unavailable = bool(self.tools.breaker.why)
        return self.ending

    async def _job(self, job: Job) -> None:
        if self.stop.is_set():
            return
        reports = self.ending.of[job.name]
        try:
            await self._file(job, reports)
        except NotATranscript as error:
            if job.how is Found.NAMED:
                self.ending.errors.append(error)
                self.listener.trouble(error)
            else:
                self.listener.skipped(error)
        except CompactorError as error:
            self.ending.errors.append(error)
            self.listener.trouble(error)

    async def _file(self, job: Job, reports: list[Report]) -> None:
        opened = Sidecar.afresh if self.earlier is Earlier.REBUILD else Sidecar.open
        sidecar = opened(job.state, like=job.source)
        source = _source(job)
        if sidecar.loaded and not any(_belongs(row, sidecar) for row in rows(source(), job.name, self.form)):
            raise StateError(
                f"{job.state}: it belongs to another transcript than {job.name}",
                "name the right one with --state, or start afresh with --rebuild",
            )
        with self._target(job) as write:
            finished = 0
            async for done in self._in_order(rows(source(), job.name, self.form), sidecar):
                finished += done.report.outcome is not Outcome.LEFT
                if self.stop.is_set() and (job.target is None or not finished):
                    raise _Abandoned
                write(done.content)
                reports.append(done.report)
                if self.act is Act.COMPACT or not done.report.fine:
                    self.listener.heard(done.report)
            if job.source and job.target == job.source and all(r.outcome in _AS_THEY_CAME for r in reports):
                raise _Abandoned
        if self.act is Act.COMPACT:
            sidecar.close()

    @contextmanager
    def _target(self, job: Job) -> Iterator[Callable[[bytes], object]]:
        with suppress(_Abandoned):
            if self.act is Act.PLAN:
                yield len
            elif job.target is None:
                yield self.out.write
                self.out.flush()
            else:
                with atomic(job.target, like=job.source) as file:
                    yield file.write

    async def _in_order(self, found: Iterable[Standing], sidecar: Sidecar) -> AsyncIterator[Done]:
        """Give the results of rows in their order, with a window of them worked on at once."""
        flying: deque[tuple[Standing, asyncio.Task[Done]]] = deque()
        try:
            for row in found:
                flying.append((row, asyncio.create_task(self._one(row, _known(row, sidecar), sidecar))))
                while len(flying) >= (1 if self.stop.is_set() else ROWS_IN_FLIGHT):
                    yield await self._landed(*flying.popleft())
            while flying:
                yield await self._landed(*flying.popleft())
        finally:
            for _, task in flying:
                task.cancel()
            await asyncio.gather(*(task for _, task in flying), return_exceptions=True)

    async def _landed(self, row: Standing, task: asyncio.Task[Done]) -> Done:
        """Wait for a result, or for an interrupt: then the row leaves as it came."""
        stopping = asyncio.create_task(self.stop.wait())
        try:
            await asyncio.wait({task, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
            task.cancel()
            name = row.conversation.name if row.conversation else ""
            return Done(row.raw, Report(name, Outcome.LEFT, "interrupted"))
        finally:
            stopping.cancel()

    async def _one(self, row: Standing, known: Known, sidecar: Sidecar) -> Done:
        done = await (compact_row if self.act is Act.COMPACT else plan_row)(row, known, self.tools)
        if done.entry is not None:
            sidecar.put(done.entry)
        return done


class _Abandoned(Exception):
    """An interrupt came before anything of a file was finished, or nothing in it changed: its target stays."""


_AS_THEY_CAME = (Outcome.UNTOUCHED, Outcome.UNREADABLE, Outcome.LEFT)


def _known(row: Standing, sidecar: Sidecar) -> Known:
    messages = row.conversation.messages if row.conversation else ()
    key = sidecar.key(messages) if messages else ""
    return Known(key, sidecar.loaded.get(key), sidecar.candidates(key, messages), sidecar.prepare)


def _belongs(row: Standing, sidecar: Sidecar) -> bool:
    if row.conversation is None:
        return False
    messages = row.conversation.messages
    return bool(sidecar.candidates(key_of(messages), messages))


def _source(job: Job) -> Callable[[], Iterable[bytes]]:
    """Give the lines of an input, as often as asked; a pipe is held in memory if a sidecar needs it twice."""
    source = job.source or sys.stdin.buffer
    once = job.source is None or job.source.is_fifo()
    if not once or job.state is None:
        return lambda: lines(source)
    held = list(lines(source))
    return lambda: held


async def _side_by_side(work: Iterable[Callable[[], Awaitable[None]]], most: int) -> None:
    room = asyncio.Semaphore(most)

    async def one(task: Callable[[], Awaitable[None]]) -> None:
        async with room:
            await task()

    await asyncio.gather(*(one(task) for task in work))
