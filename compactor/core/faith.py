"""Does an acceptable reply really tell of the turns that it was asked about, in their language?

A small model asked for an update gives the earlier notes back, or changes to English on the way. Both are asked for
once more; neither loses anything, because what a reply does not say is kept by code.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from compactor.core.families import prose
from compactor.core.handoff import is_spoken
from compactor.core.messages import Role
from compactor.core.revision import items, revised
from compactor.core.sentences import said

if TYPE_CHECKING:
    from compactor.core.prompt import Request
    from compactor.core.revision import Item
    from compactor.core.summary import Summary

# Letters of one script that decide; below it a text is code, names and figures.
LETTERS = 200
SHARE = 0.6  # of the letters that are one script's, for a text to be in it
_SCRIPTS = {
    "Chinese": re.compile(r"[\u4e00-\u9fff]"),
    "Japanese": re.compile(r"[\u3040-\u30ff]"),
    "Korean": re.compile(r"[\uac00-\ud7af]"),
    "Cyrillic": re.compile(r"[\u0400-\u04ff]"),
    "Arabic": re.compile(r"[\u0600-\u06ff]"),
    "Latin": re.compile(r"[A-Za-z\u00c0-\u024f]"),
}
# A character of these scripts says as much as about three Latin letters.
_WEIGHTS = {"Chinese": 3, "Japanese": 2, "Korean": 2}
# Words that are in every text of a language and in no other of these.
_WORDS = {
    "English": ["the", "and", "was", "with", "that", "this", "from", "have", "is", "are", "for", "not"],
    "German": ["der", "die", "das", "und", "ist", "nicht", "mit", "ein", "eine", "wurde", "auf", "für"],
    "Spanish": ["el", "la", "los", "las", "que", "con", "una", "por", "para", "está", "fue", "del"],
    "French": ["le", "les", "des", "est", "une", "dans", "pour", "avec", "sur", "pas", "du", "été"],
}
FUNCTION_WORDS = 12  # that a text has to have before its language is told by them
TWICE = 2  # as many of them as any other language has


def doubt(reply: Summary, request: Request) -> str:
    """Say what makes `reply` doubtful, as a complaint to the model that wrote it; "" if nothing does."""
    if echoes(reply, request):
        return "it repeats the earlier notes and says nothing of the recorded turns"
    spoken = [m.text for m in request.turns.messages if is_spoken(m) and m.role in (Role.USER, Role.ASSISTANT)]
    meant, found = language(said("\n".join(spoken))), language(" ".join(item.words for item in items(reply)))
    if meant and found and meant != found:
        return f"it is written in {found}, where the conversation is in {meant}"
    return ""


def echoes(reply: Summary, request: Request) -> bool:
    """Tell whether `reply` changes nothing of the earlier notes, although something was said or done since.

    Blanks, signs and letter case aside: models copy them badly. What is obsolete has to be named by its mark.
    """
    if request.previous is None or not any(m.calls or is_spoken(m) for m in request.turns.messages):
        return False
    notes = prose(request.previous)
    before, after = ({(item.section, _bare(item)) for item in items(s)} for s in (notes, revised(notes, reply)))
    known = {_bare(item) for item in items(request.previous)}
    return bool(reply.sections) and before <= after and all(words in known for _, words in after)


def _bare(item: Item) -> str:
    return re.sub(r"[\W_]+", "", item.words).casefold()


def language(text: str) -> str:
    """Name the script that `text` is mostly in, and for Latin the language if its small words tell it; "" if unsure."""
    letters = Counter({name: len(shape.findall(text)) * _WEIGHTS.get(name, 1) for name, shape in _SCRIPTS.items()})
    if letters["Japanese"] * 5 > letters["Chinese"]:  # kana stand between the characters of every Japanese text
        letters["Japanese"] += letters.pop("Chinese")
    name, most = letters.most_common(1)[0]
    if most < LETTERS or most < SHARE * letters.total():
        return ""
    return name if name != "Latin" else _latin(text)


def _latin(text: str) -> str:
    words = Counter(re.findall(r"[a-zà-ɏ]+", text.lower()))
    scores = Counter({name: sum(words[w] for w in small) for name, small in _WORDS.items()})
    (name, most), (_, next_best) = scores.most_common(2)
    return name if most >= FUNCTION_WORDS and most >= TWICE * next_best else ""
