"""Which folders are one conversation, a record a file, and how are they read and added to?

OpenHands keeps a conversation as `events/event-00000-<id>.json`, ... Read, each file is a line. Such a folder only ever
grows: the tool takes what a file is from its name, so that none is taken out or renamed here. What it goes on from
stands in `base_state.json` beside the folder.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from compactor import files
from compactor.errors import InputError, OutputError
from compactor.formats.jsonbytes import members, patched, quoted, whole
from compactor.formats.openhands_view import LOOSE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import IO

STATE = "base_state.json"
LEAF = "leaf_event_id"
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
    _at_its_end(folder)
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
    name = ""
    for number, line in enumerate(new[len(old) :].splitlines(), first):
        name = orjson.loads(line)["id"]
        with files.atomic(folder / f"event-{number:05d}-{name}.json", like=standing[0]) as file:
            file.write(line)
    if name:
        _lead_to(folder.parent / STATE, name)


def _at_its_end(folder: Path) -> None:
    """Raise OutputError if the tool, having gone back in the conversation, would not read what is added at its end."""
    state = folder.parent / STATE
    leaf = orjson.loads(state.read_bytes()).get(LEAF) if state.is_file() else None
    names = [value["id"] for line in lines(folder) if (value := _event(line)) and value.get("kind") not in LOOSE]
    if leaf and names and leaf != names[-1]:
        raise OutputError(
            f"{folder}: OpenHands has gone back to an earlier event", "go on in OpenHands, or give -o FILE"
        )


def _event(line: bytes) -> dict[str, str]:
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) and isinstance(value.get("id"), str) else {}


def _lead_to(state: Path, name: str) -> None:
    """Make the event `name` the one that the tool goes on from, where it keeps one."""
    raw = state.read_bytes() if state.is_file() else b"{}"
    if LEAF in orjson.loads(raw):
        with files.atomic(state) as file:
            file.write(patched(raw, [(members(raw, whole(raw))[LEAF], quoted(name))]))


def _number(part: Path) -> int:
    name = _NAME.fullmatch(part.name)
    return int(name[1]) if name else -1
