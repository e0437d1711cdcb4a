"""How does every field of the settings become a flag, with its reason as help and its default beside it?"""

from __future__ import annotations

import functools
import inspect
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from compactor.config import Options, public
from compactor.core.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_PANELS = {Settings: "Stages", Options: "Summarizer"}


def with_flags(command: Callable[..., None]) -> Callable[..., None]:
    """Give `command` one option for each public field of Settings and Options, handed to it as the mapping `flags`.

    An option that was not given is None there, so that the environment and the files may speak.
    """
    own = [p for p in inspect.signature(command, eval_str=True).parameters.values() if p.name != "flags"]
    made = [_parameter(kind, f, hint) for kind in _PANELS for f, hint in _hinted(kind)]
    names = [p.name for p in made]

    @functools.wraps(command)
    def called(**given: Any) -> None:  # noqa: ANN401 - whatever the options are
        command(**{k: v for k, v in given.items() if k not in names}, flags={n: given[n] for n in names})

    called.__signature__ = inspect.Signature([*own, *made])  # type: ignore[attr-defined]
    called.__annotations__ = {p.name: p.annotation for p in (*own, *made)}
    return called


def _hinted(kind: type) -> Iterator[tuple[Any, Any]]:
    hints = get_type_hints(kind)
    return ((f, hints[f.name]) for f in public(kind))


def _parameter(kind: type, f: Any, hint: Any) -> inspect.Parameter:  # noqa: ANN401 - dataclass fields are untyped
    default = f"{f.default:g}" if isinstance(f.default, float) else str(f.default)
    help_text = f.metadata["why"] + (f" (default {default})" if default else "")
    names = [f"--{f.name.replace('_', '-')}", *(["-j"] if f.name == "jobs" else [])]
    shown = str if issubclass(hint, StrEnum) else hint
    metavar = "|".join(hint) if issubclass(hint, StrEnum) else {int: "N", float: "X", str: "TEXT"}[hint]
    option = typer.Option(*names, help=help_text, metavar=metavar, show_default=False, rich_help_panel=_PANELS[kind])
    annotation = Annotated.__class_getitem__((shown | None, option))  # type: ignore[attr-defined]
    return inspect.Parameter(f.name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=None)
