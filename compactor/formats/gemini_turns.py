"""What does gemini-cli send of one record of its sessions?

A record of type "gemini" holds calls and their results; it is read as an assistant message and, if any call has a
result, a message with the results. Not sent, so not read: info, error and warning records; user records that are
blank or begin with one of IGNORED; thoughts, which the client strips; `resultDisplay`, `displayContent`.

After a resume the client writes the calls into `content` too (then those count, as they do for it), the results of a
turn into each of its calls, and all of them once more into a record of their own. A result under another call's id,
and that record, are copies: the client would send them twice, so they are no messages.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from compactor.core.messages import Message, Result, Role
from compactor.formats import gemini_parts
from compactor.formats.gemini_parts import find, mapping, string
from compactor.formats.records import brief
from compactor.formats.values import MalformedError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from compactor.core.messages import Call
    from compactor.formats.gemini_parts import Part

IGNORED = ("/", "?", "<session_context>", "<hook_context>")
FAILED = frozenset({"error", "cancelled"})


def turns(value: Mapping[str, object]) -> tuple[Message, ...]:
    """Read a record into the messages that the client makes of it: none, one, or calls and results.

    Raises MalformedError with a path from `$`, the record.
    """
    if value.get("type") == "user":
        found = gemini_parts.parts(value.get("content"), "$.content")
        return () if _ignored(found) else (replace(gemini_parts.message("user", found), reasoning=""),)
    return _model_turns(value) if value.get("type") == "gemini" else ()


def _ignored(found: Sequence[Part]) -> bool:
    """Tell whether the client takes it for a command or for what it says itself at every start."""
    said = "".join("[...]" if p.call or p.result or p.shown or p.thought else p.text for p in found).strip()
    return not said or said.startswith(IGNORED)


def _model_turns(value: Mapping[str, object]) -> tuple[Message, ...]:
    found = gemini_parts.parts(value.get("content"), "$.content")
    listed = tool_calls(value)
    said = replace(gemini_parts.message("model", found), reasoning="")
    if not written_out(found):
        calls = [_call(call, f"$.toolCalls[{n}]") for n, call in enumerate(listed)]
        said = replace(
            said,
            calls=tuple(call for call, _ in calls),
            image_tokens=said.image_tokens + sum(tokens for _, tokens in calls),
        )
    results = [r for n in range(len(listed)) if (r := _result(listed, n)) is not None]
    answers = (Message(Role.TOOL, results=tuple(results)),) if results else ()
    return answers if said == Message(Role.ASSISTANT) else (said, *answers)


def written_out(found: Sequence[Part]) -> bool:
    """Tell whether `content` holds all that the model said, calls included."""
    return any(p.call or p.thought for p in found)


def tool_calls(value: Mapping[str, object]) -> list[dict[str, object]]:
    """List the tool calls of a record. Raises MalformedError."""
    listed = value.get("toolCalls")
    if listed is not None and not isinstance(listed, list):
        raise MalformedError("$.toolCalls", f"{brief(listed)} is not an array")
    return [mapping(call, f"$.toolCalls[{n}]") for n, call in enumerate(listed or ())]


def _call(call: Mapping[str, object], path: str) -> tuple[Call, int]:
    call_id, name = string(call.get("id"), f"{path}.id"), string(call.get("name"), f"{path}.name")
    return gemini_parts.call_of(call_id, name, call.get("args"), f"{path}.args")


def _result(listed: Sequence[Mapping[str, object]], n: int) -> Result | None:
    """Read the result of one call; whatever stands beside its response belongs to it, copies of others do not."""
    found = gemini_parts.parts(listed[n].get("result") or None, f"$.toolCalls[{n}].result")
    found = [part for part in found if not is_copy(part, others(listed, n))]
    if not found:
        return None
    texts = [p.result.text if p.result else p.text or p.shown for p in found]
    return Result(
        string(listed[n].get("id"), f"$.toolCalls[{n}].id"),
        "\n".join(filter(None, texts)),
        string(listed[n].get("name"), f"$.toolCalls[{n}].name"),
        failed=listed[n].get("status") in FAILED or any(p.result and p.result.failed for p in found),
        image_tokens=sum(p.tokens + (p.result.image_tokens if p.result else 0) for p in found),
    )


def others(listed: Sequence[Mapping[str, object]], n: int) -> frozenset[object]:
    """Give the ids of all calls of the record but number `n`."""
    return frozenset(call.get("id") for call in listed) - {listed[n].get("id")}


def is_copy(part: Part, ids: frozenset[object]) -> bool:
    """Tell whether the part answers another call, one of `ids`."""
    return part.result is not None and part.result.call_id in ids


def repeats(value: Mapping[str, object], before: Mapping[str, object] | None) -> bool:
    """Tell whether a user record holds nothing but results that the calls in the record before it have, too."""
    content = value.get("content")
    if value.get("type") != "user" or not isinstance(content, list) or before is None or not content:
        return False
    responses = [find(part, "functionResponse") if isinstance(part, dict) else None for part in content]
    listed = before.get("toolCalls")
    known = {c.get("id") for c in listed if c.get("result")} if isinstance(listed, list) else set()
    return all(isinstance(response, dict) and response.get("id") in known for response in responses)
