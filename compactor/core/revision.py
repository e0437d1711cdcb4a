"""How does a summarizer's reply change the notes that it was given?

Every item of the notes has an id, a few hex digits of its own words, which stays while the words do. An item of the
reply that names an id, or says nearly the same, takes the place of the earlier one; an item under Obsolete takes one
out; what the reply does not mention stays. So a reply of nothing but changes and a reply of the whole notes mean the
same, and nothing is lost because a model forgot it.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from compactor.core.summary import OBSOLETE, SECTIONS, Summary
from compactor.core.wishes import revokes, standing, subject_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from compactor.core.families import Line

# Two items are one if they are this alike (0 to 100, order of words aside) and name the same things.
ALIKE = 88
# A rule of the user, or a finished item, that another line repeats with words around it.
REPEATED = 90
COVERED = 0.9  # of the words of a plan: those that tell what it is about
WITH_WORDS = 1.4  # times as long as a line of the ledger, at most: longer ones say more, shorter ones in brief
_UNFINISHED = ("in_progress", "blocked", "next_steps")
_BULLET = re.compile(r"^(?:[-*+•]|\d{1,3}[.)])(?:\s+|$)")
_LABEL = re.compile(r"^\*\*[^*\n]{1,30}\*\*:?\s+")  # "**Task:** ..."
_NAMED = re.compile(r"^((?:[-*+•]|\d{1,3}[.)])\s+)?[(\[]?#([0-9a-f]{4,16})[)\]]?[:.]?\s*(.*)$")


@dataclass(frozen=True, slots=True)
class Item:
    """One entry under a heading: its first line, and the indented ones that belong to it."""

    section: str
    lines: tuple[str, ...]

    @property
    def words(self) -> str:
        """Give what it says, without its bullet."""
        return " ".join(_BULLET.sub("", line.strip()) for line in self.lines)

    @property
    def title(self) -> str:
        """Give what it is about, without bullet and label: its first line, if the others are labelled details of it."""
        first, *details = (_BULLET.sub("", line.strip()) for line in self.lines)
        return _LABEL.sub("", first if all(map(_LABEL.match, details)) else self.words)

    @property
    def digest(self) -> str:
        """Name it by its section and words: 16 hex digits."""
        told = f"{self.section}\n{self.words.casefold()}"
        return hashlib.blake2b(told.encode("utf-8", "replace"), digest_size=8).hexdigest()


def items(summary: Summary) -> Iterator[Item]:
    """Yield the entries of a summary in order; an indented line belongs to the entry before it."""
    for key in (*(s.key for s in SECTIONS), OBSOLETE):
        entry: list[str] = []
        for line in summary[key]:
            if entry and not line.startswith((" ", "\t")):
                yield Item(key, tuple(entry))
                entry = []
            entry.append(line)
        if entry:
            yield Item(key, tuple(entry))


def identified(summary: Summary) -> dict[str, Item]:
    """Give each entry by its id: the first four digits of its digest, or more where those are taken."""
    found: dict[str, Item] = {}
    for item in items(summary):
        names = (item.digest[:length] for length in range(4, len(item.digest) + 1))
        name = next((n for n in names if n not in found or found[n].digest == item.digest), item.digest)
        found.setdefault(name, item)
    return found


def numbered(summary: Summary) -> Summary:
    """Write the id of each entry before its words, as a model is shown them."""
    sections: dict[str, list[str]] = {}
    for ident, item in identified(summary).items():
        mark = _BULLET.match(item.lines[0])
        bullet = mark[0] if mark else "- "
        first = f"{bullet}(#{ident}) {item.lines[0][len(mark[0]) if mark else 0 :]}"
        sections.setdefault(item.section, []).extend((first, *item.lines[1:]))
    return Summary({key: tuple(lines) for key, lines in sections.items()})


def revised(before: Summary, reply: Summary) -> Summary:
    """Apply `reply` to the notes `before`; an empty one changes nothing."""
    held = identified(before)
    by_words = {old.digest: ident for ident, old in held.items()}
    answers = [_unnamed(item) for item in items(reply)]
    named = {ident or by_words.get(item.digest, "") for item, ident in answers}
    for item, ident in answers:
        if item.section == OBSOLETE:
            if item.words:  # only with a reason
                held.pop(ident, None)
            continue
        known = next((i for i in (ident, by_words.get(item.digest)) if i in held), "") or _alike(item, held, named)
        held = _with(held, item, known)
    return _written(held.values())


def _with(held: dict[str, Item], item: Item, ident: str) -> dict[str, Item]:
    """Put `item` in the place of the one that `ident` names, at the end if that stood under another heading."""
    if not item.words:  # an id and nothing else: the item as it is, perhaps under another heading
        if not ident:
            return held
        item = Item(item.section, held[ident].lines)
    if ident and held[ident].section == item.section:
        return {**held, ident: item}
    return {**{i: old for i, old in held.items() if i != ident}, item.digest: item}


def difference(before: Summary, after: Summary) -> Summary:
    """Write down what makes `after` of the notes `before`: its items, and those that are no more as obsolete."""
    held, now = identified(before), {item.digest for item in items(after)}
    gone = tuple(f"- (#{ident}) no longer holds" for ident, old in held.items() if old.digest not in now)
    return Summary({**after.sections, **({OBSOLETE: gone} if gone else {})})


def _unnamed(item: Item) -> tuple[Item, str]:
    """Take the id out of an entry's first line."""
    found = _NAMED.match(item.lines[0])
    if found is None:
        return item, ""
    return Item(item.section, ((found[1] or "- ") + found[3], *item.lines[1:])), found[2]


_NAMES = re.compile(r"`[^`]+`|[\w./:-]*\d[\w./:%-]*|[\w.-]+(?:/[\w.-]+)+|\w[\w-]*\.[A-Za-z]\w{0,4}\b")


def _names(words: str) -> frozenset[str]:
    return frozenset(m[0].strip("`.,:") for m in _NAMES.finditer(words))


def _alike(new: Item, held: Mapping[str, Item], named: set[str]) -> str:
    """Find the earlier item that `new` says again in about the same words, and no other item of the reply names."""
    from rapidfuzz.fuzz import token_sort_ratio  # noqa: PLC0415 - start-up time
    from rapidfuzz.utils import default_process  # noqa: PLC0415

    for ident, old in held.items():
        near = old.section == new.section or old.section in _UNFINISHED
        if not near or ident in named or _names(old.words) != _names(new.words):
            continue
        if token_sort_ratio(old.words, new.words, processor=default_process) >= ALIKE:
            return ident
    return ""


def settled(
    words: Summary, ledger: Sequence[Line], before: Sequence[Line] = (), wished: Sequence[Line] = ()
) -> Summary:
    """Leave out of the prose what the ledger says as well or knows better.

    That is what says the same as a line in the same section (of the ledger as it was `before`, too: what it dropped
    no longer holds), a rule that one of the new ones, `wished`, takes back, and unfinished items that are done: those
    whose title is ticked off on the todo list, and plans that a finished item tells of in all that they name.
    """
    from rapidfuzz.fuzz import partial_ratio  # noqa: PLC0415 - start-up time

    known: dict[str, list[str]] = {}
    for entry in (*before, *wished, *ledger):
        known.setdefault(entry.family.section, []).append(entry.key.strip('"'))
    ticked = [entry.key for entry in ledger if entry.family.name == "ticked"]
    done = [*ticked, *(item.words for item in items(words) if item.section == "done")]
    rules = [item.words for item in items(words) if item.section == "constraints"]
    held = set(standing([*rules, *(wish.key for wish in wished if revokes(wish.key))]))

    def stays(item: Item) -> bool:
        told, bare = known.get(item.section, []), _LABEL.sub("", item.words)
        if item.section != "constraints":
            told = [key for key in told if 1 / WITH_WORDS <= (len(bare) + 1) / (len(key) + 1) <= WITH_WORDS]
        elif item.words not in held:
            return False
        if any(partial_ratio(key, bare) >= REPEATED for key in told):
            return False
        if item.section == "files" and _lists_only(item.words, known.get("files", ())):
            return False
        if item.section in _UNFINISHED and any(_is(text, item.title) for text in ticked):
            return False
        planned = item.section in ("in_progress", "next_steps")
        return not (planned and any(_finishes(text, bare) for text in done))

    return _written(item for item in items(words) if stays(item))


_JOINED = re.compile(r"[\W_]|\b(?:and|und|y)\b")


def _lists_only(words: str, paths: Sequence[str]) -> bool:
    """Tell whether an item names files that are among `paths`, be it by their endings, and says nothing of them."""
    bare = re.sub(r"[*`]", "", words)
    names = {name.lstrip("./") for name in _names(bare)}
    if not names or _JOINED.sub("", _NAMES.sub("", bare)):
        return False
    return all(any(f"/{path}".endswith(f"/{name}") for path in paths) for name in names)


def _is(done: str, title: str) -> bool:
    """Tell whether a title is that of an entry of the todo list."""
    from rapidfuzz.fuzz import token_sort_ratio  # noqa: PLC0415 - start-up time
    from rapidfuzz.utils import default_process  # noqa: PLC0415

    return _names(title) <= _names(done) and token_sort_ratio(done, title, processor=default_process) >= REPEATED


def _finishes(done: str, plan: str) -> bool:
    """Tell whether what is `done` is all that was planned: nearly every word of the plan, and all that it names."""
    words = subject_words(plan)
    if not words or len(words & subject_words(done)) < COVERED * len(words):
        return False
    return all(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", done, re.IGNORECASE) for name in _names(plan))


def _written(found: Iterable[Item]) -> Summary:
    sections: dict[str, list[str]] = {}
    for item in found:
        sections.setdefault(item.section, []).extend(item.lines)
    return Summary({key: tuple(dict.fromkeys(lines)) for key, lines in sections.items()})
