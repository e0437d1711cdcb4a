"""Part a: real compactions. What survives in our result at the size of the summary that the tool itself wrote?"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.quality import arms
from tests.quality.probes import FAMILIES, claude_code, frozen, loaded, pi, plain, there
from tests.quality.tables import Share, Table
from tests.standin import Standin

SHARED = Path(__file__).resolve().parents[3] / "shared" / "transcripts"
NATIVE = "native summary"
BARS = "bars: extractive 85 in all and no family below native; stage 1 at most 43 % of the text with 94"
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
    yield NATIVE, piece.native
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


@dataclass
class Found:
    """What one arm comes to over the pieces of one tool: shares of the text in %, survival, and that of each piece."""

    sizes: list[float | None] = field(default_factory=list)
    families: dict[str, Share] = field(default_factory=lambda: {f: Share() for f in FAMILIES})
    pieces: dict[str, Share] = field(default_factory=dict)

    def judge(self, piece, probes, text, full):
        """Look for the probes of a piece in what an arm left of it."""
        flat = plain(text or "").lower()
        own = self.pieces[piece.name] = Share()
        for family, wanted in probes.items():
            for probe in wanted:
                hit = there(family, probe, flat)
                own.add(hit)
                self.families[family].add(hit, f"{piece.name}: {family}: {probe}")
        self.sizes.append(None if text is None else 100 * len(text) / full)

    @property
    def all(self):
        return sum(self.families.values(), Share())


def measure(seeds, models=()):
    """Give what every arm comes to, by tool and arm."""
    found = {}
    with summarizers(models) as given:
        for piece in pieces():
            probes = {f: [p for p in piece.probes[f] if seeds.mine(p)] for f in FAMILIES}
            full = len("\n".join(map(arms.words, arms.read(piece.content).conversation.messages)))
            tool = found.setdefault(piece.name.split()[0], {})
            for arm, text in made(piece, given):
                tool.setdefault(arm, Found()).judge(piece, probes, text, full)
    return found


def table(seeds, models=()):
    """Part a as a table for each tool."""
    found = measure(seeds, models)
    if not found:
        return [Table("a. Real compactions: the shared transcripts are not beside the project", ("arm",), ())]
    return [_table(tool, by_arm, seeds) for tool, by_arm in found.items()]


def _table(tool, by_arm, seeds):
    native = by_arm[NATIVE]
    rows = []
    for arm, one in by_arm.items():
        sizes = [s for s in one.sizes if s is not None]
        wins = sum(one.pieces[name].hits > theirs.hits for name, theirs in native.pieces.items())
        size = f"{sum(sizes) / len(sizes):.1f} %" if sizes else "-"
        missing = len(one.sizes) - len(sizes)
        rows.append((arm, size, one.all, *one.families.values(), f"{wins}/{len(native.pieces)}", missing))
    rows.append(("(probes)", "", str(native.all.of), *(str(s.of) for s in native.families.values()), "", ""))
    notes = [
        f"{name}: " + ", ".join(f"{arm} {one.pieces[name]}" for arm, one in by_arm.items()) for name in native.pieces
    ]
    lost = [
        f"{arm}: {line}"
        for arm, one in by_arm.items()
        for share in one.families.values()
        for line in share.lost
        if arm.startswith("extractive")
    ]
    headings = ("arm", "of the text", "all", *FAMILIES, "wins", "not to be had")
    title = (
        f"a. Real compactions by {tool}: survival in %, at most as many characters as the native summary "
        "(stage 1: its own size)"
    )
    return Table(title, headings, tuple(rows), (BARS, *notes), tuple(lost) if seeds.tuning else ())
