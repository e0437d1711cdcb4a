"""Is a summary had from whatever an endpoint does, or else an error that says what to do, with no call wasted?"""

import asyncio
import json
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from compactor.core.summary import Summary, render
from compactor.errors import PromptTooLong, SummarizerUnavailable, SummaryError
from compactor.summarizers import spent_by, summarise
from compactor.summarizers.dialect import HEADROOM, Dialect
from compactor.summarizers.endpoint import Endpoint, EndpointSummarizer
from compactor.summarizers.failures import Failure, Kind
from tests.asked import COUNT, asked, run
from tests.standin import BEHAVIOURS, Standin

KEY = "sk-proj-Qm9va3MgYXJlIGdvb2Qu-1234"
RETRIES = 2
SHORT = 0.3  # seconds until a call that never ends is given up


class Waits(list[float]):
    """Waits that are written down and not sat through."""

    async def __call__(self, seconds):
        self.append(round(seconds, 3))


def summarizer(url, waits=None, model="small", timeout=30.0, retries=RETRIES, **environ):
    return EndpointSummarizer(
        Endpoint(model, url, timeout, retries),
        {"OPENAI_API_KEY": KEY, **environ},
        sleep=Waits() if waits is None else waits,
        dice=lambda: 0.5,
        clock=lambda: 1_700_000_000.0,
    )


async def outcome(one, request=None):
    """The summary and its cost, or the error."""
    try:
        return await summarise(one, request or asked(), COUNT, str)
    except SummaryError as error:
        return error
    finally:
        await one.close()


OK, FAILS, CLOSED = Summary, SummaryError, SummarizerUnavailable
# What each behaviour comes to: result, requests that reached the server, waits before each further try in
# seconds (dice: 0.5), and words of the sentence. A second request without a wait is the repair of `summarise`,
# or a parameter that was adapted.
TABLE: dict[str, tuple[Any, int, list[float], str]] = {
    "good": (OK, 1, [], ""),
    "echo_notes": (OK, 1, [], ""),
    "same_notes": (OK, 1, [], ""),
    "obey_outside": (OK, 1, [], ""),
    "cut:90000": (OK, 1, [], ""),
    "slow:0": (OK, 1, [], ""),
    "fences": (OK, 1, [], ""),
    "think_tags": (OK, 1, [], ""),
    "reasoning_only": (OK, 1, [], ""),
    "reasoning_field": (OK, 1, [], ""),
    "parts": (OK, 1, [], ""),
    "surrogates": (OK, 1, [], ""),
    "bom": (OK, 1, [], ""),
    "gateway_reason:STOP": (OK, 1, [], ""),
    "gateway_reason:eos_token": (OK, 1, [], ""),
    "gateway_reason:MAX_TOKENS": (FAILS, 2, [], "it was cut off at the output limit"),
    "gateway_reason:SAFETY": (FAILS, 2, [], "the provider's content filter stopped it"),
    "odd_usage": (OK, 1, [], ""),
    "empty": (FAILS, 2, [], "the reply is empty"),
    "null_content": (FAILS, 2, [], "the reply is empty"),
    "planning": (FAILS, 2, [], "the reply is empty"),
    "prose": (FAILS, 2, [], "lacks the headings"),
    "refusal": (FAILS, 2, [], "it is a refusal: \"I'm sorry"),
    "refusal_text": (FAILS, 2, [], "the reply is a refusal: \"I'm sorry"),
    "missing_heading": (FAILS, 2, [], "lacks the heading Key Decisions"),
    "missing_heading,good": (OK, 2, [], ""),
    "too_long": (OK, 2, [], ""),
    "too_long,good": (OK, 2, [], ""),
    "too_long,refusal": (OK, 2, [], ""),
    "tool_text": (FAILS, 2, [], "lacks the headings Goal"),
    "other_language": (OK, 1, [], ""),  # so few words are in no language for sure
    "no_turns": (FAILS, 2, [], "the reply says that there were no turns to read"),
    "echo_prompt": (FAILS, 2, [], "the reply repeats what it was asked"),
    "endless:10": (FAILS, 2, [], "it wrote over 2 MB"),
    "endless:10,good": (OK, 2, [], ""),
    "obey": (OK, 1, [], ""),
    "obey_adding": (OK, 1, [], ""),
    "plant": (OK, 1, [], ""),
    "no_choices_paid": (FAILS, 3, [0.5, 1], "without any choice (tried 3 times)"),
    "length": (FAILS, 2, [], "it was cut off at the output limit"),
    "length,good": (OK, 2, [], ""),
    "length_in_thought": (OK, 2, [], ""),
    "finish_content_filter": (FAILS, 2, [], "the provider's content filter stopped it"),
    "finish_unknown": (FAILS, 2, [], "unknown reason ('abort')"),
    "tool_calls": (FAILS, 2, [], "it called a tool instead of writing"),
    "no_choices": (FAILS, 3, [0.5, 1], "without any choice (tried 3 times)"),
    "no_choices,good": (OK, 2, [0.5], ""),
    "error_200": (FAILS, 1, [], "answered with an error: Model unloaded"),
    "context_200": (FAILS, 1, [], "a model with a larger context window"),
    "error_200_code": (FAILS, 3, [0.5, 1], "Provider returned error: upstream overloaded (tried 3 times)"),
    "error_choice": (FAILS, 3, [0.5, 1], "The provider went away (tried 3 times)"),
    "html_200": (CLOSED, 1, [], "a web page instead of JSON: Welcome to the portal; check --base-url"),
    "bad_json": (FAILS, 3, [0.5, 1], "invalid JSON"),
    "bad_json,good": (OK, 2, [0.5], ""),
    "wrong_json": (FAILS, 3, [0.5, 1], "no chat completion"),
    "odd_types": (FAILS, 2, [], "unknown reason"),
    "fail_401": (CLOSED, 1, [], "HTTP 401: Incorrect API key provided: [key]"),
    "fail_401_short": (CLOSED, 1, [], "HTTP 401: Incorrect API key provided: [key]"),
    "fail_401_late": (CLOSED, 1, [], "HTTP 401: Please check it."),
    "error_200_401": (CLOSED, 1, [], "answered with an error: No such key: [key]"),
    "key_400": (CLOSED, 1, [], "check OPENAI_API_KEY"),
    "fail_403": (CLOSED, 1, [], "HTTP 403: Country, region"),
    "credits_402": (CLOSED, 1, [], "check the plan and the balance"),
    "quota_429": (CLOSED, 1, [], "check the plan and the balance"),
    "day_429": (CLOSED, 1, [], "check the plan and the balance"),
    "retry_info_429": (FAILS, 3, [46.3, 46.3], "HTTP 429"),
    "retry_info_429:2s,good": (OK, 2, [2.5], ""),
    "rate_429": (FAILS, 3, [1.5, 1.5], "Rate limit reached"),
    "rate_429,good": (OK, 2, [1.5], ""),
    "rate_429:59.9,good": (OK, 2, [60], ""),
    "rate_429:3600": (CLOSED, 1, [], "try again in 3,600 s"),
    "rate_429_date:1700000020,good": (OK, 2, [20.5], ""),
    "rate_429_bare": (FAILS, 3, [0.5, 1], "Too many requests (tried 3 times); lower --jobs"),
    "model_404": (CLOSED, 1, [], "HTTP 404: The model `small` does not exist"),
    "path_404": (CLOSED, 1, [], "check --model and --base-url (most end in /v1)"),
    "model_400": (CLOSED, 1, [], "small is not a valid model ID"),
    "context_400:90000": (OK, 1, [], ""),
    "context_400_both": (FAILS, 1, [], "a model with a larger context window"),
    "context_400": (FAILS, 1, [], "a model with a larger context window"),
    "context_400_vllm": (FAILS, 1, [], "a model with a larger context window"),
    "context_400_llamacpp": (FAILS, 1, [], "a model with a larger context window"),
    "context_400_anthropic": (FAILS, 1, [], "a model with a larger context window"),
    "context_400_gemini": (FAILS, 1, [], "a model with a larger context window"),
    "context_413": (FAILS, 1, [], "HTTP 413; use a model with a larger context window"),
    "max_tokens_400": (OK, 2, [], ""),
    "max_completion_tokens_400": (OK, 1, [], ""),
    "cap_400:1024": (OK, 2, [], ""),
    "temperature_400": (OK, 2, [], ""),
    "both_400": (OK, 3, [], ""),
    "caps_400": (FAILS, 2, [], "HTTP 400: Unrecognized request argument"),
    "content_filter_400": (FAILS, 1, [], "the provider's content filter stopped it: "),
    "moderation_403": (FAILS, 1, [], "the provider's content filter stopped it: "),
    "unknown_400": (FAILS, 1, [], "HTTP 400: Something about this"),
    "fail_500": (FAILS, 3, [0.5, 1], "HTTP 500: The server had an error"),
    "fail_500,good": (OK, 2, [0.5], ""),
    "html_502": (FAILS, 3, [0.5, 1], "HTTP 502: 502 Bad Gateway nginx/1.24.0 (tried"),
    "fail_503": (FAILS, 3, [0.5, 1], "HTTP 503: Loading model"),
    "fail_503:7,good": (OK, 2, [7.5], ""),
    "fail_529": (FAILS, 3, [0.5, 1], "HTTP 529: Overloaded"),
    "timeout_408": (FAILS, 3, [0.5, 1], "HTTP 408: Request timed out"),
    "hang": (FAILS, 3, [0.5, 1], f"did not answer within {SHORT} s (tried 3 times); raise --timeout"),
    "hang,good": (OK, 2, [0.5], ""),
    "drip": (FAILS, 3, [0.5, 1], f"did not answer within {SHORT} s (tried 3 times); raise --timeout"),
    "reset": (FAILS, 3, [0.5, 1], "broke the connection off"),
    "reset,good": (OK, 2, [0.5], ""),
    "incomplete": (FAILS, 3, [0.5, 1], "broke the connection off: peer closed connection"),
    "incomplete,good": (OK, 2, [0.5], ""),
    "redirects": (CLOSED, 3, [], "sends every request elsewhere, without end; check --base-url"),
    "refused": (CLOSED, 0, [], "cannot be reached: Connection refused; check --base-url"),
}


def test_the_table_knows_every_behaviour():
    assert {name.split(":")[0].split(",")[0] for name in TABLE} == set(BEHAVIOURS)


@pytest.mark.parametrize("behaviour", TABLE)
def test_behaviour(behaviour):
    expected, hits, pauses, words = TABLE[behaviour]
    waits = Waits()
    short = behaviour.startswith(("hang", "drip"))
    with Standin(behaviour) as endpoint:
        result = run(outcome(summarizer(endpoint.url, waits, timeout=SHORT if short else 30.0)))
    assert (endpoint.hits, waits) == (hits, pauses)
    if expected is OK:
        summary, usage = result
        assert "error 4711" in render(summary)
        assert usage.calls == hits
        return
    assert type(result) in (expected, PromptTooLong if expected is FAILS else expected), result
    assert spent_by(result).calls >= (1 if behaviour == "redirects" else hits)  # nobody is billed for being sent on
    assert words in str(result)
    assert result.next_step
    assert "\n" not in str(result)
    assert not any(KEY[i : i + 4] in str(result) for i in range(7, len(KEY) - 3))
    assert result.__context__ is None  # a traceback would show what the server said


def test_case_h46_p27_p36_what_is_asked():
    with Standin() as endpoint:
        run(outcome(summarizer(endpoint.url)))
    (ask,) = endpoint.asks
    request = asked()
    assert ask.path == "/v1/chat/completions"
    assert ask.key == KEY
    assert ask.body == {
        "model": "small",
        "messages": [{"role": "system", "content": request.system}, {"role": "user", "content": request.user}],
        "max_tokens": 3_000,
        "temperature": 0,
    }


def test_what_cannot_be_sent_is_replaced():
    request = replace(asked(), system="## Goal \udfff", user="a \ud800 b \x00 c \ud83d\ude00")
    with Standin("fail_500") as endpoint:
        run(outcome(summarizer(endpoint.url), request))
    assert endpoint.asks[0].text("system") == "## Goal \ufffd"
    assert endpoint.asks[0].text("user") == "a \ufffd b \x00 c \U0001f600"


def test_case_h49_the_second_request_differs():
    with Standin("length,good") as endpoint:
        run(outcome(summarizer(endpoint.url)))
    first, second = (ask.text("user") for ask in endpoint.asks)
    assert first != second
    assert "cut off at the output limit" in second


def test_usage_is_added_up():
    with Standin("missing_heading,good") as endpoint:
        _, usage = run(outcome(summarizer(endpoint.url)))
    sizes = [sum(len(m["content"]) for m in ask.body["messages"]) // 4 for ask in endpoint.asks]
    assert (usage.calls, usage.prompt_tokens, usage.cached_tokens) == (2, sum(sizes), sizes[1] // 2)
    assert usage.completion_tokens > 0


@pytest.mark.parametrize(("behaviour", "answered"), [("no_choices_paid,good", 2), ("fail_500,good", 1), ("good", 1)])
def test_what_a_call_in_vain_has_cost_is_added(behaviour, answered):
    with Standin(behaviour) as endpoint:
        _, usage = run(outcome(summarizer(endpoint.url)))
    assert usage.calls == endpoint.hits
    size = sum(len(m["content"]) for m in endpoint.asks[0].body["messages"]) // 4
    assert usage.prompt_tokens == answered * size


def test_what_an_error_has_cost_is_with_it():
    with Standin("no_choices_paid") as endpoint:
        error = run(outcome(summarizer(endpoint.url)))
    assert spent_by(error).calls == 3
    assert spent_by(error).completion_tokens == 300


def test_no_more_is_asked_for_than_there_is_room():
    with Standin() as endpoint:
        run(outcome(summarizer(endpoint.url, model="openai/gpt-5-mini"), replace(asked(), size=5_000, room=2_500)))
    assert endpoint.asks[0].body["max_tokens"] == 2_500


def test_a_reply_in_another_language_is_asked_for_again():
    words = "This is the work that was left from the week before, and it is not for the others with us. " * 4
    with Standin("other_language,good") as endpoint:
        summary, _ = run(outcome(summarizer(endpoint.url), asked(words)))
    assert isinstance(summary, Summary)
    assert "it is written in German, where the conversation is in English" in endpoint.asks[1].text("user")


async def several(one, number):
    try:
        return [(await summarise(one, asked(), COUNT, str))[1] for _ in range(number)]
    finally:
        await one.close()


@pytest.mark.parametrize(("behaviour", "wasted"), [("max_tokens_400", 1), ("both_400", 2), ("cap_400:1024", 1)])
def test_a_parameter_is_adapted_once_for_the_run(behaviour, wasted):
    with Standin(behaviour) as endpoint:
        usages = run(several(summarizer(endpoint.url), 3))
    assert endpoint.hits == 3 + wasted
    assert [usage.calls for usage in usages] == [1 + wasted, 1, 1]


def test_calls_in_flight_learn_from_each_other():
    async def together():
        one = summarizer(endpoint.url)
        results = await asyncio.gather(*(summarise(one, asked(f"turn {n}"), COUNT, str) for n in range(8)))
        await one.close()
        return results

    with Standin("both_400") as endpoint:
        assert len(run(together())) == 8
        assert endpoint.hits <= 8 * 3
        dialects = [set(ask.body) - {"model", "messages"} for ask in endpoint.asks]
    assert dialects[-1] == {"max_completion_tokens"}


def test_a_late_refusal_takes_nothing_back():
    one = summarizer(None)
    refusal = Failure(Kind.REQUEST, "", body="no max_tokens")
    first = Dialect()
    assert one._learns(refusal, first, 2_000)
    assert one._learns(Failure(Kind.REQUEST, "", body="no temperature"), one._dialect, 2_000)
    learned = one._dialect
    assert one._learns(refusal, first, 2_000)  # a call that was on its way all the time asks again, as by now known
    assert one._dialect == learned == Dialect("max_completion_tokens", swapped=True, temperature=False)
    assert not one._learns(refusal, learned, 2_000)


def test_case_h45_p17_a_model_that_thinks_gets_room_and_keeps_it():
    with Standin("length_in_thought") as endpoint:
        run(several(summarizer(endpoint.url), 2))
    assert [ask.body["max_tokens"] for ask in endpoint.asks] == [3_000, *[3_000 + HEADROOM] * 2]


def test_a_model_that_thinks_a_lot_gets_twice_the_room():
    async def twice():
        one = summarizer(endpoint.url)
        with pytest.raises(SummaryError, match="cut off"):
            await summarise(one, asked(), COUNT, str)
        return await outcome(one)

    with Standin("length_in_thought:12000") as endpoint:
        summary, _ = run(twice())
    assert isinstance(summary, Summary)
    assert [ask.body["max_tokens"] - 3_000 for ask in endpoint.asks] == [0, HEADROOM, 2 * HEADROOM]


def test_reasoning_models_of_other_endpoints_get_room_from_the_first_call():
    with Standin() as endpoint:
        run(outcome(summarizer(endpoint.url, model="openai/gpt-5-mini")))
    assert endpoint.asks[0].body["max_tokens"] == 3_000 + HEADROOM
    assert "temperature" not in endpoint.asks[0].body


def test_an_address_that_answered_before_is_tried_again():
    async def gone():
        one = summarizer(endpoint.url, waits)
        await one.reply(asked())
        endpoint.__exit__()
        return await outcome(one)

    waits = Waits()
    endpoint = Standin().__enter__()
    error = run(gone())
    assert type(error) is SummarizerUnavailable
    assert len(waits) == RETRIES
    assert "tried 3 times" in str(error)


def test_no_retries_is_one_try():
    waits = Waits()
    with Standin("fail_500") as endpoint:
        error = run(outcome(summarizer(endpoint.url, waits, retries=0)))
    assert (endpoint.hits, waits) == (1, [])
    assert "tried" not in str(error)


def test_openai_itself_needs_a_key():
    error = run(outcome(summarizer(None, OPENAI_API_KEY="")))
    assert type(error) is SummarizerUnavailable
    assert "https://api.openai.com/v1 needs an API key; set OPENAI_API_KEY" in str(error)


def test_a_server_of_ones_own_needs_none():
    with Standin() as endpoint:
        summary, _ = run(outcome(summarizer(endpoint.url, OPENAI_API_KEY="")))
    assert isinstance(summary, Summary)
    assert endpoint.asks[0].key == "no-key"


def test_the_environment_names_the_endpoint_and_the_flag_is_stronger():
    with Standin() as endpoint, Standin("fail_500") as other:
        run(outcome(summarizer(None, OPENAI_BASE_URL=endpoint.url)))
        run(outcome(summarizer(endpoint.url, OPENAI_BASE_URL=other.url)))
    assert (endpoint.hits, other.hits) == (2, 0)


@pytest.mark.parametrize("key", ["sk-abcdef\nghijkl", "schlüssel-1234", "“sk-abcdefgh”"])
def test_a_key_that_is_none_is_not_sent_and_not_shown(key):
    with Standin() as endpoint:
        error = run(outcome(summarizer(endpoint.url, OPENAI_API_KEY=key)))
    assert type(error) is SummarizerUnavailable
    assert endpoint.hits == 0
    assert "OPENAI_API_KEY" in str(error)
    assert key[:8] not in str(error)


def test_not_even_the_beginning_of_a_key_is_shown_where_a_message_is_cut():
    with Standin("fail_401_late") as endpoint:
        error = run(outcome(summarizer(endpoint.url, OPENAI_API_KEY="Qm9va3MgYXJlIGdvb2Qu")))
    assert "Please check it. Got: [key]" in str(error)


def test_blanks_around_a_key_do_not_matter():
    with Standin() as endpoint:
        run(outcome(summarizer(endpoint.url, OPENAI_API_KEY=f" {KEY}\n")))
    assert endpoint.asks[0].key == KEY


@pytest.mark.parametrize("name", ["HTTP_PROXY", "ALL_PROXY", "SSL_CERT_FILE"])
def test_an_environment_that_allows_no_connection_is_said(name, monkeypatch):
    monkeypatch.setenv(name, "/nowhere" if name == "SSL_CERT_FILE" else "odd://me:secret@proxy")
    error = run(outcome(summarizer("http://127.0.0.1:9/v1")))
    assert type(error) is SummarizerUnavailable
    assert "that the environment names is of no use: " in str(error)
    assert name in error.next_step
    assert "secret" not in str(error)


def test_ctrl_c_ends_a_call_at_once():
    async def interrupted():
        one = summarizer(endpoint.url)
        call = asyncio.create_task(one.reply(asked()))
        while not endpoint.hits:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await one.close()

    with Standin("hang") as endpoint:
        run(interrupted())
    assert endpoint.hits == 1


def test_the_name_says_who_wrote_it():
    assert summarizer(None, model="gpt-4.1-mini").name == "openai:gpt-4.1-mini"


def test_closing_what_was_never_opened_is_fine():
    run(summarizer(None).close())


def test_the_sdk_is_imported_by_the_first_call_and_not_before():
    code = (
        "import sys; from compactor.summarizers.endpoint import *; from compactor.summarizers.command import *;"
        "EndpointSummarizer(Endpoint('m', None, 1, 0), {}).name;"
        "print([m for m in sys.modules if m.split('.')[0] in ('openai', 'httpx', 'httpx2', 'pydantic')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []
