"""What did earlier runs leave beside a transcript, and how is it read, added to and rewritten without loss?

`NAME.state` holds one JSON object a line and conversation; the last one of a key wins. A run appends as results
arrive, so that a crash loses nothing, and rewrites the file compactly at its end.
"""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files as package_files
from typing import TYPE_CHECKING, Self

import orjson

from compactor.core.handoff import is_handoff
from compactor.core.messages import Role, digest
from compactor.core.state import key_of, locate
from compactor.core.summary import SECTIONS
from compactor.entries import VERSION, entry_from, entry_to
from compactor.errors import OutputError, StateError
from compactor.files import atomic
from compactor.stored import Line, Stored
from compactor.temporaries import swept

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from compactor.core.messages import Message
    from compactor.core.state import Entry, Generation


@dataclass(slots=True)
class Sidecar:
    """The sidecar of one file while it is worked on; `path` None keeps nothing.

    `loaded` are the entries as earlier runs left them, `added` those of this run: what a conversation may go on from
    must not depend on which other one was done first. `like` is the file whose permissions a new sidecar
    gets. `torn` says that the last line was cut off by a crash and has been left out; `of_one`, that the file holds one
    conversation and no more.
    """

    path: Path | None
    like: Path | None = None
    loaded: Stored = field(default_factory=Stored)
    added: Stored = field(default_factory=Stored)
    torn: bool = False
    of_one: bool = False
    _afresh: bool = False
    _seen: dict[str, int] = field(default_factory=dict)
    _alike: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    _by_handoff: dict[bytes, str] = field(default_factory=dict)

    @classmethod
    def open(cls, path: Path | None, like: Path | None = None) -> Self:
        """Read the sidecar at `path`, or start an empty one. Raises StateError if it is broken or too new."""
        sidecar = cls(path, like)
        if path is None or (handle := _handle(path)) is None:
            return sidecar
        sidecar.loaded.handle = handle
        with open(handle, "rb", closefd=False) as file:
            start = 0
            for number, line in enumerate(file, 1):
                if line.strip():
                    sidecar._load(Line(start, len(line)), line, f"{path}:{number}")
                start += len(line)
        return sidecar

    def _load(self, place: Line, line: bytes, where: str) -> None:
        try:
            entry = _entry(line, where)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            self.torn = isinstance(error, orjson.JSONDecodeError) and not line.endswith(b"\n")
            if not self.torn:
                raise StateError(f"{where}: {_complaint(line, error)}", _NEXT) from None
            return
        self.loaded.places[entry.key] = place
        base, _, twin = entry.key.partition("-")
        for generation in entry.generations if twin else ():
            self._alike.setdefault((base, generation.covered.first), []).append(entry.key)

    @classmethod
    def afresh(cls, path: Path | None, like: Path | None = None) -> Self:
        """Start an empty one, whatever is at `path`: nothing of earlier runs is gone on from or kept."""
        return cls(path, like, _afresh=True)

    def key(self, messages: Sequence[Message]) -> str:
        """Name a conversation of this file; equal openings are told apart by their order ("...-2")."""
        base = key_of(messages)
        self._seen[base] = self._seen.get(base, 0) + 1
        return base if self._seen[base] == 1 else f"{base}-{self._seen[base]}"

    def candidates(self, key: str, messages: Sequence[Message]) -> tuple[Entry, ...]:
        """Entries that may belong to a conversation: its own, those of equal opening, those whose handoff it has.

        Of equal openings there may be as many as there are rows, so that those are left out which cover nothing of it.
        Where the file holds one conversation, what it covers counts, even if the opening has been edited.
        """
        base = key.partition("-")[0]
        firsts = [(base, digest(m)) for m in messages] if self._alike else []
        keys = [key, base, *(k for first in firsts for k in self._alike.get(first, ()))]
        found = {k: self.loaded[k] for k in keys if k in self.loaded}
        known = {g.handoff for entry in found.values() for g in entry.generations}
        for text in (m.text for m in messages if is_handoff(m) and m.text not in known):
            if (k := self._handoffs().get(_short(text))) is not None:
                found.setdefault(k, self.loaded[k])
        if self.of_one and not found:
            return tuple(entry for _, entry in self.loaded.items() if not locate(messages, [entry]).lost)
        return tuple(found.values())

    def _handoffs(self) -> Mapping[bytes, str]:
        if not self._by_handoff:
            self._by_handoff = {_short(g.handoff): k for k, e in self.loaded.items() for g in e.generations}
        return self._by_handoff

    def prepare(self) -> None:
        """Make sure that entries can be written, before anything is paid for. Raises OutputError."""
        if self.path is not None and self.added.handle < 0:
            self.added.handle = self._opened(self.path)

    def put(self, entry: Entry) -> None:
        """Keep `entry`, on disk at once."""
        self.prepare()
        if self.path is None:
            return
        line = orjson.dumps(entry_to(entry), option=orjson.OPT_APPEND_NEWLINE)
        try:
            self.added.places[entry.key] = _append(self.added.handle, line)
        except OSError as error:
            what = f"{self.path}: cannot be written ({error.strerror})"
            raise OutputError(what, "free some space or name another --state") from error

    def _opened(self, path: Path) -> int:
        mode = self.like.stat().st_mode & 0o777 if self.like else 0o600
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, mode)
        except OSError as error:
            raise OutputError(
                f"{path}: cannot be written ({error.strerror})", "choose a place with --state or --state-dir"
            ) from error
        size = os.fstat(handle).st_size
        if self.torn:  # a crash cut the last line: in the middle of the file nobody could read it again
            os.ftruncate(handle, path.read_bytes().rfind(b"\n") + 1)
        elif size and os.pread(handle, 1, size - 1) != b"\n":
            os.write(handle, b"\n")
        return handle

    def close(self) -> None:
        """Rewrite the file with one line a conversation, if this run changed it; remove it if none is left.

        Where there is one conversation, no other entry is kept: its opening, and so its key, goes with a compaction in
        place that leaves no head.
        """
        if self.path is None:
            return
        changed = self.added or self._afresh
        earlier = () if self.of_one and self.added else self.loaded
        entries = {**dict.fromkeys(earlier, self.loaded), **dict.fromkeys(self.added, self.added)}
        if changed and entries:
            try:
                with atomic(self.path, like=self.like) as out:
                    out.writelines(stored.line(key) for key, stored in entries.items())
            except OutputError:
                if self._afresh:
                    raise  # else what was added stands in it already, and the last line of a key holds
            return
        swept(self.path)
        if self.path.is_file() and (changed or self.path.stat().st_size == 0):
            self.path.unlink()


def _append(handle: int, line: bytes) -> Line:
    start = os.fstat(handle).st_size
    if os.write(handle, line) < len(line):  # a full disk takes what still fits, without a word
        os.ftruncate(handle, start)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    os.fsync(handle)
    return Line(start, len(line))


_NEXT = "mend or remove the sidecar, or start afresh with --rebuild"


def _handle(path: Path) -> int | None:
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StateError(f"{path}: cannot be read ({error.strerror})", "name another sidecar with --state") from error


def _short(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def _entry(line: bytes, where: str) -> Entry:
    value = orjson.loads(line)
    if not isinstance(value, Mapping):
        raise TypeError("not an object")
    version = value["version"]
    if isinstance(version, int) and version > VERSION:
        raise StateError(f"{where}: it has version {version}, this program knows {VERSION}", "update compactor")
    entry = entry_from(value)
    # What is read back otherwise than it was written is not of the schema; that costs less than asking the schema.
    if entry_to(entry) != value or not all(map(_possible, entry.generations)):
        raise ValueError("it is not what compactor writes")
    return entry


def _possible(generation: Generation) -> bool:
    covered = generation.covered
    counts = generation.number > 0 and covered.count > 0 and covered.tokens >= 0
    spoken = generation.role in (Role.USER, Role.ASSISTANT)
    told = {*generation.notes.summary.sections, *(generation.ledger.sections if generation.ledger else ())}
    return counts and spoken and told <= {s.key for s in SECTIONS}


def _complaint(line: bytes, error: Exception) -> str:
    """Say what is wrong with a line, by the published schema if it is JSON at all."""
    import jsonschema

    try:
        value = orjson.loads(line)
    except ValueError:
        return "not JSON"
    schema = orjson.loads(package_files("compactor").joinpath("schemas/state.json").read_bytes())
    found = next(iter(jsonschema.Draft202012Validator(schema).iter_errors(value)), None)
    return f"{found.json_path}: {found.message[:200]}" if found else str(error)
