"""What does the content of a LangChain message say, whichever vendor's blocks it is made of?

Text and reasoning are words; pictures have their price; calls are read elsewhere; the rest is shown as compact JSON.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from compactor.formats import media
from compactor.formats.openai_messages import ELSEWHERE, Content, MalformedError, compact
from compactor.formats.records import brief

if TYPE_CHECKING:
    from collections.abc import Mapping

TEXTS = frozenset({"text", "input_text", "output_text", "text-plain"})
PICTURES = frozenset({"image", "image_url", "input_image"})
# Blocks that are calls, or pieces of one in a stream: they stand in `tool_calls` as well.
CALLS = frozenset(
    {"tool_use", "tool_call", "function_call", "invalid_tool_call", "tool_call_chunk", "input_json_delta"}
)
_REASONING = ("thinking", "reasoning", "reasoning_content")


def content(value: object, path: str, *, of_model: bool) -> Content:
    """Read a content: a string, null, or blocks; calls are expected of a model only. Raises MalformedError."""
    if value is None or isinstance(value, str):
        return _text(value or "")
    if not isinstance(value, list):
        raise MalformedError(path, f"{brief(value)} is not a string, null or an array of blocks")
    read = [_block(block, f"{path}[{n}]", of_model=of_model) for n, block in enumerate(value)]
    return Content(
        texts=tuple(t for c in read for t in c.texts),
        shown=tuple(t for c in read for t in c.shown),
        reasoning=tuple(t for c in read for t in c.reasoning),
        tokens=sum(c.tokens for c in read),
    )


def _text(text: str) -> Content:
    shown = media.scrubbed(text)
    return Content(texts=(shown.text,) if text else (), tokens=shown.tokens)


def _block(block: object, path: str, *, of_model: bool) -> Content:
    if isinstance(block, str):
        return _text(block)
    if not isinstance(block, dict):
        raise MalformedError(path, f"{brief(block)} is not a block: an object with a type, or a string")
    kind = block.get("type")
    if kind == "tool_result" or (kind == "tool_use" and not of_model):
        raise MalformedError(f"{path}.type", f'"{kind}" {ELSEWHERE.replace("OpenAI chat", "LangChain")}')
    if kind in TEXTS or kind == "refusal":
        words = block.get("refusal" if kind == "refusal" else "text")
        if not isinstance(words, str | None):
            raise MalformedError(f"{path}.text", f"{brief(words)} is not a string")
        return _text(words or "")
    if of_model and kind in CALLS:
        return Content()
    if kind in _REASONING:
        words = next((text for key in _REASONING if (text := text_in(block.get(key)))), text_in(block))
        return Content(reasoning=(words,) if words else ())
    shown = _picture(block) if kind in PICTURES else media.scrubbed_json(compact(block, path))
    return Content(shown=(shown.text,), tokens=shown.tokens)


def text_in(value: object) -> str:
    """Give the words of a reasoning: a string, {"text": ...}, or a Responses item with its `summary`."""
    if isinstance(value, str):
        return value
    if not isinstance(value, dict):
        return ""
    summary = value.get("summary")
    parts = summary if isinstance(summary, list) else [value]
    return "\n".join(part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str))


def _picture(block: Mapping[str, object]) -> media.Shown:
    place = block.get("image_url", block.get("source", block.get("url")))
    if isinstance(place, dict):
        return media.image(place.get("url"), place.get("detail"))
    return media.image(place if block.get("source_type") != "base64" else None, block.get("detail"))
