"""What is kept beside a compacted file, does it all fit together, and how is it undone or forgotten?"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING

from compactor.archive import appended, archive_of, history, in_full, restored
from compactor.core.handoff import PREFIX
from compactor.core.messages import Kept
from compactor.core.state import key_of, locate
from compactor.core.tokens import costs, preamble_cost
from compactor.core.verify import broken
from compactor.errors import CompactorError, StateError
from compactor.files import replacing
from compactor.folders import lines
from compactor.formats import Standing, rows
from compactor.locks import held
from compactor.sidecar import Sidecar

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from compactor.core.messages import Conversation, Message
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

    Raises StateError where a row was changed in more than one place since it was compacted, and if the file has been
    compacted and there is no archive.
    """
    if not kit.archive.exists() and any(_handed(row) for row in rows(lines(kit.file), str(kit.file))):
        raise StateError(
            f"{kit.file}: it was compacted, and there is no {kit.archive.name} of what was taken out",
            "what was written with -o is in the file it was made from; what was not archived is gone",
        )
    yield from _undone(kit)


def _handed(row: Standing) -> bool:
    """Tell whether a handoff of ours stands in a row."""
    messages = row.conversation.messages if row.conversation else ()
    return any(m.text.startswith(PREFIX) for m in messages)


def _undone(kit: Kit) -> Iterator[bytes]:
    past = history(kit.archive)
    for number, row in enumerate(rows(lines(kit.file), str(kit.file))):
        full = restored(row.raw, past(number))
        if full is None:
            raise StateError(
                f"{kit.file}: row {number + 1} was changed since it was compacted",
                f"its original is in {kit.archive} and can be had with compactor restore from a copy of the file",
            )
        yield full


async def put_back(kit: Kit, patience: float) -> None:
    """Replace the file by what `restore` gives, with other runs kept away; wait at most `patience` seconds for one.

    The sidecar goes if it covers what stands there no more: turns that had been pruned before they were summarised.
    Raises OutputError if the file was changed meanwhile.
    """
    async with held(kit.file, patience, asyncio.Event()):
        count = 0
        with replacing(kit.file) as out:
            for row in restore(kit):
                out.write(row)
                count += 1
        if kit.archive.exists():
            with appended(kit.archive, kit.file) as add:
                for number in range(count):
                    add(in_full(number))
        with suppress(CompactorError):  # a sidecar that cannot be read is for the next run to refuse
            sidecar = Sidecar.open(kit.state)
            first = next(iter(_read(kit, sidecar)), None)
            if first and first.conversation and _strange(first.conversation.messages, sidecar):
                kit.state.unlink()


def faults(kit: Kit) -> Iterator[str]:
    """Give one sentence for every promise that file, sidecar and archive do not keep."""
    try:
        sidecar = Sidecar.open(kit.state)
    except CompactorError as error:
        yield str(error)
        sidecar = Sidecar(None)
    try:
        for row in _read(kit, sidecar):
            yield from (str(fault) for fault in row.faults)
            if row.conversation:
                yield from _broken(row, row.conversation, sidecar)
        for _ in _undone(kit):
            pass
    except CompactorError as error:
        yield str(error)


def _read(kit: Kit, sidecar: Sidecar) -> Iterator[Standing]:
    """Read the rows of a file, and tell the sidecar whether there is one only."""
    found = rows(lines(kit.file), str(kit.file))
    ahead = list(islice(found, 2))
    sidecar.of_one = len(ahead) == 1
    return chain(ahead, found)


def _strange(messages: Sequence[Message], sidecar: Sidecar) -> bool:
    """Tell whether a sidecar knows something, and nothing of the one conversation of its file."""
    entries = sidecar.candidates(key_of(messages), messages)
    return sidecar.of_one and bool(sidecar.loaded) and (not entries or locate(messages, entries).lost)


def _broken(row: Standing, conversation: Conversation, sidecar: Sidecar) -> Iterator[str]:
    messages = conversation.messages
    name = conversation.name
    for law in broken(conversation, [Kept(n) for n in range(len(messages))]):
        yield f"{name}: it is not so that {law}"
    if row.render([Kept(n) for n in range(len(messages))]) != row.raw:
        yield f"{name}: it does not leave byte for byte"
    entries = sidecar.candidates(sidecar.key(messages), messages)
    base = locate(messages, entries)
    if entries and base.handoff is not None and base.generation is None:
        yield f"{name}: its handoff is not in {sidecar.path}"
    elif _strange(messages, sidecar):
        yield f"{name}: what {sidecar.path} covers is not in it: it was edited or cut short, or is another transcript"


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
