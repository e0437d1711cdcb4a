"""Which tool results are the user's own word, or an instruction to the model, and cannot be had again?

Formats do not say; the name of the tool does. Of such a result nothing may be pruned.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from compactor.core.messages import groups
from compactor.core.results import results

if TYPE_CHECKING:
    from compactor.core.messages import Message, Result

# Names in small letters and without marks, so that AskUserQuestion and ask_user_question are one.
USER_TOOLS = frozenset(
    {
        "askfollowupquestion", "askhuman", "askquestion", "askquestions", "askuser", "askuserinput",
        "askuserquestion", "clarify", "exitplanmode", "getuserinput", "human", "humaninput", "question",
        "requestuserinput", "userinput",
    }
)  # fmt: skip
SKILL_TOOLS = frozenset(
    {"activateskill", "getskill", "invokeskill", "loadskill", "readskill", "skill", "skillview", "useskill"}
)


def with_answers(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Mark the results of USER_TOOLS and SKILL_TOOLS, by the name of the call that each one answers."""
    names = {c.name for m in messages for c in m.calls} | {r.name for m in messages for r in m.results}
    if not any(map(_irreplaceable, names)):
        return messages
    marked = [list(m.results) for m in messages]
    for spot, call, result in results(messages, groups(messages)):
        if _irreplaceable(result.name) or (call is not None and _irreplaceable(call.name)):
            marked[spot.message][spot.result] = replace(result, protected=True)
    return tuple(_with_results(m, tuple(new)) for m, new in zip(messages, marked, strict=True))


def _with_results(message: Message, new: tuple[Result, ...]) -> Message:
    return message if new == message.results else replace(message, results=new)


def _irreplaceable(name: str) -> bool:
    """Compare without the namespace that servers put before a name (`mcp__desk__ask_user`, `functions.skill`)."""
    plain = "".join(filter(str.isalnum, name.rpartition("__")[2].rpartition(".")[2].lower()))
    return plain in USER_TOOLS or plain in SKILL_TOOLS
