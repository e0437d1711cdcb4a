"""How is a tool described to a model in each target format?

Every format names a tool, says what it is for and gives the JSON schema of its arguments, each under keys of its own.
What is none of this (a tool that a server runs, schemas that are no JSON) is carried over as it is.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def for_openai(preamble: str) -> object:
    """Write tools as functions."""
    return _each(preamble, lambda tool: {"type": "function", "function": _described(tool, "parameters")})


def for_anthropic(preamble: str) -> object:
    """Write tools with an `input_schema`."""
    return _each(preamble, lambda tool: _described(tool, "input_schema"))


def for_sharegpt(preamble: str) -> object:
    """Write tools as the text of their JSON, as ShareGPT has them."""
    tools = _each(preamble, lambda tool: _described(tool, "parameters"))
    return tools if isinstance(tools, str) else json.dumps(tools, ensure_ascii=False)


def _each(preamble: str, write: Callable[[dict[str, Any]], dict[str, Any]]) -> object:
    try:
        tools = json.loads(preamble)
    except (ValueError, RecursionError):
        return preamble
    if not isinstance(tools, list):
        return tools
    return [tool if (found := _function(tool)) is None else write(found) for tool in tools]


def _function(tool: object) -> dict[str, Any] | None:
    inner = tool.get("function", tool) if isinstance(tool, dict) else None
    known = isinstance(inner, dict) and "name" in inner and inner.get("type", "function") in {"function", "custom"}
    return inner if known else None


def _described(tool: dict[str, Any], key: str) -> dict[str, Any]:
    schema = tool.get("parameters", tool.get("input_schema", {"type": "object", "properties": {}}))
    words: dict[str, Any] = {name: tool[name] for name in ("name", "description") if name in tool}
    return {**words, key: schema}
