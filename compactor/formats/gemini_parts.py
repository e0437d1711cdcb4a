"""What did a model read of the parts of a Gemini content?

Keys are read as the API spells them (`functionCall`) and as its Python library dumps them (`function_call`, with a null
for every absent one). The text of a `functionResponse` is the one string in its `response`, if that stands under a
key of TEXT_KEYS and nothing else does; any other response is read as compact JSON. Thought signatures are no words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from compactor.core.messages import Call, Message, Result, Role
from compactor.formats import media
from compactor.formats.records import brief
from compactor.formats.values import MalformedError, compact

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# "output" and "error" are the API's own; the others are what libraries put around a tool's plain string.
TEXT_KEYS = ("output", "error", "result", "content")
RESPONSE_KEYS = ("functionResponse", "function_response")
_CAPITAL = re.compile(r"[A-Z]")


@dataclass(frozen=True, slots=True)
class Part:
    """What one part holds: `shown` is text that stands for something else, `tokens` its price.

    `medium` tells a picture, recording or file.
    """

    text: str = ""
    thought: str = ""
    call: Call | None = None
    result: Result | None = None
    shown: str = ""
    tokens: int = 0
    medium: bool = False


def find(value: Mapping[str, object], key: str) -> object:
    """Get a member by the API's name for it, or by that name in snake case; None if there is none."""
    found = value.get(key)
    return value.get(_CAPITAL.sub(lambda m: "_" + m.group().lower(), key)) if found is None else found


def parts(content: object, path: str) -> list[Part]:
    """Read parts: a list of them, a single one, or plain text.

    Raises MalformedError with a path that goes on from `path`.
    """
    if content is None:
        return []
    if isinstance(content, list):
        return [_part(value, f"{path}[{n}]") for n, value in enumerate(content)]
    if not isinstance(content, str | dict):
        raise MalformedError(path, f"{brief(content)} is neither text nor an array of parts")
    return [_part(content, path)]


def _part(value: object, path: str) -> Part:
    if isinstance(value, str):
        return _words(value)
    if not isinstance(value, dict):
        raise MalformedError(path, f"{brief(value)} is not a part: an object, or a string")
    text = string(value.get("text"), f"{path}.text")
    if value.get("thought") is True:
        return Part(thought=text)
    if (call := find(value, "functionCall")) is not None:
        return replace(_called(call, f"{path}.functionCall"), text=text)
    if (response := find(value, "functionResponse")) is not None:
        return replace(_answered(response, f"{path}.functionResponse"), text=text)
    return _seen(value, text, path)


def _seen(value: Mapping[str, object], text: str, path: str) -> Part:
    """Read a part that is text, a medium, or of a kind that we do not know (code that the model ran, say)."""
    if (shown := _medium(value)) is not None:
        return Part(text, shown=shown.text, tokens=shown.tokens, medium=True)
    rest = {k: v for k, v in value.items() if v is not None and k not in _NOT_SHOWN}
    if not rest:
        return _words(text)
    shown = media.scrubbed_json(compact(rest, path))
    return Part(text, shown=shown.text, tokens=shown.tokens)


_NOT_SHOWN = frozenset({"text", "thought", "thoughtSignature", "thought_signature"})


def _words(text: str) -> Part:
    shown = media.scrubbed(text)
    return Part(shown.text, tokens=shown.tokens)


def string(value: object, path: str) -> str:
    """Take a string, "" for null. Raises MalformedError for anything else."""
    if value is not None and not isinstance(value, str):
        raise MalformedError(path, f"{brief(value)} is not a string")
    return value or ""


def mapping(value: object, path: str) -> dict[str, object]:
    """Take an object. Raises MalformedError for anything else."""
    if not isinstance(value, dict):
        raise MalformedError(path, f"{brief(value)} is not an object")
    return value


def call_of(call_id: str, name: str, arguments: object, path: str) -> tuple[Call, int]:
    """Make a call of arguments that are an object, with the price of base64 in them, which is not shown."""
    shown = media.scrubbed_json(compact({} if arguments is None else arguments, path))
    return Call(call_id, name, shown.text), shown.tokens


def _called(value: object, path: str) -> Part:
    found = mapping(value, path)
    call_id, name = string(found.get("id"), f"{path}.id"), string(found.get("name"), f"{path}.name")
    call, tokens = call_of(call_id, name, found.get("args"), f"{path}.args")
    return Part(call=call, tokens=tokens)


def _answered(value: object, path: str) -> Part:
    found = mapping(value, path)
    response = mapping(found.get("response") or {}, f"{path}.response")
    inner = parts(found.get("parts"), f"{path}.parts")
    sole = next(iter(response.items())) if len(response) == 1 else ("", None)
    if sole[0] in TEXT_KEYS and isinstance(sole[1], str):
        shown = media.scrubbed(sole[1])
    else:
        shown = media.scrubbed_json(compact(response, f"{path}.response") if response else "")
    return Part(
        result=Result(
            string(found.get("id"), f"{path}.id"),
            "\n".join(filter(None, (shown.text, *(p.text or p.shown for p in inner)))),
            string(found.get("name"), f"{path}.name"),
            failed=bool(response.get("error")),
            image_tokens=shown.tokens + sum(p.tokens for p in inner),
        )
    )


def _medium(part: Mapping[str, object]) -> media.Shown | None:
    inline, linked = find(part, "inlineData"), find(part, "fileData")
    if isinstance(inline, dict):
        kind = str(find(inline, "mimeType") or "")
        if kind.startswith("image/"):
            return media.image(None)
        if kind.startswith("audio/"):
            return media.audio({"format": kind, "data": inline.get("data")})
        return media.file({"filename": kind, "file_data": inline.get("data")})
    if isinstance(linked, dict):
        uri = find(linked, "fileUri")
        if str(find(linked, "mimeType") or "").startswith("image/"):
            return media.image(uri)
        return media.file({"filename": uri})
    return None


def owners(found: Sequence[Part]) -> list[int | None]:
    """Tell for each part the ordinal of the result that it belongs to.

    Tools put pictures beside their response; in a content without words of its own they belong to the response
    before them. Beside words they are the user's.
    """
    wordless = not any(p.text.strip() for p in found)
    owned: list[int | None] = []
    results = -1
    for part in found:
        results += part.result is not None
        belongs = part.result is not None or (part.medium and wordless and results >= 0)
        owned.append(results if belongs else None)
    return owned


def message(speaker: str, found: Sequence[Part]) -> Message:
    """Make the message of a content; `speaker` is its role: "model", or whoever speaks to the model."""
    owned = owners(found)
    loose = [p for p, owner in zip(found, owned, strict=True) if owner is None]
    text = "\n".join(p.text for p in found if p.text)
    answers = [_joined([p for p, owner in zip(found, owned, strict=True) if owner == n]) for n in range(_count(owned))]
    calls = tuple(p.call for p in loose if p.call)
    shown = [p.shown for p in loose if p.shown]
    if speaker != "model":
        shown += [f"{c.name}({c.arguments})" for c in calls]
        calls = ()
    traffic = bool(answers) and not (text.strip() or shown)
    return Message(
        Role.ASSISTANT if speaker == "model" else Role.TOOL if traffic else Role.USER,
        text,
        calls=calls,
        results=tuple(answers),
        reasoning="\n".join(p.thought for p in found if p.thought),
        other="\n".join(shown),
        image_tokens=sum(p.tokens for p in loose),
    )


def _count(owned: Sequence[int | None]) -> int:
    return 1 + max((n for n in owned if n is not None), default=-1)


def _joined(found: Sequence[Part]) -> Result:
    """Make one result of a response and the pictures that belong to it."""
    [answer] = [p.result for p in found if p.result]
    text = "\n".join(filter(None, (answer.text, *(p.shown for p in found))))
    return replace(answer, text=text, image_tokens=answer.image_tokens + sum(p.tokens for p in found))
