"""How do tests compact one row, or a file, in their own process and without a model?"""

import asyncio
import io

from compactor.attempt import compact_row
from compactor.core.settings import Settings, Trigger
from compactor.job import Act, Earlier, Job
from compactor.run import Run
from compactor.tokenizer import tokenizer
from compactor.tools import Known, Native, Tools

COUNT = tokenizer()


def compacted(row, native=Native.REWRITE, **settings):
    """Compact `row` by force, for a window of 8,000 tokens, unless `settings` say otherwise."""

    async def work():
        chosen = Settings(**{"context_window": 8_000, "trigger_mode": Trigger.FORCE, **settings})
        tools = Tools(chosen, COUNT, None, lambda: 0.0, asyncio.Semaphore(1), str, native)
        return await compact_row(row, Known("0" * 16, None, (), lambda: None), tools)

    return asyncio.run(work())


class Deaf:
    """Hears of a run, and says nothing."""

    def heard(self, report):
        pass

    skipped = trouble = heard


def ran(file, target, settings, earlier=Earlier.CONTINUE, count=COUNT):
    """Compact `file` into `target`, with the sidecar beside it; give how that ended."""

    async def work():
        tools = Tools(settings, count, None, lambda: 0.0, asyncio.Semaphore(1), str)
        run = Run(Act.COMPACT, earlier, tools, io.BytesIO(), Deaf(), asyncio.Event())
        return await run.over([Job(file.name, file, target, file.with_name(f"{file.name}.state"))])

    return asyncio.run(work())
