"""By which words do users set a rule, forbid something, take a rule back or put another in its place?

Tables, a row for each language: English, German, Spanish, some French and Portuguese, Chinese, Japanese.
"""

from __future__ import annotations

import re


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


def _near(one: str, other: str, distance: int = 60) -> str:
    """Match both within `distance` characters of one another, in either order."""
    return rf"(?:{one}).{{0,{distance}}}(?:{other})|(?:{other}).{{0,{distance}}}(?:{one})"


# What makes a rule in a message of any length.
STRONG = _any(
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
    r"\bi(?:'d| would)? (?:only want|prefer|rather|insist|don'?t want|do not want|expect)\b|\bno need to\b|"
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
# What makes one in a short message.
MILD = _any(
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
# What makes none whatever else it says.
NO_WISH = _any(
    r"^(?:why|what|how|when|where|who|which|is|are|does|did|was|were|has|have)\b.*\?$",
    r"\bi (?:don'?t|do not|can'?t|cannot) (?:know|think|see|understand|remember|have|care|mind)\b",
    r"^(?:thanks?|thank you|great|ok(?:ay)?|yes|no)[\s,.!]*$",
)


# What takes a rule back. A row for each language: a rule and what ends it, and needs that are over.
REVOKED = _any(
    _near(
        r"\b(?:rules?|instructions?|restrictions?|constraints?|requirements?|preferences?|bans?|limits?)\b|"
        r"\b(?:what|everything|things?) i (?:said|told|asked|wrote)\b|\bmy (?:[a-z]+ )?(?:request|wish)(?:es)?\b",
        r"\b(?:forget|ignore|disregard|withdrawn?|revoked?|retract(?:ed)?|waived?|take back|never ?mind|no need|"
        r"stop (?:following|applying)|not (?:need|apply)|(?:no|any) longer|any ?more|(?:is|are|was|been) (?:now )?(?:"
        r"void|moot|obsolete|lifted|gone|dropped|cancell?ed|retired|over|history|off(?! by)))\b",
    ),
    r"\b(?:drop|scrap|cancel|lift|remove) (?:the|that|my|all|those|these|any) (?:\S+ ){0,3}"
    r"(?:rules?|instructions?|restrictions?|requirements?|preferences?|bans?)\b",
    r"\bno longer (?:appl(?:y|ies)|need(?:ed)?|necessary|required|holds?|valid|binding|in force|in effect|matters?|"
    r"have to|has to)\b|\b(?:don'?t|do not|doesn'?t|does not) (?:need|have|apply|hold|matter)\b.{0,60}"
    r"\bany ?(?:more|longer)\b|\bnot (?:needed|required|necessary) any ?(?:more|longer)\b|"
    r"\bscratch that\b|\bnever ?mind (?:the|about|what|that)|\bi(?:'ve| have)? changed my mind about\b",
    _near(
        r"\b(?:regel|vorgabe|anweisung|einschränkung|verbot|was ich)\b",
        r"\b(?:vergiss|ignorier\w*|streich\w*|aufgehoben|hinfällig|entfällt|vom tisch|außer kraft|zurück|erledigt|"
        r"nicht (?:mehr|länger))\b",
    ),
    r"\b(?:gilt|ist|sind)\b.{0,30}\bnicht (?:mehr|länger)(?= ?(?:nötig|erforderlich|gültig|[.!;,]|$))|"
    r"\b(?:musst|brauchst)\b.{0,60}\bnicht mehr\b|\bhat sich erledigt\b|\bhebe\b.{0,60}\bauf\b",
    _near(
        r"\b(?:regla|instrucción|restricción|prohibición|requisito|lo que (?:dije|pedí))\b",
        r"\b(?:olvid\w+|ignora|cancel\w+|retiro|anul\w+|sin efecto|derogad[oa]|quita|ya no)\b",
    ),
    r"\bya no (?:hace falta|es necesari[oa]|(?:se )?aplica|importa|vale|rige|cuenta|tienes que)\b",
    _near(
        "规则|要求|限制|规定|指示|禁令|(?:之前|我)说(?:过|的)",
        "忘掉|忘记|忽略|取消|撤销|撤回|收回|废除|解除|作废|失效|不算|不用(?:管|再|遵守)|不必|无需|不再",
        20,
    ),
    r"不再(?:需要|适用|要求|有效)|(?:不用|不必|无需|不需要)再",
    _near(
        "ルール|指示|制限|条件|禁止|約束|の件|ことは",
        "忘れて|無視して|取り消|撤回|不要|解除|廃止|無効|なかった|適用(?:しな|しま|され)|守らなく",
        12,
    ),
    r"もう(?:必要|.{0,8}なくて)|気にしなくて",
)
# What permits a deed, which takes a ban on it back.
PERMITTED = _any(
    r"\byou (?:can|may) (?:now|again|.{1,60} again)|\b(?:go ahead and|you can|you may)\b.{0,60}\bafter all\b|"
    r"\b(?:is|are|it'?s) (?:now )?(?:allowed|fine|ok(?:ay)?|open|free)\b(?:.{0,40} )?(?:now|again)\b|"
    r"\byou(?:'re| are) free to\b",
    r"\b(?:darfst|kannst)\b.{0,40}\b(?:jetzt|wieder)\b",
    r"\bya puedes\b|\bpuedes\b.{0,60}\b(?:otra vez|de nuevo)\b",
    r"现在可以|てもよくなり",
)
# What begins so sets a rule, be it about rules ("Never drop a constraint without asking").
FORBIDS_ENDING = _any(
    r"^(?:please )?(?:never(?! ?mind)|do not|don'?t)\b(?!.*\bany ?(?:more|longer)\b)",
    r"^(?:bitte )?nie(?:mals)?\b|^nunca\b",
)
# What says that it takes the place of something.
REPLACES = _any(
    r"\bfrom now on\b|\bgoing forward\b|\binstead\b|\bchange of plans?\b|\bactually\b",
    r"\bab (?:jetzt|sofort)\b|\bkünftig\b|\bstattdessen\b|\bdoch\b",
    r"\ba partir de ahora\b|\bde ahora en adelante\b|\ben su lugar\b",
    r"从现在(?:开始|起)|今后|以后|改为|改成",
    r"(?:今後|これから)は?|代わりに|変更",
)
# Before the verb of an order.
OPENING = r"^(?:(?:please|also|and|but|so|bitte|por favor)[, ]+)*"
# What forbids.
BAN = re.compile(
    OPENING + r"(?:do not|don'?t|avoid|no|leave|stop|kein\w*|no|evita)\b|"
    r"\b(?:must|may|shall|can)(?: not|n'?t)\b|\b(?:never|under no circumstances|off[- ]limits|forbidden|not allowed|"
    r"nie|niemals|darf nicht|auf keinen fall|verboten|nunca|jam[aá]s|prohibido|bajo ning[uú]n concepto)\b|"
    r"不要|不准|不许|不得|禁止|严禁|切勿|请勿|ないで|禁じ|決して|絶対に",
    re.IGNORECASE,
)
