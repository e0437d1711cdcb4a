"""Which options hold: flag, else COMPACTOR_... variable, else project file, else user file, else default?

Every field of `Settings` and `Options` is a key of the files and has a variable; the command line makes a flag of it.
The project file is `compactor.toml` in the working directory, the user file `~/.config/compactor/config.toml`
(or under $XDG_CONFIG_HOME).
"""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

from compactor.core.report import Prices
from compactor.core.settings import Settings
from compactor.errors import UsageError
from compactor.formats.convert import Target
from compactor.tools import LEAST_WINDOW, Native

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class SummarizerKind(StrEnum):
    """Who writes summaries; `auto` takes the command or the endpoint that is configured, else `extractive`."""

    AUTO = "auto"
    EXTRACTIVE = "extractive"
    OPENAI = "openai"
    COMMAND = "command"


def _option(default: Any, why: str) -> Any:  # noqa: ANN401 - a dataclass field stands for its value
    return field(default=default, metadata={"why": why})


MOST_PRICE = 1e9  # of a million tokens, in whatever currency; what is dearer is infinite in JSON sooner or later


@dataclass(frozen=True, slots=True)
class Options:
    """What shapes a run but not the meaning of a compaction. Times are seconds."""

    summarizer: SummarizerKind = _option(
        SummarizerKind.AUTO, "auto, extractive (no model), openai (any compatible endpoint) or command"
    )
    model: str = _option("gpt-4o-mini", "model that writes summaries; its tokenizer counts unless --encoding is given")
    base_url: str = _option("", "endpoint, e.g. http://localhost:8080/v1; the key is read from OPENAI_API_KEY")
    summarizer_command: str = _option("", "program that reads the prompt and prints the summary, e.g. 'llm -m x'")
    encoding: str = _option("", "tokenizer: o200k_base or cl100k_base")
    timeout: float = _option(120.0, "seconds that one summarizer call may take")
    retries: int = _option(2, "further attempts after a passing failure of the endpoint")
    format: str = _option("", "format of the inputs; without it told by content (compactor formats lists them)")
    native: Native = _option(
        Native.REWRITE, "rewrite (smaller file that its tool still resumes) or append (old records, then its own mark)"
    )
    to: Target = _option(Target.SAME, "write another format, a conversation a line: openai, anthropic or sharegpt")
    pin_file: str = _option("", "file of regular expressions as for --pin, one a line")
    lock_timeout: float = _option(10.0, "seconds to wait for another run on the same file")
    summarizer_context: int = _option(
        0, "tokens that the model takes, prompt and answer; longer middles are folded in piece by piece (0: unknown)"
    )
    jobs: int = _option(4, "summarizer calls in flight at once")
    rpm: int = _option(0, "requests that the endpoint gets in any minute, of the whole run (0: no limit)")
    tpm: int = _option(0, "tokens of prompts and answers that it gets in any minute (0: no limit)")
    price_in: float = _option(0.0, "price of a million prompt tokens, for cost and net saving in reports")
    price_out: float = _option(0.0, "price of a million tokens of answers")

    def __post_init__(self) -> None:
        """Refuse numbers that cannot work."""
        least_of = {"timeout": 0.001, "jobs": 1}
        for name in (
            "timeout",
            "retries",
            "jobs",
            "lock_timeout",
            "summarizer_context",
            "rpm",
            "tpm",
            "price_in",
            "price_out",
        ):
            least = least_of.get(name, 0)
            if not getattr(self, name) >= least:
                raise UsageError(f"{name} is {getattr(self, name)}", f"give at least {least:g}")
            if name.startswith("price_") and getattr(self, name) > MOST_PRICE:
                raise UsageError(f"{name} is {getattr(self, name)}", f"give at most {MOST_PRICE:,.0f}")
        if 0 < self.summarizer_context < LEAST_WINDOW:
            raise UsageError(
                f"summarizer_context is {self.summarizer_context}",
                f"give at least {LEAST_WINDOW}: the instructions alone take 900, and the notes a quarter",
            )

    @property
    def prices(self) -> Prices:
        """What calls cost, if somebody has said."""
        return Prices(self.price_in, self.price_out) if self.price_in or self.price_out else Prices()


def public(kind: type) -> Iterator[Any]:
    """Give the fields of Settings or Options that people may set."""
    return (f for f in fields(kind) if not f.metadata.get("internal"))


def resolve(
    flags: Mapping[str, Any], environment: Mapping[str, str], project: Path, user: Path
) -> tuple[dict[str, Any], dict[str, Any], frozenset[str]]:
    """Layer all sources: the values for Settings, those for Options, and the names that somebody has set.

    `flags` holds None where a flag was not given. Raises UsageError for an unknown key or a value of a wrong type.
    """
    kinds = {f.name: hint for kind in (Settings, Options) for f, hint in _typed(kind)}
    layers: list[Mapping[str, Any]] = [
        _read(user, kinds),
        _read(project, kinds),
        {n: v for n in kinds if (v := environment.get(f"COMPACTOR_{n.upper()}"))},
        {n: v for n, v in flags.items() if v is not None},
    ]
    merged = {n: _converted(n, v, kinds[n]) for layer in layers for n, v in layer.items()}
    if file := merged.get("pin_file"):
        merged["pin"] = "|".join(filter(None, (merged.get("pin", ""), *_patterns(Path(file)))))
    settings = {f.name: merged[f.name] for f in public(Settings) if f.name in merged}
    options = {f.name: merged[f.name] for f in public(Options) if f.name in merged}
    return settings, options, frozenset(merged)


def _patterns(path: Path) -> Iterator[str]:
    """Read regular expressions, one a line; blank lines and those that begin with # are none."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: {error}", "name a file of regular expressions, one a line") from error
    return (f"(?:{line.strip()})" for line in lines if line.strip() and not line.lstrip().startswith("#"))


def _typed(kind: type) -> Iterator[tuple[Any, type]]:
    hints = get_type_hints(kind)
    return ((f, hints[f.name]) for f in public(kind))


def _read(path: Path, kinds: Mapping[str, type]) -> dict[str, Any]:
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: {error}", "mend the file or move it away") from error
    unknown = sorted(set(found) - set(kinds))
    if unknown:
        raise UsageError(f"{path}: unknown key {unknown[0]!r}", f"known are {', '.join(sorted(kinds))}")
    return found


def _converted(name: str, value: object, kind: type) -> Any:  # noqa: ANN401 - of the field's own type
    try:
        if kind is int and isinstance(value, str):
            return int(value.replace("_", ""))
        fits = not isinstance(value, bool) and (kind not in (int, str) or isinstance(value, kind))
        if fits:
            return kind(value)
    except (ValueError, TypeError):
        fits = False
    wanted = f"one of {', '.join(kind)}" if issubclass(kind, StrEnum) else f"of type {kind.__name__}"
    raise UsageError(f"{name} is {value!r}", f"it must be {wanted}")


def project_file() -> Path:
    """Name the configuration file of the working directory."""
    return Path("compactor.toml")


def user_file() -> Path:
    """Name the user's configuration file, which need not exist."""
    home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(home) / "compactor" / "config.toml"
