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


@pytest.mark.parametrize(
    ("rule", "revocation"),
    [
        ("Never push to main.", "Forget the rule about pushing."),
        ("Never push to main.", "You can push again now."),
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
