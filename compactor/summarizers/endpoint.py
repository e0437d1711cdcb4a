"""How is a summary had from an OpenAI-compatible endpoint, whatever the endpoint does?

One client for the run, one layer of retries (ours), a deadline by the wall clock for every call, and no text
that leaves here with the API key in it.
"""

from __future__ import annotations

import asyncio
import os
import random
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from compactor.errors import PromptTooLong, SummarizerUnavailable, SummaryError
from compactor.summarizers import Reply, Usage
from compactor.summarizers.address import shown
from compactor.summarizers.dialect import OPENAI_HOST, Dialect, first_dialect
from compactor.summarizers.failures import (
    Course,
    Failure,
    Kind,
    asked_wait,
    by_connection,
    by_status,
    pause,
)
from compactor.summarizers.keys import masked, without_key
from compactor.summarizers.overflow import stated
from compactor.summarizers.pace import Pace
from compactor.summarizers.replies import CUT, Answer, read, sendable, usage_in

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from openai import AsyncOpenAI

    from compactor.core.prompt import Request

DEFAULT_URL = f"https://{OPENAI_HOST}/v1"
CONNECT_SECONDS = 10.0  # a server that is there takes a connection far sooner, however busy it is
MOST_REDIRECTS = 2  # to another scheme, and to a path with or without its last slash
PLACEHOLDER_KEY = "no-key"  # the SDK insists on one; local servers do not look at it
# Bytes of an answer, more than the largest summary and the longest thought take; a server that writes on is left.
LONGEST_ANSWER = 2 * 1024 * 1024
LONGEST_ERROR = 64 * 1024  # characters of an error's body that are looked at
_HTTP = ("httpx", "httpx2", "httpcore", "httpcore2")  # whose errors come through while an answer is read


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where and how to ask. `timeout` is in seconds for each call; `retries` come on top of the first try.

    Without `base_url` it is OPENAI_BASE_URL, else OpenAI itself.
    """

    model: str
    base_url: str | None
    timeout: float
    retries: int


class EndpointSummarizer:
    """Asks an OpenAI-compatible endpoint, with the key in OPENAI_API_KEY if it wants one.

    Raises UsageError for a base URL that is none. The environment, the waiting, the dice and the clock (seconds
    since the epoch) are arguments.
    """

    def __init__(  # noqa: PLR0913 - what it depends on
        self,
        endpoint: Endpoint,
        environ: Mapping[str, str] = os.environ,
        *,
        pace: Pace | None = None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        dice: Callable[[], float] = random.random,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._endpoint = endpoint
        self._url = (endpoint.base_url or environ.get("OPENAI_BASE_URL", "")).strip() or DEFAULT_URL
        self._where = shown(self._url)
        self._key = environ.get("OPENAI_API_KEY", "").strip()
        self._sleep, self._dice, self._clock = sleep, dice, clock
        self._pace = pace or Pace()
        self._dialect = first_dialect(endpoint.model, self._url)
        self._client: AsyncOpenAI | None = None
        self._answered = False

    @property
    def name(self) -> str:
        """Name for reports and the sidecar: "openai:" and the model."""
        return f"openai:{self._endpoint.model}"

    async def reply(self, request: Request) -> Reply:
        """Answer `request`, adapting parameters once and trying again what may pass.

        Raises SummarizerUnavailable for what would meet every conversation, SummaryError for the rest.
        """
        client = self._connect()
        tried, spent = 0, Usage()
        while True:
            dialect = self._dialect
            await self._pace.turn(request.size + request.ceiling)
            outcome, cost = await self._call(client, request, dialect)
            spent += cost
            if isinstance(outcome, Answer):
                return replace(self._accept(outcome, dialect), usage=spent)
            if self._learns(outcome, dialect, request.ceiling, request.room):
                continue
            tried += 1
            if tried > self._endpoint.retries or not self._passes(outcome):
                raise self._error(outcome, tried, spent)
            await self._sleep(pause(outcome, tried - 1, self._dice()))

    async def close(self) -> None:
        """Let go of connections."""
        if self._client is not None:
            await self._client.close()

    def _connect(self) -> AsyncOpenAI:
        if self._client is None:
            if not self._key and urlsplit(self._url).hostname == OPENAI_HOST:
                raise SummarizerUnavailable(
                    f"{self._where} needs an API key",
                    "set OPENAI_API_KEY, or give --base-url of a server of your own, or use --summarizer extractive",
                )
            if not (self._key.isascii() and self._key.isprintable()):
                raise SummarizerUnavailable(
                    "OPENAI_API_KEY holds characters that no key has", "set it again, without quotes or line breaks"
                )
            # Here, because a dry run need not wait for it.
            from openai import AsyncOpenAI, DefaultAsyncHttpxClient, Timeout

            seconds = self._endpoint.timeout
            try:
                http = DefaultAsyncHttpxClient(max_redirects=MOST_REDIRECTS)
            except (ImportError, OSError, ValueError) as error:
                raise SummarizerUnavailable(
                    f"a proxy or certificate that the environment names is of no use: {str(error).rstrip('.')}",
                    "see to HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, SSL_CERT_FILE and SSL_CERT_DIR",
                ) from error
            self._client = AsyncOpenAI(
                api_key=self._key or PLACEHOLDER_KEY,
                base_url=self._url,
                max_retries=0,  # one layer of retries, and it is `reply`
                timeout=Timeout(seconds, connect=min(seconds, CONNECT_SECONDS)),
                http_client=http,
            )
        return self._client

    async def _call(self, client: AsyncOpenAI, request: Request, dialect: Dialect) -> tuple[Answer | Failure, Usage]:
        from openai import APIConnectionError, APIStatusError

        try:
            async with asyncio.timeout(self._endpoint.timeout):
                body = await self._body(client, request, dialect)
        except APIStatusError as error:
            refusal = masked(error.response.text[:LONGEST_ERROR], self._key)
            wait = asked_wait(error.response.headers, refusal, self._clock())
            return by_status(error.status_code, refusal, self._where, wait), usage_in(refusal)
        except (TimeoutError, APIConnectionError) as error:
            return self._unanswered(error), Usage(calls=1)
        except Exception as error:
            if type(error).__module__.partition(".")[0] not in _HTTP:
                raise
            return self._unanswered(error), Usage(calls=1)
        if body is None:
            endless = f"it wrote over {LONGEST_ANSWER // 1024 // 1024} MB"
            return Answer(Reply("", endless), reasoned=False), Usage(calls=1)
        outcome = read(without_key(body, self._key), self._where)
        return outcome, outcome.reply.usage if isinstance(outcome, Answer) else usage_in(body)

    async def _body(self, client: AsyncOpenAI, request: Request, dialect: Dialect) -> str | None:
        """Ask, and read the answer as it came; None if there is no end to it.

        What servers send in place of a completion would not survive the SDK's types.
        """
        asked = client.chat.completions.with_streaming_response.create(
            model=self._endpoint.model,
            messages=[
                {"role": "system", "content": sendable(request.system)},
                {"role": "user", "content": sendable(request.user)},
            ],
            extra_body=dialect.parameters(request.ceiling, request.room),  # a body's fields, whatever their names
        )
        body = bytearray()
        async with asked as answer:
            async for chunk in answer.iter_bytes():
                body += chunk
                if len(body) > LONGEST_ANSWER:
                    return None
        return body.decode("utf-8-sig", "replace")

    def _unanswered(self, error: Exception) -> Failure:
        failure = by_connection(error, self._where)
        timed_out = isinstance(error, TimeoutError) or "Timeout" in type(error).__name__
        if not timed_out or failure.kind is Kind.ADDRESS:
            return failure
        return Failure(Kind.TIMEOUT, f"{self._where} did not answer within {self._endpoint.timeout:g} s")

    def _accept(self, answer: Answer, dialect: Dialect) -> Reply:
        self._answered = True
        if answer.reasoned and self._dialect == dialect:
            self._dialect = dialect.after_reasoning(cut=answer.reply.fault == CUT)
        return answer.reply

    def _learns(self, failure: Failure, dialect: Dialect, ceiling: int, room: int = 0) -> bool:
        """Adapt to a refused parameter; True if another try asks differently.

        Calls in flight share what one of them has learned, and none takes it back.
        """
        if failure.kind is not Kind.REQUEST:
            return False
        if self._dialect == dialect:
            self._dialect = dialect.after_refusal(failure.body, ceiling, room)
        return self._dialect != dialect

    def _passes(self, failure: Failure) -> bool:
        """Whether the same request may succeed later. An address that answered before is not a wrong one."""
        if failure.kind is Kind.ADDRESS:
            return self._answered
        return failure.course is Course.AGAIN

    def _error(self, failure: Failure, tried: int, spent: Usage) -> SummaryError:
        often = f" (tried {tried} times)" if tried > 1 else ""
        what = masked(failure.what, self._key) + often
        error = SummaryError(what, failure.next_step)
        if failure.course is Course.CLOSE:
            error = SummarizerUnavailable(what, failure.next_step)
        elif failure.kind is Kind.OVERFLOW:
            error = PromptTooLong(what, failure.next_step, *stated(failure.body))
        error.spent = spent
        return error
