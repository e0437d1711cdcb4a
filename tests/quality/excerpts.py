"""Part f: what does a summarizer read, if it is shown so many characters of each old tool result?

The default of `tool_excerpt` rests on this table: it is the size after which more of the results no longer pays.
"""

from __future__ import annotations

import re

from compactor.core.plan import make_plan
from compactor.core.settings import Settings, Trigger
from tests.quality import arms, real
from tests.quality.probes import FAMILIES, plain, there
from tests.quality.tables import Share, Table

EXCERPTS = (0, 100, 200, 400, 600, 800, 1_200, 2_400)
DEFAULT = Settings().tool_excerpt
_ESCAPED = re.compile(r'\\(["\\/nt])')


def prompt(row, excerpt):
    """The prompt for a first summary of a whole conversation."""
    settings = Settings(context_window=arms.WIDE, tail_tokens=0, trigger_mode=Trigger.FORCE, tool_excerpt=excerpt)
    return make_plan(row.conversation, (), settings, arms.COUNT).request.user


def unescaped(text):
    """A text as its probes are written: arguments of calls are shown as JSON."""
    return _ESCAPED.sub(lambda m: {"n": "\n", "t": "\t"}.get(m[1], m[1]), text)


def measure(seeds, excerpt):
    """The tokens of the prompts for all the real sessions, and the probes in them by family."""
    found, tokens = {f: Share() for f in FAMILIES}, 0
    for piece in real.pieces():
        text = prompt(arms.read(piece.content), excerpt)
        tokens += arms.COUNT(text)
        flat = plain(unescaped(text)).lower()
        for family, probes in piece.probes.items():
            for probe in filter(seeds.mine, probes):
                found[family].add(there(family, probe, flat))
    return tokens, found


def table(seeds):
    """Part f as a table."""
    title = "f. What a summarizer reads of real sessions, by characters shown of each old tool result: probes in %"
    headings = ("characters", "tokens", "all", *FAMILIES)
    if not real.pieces():
        return [Table(f"{title}: the shared transcripts are not beside the project", headings, ())]
    rows = []
    for excerpt in EXCERPTS:
        tokens, found = measure(seeds, excerpt)
        named = f"{excerpt:,}{' (default)' if excerpt == DEFAULT else ''}"
        rows.append((named, f"{tokens:,}", sum(found.values(), Share()), *found.values()))
    return [Table(title, headings, tuple(rows))]
