"""Which records of a Claude Code session are on the path that the client would go on from?

A session is a tree: each record names its parent. The client (2.1.197, measured) starts at the last record of the
file that can be a message and walks up, so a path knows only one line of each answer with parallel calls: the other
lines share its `message.id`, and their results hang on them. The newest compaction on the path is where the
conversation begins; one that preserved messages names them, and they then stand right after its anchor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from compactor.formats.links import ancestors
from compactor.formats.records import MISSING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from compactor.formats.records import Record

LINKED = frozenset({"user", "assistant", "system", "attachment", "progress"})


@dataclass(frozen=True, slots=True)
class Node:
    """A record of the tree: its ordinal in the file, what it is, and the links as they are written."""

    ordinal: int
    kind: str
    value: Mapping[str, object]
    uuid: str
    parent: str
    aside: bool

    @property
    def can_lead(self) -> bool:
        """Tell whether the client may start from it: what can be a message, and is no sub-agent's."""
        said = self.kind in {"user", "assistant", "attachment"} or self.value.get("subtype") == "local_command"
        return said and not self.aside

    @property
    def is_boundary(self) -> bool:
        """Tell whether the client marks a compaction with it."""
        return self.kind == "system" and self.value.get("subtype") == "compact_boundary"

    @property
    def answer_id(self) -> str:
        """Name the answer of the model that it is a line of, or ""."""
        message = self.value.get("message")
        return _word(message.get("id")) if self.kind == "assistant" and isinstance(message, dict) else ""

    @property
    def source(self) -> str:
        """Name the line whose call it holds the result of, or ""."""
        return _word(self.value.get("sourceToolAssistantUUID"))


@dataclass(frozen=True, slots=True)
class Tree:
    """The tree of a session: its nodes by ordinal, the ordinal of what each hangs on, and the path, oldest first.

    `up` differs from what is written where a compaction preserved messages, and in a log without any links, which is
    read in the order of the file. `live` is the part of the path from the newest compaction on.
    `named` holds the ordinal of each uuid.
    """

    nodes: Mapping[int, Node]
    up: Mapping[int, int | None]
    path: tuple[int, ...]
    live: tuple[int, ...]
    named: Mapping[str, int]

    def ancestors(self, ordinal: int) -> Iterator[int]:
        """Walk up from what `ordinal` hangs on; a ring of links ends where it closes."""
        return ancestors(self.up, ordinal)

    @property
    def boundary(self) -> int | None:
        """Give the ordinal of the newest compaction on the path."""
        return self.live[0] if self.live and self.nodes[self.live[0]].is_boundary else None

    def hanging_on(self, some: Iterable[int], but_not: Iterable[int] = ()) -> set[int]:
        """Find all nodes that are among `some` or below one of them, with none of `but_not` nearer."""
        known = dict.fromkeys(some, True) | dict.fromkeys(but_not, False)
        for ordinal in self.nodes:
            walked = [ordinal] if ordinal not in known else []
            for at in self.ancestors(ordinal) if walked else ():
                if at in known:
                    break
                walked.append(at)
            over = self.up.get(walked[-1]) if walked else None
            known.update(dict.fromkeys(walked, over is not None and known.get(over, False)))
        return {ordinal for ordinal, hangs in known.items() if hangs}

    def source(self, ordinal: int) -> int | None:
        """Find the line that a result belongs to: the one it names, else the one it hangs on."""
        named = self.named.get(self.nodes[ordinal].source)
        return self.up[ordinal] if named is None else named

    def beside(self) -> tuple[Node, ...]:
        """Find what may belong to messages of the path without being on it: parallel calls and their results."""
        live = set(self.live)
        near = self._near() - live
        answers = {self.nodes[n].answer_id for n in live} - {""}
        lines = {n for n in near if self.nodes[n].answer_id in answers}
        both = live | lines
        users = (n for n in near if self.nodes[n].kind == "user" and self.source(n) in both)
        return tuple(self.nodes[n] for n in sorted((*lines, *users)))

    def _near(self) -> set[int]:
        """Find what hangs on the live path, or on the same missing record as the path's first one."""
        first = self.nodes[self.live[0]] if self.live else None
        near = self.hanging_on(self.live)
        if first and first.parent and self.up[first.ordinal] is None:
            near |= self.hanging_on(n for n, node in self.nodes.items() if node.parent == first.parent)
        return near


def tree(records: Sequence[Record]) -> Tree:
    """Lay out the tree of a session."""
    nodes = {n: node for n, record in enumerate(records) if (node := _node(n, record))}
    if not any(node.can_lead for node in nodes.values()):  # the file of a sub-agent
        nodes = {n: Node(n, o.kind, o.value, o.uuid, o.parent, aside=False) for n, o in nodes.items()}
    named = {node.uuid: n for n, node in nodes.items() if node.uuid}
    up = {n: named.get(node.parent) for n, node in nodes.items()}
    if not any(at is not None for at in up.values()):
        up = _in_file_order(nodes.values())
    leaf = next((n for n in reversed(nodes) if nodes[n].can_lead), None)
    leaf = _preserve(nodes, named, up, leaf)
    return _walked(nodes, named, up, leaf)


def _walked(
    nodes: Mapping[int, Node], named: Mapping[str, int], up: Mapping[int, int | None], leaf: int | None
) -> Tree:
    if leaf is None:
        return Tree(nodes, up, (), (), named)
    path = (leaf, *Tree(nodes, up, (), (), named).ancestors(leaf))[::-1]
    up = {**up, path[0]: None}  # else a ring of links would go on behind its first record
    start = max((place for place, n in enumerate(path) if nodes[n].is_boundary), default=0)
    return Tree(nodes, up, path, path[start:], named)


def _node(ordinal: int, record: Record) -> Node | None:
    value = record.value
    if value is MISSING or not isinstance(kind := value.get("type"), str) or kind not in LINKED:
        return None
    aside = value.get("isSidechain") is True
    return Node(ordinal, kind, value, _word(value.get("uuid")), _word(value.get("parentUuid")), aside)


def _word(value: object) -> str:
    return value if isinstance(value, str) else ""


def _in_file_order(nodes: Iterable[Node]) -> dict[int, int | None]:
    up: dict[int, int | None] = {}
    last = None
    for node in nodes:
        up[node.ordinal] = last
        last = last if node.aside else node.ordinal
    return up


def _preserve(
    nodes: Mapping[int, Node], named: Mapping[str, int], up: dict[int, int | None], leaf: int | None
) -> int | None:
    """Link what the newest compaction preserved to its anchor, and what hung on the anchor to the end of that.

    Nothing changes if a record that it names is missing, as in the client. Gives the leaf, which is the last one
    preserved if nothing came after the compaction.
    """
    boundary = next((node for node in reversed([*nodes.values()]) if node.is_boundary), None)
    anchor, kept = _preserved(boundary, named, up) if boundary else (None, ())
    if anchor is None or not kept or anchor in kept:
        return leaf
    for n, at in up.items():
        if at == anchor and n not in kept:
            up[n] = kept[-1]
    up.update(zip(kept, (anchor, *kept), strict=False))
    return kept[-1] if leaf == anchor else leaf


def _preserved(
    boundary: Node, named: Mapping[str, int], up: Mapping[int, int | None]
) -> tuple[int | None, tuple[int, ...]]:
    meta = boundary.value.get("compactMetadata")
    meta = meta if isinstance(meta, dict) else {}
    listed, segment = meta.get("preservedMessages"), meta.get("preservedSegment")
    if isinstance(listed, dict) and isinstance(uuids := listed.get("uuids"), list):
        found = [named.get(_word(uuid)) for uuid in uuids]
        return named.get(_word(listed.get("anchorUuid"))), tuple(
            n for n in found if n is not None and None not in found
        )
    if isinstance(segment, dict):
        head, tail = (named.get(_word(segment.get(key))) for key in ("headUuid", "tailUuid"))
        return named.get(_word(segment.get("anchorUuid"))), _between(head, tail, up)
    return None, ()


def _between(head: int | None, tail: int | None, up: Mapping[int, int | None]) -> tuple[int, ...]:
    """Walk from `tail` up to `head`; nothing if it is not met."""
    found: list[int] = []
    at = tail
    while at is not None and at not in found:
        found.append(at)
        if at == head:
            return tuple(reversed(found))
        at = up.get(at)
    return ()
