"""Which folders are one conversation, a record a file, and how are they read and added to?

OpenHands keeps a conversation as `events/event-00000-<id>.json`, ... Read, each file is a line. Such a folder only ever
grows: the tool takes what a file is from its name, so that none is taken out or renamed here.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from compactor import files
from compactor.errors import InputError, OutputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import IO

_NAME = re.compile(r"event-(\d{5,})-.+\.json")


def is_conversation(path: Path) -> bool:
    """Tell whether `path` is a folder that holds one conversation."""
    return path.is_dir() and any(_NAME.fullmatch(child.name) for child in path.iterdir())


def parts(folder: Path) -> list[Path]:
    """List the files of a conversation in its order."""
    return sorted((child for child in folder.iterdir() if _NAME.fullmatch(child.name)), key=_number)


def lines(source: Path | IO[bytes]) -> Iterator[bytes]:
    """Read the lines of a file as `files.lines` does; of a folder with a conversation, a line for each of its files."""
    if not isinstance(source, Path) or not is_conversation(source):
        yield from files.lines(source)
        return
    for part in parts(source):
        try:
            content = part.read_bytes()
        except OSError as error:
            raise InputError(f"{part}: cannot be read ({error.strerror})", "check its permissions") from error
        # A line end within JSON is a blank: strings have none.
        yield content.strip().replace(b"\r", b" ").replace(b"\n", b" ") + b"\n"


@contextmanager
def grown(folder: Path) -> Iterator[Callable[[bytes, bytes], object]]:
    """Take the rows of a conversation, each as it came and as it leaves; write a file for each line that is new.

    Raises OutputError where a row has lost anything, or the folder was changed meanwhile.
    """
    came: list[bytes] = []
    leaves: list[bytes] = []

    def taken(before: bytes, after: bytes) -> None:
        came.append(before)
        leaves.append(after)

    yield taken
    old, new = b"".join(came), b"".join(leaves)
    if not new.startswith(old):
        raise OutputError(f"{folder}: a folder of events only grows", "give --native append, or -o FILE")
    standing = parts(folder)
    if b"".join(lines(folder)) != old:
        raise OutputError(f"{folder}: it was changed meanwhile", "run again; nothing was written")
    first = 1 + max(_number(part) for part in standing)
    for number, line in enumerate(new[len(old) :].splitlines(), first):
        path = folder / f"event-{number:05d}-{orjson.loads(line)['id']}.json"
        with files.atomic(path, like=standing[0]) as file:
            file.write(line)


def _number(part: Path) -> int:
    name = _NAME.fullmatch(part.name)
    return int(name[1]) if name else -1
