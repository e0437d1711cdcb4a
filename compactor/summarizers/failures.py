"""What went wrong with a call to an endpoint, is another try worth it, and what is the user told?

Servers that call themselves compatible word the same failure in many ways. The patterns are the wordings of
OpenAI, Azure, vLLM, llama.cpp, LM Studio, Ollama, OpenRouter, Gemini, Anthropic, Groq, xAI and Mistral.
"""

from __future__ import annotations

import json
import os
import re
import ssl
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from enum import Enum, auto
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SAID_CHARS = 200  # of a server's own words; more is a page of HTML or a stack trace
# Seconds. Limits per minute are over by then; whoever asks for more means "come back later".
LONGEST_WAIT, FIRST_WAIT = 60.0, 1.0  # the first is doubled for each further try
LONGEST_ASKED = 366 * 86_400.0  # whoever asks for more means nothing


class Course(Enum):
    """What to do after a failure: try again, give up this conversation, or stop asking altogether."""

    AGAIN = auto()
    FAIL = auto()
    CLOSE = auto()


class Kind(Enum):
    """The classes of failure that call for different next steps."""

    KEY = auto()
    QUOTA = auto()
    MODEL = auto()
    ADDRESS = auto()
    OVERFLOW = auto()
    FILTERED = auto()
    REQUEST = auto()
    RATE = auto()
    SERVER = auto()
    CONNECTION = auto()
    TIMEOUT = auto()
    GARBLED = auto()


_COURSES = {
    Kind.KEY: (Course.CLOSE, "check OPENAI_API_KEY, and that it belongs to this endpoint and may use the model"),
    Kind.QUOTA: (Course.CLOSE, "check the plan and the balance of this key, or use another endpoint"),
    Kind.MODEL: (Course.CLOSE, "check --model and --base-url (most end in /v1)"),
    Kind.ADDRESS: (Course.CLOSE, "check --base-url (most end in /v1) and that the server is running"),
    Kind.OVERFLOW: (Course.FAIL, "use a model with a larger context window"),
    Kind.FILTERED: (Course.FAIL, "use another model for this conversation, or --on-failure extract"),
    Kind.REQUEST: (Course.FAIL, "check --model and --base-url"),
    Kind.RATE: (Course.AGAIN, "lower --jobs or set --rpm, raise --retries, or try later"),
    Kind.SERVER: (Course.AGAIN, "try later, or use another endpoint"),
    Kind.CONNECTION: (Course.AGAIN, "try again, and see the server's log"),
    Kind.TIMEOUT: (Course.AGAIN, "raise --timeout, or use a faster model"),
    Kind.GARBLED: (Course.AGAIN, "check --base-url and what stands between here and the endpoint"),
}


@dataclass(frozen=True, slots=True)
class Failure:
    """A call that brought no reply: one sentence, its class, the wait the server asks for, and its own words.

    `wait` is in seconds; `body` is the answer as it came, for whoever can learn from it.
    """

    kind: Kind
    what: str
    wait: float | None = None
    body: str = ""

    @property
    def course(self) -> Course:
        """What to do now."""
        return Course.CLOSE if (self.wait or 0) > LONGEST_WAIT else _COURSES[self.kind][0]

    @property
    def next_step(self) -> str:
        """What the user can do about it."""
        if (self.wait or 0) > LONGEST_WAIT:
            return f"try again in {self.wait:,.0f} s; that is how long the endpoint asks to wait"
        return _COURSES[self.kind][1]


_FILTERED = r"content_filter|ResponsibleAIPolicy|content[ _](?:management )?policy|data_inspection_failed|flagged"
_KEY = r"incorrect api key|api key (?:is )?(?:not valid|invalid|expired)|invalid api key|API_KEY_INVALID"
# Gemini says "You exceeded your current quota" for limits per minute, too; only the day's limit is final.
_QUOTA = r"insufficient_quota|billing_hard_limit|billing_not_active|credit balance|insufficient balance|per[ _-]?day"
_MODEL = r"model_not_found|not a valid model|(?:invalid|unknown) model|model\b.{0,80}(?:does not exist|not found)"
_OVERFLOW = (
    r"context_length_exceeded|exceed_context_size|(?:context|model)[ _](?:window|length|size)|maximum context|"
    r"(?:prompt|input|request) (?:is )?(?:too (?:long|large)|exceeds)|input token count|token count exceeds|"
    r"tokens? limit|max_tokens must be at least 1|reduce the length"
)
# Read from top to bottom: the first row whose statuses and pattern fit names the failure.
_RULES = (
    ({400, 403, 422, 500}, _FILTERED, Kind.FILTERED),
    ({400}, _KEY, Kind.KEY),
    ({402}, "", Kind.QUOTA),
    ({400, 403, 429}, _QUOTA, Kind.QUOTA),
    ({401, 403}, "", Kind.KEY),
    ({404}, "", Kind.MODEL),
    ({413}, "", Kind.OVERFLOW),
    ({400, 422, 500}, _OVERFLOW, Kind.OVERFLOW),
    ({400, 422}, _MODEL, Kind.MODEL),
    ({429}, "", Kind.RATE),
    ({408, 409, 425}, "", Kind.SERVER),
)
_SERVER_ERROR = 500
_BAD_REQUEST = 400


def by_status(status: int, body: str, where: str, wait: float | None = None) -> Failure:
    """Name the failure of an answer with an error status; `where` is the endpoint as the user knows it."""
    kind, words = _kind(status, body), said(body)
    return Failure(kind, _sentence(kind, f"{where} answered with HTTP {status}", words), wait, body)


def by_error(error: object, where: str) -> Failure:
    """Name the failure of an answer that says 200 and holds an error; without a status in it a bad request."""
    body = json.dumps({"error": error})
    code = str(error.get("code")) if isinstance(error, dict) else ""
    kind = _kind(int(code) if re.fullmatch(r"[45]\d\d", code) else _BAD_REQUEST, body)
    return Failure(kind, _sentence(kind, f"{where} answered with an error", said(body)), body=body)


def _sentence(kind: Kind, answered: str, words: str) -> str:
    sentence = f"{answered}: {words.removesuffix('.')}" if words else answered
    return f"the provider's content filter stopped it: {sentence}" if kind is Kind.FILTERED else sentence


def _kind(status: int, body: str) -> Kind:
    for statuses, pattern, kind in _RULES:
        if status in statuses and re.search(pattern, body, re.IGNORECASE):
            return kind
    return Kind.SERVER if status >= _SERVER_ERROR else Kind.REQUEST


def by_connection(error: BaseException, where: str) -> Failure:
    """Name the failure of a call that got no answer, from the exception and its causes."""
    causes = tuple(_causes(error))
    names = {type(c).__name__ for c in causes}
    detail = next((words for c in reversed(causes) if isinstance(c, OSError) and (words := _words(c))), "")
    if "TooManyRedirects" in names:
        return Failure(Kind.ADDRESS, f"{where} sends every request elsewhere, without end")
    # By name: the SDK changed its HTTP library between two releases that both work here.
    if names & {"ConnectError", "ConnectTimeout", "UnsupportedProtocol", "ProxyError"}:
        return Failure(Kind.ADDRESS, f"{where} cannot be reached: {detail or 'it does not answer'}")
    detail = detail or said(str(causes[-1]))  # what the HTTP library could not read
    return Failure(Kind.CONNECTION, f"{where} broke the connection off{': ' * bool(detail)}{detail}")


def _words(error: OSError) -> str:
    """Say what the system said: asyncio puts the address in place of its words, resolvers number on their own.

    The numbers of TLS are its own, too; its words end with a line of its source.
    """
    if isinstance(error, ssl.SSLError):
        return re.sub(r"^\[.*?\] | \([\w.]+:\d+\)$", "", error.strerror or "")
    return os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror or ""


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        within = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
        error = next(iter(within), None) or error.__cause__ or error.__context__


def said(body: str) -> str:
    """Find the server's own sentence in an error body of any dialect: one line, at most 200 characters."""
    try:
        words = _message(json.loads(body))
    except (ValueError, RecursionError):
        words = body
    if words.lstrip().startswith("<"):
        words = re.sub(r"<(script|style|head).*?</\1>|<[^>]*>", " ", words, flags=re.DOTALL | re.IGNORECASE)
    line = " ".join("".join(c if c.isprintable() else " " for c in words).split())
    return line if len(line) <= SAID_CHARS else f"{line[: SAID_CHARS - 1]}…"


def _message(value: object) -> str:
    """Find the sentence in {"error": {"message": ...}} and its variants, the list that Gemini sends included."""
    if isinstance(value, list):
        return _message(value[0]) if value else ""
    if not isinstance(value, dict):
        return value if isinstance(value, str) else ""
    for key in ("error", "message", "detail", "msg"):
        if words := _message(value.get(key)):
            # OpenRouter says "Provider returned error" and keeps the provider's own words beside it.
            beside = value.get("metadata") if key == "message" else None
            raw = said(str(beside.get("raw", ""))) if isinstance(beside, dict) else ""
            return f"{words}: {raw}" if raw else words
    return ""


def asked_wait(headers: Mapping[str, str], body: str, now: float) -> float | None:
    """Seconds that the server asks to wait: Retry-After as a number or a date, or Gemini's retryDelay.

    `headers` has lower-case names; `now` is in seconds since the epoch.
    """
    value = headers.get("retry-after", "")
    delay = re.search(r'"retryDelay"\s*:\s*"([\d.]+)s"', body)
    for text in (value, delay.group(1) if delay else ""):
        try:
            seconds = float(text)
        except ValueError:
            continue
        if seconds < LONGEST_ASKED:
            return max(0.0, seconds)
    try:
        seconds = parsedate_to_datetime(value).timestamp() - now
    except (ValueError, TypeError):
        return None
    return max(0.0, seconds) if seconds < LONGEST_ASKED else None


def pause(failure: Failure, tried: int, dice: float) -> float:
    """Seconds before try number `tried` + 1; `dice` in [0, 1) spreads callers that failed together.

    Exponential with full jitter, or what the server asks for and up to a second more. Never over 60 s.
    """
    if failure.wait is not None:
        return min(LONGEST_WAIT, failure.wait + dice)
    return dice * min(LONGEST_WAIT, FIRST_WAIT * 2.0**tried)
