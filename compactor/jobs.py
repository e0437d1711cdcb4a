"""Which files are meant by what was typed, and where do their results and sidecars go?"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, TextIO

from compactor.errors import OutputError, UsageError
from compactor.folders import is_conversation
from compactor.formats.convert import Target
from compactor.job import Act, Found, Job

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

STDIN = Path("-")
# What is looked into below a folder, unless --include says otherwise; what is no transcript is passed over.
TRANSCRIPTS = ("*.jsonl", "*.jsonl.gz", "*.jsonl.zst", "*.json")


@dataclass(frozen=True, slots=True)
class Places:
    """Where results and sidecars go, as the command line says, and which files of a folder are meant.

    An `output` that ends in "/" is a folder. Patterns are those of the shell, for the name of a file or its path below
    the folder.
    """

    output: str | None
    in_place: bool
    state: Path | None
    state_dir: Path | None
    act: Act
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    to: Target = Target.SAME


@dataclass(frozen=True, slots=True)
class Input:
    """A file to read, its place below a folder of results, and how it came to be one."""

    path: Path
    place: PurePath
    how: Found


def jobs_of(sources: Sequence[Path], places: Places, stdin: TextIO | None) -> tuple[Job, ...]:
    """Turn inputs and places into jobs. Raises UsageError where they do not fit together."""
    sources = sources or [STDIN]
    if sources == [STDIN] and (stdin is None or stdin.isatty()):
        raise UsageError("no input", "name a file, or pipe one in; compactor compact --help shows examples")
    inputs = [found for source in sources for found in _inputs(source, places)]
    if not inputs:
        raise UsageError(f"no transcripts below {sources[0]}", "see --include and --exclude")
    _check(inputs, places)
    several = len(inputs) > 1 or any(found.how is Found.WALKED for found in inputs)
    return tuple(_job(found, places, several=several) for found in inputs)


def _inputs(source: Path, places: Places) -> Iterator[Input]:
    """Give a file as it is, and of a folder all transcripts below it, in order of their names.

    A folder that holds one conversation is one input; what is made of it elsewhere is a file.
    """
    if is_conversation(source):
        yield Input(source, PurePath(f"{source.name or 'events'}.jsonl"), Found.NAMED)
        return
    if not source.is_dir():
        yield Input(source, PurePath("stdin.jsonl" if source == STDIN else source.name), Found.NAMED)
        return
    for folder, folders, names in os.walk(source):
        if is_conversation(Path(folder)):
            below = Path(folder).relative_to(source).with_suffix(".jsonl")
            folders.clear()
            if not _matches(below, places.exclude):
                yield Input(Path(folder), below, Found.WALKED)
            continue
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(folder, name)
            below = path.relative_to(source)
            if _matches(below, places.include or TRANSCRIPTS) and not _matches(below, places.exclude):
                yield Input(path, below, Found.WALKED)


def _matches(path: PurePath, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch(path.name, p) or fnmatch(str(path), p) for p in patterns)


def _check(inputs: Sequence[Input], places: Places) -> None:
    several = len(inputs) > 1
    sources = [found.path for found in inputs]
    if places.in_place and places.to is not Target.SAME:
        raise UsageError("--in-place keeps the format of a file", "give -o with --to, or leave --to out")
    if places.in_place and (places.output or STDIN in sources):
        raise UsageError("--in-place replaces named files", "leave out --output, and name the files instead of stdin")
    if several and not (places.output or places.in_place or places.act is Act.PLAN):
        raise UsageError(f"{len(inputs)} inputs and no place for the results", "give -o DIR, or -i, or -n to only look")
    if several and places.output and Path(places.output).is_file():
        raise UsageError(f"{places.output} is a file, but there are {len(inputs)} inputs", "name a folder with -o")
    if several and places.state:
        raise UsageError("--state names the sidecar of one input", "give --state-dir for several")
    twice = next((place for place, n in Counter(found.place for found in inputs).items() if n > 1), None)
    if twice and (places.output or places.state_dir):
        raise UsageError(f"two inputs are called {twice}", "compact them one after the other, into different folders")
    if len(set(map(_real, sources))) < len(sources):
        raise UsageError("an input is named twice", "name it once")


def _real(path: Path) -> str:
    return "-" if path == STDIN else os.path.realpath(path)


def _job(found: Input, places: Places, *, several: bool) -> Job:
    file = None if found.path == STDIN else found.path
    target = None
    if places.act is Act.COMPACT:
        target = file if places.in_place else _target(found, places.output, several=several)
    if file and target and not places.in_place and _real(file) == _real(target):
        raise UsageError(f"{target} is also the input", "give -i to replace it")
    state = places.state
    if state is None and file is not None and not file.is_fifo():
        folder = places.state_dir / found.place.parent if places.state_dir else file.parent
        state = folder / f"{file.name}.state"
    if state and target and _real(state) == _real(target):
        raise UsageError(f"{state} is to hold the result and the sidecar", "name two files")
    return Job(str(file) if file else "stdin", file, target, state, found.how)


def _target(found: Input, output: str | None, *, several: bool) -> Path | None:
    if output is None:
        return None
    target = Path(output)
    if not several and not (target.is_dir() or output.endswith("/")):
        return target
    place = target / found.place
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{output}: cannot be made a folder ({error.strerror})", "name another with -o") from error
    return place
