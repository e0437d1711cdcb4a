"""Which standing instructions did the user give, and which did they take back?

Only sentences that the user wrote, quoted as they stand. What is told from a table of words: strong ones make
a rule anywhere, mild ones only in a short message, because pasted documents are full of "should" and "only".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from compactor.core.sentences import COLONS, QUESTION_MARKS, clip, said, sentences
from compactor.core.wish_words import BAN, FORBIDS_ENDING, MILD, NO_WISH, PERMITTED, REPLACES, REVOKED, STRONG

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

RULE_CHARS = 400
SHORT_MESSAGE = 2_000  # characters of a message that people type; longer ones are mostly pasted
RULES_OF_ONE_MESSAGE = 16


@dataclass(frozen=True, slots=True)
class Wish:
    """A sentence of the user that sets a rule or takes one back, and the number of its message.

    `pinned` says that a pattern of the user's named it.
    """

    text: str
    number: int
    pinned: bool = False


def wishes(text: str, number: int, pin: str = "") -> Iterator[Wish]:
    """Yield the rules and revocations in one message of the user; `number` is that of the message, from 1.

    Sentences in which the pattern `pin` is found are among them, whatever they say.
    """
    short = len(said(text)) <= SHORT_MESSAGE
    found = 0
    for sentence in sentences(text):
        pinned = bool(pin and re.search(pin, sentence))
        if pinned or (found < RULES_OF_ONE_MESSAGE and is_wish(sentence, short=short)):
            found += not pinned
            yield Wish(clip(sentence, RULE_CHARS), number, pinned)


def is_wish(sentence: str, *, short: bool) -> bool:
    """Tell whether `sentence` sets or revokes a rule; in a `short` message mild words are enough."""
    if NO_WISH.search(sentence):
        return False
    if sentence.rstrip("*_").endswith(COLONS) and not forbids(sentence):
        return False  # what follows says it
    asks = sentence.endswith(QUESTION_MARKS)
    if STRONG.search(sentence) or revokes(sentence):
        return not asks
    return short and not asks and bool(MILD.search(sentence))


def revokes(sentence: str) -> bool:
    """Tell whether `sentence` takes back a rule without setting one."""
    return bool(REVOKED.search(sentence) or PERMITTED.search(sentence)) and not FORBIDS_ENDING.match(sentence)


def forbids(sentence: str) -> bool:
    """Tell whether `sentence` forbids something."""
    return bool(BAN.search(sentence))


def standing(rules: Iterable[str]) -> tuple[str, ...]:
    """Keep the rules that still hold: in order those that no later sentence among them revokes or replaces.

    A revocation stays, because the rule may also stand in messages that are kept word for word. What cannot
    be matched to its rule leaves both, in order.
    """
    kept: list[str] = []
    for rule in rules:
        if revokes(rule):
            target = _closest(rule, kept, 1, same_deed=not REVOKED.search(rule))
        elif REPLACES.search(rule):
            target = _closest(rule, kept, 2, same_deed=True)
        else:
            target = None
        if target is not None:
            kept.remove(target)
        kept.append(rule)
    return tuple(kept)


def _closest(rule: str, earlier: list[str], shared: int, *, same_deed: bool) -> str | None:
    """Find the latest of the `earlier` rules that shares most words and names, if it shares at least `shared`.

    `same_deed` leaves out bans on another deed: those whose first word, or a name in them, `rule` does not have.
    """
    words, named = subject_words(rule), _names(rule)

    def meant(old: str) -> bool:
        other = _names(old)
        if named and other:
            return not named.isdisjoint(other)
        return not (same_deed and forbids(old)) or not (deed := _deed(old)) or deed in words

    sizes = (len(words & subject_words(e)) + len(named & _names(e)) for e in earlier)
    scored = sorted(((size, n) for n, size in enumerate(sizes)), reverse=True)
    fitting = (earlier[n] for size, n in scored if size >= shared and not revokes(earlier[n]) and meant(earlier[n]))
    return next(fitting, None)


# A rule is compared with every later one, hence the caches.
# What a rule is about, where it is named and not described: code, paths, words with figures in them.
_NAME = re.compile(r"`[^`]+`|[A-Za-z0-9.-]*[_/\d][\w./-]*|[a-z]+[A-Z]\w*")


@lru_cache(maxsize=1_000)
def _names(rule: str) -> frozenset[str]:
    found = (m[0].strip("`.,") for m in _NAME.finditer(rule))
    return frozenset(name for name in found if not name.isdecimal())  # figures alone say how many, or which message


def _deed(rule: str) -> str:
    """Give the first word of a rule that says what it is about, by its stem; "" in scripts without blanks."""
    stems = (_stem(w) for w in re.findall(_SPACED_WORD, rule.lower()) if w not in _COMMON)
    return next((stem for stem in stems if stem not in _COMMON_STEMS), "")


STEM_CHARS = 6  # "commit" and "comment" differ in them
_SPACED_WORD = r"[^\W\d_\u3040-\u30ff\u4e00-\u9fff]{3,}"
_ENDING = re.compile(r"(?<=\w{3})(?:ing|ung|ed|es|en|s|e)$")


def _stem(word: str) -> str:
    return _ENDING.sub("", word)[:STEM_CHARS]


_COMMON = frozenset(
    re.findall(
        r"\w+",
        "about again ahora aber allow allowed also always any anymore applies apply asked before cancel "
        "change constraint could disregard does don drop ever every everything fine first forget from "
        "going have ignore instead instruction just keep lift like limit longer make message must need "
        "needed never nevermind now okay only please remove request requirement restriction rule said "
        "should such sure that their them there these they this those told unless use using want what "
        "when will with without would your you the and for not can may are was our its old immer nicht "
        "niemals das dass dem den der die ein eine einen für mehr mit nur oder und vom von was wenn "
        "vergiss ignoriere streiche regel gilt nie doch jetzt bitte nunca siempre olvida ignora regla "
        "algo con del las los más para por que sin sobre una uno ya no el la ",
    )
)
_COMMON_STEMS = frozenset(_stem(w) for w in _COMMON)
_COMMON_PAIRS = frozenset(
    re.findall(
        r"\w+",
        "不要 必须 规则 要求 以后 现在 今后 从现 在开 开始 使用 禁止 取消 忽略 限制 所有 之前 "
        "忘记 忘掉 这条 那条 必ず 指示 ルー ール",
    )
)


@lru_cache(maxsize=1_000)
def subject_words(rule: str) -> frozenset[str]:
    """Give the words by which a rule is told from others: stems of words, or pairs of CJK characters."""
    words = re.findall(_SPACED_WORD, rule.lower())
    stems = {_stem(w) for w in words if w not in _COMMON}
    runs = re.findall(r"[\u4e00-\u9fff\u30a0-\u30ff]{2,}", rule)
    pairs = {run[i : i + 2] for run in runs for i in range(len(run) - 1)}
    return frozenset((stems - _COMMON_STEMS) | (pairs - _COMMON_PAIRS))
