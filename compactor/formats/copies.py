"""Where else in its record does the text of a pruned result stand?

Tools keep a second copy of what a call put out, for their own display; no model reads it. Left alone it would make
nonsense of the pruning: in mini-swe-agent's files and in Claude Code's, the copies are as large as the results.
"""

from __future__ import annotations

import json

from compactor.formats.jsonbytes import patched, quoted, strings

SHORTEST_COPY = 200  # characters; shorter strings are names and labels that happen to be part of the output


def without_copies(raw: bytes, text: str, stub: str) -> bytes:
    """Put `stub` in the place of every long string of the record that is within `text`, or has it within."""
    least = max(SHORTEST_COPY, len(stub)) + 1
    spans = [s for s in strings(raw) if s.stop - s.start > least and _is_copy(json.loads(s.of(raw)), text, least)]
    return patched(raw, [(span, quoted(stub)) for span in spans]) if spans else raw


def _is_copy(value: str, text: str, least: int) -> bool:
    value, text = value.strip(), text.strip()
    return len(value) >= least and bool(text) and (value in text or text in value)
