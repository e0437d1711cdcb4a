"""Which laws does every sample file keep, and what does a compaction make of it? A table, or its rows for tests.

Run as `python -m tests.formats_table [FOLDER]`: every file below FOLDER is read, compacted for a small window without a
model, and read back.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

from compactor.console import aligned
from compactor.core.handoff import is_handoff
from compactor.core.messages import Conversation, Kept, groups
from compactor.core.tokens import costs, preamble_cost
from compactor.core.verify import broken
from compactor.errors import CompactorError
from compactor.formats import Standing, rows
from tests.test_format_laws import COUNT, WINDOW, compacted

FOLDER = Path(__file__).parents[2] / "shared" / "transcripts"
LAWS = ("bytes", "promises", "handoff", "pairs")
COLUMNS = ("file", "format", "rows", "messages", "bytes", "tokens", "after", "bytes after", "what", *LAWS)


@dataclass
class Told:
    """What came of one file: figures over all its rows, and what is wrong with each law, "" if nothing."""

    form: str = ""
    rows: int = 0
    messages: int = 0
    size: int = 0
    tokens: int = 0
    after: int = 0
    size_after: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    laws: dict[str, str] = field(default_factory=lambda: dict.fromkeys(LAWS, ""))
    refused: str = ""


def told(content: bytes, name: str) -> Told:
    """Read, compact and read back the rows of a file; a refusal is told, any other exception is not caught."""
    found = Told(size=len(content))
    try:
        read = list(rows(BytesIO(content), name))
    except CompactorError as error:
        found.refused = f"refused: {error.what}"
        return found
    found.form = read[0].format.name
    if b"".join(row.raw for row in read) != content:
        found.laws["bytes"] = "the rows are not the file"
    for row in read:
        found.faults += map(str, row.faults)
        _row(found, row)
    return found


def _row(found: Told, row: Standing) -> None:
    found.rows += 1
    conversation = row.conversation
    if conversation is None:
        found.size_after += len(row.raw)
        found.outcomes["no conversation"] += 1
        return
    if row.render([Kept(n) for n in range(len(conversation.messages))]) != row.raw:
        found.laws["bytes"] = f"{conversation.name}: it does not leave byte for byte"
    done = compacted(row)
    again = row.read_back(done.content) if done.content != row.raw else conversation
    assert again is not None, f"{conversation.name}: what was written is no conversation"
    found.messages += len(conversation.messages)
    found.tokens += _tokens(conversation)
    found.after += _tokens(again)
    found.size_after += len(done.content)
    found.outcomes[done.report.outcome] += 1
    if done.report.outcome == "failed":
        found.laws["promises"] = f"{conversation.name}: {done.report.why}"
    if done.report.outcome in ("pruned", "summarised"):
        _result(found, again, summarised=done.report.outcome == "summarised")


def _result(found: Told, again: Conversation, *, summarised: bool) -> None:
    laws = broken(again, [Kept(n) for n in range(len(again.messages))])
    if laws:
        found.laws["promises"] = laws[0]
    handoffs = sum(map(is_handoff, again.messages))
    if handoffs > 1 or (summarised and not handoffs):
        found.laws["handoff"] = f"{handoffs} handoffs"
    whole = [
        not group.orphans and (not group.open or group.stop == len(again.messages))
        for group in groups(again.messages)
        if again.gaps.isdisjoint(range(group.start - 1, group.stop))
    ]
    if not all(whole):
        found.laws["pairs"] = f"{whole.count(False)} groups are not whole"


def _tokens(conversation: Conversation) -> int:
    return preamble_cost(conversation, COUNT) + sum(costs(conversation.messages, COUNT))


def files(folder: Path) -> list[Path]:
    """List the sample files below `folder`."""
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix in (".jsonl", ".json"))


def lines(folder: Path) -> Iterator[tuple[str, ...]]:
    """Give the table line by line."""
    for path in files(folder):
        one = told(path.read_bytes(), path.name)
        name = str(path.relative_to(folder))
        if one.refused:
            yield (name, "-", "", "", f"{one.size:,}", "", "", "", one.refused[:60], *[""] * len(LAWS))
            continue
        what = ", ".join(f"{n} {outcome}" for outcome, n in sorted(one.outcomes.items()))
        what += f"; {len(one.faults)} faults" if one.faults else ""
        figures = (one.rows, one.messages, one.size, one.tokens, one.after, one.size_after)
        laws = [f"NO: {one.laws[law]}" if one.laws[law] else "kept" for law in LAWS]
        yield (name, one.form, *(f"{n:,}" for n in figures), what, *laws)


if __name__ == "__main__":
    given = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    print(
        f"Compacted with a window of {WINDOW:,} tokens, forced, summaries extracted offline; tokens of {COUNT.name}.\n"
    )
    print(aligned(COLUMNS, lines(given), 400))
