"""In what order is a whole run done: files, rows, calls in flight, results, and what a Ctrl-C leaves?

Rows of a file are worked on side by side and written in their order; a row that waits for its summary delays
nobody else's. A sidecar is appended to as results arrive, before the transcript is replaced.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, count, islice
from typing import TYPE_CHECKING, BinaryIO

from compactor.archive import Frame, appended, archive_of, history, in_full, restored
from compactor.attempt import compact_row, plan_row
from compactor.core.report import Outcome, Report
from compactor.core.state import key_of
from compactor.ending import Ending
from compactor.errors import CompactorError, NotATranscript, OutputError, StateError
from compactor.files import atomic, replacing
from compactor.folders import grown, is_conversation, lines, parts
from compactor.formats import rows
from compactor.job import Act, Archive, Care, Earlier, Found
from compactor.lanes import in_order, side_by_side
from compactor.locks import held
from compactor.sidecar import Sidecar
from compactor.tools import Done, Known, Native

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
    from pathlib import Path

    from compactor.formats import Format, Standing
    from compactor.job import Job, Listener
    from compactor.tools import Tools

ROWS_IN_FLIGHT = 64  # rows of one file that wait at once; each holds its bytes
FILES_IN_FLIGHT = 4


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
    care: Care = Care()
    ending: Ending = field(default_factory=Ending)

    async def over(self, jobs: Sequence[Job]) -> Ending:
        """Do every job, a few at a time; a job that fails leaves the others alone."""
        self.ending.of.update({job.name: [] for job in jobs})
        await side_by_side([partial(self._job, job) for job in jobs], FILES_IN_FLIGHT)
        if self.tools.summarizer:
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
        """Work on one file, with other runs kept away from it while something may be written."""
        if job.source is None or self.act is Act.PLAN:
            await self._rows(job, reports)
            return
        async with held(job.source, self.care.patience, self.stop) as alone:
            if alone:
                await self._rows(job, reports)

    async def _rows(self, job: Job, reports: list[Report]) -> None:
        sidecar = (Sidecar.afresh if self.earlier is Earlier.REBUILD else Sidecar.open)(job.state, like=_like(job))
        found, begun = self._own(job, sidecar), partial(self._begun, sidecar)
        with self._target(job) as write:
            async for row, done in in_order(found, begun, _left, self.stop, ROWS_IN_FLIGHT):
                if self.stop.is_set() and job.target is None:
                    raise _Abandoned
                write(row.raw, done.content)
                if row.conversation or row.faults:  # a blank line is neither
                    reports.append(done.report)
                if self.act is Act.COMPACT or not done.report.fine:
                    self.listener.heard(done.report)
            if (job.in_place or self.stop.is_set()) and all(r.outcome in _AS_THEY_CAME for r in reports):
                raise _Abandoned
        if self.act is Act.COMPACT:
            sidecar.close()

    def _own(self, job: Job, sidecar: Sidecar) -> Iterator[Standing]:
        """Read the rows of a file. Raises StateError if the sidecar knows none of them."""
        source = _source(job)
        found = rows(source(), job.name, self.form)
        if not sidecar.loaded:
            return found
        ahead = list(islice(found, 2))
        sidecar.of_one = len(ahead) == 1
        # Only where neither of two rows is known, the file is gone through for one that is.
        if not any(_belongs(row, sidecar) for row in chain(ahead, rows(source(), job.name, self.form))):
            raise StateError(
                f"{job.state}: it belongs to another transcript than {job.name}",
                "name the right one with --state, or start afresh with --rebuild",
            )
        return chain(ahead, found)

    @contextmanager
    def _target(self, job: Job) -> Iterator[Callable[[bytes, bytes], object]]:
        """Open what takes the rows of a file, each as it came and as it leaves."""
        with suppress(_Abandoned):
            if self.act is Act.PLAN:
                yield lambda _, content: len(content)
            elif job.target is None:
                yield lambda _, content: self.out.write(content)
                self.out.flush()
            elif job.source and job.in_place and is_conversation(job.source):
                if self.tools.native is Native.REWRITE:
                    raise OutputError(f"{job.name}: a folder of events only grows", "give --native append, or -o FILE")
                with grown(job.source) as write:
                    yield write
            elif job.in_place:
                with self._in_place(job.target) as write:
                    yield write
            else:
                with atomic(job.target, like=_like(job)) as file:
                    yield lambda _, content: file.write(content)

    @contextmanager
    def _in_place(self, path: Path) -> Iterator[Callable[[bytes, bytes], object]]:
        """Open what takes rows in the place of those that they came as, which go into the archive first."""
        archive, numbers = archive_of(path), count()
        past = history(archive) if self.earlier is Earlier.REBUILD else None
        with replacing(path) as file, appended(archive, path) as keep:

            def write(came: bytes, content: bytes) -> None:
                number = next(numbers)
                if came != content and self.care.archive is Archive.KEEP:
                    if past and restored(came, past(number)) is None:
                        keep(in_full(number))  # what the archive holds is of another conversation
                    keep(Frame(number, came, content))
                file.write(content)

            yield write

    def _begun(self, sidecar: Sidecar, row: Standing) -> Coroutine[object, object, Done]:
        """Begin the work on a row; keys are given in the order of the rows."""
        messages = row.conversation.messages if row.conversation else ()
        key = sidecar.key(messages) if messages else ""
        known = Known(key, sidecar.loaded.get(key), sidecar.candidates(key, messages), sidecar.prepare, sidecar.of_one)
        return self._one(row, known, sidecar)

    async def _one(self, row: Standing, known: Known, sidecar: Sidecar) -> Done:
        done = await (compact_row if self.act is Act.COMPACT else plan_row)(row, known, self.tools)
        if done.entry is not None:
            sidecar.put(done.entry)
        return done


class _Abandoned(Exception):
    """Nothing of a file has changed, or an interrupt came before it could: its target stays as it is."""


_AS_THEY_CAME = (Outcome.UNTOUCHED, Outcome.UNREADABLE, Outcome.LEFT)


def _left(row: Standing) -> Done:
    name = row.conversation.name if row.conversation else ""
    return Done(row.raw, Report(name, Outcome.LEFT, "interrupted"))


def _belongs(row: Standing, sidecar: Sidecar) -> bool:
    if row.conversation is None:
        return False
    messages = row.conversation.messages
    return bool(sidecar.candidates(key_of(messages), messages))


def _like(job: Job) -> Path | None:
    """Find the file whose permissions a new one gets."""
    return parts(job.source)[0] if job.source and is_conversation(job.source) else job.source


def _source(job: Job) -> Callable[[], Iterable[bytes]]:
    """Give the lines of an input, as often as asked; a pipe is held in memory if a sidecar needs it twice."""
    source = job.source or sys.stdin.buffer
    once = job.source is None or job.source.is_fifo()
    if not once or job.state is None:
        return lambda: lines(source)
    held = list(lines(source))
    return lambda: held
