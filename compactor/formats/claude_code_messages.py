"""Which messages does the live path of a Claude Code session make, and of which records?

Several records make one message where the client puts them together: the lines of one answer, which carry a block
each; and results that share a record with words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from compactor.core.handoff import KNOWN_PREFIXES
from compactor.core.messages import Message, Role
from compactor.formats.anthropic_blocks import Content, joined
from compactor.formats.claude_code_blocks import content_of, says_nothing
from compactor.formats.values import MalformedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from compactor.core.messages import Call
    from compactor.formats.claude_code_tree import Node, Tree

UNKNOWN_PREFIX = "[CONTEXT SUMMARY]: "  # before a summary that no known compactor has begun in its way


class Turn(NamedTuple):
    """One message and the ordinals of the records that it stands for, in the order of their blocks."""

    records: tuple[int, ...]
    message: Message


def turns(tree: Tree) -> tuple[tuple[Turn, ...], Mapping[int, MalformedError]]:
    """Read the live path into messages, each answer followed by its results; and the records that cannot be read."""
    beside = tree.beside()
    contents: dict[int, Content] = {}
    bad: dict[int, MalformedError] = {}
    for node in (*(tree.nodes[n] for n in tree.live), *beside):
        try:
            content = content_of(node)
        except MalformedError as error:
            bad[node.ordinal] = error
            continue
        if content and not says_nothing(content):
            contents[node.ordinal] = content
    return tuple(_Reader(tree, contents, [node.ordinal for node in beside]).turns()), bad


class _Reader:
    """The records that say something, by what they have in common."""

    def __init__(self, tree: Tree, contents: Mapping[int, Content], beside: Sequence[int]) -> None:
        self.tree, self.contents = tree, contents
        self.live = [n for n in tree.live if n in contents]
        self.lines: dict[str, list[int]] = {}
        self.answers: dict[str, list[int]] = {}
        for n in (*self.live, *(n for n in beside if n in contents)):
            self.lines.setdefault(tree.nodes[n].answer_id, []).append(n)
            for result in contents[n].results:
                self.answers.setdefault(result.call_id, []).append(n)

    def turns(self) -> Iterator[Turn]:
        """Give the messages of the live path in order."""
        taken: set[int] = set()
        for n in self.live:
            if n in taken:
                continue
            node = self.tree.nodes[n]
            found = self._answer(node, taken) if node.kind == "assistant" else [Turn((n,), self._said(node))]
            taken.update(ordinal for turn in found for ordinal in turn.records)
            yield from found

    def _said(self, node: Node) -> Message:
        content = self.contents[node.ordinal]
        message = content.message(Role.TOOL if content.only_results else Role.USER)
        if node.value.get("isCompactSummary") is not True or message.text.lstrip().startswith(KNOWN_PREFIXES):
            return message
        return Message(Role.USER, UNKNOWN_PREFIX + message.text, other=message.other)

    def _answer(self, first: Node, taken: set[int]) -> list[Turn]:
        """Join the lines of an answer, and put the results of its calls right after it."""
        same = self.lines[first.answer_id] if first.answer_id else ()
        lines = sorted({first.ordinal, *(n for n in same if n not in taken)})
        content = joined(self.contents[n] for n in lines)
        found = self._results(content.calls, taken)
        pure = [Turn((n,), self.contents[n].message(Role.TOOL)) for n in found if self.contents[n].only_results]
        mixed = tuple(n for n in found if not self.contents[n].only_results)
        answer = Turn(tuple(lines), content.message(Role.ASSISTANT))
        if not mixed:
            return [answer, *pure]
        # Words among results end the group, so all lines that have both are one message.
        return [answer, *pure, Turn(mixed, joined(self.contents[n] for n in mixed).message(Role.USER))]

    def _results(self, calls: Iterable[Call], taken: set[int]) -> list[int]:
        """Find the record that answers each of `calls`: the first that answers no earlier one."""
        found: set[int] = set()
        for call in calls:
            first = next((n for n in self.answers.get(call.id, ()) if n not in taken), None)
            found |= set() if first is None else {first}
        return sorted(found)
