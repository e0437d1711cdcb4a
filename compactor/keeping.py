"""What is kept beside a compacted file, does it all fit together, and how is it undone or forgotten?"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from compactor.archive import archive_of, by_row, frame_at, restored
from compactor.core.handoff import is_handoff
from compactor.core.messages import Kept
from compactor.core.state import locate
from compactor.core.tokens import costs, preamble_cost
from compactor.core.verify import broken
from compactor.errors import CompactorError, StateError
from compactor.files import replacing
from compactor.folders import lines
from compactor.formats import Standing, rows
from compactor.locks import held
from compactor.sidecar import Sidecar

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from compactor.core.messages import Conversation
    from compactor.core.state import Entry
    from compactor.core.tokens import Count


@dataclass(frozen=True, slots=True)
class Kit:
    """A transcript and the files beside it."""

    file: Path
    state: Path
    archive: Path


def kit_of(file: Path, state: Path | None = None) -> Kit:
    """Name what stands beside `file`; `state` if its sidecar is elsewhere. The archive is always beside the file."""
    beside = file.with_name(f"{file.name}.state")
    return Kit(file, state or beside, archive_of(file))


def restore(kit: Kit) -> Iterator[bytes]:
    """Give the file row by row as if it had never been compacted, with what was added since.

    Raises StateError where a row was changed in more than one place since it was compacted.
    """
    history = by_row(kit.archive)
    for number, row in enumerate(rows(lines(kit.file), str(kit.file))):
        full = restored(row.raw, [frame_at(kit.archive, place) for place in history.get(number, ())])
        if full is None:
            raise StateError(
                f"{kit.file}: row {number + 1} was changed since it was compacted",
                f"its original is in {kit.archive} and can be had with compactor restore from a copy of the file",
            )
        yield full


async def put_back(kit: Kit, patience: float) -> None:
    """Replace the file by what `restore` gives, with other runs kept away; wait at most `patience` seconds for one.

    Raises OutputError if it was changed meanwhile.
    """
    async with held(kit.file, patience, asyncio.Event()):
        with replacing(kit.file) as out:
            out.writelines(restore(kit))


def faults(kit: Kit) -> Iterator[str]:
    """Give one sentence for every promise that file, sidecar and archive do not keep."""
    try:
        sidecar = Sidecar.open(kit.state)
    except CompactorError as error:
        yield str(error)
        sidecar = Sidecar(None)
    try:
        for row in rows(lines(kit.file), str(kit.file)):
            yield from (str(fault) for fault in row.faults)
            if row.conversation:
                yield from _broken(row, row.conversation, sidecar)
        for _ in restore(kit):
            pass
    except CompactorError as error:
        yield str(error)


def _broken(row: Standing, conversation: Conversation, sidecar: Sidecar) -> Iterator[str]:
    messages = conversation.messages
    name = conversation.name
    for law in broken(conversation, [Kept(n) for n in range(len(messages))]):
        yield f"{name}: it is not so that {law}"
    if row.render([Kept(n) for n in range(len(messages))]) != row.raw:
        yield f"{name}: it does not leave byte for byte"
    entries = sidecar.candidates(sidecar.key(messages), messages)
    known = {g.handoff for entry in entries for g in entry.generations}
    if entries and any(is_handoff(m) and m.text not in known for m in messages):
        yield f"{name}: its handoff is not in {sidecar.path}"


@dataclass(frozen=True, slots=True)
class Known:
    """What is to be shown of one conversation; `gone_on_from` is the generation that a next run would go on from."""

    name: str
    form: str
    messages: int
    tokens: int
    entry: Entry | None
    gone_on_from: int


def known(kit: Kit, count: Count) -> Iterator[Known]:
    """Give what is known of each conversation of a file."""
    sidecar = Sidecar.open(kit.state)
    for row in rows(lines(kit.file), str(kit.file)):
        if row.conversation is None:
            continue
        conversation = row.conversation
        entries = sidecar.candidates(sidecar.key(conversation.messages), conversation.messages)
        base = locate(conversation.messages, entries)
        number = base.generation.number if base.generation else 0
        tokens = preamble_cost(conversation, count) + sum(costs(conversation.messages, count))
        entry = next((e for e in entries if base.generation in e.generations), entries[0] if entries else None)
        yield Known(conversation.name, row.format.name, len(conversation.messages), tokens, entry, number)


async def forget(kit: Kit, patience: float) -> tuple[Path, ...]:
    """Remove sidecar and archive, with other runs kept away; the transcript stays as it is. Give what was removed."""
    async with held(kit.file, patience, asyncio.Event()):
        removed = tuple(path for path in (kit.state, kit.archive) if path.exists())
        for path in removed:
            path.unlink()
    return removed
