"""What a sentence does is told in five languages; whatever is supposed is no outcome."""

import pytest

from compactor.core.speech import Speech, anchored, courteous, hedged, salience, speech


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("We use SQLite because the file travels.", Speech.DECISION),
        ("I decided to keep the old parser.", Speech.DECISION),
        ("Let me use rg instead of grep.", Speech.DECISION),
        ("Ich nehme SQLite, weil die Datei wandert.", Speech.DECISION),
        ("Elegimos SQLite porque es un solo archivo.", Speech.DECISION),
        ("因为文件需要移动，所以采用 SQLite。", Speech.DECISION),
        ("ファイルが動くため、SQLite を採用します。", Speech.DECISION),
        ("All 412 tests pass.", Speech.OUTCOME),
        ("Der Fehler ist behoben.", Speech.OUTCOME),
        ("La reserva fue creada con éxito.", Speech.OUTCOME),
        ("已完成全部修改。", Speech.OUTCOME),
        ("テストが完了しました。", Speech.OUTCOME),
        ("That might have been fixed.", Speech.OTHER),
        ("Was it fixed?", Speech.OTHER),
        ("Next I will write the migration.", Speech.NEXT),
        ("Als nächstes kommt die Migration.", Speech.NEXT),
        ("A continuación escribiré la migración.", Speech.NEXT),
        ("接下来编写迁移脚本。", Speech.NEXT),
        ("次にマイグレーションを書きます。", Speech.NEXT),
        ("Let me look at the parser.", Speech.ANNOUNCEMENT),
        ("Now I'll run the tests:", Speech.ANNOUNCEMENT),
        ("Voy a mirar el parser.", Speech.ANNOUNCEMENT),
        ("让我看看解析器。", Speech.ANNOUNCEMENT),
        ("The parser reads a line at a time.", Speech.OTHER),
    ],
)
def test_what_a_sentence_does(sentence, expected):
    assert speech(sentence) is expected


def test_names_and_figures_make_a_sentence_worth_more_and_doubt_makes_it_worth_less():
    plain, named = "It reads a line.", "`read_line` in core/parse.py reads 4 lines."
    assert salience(named) > salience(plain) > salience("Perhaps it reads a line.")
    assert anchored(named)
    assert not anchored(plain)
    assert hedged("Vielleicht liest es eine Zeile.")


@pytest.mark.parametrize("sentence", ["Let me know how it goes!", "Thank you.", "Gracias.", "谢谢", "ありがとう"])
def test_courtesies(sentence):
    assert courteous(sentence)
    assert not courteous("The parser reads a line.")
