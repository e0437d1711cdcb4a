"""Which entries of a pi session stay in a smaller file, and what do they then hang on?

With a new mark all goes that its summary stands for: messages (also those that pi does not send, such as answers that
were broken off), summaries of branches, and earlier compactions, which the new one takes in. Of what pi looks up on
its way to the root the newest stays: thinking level, model, name of the session. What extensions note for themselves
and what is of an unknown kind stays all; a label as long as its entry does; an entry that could not be read, always.
Other branches stay. One that hung on what is gone hangs on what is left above it, without the results that it began
with, as their calls are gone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from compactor.formats.links import nearest
from compactor.formats.pi_tree import COMPACTION

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from compactor.formats.pi_tree import Tree

SUMMED_UP = frozenset({"message", "custom_message", "branch_summary", COMPACTION})
NEWEST = frozenset({"thinking_level_change", "model_change", "session_info"})


class Staying(NamedTuple):
    """The ordinals of the entries that go, and the new parents of some that stay: an ordinal, or None for none."""

    lost: frozenset[int]
    parents: Mapping[int, int | None]


def staying(tree: Tree, unsaid: Iterable[int], faulty: Collection[int], start: int | None) -> Staying:
    """Choose what goes: `unsaid`, messages that are not kept, and with a new mark what stands before `start`.

    `start` is the first entry that a new mark keeps, None if there is no new one.
    """
    lost = set(unsaid)
    if start is not None:
        place = tree.path.index(start)
        lost |= _summed_up(tree, tree.path[:place])
        lost |= {n for n in tree.path[place:] if tree.entries[n].kind == COMPACTION}
    lost -= set(faulty)
    path = set(tree.path)
    for n, entry in tree.entries.items():
        torn = n not in path and entry.is_result and tree.up[n] in lost
        target = entry.value.get("targetId") if entry.kind == "label" else None
        if torn or (isinstance(target, str) and tree.named.get(target) in lost):
            lost.add(n)
    torn_off = (n for n in tree.entries if n not in lost and tree.up[n] in lost)
    return Staying(frozenset(lost), {n: nearest(tree.up, n, lost) for n in torn_off})


def _summed_up(tree: Tree, before: Iterable[int]) -> set[int]:
    gone: set[int] = set()
    newest: dict[str, int] = {}
    for n in before:
        kind = tree.entries[n].kind
        if kind in SUMMED_UP:
            gone.add(n)
        elif kind in NEWEST:
            gone |= {newest[kind]} if kind in newest else set()
            newest[kind] = n
    return gone
