"""Does what is said about a run say what happened, in figures that add up?"""

import io
import json
from dataclasses import replace

import jsonschema
import pytest

from compactor.console import Console, Talk, as_json, table
from compactor.core.report import Outcome, Report
from compactor.errors import InputError
from tests.running import ROOT

SCHEMA = json.loads((ROOT / "compactor" / "schemas" / "report.json").read_bytes())

UNTOUCHED = Report("a.jsonl", Outcome.UNTOUCHED, "below the trigger", messages=9)
SUMMARISED = Report(
    "b.jsonl:2", Outcome.SUMMARISED, "at the trigger", messages=41, before=2_400, effective=2_400, pruned=2_400,
    head=100, middle=1_500, tail=800, after_least=1_200, after_most=1_200, calls=1, prompt_tokens=1_900,
    completion_tokens=250, generation=1, summarizer="openai:m",
)  # fmt: skip
REUSED = Report("c.jsonl", Outcome.REUSED, before=2_600, after_least=1_400, after_most=1_400, generation=3)
PRUNED = Report("d.jsonl", Outcome.PRUNED, before=9_000, pruned=1_000, after_least=1_000, after_most=1_000)
FAILED = Report("e.jsonl", Outcome.FAILED, "HTTP 500", before=2_400, pruned=2_400, after_least=2_400, after_most=2_400)
ONLY_PRUNED = Report("f.jsonl", Outcome.FAILED, "HTTP 500", before=2_400, pruned=2_000, after_most=2_000)
CUT = Report("g.jsonl", Outcome.FAILED, "HTTP 500", before=2_400, pruned=2_400, after_most=900)
UNREADABLE = Report("", Outcome.UNREADABLE, "not a conversation", faults=("h.jsonl:7: $.content: 5",))
LEFT_OUT = Report("j.jsonl", Outcome.FAILED, "it holds an image", bytes_before=9, bytes_after=0)
LEFT = Report("i.jsonl", Outcome.LEFT, "interrupted")

HEADINGS = ["conversation", "messages", "tokens", "pruned", "head", "middle", "tail", "after", "calls", "prompt"]

SAID = {
    "untouched": (UNTOUCHED, "a.jsonl: untouched: below the trigger"),
    "summarised": (
        SUMMARISED,
        "b.jsonl:2: 2,400 -> 1,200 tokens (-50%), middle of 1,500 tokens summarised by openai:m, generation 1",
    ),
    "reused": (REUSED, "c.jsonl: 2,600 -> 1,400 tokens (-46%), handoff of generation 3 reused, no call"),
    "pruned": (PRUNED, "d.jsonl: 9,000 -> 1,000 tokens (-89%), old tool results pruned, no call"),
    "failed": (FAILED, "compactor: e.jsonl: HTTP 500 (left as it came)"),
    "failed, but pruned": (
        ONLY_PRUNED,
        "compactor: f.jsonl: HTTP 500 (only pruned, 2,400 -> 2,000 tokens (-17%))",
    ),
    "failed, and cut": (CUT, "compactor: g.jsonl: HTTP 500 (cut, 2,400 -> 900 tokens (-62%))"),
    "unreadable": (UNREADABLE, "compactor: h.jsonl:7: $.content: 5 (left as it came)"),
    "not converted": (LEFT_OUT, "compactor: j.jsonl: it holds an image (left out)"),
    "interrupted": (LEFT, "compactor: i.jsonl: interrupted (left as it came)"),
}


def heard(report, talk):
    err = io.StringIO()
    Console(talk, err).heard(report)
    return err.getvalue()


@pytest.mark.parametrize(("report", "line"), SAID.values(), ids=SAID)
def test_each_outcome_is_told_in_a_line(report, line):
    said = heard(report, Talk.VERBOSE)
    assert said.splitlines()[0].startswith(line)


@pytest.mark.parametrize(("report", "line"), SAID.values(), ids=SAID)
def test_quiet_says_only_what_went_wrong(report, line):
    assert bool(heard(report, Talk.QUIET)) is not report.fine


def test_normal_says_what_changed_and_what_went_wrong():
    silent = [name for name, (report, _) in SAID.items() if not heard(report, Talk.NORMAL)]
    assert silent == ["untouched"]


@pytest.mark.parametrize("talk", Talk)
def test_a_file_that_could_not_be_worked_on_is_always_told(talk):
    err = io.StringIO()
    Console(talk, err).trouble(InputError("x.jsonl: is gone", "look for it"))
    assert err.getvalue() == "compactor: x.jsonl: is gone; look for it\n"


def closing(*reports, talk=Talk.NORMAL):
    err = io.StringIO()
    Console(talk, err).summary(reports)
    return err.getvalue()


def test_the_last_line_adds_up():
    assert closing(UNTOUCHED, SUMMARISED, REUSED, FAILED) == (
        "4 conversations: 1 untouched, 1 reused, 1 summarised, 1 failed; 7,400 -> 5,000 tokens (-32%); "
        "1 call, 1,900 + 250 tokens\n"
    )
    assert closing(UNTOUCHED, UNTOUCHED) == "2 conversations: 2 untouched\n"
    assert closing(SUMMARISED) == ""
    assert closing(UNTOUCHED) == "a.jsonl: untouched: below the trigger\n"
    assert closing(UNTOUCHED, talk=Talk.VERBOSE) == closing(UNTOUCHED, talk=Talk.QUIET) == ""
    assert closing(UNTOUCHED, SUMMARISED, talk=Talk.QUIET) == ""


def test_an_estimate_is_called_one_everywhere():
    rough = Report("r", Outcome.PRUNED, before=2_000, pruned=1_000, after_least=1_000, after_most=1_000, exact=False)
    assert heard(rough, Talk.NORMAL).startswith("r: about 2,000 -> 1,000 tokens")
    assert "; about 4,000 -> 2,000 tokens" in closing(rough, rough)
    assert "counted by an estimate" in table([rough, UNTOUCHED], 180)
    assert [json.loads(line)["exact"] for line in as_json([rough]).splitlines()] == [False, False]


def test_json_lines_are_what_the_schema_says_and_end_with_the_totals():
    reports = [report for report, _ in SAID.values()]
    lines = [json.loads(line) for line in as_json(reports).splitlines()]
    for line in lines:
        jsonschema.validate(line, SCHEMA)
    *conversations, totals = lines
    assert [c["name"] for c in conversations] == [r.name for r in reports]
    assert totals["conversations"] == len(reports)
    assert sum(totals["outcomes"].values()) == len(reports)
    assert totals["before"] == sum(c["before"] or 0 for c in conversations)


def test_json_takes_any_character():
    odd = Report("latin-\udce9 漢.jsonl", Outcome.UNREADABLE, faults=('x:1: "\ud800"',))
    line = as_json([odd]).splitlines()[0]
    assert "漢".encode() in line
    assert json.loads(line)["name"] == odd.name
    assert json.loads(line)["faults"] == list(odd.faults)


def planned(**more):
    return Report("a.jsonl", Outcome.SUMMARISED, "at the trigger", messages=41, before=2_400, pruned=2_200,
                  head=100, middle=1_300, tail=800, **more)  # fmt: skip


def test_the_table_has_a_row_for_each_and_a_line_for_all():
    made = table(
        [planned(after_least=1_100, after_most=1_500, calls=1, prompt_tokens=1_900), UNTOUCHED, UNREADABLE], 180
    )
    heading, first, second, third, blank, totals = made.splitlines()
    assert heading.split()[:10] == HEADINGS
    assert heading.endswith("what and why")
    assert first.split()[:10] == ["a.jsonl", "41", "2,400", "2,200", "100", "1,300", "800", "1,100-1,500", "1", "1,900"]
    assert first.endswith("summarised: at the trigger")
    assert second.split()[:3] == ["a.jsonl", "9", "-"]
    assert third.startswith("(no conversation)")
    assert blank == ""
    assert totals == "3 conversations: 2,400 -> 1,100-1,500 tokens, 38% to 54% saved, 1 call with 1,900 prompt tokens"


def test_a_range_of_one_point_is_a_number():
    made = table([planned(after_least=1_200, after_most=1_200)], 180)
    assert made.endswith("1 conversation: 2,400 -> 1,200 tokens, 50% saved, no call\n")


def test_nothing_at_all_is_a_table_too():
    assert table([], 180).endswith("no conversation: 0 -> 0 tokens, 0% saved, no call\n")


@pytest.mark.parametrize("width", [20, 80, 100, 120])
def test_a_narrow_terminal_folds_words_and_cuts_no_figure(width):
    large = Report(
        "sessions/2026-01/chat.jsonl:123", Outcome.SUMMARISED, "at the trigger", messages=1_041, before=1_582_400,
        pruned=1_092_200, head=1_100, middle=1_211_300, tail=20_800, after_least=101_100, after_most=111_500, calls=1,
    )  # fmt: skip
    made = table([large, UNTOUCHED], width)
    for word in (
        *HEADINGS,
        "1,582,400",
        "1,092,200",
        "1,211,300",
        "101,100-111,500",
        "sessions/2026-01/chat",
        "a.jsonl",
    ):
        assert word in made
    assert "summarised:" in made


def test_markup_in_a_name_is_a_name():
    assert "[red]x[/red].jsonl" in table([Report("[red]x[/red].jsonl", Outcome.UNTOUCHED)], 180)


def several(talk, *reports):
    err = io.StringIO()
    console = Console(talk, err)
    for each in reports:
        console.heard(each)
    console.repeated()
    return err.getvalue().splitlines()


def test_the_same_failure_is_said_once_and_counted():
    rows = [replace(FAILED, name=f"e.jsonl:{n}") for n in range(1, 5)]
    other = replace(FAILED, name="x.jsonl", why="HTTP 503")
    expected = [
        "compactor: e.jsonl:1: HTTP 500 (left as it came)",
        "compactor: x.jsonl: HTTP 503 (left as it came)",
        "compactor: the same for 3 more conversations: HTTP 500",
    ]
    assert several(Talk.NORMAL, *rows, other) == several(Talk.QUIET, *rows, other) == expected
    assert len(several(Talk.VERBOSE, *rows, other)) == 5
    assert several(Talk.NORMAL, *rows[:2])[-1] == "compactor: the same for 1 more conversation: HTTP 500"
    assert several(Talk.NORMAL, SUMMARISED, REUSED, UNREADABLE, UNREADABLE)[-1].startswith("compactor: h.jsonl:7")


def test_money_and_secrets_are_told():
    dear = replace(SUMMARISED, masked=3, cost=0.0058, net_saving=-0.0034)
    assert heard(dear, Talk.NORMAL).endswith(", generation 1; 3 secrets masked\n")
    assert closing(dear, dear).endswith("; 6 secrets masked; cost 0.0116, net saving -0.0068\n")
    assert ", cost at most 0.0058, net saving -0.0034 at least\n" in table([dear], 180)
    assert "cost" not in closing(SUMMARISED, SUMMARISED) + table([SUMMARISED], 180)
