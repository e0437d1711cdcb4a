"""Which items make one message, and in which order do the messages stand?

What the model gave in one answer is one message: thoughts with what they led to, words with the calls after them, and
parallel calls. A result answers the latest call of its id that is open, wherever it stands, and is put right behind it,
because some tools write the user's words or other calls in between. A compaction that only the API can read is where
the conversation begins: of what stands before it the messages of the user and the instructions are still sent and are
never touched, all else counts for nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from compactor.core.handoff import is_handoff
from compactor.core.messages import Message, Role
from compactor.formats.responses_items import Item, Kind, item
from compactor.formats.values import MalformedError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Turn(NamedTuple):
    """One message and the ordinals of the items that it stands for, in the order of what they say."""

    items: tuple[int, ...]
    message: Message


class Reading(NamedTuple):
    """The messages; what is sent before them without being one; and the items that could not be read.

    `lapsed` are the ordinals of items that a compaction before the messages has made void.
    """

    turns: tuple[Turn, ...]
    preamble: str = ""
    lapsed: frozenset[int] = frozenset()
    bad: Mapping[int, MalformedError] = {}


@dataclass(slots=True)
class _Spoken:
    """A message as it is put together: the items that speak, the results behind them."""

    items: list[int]
    results: list[int] = field(default_factory=list)


def reading(values: Sequence[Mapping[str, object] | None], injected: frozenset[int] = frozenset()) -> Reading:
    """Read items, given by ordinal (None: no item), into messages.

    `injected` are the ordinals of messages that a tool wrote in the user's name: instructions, not the user's words.
    """
    found: dict[int, Item] = {}
    bad: dict[int, MalformedError] = {}
    for n, value in enumerate(values):
        if value is None:
            continue
        try:
            found[n] = _as_system(item(value)) if n in injected else item(value)
        except MalformedError as error:
            bad[n] = error
    start = max((n for n, one in found.items() if one.kind is Kind.COMPACTION), default=-1)
    before = {n: one for n, one in found.items() if n <= start}
    sent = {n: one for n, one in before.items() if _is_still_sent(one)}
    live = {n: one for n, one in found.items() if n > start}
    turns = _turns(live)
    sealed = found[start].sealed if start >= 0 else 0
    if turns and sealed:  # there is no message of its own to charge for it
        first = turns[0].message
        turns[0] = turns[0]._replace(message=replace(first, sealed_tokens=first.sealed_tokens + sealed))
    preamble = "\n".join(
        filter(None, (text for one in sent.values() for text in (one.message.text, one.message.other)))
    )
    return Reading(tuple(turns), preamble, frozenset(before) - frozenset(sent) - {start}, bad)


def _as_system(one: Item) -> Item:
    return replace(one, message=replace(one.message, role=Role.SYSTEM))


def _is_still_sent(one: Item) -> bool:
    return one.kind is Kind.WORDS and one.message.role in (Role.USER, Role.SYSTEM)


def _turns(live: Mapping[int, Item]) -> list[Turn]:
    users = [n for n, one in live.items() if one.message.role is Role.USER and not is_handoff(one.message)]
    now = max(users, default=-1)
    turns = []
    for spoken in _spoken(live):
        if spoken.items:
            turns.append(Turn(tuple(spoken.items), _joined([_priced(live[n], n > now) for n in spoken.items])))
        turns += [Turn((n,), live[n].message) for n in spoken.results]
    return turns


def _priced(one: Item, current: bool) -> Message:  # noqa: FBT001 - whether the user has not spoken since
    """Charge for encrypted reasoning until the user speaks again: then the API drops it."""
    charged = current or one.kind is not Kind.THOUGHT
    return replace(one.message, sealed_tokens=one.sealed) if charged and one.sealed else one.message


def _spoken(live: Mapping[int, Item]) -> list[_Spoken]:
    found: list[_Spoken] = []
    waiting: dict[str, list[_Spoken]] = {}  # by id, a message once for each open call in it
    answer: _Spoken | None = None  # the model's answer, as long as nothing has ended it
    last: Item | None = None
    for n, one in live.items():
        if one.kind is Kind.RESULT:
            callers = waiting.get(one.message.results[0].call_id.strip())
            if callers:
                caller = callers.pop(0)
                caller.results.append(n)
                answer = None if caller is answer else answer
            else:  # answers nothing: it ends no answer either, so that all reads the same without it
                found = found or [_Spoken([])]
                found[-1].results.append(n)
            continue
        if answer and last and _goes_on(last, one):
            answer.items.append(n)
        else:
            answer = _Spoken([n])
            found.append(answer)
        if one.kind is Kind.CALL:
            call_id = one.message.calls[0].id.strip()
            waiting[call_id] = [c for c in waiting.get(call_id, []) if c is answer] + [answer]
        last = one
        if one.message.role is not Role.ASSISTANT or is_handoff(one.message):
            answer = None
    return found


def _goes_on(last: Item, one: Item) -> bool:
    """Tell whether `one` belongs to the answer whose latest item is `last`."""
    if is_handoff(one.message) or one.message.role is not Role.ASSISTANT:
        return False
    return last.kind is Kind.THOUGHT or one.kind in (Kind.CALL, Kind.OTHER)


def _joined(messages: Sequence[Message]) -> Message:
    if len(messages) == 1:
        return messages[0]
    return Message(
        Role.ASSISTANT,
        "\n".join(m.text for m in messages if m.text),
        tuple(call for m in messages for call in m.calls),
        reasoning="\n".join(m.reasoning for m in messages if m.reasoning),
        name=next((m.name for m in messages if m.name), ""),
        other="\n".join(m.other for m in messages if m.other),
        image_tokens=sum(m.image_tokens for m in messages),
        sealed_tokens=sum(m.sealed_tokens for m in messages),
    )
