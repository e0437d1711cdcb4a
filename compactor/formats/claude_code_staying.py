"""Which records of a Claude Code session stay in a smaller file, and what do they then hang on?

With a new mark: all that the summary stands for goes, with everything that hangs on it (branches that were given up,
hook and progress lines) and whatever stands before an older mark. What hangs on the tail, and trees of their own
(sub-agents, other branches from the root), stay. Progress lines, which are for the screen, stay only where something
else hangs on them; file snapshots, which the client needs to go back to a message, as long as that message stays. No
link is left that names a record that is gone, since the client ends its walk there and never reaches the summary.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from compactor.formats.records import MISSING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from compactor.formats.claude_code_tree import Tree
    from compactor.formats.records import Record


class Staying(NamedTuple):
    """The ordinals of the records that stay, and the new parents of some: an id, or "" for none.

    `start` is the first record that stands after a mark.
    """

    ordinals: frozenset[int]
    parents: Mapping[int, str]
    start: int


def cut(tree: Tree, kept: set[int]) -> int:
    """Find the place on the path where a new mark cuts it: the first record of a message that stays."""
    return next((place for place, n in enumerate(tree.path) if n in kept), len(tree.path))


def staying(records: Sequence[Record], tree: Tree, messages: set[int], kept: set[int], mark: str) -> Staying:
    """Choose what stays, given the records of all messages and of those that are kept.

    `mark` is the id of the summary that the path then begins with, "" if there is no new one.
    """
    first = cut(tree, kept) if mark else 0
    gone = (messages - kept) | (set(tree.path[:first]) - kept)
    if mark:
        gone |= _before_boundary(tree)
    spine = (kept | set(tree.path[first:])) - gone
    lost = tree.hanging_on(gone, but_not=spine)
    lost |= _idle(tree, set(tree.nodes) - lost)
    parents = _parents(tree, lost, spine, mark)
    ordinals = frozenset(n for n, record in enumerate(records) if n not in lost and not _undone(record, tree, lost))
    return Staying(ordinals, parents, min(spine & ordinals, default=len(records)))


def _before_boundary(tree: Tree) -> set[int]:
    """Find what an older compaction has left behind: everything before its mark that nothing of today hangs on."""
    boundary = tree.boundary
    if boundary is None:
        return set()
    today = tree.hanging_on(tree.live)
    return {n for n, node in tree.nodes.items() if n < boundary and n not in today and not node.aside}


def _idle(tree: Tree, left: set[int]) -> set[int]:
    """Find the progress lines on which nothing but progress lines hangs."""
    busy: set[int] = set()
    for n in left:
        if tree.nodes[n].kind == "progress":
            continue
        for at in tree.ancestors(n):
            if tree.nodes[at].kind != "progress" or at in busy:
                break
            busy.add(at)
    return {n for n in left if tree.nodes[n].kind == "progress"} - busy


def _parents(tree: Tree, lost: set[int], spine: set[int], mark: str) -> dict[int, str]:
    parents = {}
    for n, node in tree.nodes.items():
        if n in lost:
            continue
        torn = tree.named.get(node.parent) in lost
        if not torn and not (mark and n in spine):
            continue
        above = (tree.nodes[at].uuid for at in tree.ancestors(n) if at not in lost)
        wanted = next((uuid for uuid in above if uuid), mark if n in spine else "")
        if wanted != node.parent:
            parents[n] = wanted
    return parents


def _undone(record: Record, tree: Tree, lost: set[int]) -> bool:
    """Tell whether it is the snapshot of files for a message that is gone."""
    if record.value is MISSING or record.value.get("type") != "file-history-snapshot":
        return False
    message = record.value.get("messageId")
    return isinstance(message, str) and tree.named.get(message) in lost
