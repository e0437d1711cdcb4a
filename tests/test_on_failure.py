"""What if no summary can be had: which bytes and which exit code, what does the sidecar keep, who is asked again?"""

import json

import pytest

from compactor.core.handoff import END, PREFIX
from tests.running import MODEL, ask, compact, entries, handoffs, lined, named, row, talk, text_of
from tests.standin import Standin, between, earlier

KEY = "sk-proj-QXJlIHlvdSBsb29raW5n-4711"
LONG = talk(41)
# Behaviour of the endpoint: what is said about it, and the exit code if nothing stands in.
FAILURES = {
    "fail_500": ("HTTP 500", 1),
    "hang": ("did not answer within 0.5 s", 1),
    "empty": ("the reply is empty", 1),
    "length": ("cut off at the output limit", 1),
    "fail_401": ("HTTP 401", 3),
    "refused": ("cannot be reached", 3),
}
failing = pytest.mark.parametrize(("behaviour", "said", "code"), [(b, *f) for b, f in FAILURES.items()], ids=FAILURES)


@pytest.fixture
def run(tmp_path):
    """Compact the file `log.jsonl` of `messages` into `out.jsonl` with the help of an endpoint."""

    def once(endpoint, *words, messages=LONG):
        (tmp_path / "log.jsonl").write_bytes(lined(messages))
        timeout = "0.5" if endpoint.behaviour == "hang" else "60"
        words = ("log.jsonl", "-o", "out.jsonl", "--timeout", timeout, *ask(endpoint), *words)
        return compact(tmp_path, *words, OPENAI_API_KEY=KEY)

    return once


@pytest.fixture
def written(tmp_path):
    return lambda: [json.loads(line) for line in (tmp_path / "out.jsonl").read_bytes().splitlines()]


@pytest.fixture
def known(tmp_path):
    """What the sidecar holds of the one conversation; None if it holds nothing, or there is none."""

    def entry():
        path = tmp_path / "log.jsonl.state"
        return next(iter(entries(path).values()), None) if path.exists() else None

    return entry


def kept_failure(known, said, code):
    """Tell whether the sidecar says what it should: nothing is covered, and a failure of this one is remembered."""
    entry = known()
    if code == 3:
        return entry is None  # the endpoint failed, not the conversation
    return entry["generations"] == [] and said in entry["failure"]["why"]


@failing
def test_keep_leaves_every_turn_and_says_so(run, written, known, behaviour, said, code):
    with Standin(behaviour) as endpoint:
        ran = run(endpoint)
    assert ran.code == code
    assert said in ran.said
    assert "log.jsonl: " in ran.said
    assert "left as it came" in ran.said
    assert written() == LONG
    assert kept_failure(known, said, code)


@failing
def test_drop_cuts_the_middle_without_a_word_in_its_place(run, written, known, behaviour, said, code):
    with Standin(behaviour) as endpoint:
        ran = run(endpoint, "--on-failure", "drop")
    assert ran.code == code
    assert said in ran.said
    result = written()
    assert result[:2] == LONG[:2]
    assert result[2:] == LONG[-len(result) + 2 :]
    assert len(result) < 20
    assert not any(said in text or PREFIX in text for text in text_of(result))
    assert kept_failure(known, said, code)


@failing
def test_case_p7_extract_stands_in_and_the_sidecar_says_for_whom_and_why(run, written, known, behaviour, said, code):
    with Standin(behaviour) as endpoint:
        ran = run(endpoint, "--on-failure", "extract")
    assert ran.code == 0
    assert "summarised by extractive" in ran.said
    assert said in ran.said
    assert "no endpoint is configured" not in ran.said
    (handoff,) = handoffs(written())
    assert "valve 3" in handoff
    (generation,) = known()["generations"]
    assert generation["made"]["summarizer"] == "extractive"
    assert generation["made"]["instead_of"] == f"openai:{MODEL}"
    assert said in generation["made"]["because"]
    assert known()["failure"] is None


@pytest.mark.parametrize("policy", ["keep", "drop"])
def test_the_key_gets_nowhere(tmp_path, run, policy):
    with Standin("fail_401") as endpoint:
        ran = run(endpoint, "-v", "--on-failure", policy)
        assert endpoint.asks[0].key == KEY
    assert KEY not in ran.said + ran.out.decode()
    assert all(KEY.encode() not in path.read_bytes() for path in tmp_path.iterdir())


def test_the_dry_run_after_a_failure_still_says_what_a_call_would_bring(run):
    with Standin("fail_500") as endpoint:
        run(endpoint)
        ran = run(endpoint, "-n", "--json")
        assert endpoint.hits == 1
    assert ran.code == 0
    assert ran.lines[0]["calls"] == 1


# Cooldown.


def test_a_conversation_that_failed_is_left_alone_for_ten_minutes_across_runs(run, written, known):
    with Standin("fail_500,good") as endpoint:
        run(endpoint)
        failure = known()["failure"]
        ran = run(endpoint)
        assert endpoint.hits == 1
    assert ran.code == 1
    assert "failed lately" in ran.said
    assert "HTTP 500" in ran.said
    assert "--cooldown" in ran.said
    seconds = int(ran.said.partition("tried again in ")[2].split()[0])
    assert 540 <= seconds <= 600
    assert written() == LONG
    assert known()["failure"] == failure  # waiting does not prolong the wait


def test_cooldown_0_tries_at_once_and_success_forgets_the_failure(run, written, known):
    with Standin("fail_500,good") as endpoint:
        run(endpoint)
        ran = run(endpoint, "--cooldown", "0")
        assert endpoint.hits == 2
    assert ran.code == 0
    assert len(handoffs(written())) == 1
    assert known()["failure"] is None
    assert len(known()["generations"]) == 1


def test_one_that_cools_down_does_not_hold_up_another(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(row(LONG))
    with Standin("fail_500,good") as endpoint:
        assert compact(tmp_path, path, *ask(endpoint)).code == 1
        path.write_bytes(row(LONG) + row([talk(1)[0], *talk(1, 41, topic="crane")]))
        ran = compact(tmp_path, path, *ask(endpoint))
        assert endpoint.hits == 2
    assert ran.code == 1
    assert [len(handoffs(line["messages"])) for line in ran.lines] == [0, 1]


def test_extract_stands_in_during_the_cooldown_too(run, written):
    with Standin("fail_500,good") as endpoint:
        run(endpoint)
        ran = run(endpoint, "--on-failure", "extract")
        assert endpoint.hits == 1
    assert ran.code == 0
    assert len(handoffs(written())) == 1


# Nothing is lost: the state does not advance past what a summary covers.


def test_turns_dropped_in_one_run_are_summarised_in_a_later_one(run, written, known):
    with Standin("fail_500,good") as endpoint:
        run(endpoint, "--on-failure", "drop")
        dropped = named("\n".join(text_of(LONG)), "Reply", range(41))[:6]
        assert not named("\n".join(text_of(written())), "Reply", dropped)
        run(endpoint, "--on-failure", "drop", "--cooldown", "0")
        turns = between(endpoint.asks[1].text("user"), "transcript")
    assert named(turns, "Reply", dropped) == dropped
    assert len(handoffs(written())) == 1
    assert known()["generations"][0]["covered"]["count"] == 41 - (len(written()) - 1)


@pytest.mark.parametrize("policy", ["keep", "drop"])
def test_case_h38_p8_p13_p14_a_failed_update_keeps_the_old_summary_and_its_state(run, written, known, policy):
    with Standin("good,fail_500,good") as endpoint:
        run(endpoint)
        (before,) = known()["generations"]
        (handoff,) = handoffs(written())
        ran = run(endpoint, "--on-failure", policy, messages=talk(61))
        assert ran.code == 1
        assert known()["generations"] == [before]
        assert handoffs(written()) == [handoff]
        assert written()[-1] == talk(61)[-1]
        run(endpoint, "--on-failure", policy, "--cooldown", "0", messages=talk(61))
        turns = between(endpoint.asks[2].text("user"), "transcript")
    assert set(earlier(endpoint.asks[2])) <= set(handoff.splitlines())
    sent = min(n for kind in ("Request", "Result", "Reply") for n in named(turns, kind, range(61)))
    assert sent == 2 + before["covered"]["count"]  # the head has two messages; the next after the covered ones is first
    assert handoffs(written())[0].endswith(END)


def test_a_summary_in_the_second_attempt_is_no_failure(run, written, known):
    with Standin("empty,good") as endpoint:
        ran = run(endpoint)
        assert endpoint.hits == 2
    assert ran.code == 0
    assert len(handoffs(written())) == 1
    assert known()["generations"][0]["made"]["usage"]["calls"] == 2


# The breaker.


@pytest.fixture
def many(tmp_path):
    """A file of eight conversations that are all long enough."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"".join(row(talk(41, topic=f"pump{n}")) for n in range(8)))
    return path


@pytest.mark.parametrize("behaviour", ["fail_401", "quota_429"])
def test_case_p58_what_fails_for_the_endpoint_as_such_is_asked_once_for_all(tmp_path, many, behaviour):
    with Standin(behaviour) as endpoint:
        ran = compact(tmp_path, many, *ask(endpoint), "--jobs", "1", OPENAI_API_KEY=KEY)
        assert endpoint.hits == 1
    assert ran.code == 3
    assert ran.out == many.read_bytes()
    assert "8 conversations: 8 failed" in ran.said
    sentences = [line for line in ran.said.splitlines() if "HTTP" in line]
    assert len(sentences) == 2
    assert sentences[1].startswith("compactor: the same for 7 more conversations: ")


@pytest.mark.parametrize("jobs", ["1", "4", "8"])
def test_a_broken_endpoint_sees_one_call_however_many_may_be_in_flight(tmp_path, many, jobs):
    with Standin("fail_401") as endpoint:
        ran = compact(tmp_path, many, *ask(endpoint), "--jobs", jobs, OPENAI_API_KEY=KEY)
        assert endpoint.hits == 1
    assert ran.code == 3


def test_a_failure_of_one_conversation_opens_no_breaker(tmp_path, many):
    with Standin("fail_500") as endpoint:
        ran = compact(tmp_path, many, *ask(endpoint), "--jobs", "1")
        assert endpoint.hits == 8
    assert ran.code == 1
    assert len(entries(tmp_path / "rows.jsonl.state")) == 8


def test_case_h72_p6_a_row_without_a_summary_stays_among_those_that_have_one(tmp_path, many):
    with Standin("good,fail_529,good") as endpoint:
        ran = compact(tmp_path, many, *ask(endpoint), "--jobs", "1")
        assert endpoint.hits == 8
    assert ran.code == 1
    pairs = zip(many.read_bytes().splitlines(), ran.out.splitlines(), strict=True)
    assert sum(after == before for before, after in pairs) == 1
    assert "7 summarised, 1 failed" in ran.said


def test_what_was_summarised_before_the_quota_ended_is_kept_and_the_rest_asked_later(tmp_path, many):
    with Standin("good,good,quota_429") as endpoint:
        ran = compact(tmp_path, many, *ask(endpoint), "--jobs", "1")
        assert endpoint.hits == 3
        assert ran.code == 3
        done = [n for n, line in enumerate(ran.lines) if handoffs(line["messages"])]
        assert len(done) == 2
        endpoint.behaviour = "good"
        again = compact(tmp_path, many, *ask(endpoint), "--jobs", "1")
        assert endpoint.hits == 3 + 6
    assert again.code == 0
    assert [again.out.splitlines()[n] for n in done] == [ran.out.splitlines()[n] for n in done]


def test_a_file_that_needs_no_summary_is_fine_with_an_endpoint_that_is_not_there(tmp_path):
    (tmp_path / "short.jsonl").write_bytes(lined(talk(9)))
    with Standin("refused") as endpoint:
        ran = compact(tmp_path, "short.jsonl", *ask(endpoint))
        assert endpoint.hits == 0
    assert (ran.code, ran.said) == (0, "short.jsonl: untouched: below the trigger\n")


def test_without_a_key_openai_itself_is_not_even_asked(tmp_path):
    (tmp_path / "log.jsonl").write_bytes(lined(LONG))
    ran = compact(tmp_path, "log.jsonl", "--model", "gpt-4o-mini")
    assert ran.code == 3
    assert "OPENAI_API_KEY" in ran.said
    assert ran.out == lined(LONG)
