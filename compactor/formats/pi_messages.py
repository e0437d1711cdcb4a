"""What does pi (0.73.1, as recorded) send of one entry of a session?

The user's words, answers and results as they are. As words of the client under the user's name: commands that the user
ran (`!`, not `!!`), messages of extensions, and summaries of branches that were left. Not at all: answers that were
broken off or failed, changes of model and of thinking level, labels, names, and what extensions note for themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from compactor.core.handoff import KNOWN_PREFIXES
from compactor.core.messages import Call, Message, Result, Role
from compactor.formats import media
from compactor.formats.anthropic_blocks import Content, joined, plain, string
from compactor.formats.records import brief
from compactor.formats.values import MalformedError, compact

if TYPE_CHECKING:
    from collections.abc import Mapping

    from compactor.formats.pi_tree import Entry

# How pi begins the summary of a compaction, and that of a branch.
SUMMARY_PREFIX = next(prefix for prefix in KNOWN_PREFIXES if prefix.startswith("The conversation history before"))
BRANCH_PREFIX = "The following is a summary of a branch that this conversation came back from:"
UNSENT = frozenset({"error", "aborted"})


def message_of(entry: Entry) -> Message | None:
    """Read what pi sends of an entry; None if nothing. Raises MalformedError with a path from `$`."""
    value = entry.value
    if entry.kind == "message":
        inner = value.get("message")
        if not isinstance(inner, dict):
            raise MalformedError("$.message", f"{brief(inner)} is not an object")
        return _spoken(inner)
    if entry.kind == "custom_message":
        return _from_client(_content(value.get("content"), "$.content"))
    if entry.kind == "branch_summary":
        return _branch(value.get("summary"), "$.summary")
    if entry.kind == "compaction":
        return _handoff(value.get("summary"), "$.summary")
    return None


def _spoken(inner: Mapping[str, object]) -> Message | None:
    role = string(inner.get("role"), "$.message.role")
    if role == "branchSummary":
        return _branch(inner.get("summary"), "$.message.summary")
    if role == "compactionSummary":
        return _handoff(inner.get("summary"), "$.message.summary")
    return None if _unsent(role, inner) else _with_content(role, inner)


def _unsent(role: str, inner: Mapping[str, object]) -> bool:
    broken_off = role == "assistant" and inner.get("stopReason") in UNSENT
    return broken_off or (role == "bashExecution" and inner.get("excludeFromContext") is True)


def _with_content(role: str, inner: Mapping[str, object]) -> Message | None:
    if role == "bashExecution":
        return _from_client(_command(inner))
    if role not in {"user", "assistant", "toolResult", "custom", "hookMessage"}:
        return None
    content = _content(inner.get("content"), "$.message.content")
    if role == "toolResult":
        return Message(Role.TOOL, results=(_result(inner, content),))
    if role in {"user", "assistant"}:
        return _said(content.message(Role(role)))
    return _from_client(content)


def _said(said: Message) -> Message | None:
    """Give a message, None if it is blank: that is not sent."""
    return said if said.text.strip() or said.other.strip() or said.calls or said.reasoning.strip() else None


def _from_client(content: Content) -> Message | None:
    words = Content(shown=(*content.texts, *content.shown), tokens=content.tokens)
    return _said(words.message(Role.USER))


def _command(inner: Mapping[str, object]) -> Content:
    """Show a command that the user ran, and what came of it."""
    output = media.scrubbed(string(inner.get("output"), "$.message.output"))
    code = inner.get("exitCode")
    parts = [f"Ran `{string(inner.get('command'), '$.message.command')}`"]
    parts.append(f"```\n{output.text}\n```" if output.text else "(no output)")
    if inner.get("cancelled") is True:
        parts.append("\n(command cancelled)")
    elif code not in {None, 0}:
        parts.append(f"\nCommand exited with code {code}")
    if inner.get("truncated") is True and inner.get("fullOutputPath"):
        parts.append(f"\n[Output truncated. Full output: {inner['fullOutputPath']}]")
    return Content(shown=("\n".join(parts),), tokens=output.tokens)


def _branch(summary: object, path: str) -> Message | None:
    text = string(summary, path)
    return Message(Role.USER, other=f"{BRANCH_PREFIX}\n\n{text}") if text else None


def _handoff(summary: object, path: str) -> Message:
    """Read the summary of a compaction: ours as we wrote it, another's below the words that pi puts before it."""
    if not isinstance(summary, str):
        raise MalformedError(path, f"{brief(summary)} is not a string")
    known = summary.lstrip().startswith(KNOWN_PREFIXES)
    return Message(Role.USER, summary if known else f"{SUMMARY_PREFIX}\n\n{summary}")


def _result(inner: Mapping[str, object], content: Content) -> Result:
    call_id = string(inner.get("toolCallId"), "$.message.toolCallId")
    name = string(inner.get("toolName"), "$.message.toolName")
    text = "\n".join((*content.texts, *content.shown))
    return Result(call_id, text, name, inner.get("isError") is True, content.tokens)


def _content(value: object, path: str) -> Content:
    if isinstance(value, str):
        return plain(value)
    if not isinstance(value, list):
        raise MalformedError(path, f"{brief(value)} is not a string or an array of blocks")
    return joined(_block(block, f"{path}[{n}]") for n, block in enumerate(value))


def _block(block: object, path: str) -> Content:
    if not isinstance(block, dict):
        raise MalformedError(path, f"{brief(block)} is not a block: an object with a type")
    kind = block.get("type")
    if kind == "text":
        return plain(string(block.get("text"), f"{path}.text"))
    if kind == "thinking":
        thought = string(block.get("thinking"), f"{path}.thinking")
        return Content(reasoning=(thought,) if thought else ())
    if kind == "toolCall":
        call_id, name = (string(block.get(key), f"{path}.{key}") for key in ("id", "name"))
        arguments = media.scrubbed_json(compact(block.get("arguments", {}), f"{path}.arguments"))
        return Content(calls=(Call(call_id, name, arguments.text),), tokens=arguments.tokens)
    if kind == "image":
        shown = media.image(f"data:{block.get('mimeType')};base64,{block.get('data')}")
    else:
        shown = media.scrubbed_json(compact(block, path))
    return Content(shown=(shown.text,), tokens=shown.tokens)
