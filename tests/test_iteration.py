"""Does the next run go on from the last one: no call for what is known, and never a turn summarised twice or lost?"""

import json

import pytest

from compactor.core.handoff import PREFIX
from tests.running import MODEL, ROOT, ask, compact, compactor, entries, handoffs, lined, named, row, talk, text_of
from tests.standin import Standin, between, earlier

FIXTURE = ROOT / "fixtures" / "transcripts" / "coding-session.jsonl"


@pytest.fixture
def endpoint():
    with Standin() as endpoint:
        yield endpoint


@pytest.fixture
def source(tmp_path):
    """Put `count` messages into the file: what an agent's log does between two runs."""

    def grown(count, topic="pump"):
        path = tmp_path / "log.jsonl"
        path.write_bytes(lined(talk(count, topic=topic)))
        return path

    return grown


@pytest.fixture
def run(tmp_path, endpoint):
    def once(*words, code=0):
        ran = compact(tmp_path, *words, *ask(endpoint))
        assert ran.code == code, ran.said
        return ran

    return once


def known(tmp_path, name="log.jsonl.state"):
    (entry,) = entries(tmp_path / name).values()
    return entry


def summarised(ask):
    """The numbers of the messages among the turns of a prompt: requests, results and replies."""
    turns = between(ask.text("user"), "transcript")
    return sorted(n for kind in ("Request", "Result", "Reply") for n in named(turns, kind, range(200)))


def spoken(first, last):
    """The numbers of messages with words, from `first` to before `last`; calls have none."""
    return [n for n in range(first, last) if (n - 1) % 4 != 1]


# The source grows, the output is another file.


def test_the_first_run_writes_a_sidecar_that_covers_what_the_handoff_stands_for(tmp_path, source, run, endpoint):
    ran = run(source(41))
    assert endpoint.hits == 1
    assert len(handoffs(ran.lines)) == 1
    (generation,) = known(tmp_path)["generations"]
    gone = 41 - (len(ran.lines) - 1)
    assert generation["covered"]["count"] == gone
    assert summarised(endpoint.asks[0]) == spoken(2, 2 + gone)
    assert generation["made"]["summarizer"] == f"openai:{MODEL}"
    assert generation["made"]["usage"]["calls"] == 1


def test_the_same_file_again_is_no_call_and_the_same_bytes(tmp_path, source, run, endpoint):
    first = run(source(41))
    sidecar = (tmp_path / "log.jsonl.state").read_bytes()
    again = run(source(41))
    assert endpoint.hits == 1
    assert again.out == first.out
    assert (tmp_path / "log.jsonl.state").read_bytes() == sidecar
    assert "no call" in again.said


def test_a_file_that_grew_a_little_keeps_its_handoff_and_its_beginning(source, run, endpoint):
    first = run(source(41))
    grown = run(source(45))
    assert endpoint.hits == 1
    assert grown.out == first.out + lined(talk(41, 45))


def test_a_grown_file_sends_the_previous_summary_and_the_new_turns_only(tmp_path, source, run, endpoint):
    first = run(source(41))
    second = run(source(61))
    assert endpoint.hits == 2
    covered = [g["covered"]["count"] for g in known(tmp_path)["generations"]]
    assert summarised(endpoint.asks[1]) == spoken(2 + covered[0], 2 + covered[1])
    assert earlier(endpoint.asks[1])
    assert set(earlier(endpoint.asks[1])) <= set(handoffs(first.lines)[0].splitlines())
    assert len(handoffs(second.lines)) == 1
    assert PREFIX not in endpoint.asks[1].text("user")
    # Head, handoff, and everything that no summary covers: nothing of the file is missing.
    assert second.lines[:2] == talk(2)
    assert second.lines[3:] == talk(2 + covered[1], 61)


def test_many_generations_cover_every_turn_once_and_the_summary_stays_in_bounds(tmp_path, source, run, endpoint):
    for count in (41, 61, 81, 101):
        ran = run(source(count))
        assert len(handoffs(ran.lines)) == 1
    seen = [n for one in endpoint.asks for n in summarised(one)]
    covered = known(tmp_path)["generations"][-1]["covered"]["count"]
    assert seen == spoken(2, 2 + covered)
    assert endpoint.hits == 4
    assert [g["number"] for g in known(tmp_path)["generations"]] == [1, 2, 3, 4]
    assert all(g["made"]["tokens"]["after"] < 2_000 for g in known(tmp_path)["generations"])


def test_another_system_prompt_changes_nothing_about_what_is_covered(tmp_path, source, run, endpoint):
    run(source(41))
    path = source(45)
    path.write_bytes(path.read_bytes().replace(b"You keep the pump running.", b"You are a plumber, and careful."))
    ran = run(path)
    assert endpoint.hits == 1
    assert "plumber" in ran.lines[0]["content"]
    assert len(handoffs(ran.lines)) == 1


def test_a_rewound_file_goes_on_from_the_generation_that_still_fits(tmp_path, source, run, endpoint):
    first = run(source(41))
    run(source(61))
    ran = run(source(41), "-v")
    assert endpoint.hits == 2
    assert ran.out == first.out
    assert "generation 1" in ran.said


def test_a_file_cut_short_before_what_is_covered_is_refused_until_it_is_rebuilt(tmp_path, source, run, endpoint):
    run(source(121))
    before = known(tmp_path)
    path = source(41)
    ran = run(path, code=1)
    assert ran.out == path.read_bytes()
    assert "edited or cut short; --rebuild starts afresh" in ran.said
    assert known(tmp_path) == before
    assert endpoint.hits == 1
    run(path, "--rebuild")
    assert not earlier(endpoint.asks[1])
    assert summarised(endpoint.asks[1]) == spoken(2, 2 + known(tmp_path)["generations"][0]["covered"]["count"])
    assert len(known(tmp_path)["generations"]) == 1


def test_an_edited_message_that_is_covered_is_noticed(tmp_path, source, run, endpoint):
    run(source(61))
    path = source(61)
    path.write_bytes(path.read_bytes().replace(b"Reply 8:", b"Reply 8, as it should have been:"))
    ran = run(path, code=1)
    assert endpoint.hits == 1
    assert ran.out == path.read_bytes()
    assert "--rebuild" in ran.said


# The output has replaced the source, and new turns were appended to it.


@pytest.mark.parametrize("sidecar", ["with its sidecar", "without its sidecar"])
def test_a_compacted_file_with_turns_appended_is_updated(tmp_path, source, run, endpoint, sidecar):
    path = source(41)
    run(path, "-i")
    compacted = [json.loads(line) for line in path.read_bytes().splitlines()]
    first_tail = 41 - (len(compacted) - 3)
    if sidecar == "without its sidecar":
        (tmp_path / "log.jsonl.state").unlink()
    path.write_bytes(path.read_bytes() + lined(talk(41, 61)))
    run(path, "-i")
    result = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert len(handoffs(result)) == 1
    assert endpoint.hits == 2
    turns = summarised(endpoint.asks[1])
    assert turns == spoken(first_tail, turns[-1] + 1)
    assert set(earlier(endpoint.asks[1])) <= set(handoffs(compacted)[0].splitlines())
    assert PREFIX not in endpoint.asks[1].text("user")
    assert result[:2] == talk(2)
    assert result[3:] == talk(turns[-1] + 1, 61)
    assert known(tmp_path)["generations"][-1]["number"] == 2


def test_a_compacted_file_that_grew_a_little_leaves_as_it_came(source, run, endpoint):
    path = source(41)
    run(path, "-i")
    path.write_bytes(path.read_bytes() + lined(talk(41, 45)))
    before = path.read_bytes()
    run(path, "-i")
    assert path.read_bytes() == before
    assert endpoint.hits == 1


def test_what_was_stubbed_in_the_tail_is_remembered_when_it_is_summarised(tmp_path, source, run):
    """A run in place takes the result away before its turn has come to be summarised."""
    path = source(41)
    messages = talk(41)
    errors = "ValueError: the seal of pump 4711 is gone\nRuntimeError: no water\n"
    messages[-2]["content"] = errors + "a line of the log\n" * 80 + "exit code: 1"
    messages[-6]["content"] = "noise " * 200
    path.write_bytes(lined(messages))
    run(path, "-i", "--tail-tokens", "300")
    assert b"ValueError" not in path.read_bytes().splitlines()[-2]
    path.write_bytes(path.read_bytes() + lined(talk(41, 71)))
    run(path, "-i", "--tail-tokens", "300")
    *_, last = known(tmp_path)["generations"]
    assert last["number"] == 2
    assert '- Error: "ValueError: the seal of pump 4711 is gone" [39]' in last["ledger"]["context"]


def test_a_real_transcript_appended_to_its_own_compaction(tmp_path, endpoint):
    lines = FIXTURE.read_bytes().splitlines(keepends=True)
    path = tmp_path / "session.jsonl"
    path.write_bytes(b"".join(lines[:250]))
    words = ("compact", path, "-i", "--force", "--context-window", "32000", *ask(endpoint))
    assert compactor(tmp_path, *words).code == 0
    path.write_bytes(path.read_bytes() + b"".join(lines[250:]))
    assert compactor(tmp_path, *words).code == 0
    result = path.read_bytes().splitlines(keepends=True)
    assert sum(PREFIX in json.loads(line).get("content", "") for line in result if PREFIX.encode()[:20] in line) == 1
    assert result[-1] == lines[-1]
    assert endpoint.hits == 2


# Sidecars that are not the right one. (What else may be wrong with one: test_sidecar.)


def test_the_sidecar_of_another_transcript_is_refused_and_nothing_written(tmp_path, source, run, endpoint):
    run(source(41))
    sidecar = (tmp_path / "log.jsonl.state").read_bytes()
    other = source(41, topic="crane")
    ran = run(other, "-o", tmp_path / "out.jsonl", code=2)
    assert f"{tmp_path}/log.jsonl.state: it belongs to another transcript than {other}" in ran.said
    assert "--rebuild" in ran.said
    assert ran.out == b""
    assert sorted(p.name for p in tmp_path.iterdir()) == ["log.jsonl", "log.jsonl.state"]
    assert (tmp_path / "log.jsonl.state").read_bytes() == sidecar
    assert endpoint.hits == 1


def test_what_is_covered_counts_even_where_the_opening_was_edited(tmp_path, source, run, endpoint):
    run(source(41))
    path = source(45)
    path.write_bytes(path.read_bytes().replace(b"Request 1:", b"Request one:", 1))
    ran = run(path)
    assert endpoint.hits == 1
    assert ran.out.count(PREFIX.encode()) == 1
    assert len(known(tmp_path)["generations"]) == 1
    run(path)
    assert endpoint.hits == 1


def test_rebuild_forgets_the_other_transcript(tmp_path, source, run, endpoint):
    run(source(41))
    key = known(tmp_path)["key"]
    run(source(41, topic="crane"), "--rebuild")
    assert endpoint.hits == 2
    assert known(tmp_path)["key"] != key


def test_rebuild_summarises_everything_again(tmp_path, source, run, endpoint):
    run(source(41))
    run(source(61))
    run(source(61), "--rebuild")
    (generation,) = known(tmp_path)["generations"]
    assert generation["number"] == 1
    assert summarised(endpoint.asks[2]) == spoken(2, 2 + generation["covered"]["count"])
    assert not earlier(endpoint.asks[2])


def test_rebuild_leaves_nothing_of_the_old_state_even_if_nothing_is_to_be_summarised(tmp_path, source, run):
    run(source(41))
    run(source(41), "--rebuild", "--threshold", "1.0")
    assert not (tmp_path / "log.jsonl.state").exists()


# Several conversations in one file.


def test_a_new_conversation_with_the_same_opening_does_not_disturb_the_old_one(tmp_path, run, endpoint):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(row(talk(41), id=1))
    first = run(path)
    fork = [*talk(2), *talk(2, 41, topic="crane")]
    path.write_bytes(row(fork, id=2) + path.read_bytes())  # before it, so that it takes over the key
    ran = run(path)
    assert endpoint.hits == 2
    assert ran.out.splitlines()[1] + b"\n" == first.out
    assert all("crane" not in text for text in text_of(ran.lines[1]["messages"]))
    assert len(entries(tmp_path / "rows.jsonl.state")) == 2


def test_rows_with_the_same_opening_are_all_remembered(tmp_path, run, endpoint):
    forks = [[*talk(2), *talk(2, 41, topic=topic)] for topic in ("pump", "crane", "dyke")]
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"".join(row(fork, id=n) for n, fork in enumerate(forks)))
    first = run(path)
    assert endpoint.hits == 3
    assert len(entries(tmp_path / "rows.jsonl.state")) == 3
    assert run(path).out == first.out
    assert endpoint.hits == 3


def test_a_short_row_with_the_opening_of_a_compacted_one_is_fine_in_the_next_run(tmp_path, run):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(row(talk(41), id=1) + row([*talk(2), *talk(2, 9, topic="crane")], id=2))
    first = run(path)
    assert run(path).out == first.out
