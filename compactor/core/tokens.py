"""What does a message cost the model that reads it?

The envelope counts as well as the words: 3 tokens a message and 3 a request (OpenAI cookbook, "How to count
tokens with tiktoken", o200k_base: 124 counted = 124 billed), one more for a name, and for each tool call its
name, arguments and 3 (no formula is published; this one is the middle of those in use).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

    from compactor.core.messages import Call, Conversation, Message

PER_MESSAGE = 3
PER_REQUEST = 3
PER_NAME = 1
PER_CALL = 3
# A picture of unknown size: 85 + 6 tiles x 170, the tile price of GPT-4o class models. Never its base64 text.
PER_IMAGE = 1105


class Count(Protocol):
    """Counts the tokens of a text. `exact` is False where the figure is an estimate."""

    @property
    def name(self) -> str:
        """The encoding's name, as reports show it."""

    @property
    def exact(self) -> bool:
        """Whether this is the model's own tokenizer."""

    def __call__(self, text: str) -> int:
        """Return the number of tokens of `text`."""


def message_cost(message: Message, count: Count) -> int:
    """Price `message`: the tokens that it adds to a request, envelope included."""
    texts = (message.text, message.reasoning, message.other, *(r.text for r in message.results))
    stated = message.image_tokens + message.sealed_tokens + sum(r.image_tokens for r in message.results)
    return (
        PER_MESSAGE
        + count(message.role)
        + sum(count(t) for t in texts if t)
        + (count(message.name) + PER_NAME if message.name else 0)
        + sum(_call_cost(c, count) for c in message.calls)
        + stated
    )


def _call_cost(call: Call, count: Count) -> int:
    return count(call.name) + count(call.arguments) + PER_CALL


def costs(messages: Iterable[Message], count: Count) -> tuple[int, ...]:
    """Price each message, in tokens."""
    return tuple(message_cost(m, count) for m in messages)


def preamble_cost(conversation: Conversation, count: Count) -> int:
    """Price what is charged once a request: the tool schemas and the reply's primer."""
    return PER_REQUEST + (count(conversation.preamble) if conversation.preamble else 0)


def upper_bound(conversation: Conversation) -> int:
    """Bound the tokens of the conversation from above: a BPE token is at least one byte of UTF-8.

    At most four bytes a character, so the length of the text is enough; no tokenizer is loaded.
    """
    return PER_REQUEST + _bytes(conversation.preamble) + sum(_message_bound(m) for m in conversation.messages)


def _message_bound(message: Message) -> int:
    texts = [message.role, message.text, message.reasoning, message.name, message.other]
    texts += [result.text for result in message.results]
    texts += [text for call in message.calls for text in (call.name, call.arguments)]
    stated = message.image_tokens + message.sealed_tokens + sum(r.image_tokens for r in message.results)
    return PER_MESSAGE + PER_NAME + PER_CALL * len(message.calls) + stated + sum(map(_bytes, texts))


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
