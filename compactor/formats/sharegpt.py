"""Which ShareGPT conversations does this file hold?

Turns stand under `conversations`, a conversation a line or an element of one array: as `from` and `value`, plain, with
turns for calls and results, or with the tags of Hermes trajectories; or as `role` and `content`. Keys beside the turns
stay as they are; a handoff is a turn like those around it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from compactor.formats import openai_chat
from compactor.formats.anthropic import lead
from compactor.formats.layouts import Turns
from compactor.formats.row import Format
from compactor.formats.sharegpt_edits import handoff_bytes, kept_bytes, user_handoff_bytes
from compactor.formats.sharegpt_turns import message

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

KEYS = ("conversations",)


def detect(values: Sequence[Mapping[str, object]]) -> bool:
    """Tell from the first object of a file that holds turns at all whether it is ours."""
    ours = ((_holds_turns(value) or _is_turn(value), openai_chat.TURNS.found_in(value)) for value in values)
    return next((mine for mine, theirs in ours if mine or theirs), False)


def _holds_turns(value: Mapping[str, object]) -> bool:
    listed = value.get(KEYS[0])
    if not isinstance(listed, list):
        return False
    turns = [turn for turn in listed if isinstance(turn, dict)]
    return not listed or any(TURNS.named(turn) or _WITH_ROLES.named(turn) for turn in turns)


def _is_turn(value: Mapping[str, object]) -> bool:
    return isinstance(value.get("from"), str) and isinstance(value.get("value"), str)


def _like(listed: Sequence[object]) -> Turns:
    """Tell how the turns of a list are spelled: with which keys, and with which names for those who speak."""
    turns = [turn for turn in listed if isinstance(turn, dict)]
    if any("from" in turn for turn in turns):
        return _WITH_USERS if any(turn.get("from") in ("user", "assistant") for turn in turns) else _WITH_HUMANS
    return _WITH_ROLES if any("role" in turn for turn in turns) else _WITH_HUMANS


_WITH_HUMANS = Turns(KEYS, "from", message, openai_chat.TURNS.preamble, handoff_bytes, kept_bytes, lead)
_WITH_USERS = replace(_WITH_HUMANS, handoff=user_handoff_bytes)
_WITH_ROLES = replace(openai_chat.TURNS, keys=KEYS, lead=lead)
TURNS = replace(_WITH_HUMANS, like=_like)
FORMAT = Format(
    name="sharegpt",
    title="ShareGPT",
    expects='conversations of turns ({"conversations": [{"from": ..., "value": ...}]}), Hermes trajectories among them',
    detect=detect,
    read=TURNS.read,
)
