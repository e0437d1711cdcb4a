"""What is a statement of the user about, so that a later one on the same subject takes its place?

Three signs, each enough: both name the subject in the same words before "is"; the later one says that something has
changed and speaks of the same sort of thing in the same respect; both set the one value that a sort of thing can have
(the time zone of reports). Sorts are a table of words, a row for each; where two earlier statements would fit equally,
neither is taken for it. An order has no value that could change (that there is a new server does not lift the ban on
restarting the old one), so it gives way to a later value of its sort only; a ban to a ban that says the former is over.
Revocations are not told here: see `wishes`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from compactor.core.sentences import LABEL, QUESTION_MARKS
from compactor.core.speech import anchored
from compactor.core.wish_words import OPENING
from compactor.core.wishes import forbids, subject_words

if TYPE_CHECKING:
    from collections.abc import Sequence


def _sort(*words: str) -> re.Pattern[str]:
    return re.compile("|".join(rf"\b(?:{w})\b" if w.isascii() else w for w in words), re.IGNORECASE)


_SORTS = {
    "money": _sort(
        r"budgets?|spend(?:ing)?|costs?|expenses?|price limit|ceiling|cap|ausgaben|kosten|presupuesto|gastos?",
        "预算|费用|花费|予算|費用",
    ),
    "date": _sort(
        r"deadlines?|due|launch(?:es)?|release(?:s|d)?|ships?|go[- ]live|freeze|milestones?|scheduled|target date|"
        r"termin|frist|fecha|plazo|lanzamiento",
        "截止|发布日期|上线|期限|締め切り|締切|リリース",
    ),
    "name": _sort(
        r"code ?names?|designated|(?:is|are) calling|(?:is|now) called|internal (?:label|name)|renamed|"
        r"heißt|llama(?:mos)?|nombre",
        "代号|名称|改名|コードネーム|名前|呼",
    ),
    "branch": _sort(r"branch(?:es)?|rebased|checked out|zweig|rama", "分支|ブランチ"),
    "duty": _sort(
        r"on[- ]call|pager|rota(?:tion)?|duty|escalations?|support owner|bereitschaft|guardia", "值班|当番|オンコール"
    ),
    "secret": _sort(
        r"(?:access|vault|entry|door|gate|lock|safe|security|maintenance|contact|confirmation|pin)[- ]codes?|"
        r"passwords?|passphrases?|safe words?|contraseña|passwort",
        "密码|口令|暗号|パスワード",
    ),
    "host": _sort(r"base urls?|endpoints?|hosts?|servers?|servidor", "服务器|地址|サーバー"),
    "database": _sort(r"databases?|db|datenbank|base de datos", "数据库|データベース"),
    "version": _sort(r"versions?|runtime|release line|versión", "版本|バージョン"),
    "person": _sort(r"approvers?|reviewers?|owners?|leads?|maintainers?|contacts?|responsable", "负责人|審査|担当"),
    "place": _sort(r"regions?|zones?|data ?cent(?:er|re)s?|región", "地区|区域|リージョン"),
}
# Sorts of which a project has one at a time: nothing else tells two statements on them apart.
_SINGLE = frozenset(("name", "branch"))
# Sorts that have one value: a later one holds whether it says so or not. Told by the values themselves.
_VALUES = {
    "time zone": _sort(
        r"UTC|GMT|(?:pacific|central|eastern|mountain|local) time|time ?zones?|zeitzone|huso horario",
        "时区|タイムゾーン",
    ),
    "units": _sort(r"metric|imperial|celsius|fahrenheit", "公制|英制|メートル法"),
    "tone": _sort(
        r"(?:terse|concise|brief|short|playful|warm|verbose|detailed|formal|casual|light|chatty|dry|friendly)"
        r"(?=.{0,40}\b(?:answers?|repl(?:y|ies)|responses?|tone|style)\b)",
        r"(?:answers?|repl(?:y|ies)|responses?|tone|style)(?=.{0,20}\b(?:terse|concise|brief|short|playful|warm|"
        r"verbose|detailed|formal|casual|light|chatty|dry|friendly)\b)",
    ),
}
_CHANGED = _sort(
    r"updates?|moved|changed|changes|switch(?:ed)?|now|from now on|new|no longer|instead|rotated?|rotation|retired|"
    r"rescheduled|postponed|extended|rebased|replaced|renamed|actually|correction|as of (?:today|now)|going forward",
    r"geändert|verschoben|jetzt|ab sofort|neu(?:e[rsnm]?)?|stattdessen|doch",
    r"ahora|cambi(?:ó|a|amos)|a partir de ahora|nuev[oa]s?|en su lugar|actualización",
    "现在|改为|改成|更新|变更|推迟|换成|新的|変更|今後|これから|新しい|更新",
)
# What tells somebody to do something, at the beginning of a sentence.
_ORDER = re.compile(
    OPENING + r"(?:always|only|make sure|be sure|keep|use|run|ask|immer|stets|nur|siempre|solo)\b|务必|必须|必ず",
    re.IGNORECASE,
)
_OVER = re.compile(
    r"\b(?:old|previous|former|alte\w*|bisherige\w*|anterior|viej[oa])\b.{0,40}\b(?:retired|no longer|void|invalid|"
    r"expired|obsolete|replaced|ungültig|gilt nicht|ya no|caducad[oa]|anulad[oa])\b|"
    r"(?:旧|之前的|原来的).{0,20}(?:失效|作废|无效|停用)|(?:古い|以前の|旧).{0,20}(?:無効|失効|使えな|廃止)",
    re.IGNORECASE,
)
_FIRST_SENTENCE = re.compile(r"(?<=[.!?])\s|(?<=[\u3002\uff01])")
_IS = re.compile(r"\b(?:is|are|lautet|ist|es)\b|=|\uff1a|是|は", re.IGNORECASE)
SUBJECT_CHARS = 60  # before "is": longer ones are clauses, not names


def states(sentence: str) -> bool:
    """Tell whether `sentence` says how something is, rather than what to do: it is labelled, or gives a sort a value.

    >>> states("The staging database is MySQL 8."), states("Make the database faster.")
    (True, False)
    """
    if sentence.endswith(QUESTION_MARKS):
        return False
    if LABEL.match(sentence) or _found(_VALUES, sentence):
        return True
    changed = _CHANGED.search(sentence)
    return bool(_found(_SORTS, sentence)) and bool(changed or (_IS.search(sentence) and anchored(sentence)))


def without_superseded(texts: Sequence[str]) -> list[int]:
    """Give the places in `texts`, statements in their order, that no later one takes the place of."""
    kept: list[int] = []
    for n, text in enumerate(texts):
        gone = _taken_over(text, [(k, texts[k]) for k in kept])
        kept = [k for k in kept if k not in gone] + [n]
    return kept


def _taken_over(text: str, earlier: Sequence[tuple[int, str]]) -> set[int]:
    """Find those of `earlier` that `text` takes the place of."""
    subject, values = _subject(text), _found(_VALUES, text)
    if not (forbids(text) and _OVER.search(text)):
        earlier = [(n, old) for n, old in earlier if not forbids(_opening(old))]
    gone = {n for n, old in earlier if values & _found(_VALUES, old)}
    earlier = [(n, old) for n, old in earlier if forbids(_opening(old)) or not _ORDER.search(_opening(old))]
    gone |= {n for n, old in earlier if subject and subject == _subject(old)}
    if _CHANGED.search(text):
        sorts = _found(_SORTS, text)
        for sort in sorted(sorts):
            found = _nearest(text, _speaking_of(sort, sorts, [(n, old) for n, old in earlier if n not in gone]), sort)
            gone |= {found} if found is not None else set()
    return gone


def _opening(text: str) -> str:
    """Give the first sentence of `text`: of a labelled line the others are details."""
    return _FIRST_SENTENCE.split(LABEL.sub("", text.strip('"- ')), maxsplit=1)[0]


def _speaking_of(sort: str, sorts: set[str], earlier: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    """Choose those that speak of `sort`; of nothing else than `sorts` if there are such."""
    found = [(n, old) for n, old in earlier if sort in _found(_SORTS, old)]
    return [(n, old) for n, old in found if _found(_SORTS, old) <= sorts] or found


def _found(sorts: dict[str, re.Pattern[str]], text: str) -> set[str]:
    return {name for name, shape in sorts.items() if shape.search(text)}


def _subject(text: str) -> str:
    """Give what stands before "is", as it is compared, if that names something."""
    before = _IS.split(LABEL.sub("", text.strip('"- ')), maxsplit=1)
    named = len(before) > 1 and len(before[0]) <= SUBJECT_CHARS and _found(_SORTS, before[0])
    return " ".join(before[0].lower().split()) if named else ""


def _nearest(text: str, candidates: Sequence[tuple[int, str]], sort: str) -> int | None:
    """Find the candidate that speaks of its sort in the same respect: most words shared, none but it with so many."""
    words = _respects(text)
    scored = sorted(
        ((len(words & _respects(old)), n) for n, old in candidates if _alike(text, old, sort)), reverse=True
    )
    if not scored:
        return None
    if len(scored) == 1:
        return scored[0][1] if scored[0][0] or sort in _SINGLE else None
    return scored[0][1] if scored[0][0] > scored[1][0] else None


def _alike(text: str, old: str, sort: str) -> bool:
    """Tell whether both may mean one thing of its sort: the staging and the production database are two."""
    here, there = (_respects(_SORTS[sort].sub(" ", _subject(t))) for t in (text, old))
    return not (here and there) or bool(here & there)


def _respects(text: str) -> frozenset[str]:
    """Give the words that tell one thing of a sort from another."""
    return subject_words(_CHANGED.sub(" ", LABEL.sub("", text)))
