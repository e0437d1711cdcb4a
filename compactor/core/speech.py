"""What does a sentence do: give a reason, report an outcome, say what comes next, announce work?

Told from tables of words, a row for each language: English, German, Spanish, Chinese, Japanese. Nothing cleverer:
a sentence that is taken for another kind is still quoted as it stands.
"""

from __future__ import annotations

import re
from enum import StrEnum

from compactor.core.sentences import QUESTION_MARKS


class Speech(StrEnum):
    """What a sentence does."""

    DECISION = "decision"
    OUTCOME = "outcome"
    NEXT = "next"
    ANNOUNCEMENT = "announcement"
    OTHER = "other"


_UNSPACED = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")


def _words(*languages: str) -> re.Pattern[str]:
    """Make one pattern of several: in scripts with blanks whole words, in others wherever they stand."""
    parts = [f"(?:{p})" if _UNSPACED.search(p) else rf"\b(?:{p})\b" for p in languages]
    return re.compile("|".join(parts), re.IGNORECASE)


_DECISION = _words(
    r"because|so that|instead of|rather than|decid(?:ed|e|ing)|decision|chose|chosen|picked|settled on|opt(?:ed)? for|"
    r"go(?:ing)? with|stick(?:ing)? with|wins? over|root cause|the reason|for (?:this|that) reason|due to|that's why|"
    r"therefore|hence|to avoid|trade-?offs?|in favou?r of|better to|"
    r"turns out|the (?:issue|problem|bug|culprit) (?:is|was)|caused by|since (?:the|it|we|this)",
    r"weil|damit|statt|anstatt|stattdessen|anstelle|entsch(?:ied(?:en)?|eide)|entscheidung|beschlossen|gewählt|wähle|"
    r"(?<=, )(?:da|denn)|deshalb|deswegen|daher|aus diesem grund|wegen|der grund|die ursache|um zu vermeiden|lieber|"
    r"setz(?:e|en|t) auf|bleib(?:e|en|t) (?:bei|es bei)|vorzug|fiel auf",
    r"porque|pues|para que|en lugar de|en vez de|decid\w+|elegi\w+|elijo|opt(?:é|o|amos)|escog\w+|me quedo con|"
    r"nos quedamos con|por eso|por lo tanto|ya que|puesto que|dado que|la razón|la causa|debido a|para evitar",
    r"因为|因此|所以|由于|鉴于|考虑到|决定|选择|选用|选定|敲定|而不是|采用|改用|沿用|原因|为了避免|问题在于",
    r"ため[、に]|なので|ので、|から、|理由|決め|決定|代わりに|選び|選ん|採用|ことにし|方針|原因|避けるため",
)
_OUTCOME = _words(
    r"done|complet(?:ed|e)|fixed|added|created|implemented|updated|removed|renamed|refactored|committed|pushed|"
    r"merged|sent|booked|cancel+ed|refunded|reserved|scheduled|pass(?:es|ed|ing)?|succeed(?:ed|s)|successful(?:ly)?|"
    r"verified|works|working|resolved|deployed|published|installed|applied|written|clean|confirmed|found|fails?|"
    r"failed|failing|broken",
    r"erledigt|fertig|abgeschlossen|behoben|hinzugefügt|erfolgreich|erstellt|geändert|gelöscht|gesendet|gebucht|"
    r"bestanden|wurden?|fehlgeschlagen",
    r"listo|hecho|completad[oa]s?|corregid[oa]s?|añadid[oa]s?|agregad[oa]s?|cread[oa]s?|con éxito|exitosamente|"
    r"reservad[oa]s?|enviad[oa]s?|actualizad[oa]s?|cancelad[oa]s?|eliminad[oa]s?|falló|pasan",
    r"已经?|完成|成功|通过|修复了|失败|添加了|更新了",
    r"しました|完了|成功|済み|失敗|できました",
)
_NEXT = _words(
    r"next,? (?:i|we|step)(?:'ll|'d|s| will| need| should| plan)?|(?:i|we) (?:still|then) (?:need|have|will)|"
    r"remaining (?:work|steps?|tasks?)|still (?:to do|open|missing|needs?)|to-?dos?:|follow-?ups?:|what's left|"
    r"later (?:i|we)(?:'ll| will)",
    r"als nächstes|nächste[rn]? schritte?|danach werde|noch offen|es fehlt noch|steht noch aus",
    r"a continuación|próximos? pasos?|queda pendiente|falta(?:n)? por|después (?:voy|vamos)",
    r"接下来|下一步|还需要|剩下|待办|之后(?:再|会)",
    r"次に|次は|残り(?:は|の)|今後(?:は|の)|これから",
)
_ANNOUNCEMENT = re.compile(
    r"^(?:(?:ok(?:ay)?|good|great|perfect|now|next|first|then|so|also|finally|alright|wait)\b[,.! —-]*)*"
    r"(?:let me|let's|i'll|i will|i'm going to|i need to|i should|now(?: i| let|,| \w+)|we need to)\b|"
    r"^(?:jetzt|nun|lass mich|ich werde|zuerst|voy a|vamos a|ahora|primero|déjame)\b|"
    r"^(?:现在|让我|我来|我将|我会|首先|それでは|まず|では)",
    re.IGNORECASE,
)


_HEDGED = _words(
    r"might|may|could|would|should|if|whether|maybe|perhaps|probably|likely|unless|i think|let me|seems?|wait|"
    r"hopefully",
    r"vielleicht|könnte|wahrscheinlich|falls|wenn|sollte|würde|ich glaube",
    r"quizás?|tal vez|podría|debería|probablemente|si|creo que|parece",
    r"可能|也许|如果|应该|大概|我觉得",
    r"かもしれ|でしょう|たぶん|もし|と思",
)


def hedged(sentence: str) -> bool:
    """Tell whether `sentence` supposes rather than says."""
    return bool(_HEDGED.search(sentence))


_COURTESY = _words(
    r"let me know|feel free|you're welcome|thank you|thanks|no worries|no problem|happy to help|how (?:can|may) i|"
    r"i apologi[sz]e|sorry for|is there anything|please (?:confirm|provide)|would you like|good (?:catch|point|idea)",
    r"gerne|danke|bitte (?:bestätigen|lassen)|kann ich sonst",
    r"gracias|de nada|con gusto|por favor (?:confirme|indique)|lo siento|hay algo más",
    r"谢谢|不客气|请告诉我|请问|还有什么",
    r"ありがとう|お知らせください|ご確認ください|申し訳",
)


def courteous(sentence: str) -> bool:
    """Tell whether `sentence` is politeness: thanks, offers, requests to go on."""
    return bool(_COURTESY.search(sentence)) and not anchored(sentence)


_ANCHOR = re.compile(r"`[^`]{2,}`|\d|\w/\w|\w\.\w{2,4}\b|\b[A-Z]{2,}\b|[a-z][A-Z]|\w_\w")
_TYPICAL_CHARS = 240


def salience(sentence: str) -> int:
    """Say how much `sentence` is worth to a reader who has not seen the turns: names and figures, said firmly."""
    anchors = len(_ANCHOR.findall(sentence[:_TYPICAL_CHARS]))
    return min(anchors, 4) - 3 * hedged(sentence) - (len(sentence) > _TYPICAL_CHARS)


def anchored(sentence: str) -> bool:
    """Tell whether `sentence` names something: code, a path, a figure, an abbreviation."""
    return bool(_ANCHOR.search(sentence))


def speech(sentence: str) -> Speech:
    """Name what `sentence` does; an announcement of work is none of the others, whatever its words."""
    if _NEXT.search(sentence):
        return Speech.NEXT
    if _ANNOUNCEMENT.match(sentence):
        return Speech.DECISION if _DECISION.search(sentence) else Speech.ANNOUNCEMENT
    if _DECISION.search(sentence):
        return Speech.DECISION
    if _OUTCOME.search(sentence) and not hedged(sentence) and not sentence.endswith(QUESTION_MARKS):
        return Speech.OUTCOME
    return Speech.OTHER
