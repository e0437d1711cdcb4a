"""Part a: real compactions. What survives in our result at the size of the summary that the tool itself wrote?"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.quality import arms
from tests.quality.probes import FAMILIES, claude_code, frozen, loaded, pi, plain, there
from tests.quality.tables import Share, Table
from tests.standin import Standin

SHARED = Path(__file__).resolve().parents[3] / "shared" / "transcripts"
LEAST_SUMMARY = 3_000  # characters; shorter ones came from a fake model


@dataclass(frozen=True)
class Piece:
    """What stood before a compaction: its bytes, its probes by family, and the summary that its tool wrote."""

    name: str
    content: bytes
    probes: dict[str, list[str]]
    native: str


def pieces():
    """Every real compaction among the shared transcripts."""
    found = []
    for path in sorted((SHARED / "claude-code").glob("*.jsonl")):
        found += _claude_code(path)
    path = SHARED / "pi" / "before-compaction.jsonl"
    return [*found, *(_pi(path) if path.is_file() else ())]


def _claude_code(path):
    lines = path.read_bytes().splitlines(keepends=True)
    records = [loaded(line) for line in lines]
    start = 0
    for n, record in enumerate(records):
        if not record.get("isCompactSummary"):
            continue
        end = n - 1 if records[n - 1].get("subtype") == "compact_boundary" else n
        content = record["message"]["content"]
        native = content if isinstance(content, str) else "".join(b.get("text", "") for b in content)
        if len(native) >= LEAST_SUMMARY:
            before = records[start:end]
            cwd = next((r["cwd"] for r in before if r.get("cwd")), "")
            probes = frozen(claude_code(before), cwd)
            yield Piece(f"claude-code {path.stem[:8]}", b"".join(lines[start:end]), probes, native)
        start = n + 1


def _pi(path):
    lines = path.read_bytes().splitlines(keepends=True)
    records = [loaded(line) for line in lines]
    start = 1
    for record in records:
        if record.get("type") != "compaction":
            continue
        stop = record["firstKeptEntryIndex"]
        span = [n for n in range(start, stop) if records[n].get("type") != "compaction"]
        probes = frozen(pi(records[n] for n in span), records[0]["cwd"])
        yield Piece(f"pi {start}-{stop}", lines[0] + b"".join(lines[n] for n in span), probes, record["summary"])
        start = stop


@contextmanager
def summarizers(real):
    """The stand-in, and the real model if one is given, as (name, summarizer)."""
    with Standin() as standin:
        yield [("stand-in model + ledger", arms.endpoint(standin.url)), *real]


def made(piece, models):
    """The text that each arm leaves of a piece; None if it cannot be had in that size."""
    row = arms.read(piece.content)
    size = len(piece.native)
    yield "native summary", piece.native
    yield "stage 1 only", arms.stage_one(row).text
    yield "drop middle", _text(arms.drop_middle(row, size))
    yield "tail only", arms.tail_only(row, size)
    yield "extractive, whole result", _text(arms.whole(row, size))
    alone = arms.handoff_alone(row, size)
    yield "extractive, handoff alone", alone.handoff if alone else None
    yield "stand-in model, reply alone", arms.reply_alone(row, size)
    for name, summarizer in models:
        yield name, _text(arms.whole(row, size, summarizer))


def _text(result):
    return result.text if result else None


def measure(seeds, models=()):
    """Give for each arm: share of the text, survival by family, wins against native, pieces it could not be had for."""
    found = {}
    with summarizers(models) as given:
        for piece in pieces():
            probes = {f: [p for p in piece.probes[f] if seeds.mine(p)] for f in FAMILIES}
            full = len("\n".join(map(arms.words, arms.read(piece.content).conversation.messages)))
            for arm, text in made(piece, given):
                one = found.setdefault(arm, {"sizes": [], "pieces": [], **{f: Share() for f in FAMILIES}})
                flat = plain(text or "").lower()
                own = Share()
                for family in FAMILIES:
                    for probe in probes[family]:
                        hit = there(family, probe, flat)
                        own.add(hit)
                        one[family].add(hit, f"{arm}: {piece.name}: {family}: {probe}")
                one["sizes"].append(100 * len(text) / full if text is not None else None)
                one["pieces"].append(own)
    return found


def table(seeds, models=()):
    """Part a as a table."""
    found = measure(seeds, models)
    if not found:
        return [Table("a. Real compactions: the shared transcripts are not beside the project", ("arm",), ())]
    native = found["native summary"]["pieces"]
    rows, lost = [], []
    for arm, one in found.items():
        sizes = [s for s in one["sizes"] if s is not None]
        total = sum((one[f] for f in FAMILIES), Share())
        wins = sum(ours.hits > theirs.hits for ours, theirs in zip(one["pieces"], native, strict=True))
        missing = len(one["sizes"]) - len(sizes)
        size = f"{sum(sizes) / len(sizes):.1f} %" if sizes else "-"
        rows.append((arm, size, total, *(one[f] for f in FAMILIES), f"{wins}/{len(native)}", missing))
        lost += [line for f in FAMILIES for line in one[f].lost] if arm.startswith("extractive") else []
    counts = [found["native summary"][f].of for f in FAMILIES]
    rows.append(("(probes)", "", str(sum(counts)), *map(str, counts), "", ""))
    by_piece = [
        f"{piece.name}: " + ", ".join(f"{arm} {one['pieces'][n]}" for arm, one in found.items())
        for n, piece in enumerate(pieces())
    ]
    headings = ("arm", "of the text", "all", *FAMILIES, "wins", "not to be had")
    title = "a. Real compactions, at most as many characters as the native summary (stage 1: its own size); survival in %"
    return [Table(title, headings, tuple(rows), tuple(by_piece), tuple(lost) if seeds.tuning else ())]
