"""Print the tables: `python -m tests.quality [--part a] [--seed N | --tune] [--json FILE]`."""

from __future__ import annotations

import argparse
import json
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from pathlib import Path

from tests.quality import arms, drift, excerpts, kit, languages, real, rules
from tests.quality.seeds import FIRST_REPORTED, REPORTING, TUNING, Seeds
from tests.quality.tables import as_json, as_text

PARTS = {"a": real, "b": kit, "c": rules, "d": drift, "e": languages, "f": excerpts}


def chosen():
    """Read the command line."""
    options = argparse.ArgumentParser(prog="python -m tests.quality", description=__doc__)
    options.add_argument("--part", action="append", choices=PARTS, help="only this part (may be repeated)")
    options.add_argument("--seed", type=int, help=f"this seed alone; below {FIRST_REPORTED} it is one for tuning")
    options.add_argument("--tune", action="store_true", help="the tuning seeds and probes, with what was lost")
    options.add_argument("--json", type=Path, help="write the tables here, too")
    options.add_argument("--base-url", help="an endpoint: adds a real model to part a")
    options.add_argument("--model", default="gpt-4o-mini", help="its model")
    return options.parse_args()


def measured(part, seeds, given):
    """The tables of a part, and the seconds that they took."""
    models = [(f"{given.model} + ledger", arms.endpoint(given.base_url, given.model))] if given.base_url else []
    start = time.perf_counter()
    tables = PARTS[part].table(seeds, models) if part == "a" else PARTS[part].table(seeds)
    return tables, time.perf_counter() - start


def main():
    """Print the parts that are named, or all; they are measured side by side."""
    given = chosen()
    seeds = Seeds((given.seed,)) if given.seed is not None else TUNING if given.tune else REPORTING
    parts, found = given.part or [*PARTS], []
    with ProcessPoolExecutor() as pool:
        for part, (tables, seconds) in zip(parts, pool.map(measured, parts, repeat(seeds), repeat(given)), strict=True):
            found += tables
            print("\n\n".join(map(as_text, tables)))
            print(f"(part {part}, seeds {seeds.numbers}, {seconds:.0f} s)\n", flush=True)
    if given.json:
        content = {"seeds": seeds.numbers, "tables": [as_json(one) for one in found]}
        given.json.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
