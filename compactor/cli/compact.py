"""`compactor compact`: which files go in, where do they go, and how did it end?"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from compactor.config import Options, project_file, resolve, user_file
from compactor.console import Console, Talk, as_json, table
from compactor.core.settings import Settings, Trigger
from compactor.job import Act, Archive, Earlier
from compactor.jobs import Places, jobs_of
from compactor.redact import Redact
from compactor.start import start

if TYPE_CHECKING:
    from compactor.ending import Ending

EXAMPLES = """Compact conversations: prune old tool results, summarise the middle.

\b
Examples:
  compactor compact chat.jsonl > small.jsonl       one file, to stdout
  compactor compact -n sessions/*.jsonl            only say what it would save
  zcat c.jsonl.gz | compactor compact | gzip       in a pipeline

Without an endpoint (--base-url, --model or OPENAI_API_KEY) summaries are
extracted offline. Every option of the panels Stages and Summarizer is also
a variable COMPACTOR_NAME and a key of compactor.toml."""

Files = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="[FILE|DIR]...", help="Transcripts, or folders of them; - or none: stdin.", show_default=False
    ),
]
Output = Annotated[
    str | None, typer.Option("--output", "-o", metavar="FILE|DIR", help="Where to write.", show_default=False)
]
InPlace = Annotated[bool, typer.Option("--in-place", "-i", help="Replace the inputs.")]
State = Annotated[
    Path | None,
    typer.Option("--state", metavar="FILE", help="Sidecar of the one input (FILE.state).", show_default=False),
]
StateDir = Annotated[
    Path | None, typer.Option("--state-dir", metavar="DIR", help="Folder for all sidecars.", show_default=False)
]
Include = Annotated[
    list[str] | None,
    typer.Option(
        "--include", metavar="GLOB", help="Files of a folder that are meant (*.jsonl* and *.json).", show_default=False
    ),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option("--exclude", metavar="GLOB", help="Files of a folder that are not.", show_default=False),
]
DryRun = Annotated[bool, typer.Option("--dry-run", "-n", help="Report only: no call, no write.")]
Json = Annotated[bool, typer.Option("--json", help="The report as JSON lines (on stderr if transcripts go to stdout).")]
Force = Annotated[bool, typer.Option("--force", help="Summarise what no summary covers, below the trigger too.")]
Rebuild = Annotated[bool, typer.Option("--rebuild", help="Forget what sidecars know; start afresh.")]
NoArchive = Annotated[bool, typer.Option("--no-archive", help="In place, do not keep what is taken out.")]
NoRedact = Annotated[bool, typer.Option("--no-redact", help="Send and keep what looks like a secret, too.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say errors only.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Say a line for every conversation.")]


def compact(  # noqa: D103 - its help is EXAMPLES
    *,
    files: Files = None,
    output: Output = None,
    in_place: InPlace = False,
    state: State = None,
    state_dir: StateDir = None,
    include: Include = None,
    exclude: Exclude = None,
    dry_run: DryRun = False,
    json: Json = False,
    force: Force = False,
    rebuild: Rebuild = False,
    no_archive: NoArchive = False,
    no_redact: NoRedact = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    flags: dict[str, Any],
) -> None:
    shaping, running, given = resolve(flags, os.environ, project_file(), user_file())
    settings = Settings(**shaping, trigger_mode=Trigger.FORCE if force else Trigger.AUTO)
    options = Options(**running)
    console = Console(Talk.QUIET if quiet else Talk.VERBOSE if verbose else Talk.NORMAL)
    act = Act.PLAN if dry_run else Act.COMPACT
    places = Places(output, in_place, state, state_dir, act, tuple(include or ()), tuple(exclude or ()), options.to)
    jobs = jobs_of(files or [], places, sys.stdin)
    earlier = Earlier.REBUILD if rebuild else Earlier.CONTINUE
    keep = Archive.NONE if no_archive else Archive.KEEP
    if no_archive and in_place and not dry_run:
        what = jobs[0].name if len(jobs) == 1 else f"{len(jobs)} files"
        console.note(f"compactor: --no-archive: what is taken out of {what} cannot be had back")
    redact = Redact.NOTHING if no_redact else Redact.SECRETS
    ending = asyncio.run(start(jobs, settings, options, given, console, act, earlier, keep, redact))
    _show(ending, dry_run=dry_run, json=json, apart=all(job.target for job in jobs), console=console)
    raise typer.Exit(ending.exit_code)


def _show(ending: Ending, *, dry_run: bool, json: bool, apart: bool, console: Console) -> None:
    """Write the reports where transcripts do not go: JSON to stderr unless these go to files, `apart`."""
    if json:
        (sys.stdout if dry_run or apart else sys.stderr).buffer.write(as_json(ending.reports))
    elif dry_run:
        report = table(ending.reports, console.width)
        sys.stdout.buffer.write(report.encode(sys.stdout.encoding, "backslashreplace"))
    else:
        console.summary(ending.reports)
    sys.stdout.flush()
