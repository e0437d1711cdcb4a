"""What stands on the latest todo list or plan, and how far is each item?

Lists come through tools (any call whose arguments hold items with a status), one item at a time through
create and update calls, or as checkboxes in what the assistant writes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from compactor.core.acts import name_words
from compactor.core.sentences import clip, flat, said

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from compactor.core.acts import Act

ITEM_CHARS = 240


class Status(StrEnum):
    """How far an item is; the value is the mark in its checkbox."""

    OPEN = " "
    ACTIVE = "~"
    FINISHED = "x"


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to do. `number` is that of the message that said so last, `label` the tool's own ("#3") or ""."""

    text: str
    status: Status
    number: int
    label: str = ""


_STATUS = {
    "completed": Status.FINISHED, "complete": Status.FINISHED, "done": Status.FINISHED, "finished": Status.FINISHED,
    "in_progress": Status.ACTIVE, "in-progress": Status.ACTIVE, "active": Status.ACTIVE, "doing": Status.ACTIVE,
}  # fmt: skip
_DROPPED = frozenset(("deleted", "cancelled", "canceled", "removed"))
_TEXT_KEYS = ("content", "step", "title", "task", "subject", "text", "description", "name")


def listed(arguments: Mapping[str, object], number: int) -> tuple[Item, ...] | None:
    """Read the items of a whole list in a call's arguments, or None if they hold none."""
    for value in arguments.values():
        rows = [r for r in value if isinstance(r, dict)] if isinstance(value, list) else []
        if rows and all("status" in r for r in rows):
            return tuple(i for r in rows if (i := _item(r, number)))
    return None


def _item(row: Mapping[str, object], number: int) -> Item | None:
    text = next((flat(v) for k in _TEXT_KEYS if isinstance(v := row.get(k), str) and v.strip()), "")
    status = str(row.get("status", "")).lower()
    if not text or status in _DROPPED:
        return None
    return Item(clip(text, ITEM_CHARS), _STATUS.get(status, Status.OPEN), number)


@dataclass(frozen=True, slots=True)
class Todo:
    """The items as they stand at the end; `whole` if a complete list was given, which replaces earlier ones."""

    items: tuple[Item, ...]
    whole: bool


def todo(acts: Iterable[Act], known: Mapping[str, str]) -> Todo:
    """Find the latest list that `acts` give; `known` holds the texts of items of earlier lists by their labels."""
    items: dict[str, Item] = {}
    whole = False
    created = max((int(k[1:]) for k in known if k[1:].isdigit()), default=0)
    for act in acts:
        if act.failed:
            continue
        rows = listed(act.arguments, act.number)
        words = name_words(act.call.name)
        if rows is not None and not act.command:
            finished = {t: i for t, i in items.items() if i.status is Status.FINISHED}
            items = finished | {i.text: i for i in rows}
            whole = True
        elif {"task", "todo"}.intersection(words) and "create" in words:
            created += 1
            if item := _item({"status": "", **act.arguments}, act.number):
                label = _label(act, created)
                items[label] = Item(item.text, item.status, act.number, label)
        elif {"task", "todo"}.intersection(words) and "update" in words:
            _update(items, act, known)
    return Todo(tuple(items.values()), whole)


def _label(act: Act, created: int) -> str:
    given = re.search(r"#(\d+)", act.result.text[:200]) if act.result else None
    return f"#{given[1]}" if given else f"#{created}"


def _update(items: dict[str, Item], act: Act, known: Mapping[str, str]) -> None:
    ident = next((v for k, v in act.arguments.items() if k.lower().endswith("id") and isinstance(v, str | int)), "")
    label = f"#{ident}"
    before = items.get(label) or (Item(known[label], Status.OPEN, act.number, label) if label in known else None)
    status = str(act.arguments.get("status", "")).lower()
    if before is None or not status:
        return
    if status in _DROPPED:
        items.pop(label, None)
    else:
        items[label] = Item(before.text, _STATUS.get(status, Status.OPEN), act.number, label)


_BOX = re.compile(r"^\s*[-*+] \[([ xX~])\]\s+(.{2,1000}?)\s*$", re.MULTILINE)


def checkboxes(text: str, number: int) -> Iterator[Item]:
    """Yield the items that `text` writes as Markdown checkboxes."""
    for mark, words in _BOX.findall(said(text)):
        yield Item(clip(flat(words), ITEM_CHARS), Status(mark.lower()), number)


_STEPS = re.compile(
    r"^\W*(?:next steps?|remaining(?: work| tasks?| steps?)?|to-?do|still to do|what(?:'s| is) left|open items|"
    r"nächste schritte|noch offen|próximos pasos|pendientes?|prochaines étapes|próximos passos|"
    r"下一步|后续(?:步骤|计划)?|待办(?:事项)?|接下来|次のステップ|今後の(?:予定|作業)|残り(?:の作業)?)\W*$",
    re.IGNORECASE,
)
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,2}[.)、])\s+(?!\[[ xX~]\])(.{2,1000})$")
STEPS = 10  # of one list; the rest is detail


def next_steps(text: str) -> tuple[str, ...]:
    """List the bullets under the last heading of `text` that announces what comes next."""
    found: list[str] = []
    open_list = False
    for line in said(text).splitlines():
        bullet = _BULLET.match(line)
        if _STEPS.match(line.strip()):
            found, open_list = [], True
        elif open_list and bullet:
            found.append(clip(flat(bullet[1]), ITEM_CHARS))
        elif line.strip() and not line.startswith((" ", "\t")):
            open_list = False
    return tuple(found[:STEPS])
