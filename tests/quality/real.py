"""Part a: real compactions. What survives in as many characters as the tool's own summary took?"""

from __future__ import annotations

import json
import re
from io import BytesIO
from pathlib import Path

from compactor.formats import rows
from tests.quality import arms

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "transcripts" / "claude-code"
LEAST_SUMMARY = 3_000  # characters; shorter ones are tests of the tool
FAMILIES = ("edited", "read", "command", "hash", "number", "rule", "error")
_HASH = r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,12}\b"
_RULE = re.compile(r"\b(?:never|always|must|don't|do not|only|make sure|should)\b", re.IGNORECASE)


def sessions():
    """Yield (name, bytes before a compaction, the records in them, the tool's own summary)."""
    for path in sorted(FOLDER.glob("*.jsonl")) if FOLDER.is_dir() else ():
        start, lines = 0, path.read_bytes().splitlines(keepends=True)
        records = [_loaded(line) for line in lines]
        for n, record in enumerate(records):
            if not record.get("isCompactSummary"):
                continue
            end = next((k for k in range(n, start, -1) if records[k].get("subtype") == "compact_boundary"), n)
            summary = _text(record["message"]["content"])
            if len(summary) >= LEAST_SUMMARY:
                yield f"{path.stem[:8]}-{n}", b"".join(lines[start:end]), records[start:end], summary
            start = n + 1


def _loaded(line):
    try:
        value = json.loads(line)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _text(content):
    if isinstance(content, str):
        return content
    return "".join(block.get("text", "") for block in content or () if isinstance(block, dict))


def probes(records):
    """Give what is looked for, by family, as the records hold it."""
    found = {family: [] for family in FAMILIES}
    for record in records:
        content = (record.get("message") or {}).get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
        for block in blocks:
            if isinstance(block, dict):
                _probe(record, block, found)
    distinct = {family: list(dict.fromkeys(values)) for family, values in found.items()}
    return {**distinct, "command": distinct["command"][-10:], "error": distinct["error"][-5:]}


def _probe(record, block, found):
    kind, given = block.get("type"), block.get("input") or {}
    if record.get("type") == "assistant" and kind == "tool_use":
        if block["name"] in ("Edit", "Write", "MultiEdit", "NotebookEdit"):
            found["edited"] += [given["file_path"]] if given.get("file_path") else []
        elif block["name"] == "Read":
            found["read"] += [given["file_path"]] if given.get("file_path") else []
        elif block["name"] == "Bash":
            found["command"] += [given["command"]] if given.get("command") else []
    elif record.get("type") == "assistant" and kind == "text":
        found["number"] += re.findall(r"\b\d+(?:\.\d+)? [a-z]{4,}\b", block["text"])
        found["hash"] += re.findall(_HASH, block["text"])
    elif record.get("type") == "user" and not record.get("isMeta") and kind == "text":
        sentences = re.split(r"(?<=[.!?])\s+|\n", block["text"][:3_000])
        told = [s.strip() for s in sentences if _RULE.search(s)]
        found["rule"] += [s for s in told if 15 < len(s) < 200 and not s.endswith("?")]
    elif record.get("type") == "user" and kind == "tool_result":
        text = _text(block.get("content"))
        found["hash"] += re.findall(r"^\[\S+ ([0-9a-f]{7,12})\]", text, re.MULTILINE)
        lines = [
            line.strip() for line in text.splitlines() if re.search(r"error|failed|exception", line, re.IGNORECASE)
        ]
        found["error"] += [s for s in lines if 10 < len(s) < 200][-1:] if block.get("is_error") else []


def survived(family, probe, text):
    """Tell whether a probe is in `text`, of which runs of blanks are one."""
    plain = " ".join(probe.split())
    if family in ("edited", "read"):
        return plain in text or "/".join(plain.split("/")[-2:]) in text
    return plain[:60] in text


def read_ones(found, messages):
    """Keep the probes that a model has read: what stands on branches that were left is in the file, and no more."""
    text = " ".join(arms.text_of(messages).split())
    return {family: [p for p in probes if survived(family, p, text)] for family, probes in found.items()}


def measure():
    """Give (arm, size, survived by family, total by family) of every arm, summed over the sessions."""
    found = {}
    for _, content, records, native in sessions():
        (row,) = rows(BytesIO(content), "session.jsonl")
        messages = row.conversation.messages
        wanted = read_ones(probes(records), messages)
        size = len(native)
        made = {
            "native summary": native,
            "stage 1 only": arms.pruned(messages),
            "drop the middle": arms.ends(messages, size),
            "tail only": arms.tail(messages, size),
            "extractive": arms.in_chars(arms.offline, messages, size),
            "stand-in model": arms.in_chars(arms.model_alone, messages, size),
            "stand-in model + ledger": arms.in_chars(arms.model_and_ledger, messages, size),
        }
        whole = len(arms.text_of(messages))
        for arm, text in made.items():
            sizes, hits, totals = found.setdefault(arm, ([], dict.fromkeys(FAMILIES, 0), dict.fromkeys(FAMILIES, 0)))
            sizes.append(len(text) / whole)
            flat = " ".join(text.split())
            for family in FAMILIES:
                hits[family] += sum(survived(family, probe, flat) for probe in wanted[family])
                totals[family] += len(wanted[family])
    return found


def report():
    """Print a line for each arm."""
    found = measure()
    if not found:
        print(f"(no sessions with a summary of the tool's own in {FOLDER})")
        return
    print(f"{'arm':24} {'of the text':>11} {'all':>6} " + " ".join(f"{f:>8}" for f in FAMILIES))
    for arm, (sizes, hits, totals) in found.items():
        shares = [f"{100 * hits[f] / totals[f]:8.1f}" if totals[f] else f"{'-':>8}" for f in FAMILIES]
        everything = 100 * sum(hits.values()) / sum(totals.values())
        print(f"{arm:24} {100 * sum(sizes) / len(sizes):10.1f}% {everything:6.1f} {' '.join(shares)}")
    totals = next(iter(found.values()))[2]
    print(f"{'(probes)':24} {'':11} {sum(totals.values()):6} " + " ".join(f"{totals[f]:8}" for f in FAMILIES))
