"""What did a model read of this OpenAI chat message?

Besides the API's own shapes: the function calls of old, reasoning as vendors add it, and the typed parts of
LLaMA-Factory, which say `value` where the API says `text`.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from compactor.core.messages import Call, Message, Result, Role
from compactor.formats import media
from compactor.formats.records import brief
from compactor.formats.values import Content, MalformedError, compact

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

ROLES: Final = {
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
    "tool": Role.TOOL,
    "function": Role.TOOL,
}
# Blocks of other APIs that carry calls and results: read as words, they would be torn from their partners.
FOREIGN_PARTS = frozenset({"tool_use", "tool_result", "function_call", "function_call_output"})
ELSEWHERE = "belongs to another API than OpenAI chat"
TEXT_PARTS = frozenset({"text", "input_text", "output_text"})
IMAGE_PARTS = frozenset({"image_url", "input_image", "image"})


def is_message(value: Mapping[str, object]) -> bool:
    """Tell messages from the records that tools write between them (`session_meta`, `exit`, no role at all).

    Raises MalformedError for a role that is no name, and for the items of other APIs.
    """
    role, kind = value.get("role"), value.get("type")
    if isinstance(kind, str) and kind in FOREIGN_PARTS:
        raise MalformedError("$.type", f'"{kind}" {ELSEWHERE}')
    if role is not None and not isinstance(role, str):
        raise MalformedError("$.role", f"{brief(role)} is not a string")
    return role in ROLES


def message(value: Mapping[str, object]) -> Message:
    """Read one message with a role in ROLES; its calls are those of `tool_calls`, `function_call`, the parts.

    Raises MalformedError with a path from `$`, the message.
    """
    role = ROLES[str(value["role"])]
    content = _content(value.get("content"), "$.content")
    name = _string(value.get("name"), "$.name")
    if role is Role.TOOL:
        text = "\n".join((*content.texts, *content.shown))
        call_id = _string(value.get("tool_call_id"), "$.tool_call_id")
        return Message(role, results=(Result(call_id, text, name, image_tokens=content.tokens),))
    calls = (*_calls(value), *content.calls) if role is Role.ASSISTANT else ()
    calls, in_calls = _without_base64(calls)
    refusal = media.scrubbed(_string(value.get("refusal"), "$.refusal"))
    return Message(
        role,
        "\n".join(filter(None, (*content.texts, refusal.text))),
        calls=calls,
        reasoning="\n".join(_reasoning(value, content.reasoning)),
        name=name,
        other="\n".join(content.shown),
        image_tokens=content.tokens + refusal.tokens + in_calls,
    )


def _string(value: object, path: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise MalformedError(path, f"{brief(value)} is not a string")
    return value


def _object(value: object, path: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise MalformedError(path, f"{brief(value)} is not an object")
    return value


def _content(value: object, path: str) -> Content:
    if value is None or isinstance(value, str):
        return _text(value or "")
    if not isinstance(value, list):
        raise MalformedError(path, f"{brief(value)} is not a string, null or an array of parts")
    return _joined([_part(part, f"{path}[{n}]") for n, part in enumerate(value)])


def _joined(parts: Sequence[Content]) -> Content:
    return Content(
        texts=tuple(t for p in parts for t in p.texts),
        shown=tuple(t for p in parts for t in p.shown),
        reasoning=tuple(t for p in parts for t in p.reasoning),
        calls=tuple(c for p in parts for c in p.calls),
        tokens=sum(p.tokens for p in parts),
    )


def _text(text: str) -> Content:
    shown = media.scrubbed(text)
    return Content(texts=(shown.text,) if text else (), tokens=shown.tokens)


def _shown(shown: media.Shown) -> Content:
    return Content(shown=(shown.text,), tokens=shown.tokens)


def _part(part: object, path: str) -> Content:
    if isinstance(part, str):
        return _text(part)
    if not isinstance(part, dict):
        raise MalformedError(path, f"{brief(part)} is not a part: an object with a type, or a string")
    kind = _string(part.get("type"), f"{path}.type")
    if kind in FOREIGN_PARTS:
        raise MalformedError(f"{path}.type", f'"{kind}" {ELSEWHERE}')
    if kind in TEXT_PARTS:
        key = "value" if "value" in part else "text"
        return _text(_string(part.get(key), f"{path}.{key}"))
    if kind == "refusal":
        return _text(_string(part.get("refusal"), f"{path}.refusal"))
    if kind == "reasoning" and "value" in part:
        return Content(reasoning=(_string(part["value"], f"{path}.value"),))
    if kind == "tool_call" and "value" in part:
        return Content(calls=(_typed_call(part["value"], f"{path}.value"),))
    return _shown(_medium(kind, part, path))


def _medium(kind: str, part: dict[str, object], path: str) -> media.Shown:
    if kind in IMAGE_PARTS:
        place = part.get(kind, part.get("image_url", part.get("value")))
        source, detail = (place.get("url"), place.get("detail")) if isinstance(place, dict) else (place, None)
        return media.image(source, detail or part.get("detail"))
    if kind in {"input_audio", "audio"} and isinstance(audio := part.get(kind), dict):
        return media.audio(audio)
    if kind in {"file", "input_file"}:
        inner = part.get("file")
        return media.file(inner if isinstance(inner, dict) else part)
    return media.scrubbed_json(compact(part, path))


def _calls(value: Mapping[str, object]) -> list[Call]:
    listed = value.get("tool_calls")
    if listed is not None and not isinstance(listed, list):
        raise MalformedError("$.tool_calls", f"{brief(listed)} is not an array or null")
    calls = [_call(call, f"$.tool_calls[{n}]") for n, call in enumerate(listed or ())]
    if (old := value.get("function_call")) is not None:
        calls.append(_named_call("", _object(old, "$.function_call"), "$.function_call"))
    return calls


def _call(value: object, path: str) -> Call:
    call = _object(value, path)
    call_id = _string(call.get("id"), f"{path}.id")
    if call.get("type") == "custom" or "custom" in call:
        custom = _object(call.get("custom"), f"{path}.custom")
        name = _string(custom.get("name"), f"{path}.custom.name")
        return Call(call_id, name, _string(custom.get("input"), f"{path}.custom.input"))
    return _named_call(call_id, _object(call.get("function"), f"{path}.function"), f"{path}.function")


def _named_call(call_id: str, function: dict[str, object], path: str) -> Call:
    name = _string(function.get("name"), f"{path}.name")
    arguments = function.get("arguments")
    if isinstance(arguments, dict | list):
        return Call(call_id, name, compact(arguments, f"{path}.arguments"))
    return Call(call_id, name, _string(arguments, f"{path}.arguments"))


def _typed_call(value: object, path: str) -> Call:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise MalformedError(path, "not the JSON text of a call: name and arguments") from None
    return _named_call("", _object(value, path), path)


def _without_base64(calls: Sequence[Call]) -> tuple[tuple[Call, ...], int]:
    shown = [media.scrubbed(call.arguments) for call in calls]
    clean = tuple(replace(call, arguments=s.text) for call, s in zip(calls, shown, strict=True))
    return clean, sum(s.tokens for s in shown)


def _reasoning(value: Mapping[str, object], parts: Iterable[str]) -> list[str]:
    """Every distinct reasoning text once; vendors write the same one under two keys."""
    found = [*parts, *(value.get(key) for key in ("reasoning_content", "reasoning"))]
    texts = [t for t in found if isinstance(t, str) and t]
    if not texts:
        details = value.get("reasoning_details")
        listed = details if isinstance(details, list) else []
        found = [value.get("thinking")]
        found += [d.get("text") or d.get("summary") for d in listed if isinstance(d, dict)]
        texts = [t for t in found if isinstance(t, str) and t]
    return list(dict.fromkeys(texts))
