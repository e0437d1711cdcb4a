"""Is a file that holds conversations in a form of its own refused with what it is and what to do?"""

import json
import shutil
import subprocess
from io import BytesIO

import pytest

from compactor.errors import NotATranscript
from compactor.formats import rows
from tests.running import compactor

TALK = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "user", "content": "c"}]
LOG = [
    {"timestamp": 1, "type": "request", "request_params": {"model": "m", "messages": TALK[:1]}},
    {"timestamp": 2, "type": "response", "response": {"choices": [{"message": TALK[1]}]}},
    {"timestamp": 3, "type": "request", "request_params": {"model": "m", "messages": TALK}},
    {"timestamp": 4, "type": "response", "response": {"choices": []}},
]


def lines(*values):
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


STRANGE = {
    "requests and responses": (lines(*LOG), "a log of requests", ".request_params"),
    "that begin with a response": (lines(*LOG[1:]), "a log of requests", ".request_params"),
    "both in one": (lines({"request": {"messages": TALK}, "response": {}}), "a log of requests", ".request "),
    "flat text": (json.dumps([{"messages_display": "user: a\nassistant: b"}]).encode(), "is one text", "made from"),
}


@pytest.mark.parametrize(("content", "what", "then"), STRANGE.values(), ids=STRANGE)
def test_it_is_named_with_what_to_do(content, what, then):
    with pytest.raises(NotATranscript) as caught:
        list(rows(BytesIO(content), "x.jsonl"))
    assert what in caught.value.what
    assert then in caught.value.next_step


def test_a_request_without_messages_is_nothing_known():
    with pytest.raises(NotATranscript, match="the first object has the keys request"):
        list(rows(BytesIO(lines({"request": {"url": "/"}})), "x.jsonl"))


@pytest.mark.skipif(not shutil.which("jq"), reason="there is no jq here")
def test_what_it_says_is_to_be_done_can_be_done(tmp_path):
    log = tmp_path / "log.jsonl"
    log.write_bytes(lines(*LOG))
    ran = compactor(tmp_path, "compact", log)
    assert (ran.code, ran.out) == (2, b"")
    words = ran.said.partition("(jq ")[2].partition(") and")[0]
    made = subprocess.run(["sh", "-c", f"jq {words}".replace("LOG", str(log))], capture_output=True, check=True).stdout
    [row] = rows(BytesIO(made), "x.jsonl")
    assert [m.text for m in row.conversation.messages] == ["a", "b", "c"]
