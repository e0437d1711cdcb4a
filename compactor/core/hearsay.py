"""Which wishes and plans in a summarizer's reply does nobody state but a tool result?

A web page or a file may say what "the user allows", and a model that obeys writes it down as the user's wish. An item
whose words stand together in a tool result and nowhere with the user is marked as such. A permission is left out:
whoever believes it does what the user has never allowed. The evidence has to be there, so a paraphrase of the user's
words, in any language, stays as it is.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from compactor.core.handoff import is_handoff
from compactor.core.invented import plain_arguments, things
from compactor.core.messages import Role
from compactor.core.revision import Item, items
from compactor.core.sentences import question, sentences
from compactor.core.summary import OBSOLETE, SECTIONS, Summary
from compactor.core.wishes import STEM_CHARS, forbids, subject_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from compactor.core.messages import Message
    from compactor.core.prompt import Request

MARK = "(said by a tool result only)"
JUDGED = ("goal", "constraints", "next_steps")  # and in the context what the user is said to forbid or allow
WIDTH = 320  # characters in which the words of one statement stand together
TOLD = 0.7  # of the words of an item: so many together in a tool result say the same
OWN = 0.5  # of them: so many together in the user's words are the user's own, put otherwise
LEAST_WORDS = 2  # by which a statement is told from others
_HOLDERS = frozenset(("user", "assist", "constr"))  # stems of words that every note may hold
_LEAVE = re.compile(
    r"\b(?:allow(?:s|ed)?|permit(?:s|ted)?|permission|authori[sz]e[sd]?|(?:pre-?)?approve[sd]?|may|can|"
    r"free to|waive[sd]?|lift(?:s|ed)|consent(?:s|ed)?|agree[sd]?|(?:fine|ok(?:ay)?) (?:to|with)|no (?:need|longer)|"
    r"not (?:needed|required|necessary)|unnecessary|without (?:asking|review|approval|confirmation))\b|"
    r"\b(?:erlaub\w+|darf|genehmig\w+|nicht nötig|permit\w+|autori[sz]\w+|puede|permet|peut)\b|"
    r"允许|可以|无需|不必|批准|許可|てもよい|ても良い",
    re.IGNORECASE,
)
_OF_THE_USER = re.compile(r"\bthe user\b|\b(?:be)?nutzer|\busuario\b|\butilisateur|用户|ユーザー", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]{2,}")
_COMMAND = re.compile(r"`([^`\n]*\s[^`\n]*)`|\b((?:curl|wget|sudo|rm|ssh|scp|nc|eval|bash|sh)\s+[^`\n]*[^`\n.\s])")


@dataclass(frozen=True, slots=True)
class Saying:
    """A text in small letters, and where in it the words stand that matter: places by stem."""

    text: str
    places: Mapping[str, Sequence[int]]


@dataclass(frozen=True, slots=True)
class Voices:
    """What the user said, what the assistant said and did, and what nobody but tools said.

    `leave` are sentences of the user that may permit something: all but bans, a yes with the question it answers.
    """

    user: tuple[Saying, ...]
    leave: tuple[Saying, ...]
    assistant: tuple[Saying, ...]
    tools: tuple[Saying, ...]


def without_hearsay(reply: Summary, request: Request) -> tuple[Summary, int, int]:
    """Mark what in `reply` only a tool result says, leave permissions among it out; count both: marked, left out."""
    every = list(items(reply))
    wanted = frozenset[str]().union(*(_stems(item) for item in every if _judged(item)))
    if not wanted:
        return reply, 0, 0
    voices = _voices(request, wanted)
    sections: dict[str, list[str]] = {}
    marked = left_out = 0
    for item in every:
        lines = item.lines
        if _judged(item) and not lines[-1].endswith(MARK):
            if _permits(item) and _only_in_tools(item, voices.leave, voices.tools):
                left_out += 1
                continue
            if _is_hearsay(item, voices):
                marked += 1
                lines = (*lines[:-1], f"{lines[-1]} {MARK}")
        sections.setdefault(item.section, []).extend(lines)
    order = (*(s.key for s in SECTIONS), OBSOLETE)
    return Summary({key: tuple(sections[key]) for key in order if key in sections}), marked, left_out


def _judged(item: Item) -> bool:
    if item.section == "context":
        return bool(_OF_THE_USER.search(item.words)) and (forbids(item.words) or bool(_LEAVE.search(item.words)))
    return item.section in JUDGED


def _permits(item: Item) -> bool:
    return item.section == "constraints" and bool(_LEAVE.search(item.words)) and not forbids(item.words)


def _is_hearsay(item: Item, voices: Voices) -> bool:
    if item.section == "context" and not forbids(item.words):
        return _only_in_tools(item, voices.leave, voices.tools)
    if item.section != "next_steps":
        return _only_in_tools(item, voices.user, voices.tools)
    known = (*voices.user, *voices.assistant)
    return _only_in_tools(item, known, voices.tools) or any(
        not any(named in said.text for said in known) and any(named in said.text for said in voices.tools)
        for named in _copied(item.words)
    )


def _copied(words: str) -> Iterator[str]:
    """Give the addresses and commands that a plan names, in small letters: whoever follows it fetches and runs them."""
    yield from (thing.lower() for thing in things(words) if "://" in thing or re.search(r"\w@", thing))
    yield from ((m[1] or m[2]).strip().lower() for m in _COMMAND.finditer(words))


def _stems(item: Item) -> frozenset[str]:
    return subject_words(item.words) - _HOLDERS


def _only_in_tools(item: Item, own: Iterable[Saying], tools: Iterable[Saying]) -> bool:
    stems = _stems(item)
    if len(stems) < LEAST_WORDS or _told(stems, own) >= OWN * len(stems):
        return False
    return _told(stems, tools) >= TOLD * len(stems)


def _told(stems: frozenset[str], sayings: Iterable[Saying]) -> int:
    """Count how many of `stems` stand together somewhere in one of `sayings`."""
    most = 0
    for said in sayings:
        held = [stem for stem in stems if stem in said.places]
        if len(held) > most:
            most = max(most, _together(sorted((at, stem) for stem in held for at in said.places[stem])))
    return most


def _together(found: Sequence[tuple[int, str]]) -> int:
    """Count the different words in the best stretch of WIDTH characters."""
    inside: Counter[str] = Counter()
    most = first = 0
    for at, stem in found:
        inside[stem] += 1
        while at - found[first][0] > WIDTH:
            inside[found[first][1]] -= 1
            first += 1
        most = max(most, len(+inside))
    return most


def _voices(request: Request, wanted: frozenset[str]) -> Voices:
    every = (*request.head, *request.turns.messages, *request.tail)
    kept = [notes for notes in (request.previous, request.ledger) if notes]
    notes = [line for summary in kept for s in SECTIONS for line in summary[s.key]]
    accepted = [line for line in notes if not line.endswith(MARK)]
    results = [r for m in every for r in m.results]
    user = [m.text for m in every if m.role in (Role.USER, Role.SYSTEM) and not is_handoff(m)]
    user += [r.text for r in results if r.protected]  # what the user answered through a tool
    acting = [m for m in every if m.role is Role.ASSISTANT]
    assistant = [text for m in acting for text in (m.text, *map(plain_arguments, m.calls))]
    tools = [*(r.text for r in results if not r.protected), *(line for line in notes if line.endswith(MARK))]
    heard: dict[str, tuple[tuple[int, str], ...]] = {}
    texts = ((*user, *accepted), _leave(every, user, accepted), assistant, tools)
    return Voices(*(tuple(_saying(text.lower(), wanted, heard) for text in each) for each in texts))


def _saying(text: str, wanted: frozenset[str], heard: dict[str, tuple[tuple[int, str], ...]]) -> Saying:
    """Find the stems `wanted` in `text`, in one pass however many they are; `heard` keeps what a word holds of them."""
    places: dict[str, list[int]] = {}
    for found in _WORD.finditer(text):
        word = found[0]
        if word not in heard:
            heard[word] = tuple(_within(word, wanted))
        for at, stem in heard[word]:
            places.setdefault(stem, []).append(found.start() + at)
    return Saying(text, places)


def _within(word: str, wanted: frozenset[str]) -> Iterator[tuple[int, str]]:
    """Yield the stems that `word` begins with; in scripts without blanks a word is anywhere in a run of characters."""
    for at in range(1 if word.isascii() else len(word)):
        for size in range(2, STEM_CHARS + 1):
            if (stem := word[at : at + size]) in wanted and len(stem) == size:
                yield at, stem


def _leave(every: Iterable[Message], user: Iterable[str], accepted: Iterable[str]) -> Iterator[str]:
    """Give what may permit something: what the user said that is no ban, and what they were asked, with the answer."""
    for text in user:
        yield from (s for s in sentences(text) if not forbids(s))
    yield from (line for line in accepted if not forbids(line))
    asked = ""
    for message in every:
        if message.role is Role.ASSISTANT:
            asked = question(message.text) or asked
        elif message.role is Role.USER and asked and message.text.strip():
            yield f"{asked} {message.text}"
            asked = ""
