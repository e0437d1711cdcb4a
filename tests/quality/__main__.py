"""Print the tables: `python -m tests.quality [a] [b] [c] [d]`."""

import sys

from tests.quality import drift, kit, real, rules

PARTS = {
    "a": ("Real compactions at equal size (survival in %, by family)", real.report),
    "b": ("Compaction conformance kit 0.8.0", kit.report),
    "c": ("Side constraints of COMPINT", rules.report),
    "d": ("Growth, drift and languages", drift.report),
}


def main():
    """Print the parts that are named, or all."""
    for part in [name for name in sys.argv[1:] if name in PARTS] or PARTS:
        title, report = PARTS[part]
        print(f"{part}. {title}\n", flush=True)
        report()
        print(flush=True)


if __name__ == "__main__":
    main()
