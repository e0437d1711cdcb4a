"""What does a model read of one event of an OpenHands conversation?

Of an observation it reads the words, and of a command also where and how it ended; what a file looked like before and
after an edit is for people only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from compactor.core.messages import Call, Message, Result, Role
from compactor.formats import media
from compactor.formats.records import brief
from compactor.formats.values import Content, MalformedError, compact

if TYPE_CHECKING:
    from collections.abc import Mapping

CONDENSATION: Final = "Condensation"
ACTION: Final = "ActionEvent"
RESULTS = frozenset({"ObservationEvent", "UserRejectObservation", "AgentErrorEvent"})
SPOKEN = RESULTS | {"SystemPromptEvent", "MessageEvent", ACTION}
# Opens the summary of the tool's own condenser where we read it; the tool gives it to the model without any opening.
SUMMARY = "[CONTEXT SUMMARY]:\n"
_ROLES = {"system": Role.SYSTEM, "user": Role.USER, "assistant": Role.ASSISTANT}


def kind(value: Mapping[str, object]) -> str:
    """Give the kind of an event, "" if it is none."""
    found = value.get("kind")
    return found if isinstance(found, str) else ""


def message(value: Mapping[str, object]) -> Message:
    """Read an event of a kind in SPOKEN. Raises MalformedError with a path from `$`, the event."""
    text(value.get("id"), "$.id", needed=True)
    if kind(value) == "SystemPromptEvent":
        parts = [value.get("system_prompt"), value.get("dynamic_context")]
        return _said(Role.SYSTEM, content([part for part in parts if part], "$.system_prompt"))
    if kind(value) == "MessageEvent":
        return _message(value)
    return _action(value) if kind(value) == ACTION else Message(Role.TOOL, results=(_result(value),))


def text(value: object, path: str, *, needed: bool = False) -> str:
    """Give a string, "" for null. Raises MalformedError for anything else, and for neither if it is `needed`."""
    if value is None and not needed:
        return ""
    if not isinstance(value, str):
        raise MalformedError(path, "missing" if value is None else f"{brief(value)} is not a string")
    return value


def inside(value: Mapping[str, object], key: str) -> Mapping[str, object]:
    """Give the object that stands under `key`. Raises MalformedError if none does."""
    found = value.get(key)
    if not isinstance(found, dict):
        raise MalformedError(f"$.{key}", "missing" if found is None else f"{brief(found)} is not an object")
    return found


def content(value: object, path: str) -> Content:
    """Read a content: a string, or a list of texts and pictures."""
    if value is None or isinstance(value, str):
        shown = media.scrubbed(value or "")
        return Content((shown.text,) if value else (), tokens=shown.tokens)
    if not isinstance(value, list):
        raise MalformedError(path, f"{brief(value)} is not a string, null or an array")
    texts, shown_, tokens = [], [], 0
    for n, part in enumerate(value):
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            found = media.scrubbed(part["text"])
            texts.append(found.text)
        elif isinstance(part, dict) and isinstance(part.get("image_urls"), list):
            pictures = [media.image(url) for url in part["image_urls"]]
            found = media.Shown("\n".join(p.text for p in pictures), sum(p.tokens for p in pictures))
            shown_.append(found.text)
        else:
            found = media.scrubbed_json(compact(part, f"{path}[{n}]"))
            shown_.append(found.text)
        tokens += found.tokens
    return Content(tuple(filter(None, texts)), tuple(shown_), tokens=tokens)


def _said(role: Role, read: Content, reasoning: str = "", calls: tuple[Call, ...] = ()) -> Message:
    words, other = "\n".join(read.texts), "\n".join(read.shown)
    return Message(role, words, calls=calls, reasoning=reasoning, other=other, image_tokens=read.tokens)


def _message(value: Mapping[str, object]) -> Message:
    inner = inside(value, "llm_message")
    role = _ROLES.get(text(inner.get("role"), "$.llm_message.role"))
    if role is None:
        raise MalformedError("$.llm_message.role", f"{brief(inner.get('role'))} is none of {', '.join(_ROLES)}")
    said, more = content(inner.get("content"), "$.llm_message.content"), _extended(value)
    both = Content((*said.texts, *more.texts), (*said.shown, *more.shown), tokens=said.tokens + more.tokens)
    return _said(role, both, _reasoning(inner))


def _extended(value: Mapping[str, object]) -> Content:
    return content(value.get("extended_content"), "$.extended_content")


def _reasoning(value: Mapping[str, object]) -> str:
    """Every distinct reasoning text once; the blocks repeat what stands in `reasoning_content`."""
    blocks, item = value.get("thinking_blocks"), value.get("responses_reasoning_item")
    thoughts = [b.get("thinking") for b in blocks if isinstance(b, dict)] if isinstance(blocks, list) else []
    summary = item.get("summary") if isinstance(item, dict) else None
    found = [value.get("reasoning_content"), *thoughts, *(summary if isinstance(summary, list) else ())]
    return "\n".join(dict.fromkeys(t for t in found if isinstance(t, str) and t))


def _action(value: Mapping[str, object]) -> Message:
    call_id = text(value.get("tool_call_id"), "$.tool_call_id", needed=True)
    inner = inside(value, "tool_call")
    function = inner.get("function")
    said = function if isinstance(function, dict) else inner
    arguments = media.scrubbed(text(said.get("arguments"), "$.tool_call.arguments"))
    name = text(said.get("name") or value.get("tool_name"), "$.tool_call.name")
    thought = content(value.get("thought"), "$.thought")
    priced = Content(thought.texts, thought.shown, tokens=thought.tokens + arguments.tokens)
    return _said(Role.ASSISTANT, priced, _reasoning(value), (Call(call_id, name, arguments.text),))


def _result(value: Mapping[str, object]) -> Result:
    call_id = text(value.get("tool_call_id"), "$.tool_call_id", needed=True)
    name = text(value.get("tool_name"), "$.tool_name")
    if kind(value) == "AgentErrorEvent":
        return Result(call_id, text(value.get("error"), "$.error"), name, failed=True)
    if kind(value) == "UserRejectObservation":
        reason = text(value.get("rejection_reason"), "$.rejection_reason")
        return Result(call_id, f"Action rejected: {reason}", name, protected=True)
    seen = inside(value, "observation")
    read, more = content(seen.get(words_key(seen)), f"$.observation.{words_key(seen)}"), _extended(value)
    words = "\n".join((*read.texts, *read.shown))
    failed = bool(seen.get("error") or seen.get("is_error"))
    picture = media.image(None).tokens if isinstance(seen.get("screenshot_data"), str) else 0
    whole = "\n".join((_ended(seen, words), *more.texts)) if more.texts else _ended(seen, words)
    return Result(call_id, whole, name, failed, read.tokens + more.tokens + picture)


def words_key(seen: Mapping[str, object]) -> str:
    """Name the member of an observation that says what the model reads."""
    if isinstance(seen.get("error"), str) and seen["error"]:
        return "error"
    return next((key for key in ("content", "output", "message") if seen.get(key)), "content")


def _ended(seen: Mapping[str, object], words: str) -> str:
    """Add to the output of a command what the tool says of its end."""
    metadata = seen.get("metadata")
    if not isinstance(metadata, dict):
        return words
    words = f"{metadata.get('prefix') or ''}{words}{metadata.get('suffix') or ''}"
    place, python, code = (metadata.get(key) for key in ("working_dir", "py_interpreter_path", "exit_code"))
    notes = [f"\n[Current working directory: {place}]"] if place else []
    notes += [f"\n[Python interpreter: {python}]"] if python else []
    notes += [f"\n[Command finished with exit code {code}]"] if code not in (None, -1) else []
    return words + "".join(notes)
