"""How is what a sidecar knows of a conversation written as JSON, and read back?

The shape is that of `schemas/state.json`.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from compactor.core.handoff import Notes
from compactor.core.messages import Role
from compactor.core.state import Covered, Entry, Failure, Generation
from compactor.core.summary import Summary

if TYPE_CHECKING:
    from collections.abc import Mapping

VERSION = 1


def entry_to(entry: Entry) -> dict[str, Any]:
    """Turn an entry into the JSON object of schemas/state.json."""
    failure = entry.failure
    return {
        "version": VERSION,
        "key": entry.key,
        "generations": [_generation_to(g) for g in entry.generations],
        "failure": None if failure is None else {"at": failure.at, "why": failure.why, **failure.spent},
    }


def _generation_to(generation: Generation) -> dict[str, Any]:
    covered = generation.covered
    return {
        "number": generation.number,
        "covered": asdict(covered),
        "role": str(generation.role),
        "summary": _sections_to(generation.notes.summary),
        "quote": generation.notes.quote,
        "stubbed": [list(s) for s in generation.stubbed],
        "made": dict(generation.made),
        **({} if generation.ledger is None else {"ledger": _sections_to(generation.ledger)}),
    }


def _sections_to(summary: Summary) -> dict[str, list[str]]:
    return {key: list(lines) for key, lines in summary.sections.items()}


def _sections_from(value: Mapping[str, Any]) -> Summary:
    return Summary({str(key): tuple(map(str, lines)) for key, lines in value.items()})


def entry_from(value: Mapping[str, Any]) -> Entry:
    """Read an entry back; raises KeyError, TypeError or ValueError where the object is not of the schema."""
    failure = value["failure"]
    return Entry(
        str(value["key"]),
        tuple(_generation_from(g) for g in value["generations"]),
        None if failure is None else _failure_from(failure),
    )


def _failure_from(value: Mapping[str, Any]) -> Failure:
    return Failure(float(value["at"]), str(value["why"]), {k: value[k] for k in ("usage", "cost") if k in value})


def _generation_from(value: Mapping[str, Any]) -> Generation:
    found = value["covered"]
    count, tokens, start = (int(found[key]) for key in ("count", "tokens", "start"))
    covered = Covered(count, tokens, str(found["first"]), str(found["chain"]), start)
    return Generation(
        int(value["number"]),
        covered,
        Role(value["role"]),
        Notes(_sections_from(value["summary"]), str(value["quote"])),
        tuple((int(after), int(ordinal)) for after, ordinal in value["stubbed"]),
        dict(value["made"]),
        _sections_from(value["ledger"]) if "ledger" in value else None,
    )
