"""Is what README.md shows what really happens?

Four things are compared: `<!-- help: COMMAND -->` before a fenced block with what `COMMAND --help` prints,
`<!-- run: SHELL COMMAND -->` before one with all that the command prints, paths in backticks with the tree,
and `make TARGET` in backticks or at the start of a line in a block with the Makefile. `--write` puts what was
really printed into the blocks. Space at the end of a line is not compared: nobody sees it.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
FOLDERS = ("compactor/", "tests/", "fixtures/", ".ci/")
# A command of the README that is still running after this many seconds will not end.
PATIENCE = 120
# The shell's own exit codes: the command cannot be executed, or there is none of that name.
NOT_RUN = (126, 127)

MARKER = re.compile(r"^ *<!-- *(?P<kind>help|run): *(?P<command>.+?) *--> *$", re.MULTILINE)
FENCE = re.compile(r"^(?P<fence>`{3,})[^`\n]*\n(?P<shown>.*?)^(?P=fence)$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`\n]+)`")
MAKE = re.compile(r"(?:\$ )?make((?: [a-z][\w-]*)+)")
TARGET = re.compile(r"^([a-z][\w-]*):(?!=)", re.MULTILINE)


class Mismatch(Exception):
    """README.md says what is not so."""


def run(command: str) -> str:
    """Return all that a shell command prints, run from the project's root with an empty home."""
    with tempfile.TemporaryDirectory() as home:
        here = {
            "COLUMNS": "100",
            "HOME": home,
            "LC_ALL": "C.UTF-8",
            "NO_COLOR": "1",
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "TERM": "dumb",
            "TZ": "UTC",
        }
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=ROOT,
            env=here,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=PATIENCE,
            check=False,
        )
    printed = done.stdout.decode("utf-8", errors="replace")
    if done.returncode in NOT_RUN:
        raise Mismatch(f"`{command}` cannot be run: {printed.strip()}")
    return trimmed(printed)


def trimmed(text: str) -> str:
    """Without space at line ends and empty lines at either end; ends with a newline unless empty."""
    lines = "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")
    return f"{lines}\n" if lines else ""


def refreshed(readme: str) -> Iterator[tuple[int, str, slice, str]]:
    """Yield (line, command, place of the block's text, text it should have) for every marked block."""
    for marker in MARKER.finditer(readme):
        line = readme.count("\n", 0, marker.start()) + 1
        fence = FENCE.match(readme, marker.end() + len(gap(readme, marker.end())))
        if fence is None:
            raise Mismatch(f"README.md:{line}: no fenced block follows the comment; put one right below it")
        command = marker["command"] + (" --help" if marker["kind"] == "help" else "")
        yield line, command, slice(*fence.span("shown")), run(command)


def gap(text: str, start: int) -> str:
    """Return the white space that `text` has at `start`."""
    return text[start : len(text) - len(text[start:].lstrip())]


def stale_blocks(readme: str) -> list[str]:
    """Say which marked blocks do not show what their command prints."""
    return [
        f"README.md:{line}: not what `{command}` prints; `python -m tests.check_readme --write` refreshes it"
        for line, command, place, printed in refreshed(readme)
        if trimmed(readme[place]) != printed
    ]


def rewritten(readme: str) -> str:
    """Return the text with every marked block showing what its command prints."""
    for _, _, place, printed in reversed(list(refreshed(readme))):
        readme = readme[: place.start] + printed + readme[place.stop :]
    return readme


def missing_paths(readme: str) -> list[str]:
    """Say which paths in backticks are not in the tree; `*` is any name, and `::` ends a path."""
    spans = (span.partition("::")[0] for span in CODE.findall(FENCE.sub("", readme)))
    paths = dict.fromkeys(span for span in spans if span.startswith(FOLDERS) and " " not in span)
    return [f"README.md: `{path}` does not exist" for path in paths if not any(ROOT.glob(path.rstrip("/")))]


def missing_targets(readme: str, makefile: str) -> list[str]:
    """Say which `make TARGET` the Makefile does not have."""
    blocks = [line for fence in FENCE.finditer(readme) for line in fence["shown"].splitlines()]
    commands = filter(None, map(MAKE.match, blocks + CODE.findall(FENCE.sub("", readme))))
    asked = dict.fromkeys(target for command in commands for target in command[1].split())
    there = TARGET.findall(makefile)
    return [f"README.md: `make {t}`: the Makefile has no such target" for t in asked if t not in there]


def main() -> int:
    """Check README.md, or refresh its blocks with --write; 0 if all is as shown."""
    parser = argparse.ArgumentParser(prog="python -m tests.check_readme", description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="refresh the marked blocks of README.md")
    asked = parser.parse_args()
    path = ROOT / "README.md"
    if not path.is_file():
        print("There is no README.md; write one, then run `make check-readme` again", file=sys.stderr)
        return 1
    readme = path.read_text(encoding="utf-8")
    try:
        if asked.write:
            readme = rewritten(readme)
            path.write_text(readme, encoding="utf-8")
        found = stale_blocks(readme)
    except (Mismatch, subprocess.TimeoutExpired) as problem:
        found = [str(problem)]
    found += missing_paths(readme) + missing_targets(readme, (ROOT / "Makefile").read_text(encoding="utf-8"))
    print("\n".join(found), end="\n" if found else "", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
