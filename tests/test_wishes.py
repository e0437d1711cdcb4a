"""What counts as a standing instruction, in which language, and what takes it back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactor.core.sentences import flat
from compactor.core.wishes import RULE_CHARS, RULES_OF_ONE_MESSAGE, SHORT_MESSAGE, is_wish, revokes, standing, wishes

RULES = {
    "en": [
        "Never push to main.",
        "Do NOT push",
        "Please don't touch the migrations folder.",
        "Always run the linter before you commit.",
        "You must not delete any file.",
        "Keep the responses short.",
        "I prefer pnpm over npm.",
        "Ask me before deploying.",
        "Only change files under src/.",
        "The deadline is Friday 17:00.",
        "From now on use Python 3.12.",
        "No new dependencies without my approval.",
        "Make sure tests pass before each commit.",
    ],
    "zh": [
        "不要修改数据库结构。",
        "所有回复必须使用中文。",
        "请勿推送到主分支。",
        "从现在开始用 pnpm。",
        "别动 config 目录。",
    ],
    "de": [
        "Bitte niemals direkt auf main pushen.",
        "Ab jetzt nur noch TypeScript verwenden.",
        "Frag mich vorher, bevor du etwas löschst.",
        "Antworte immer auf Deutsch.",
    ],
    "ja": [
        "本番データベースには絶対に触らないでください。",
        "必ずテストを実行してからコミットしてください。",
        "コメントは日本語で書くようにしてください。",
    ],
    "es": [
        "Nunca hagas push a main.",
        "Siempre ejecuta los tests antes de subir cambios.",
        "No toques la carpeta de migraciones.",
    ],
    "fr": ["N'utilise jamais sudo.", "Toujours répondre en français."],
}
PLAIN = [
    "I don't know why it fails.",
    "What should we do?",
    "Should I always use tabs?",
    "Thanks!",
    "The build is broken on CI.",
    "Can you fix the login bug?",
    "Fix the tests.",
    "Add a button to the page.",
    "数据库连接失败了。",
    "ログインできません。",
    "Der Build ist kaputt.",
    "El build está roto.",
    "Der Build geht nicht.",
    "Bitte repariere den Parser.",
    "Por favor arregla el parser.",
    "The tests don't pass.",
    "请修复解析器。",
    "パーサーを直してください。",
    "Every task must strictly follow this format:",
]


@pytest.mark.parametrize("rule", [r for rules in RULES.values() for r in rules])
def test_rules_count_in_messages_of_any_length(rule):
    assert is_wish(rule, short=False)
    assert [w.text for w in wishes(rule + "\n" + "data " * SHORT_MESSAGE, 5)][:1] == [rule]


@pytest.mark.parametrize(
    "sentence",
    [
        "Use tabs instead of spaces.",
        "Answer in German.",
        "Responde en español.",
        "请用中文。",
        "Bitte verwende Tabs.",
        "日本語で答えてください。",
    ],
)
def test_mild_words_count_in_short_messages_only(sentence):
    assert is_wish(sentence, short=True)
    assert not is_wish(sentence, short=False)


@pytest.mark.parametrize("sentence", PLAIN)
def test_requests_questions_and_reports_are_no_rules(sentence):
    assert not is_wish(sentence, short=True)


def test_code_and_quotations_are_not_the_users_words():
    assert not list(
        wishes("Look:\n```\n# never push\n```\n> Always ask.\n<system-reminder>Never stop.</system-reminder>", 1)
    )


def test_a_pasted_document_cannot_flood_the_list():
    found = list(wishes("\n".join(f"You must never do thing number {n}." for n in range(200)), 3))
    assert len(found) == RULES_OF_ONE_MESSAGE
    assert {w.number for w in found} == {3}


@given(st.lists(st.sampled_from([r for rules in RULES.values() for r in rules] + PLAIN), max_size=8))
def test_a_wish_is_a_sentence_of_the_message(parts):
    text = "\n".join(parts)
    assert all(w.text in flat(text) for w in wishes(text, 1))


def test_a_long_rule_is_cut_with_a_mark():
    (wish,) = wishes("Never " + "push that branch " * 100, 1)
    assert wish.text.endswith("…")
    assert len(wish.text) <= RULE_CHARS


REVOCATIONS = [
    "What I said about quarry_7 no longer holds.",
    "You may rename things in quarry_7 again.",
    "You can now touch quarry_7.",
    "The rule for quarry_7 is off.",
    "Never mind the rule for quarry_7.",
    "I take back what I said about quarry_7.",
    "The quarry_7 thing doesn't matter any more.",
    "We don't need the rule about quarry_7 any more.",
    "Drop the quarry_7 rule.",
    "The restriction on quarry_7 is lifted.",
    "It is fine to touch quarry_7 again.",
    "It's okay to change quarry_7 now.",
    "Go ahead and change quarry_7 after all.",
    "The instruction concerning quarry_7 has been withdrawn.",
    "You need not keep to the rule about quarry_7 any longer.",
    "My request about quarry_7 is withdrawn.",
    "I changed my mind about quarry_7: do as you like.",
    "You are free to edit quarry_7 from now on.",
    "You don't have to ask me about quarry_7 anymore.",
    "Ignore my earlier instruction on quarry_7.",
    "Please disregard the rule on quarry_7.",
    "What I asked for with quarry_7 is not needed any more.",
    "That is no longer necessary for quarry_7.",
    "There is no need to keep to the quarry_7 rule any more.",
    "quarry_7 is open again.",
    "The limit on quarry_7 is history.",
    "Stop applying the quarry_7 rule.",
    "Was ich zu quarry_7 gesagt habe, gilt nicht mehr.",
    "Die Regel zu quarry_7 ist aufgehoben.",
    "Die Vorgabe für quarry_7 entfällt.",
    "Vergiss die Regel zu quarry_7.",
    "Ich nehme die Regel zu quarry_7 zurück.",
    "Die Sache mit quarry_7 hat sich erledigt.",
    "quarry_7 darfst du jetzt wieder ändern.",
    "Du kannst quarry_7 wieder ändern.",
    "Du musst mich bei quarry_7 nicht mehr fragen.",
    "Das Verbot für quarry_7 ist hinfällig.",
    "Ignoriere meine Anweisung zu quarry_7.",
    "Die Regel für quarry_7 ist nicht mehr nötig.",
    "Die Regel zu quarry_7 kannst du streichen.",
    "Für quarry_7 gilt das ab jetzt nicht mehr.",
    "Lo que dije sobre quarry_7 ya no vale.",
    "La regla de quarry_7 queda anulada.",
    "Olvida la regla sobre quarry_7.",
    "Ya no hace falta seguir la regla de quarry_7.",
    "Ya puedes tocar quarry_7.",
    "Retiro lo que dije de quarry_7.",
    "Puedes cambiar quarry_7 otra vez.",
    "La restricción de quarry_7 ya no se aplica.",
    "Ignora mi instrucción sobre quarry_7.",
    "Ya no tienes que preguntarme por quarry_7.",
    "Deja sin efecto la regla de quarry_7.",
    "Cancela la regla de quarry_7.",
    "La regla sobre quarry_7 ya no rige.",
    "关于 quarry_7 的规则作废。",
    "取消 quarry_7 的规则。",
    "quarry_7 的限制已经解除。",
    "忘掉 quarry_7 那条规则。",
    "quarry_7 那条规则不再适用。",
    "我之前关于 quarry_7 的要求不算数了。",
    "现在可以修改 quarry_7 了。",
    "不用再管 quarry_7 的规则了。",
    "我收回关于 quarry_7 的要求。",
    "之前说的 quarry_7 不用遵守了。",
    "quarry_7 的规定可以忽略了。",
    "不必再问我 quarry_7 的事。",
    "quarry_7 のルールはもう必要ありません。",
    "quarry_7 についての指示は忘れてください。",
    "quarry_7 の制限は解除します。",
    "quarry_7 のルールは取り消します。",
    "quarry_7 の件は無効です。",
    "quarry_7 についてはもう聞かなくていいです。",
    "quarry_7 のルールは適用しません。",
    "quarry_7 を変更してもよくなりました。",
    "quarry_7 についての約束はなかったことにしてください。",
    "quarry_7 のルールは今後守らなくて構いません。",
    "quarry_7 の条件は撤回します。",
]


@pytest.mark.parametrize("revocation", REVOCATIONS)
def test_there_are_many_ways_to_take_a_rule_back(revocation):
    assert is_wish(revocation, short=True)
    assert standing(["Never rename a thing in quarry_7.", revocation]) == (revocation,)


@pytest.mark.parametrize(
    "sentence",
    [
        "Never drop a constraint without asking.",
        "Remove the rate limit check in api.py.",
        "Drop the constraints on the users table.",
        "The rule engine is off by one.",
        "Cancel the old request in the client code.",
        "Forget about the docs for now.",
        "Lift the state up into the parent.",
        "Don't do that any more.",
        "もう一度テストを実行してください。",
        "不用管这个警告，先修 bug。",
    ],
)
def test_work_on_rules_and_limits_takes_none_back(sentence):
    assert not revokes(sentence)


@pytest.mark.parametrize(
    ("rule", "revocation"),
    [
        ("Never push to main.", "Forget the rule about pushing."),
        ("Never push to main.", "You can push again now."),
        ("Never touch m5.", "Forget the rule about m5."),
        ("Do not touch the config folder.", "Ignore what I said about the config folder."),
        ("Stay compatible with Python 3.10, never use match.", "Forget the Python 3.10 rule."),
        ("不要推送到主分支。", "忘掉关于推送的规则。"),
        ("Antworte immer auf Deutsch.", "Vergiss die Regel mit Deutsch."),
        ("Nunca hagas push a main.", "Olvida la regla del push."),
        ("mainブランチにプッシュしないでください。", "プッシュのルールは忘れてください。"),
    ],
)
def test_a_revocation_retires_its_rule_and_stays(rule, revocation):
    other = "Keep the changelog in English."
    assert revokes(revocation)
    assert standing([other, rule, revocation]) == (other, revocation)


@pytest.mark.parametrize(
    ("rule", "later"),
    [
        ("Always answer in German.", "Forget the rule about pushing."),
        ("Never commit secrets.", "From now on run the tests before you commit."),
    ],
)
def test_what_cannot_be_matched_leaves_both(rule, later):
    assert standing([rule, later]) == (rule, later)


@pytest.mark.parametrize(
    ("ban", "later"),
    [
        ("Never delete a file.", "You can now find the file under src."),
        ("Never restart the production server.", "From now on use the new production server for demos."),
        ("Niemals den Server neu starten.", "Du kannst die Ausgabe jetzt ansehen."),
    ],
)
def test_a_ban_is_not_lifted_by_leave_for_another_deed(ban, later):
    assert standing([ban, later]) == (ban, later)


def test_a_replacement_retires_what_it_replaces():
    old, new = "Use npm to install the web packages.", "From now on install the web packages with pnpm."
    assert standing([old, new]) == (new,)


def test_a_rule_given_again_after_its_revocation_holds():
    again = "Never push to main, please."
    assert standing(["Never push to main.", "Forget the rule about pushing.", again])[-1] == again


@given(
    st.lists(
        st.sampled_from(["Never push.", "Forget the rule about pushing.", "Always ask.", "忘掉规则。"]), unique=True
    )
)
def test_standing_is_stable(rules):
    assert standing(standing(rules)) == standing(rules)
