"""Which standing instructions did the user give, and which did they take back?

Only sentences that the user wrote, quoted as they stand. What is told from a table of words: strong ones make
a rule anywhere, mild ones only in a short message, because pasted documents are full of "should" and "only".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from compactor.core.sentences import QUESTION_MARKS, clip, said, sentences

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

RULE_CHARS = 400
SHORT_MESSAGE = 2_000  # characters of a message that people type; longer ones are mostly pasted
RULES_OF_ONE_MESSAGE = 16


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_STRONG = _any(
    # Labels, in any language
    r"^(?:[A-Z]+ )*(?:RULES?|CONSTRAINTS?|PREFERENCES?|REQUIREMENTS?|POLICY|IMPORTANT|WARNING|REGEL|REGLA)\b"
    r"[^:]{0,20}:",
    # How long it holds, and when
    r"\bfor the rest of (?:this|the|our) (?:session|conversation|chat|day|project)\b|\b(?:throughout|during) this "
    r"(?:session|conversation|chat)\b|"
    r"^(?:when(?:ever)?|if|each time|every time|before|after|once) (?:you|i|we)\b[^?]*,|"
    r"\b(?:every|each|all|any) (?:repl(?:y|ies)|answers?|responses?|messages?|numbers?)\b|\byour (?:repl(?:y|ies)|"
    r"answers|responses|messages)\b|\bin this (?:session|conversation|chat),",
    r"\b(?:für den rest|während dieser sitzung|(?:immer )?wenn du\b[^?]*,|jede antwort|deine antworten)\b|"
    r"\b(?:durante (?:esta|el resto)|por el resto|cuando (?:termines|respondas|cites)|cada respuesta|tus respuestas)\b|"
    r"(?:本次|整个)(?:会话|对话)|每次(?:回复|回答)|(?:你的|所有)回复|(?:この|本)(?:セッション|会話)|(?:返信|回答)(?:は|の)",
    # English
    r"\b(?:never|always|must(?:n't| not)?|from now on|going forward|in (?:the )?future|under no circumstances|"
    r"no matter what|forbidden|not allowed|off[- ]limits|at all times|without (?:asking|my|explicit|checking)|"
    r"ask (?:me )?(?:before|first)|check with me|wait for my|until i (?:say|confirm|approve)|unless i|"
    r"make sure|be sure to|remember to|keep in mind)\b",
    r"(?:^|[,;:\u2014\u2013-] ?|\b(?:please|and|but|so|also|just|then|you) )(?:do not|don'?t|avoid|refrain from|stop|"
    r"only|prefer|stick (?:to|with)|use only|leave .{1,40} (?:alone|as|untouched)|keep)\b"
    r"(?! (?:know|think|see|understand|worry|mind|care|get it))",
    r"\bi(?:'d| would)? (?:prefer|rather|insist|don'?t want|do not want|want you to|expect)\b|\bno need to\b|"
    r"(?:^|[,;:] |\b(?:and|but|please) )no (?:more|new|other|extra|additional|further)\b|\bfrom here on\b|"
    r"\b(?:the )?(?:deadline|budget|limit) (?:is|of|:)|\b(?:rule|requirement|constraint)s?:",
    # German
    r"\b(?:nie(?:mals)?|immer|stets|ausschließlich|auf keinen fall|keinesfalls|unbedingt|ab (?:jetzt|sofort)|künftig|"
    r"in zukunft|darf(?:st)? (?:nicht|kein\w*|nur)|nur noch|bitte (?:nicht|kein\w*|nur|immer)|vermeide|bevorzuge|"
    r"ich (?:möchte|will) (?:nicht|kein\w*|dass)|frag(?:e)? (?:mich )?(?:vorher|zuerst|erst)|achte darauf|denk daran|"
    r"verboten|nicht ohne)\b",
    # Spanish
    r"\b(?:nunca|jamás|siempre|a partir de ahora|de ahora en adelante|en adelante|prohibido|bajo ningún concepto|evita|"
    r"(?:solo|sólo|solamente|únicamente) (?:usa|utiliza|debes|puedes|en)|debes|tienes que|asegúrate|recuerda|prefiero|"
    r"(?:no )?quiero que|no quiero|sin (?:preguntar|mi|consultar)|pregúntame antes|no (?:lo |la |los |las |me |te )?"
    r"\w+(?:es|as|éis|áis))\b",
    # French, Portuguese
    r"\b(?:jamais|toujours|ne \w+ (?:pas|plus|rien)|désormais|dorénavant|uniquement|évite[sz]?|"
    r"sempre|não \w+(?:e|a|es|as)\b|a partir de agora|somente|apenas use|evite|prefiro)\b",
    # Chinese
    r"不要|不准|不许|不得|不可以?(?!能|思议)|禁止|严禁|切勿|请勿|务必|必须|一定要|永远|始终|总是|只(?:能|用|要|需|可以|在)|从现在(?:开始|起)|"
    r"今后|以后(?:都|请|再|要)|优先(?:使用|考虑)|尽量|避免|确保|记住|别(?:动|改|碰|用|删|再|把|去|在|给)|不用|无需|未经",
    # Japanese
    r"ないで(?:ください|下さい|ね|ほしい|くれ)|しないで|禁止|(?:て|で)は(?:いけ|なら|だめ|ダメ)|必ず|常に|絶対に|決して|(?:今後|これから)は|"
    r"のみ(?:使|に|で|を)|だけ(?:を)?(?:使|に|で)|避けて|ようにして|優先して|守って|(?:て|で)ほしい|べき(?:です|だ|では)|厳守",
)
_MILD = _any(
    r"\b(?:minimum|maximum|timeout|below|under (?:\d|one|two|five|ten)|per (?:request|second|minute|user|page|call))\b|"
    r"^no (?:[a-z-]+ ){0,3}[a-z]+s\b|"
    r"\b(?:should(?:n't| not)?|have to|has to|need(?:s)? to|required|mandatory|at most|at least|"
    r"no more than|within \d+|before (?:you|we|i)|unless|i (?:want|like|need)|(?:respond|reply|answer|write) in|"
    r"instead of|rather than|use \w+|(?:you|we) (?:can't|cannot|don't need)|prefer|"
    r"only (?:use|do|change|touch|run|edit|the|in|if|when|after|once|with|on|for)|by (?:monday|tuesday|wednesday|"
    r"thursday|friday|saturday|sunday|tomorrow|tonight|noon|the end of))\b",
    r"\b(?:soll(?:en|test|te|st)?|muss|müssen|verwende|benutze|nutze|lieber|möchte|höchstens|mindestens|"
    r"nur (?:in|mit|wenn|unter|die|den|das)|bitte (?:verwende|benutze|nutze|nimm|lass|halte|schreib|antworte)\w*)\b",
    r"\b(?:debe|hay que|usa|utiliza|responde|máximo|mínimo|solo (?:usa|en|con|si)|"
    r"por favor (?:usa|utiliza|responde))\b",
    r"应该|请(?:用|使用|以|在|保持)|需要|希望|要求|最多|至少|用中文",
    r"べき|まで(?:に|は)|以内|以上|ほうが|語で(?:答え|返答|書い|説明)",
)
_NO_WISH = _any(
    r"^(?:why|what|how|when|where|who|which|is|are|does|did|was|were|has|have)\b.*\?$",
    r"\bi (?:don'?t|do not|can'?t|cannot) (?:know|think|see|understand|remember|have|care|mind)\b",
    r"^(?:thanks?|thank you|great|ok(?:ay)?|yes|no)[\s,.!]*$",
)
_REVOKED = _any(
    r"\b(?:forget|ignore|disregard|drop|scrap|cancel|lift|remove) (?:about )?(?:the|that|my|what i|all|those|these|"
    r"any|previous|earlier)\b.*\b(?:rules?|instructions?|said|told|restrictions?|limits?|constraints?|requests?|"
    r"requirements?|preferences?|asked|about)\b|\b(?:no longer (?:applies|apply|need(?:ed)?|necessary|required|holds?)|"
    r"scratch that|never ?mind (?:the|about|what|that)|"
    r"you (?:can|may) (?:now|again|.{1,60} again)|(?:is|are) (?:now )?(?:allowed|fine|ok(?:ay)?) (?:now|again))\b",
    r"\b(?:vergiss|ignoriere?|streiche?) (?:die|das|den|meine?n?|was)\b|\bgilt nicht mehr\b|"
    r"\bnicht mehr nötig\b|\bdarfst (?:du )?(?:jetzt|wieder)\b",
    r"\b(?:olvida|ignora|olvídate de) (?:la|lo|el|las|los|mi|que)\b|\bya puedes\b|"
    r"\bya no (?:hace falta|es necesari[oa]|aplica|se aplica|importa)\b",
    r"(?:忘(?:掉|记)|忽略|取消|撤销|不用管).{0,20}(?:规则|要求|限制|说过|说的|指示|规定)|不再(?:需要|适用|要求)|现在可以",
    r"(?:ルール|指示|制限|件|条件|ことは?)(?:は|を|も)?.{0,6}(?:忘れて|無視して|取り消|撤回|不要)|もう(?:必要|しなくて)|気にしなくて",
)
_REPLACES = _any(
    r"\bfrom now on\b|\bgoing forward\b|\binstead\b|\bchange of plans?\b|\bactually\b",
    r"\bab (?:jetzt|sofort)\b|\bkünftig\b|\bstattdessen\b|\bdoch\b",
    r"\ba partir de ahora\b|\bde ahora en adelante\b|\ben su lugar\b",
    r"从现在(?:开始|起)|今后|以后|改为|改成",
    r"(?:今後|これから)は?|代わりに|変更",
)
# Before the verb of an order.
OPENING = r"^(?:(?:please|also|and|but|so|bitte|por favor)[, ]+)*"
_BAN = re.compile(
    OPENING + r"(?:do not|don'?t|avoid|no|leave|stop|kein\w*|no|evita)\b|"
    r"\b(?:must|may|shall|can)(?: not|n'?t)\b|\b(?:never|under no circumstances|off[- ]limits|forbidden|not allowed|"
    r"nie|niemals|darf nicht|auf keinen fall|verboten|nunca|jam[aá]s|prohibido|bajo ning[uú]n concepto)\b|"
    r"不要|不准|不许|不得|禁止|严禁|切勿|请勿|ないで|禁じ|決して|絶対に",
    re.IGNORECASE,
)


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
    if _NO_WISH.search(sentence):
        return False
    asks = sentence.endswith(QUESTION_MARKS)
    if _STRONG.search(sentence) or _REVOKED.search(sentence):
        return not asks
    return short and not asks and bool(_MILD.search(sentence))


def revokes(sentence: str) -> bool:
    """Tell whether `sentence` takes back a rule without setting one."""
    return bool(_REVOKED.search(sentence))


def forbids(sentence: str) -> bool:
    """Tell whether `sentence` forbids something."""
    return bool(_BAN.search(sentence))


def standing(rules: Iterable[str]) -> tuple[str, ...]:
    """Keep the rules that still hold: in order those that no later sentence among them revokes or replaces.

    A revocation stays, because the rule may also stand in messages that are kept word for word. What cannot
    be matched to its rule leaves both, in order.
    """
    kept: list[str] = []
    for rule in rules:
        if revokes(rule):
            target = _closest(rule, kept, 1)
        elif _REPLACES.search(rule):
            target = _closest(rule, kept, 2)
        else:
            target = None
        if target is not None:
            kept.remove(target)
        kept.append(rule)
    return tuple(kept)


def _closest(rule: str, earlier: list[str], shared: int) -> str | None:
    """Find the latest of the `earlier` rules that shares most subject words, if it shares at least `shared`.

    What replaces a ban (two are shared) speaks of the same deed: it has the ban's first word, too.
    """
    words = subject_words(rule)
    named = _names(rule)
    scored = [
        (len(words & subject_words(e)), n)
        for n, e in enumerate(earlier)
        if not revokes(e)
        and not (named and (other := _names(e)) and named.isdisjoint(other))
        and (shared == 1 or not forbids(e) or not (deed := _deed(e)) or deed in words)
    ]
    best = max(scored, default=(0, 0))
    return earlier[best[1]] if best[0] >= shared else None


# What a rule is about, where it is named and not described: code, paths, words with figures in them.
_NAME = re.compile(r"`[^`]+`|[A-Za-z0-9.-]*[_/\d][\w./-]*|[a-z]+[A-Z]\w*")


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


def subject_words(rule: str) -> frozenset[str]:
    """Give the words by which a rule is told from others: stems of words, or pairs of CJK characters."""
    words = re.findall(_SPACED_WORD, rule.lower())
    stems = {_stem(w) for w in words if w not in _COMMON}
    runs = re.findall(r"[\u4e00-\u9fff\u30a0-\u30ff]{2,}", rule)
    pairs = {run[i : i + 2] for run in runs for i in range(len(run) - 1)}
    return frozenset((stems - _COMMON_STEMS) | (pairs - _COMMON_PAIRS))
