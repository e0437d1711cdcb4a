"""How do users and assistants say things, in five languages? Every other phrase is for tuning, the rest for reporting.

A rule is a prohibition, a habit, a preference, an approval that is wanted, a form of output or a deadline; `{}` is the
name of what it is about. A revocation takes back the rule about `{}`.
"""

from __future__ import annotations

from dataclasses import dataclass

NAMES = ("ledger", "beacon", "orchard", "turbine", "harbour", "lantern", "quarry", "saddle", "meadow", "chimney")


@dataclass(frozen=True)
class Language:
    """What is said in one language."""

    rules: tuple[str, ...]
    decisions: tuple[str, ...]
    revocations: tuple[str, ...]
    asks: tuple[str, ...]
    done: str
    fillers: tuple[str, ...]


LANGUAGES = {
    "English": Language(
        rules=(
            "Please never rename anything in the {} package without checking with me.",
            "Don't you dare touch the {} table while I'm away.",
            "Always run the {} suite before you say that you are done.",
            "Every time you change {}, update its changelog entry as well.",
            "I prefer tabs over spaces in the {} files.",
            "I'd rather have small functions in {} than clever ones.",
            "Ask me first before you delete anything below {}.",
            "Nothing goes out to {} until I have signed it off.",
            "Answers about {} should have at most three sentences.",
            "When you report on {}, use a table and no prose.",
            "The work on {} has to be finished by Thursday noon.",
            "We have until the 14th of March for {}, not a day longer.",
        ),
        decisions=(
            "I chose {} over the old store because it survives a restart.",
            "We'll go with {} here, since the alternative cannot stream.",
            "I decided to keep {} as it is because three callers depend on its order.",
            "Instead of a queue I use {}, as the load is low.",
            "{} wins over the plugin because it needs no daemon.",
            "Going forward the cache lives in {}, because the disk is slow.",
        ),
        revocations=(
            "Forget the rule about {}, it no longer applies.",
            "What I said about {} is off the table now.",
        ),
        asks=("Look at {} next.", "Now do {}, please."),
        done="The work on {} is finished, {} tests pass.",
        fillers=(
            "Function part_{} reads {} records and hands them to the next stage.",
            "The second loop in part_{} visits {} nodes and sorts them by age.",
            "Module part_{} keeps a list of {} names and looks each one up.",
        ),
    ),
    "German": Language(
        rules=(
            "Bitte ändere an der Datei {} niemals etwas, ohne mich vorher zu fragen.",
            "Finger weg von {}, solange ich im Urlaub bin.",
            "Führe immer zuerst die Tests von {} aus, bevor du fertig meldest.",
            "Zu jeder Änderung an {} gehört ein Eintrag im Änderungsprotokoll.",
            "Mir sind kurze Namen in {} lieber als lange.",
            "Ich möchte in {} keine externen Bibliotheken sehen.",
            "Vor dem Löschen von {} brauche ich eine Rückfrage.",
            "Ohne meine Freigabe darf {} nicht veröffentlicht werden.",
            "Antworte zu {} nur in Stichpunkten.",
            "Berichte über {} gehören in eine Tabelle, ohne Fließtext.",
            "Die Arbeit an {} muss bis Freitagmittag abgeschlossen sein.",
            "Für {} haben wir nur bis zum 14. März Zeit.",
        ),
        decisions=(
            "Ich habe mich für {} entschieden, weil es einen Neustart übersteht.",
            "Wir nehmen {}, da die Alternative nicht streamen kann.",
            "Statt einer Warteschlange verwende ich {}, weil die Last gering ist.",
            "{} bleibt, wie es ist, denn drei Aufrufer hängen davon ab.",
            "Die Wahl fiel auf {}, weil kein Dienst dafür laufen muss.",
            "Künftig liegt der Zwischenspeicher in {}, weil die Platte langsam ist.",
        ),
        revocations=(
            "Vergiss die Regel zu {}, sie gilt nicht mehr.",
            "Was ich über {} gesagt habe, ist hinfällig.",
        ),
        asks=("Sieh dir als Nächstes {} an.", "Jetzt bitte {}."),
        done="Die Arbeit an {} ist abgeschlossen, {} Tests laufen durch.",
        fillers=(
            "Die Funktion teil_{} liest {} Datensätze und reicht sie weiter.",
            "Die zweite Schleife in teil_{} besucht {} Knoten und sortiert sie nach Alter.",
            "Das Modul teil_{} hält eine Liste mit {} Namen und schlägt jeden nach.",
        ),
    ),
    "Spanish": Language(
        rules=(
            "A partir de ahora no toques nunca la carpeta {} sin avisarme.",
            "Que nadie modifique {} mientras estoy fuera.",
            "Ejecuta siempre las pruebas de {} antes de dar algo por terminado.",
            "Cada cambio en {} lleva su entrada en el registro de cambios.",
            "Prefiero nombres cortos en {}.",
            "En {} me gustan más las funciones pequeñas que las ingeniosas.",
            "Pregúntame antes de borrar cualquier cosa de {}.",
            "No publiques {} hasta que yo lo apruebe.",
            "Responde sobre {} en tres frases como máximo.",
            "Los informes sobre {} van en una tabla, sin prosa.",
            "El trabajo en {} debe estar terminado el jueves al mediodía.",
            "Para {} tenemos plazo hasta el 14 de marzo.",
        ),
        decisions=(
            "Elegí {} porque sobrevive a un reinicio.",
            "Usaremos {}, ya que la alternativa no admite flujo continuo.",
            "En lugar de una cola uso {}, porque la carga es baja.",
            "Decidí dejar {} como está porque tres módulos dependen de su orden.",
            "Nos quedamos con {} porque no necesita un servicio aparte.",
            "He optado por {} debido a que el disco es lento.",
        ),
        revocations=(
            "Olvida la regla sobre {}, ya no vale.",
            "Lo que dije de {} queda sin efecto.",
        ),
        asks=("Mira ahora {}.", "Ahora haz {}, por favor."),
        done="El trabajo en {} está terminado, {} pruebas pasan.",
        fillers=(
            "La función parte_{} lee {} registros y los entrega a la etapa siguiente.",
            "El segundo bucle de parte_{} recorre {} nodos y los ordena por edad.",
            "El módulo parte_{} guarda una lista de {} nombres y busca cada uno.",
        ),
    ),
    "Chinese": Language(
        rules=(
            "从现在开始，没有我的同意不要修改 {} 模块。",
            "我不在的时候，谁也别动 {} 表。",
            "每次完成之前都必须先运行 {} 的测试。",
            "凡是改动 {}，都要同时更新变更日志。",
            "我更喜欢在 {} 里用短名字。",
            "{} 里最好不要引入外部依赖。",
            "删除 {} 下面的任何东西之前请先问我。",
            "在我批准之前，{} 不能发布。",
            "关于 {} 的回答最多三句话。",
            "汇报 {} 时请用表格，不要写长段文字。",
            "{} 的工作必须在周四中午之前完成。",
            "{} 的截止日期是三月十四日。",
        ),
        decisions=(
            "因为重启后数据仍在，所以选择了 {}。",
            "这里采用 {}，因为另一个方案不支持流式处理。",
            "由于负载不高，我决定用 {} 而不用队列。",
            "{} 保持不变，因为有三个调用方依赖它的顺序。",
            "最终选用 {}，因为它不需要常驻进程。",
            "考虑到磁盘太慢，缓存改放在 {} 里。",
        ),
        revocations=(
            "关于 {} 的规则作废，不用再遵守了。",
            "之前说的 {} 那条取消。",
        ),
        asks=("接下来看一下 {}。", "现在处理 {}。"),
        done="{} 的工作已完成，{} 个测试通过。",
        fillers=(
            "函数 part_{} 读取 {} 条记录并交给下一步。",
            "part_{} 中的第二个循环访问 {} 个节点并按时间排序。",
            "模块 part_{} 保存了 {} 个名字的列表并逐个查找。",
        ),
    ),
    "Japanese": Language(
        rules=(
            "今後は確認なしに {} モジュールを変更しないでください。",
            "私が留守の間は {} テーブルに触らないこと。",
            "完了と言う前に必ず {} のテストを実行してください。",
            "{} を変更したら、毎回変更履歴も更新すること。",
            "{} では短い名前のほうが好みです。",
            "{} には外部ライブラリを入れないでほしいです。",
            "{} の下を削除する前に、まず私に聞いてください。",
            "私が承認するまで {} を公開してはいけません。",
            "{} についての回答は三文以内にしてください。",
            "{} の報告は表だけで、文章は書かないでください。",
            "{} の作業は木曜の正午までに終えなければなりません。",
            "{} の締め切りは三月十四日です。",
        ),
        decisions=(
            "再起動しても残るため、{} を選びました。",
            "もう一方はストリーミングできないので、{} を使います。",
            "負荷が低いので、キューではなく {} に決めました。",
            "三つの呼び出し元が順序に依存しているため、{} はそのままにします。",
            "常駐プロセスが不要なので、{} を採用しました。",
            "ディスクが遅いため、キャッシュは {} に置くことにしました。",
        ),
        revocations=(
            "{} についてのルールはもう忘れてください。",
            "{} の件で言ったことは取り消します。",
        ),
        asks=("次は {} を見てください。", "では {} をお願いします。"),
        done="{} の作業は完了し、{} 件のテストが通りました。",
        fillers=(
            "関数 part_{} は {} 件のレコードを読み、次の段階に渡します。",
            "part_{} の二つ目のループは {} 個のノードを訪れ、古い順に並べます。",
            "モジュール part_{} は {} 個の名前を持ち、一つずつ調べます。",
        ),
    ),
}
