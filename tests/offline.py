"""How do tests compact one row without a model?"""

import asyncio

from compactor.attempt import compact_row
from compactor.core.settings import Settings, Trigger
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
