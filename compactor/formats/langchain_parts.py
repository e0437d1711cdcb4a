"""What stands in the content and the calls of a LangChain message?

Content is text or a list of blocks in whatever spelling its provider has; the calls in it are copies of `tool_calls`,
where their arguments are objects. Reasoning stands in blocks or under `additional_kwargs`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from compactor.core.messages import Call
from compactor.formats import media
from compactor.formats.openai_messages import IMAGE_PARTS
from compactor.formats.records import brief
from compactor.formats.values import Content, MalformedError, compact

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

TEXT_BLOCKS = frozenset({"text", "input_text", "output_text"})
REASONING_BLOCKS = {"thinking": "thinking", "reasoning": "reasoning"}
# Copies of what `tool_calls` holds.
CALL_BLOCKS = frozenset({"tool_use", "tool_call", "function_call", "tool_call_chunk", "input_json_delta"})


def string(value: object, path: str) -> str:
    """Give a string, "" for null. Raises MalformedError for anything else."""
    if value is not None and not isinstance(value, str):
        raise MalformedError(path, f"{brief(value)} is not a string")
    return value or ""


def content(value: object, path: str) -> Content:
    """Read the content of a message. Raises MalformedError with a path below `path`."""
    if value is None or isinstance(value, str):
        shown = media.scrubbed(value or "")
        return Content(texts=(shown.text,) if value else (), tokens=shown.tokens)
    if not isinstance(value, list):
        raise MalformedError(path, f"{brief(value)} is not a string, null or an array of blocks")
    found = [_block(block, f"{path}[{n}]") for n, block in enumerate(value)]
    return Content(
        texts=tuple(t for c in found for t in c.texts),
        shown=tuple(t for c in found for t in c.shown),
        reasoning=tuple(t for c in found for t in c.reasoning),
        tokens=sum(c.tokens for c in found),
    )


def _block(block: object, path: str) -> Content:
    if isinstance(block, str):
        return content(block, path)
    if not isinstance(block, dict):
        raise MalformedError(path, f"{brief(block)} is not a block: an object with a type, or a string")
    kind = block.get("type")
    if kind in CALL_BLOCKS:
        return Content()
    if kind in TEXT_BLOCKS:
        return content(string(block.get("text"), f"{path}.text"), path)
    if kind in REASONING_BLOCKS:
        told = block.get(REASONING_BLOCKS[str(kind)])
        return Content(reasoning=(told,)) if isinstance(told, str) and told else Content()
    shown = _image(block) if kind in IMAGE_PARTS else media.scrubbed_json(compact(block, path))
    return Content(shown=(shown.text,), tokens=shown.tokens)


def _image(block: Mapping[str, object]) -> media.Shown:
    place = block.get("image_url", block.get("url", block.get("base64", block.get("data"))))
    source = place.get("url") if isinstance(place, dict) else place
    return media.image(source, place.get("detail") if isinstance(place, dict) else None)


def calls(body: Mapping[str, object], path: str) -> tuple[Call, ...]:
    """Read the calls of an assistant message: `tool_calls`, or what OpenAI's API gave where that is missing."""
    listed = body.get("tool_calls")
    if listed:
        if not isinstance(listed, list):
            raise MalformedError(f"{path}.tool_calls", f"{brief(listed)} is not an array or null")
        return tuple(_call(call, f"{path}.tool_calls[{n}]") for n, call in enumerate(listed))
    given = body.get("additional_kwargs")
    raw = given.get("tool_calls") if isinstance(given, dict) else None
    return tuple(_raw_calls(raw)) if isinstance(raw, list) else ()


def _call(value: object, path: str) -> Call:
    if not isinstance(value, dict):
        raise MalformedError(path, f"{brief(value)} is not an object")
    arguments = value.get("args")
    text = arguments if isinstance(arguments, str) else compact(arguments or {}, f"{path}.args")
    return Call(string(value.get("id"), f"{path}.id"), string(value.get("name"), f"{path}.name"), text)


def _raw_calls(listed: list[object]) -> Iterator[Call]:
    for call in listed:
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(call, dict) and isinstance(function, dict):
            yield Call(str(call.get("id") or ""), str(function.get("name") or ""), str(function.get("arguments") or ""))


def reasoning(body: Mapping[str, object]) -> Iterator[str]:
    """Yield what a model reasoned, as providers file it beside the content."""
    given = body.get("additional_kwargs")
    told = [given.get("reasoning_content"), given.get("reasoning")] if isinstance(given, dict) else []
    for text in told:
        if isinstance(text, dict):  # OpenAI's Responses: a summary in parts
            parts = text.get("summary")
            found = [p.get("text") for p in parts if isinstance(p, dict)] if isinstance(parts, list) else []
            yield from (p for p in found if isinstance(p, str) and p)
        elif isinstance(text, str) and text:
            yield text
