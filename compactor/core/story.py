"""What was said in the turns between head and tail: requests, rules, reasons, outcomes, plans, open questions?

Yields lines of the families of `families.py`, each a quotation with the number of its message.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from compactor.core.acts import Act, acts
from compactor.core.families import Line, line
from compactor.core.handoff import is_spoken
from compactor.core.messages import Role, groups
from compactor.core.sentences import COLONS, QUESTION_MARKS, TRAILING, clip, flat, question, said, sentences
from compactor.core.speech import Speech, anchored, courteous, speech
from compactor.core.subjects import states
from compactor.core.todos import next_steps
from compactor.core.touches import Touch, touches
from compactor.core.wishes import RULE_CHARS, SHORT_MESSAGE, subject_words, wishes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from compactor.core.messages import Message
    from compactor.core.prompt import Request

TASK_CHARS = 1_200  # the first sentences of a task: what it is, not the material that comes with it
TASK_IN_HEAD_CHARS = 300  # of one that stays word for word before the summary
ASKED_CHARS = 300
LATEST_CHARS = 1_000  # of the last request: the work still goes on
QUOTE_CHARS = 360  # nineteen in twenty sentences of assistants are shorter
REMARK_CHARS = 20  # "Noted.", "I see."
GAP = "…"  # stands for what is left out of a quotation
REPLY_CHARS = 30  # shorter first sentences are courtesies ("Good catch.")


@dataclass(frozen=True, slots=True)
class Story:
    """The turns as they are read: messages with words in them by number, and acts with the files they touched.

    `later` are the acts of the tail, `after` its messages, `before` those of the head; `cleared` are the later acts
    whose results leave as stubs. `pin` is the pattern of sentences that count as rules whatever they say.
    """

    spoken: tuple[tuple[int, Message], ...]
    acts: tuple[Act, ...]
    touched: Mapping[int, tuple[Touch, ...]]
    later: tuple[Act, ...]
    after: tuple[Message, ...]
    before: tuple[Message, ...]
    cleared: tuple[Act, ...] = ()
    pin: str = ""

    def deeds(self) -> Iterator[tuple[Act, tuple[Touch, ...]]]:
        """Yield each act of the turns with the files that it touched."""
        return ((act, self.touched[n]) for n, act in enumerate(self.acts))


def story(request: Request) -> Story:
    """Read the turns of `request`."""
    turns = request.turns
    spoken = tuple((turns.first + n + 1, m) for n, m in enumerate(turns.messages) if is_spoken(m))
    done = acts(turns.messages, turns.groups, turns.first)
    stop = turns.first + len(turns.messages)
    later = acts(request.tail, groups(request.tail), stop)
    left = acts(request.left, groups(request.left), stop) or later
    cleared = tuple(act for act, stays in zip(later, left, strict=True) if act.output != stays.output)
    touched = {n: touches(act) for n, act in enumerate(done)}
    return Story(spoken, done, touched, later, request.tail, request.head, cleared, request.pin)


def quoted(sentence: str, number: int, limit: int = QUOTE_CHARS) -> str:
    """Quote a sentence with the number of its message."""
    return f'"{clip(sentence, limit)}" [{number}]'


def by_user(text: str, number: int, limit: int = ASKED_CHARS) -> str:
    """Quote the user."""
    return f'"{clip(flat(text), limit)}" [{number}]'


def goals(tale: Story) -> Iterator[Line]:
    """Yield the task and every request, save those that stand among the rules sentence by sentence."""
    first = next(((n + 1, m) for n, m in enumerate(tale.before) if _asks(m)), None)
    requests = [(n, m) for n, m in tale.spoken if _asks(m)]
    room = TASK_IN_HEAD_CHARS
    if first is None and requests:
        first, requests, room = requests[0], requests[1:], TASK_CHARS
    if first:
        yield line("task", by_user(said(first[1].text), first[0], room))
    for n, m in requests:
        latest = n == requests[-1][0]
        asked = _beside(m.text, {w.text for w in wishes(m.text, n, tale.pin)} | set(_statements(m.text)))
        if latest or asked:
            limit = LATEST_CHARS if latest else ASKED_CHARS
            yield line("asked", f"Asked: {by_user(asked or said(m.text), n, limit)}")


def _beside(text: str, noted: set[str]) -> str:
    """Give what `text` says beside the sentences that stand among the rules, "…" for those; "" if that is nothing."""
    told = [sentence if sentence not in noted else GAP for sentence in sentences(text)]
    if GAP not in told:
        return said(text)
    while told and told[-1] == GAP:
        told.pop()
    return " ".join(s for n, s in enumerate(told) if s != GAP or told[n - 1 : n] != [GAP])


def _asks(message: Message) -> bool:
    return message.role is Role.USER and is_spoken(message) and bool(re.search(r"\w", said(message.text)))


def rules(tale: Story) -> Iterator[Line]:
    """Yield the user's standing instructions and what revokes them, and what the user states to be so."""
    for number, message in tale.spoken:
        if message.role is Role.USER:
            for wish in wishes(message.text, number, tale.pin):
                told = f'"{wish.text}" [{number}]'
                yield line("pinned", f"Pinned: {told}") if wish.pinned else line("rule", told)
            noted = {wish.text for wish in wishes(message.text, number, tale.pin)}
            for sentence in _statements(message.text):
                if sentence not in noted:
                    yield line("rule", by_user(sentence, number, RULE_CHARS))


def _statements(text: str) -> Iterator[str]:
    """Yield the sentences of a message that people type in which they say how something is."""
    if len(said(text)) <= SHORT_MESSAGE:
        yield from (s for s in sentences(text) if states(s))


_FAMILIES = {Speech.DECISION: "decided", Speech.OUTCOME: "achieved", Speech.NEXT: "next", Speech.OTHER: "finding"}


def assertions(tale: Story) -> Iterator[Line]:
    """Yield what the assistant said, and reasons of the user: decisions, outcomes, next steps, findings."""
    for number, message in tale.spoken:
        if message.role not in (Role.USER, Role.ASSISTANT):
            continue
        by_the_user = message.role is Role.USER
        if by_the_user and not ASKED_CHARS < len(said(message.text)) <= SHORT_MESSAGE:
            continue  # stands under Goal, or is pasted
        noted = {w.text for w in wishes(message.text, number, tale.pin)} if by_the_user else set()
        for sentence in sentences(message.text):
            does = speech(sentence)
            told = quoted(sentence, number)
            if not asserts(sentence) or _says_nothing(sentence) or sentence in noted:
                continue
            if by_the_user and does is not Speech.DECISION:
                continue
            if does is Speech.OTHER and not anchored(sentence):
                if len(sentence) < REMARK_CHARS:
                    continue
                yield line("remark", f"Remark: {told}")
            else:
                yield line(_FAMILIES[does], told)


def asserts(sentence: str) -> bool:
    """Tell whether `sentence` is noted down for itself: it says something, and not only what will be done."""
    return speech(sentence) in _FAMILIES and _stands_alone(sentence)


def _says_nothing(sentence: str) -> bool:
    """Tell whether no word of `sentence` tells what it is about: "Done."."""
    return sentence.isascii() and not subject_words(sentence) and not anchored(sentence)


_HEADING = re.compile(r"(\*\*|__)[^*_]{1,80}\1:?")


def _stands_alone(sentence: str) -> bool:
    if _HEADING.fullmatch(sentence):
        return False
    return not sentence.rstrip(TRAILING).endswith((*QUESTION_MARKS, *COLONS)) and not courteous(sentence)


def replies(tale: Story) -> Iterator[Line]:
    """Yield the first sentence of each reply that calls nothing, and what the user answered through a tool."""
    for number, message in tale.spoken:
        if message.role is Role.ASSISTANT and not message.calls:
            first = next((s for s in sentences(message.text) if len(s) >= REPLY_CHARS), "")
            if first and speech(first) in (Speech.OTHER, Speech.ANNOUNCEMENT) and _stands_alone(first):
                yield line("answered", f"Said: {quoted(first, number)}")
    for act in tale.acts:
        if answered_by_user(act):
            yield line("replied", f"The user answered: {by_user(act.output, act.number)}")


def answered_by_user(act: Act) -> bool:
    """Tell whether the result of `act` is the user's word; the other results that are protected are skills."""
    return act.result is not None and act.result.protected and "skill" not in act.call.name.lower()


def announced(tale: Story) -> Iterator[Line]:
    """Yield what the assistant last said it would do."""
    last = next(((n, m) for n, m in reversed(tale.spoken) if m.role is Role.ASSISTANT), None)
    if last:
        told = [s for s in sentences(last[1].text) if speech(s) is Speech.ANNOUNCEMENT]
        yield from (line("announced", f"Announced: {quoted(s, last[0])}") for s in told[-1:])


def open_questions(tale: Story) -> Iterator[Line]:
    """Yield the user's last question if no reply followed, and the assistant's if the user said nothing after it."""
    for asker, other, whose in ((Role.USER, Role.ASSISTANT, "from"), (Role.ASSISTANT, Role.USER, "to")):
        last = next(((n, m) for n, m in reversed(tale.spoken) if m.role is asker), None)
        if last is None or not (asked := question(last[1].text)):
            continue
        following = [m for n, m in tale.spoken if n > last[0]] + [m for m in tale.after if is_spoken(m)]
        # Words beside a call only announce work: they do not answer the user.
        if not any(m.role is other and not (m.calls and other is Role.ASSISTANT) for m in following):
            yield line("asking", f"Unanswered, {whose} the user: {by_user(asked, last[0])}")


def plans(tale: Story) -> Iterator[Line]:
    """Yield the bullets under the last heading that says what comes next."""
    for number, message in reversed(tale.spoken):
        if message.role is Role.ASSISTANT and (steps := next_steps(message.text)):
            yield from (line("next", quoted(s, number)) for s in steps)
            return
