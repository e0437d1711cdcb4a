"""Do turns that are longer than the summarizer's window all reach it, piece by piece, and make one summary?"""

import asyncio
import json
import re

import pytest

from compactor.core.messages import groups
from compactor.core.prompt import Turns
from compactor.core.revision import difference, identified, revised
from compactor.core.settings import Settings
from compactor.core.summary import Summary
from compactor.errors import PromptTooLong
from compactor.folding import LEAST_ROOM, pieces
from compactor.tokenizer import tokenizer
from compactor.tools import Breaker, Window
from tests.making import conversation, sections, turns
from tests.running import ask, compact, compactor, entries, handoffs, lined, talk
from tests.standin import Standin, between, earlier
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


def test_case_p53_what_fits_goes_in_one_piece(tmp_path, run):
    with Standin() as endpoint:
        assert run(endpoint, "--summarizer-context", "128000").code == 0
    assert endpoint.hits == 1


def test_case_h53_p51_what_does_not_fit_goes_in_pieces_and_every_turn_reaches_the_model_once(tmp_path, run):
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
    with Standin("context_400:5000") as endpoint:
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
    with Standin("context_400:900") as endpoint:
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


# The reaction to a refusal, in each dialect.

STATED = ["context_400", "context_400_both", "context_400_vllm", "context_400_llamacpp", "context_400_anthropic"]
STATED += ["context_400_gemini", "context_200"]


def sent(one):
    return sum(len(m["content"]) for m in one.body["messages"]) // 4


@pytest.mark.parametrize(("dialect", "wasted"), [*((d, 1) for d in STATED), ("context_413", 3)])
def test_a_refusal_is_learned_from_and_every_turn_still_reaches_the_model(tmp_path, run, dialect, wasted):
    with Standin(f"{dialect}:5000") as endpoint:
        ran = run(endpoint)
    assert ran.code == 0, ran.said
    assert sum(sent(one) > 5_000 for one in endpoint.asks) <= wasted
    answered = [one for one in endpoint.asks if sent(one) <= 5_000]
    shown = "\n".join(between(one.text("user"), "transcript") for one in answered)
    numbers = dict.fromkeys(int(n) for n in re.findall(r"^\[(\d+)\]", shown, re.MULTILINE))
    assert list(numbers) == list(range(3, 3 + covered(tmp_path)))
    usage = _usage(tmp_path)
    assert usage["calls"] == endpoint.hits
    assert usage["prompt_tokens"] == sum(map(sent, answered))


def _usage(tmp_path):
    (entry,) = entries(tmp_path / "log.jsonl.state").values()
    return entry["generations"][-1]["made"]["usage"]


def test_prompt_and_answer_together_stay_within_the_window(run):
    with Standin() as endpoint:
        assert run(endpoint, "--summarizer-context", "6000").code == 0
    for one in endpoint.asks:
        assert COUNT(one.text("system")) + COUNT(one.text("user")) + one.body["max_tokens"] <= 6_000


@pytest.mark.parametrize("share", [0.2, 0.55])
def test_a_prompt_of_which_half_was_read_is_not_believed_either(run, share):
    with Standin() as endpoint:
        assert run(endpoint).code == 0
    whole = sent(endpoint.asks[0])
    counted = COUNT(endpoint.asks[0].text("system")) + COUNT(endpoint.asks[0].text("user"))
    with Standin(f"cut:{int(share * counted)}") as endpoint:
        assert run(endpoint, "--rebuild").code == 0
    assert endpoint.hits > 1
    assert sent(endpoint.asks[-1]) < whole


def test_a_failure_in_a_later_piece_costs_what_all_pieces_have_cost(tmp_path, run):
    with Standin("good,good,fail_500") as endpoint:
        ran = run(endpoint, "--summarizer-context", "8000", "--json", "-o", "out.jsonl")
    assert ran.code == 1
    report = json.loads(ran.out.splitlines()[0])
    assert (report["calls"], endpoint.hits) == (3, 3)
    assert report["prompt_tokens"] == sum(map(sent, endpoint.asks[:2]))
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "log.jsonl").read_bytes()
    assert next(iter(entries(tmp_path / "log.jsonl.state").values()))["generations"] == []


def test_a_model_that_gives_its_notes_back_is_asked_about_the_turns_alone(tmp_path, run):
    with Standin("echo_notes") as endpoint:
        ran = run(endpoint, "--summarizer-context", "8000", "--json", "-o", "out.jsonl")
    assert ran.code == 0, ran.said
    shown = [(bool(earlier(one)), between(one.text("user"), "transcript")) for one in endpoint.asks]
    assert [notes for notes, _ in shown] == [False, True, False, True, False, True, False]
    assert [turns for _, turns in shown[1::2]] == [turns for _, turns in shown[2::2]]
    assert json.loads(ran.out.splitlines()[0])["calls"] == endpoint.hits == 7


def test_an_answer_about_the_turns_alone_that_breaks_off_is_asked_for_once_more(tmp_path, run):
    with Standin("good,echo_notes,length,good") as endpoint:
        ran = run(endpoint, "--summarizer-context", "8000", "--json", "-o", "out.jsonl")
    assert ran.code == 0, ran.said
    echoed, broken_off, repaired = (one.text("user") for one in endpoint.asks[1:4])
    assert [bool(earlier(one)) for one in endpoint.asks[1:4]] == [True, False, False]
    assert "earlier answer could not be used" not in echoed + broken_off
    assert "An earlier answer could not be used: it was cut off at the output limit" in repaired
    assert between(echoed, "transcript") == between(repaired, "transcript")
    assert json.loads(ran.out.splitlines()[0])["calls"] == endpoint.hits


def test_a_piece_that_only_brings_the_notes_back_is_rejected(tmp_path, run):
    with Standin("same_notes") as endpoint:
        ran = run(endpoint, "--summarizer-context", "8000")
    assert ran.code == 1
    assert "gave its notes back for messages " in ran.said
    assert next(iter(entries(tmp_path / "log.jsonl.state").values()))["generations"] == []


def test_one_huge_message_is_cut_inside_and_its_cut_is_counted(tmp_path):
    messages = talk(61)
    messages[5] = {"role": "user", "content": f"Request 5: {'漢字 and words, ' * 4_000} the end of it"}
    (tmp_path / "log.jsonl").write_bytes(lined(messages))
    with Standin() as endpoint:
        ran = compact(tmp_path, "log.jsonl", *ask(endpoint), "--summarizer-context", "5000")
    assert ran.code == 0, ran.said
    shown = "\n".join(between(one.text("user"), "transcript") for one in endpoint.asks)
    (cut,) = re.findall(r"^\[6\] USER: (Request 5: .*)$", shown, re.MULTILINE)
    left_out = int(re.search(r"\[\.\.\. ([\d,]+) characters left out \.\.\.\]", cut)[1].replace(",", ""))
    kept = re.sub(r" \[\.\.\. [\d,]+ characters left out \.\.\.\] ", "", cut)
    assert len(kept) + left_out == len(messages[5]["content"])
    assert cut.endswith("the end of it")
    assert len(re.findall("characters left out", shown)) == 1
    assert max(COUNT(one.text("system")) + COUNT(one.text("user")) for one in endpoint.asks) <= 5_000


def test_notes_that_grow_with_every_piece_still_fit(run):
    with Standin() as endpoint:
        assert run(endpoint, "--summarizer-context", "3500", count=801).code == 0
    sizes = [COUNT(one.text("system")) + COUNT(one.text("user")) for one in endpoint.asks]
    assert len(sizes) > 15
    assert max(sizes) <= 3_500


def test_a_dry_run_foresees_the_calls(run):
    options = ("--summarizer-context", "8000")
    with Standin() as endpoint:
        foreseen = json.loads(run(endpoint, *options, "-n", "--json").out.splitlines()[0])
        assert endpoint.hits == 0
        run(endpoint, *options)
    assert endpoint.hits <= foreseen["calls"] <= endpoint.hits + 2
    counted = sum(COUNT(one.text("system")) + COUNT(one.text("user")) for one in endpoint.asks)
    assert counted <= foreseen["prompt_tokens"]


@pytest.mark.parametrize(
    ("tokens", "size", "window", "counted", "learned"),
    [
        (0, 10_000, 0, 0, 6_900),  # nothing is stated
        (0, 10_000, 8_000, 10_000, 7_600),  # counted as we count
        (0, 10_000, 8_000, 20_000, 3_800),  # counted twice as high: half as many of ours fit
        (0, 10_000, 90_000, 10_000, 6_900),  # what is stated cannot be
        (6_000, 10_000, 8_000, 10_000, 6_000),  # another call has found out meanwhile
        (11_500, 10_000, 0, 0, 6_900),
    ],
)
def test_a_window_is_learned_from_what_was_too_much(tokens, size, window, counted, learned):
    known = Window(tokens)
    assert known.learn(size, 1_500, PromptTooLong("", "", window, counted))
    assert known.tokens == learned
    assert not Window(4_000).learn(2_000, 1_500, PromptTooLong(""))


# One call goes first.


def test_those_who_waited_for_the_first_go_on_together():
    async def together():
        breaker, inside, done = Breaker(), [], asyncio.Event()

        async def call(number):
            async with breaker.one_first():
                inside.append(number)
                await done.wait()

        calls = [asyncio.create_task(call(n)) for n in range(4)]
        await asyncio.sleep(0)
        first = list(inside)
        done.set()
        await calls[0]
        done.clear()
        while len(inside) < 4:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0)
        done.set()
        await asyncio.gather(*calls)
        return first

    assert asyncio.run(asyncio.wait_for(together(), 4)) == [0]


def test_nobody_waits_for_ever():
    async def impatient():
        breaker, done = Breaker(patience=0.01), asyncio.Event()

        async def slow():
            async with breaker.one_first():
                await done.wait()

        first = asyncio.create_task(slow())
        await asyncio.sleep(0)
        async with breaker.one_first():
            done.set()
        await first

    asyncio.run(asyncio.wait_for(impatient(), 4))
