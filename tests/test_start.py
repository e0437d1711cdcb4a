"""Who writes the summaries and who counts, given what was set where? And is that said?"""

import shlex
import sys

import pytest

from tests.running import SMALL, ask, compact, compactor, entries, handoffs, lined, row, talk
from tests.standin import Standin

OFFLINE = "compactor: no endpoint is configured, so summaries were extracted offline (see --summarizer)"


@pytest.fixture
def log(tmp_path):
    (tmp_path / "log.jsonl").write_bytes(lined(talk(41)))
    return tmp_path


def by(folder):
    """Who wrote the summary, as the sidecar says."""
    (entry,) = entries(folder / "log.jsonl.state").values()
    return entry["generations"][0]["made"]["summarizer"]


def test_without_anything_set_summaries_are_extracted_and_that_is_said_once(log):
    (log / "rows.jsonl").write_bytes(row(talk(41)) + row(talk(41, topic="crane")))
    ran = compact(log, "rows.jsonl")
    assert ran.code == 0
    assert ran.said.splitlines().count(OFFLINE) == 1
    assert len(handoffs(ran.lines[1]["messages"])) == 1


@pytest.mark.parametrize("words", [(), ("-n",), ("-q",)], ids=["nothing to summarise", "a dry run", "quiet"])
def test_it_is_not_said_where_nobody_needs_to_know(log, words):
    (log / "short.jsonl").write_bytes(lined(talk(9)))
    ran = compact(log, "log.jsonl" if words else "short.jsonl", *words)
    assert OFFLINE not in ran.said


@pytest.mark.parametrize(
    "words", [("--summarizer", "extractive"), ("--summarizer", "extractive", "--base-url", "http://127.0.0.1:9/v1")]
)
def test_who_chose_it_need_not_be_told(log, words):
    ran = compact(log, "log.jsonl", *words)
    assert ran.code == 0
    assert OFFLINE not in ran.said
    assert by(log) == "extractive"


def test_it_is_told_if_auto_was_chosen(log):
    assert OFFLINE in compact(log, "log.jsonl", "--summarizer", "auto").said


@pytest.mark.parametrize(
    ("flags", "variables"),
    [
        (["--base-url", "URL"], {}),
        ([], {"OPENAI_BASE_URL": "URL"}),
        ([], {"COMPACTOR_BASE_URL": "URL"}),
        (["--base-url", "URL"], {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}),
        (["--summarizer", "openai"], {"OPENAI_BASE_URL": "URL"}),
        (["--model", "m"], {"OPENAI_BASE_URL": "URL", "OPENAI_API_KEY": "k"}),
    ],
    ids=["flag", "variable of the SDK", "variable of ours", "flag over variable", "named", "model"],
)
def test_an_endpoint_that_is_set_anywhere_is_asked(log, flags, variables):
    with Standin() as endpoint:
        flags = [flag.replace("URL", endpoint.url) for flag in flags]
        variables = {name: value.replace("URL", endpoint.url) for name, value in variables.items()}
        ran = compact(log, "log.jsonl", *flags, **variables)
        assert (ran.code, endpoint.hits) == (0, 1)
    assert by(log).startswith("openai:")
    assert OFFLINE not in ran.said


def test_the_model_and_the_key_reach_the_endpoint_and_the_key_nothing_else(log):
    with Standin() as endpoint:
        ran = compact(log, "log.jsonl", "-v", *ask(endpoint), OPENAI_API_KEY="sk-test-4711-secret")
        (request,) = endpoint.asks
    assert request.body["model"] == "stand-in"
    assert request.key == "sk-test-4711-secret"
    assert "4711-secret" not in ran.said + ran.out.decode() + (log / "log.jsonl.state").read_text()


def test_a_command_gets_the_prompt_and_its_answer_is_the_summary(log):
    script = log / "writer.py"
    script.write_text(
        "import sys\n"
        "from tests.asked import notes\n"
        "prompt = sys.stdin.read()\n"
        "open('prompt.txt', 'w').write(prompt)\n"
        "print(notes(goal='- keep pump 9 in sight'))\n"
    )
    ran = compact(log, "log.jsonl", "--summarizer-command", shlex.join([sys.executable, str(script)]))
    assert ran.code == 0, ran.said
    assert by(log).startswith("command")
    assert "keep pump 9 in sight" in handoffs(ran.lines)[0]
    prompt = (log / "prompt.txt").read_text()
    assert "## Goal" in prompt
    assert "Request 9:" in prompt


def test_a_command_that_fails_is_told_with_what_it_said(log):
    ran = compact(log, "log.jsonl", "--summarizer-command", "sh -c 'echo out of ink >&2; exit 7'")
    assert ran.code in (1, 3)
    assert "out of ink" in ran.said
    assert ran.lines == talk(41)


def test_a_command_that_does_not_exist_is_not_available_at_all(log):
    ran = compact(log, "log.jsonl", "--summarizer-command", "no-such-program --fast")
    assert ran.code == 3
    assert "no-such-program" in ran.said


# Who counts.


def sizes(folder, *words):
    ran = compactor(folder, "compact", "log.jsonl", "-n", "--json", *SMALL, *words)
    assert ran.code == 0, ran.said
    return ran.lines[0]


def test_the_encoding_is_what_the_flag_says_or_what_the_model_has(log):
    assert sizes(log)["encoding"] == "o200k_base"
    assert sizes(log, "--model", "gpt-4o-mini")["encoding"] == "o200k_base"
    assert sizes(log, "--model", "gpt-4")["encoding"] == "cl100k_base"
    both = sizes(log, "--model", "gpt-4", "--encoding", "o200k_base")
    assert (both["encoding"], both["exact"]) == ("o200k_base", True)


def test_a_model_without_a_public_tokenizer_is_an_estimate_and_called_one(log):
    report = sizes(log, "--model", "qwen3:8b")
    assert report["exact"] is False
    assert report["before"] > sizes(log)["before"]
    assert "counted by an estimate" in compact(log, "log.jsonl", "-n", "--model", "qwen3:8b").out.decode()
