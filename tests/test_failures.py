"""Is every failure of an endpoint named for what it is, and told without the key in it?"""

import socket
import ssl
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactor.summarizers.failures import (
    LONGEST_WAIT,
    Course,
    Failure,
    Kind,
    asked_wait,
    by_connection,
    by_error,
    by_status,
    pause,
    said,
)
from tests.standin import BEHAVIOURS, Ask

WHERE = "http://localhost:8080/v1"
KEY = "sk-proj-Qm9va3MgYXJlIGdvb2Qu-1234"
CAPS = {"max_tokens": 9_000, "max_completion_tokens": 9_000, "temperature": 0}
ASK = Ask(1, "/v1/chat/completions", {"authorization": f"Bearer {KEY}"}, {"model": "m", "messages": [], **CAPS}, 0)


@pytest.mark.parametrize(
    ("behaviour", "kind", "course"),
    [
        ("fail_401", Kind.KEY, Course.CLOSE),
        ("key_400", Kind.KEY, Course.CLOSE),
        ("fail_403", Kind.KEY, Course.CLOSE),
        ("credits_402", Kind.QUOTA, Course.CLOSE),
        ("quota_429", Kind.QUOTA, Course.CLOSE),
        ("day_429", Kind.QUOTA, Course.CLOSE),
        ("model_404", Kind.MODEL, Course.CLOSE),
        ("path_404", Kind.MODEL, Course.CLOSE),
        ("model_400", Kind.MODEL, Course.CLOSE),
        ("context_400", Kind.OVERFLOW, Course.FAIL),
        ("context_400_vllm", Kind.OVERFLOW, Course.FAIL),
        ("context_400_llamacpp", Kind.OVERFLOW, Course.FAIL),
        ("context_400_anthropic", Kind.OVERFLOW, Course.FAIL),
        ("context_400_gemini", Kind.OVERFLOW, Course.FAIL),
        ("context_413", Kind.OVERFLOW, Course.FAIL),
        ("content_filter_400", Kind.FILTERED, Course.FAIL),
        ("moderation_403", Kind.FILTERED, Course.FAIL),
        ("max_tokens_400", Kind.REQUEST, Course.FAIL),
        ("max_completion_tokens_400", Kind.REQUEST, Course.FAIL),
        ("cap_400", Kind.REQUEST, Course.FAIL),
        ("temperature_400", Kind.REQUEST, Course.FAIL),
        ("unknown_400", Kind.REQUEST, Course.FAIL),
        ("rate_429", Kind.RATE, Course.AGAIN),
        ("retry_info_429", Kind.RATE, Course.AGAIN),
        ("rate_429_bare", Kind.RATE, Course.AGAIN),
        ("timeout_408", Kind.SERVER, Course.AGAIN),
        ("fail_500", Kind.SERVER, Course.AGAIN),
        ("html_502", Kind.SERVER, Course.AGAIN),
        ("fail_503", Kind.SERVER, Course.AGAIN),
        ("fail_529", Kind.SERVER, Course.AGAIN),
    ],
)
def test_each_dialect_is_understood(behaviour, kind, course):
    answer = BEHAVIOURS[behaviour](ASK)
    failure = by_status(answer.status, answer.data.decode(), WHERE)
    assert (failure.kind, failure.course) == (kind, course)
    assert f"{WHERE} answered with HTTP {answer.status}" in failure.what
    assert failure.next_step


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ("Model unloaded.", Kind.REQUEST),
        ("the model is loaded with context length of only 4096 tokens", Kind.OVERFLOW),
        ({"code": 502, "message": "upstream"}, Kind.SERVER),
        ({"code": "429", "message": "slow down"}, Kind.RATE),
        ({"code": "insufficient_quota", "message": "no money"}, Kind.QUOTA),
        ({"code": 12, "message": "?"}, Kind.REQUEST),
        ([1], Kind.REQUEST),
    ],
)
def test_an_error_under_status_200_is_judged_by_the_status_inside(error, kind):
    failure = by_error(error, WHERE)
    assert failure.kind is kind
    assert failure.what.startswith(f"{WHERE} answered with an error")


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ('{"error": {"message": "No."}}', "No."),
        ('[{"error": {"message": "No."}}]', "No."),
        ('{"error": "No."}', "No."),
        ('{"object": "error", "message": "No.", "code": 400}', "No."),
        ('{"detail": "No."}', "No."),
        ('{"detail": [{"loc": ["body"], "msg": "No."}]}', "No."),
        ('"No."', "No."),
        ("No.\r\n  Not\tnow.", "No. Not now."),
        ("No \x1b[31mcolour\x07", "No [31mcolour"),
        ("<html><head><title>x</title></head><body><h1>502</h1> <p>Bad</p></body></html>", "502 Bad"),
        ('{"error": {"message": "Failed", "metadata": {"raw": "Overloaded"}}}', "Failed: Overloaded"),
        ('{"error": {"message": "Failed", "metadata": "?"}}', "Failed"),
        ('{"error": {"code": 7}}', ""),
        ("[]", ""),
        ("", ""),
        ("[" * 100_000, "[" * 199 + "…"),
        ("x" * 201, "x" * 199 + "…"),
        ("x" * 200, "x" * 200),
    ],
)
def test_the_servers_own_sentence_is_found(body, sentence):
    assert said(body) == sentence


NOW = 1_700_000_000.0


@pytest.mark.parametrize(
    ("headers", "body", "seconds"),
    [
        ({"retry-after": "7"}, "", 7),
        ({"retry-after": "0.25"}, "", 0.25),
        ({"retry-after": "-5"}, "", 0),
        ({"retry-after": formatdate(NOW + 90, usegmt=True)}, "", 90),
        ({"retry-after": formatdate(NOW - 90, usegmt=True)}, "", 0),
        ({}, '{"@type": "RetryInfo", "retryDelay": "45.8s"}', 45.8),
        ({"retry-after": "3"}, '{"retryDelay": "45.8s"}', 3),
        ({"retry-after": "soon"}, "", None),
        ({"retry-after": "nan"}, "", None),
        ({"retry-after": "inf"}, '{"retryDelay": "2s"}', 2),
        ({"retry-after": "1e300"}, "", None),
        ({"retry-after": "Fri, 31 Dec 9999 23:59:59 GMT"}, "", None),
        ({"retry-after": ""}, "", None),
        ({}, "", None),
    ],
)
def test_the_wait_that_is_asked_for(headers, body, seconds):
    assert asked_wait(headers, body, NOW) == seconds


@given(st.integers(0, 50), st.floats(0, 1, exclude_max=True), st.none() | st.floats(0, 60))
def test_no_pause_is_over_a_minute_or_under_what_was_asked_for(tried, dice, wait):
    seconds = pause(Failure(Kind.RATE, "", wait), tried, dice)
    assert (wait or 0) <= seconds <= LONGEST_WAIT


def test_pauses_double_and_spread():
    assert [pause(Failure(Kind.SERVER, ""), n, 0.5) for n in range(4)] == [0.5, 1, 2, 4]
    assert pause(Failure(Kind.SERVER, ""), 3, 0) == 0


def test_whoever_asks_for_more_than_a_minute_is_left_alone():
    failure = Failure(Kind.RATE, "", 3_600)
    assert failure.course is Course.CLOSE
    assert failure.next_step.startswith("try again in 3,600 s")


def caused(error, cause):
    error.__cause__ = cause
    return error


ConnectError = type("ConnectError", (Exception,), {})
UNTRUSTED = ssl.SSLCertVerificationError(
    1, "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate (_ssl.c:1006)"
)


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (
            caused(ConnectError(), ConnectionRefusedError(111, "Connect call failed")),
            Kind.ADDRESS,
            "Connection refused",
        ),
        (caused(ConnectError(), socket.gaierror(-2, "Name or service not known")), Kind.ADDRESS, "Name or service"),
        (
            caused(ConnectError(), ExceptionGroup("both", [ConnectionRefusedError(111, "::1"), OSError(111, "v4")])),
            Kind.ADDRESS,
            "Connection refused",
        ),
        (ConnectError(), Kind.ADDRESS, "does not answer"),
        (ConnectionResetError(104, "?"), Kind.CONNECTION, "Connection reset by peer"),
        (EOFError("incomplete"), Kind.CONNECTION, "broke the connection off: incomplete"),
        (EOFError(), Kind.CONNECTION, "broke the connection off"),
        (
            caused(ConnectError(), UNTRUSTED),
            Kind.ADDRESS,
            "reached: certificate verify failed: self-signed certificate",
        ),
    ],
    ids=["refused", "no such host", "refused twice", "nothing known", "reset", "incomplete", "no words", "untrusted"],
)
def test_connection_trouble_says_what_the_system_said(error, kind, words):
    failure = by_connection(error, WHERE)
    assert failure.kind is kind
    assert words in failure.what
    assert WHERE in failure.what
