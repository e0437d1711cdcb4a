"""Which events of an OpenHands conversation does its model read now, and as which messages?

Condensations are applied in order, each to what the ones before have left. Of what remains the tool gives its model
only actions that were answered, and the actions of one answer of the model only together; so does this.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from compactor.core.handoff import is_handoff
from compactor.core.messages import Message, Role
from compactor.formats.openhands_events import ACTION, CONDENSATION, RESULTS, SPOKEN, SUMMARY, kind, message
from compactor.formats.records import MISSING
from compactor.formats.values import MalformedError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from compactor.formats.records import Record

ROOT = "__root__"  # the parent of an event that begins a tree of its own
# Events that are no part of the tree, wherever they hang.
LOOSE = frozenset({"ConversationStateUpdateEvent", "ConversationErrorEvent"})


@dataclass(frozen=True, slots=True)
class Turn:
    """A message and the ordinals of the events that it stands for."""

    message: Message
    events: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class View:
    """What the model reads: `shown` are ordinals of events, where that of a condensation stands for its summary.

    `path` are the events that lead to the last one; `faulty` says what is wrong with events that cannot be read.
    """

    path: tuple[int, ...]
    shown: tuple[int, ...]
    turns: tuple[Turn, ...]
    faulty: Mapping[int, MalformedError]


def view(records: Sequence[Record]) -> View:
    """Find what the model reads, in the order in which it does."""
    values = [{} if record.value is MISSING else record.value for record in records]
    path = _path(values)
    shown: list[int] = []
    for n in path:
        if kind(values[n]) == CONDENSATION:
            shown = _condensed(values, shown, n)
        elif kind(values[n]) in SPOKEN:
            shown.append(n)
    read: dict[int, Message] = {}
    faulty: dict[int, MalformedError] = {}
    newest = max((n for n in shown if kind(values[n]) == CONDENSATION), default=-1)
    for n in shown:
        try:
            read[n] = _summary(values[n], n == newest) if kind(values[n]) == CONDENSATION else message(values[n])
        except MalformedError as error:
            faulty[n] = error
    return View(tuple(path), tuple(shown), tuple(_turns(values, path, read)), faulty)


def _path(values: Sequence[Mapping[str, object]]) -> list[int]:
    """Walk from the last event up by `parent_id`; one that names no event, or none, goes up to the event before."""
    events = [n for n, value in enumerate(values) if kind(value)]
    if not any(isinstance(values[n].get("parent_id"), str) for n in events):
        return events
    place = {values[n].get("id"): at for at, n in enumerate(events) if isinstance(values[n].get("id"), str)}
    path: list[int] = []
    at = max((at for at, n in enumerate(events) if kind(values[n]) not in LOOSE), default=-1)
    while at >= 0:
        path.append(events[at])
        parent = values[events[at]].get("parent_id")
        up = -1 if parent == ROOT else place.get(parent, at - 1)
        at = up if up < at else at - 1
    return path[::-1]


def loops(values: Sequence[Mapping[str, object]], path: Sequence[int]) -> list[set[int]]:
    """Group actions and results from one that opens with thinking blocks on: the tool reads all of a group or none."""
    found: list[set[int]] = []
    within = False
    for n in path:
        if kind(values[n]) == ACTION and values[n].get("thinking_blocks"):
            found.append(set())
            within = True
        within = within and kind(values[n]) in RESULTS | {ACTION}
        if within:
            found[-1].add(n)
    return found


def _condensed(values: Sequence[Mapping[str, object]], shown: Sequence[int], at: int) -> list[int]:
    """Apply a condensation. An id that no event has is that of a summary before it: older versions made one up."""
    listed, summary, offset = (values[at].get(k) for k in ("forgotten_event_ids", "summary", "summary_offset"))
    gone = {name for name in listed if isinstance(name, str)} if isinstance(listed, list) else set()
    known = {str(value.get("id")) for value in values}
    known |= {f"{name}-summary" for name in known}
    made_up = not gone <= known
    left = []
    for n in shown:
        earlier = kind(values[n]) == CONDENSATION
        names = {f"{values[n].get('id')}-summary"} if earlier else {values[n].get("id")}
        if not (names & gone or (earlier and made_up)):
            left.append(n)
    if isinstance(summary, str) and summary and type(offset) is int:
        left.insert(max(offset, 0), at)
    return left


def _summary(value: Mapping[str, object], newest: bool) -> Message:  # noqa: FBT001 - of two
    text = str(value["summary"])
    known = is_handoff(Message(Role.USER, text))
    return Message(Role.USER, text if known or not newest else SUMMARY + text)


def _turns(values: Sequence[Mapping[str, object]], path: Sequence[int], read: Mapping[int, Message]) -> list[Turn]:
    """Join the actions of one answer, put their results behind them, and leave out what is not complete."""
    starts: list[int] = []  # first events of turns, in order
    actions: dict[int, list[int]] = {}
    results: dict[int, list[int]] = {}
    waiting: dict[str, int] = {}
    batch = None
    for n, found in read.items():
        if kind(values[n]) == ACTION:
            if batch is None or _answer(values[n]) != _answer(values[batch]):
                batch = n
                starts.append(n)
            actions.setdefault(batch, []).append(n)
            waiting[found.calls[0].id] = batch
        elif found.results:
            owner = waiting.pop(found.results[0].call_id, None)
            if owner is not None:
                results.setdefault(owner, []).append(n)
        else:
            batch = None
            starts.append(n)
    sizes = _sizes(values, path)
    turns: list[Turn] = []
    for n in starts:
        if n not in actions:
            turns.append(Turn(read[n], (n,)))
        elif len(results.get(n, ())) == len(actions[n]) == sizes.get(_answer(values[n]), len(actions[n])):
            turns.append(Turn(_joined([read[m] for m in actions[n]]), tuple(actions[n])))
            turns += [Turn(read[m], (m,)) for m in results[n]]
    return turns


def _answer(value: Mapping[str, object]) -> str:
    """Name the answer of the model that an action was part of; one without a name is alone."""
    found = value.get("llm_response_id")
    return found if isinstance(found, str) and found else f"event {value.get('id')}"


def _sizes(values: Sequence[Mapping[str, object]], path: Sequence[int]) -> dict[str, int]:
    """Count the actions of each answer."""
    sizes: dict[str, int] = {}
    for n in path:
        if kind(values[n]) == ACTION:
            sizes[_answer(values[n])] = sizes.get(_answer(values[n]), 0) + 1
    return sizes


def _joined(parts: Sequence[Message]) -> Message:
    first = parts[0]
    if len(parts) == 1:
        return first
    return replace(
        first,
        text="\n".join(filter(None, (p.text for p in parts))),
        calls=tuple(call for p in parts for call in p.calls),
        reasoning="\n".join(dict.fromkeys(filter(None, (p.reasoning for p in parts)))),
        other="\n".join(filter(None, (p.other for p in parts))),
        image_tokens=sum(p.image_tokens for p in parts),
    )
