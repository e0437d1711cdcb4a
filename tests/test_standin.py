"""Does the stand-in write summaries that are some, so that tests over it mean something?"""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactor.core.summary import Summary, parse
from tests.asked import COUNT, asked
from tests.making import judge
from tests.standin import Ask, Standin, notes, unmarked


def answered(request):
    messages = [{"role": "system", "content": request.system}, {"role": "user", "content": request.user}]
    return notes(Ask(1, "/v1/chat/completions", {}, {"model": "m", "messages": messages}, 0.0))


def test_a_good_answer_is_acceptable_and_comes_from_the_turns():
    summary = judge(answered(asked()), 2_000, COUNT)
    assert isinstance(summary, Summary)
    assert "must never touch the tests" in summary["constraints"][0]
    assert summary["files"] == ("- app/main.py",)
    assert "build 20931" in summary["next_steps"][0]
    assert summary["tools"] == ("- bash",)
    assert answered(asked()) != answered(asked("another 4712"))


def test_an_update_keeps_the_earlier_lines_and_adds_new_ones():
    earlier, _ = parse(answered(asked()))
    later = judge(answered(asked("Now bump it to version 3.1.4, always.", previous=earlier)), 2_000, COUNT)
    assert isinstance(later, Summary)
    for key, lines in earlier.sections.items():
        assert set(lines) <= {unmarked(line) for line in later[key]}
    assert any("3.1.4" in line for line in later["constraints"])


@given(
    st.lists(
        st.text(min_size=1, max_size=400) | st.text("漢字仮名🙂", min_size=50, max_size=400), min_size=1, max_size=12
    ),
    st.integers(200, 3_000),
)
def test_any_answer_is_within_the_ceiling_that_the_prompt_names(texts, ceiling):
    previous = None
    for _ in range(3):
        verdict = judge(answered(asked(*texts, previous=previous, ceiling=ceiling)), ceiling, COUNT)
        assert isinstance(verdict, Summary), verdict
        previous = verdict


def post(url):
    body = {"model": "m", "messages": [{"role": "system", "content": "## Goal"}, {"role": "user", "content": "hi"}]}
    request = urllib.request.Request(
        f"{url}/chat/completions", json.dumps(body).encode(), {"Authorization": "Bearer secret-4711"}
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def test_it_keeps_what_it_was_asked(tmp_path):
    log = tmp_path / "asks.jsonl"
    with Standin(log=log) as endpoint:
        post(endpoint.url)
        post(endpoint.url)
    assert [ask.number for ask in endpoint.asks] == [1, 2]
    entries = [json.loads(line) for line in log.read_text().splitlines()]
    assert [e["body"]["messages"][1]["content"] for e in entries] == ["hi", "hi"]
    assert "secret-4711" not in log.read_text()


def test_it_serves_other_processes(tmp_path):
    port, log = tmp_path / "port", tmp_path / "asks.jsonl"
    words = [sys.executable, "-m", "tests.standin", "--behaviour", "good", "--port-file", port, "--log", log]
    with subprocess.Popen(words) as served:
        try:
            while not port.exists() and served.poll() is None:
                time.sleep(0.01)
            assert post(port.read_text())["choices"][0]["finish_reason"] == "stop"
        finally:
            os.kill(served.pid, signal.SIGTERM)
    assert served.returncode == 0
    assert len(log.read_text().splitlines()) == 1


@pytest.mark.parametrize("behaviour", ["hang", "slow:600", "drip:600"])
def test_it_ends_whatever_it_is_doing(behaviour):
    with Standin(behaviour) as endpoint, pytest.raises(TimeoutError):
        urllib.request.urlopen(
            f"{endpoint.url}/chat/completions", b'{"model": "m", "messages": []}', timeout=0.2
        ).read()
    assert endpoint.hits == 1
