"""Does the whole result fit the tokens that were asked for, and what gives way first?"""

import json

import pytest

from compactor.tokenizer import tokenizer
from tests.running import checked, compactor, handoffs, lined, talk

COUNT = tokenizer("o200k_base")


def fitted(tmp_path, tokens, *more, messages=None):
    (tmp_path / "log.jsonl").write_bytes(lined(messages or talk(401)))
    return compactor(tmp_path, "compact", "log.jsonl", "--target-tokens", tokens, "--json", "-o", "out.jsonl", *more)


def told(ran):
    return checked([json.loads(line) for line in ran.out.splitlines()])[0]


@pytest.mark.parametrize("tokens", [1_500, 3_000, 6_000, 12_000])
def test_the_whole_result_fits(tmp_path, tokens):
    ran = fitted(tmp_path, tokens)
    assert ran.code == 0, ran.said
    report = told(ran)
    assert report["before"] > 16_000
    assert 0.6 * tokens < report["after_most"] <= tokens
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_bytes().splitlines()]
    assert len(handoffs(lines)) == 1
    assert lines[:2] == talk(2)
    assert lines[-1] == talk(401)[-1]


def test_the_rules_of_the_user_outlive_what_a_smaller_target_takes(tmp_path):
    messages = [json.loads(json.dumps(m).replace("You must never touch", "Look at")) for m in talk(401)]
    messages[9]["content"] += " Never open the sluice at night."
    for tokens in (6_000, 1_500):
        fitted(tmp_path, tokens, messages=messages)
        (text,) = handoffs([json.loads(line) for line in (tmp_path / "out.jsonl").read_bytes().splitlines()])
        assert "Never open the sluice at night." in text
        (tmp_path / "log.jsonl.state").unlink(missing_ok=True)


def test_what_fits_already_leaves_byte_for_byte(tmp_path):
    ran = fitted(tmp_path, 100_000)
    assert told(ran)["outcome"] == "untouched"
    assert (tmp_path / "out.jsonl").read_bytes() == lined(talk(401))


def test_it_is_said_why_it_cannot_fit_and_nothing_is_damaged(tmp_path):
    messages = talk(41)
    messages[1]["content"] = "Look after the pump. " * 900
    ran = fitted(tmp_path, 1_500, messages=messages)
    assert ran.code == 1
    report = told(ran)
    assert report["outcome"] == "failed"
    assert "where 1,500 are asked for" in report["why"]
    assert (tmp_path / "out.jsonl").read_bytes() == lined(messages)


def test_pruning_is_enough_where_it_is(tmp_path):
    messages = talk(41)
    for message in messages:
        if message["role"] == "tool":
            message["content"] = "line of a log\n" * 400
    ran = fitted(tmp_path, 6_000, messages=messages)
    assert told(ran)["outcome"] == "pruned"
    assert told(ran)["after_most"] <= 6_000
