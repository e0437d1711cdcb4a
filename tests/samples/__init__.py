"""How does each format's test conversation look? One module a format, each with a value `SAMPLE`."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules


@dataclass(frozen=True)
class Sample:
    """A conversation of our own in one format, as a tool would have written it.

    `long(turns)` gives the bytes of a file with so many user turns, each with words, calls, results of a few hundred
    to a few thousand characters and an answer; `grown(content, turns)` adds turns to a file, compacted or not, as
    the tool would. `lines` tells whether a record is a line (else the file is one JSON value).
    """

    form: str
    file: str
    long: Callable[[int], bytes]
    grown: Callable[[bytes, int], bytes]
    lines: bool = True


def samples() -> list[Sample]:
    """Give the samples of all formats; a module may have several as SAMPLES."""
    found = []
    for module in sorted(m.name for m in iter_modules(__path__)):
        loaded = import_module(f"{__name__}.{module}")
        found += getattr(loaded, "SAMPLES", None) or [loaded.SAMPLE]
    return found


def talk(turn: int) -> dict[str, str]:
    """Give the words of one turn: ask, plan, path, output (long), answer; each turn's are its own."""
    module = ("billing", "search", "ledger", "mailer", "router", "cache")[turn % 6]
    output = "\n".join(f"{n:4d}  def {module}_{turn}_{n}(order): return order.total * {n + turn}" for n in range(30))
    return {
        "ask": f"Turn {turn}: please look into the {module} module, ticket #{4000 + turn}, and never push to main.",
        "plan": f"I will read src/{module}_{turn}.py first, because ticket #{4000 + turn} names it.",
        "path": f"src/{module}_{turn}.py",
        "output": output,
        "answer": f"Done with {module} in turn {turn}: {10 + turn} tests passed, 0 failed, commit {turn:07x}.",
    }
