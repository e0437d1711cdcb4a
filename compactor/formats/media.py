"""What stands for a picture, a recording or a file in the text of a message, and what does a model pay for it?

Base64 is never shown and never counted as text: it is 1.47 characters a token (o200k_base, measured), so one
photograph would outweigh the whole conversation.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from compactor.core.tokens import PER_IMAGE

if TYPE_CHECKING:
    from collections.abc import Mapping

# The fixed price of a picture that is asked for in low detail (OpenAI, GPT-4o class models).
LOW_DETAIL = 85
# Speech is 10 tokens a second (OpenAI, "Realtime costs": 1 token per 100 ms) and at most 16,000 bytes a second
# when compressed (MP3, 128 kbit/s). Uncompressed audio has three times the bytes and is priced too high by that.
AUDIO_BYTES_PER_TOKEN = 1_600
# A page of a PDF is read as its picture; a scanned page is about this large.
FILE_BYTES_PER_IMAGE = 100_000

_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+)?(?:;[\w=.+-]+)*;base64,([A-Za-z0-9+/_-]*={0,2})")
# A JSON string of nothing but base64 that no prose or identifier would reach.
_BINARY = re.compile(r'"[A-Za-z0-9+/_-]{512,}={0,2}"')


class Shown(NamedTuple):
    """What stands for something in a text, and its price in tokens beside that text."""

    text: str
    tokens: int = 0


def scrubbed(text: str) -> Shown:
    """Replace every base64 data: URL in `text` by a short note; each costs what it would as text, at most a picture."""
    if ";base64," not in text:
        return Shown(text)
    payloads = [found.group(2) for found in _DATA_URL.finditer(text)]
    tokens = sum(min(PER_IMAGE, len(payload) * 2 // 3 + 1) for payload in payloads)
    return Shown(_DATA_URL.sub(lambda found: _note(found.group(1), found.group(2)), text), tokens)


def scrubbed_json(text: str) -> Shown:
    """Do as `scrubbed` to compact JSON, in which base64 may also be a string of its own."""
    shown = scrubbed(text)
    return Shown(_BINARY.sub(lambda found: f'"{_note("", found.group()[1:-1])}"', shown.text), shown.tokens)


def _note(kind: str | None, payload: str) -> str:
    return f"[{kind or 'data'}, {len(payload):,} characters of base64]"


def image(source: object, detail: object = None) -> Shown:
    """Show a picture by its address or path; `source` may also be a data: URL, or unknown."""
    price = LOW_DETAIL if detail == "low" else PER_IMAGE
    where = scrubbed(source).text.strip("[]") if isinstance(source, str) else ""
    return Shown(f"[image: {where}]" if where else "[image]", price)


def audio(part: Mapping[str, object]) -> Shown:
    """Show a recording, `{"data": base64, "format": ...}`, by its format and size."""
    payload = part.get("data")
    size = len(payload) * 3 // 4 if isinstance(payload, str) else 0
    return Shown(f"[audio: {part.get('format', 'unknown format')}, {size:,} bytes]", size // AUDIO_BYTES_PER_TOKEN + 1)


def file(part: Mapping[str, object]) -> Shown:
    """Show a file, `{"filename", "file_data": base64 or data: URL}` or `{"file_id"}`, by its name and size."""
    payload = part.get("file_data")
    size = len(payload) * 3 // 4 if isinstance(payload, str) else 0
    name = part.get("filename") or part.get("file_id") or "unnamed"
    return Shown(f"[file: {name}, {size:,} bytes]", PER_IMAGE * (size // FILE_BYTES_PER_IMAGE + 1))
