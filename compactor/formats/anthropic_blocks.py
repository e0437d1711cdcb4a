"""What do the content blocks of a message say, as Anthropic's Messages API has them?

A tool that the API itself runs has its call and its result in one answer. Where the partner is not there (the answer
was broken off and went on in the next), neither is a call or a result, so that nobody takes it for one that lost its
partner: it is shown as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from compactor.core.messages import Call, Message, Result, Role
from compactor.formats import media
from compactor.formats.records import brief
from compactor.formats.values import MalformedError, compact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

# Calls of tools that the API runs; their results are all those of `..._tool_result`, known or not.
SERVED = frozenset({"server_tool_use", "mcp_tool_use"})
# Results in which a text may take the place of the content; the API refuses that in any other.
WORDED = frozenset({"tool_result", "mcp_tool_result"})
# Encrypted text is base64 of about as many bytes; four bytes of English are a token.
ENCRYPTED_PER_TOKEN = 4 * 4 / 3


@dataclass(frozen=True, slots=True)
class Content:
    """What the blocks of one record hold, or of several; `shown` is text that stands for something else."""

    texts: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    reasoning: tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()
    results: tuple[Result, ...] = ()
    tokens: int = 0

    @property
    def only_results(self) -> bool:
        """Tell whether it is results and nothing else."""
        return bool(self.results) and not (self.texts or self.shown)

    def message(self, role: Role) -> Message:
        """Make the message that a model is given."""
        return Message(
            role,
            "\n".join(self.texts),
            self.calls,
            self.results,
            "\n".join(self.reasoning),
            other="\n".join(self.shown),
            image_tokens=self.tokens,
        )


class Part(Enum):
    """What a block is to the pairing of calls and results."""

    CALL = "call"
    RESULT = "result"
    NEITHER = "neither"


def parts(blocks: Sequence[object], role: Role) -> list[Part]:
    """Tell the calls and the results among the blocks of one message."""
    objects = [block for block in blocks if isinstance(block, dict)]
    served = {str(b.get("id")) for b in objects if b.get("type") in SERVED}
    answered = {str(b.get("tool_use_id")) for b in objects if _is_result(b)}
    return [_part(block, role, served & answered) for block in blocks]


def _part(block: object, role: Role, pairs: set[str]) -> Part:
    if not isinstance(block, dict):
        return Part.NEITHER
    if _is_result(block):
        lone = role is Role.ASSISTANT and str(block.get("tool_use_id")) not in pairs
        return Part.NEITHER if lone else Part.RESULT
    kind = block.get("type")
    is_call = kind == "tool_use" or (kind in SERVED and str(block.get("id")) in pairs)
    return Part.CALL if is_call else Part.NEITHER


def _is_result(block: Mapping[str, object]) -> bool:
    kind = block.get("type")
    return isinstance(kind, str) and (kind == "tool_result" or kind.endswith("_tool_result"))


def plain(text: str) -> Content:
    """Read words as nothing but words."""
    shown = media.scrubbed(text)
    return Content(texts=(shown.text,) if text else (), tokens=shown.tokens)


def content(value: object, path: str, role: Role, words: Callable[[str], Content] = plain) -> Content:
    """Read the content of a message; `words` reads its texts. Raises MalformedError with a path that begins `path`."""
    if isinstance(value, str):
        return words(value)
    if not isinstance(value, list):
        raise MalformedError(path, f"{brief(value)} is not a string or an array of blocks")
    return joined(
        words(block) if isinstance(block, str) else _block(block, part, f"{path}[{n}]", words)
        for n, (block, part) in enumerate(zip(value, parts(value, role), strict=True))
    )


def joined(contents: Iterable[Content]) -> Content:
    """Join the contents of several blocks or records."""
    listed = list(contents)
    return Content(
        tuple(t for c in listed for t in c.texts),
        tuple(t for c in listed for t in c.shown),
        tuple(t for c in listed for t in c.reasoning),
        tuple(call for c in listed for call in c.calls),
        tuple(r for c in listed for r in c.results),
        sum(c.tokens for c in listed),
    )


def _block(block: object, part: Part, path: str, words: Callable[[str], Content]) -> Content:
    if not isinstance(block, dict):
        raise MalformedError(path, f"{brief(block)} is not a block: an object with a type, or a string")
    kind = block.get("type")
    if part is Part.CALL:
        return _call(block, path)
    if part is Part.RESULT:
        return Content(results=(_result(block, path),))
    if kind == "text":
        return words(string(block.get("text"), f"{path}.text"))
    if kind == "compaction":
        return plain(string(block.get("content"), f"{path}.content"))
    if kind == "thinking":
        thought = string(block.get("thinking"), f"{path}.thinking")
        return Content(reasoning=(thought,) if thought else ())
    return _shown(_medium(block, path))


def _shown(shown: media.Shown) -> Content:
    return Content(shown=(shown.text,), tokens=shown.tokens)


def _call(block: Mapping[str, object], path: str) -> Content:
    call_id = string(block.get("id"), f"{path}.id")
    name = string(block.get("name"), f"{path}.name")
    arguments = media.scrubbed_json(compact(block.get("input", {}), f"{path}.input"))
    return Content(calls=(Call(call_id, name, arguments.text),), tokens=arguments.tokens)


def _result(block: Mapping[str, object], path: str) -> Result:
    call_id = string(block.get("tool_use_id"), f"{path}.tool_use_id")
    value = block.get("content")
    failed = block.get("is_error") is True
    if isinstance(value, dict):
        inner = _shown(_medium(value, f"{path}.content"))
        failed = failed or str(value.get("type")).endswith("_error")
    else:
        inner = Content() if value is None else content(value, f"{path}.content", Role.TOOL)
    text = "\n".join((*inner.texts, *inner.shown))
    shaped = block.get("type") not in WORDED
    return Result(call_id, text, failed=failed, image_tokens=inner.tokens, shaped=shaped)


def _medium(block: Mapping[str, object], path: str) -> media.Shown:
    if block.get("type") == "redacted_thinking":
        return media.Shown("[redacted thinking]")
    source = block.get("source")
    if block.get("type") == "image" and isinstance(source, dict):
        data = source.get("data")
        address = f"data:{source.get('media_type')};base64,{data}" if isinstance(data, str) else source.get("url")
        return media.image(address)
    if block.get("type") == "document" and isinstance(source, dict) and source.get("type") == "base64":
        return media.file({"filename": block.get("title"), "file_data": source.get("data")})
    shown = media.scrubbed_json(compact(block, path))
    secret = block.get("encrypted_content")
    hidden = len(secret) if isinstance(secret, str) and secret not in shown.text else 0
    return shown._replace(tokens=shown.tokens + int(hidden / ENCRYPTED_PER_TOKEN))


def string(value: object, path: str) -> str:
    """Read a string that may be absent. Raises MalformedError for anything else."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise MalformedError(path, f"{brief(value)} is not a string")
    return value
