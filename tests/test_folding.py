"""Do turns that are longer than the summarizer's window all reach it, piece by piece, and make one summary?"""

import json
import re

import pytest

from compactor.core.messages import groups
from compactor.core.prompt import Turns
from compactor.core.revision import difference, identified, revised
from compactor.core.settings import Settings
from compactor.core.summary import Summary
from compactor.folding import LEAST_ROOM, pieces
from compactor.tokenizer import tokenizer
from tests.making import conversation, sections, turns
from tests.running import ask, compact, compactor, entries, handoffs, lined, talk
from tests.standin import Standin, between
from tests.test_story import asked

COUNT = tokenizer("o200k_base")


class Tools:
    """As much of the tools as cutting needs."""

    settings = Settings()
    count = COUNT


@pytest.fixture
def run(tmp_path):
    """Compact one conversation, whose middle has some 11,000 tokens."""

    def once(endpoint, *options, count=301):
        (tmp_path / "log.jsonl").write_bytes(lined(talk(count)))
        return compact(tmp_path, "log.jsonl", *ask(endpoint), "--tool-excerpt", "300", *options)

    return once


def summarised(endpoint):
    """The numbers of the messages in each prompt that was answered."""
    shown = [between(one.text("user"), "transcript") for one in endpoint.asks]
    return [[int(n) for n in re.findall(r"^\[(\d+)\]", text, re.MULTILINE)] for text in shown]


def covered(tmp_path):
    (entry,) = entries(tmp_path / "log.jsonl.state").values()
    return entry["generations"][-1]["covered"]["count"]


def test_what_fits_goes_in_one_piece(tmp_path, run):
    with Standin() as endpoint:
        assert run(endpoint, "--summarizer-context", "128000").code == 0
    assert endpoint.hits == 1


def test_what_does_not_fit_goes_in_pieces_and_every_turn_reaches_the_model_once(tmp_path, run):
    with Standin() as endpoint:
        ran = run(endpoint, "--summarizer-context", "8000")
    assert ran.code == 0, ran.said
    assert endpoint.hits > 2
    seen = [n for numbers in summarised(endpoint) for n in dict.fromkeys(numbers)]
    assert seen == list(range(3, 3 + covered(tmp_path)))
    sizes = [COUNT(one.text("system")) + COUNT(one.text("user")) for one in endpoint.asks]
    assert max(sizes) <= 8_000
    assert all(between(one.text("user"), "earlier_notes") for one in endpoint.asks[1:])
    assert len(handoffs(ran.lines)) == 1


def test_a_window_that_was_found_out_is_remembered_for_the_run(tmp_path):
    rows = b"".join(json.dumps({"messages": talk(201, topic=t)}).encode() + b"\n" for t in ("pump", "mill", "weir"))
    (tmp_path / "rows.jsonl").write_bytes(rows)
    with Standin("window:5000") as endpoint:
        ran = compact(tmp_path, "rows.jsonl", *ask(endpoint), "--tool-excerpt", "300", "--jobs", "1")
    assert ran.code == 0, ran.said
    refused = [one for one in endpoint.asks if sum(len(m["content"]) for m in one.body["messages"]) // 4 > 5_000]
    assert len(refused) <= 2
    assert endpoint.hits > len(refused) + 5


def test_a_prompt_that_was_cut_in_silence_is_not_believed(tmp_path, run):
    with Standin("cut:4096") as endpoint:
        ran = run(endpoint, "-v", count=501)
    assert ran.code == 0, ran.said
    assert endpoint.hits > 2
    last = endpoint.asks[-1]
    assert COUNT(last.text("user")) < COUNT(endpoint.asks[0].text("user"))
    seen = [n for numbers in summarised(endpoint)[-(endpoint.hits - 1) :] for n in dict.fromkeys(numbers)]
    assert set(range(3, 3 + covered(tmp_path))) <= set(seen)


def test_a_model_that_takes_next_to_nothing_is_an_error_with_its_calls_counted(tmp_path, run):
    with Standin("window:900") as endpoint:
        ran = run(endpoint, "--json", "-o", "out.jsonl")
    assert ran.code == 1
    report = json.loads(ran.out.splitlines()[0])
    assert report["outcome"] == "failed"
    assert report["calls"] == endpoint.hits
    assert "maximum context length" in report["why"]


def test_a_wrong_key_costs_one_call_however_many_jobs_there_are(tmp_path):
    rows = b"".join(json.dumps({"messages": talk(61, topic=f"t{n}")}).encode() + b"\n" for n in range(12))
    (tmp_path / "rows.jsonl").write_bytes(rows)
    with Standin("fail_401") as endpoint:
        ran = compactor(tmp_path, "compact", "--context-window", "4000", "rows.jsonl", *ask(endpoint), "--jobs", "8")
    assert ran.code == 3
    assert endpoint.hits == 1


@pytest.mark.parametrize("room", [0, 1_500, 3_000, 10**6])
def test_pieces_are_whole_groups_and_together_the_turns(room):
    messages = conversation(*turns(1, 30, size=40)).messages
    request = asked(*messages)
    found = list(pieces(request.turns, room, Tools))
    assert tuple(m for piece in found for m in piece.messages) == messages
    place = 0
    for piece in found:
        assert piece.first == place
        assert piece.groups == groups(piece.messages)
        assert isinstance(piece, Turns)
        place += len(piece.messages)
    assert (len(found) == 1) == (room == 10**6)
    assert LEAST_ROOM


def test_what_came_of_the_pieces_is_one_reply_to_the_notes():
    before = sections(goal="- ship it", next_steps=("- write the docs", "- tell the team"))
    after = revised(before, sections(obsolete=f"- (#{_mark(before, 'docs')}) they exist", done="- docs written"))
    assert revised(before, difference(before, after)) == after
    assert difference(Summary({}), after).sections == after.sections


def _mark(notes, words):
    return next(ident for ident, item in identified(notes).items() if words in item.words)
