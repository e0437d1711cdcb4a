"""What did somebody type, and which exit code answers it? Nothing about compaction is decided here."""

from __future__ import annotations

from typing import Annotated

import typer

from compactor import __version__
from compactor.cli.compact import EXAMPLES, compact
from compactor.cli.discover import discover, formats
from compactor.cli.ending import answered
from compactor.cli.flags import with_flags
from compactor.cli.keep import forget_command, restore_command, schema_command, show_command, verify_command

app = typer.Typer(
    name="compactor",
    help="Make saved conversations of LLM agents smaller without losing what the next session needs.",
    pretty_exceptions_enable=False,
    add_completion=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("compact", help=EXAMPLES)(answered(with_flags(compact)))
app.command("show")(answered(show_command))
app.command("verify")(answered(verify_command))
app.command("restore")(answered(restore_command))
app.command("forget")(answered(forget_command))
app.command("discover")(answered(discover))
app.command("formats")(answered(formats))
app.command("schema")(answered(schema_command))


def _version(wanted: bool) -> None:
    if wanted:
        print(f"compactor {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line."""
    app()
