"""Are entries read where they stand, whatever becomes of their file's name, and is the file let go of?"""

import os

import orjson
import pytest

from compactor.core.state import Entry, Failure
from compactor.entries import entry_to
from compactor.stored import Line, Stored


@pytest.fixture
def stored(tmp_path):
    """Three entries in a file, the last without a line end."""
    entries = [Entry(letter * 16, failure=Failure(1.0, "no " * n)) for n, letter in enumerate("abc")]
    lines = [orjson.dumps(entry_to(entry)) for entry in entries]
    path = tmp_path / "x.state"
    path.write_bytes(b"\n".join(lines))
    starts = [sum(len(line) + 1 for line in lines[:n]) for n in range(3)]
    places = {entry.key: Line(start, len(line)) for entry, start, line in zip(entries, starts, lines, strict=True)}
    return path, entries, Stored(os.open(path, os.O_RDONLY), places)


def test_entries_are_read_by_their_key(stored):
    _, entries, held = stored
    assert held == {entry.key: entry for entry in entries}
    assert "b" * 16 in held
    assert "d" * 16 not in held
    assert held.line("c" * 16).endswith(b"}\n")
    with pytest.raises(KeyError):
        held["d" * 16]


def test_they_are_those_of_the_file_that_was_opened(stored):
    path, entries, held = stored
    path.unlink()
    path.write_bytes(b"another")
    assert list(held.values()) == entries


def test_the_file_is_let_go_of_with_the_last_reference(tmp_path):
    (tmp_path / "x").touch()
    handle = os.open(tmp_path / "x", os.O_RDONLY)
    held = Stored(handle)
    os.fstat(handle)
    del held
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(handle)


def test_without_a_file_there_are_none():
    assert dict(Stored()) == {}
