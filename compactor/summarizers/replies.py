"""What does an endpoint's answer with status 200 hold: a reply, half a reply, or an error after all?"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from compactor.core.summary import parse, strip_reasoning
from compactor.summarizers import Reply, Usage
from compactor.summarizers.failures import Failure, Kind, by_error, said

if TYPE_CHECKING:
    from collections.abc import Mapping

CUT = "it was cut off at the output limit"
_FILTERED = "the provider's content filter stopped it"
_CALLED = "it called a tool instead of writing"
# By the reason for the end in small letters. After those of OpenAI come those that gateways pass through from Hugging
# Face (eos_token), Together (eos), Anthropic (end_turn), Gemini (MAX_TOKENS, SAFETY) and others (end).
_FAULTS = {
    "stop": "",
    "length": CUT,
    "content_filter": _FILTERED,
    "tool_calls": _CALLED,
    "function_call": _CALLED,
    "eos_token": "",
    "eos": "",
    "end_turn": "",
    "end": "",
    "max_tokens": CUT,
    "safety": _FILTERED,
    "prohibited_content": _FILTERED,
    "tool_use": _CALLED,
}
MOST_TOKENS = 10**9  # of one call; a greater figure is a mistake of the server's, and no bill


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply, and whether the model was seen to reason before it."""

    reply: Reply
    reasoned: bool


def read(body: str, where: str) -> Answer | Failure:
    """Read the body of an answer with status 200; `where` is the endpoint as the user knows it.

    An error inside it is judged by the status that it names, else as a bad request: it is the server's final
    word. An answer without any choice, or that is no JSON, may come out right next time.
    """
    if body.lstrip().startswith("<"):
        return Failure(Kind.ADDRESS, f"{where} answered with a web page instead of JSON: {said(body)}")
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        return Failure(Kind.GARBLED, f"{where} answered with invalid JSON: {said(body)!r}")
    if isinstance(answer, list) and answer:
        answer = answer[0]
    if not isinstance(answer, dict):
        return Failure(Kind.GARBLED, f"{where} answered with JSON that is no chat completion")
    choices = answer.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else None
    if error := answer.get("error") or (choice or {}).get("error"):
        return by_error(error, where)
    if choice is None:
        return Failure(Kind.GARBLED, f"{where} answered without any choice")
    return _answer(choice, _usage(answer.get("usage")), answer)


def _answer(choice: Mapping[str, Any], usage: Usage, answer: Mapping[str, Any]) -> Answer:
    message = _mapping(choice.get("message"))
    text = _text(message.get("content"))
    reasoning = _text(message.get("reasoning_content")) or _text(message.get("reasoning"))
    spent = _mapping(_mapping(answer.get("usage")).get("completion_tokens_details"))
    reasoned = bool(reasoning or _tokens(spent, "reasoning_tokens") or strip_reasoning(text) != text.strip())
    if not text.strip() and not parse(reasoning)[1]:
        text = reasoning  # some servers file the whole answer of a reasoning model under its reasoning
    return Answer(Reply(text, _fault(choice, message, text), usage), reasoned)


def _fault(choice: Mapping[str, Any], message: Mapping[str, Any], text: str) -> str:
    refusal = _text(message.get("refusal"))
    if refusal.strip():
        return f"it is a refusal: {said(refusal)!r}"
    if message.get("tool_calls") and not text.strip():
        return _CALLED
    reason = str(choice.get("finish_reason"))
    return _FAULTS.get(reason.lower(), f"it ended for an unknown reason ({reason[:40]!r})")


def _text(content: object) -> str:
    """Content as text; of a list of parts, those that are text. Lone surrogates become U+FFFD."""
    if isinstance(content, list):
        content = "".join(_text(part.get("text")) for part in content if isinstance(part, dict))
    return sendable(content) if isinstance(content, str) else ""


def sendable(text: str) -> str:
    """Text that has a UTF-8 form: halves of a pair that stand together are joined, lone ones become U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def usage_in(body: str) -> Usage:
    """Read what an answer has cost that brought no reply."""
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        return Usage(calls=1)
    return _usage(_mapping(answer).get("usage"))


def _usage(usage: object) -> Usage:
    counted = _mapping(usage)
    return Usage(
        calls=1,
        prompt_tokens=_tokens(counted, "prompt_tokens"),
        cached_tokens=_tokens(_mapping(counted.get("prompt_tokens_details")), "cached_tokens"),
        completion_tokens=_tokens(counted, "completion_tokens"),
    )


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _tokens(counted: Mapping[str, Any], key: str) -> int:
    value = counted.get(key)
    return value if isinstance(value, int) and 0 < value <= MOST_TOKENS else 0
