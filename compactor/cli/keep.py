"""`restore`, `verify`, `show`, `forget` and `schema`: what is kept beside a file, and what can be done with it?"""

from __future__ import annotations

import asyncio
import sys
from datetime import UTC, datetime
from enum import StrEnum
from importlib.resources import files as package_files
from pathlib import Path
from typing import Annotated

import typer

from compactor.core.state import Generation
from compactor.core.summary import render
from compactor.files import atomic
from compactor.job import Care
from compactor.keeping import Known, faults, forget, kit_of, known, put_back, restore
from compactor.tokenizer import tokenizer

File = Annotated[Path, typer.Argument(metavar="FILE", help="A transcript.", show_default=False)]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where to write (stdout).", show_default=False)
]
InPlace = Annotated[bool, typer.Option("--in-place", "-i", help="Replace the file.")]
State = Annotated[
    Path | None, typer.Option("--state", metavar="FILE", help="Its sidecar (FILE.state).", show_default=False)
]

LockTimeout = Annotated[
    float, typer.Option("--lock-timeout", metavar="X", help="Seconds to wait for another run on the same file.")
]
PATIENCE = Care().patience


class Published(StrEnum):
    """What there is a schema for."""

    STATE = "state"
    REPORT = "report"
    CONFIG = "config"


Kind = Annotated[Published, typer.Argument(help="What the schema is of.", show_default=False)]


def restore_command(
    file: File, *, output: Output = None, in_place: InPlace = False, lock_timeout: LockTimeout = PATIENCE
) -> None:
    """Give back the full transcript of a file that was compacted in place, with what was added since."""
    kit = kit_of(file)
    if in_place:
        asyncio.run(put_back(kit, lock_timeout))
    elif output:
        with atomic(output, like=file) as out:
            out.writelines(restore(kit))
    else:
        sys.stdout.buffer.writelines(restore(kit))
        sys.stdout.flush()


def verify_command(file: File, *, state: State = None) -> None:
    """Check a file, its sidecar and its archive against each other and the promises; exit 1 if one is broken."""
    found = list(faults(kit_of(file, state)))
    for sentence in found:
        print(sentence)
    raise typer.Exit(1 if found else 0)


def show_command(file: File, *, state: State = None) -> None:
    """Print what is known of a file: its generations, how each came about, the summary, how to undo it."""
    kit = kit_of(file, state)
    for conversation in known(kit, tokenizer()):
        _show(conversation)
    if kit.archive.exists():
        print(f"undo: compactor restore {file} -o FULL")


def _show(conversation: Known) -> None:
    size = f"{conversation.messages:,} messages, {conversation.tokens:,} tokens"
    print(f"{conversation.name}: {conversation.form}, {size}")
    entry = conversation.entry
    for generation in entry.generations if entry else ():
        mark = " <- goes on from here" if generation.number == conversation.gone_on_from else ""
        print(f"  generation {generation.number}: {_made(generation)}{mark}")
    if entry and entry.failure:
        print(f"  last attempt failed: {entry.failure.why}")
    if entry and entry.generations:
        print("\n" + render(entry.generations[-1].notes.summary) + "\n")


def _made(generation: Generation) -> str:
    """Tell in one line what a generation covers, and who made it when, from what, at which price."""
    made, covered = generation.made, generation.covered
    parts = [f"messages {covered.start + 1}-{covered.last} ({covered.tokens:,} tokens)"]
    if generation.stubbed:
        parts.append(f"{len(generation.stubbed)} results after them stubbed")
    when = f" on {datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M}" if isinstance(at := made.get("at"), int) else ""
    parts.append(f"summarised by {made.get('summarizer', '?')}{when}")
    if isinstance(tokens := made.get("tokens"), dict):
        parts.append(f"{tokens['before']:,} -> {tokens['after']:,} tokens")
    if isinstance(usage := made.get("usage"), dict):
        asked, answered = usage["prompt_tokens"], usage["completion_tokens"]
        parts.append(f"calls: {usage['calls']} ({asked:,} tokens asked, {answered:,} answered)")
    if isinstance(cost := made.get("cost"), int | float):
        parts.append(f"cost: {cost:.4f}")
    return ", ".join(parts)


def forget_command(file: File, *, state: State = None, lock_timeout: LockTimeout = PATIENCE) -> None:
    """Remove the sidecar and the archive of a file; the file itself stays as it is."""
    removed = asyncio.run(forget(kit_of(file, state), lock_timeout))
    print("\n".join(f"removed {path}" for path in removed) or "there was nothing to forget")


def schema_command(kind: Kind) -> None:
    """Print the JSON Schema of sidecars, reports or configuration files."""
    print(package_files("compactor").joinpath(f"schemas/{kind}.json").read_text(encoding="utf-8"), end="")
