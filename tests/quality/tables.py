"""How is a measurement written: as a table for people, and as JSON for a comparison?"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Table:
    """Rows of cells under headings; a cell is a text, a number, None (nothing to measure) or a Share.

    `notes` are sentences below it, `lost` says by arm what was looked for in vain (tuning only).
    """

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple, ...]
    notes: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()


@dataclass
class Share:
    """How many of how many; adds up."""

    hits: int = 0
    of: int = 0
    lost: list[str] = field(default_factory=list)

    def add(self, hit, name=""):
        self.hits += bool(hit)
        self.of += 1
        if not hit and name:
            self.lost.append(name)

    def __add__(self, other):
        return Share(self.hits + other.hits, self.of + other.of, self.lost + other.lost)

    @property
    def percent(self):
        return 100 * self.hits / self.of if self.of else None

    def __str__(self):
        return f"{self.percent:.1f}" if self.of else "-"


def written(cell):
    if cell is None:
        return "-"
    return f"{cell:.1f}" if isinstance(cell, float) else str(cell)


def as_text(table):
    """Write a table in columns: the first to the left, the others to the right."""
    lines = [table.headings, *(tuple(map(written, row)) for row in table.rows)]
    widths = [max(len(line[n]) for line in lines) for n in range(len(table.headings))]
    rows = [
        "  ".join(c.ljust(w) if n == 0 else c.rjust(w) for n, (c, w) in enumerate(zip(line, widths, strict=True)))
        for line in lines
    ]
    return "\n".join([table.title, "", *rows, "", *table.notes, *(f"  lost: {one}" for one in table.lost)])


def as_json(table):
    """Give a table as values: rows as objects, shares as percent with their counts."""

    def value(cell):
        return {"percent": cell.percent, "hits": cell.hits, "of": cell.of} if isinstance(cell, Share) else cell

    rows = [dict(zip(table.headings, map(value, row), strict=True)) for row in table.rows]
    return {"title": table.title, "rows": rows, "notes": list(table.notes), "lost": list(table.lost)}
