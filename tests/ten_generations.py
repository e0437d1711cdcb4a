"""Of a real transcript that grows and is compacted ten times: is every turn kept or covered once, and no fact lost?

`python -m tests.ten_generations` cuts each transcript of ../shared that is one conversation into ten growing pieces and
compacts after each: elsewhere, in place with the next turns appended, and by turns. After the last, the ledger of the
sidecar is compared with one that is made of the covered turns at once.
"""

import json
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from compactor.core.handoff import is_handoff
from compactor.core.ledger import KEPT, opened
from compactor.core.merge import merged
from compactor.core.messages import Kept, groups
from compactor.core.prompt import Turns, request
from compactor.core.settings import Settings, Trigger
from compactor.core.summary import Summary, render
from compactor.core.tokens import costs
from compactor.core.verify import broken
from compactor.errors import CompactorError
from compactor.formats import rows
from compactor.keeping import faults, kit_of, restore
from compactor.sidecar import Sidecar
from tests.offline import COUNT, ran
from tests.running import ROOT

TRANSCRIPTS = ROOT.parent / "shared" / "transcripts"
ROUNDS = 10
LEAST_MESSAGES = 30
# Whether each run, over and over, leaves the source as it is ("s") or replaces it ("o").
WAYS = {"elsewhere": "s", "in place": "o", "by turns": "so"}
CEILING = 2_000


@dataclass
class Lived:
    """What became of one transcript: its generations, what was not as it should be, and the facts of its ledger.

    `retired` facts were in the ledger of an earlier generation, `capped` ones are of a family that was full; `missing`
    ones were never in it, although a ledger that is made at once has them. `more` are those that only this one has.
    """

    generations: int = 0
    covered: int = 0
    messages: int = 0
    kept: int = 0
    retired: int = 0
    capped: int = 0
    missing: Counter = field(default_factory=Counter)
    more: int = 0
    wrong: list[str] = field(default_factory=list)


def read(content):
    """The messages that a model would be given; none if that is not one conversation."""
    try:
        found = list(rows(content.splitlines(keepends=True), "log"))
    except CompactorError:
        return ()
    return found[0].conversation.messages if len(found) == 1 and found[0].conversation else ()


def transcripts():
    """Give those that are one conversation, long enough, and were not compacted by their own tool."""
    for path in sorted(TRANSCRIPTS.glob("*/*")):
        messages = read(path.read_bytes())
        if len(messages) >= LEAST_MESSAGES and not any(map(is_handoff, messages)):
            yield path


def pieces(content):
    """Cut a transcript into parts that follow one another; a file of one line has them in its list of messages."""
    lines = content.splitlines(keepends=True)
    if len(lines) > 1:
        return [b"".join(part) for part in _tenths(lines)]
    return [json.dumps(part).encode() for part in _tenths(json.loads(lines[0])["messages"])]


def _tenths(items):
    bounds = [len(items) * n // ROUNDS for n in range(ROUNDS + 1)]
    return [items[start:stop] for start, stop in pairwise(bounds)]


def grown(now, piece):
    """Add a piece to a transcript as its tool would."""
    if not piece.startswith(b"["):
        return now + piece
    # Within the bytes that are there: a tool does not write its old messages anew.
    return (now.rstrip()[:-2] + b"," if now else b'{"messages":[') + piece[1:] + b"}\n"


def lived(path, way, folder):
    """Compact a transcript after each of ten pieces; tell what came of it."""
    content = path.read_bytes()
    window = max(4_000, sum(costs(read(content), COUNT)) // 3)
    chosen = Settings(context_window=window, summary_min=200, summary_max=CEILING, trigger_mode=Trigger.FORCE)
    life, file, whole, seen, last = Lived(), folder / path.name, b"", set(), None
    file.touch()
    for n, piece in enumerate(pieces(content)):
        file.write_bytes(grown(file.read_bytes(), piece))
        whole = grown(whole, piece)
        target = file if WAYS[way][n % len(WAYS[way])] == "o" else folder / "out"
        ending = ran(file, target, chosen)
        life.wrong += [f"{n}: {what}" for what in (*ending.errors, *(r.why for r in ending.reports if not r.fine))]
        if generation := _newest(file):
            life.wrong += [f"{n}: {what}" for what in wrong(read(whole), read(target.read_bytes()), generation, last)]
            seen, last = seen | facts(generation.ledger), generation
    life.messages, life.generations, life.covered = len(read(whole)), last.number, last.covered.count
    life.wrong += _faults(file, whole)
    if b"".join(restore(kit_of(file))) != whole:
        life.wrong.append("restore does not give the original")
    compare(life, last.ledger, seen, at_once(read(whole), last.covered, chosen))
    return life


def _faults(file, whole):
    """What `verify` finds, but for what is not right with the transcript itself."""
    (row,) = rows(whole.splitlines(keepends=True), "log")
    own = broken(row.conversation, [Kept(n) for n in range(len(row.conversation.messages))])
    return [fault for fault in faults(kit_of(file)) if not any(law in fault for law in own)]


def _newest(file):
    """The last generation of the one conversation that a sidecar knows."""
    entries = list(Sidecar.open(kit_of(file).state).loaded.values())
    assert len(entries) <= 1
    return entries[0].generations[-1] if entries and entries[0].generations else None


def wrong(whole, result, generation, last):
    """Say what is not right about a result, given the conversation as it is without any, and the last generation."""
    start, count = generation.covered.start, generation.covered.count
    kept = [m for m in result if not is_handoff(m)]
    if len(result) - len(kept) != 1:
        yield f"{len(result) - len(kept)} handoffs"
    new = last is not None and generation != last
    if new and (generation.number != last.number + 1 or count <= last.covered.count):
        yield f"generation {generation.number} does not go on from {last.number}"
    if _said(kept[:start]) != _said(whole[:start]):
        yield "another head"
    if _said(kept[start:]) != _said(whole[len(whole) - len(kept) + start :]):
        yield "another tail"
    lost = len(whole) - len(kept) - count
    if not 0 <= lost <= sum(len(group.orphans) for group in groups(whole)):  # results without a call are taken out
        yield f"{lost} messages are neither kept nor covered"
    if COUNT(render(generation.notes.summary)) > CEILING:
        yield "a summary above its ceiling"


def _said(messages):
    """What messages say, without the words of results, which may have been stubbed."""
    return [(m.role, m.text, [c.arguments for c in m.calls], [r.call_id for r in m.results]) for m in messages]


def at_once(messages, covered, settings):
    """The facts of the covered turns, read at once."""
    start, stop = covered.start, covered.start + covered.count
    middle = messages[start:stop]
    asked = request(Turns(middle, groups(middle), start), None, messages[:start], messages[stop:], CEILING, settings)
    return facts(merged(asked, Summary({}), COUNT).ledger)


def facts(ledger):
    """What a ledger is about: the family of each line, and its key; of a list each part."""
    listed = ("identifier", "number")
    return {
        (line.family.name, part)
        for line in opened(ledger)
        for part in (line.key.split("; ") if line.family.name in listed else [line.key])
    }


def compare(life, ledger, seen, once):
    """Count what a ledger that grew over the generations has of one that was made at once, and why not the rest."""
    mine, told = facts(ledger), render(ledger)
    full = {name for name, size in Counter(name for name, _ in seen).items() if size >= KEPT}
    gone = {(name, key) for name, key in once - mine if key.strip('"') not in told}  # or another line says it
    life.kept, life.more = len(once - gone), len(mine - once)
    life.retired = len(gone & seen)
    life.capped = sum(name in full for name, _ in gone - seen)
    life.missing = Counter(name for name, _ in gone - seen if name not in full)


def main():
    """Print what became of each transcript in each way of use."""
    shape = "{:24} {:9} {:>4} {:>8} {:>7} {:>5} {:>7} {:>6} {:>4}  {}"
    print(
        shape.format(
            "transcript", "way", "gen.", "messages", "covered", "facts", "retired", "capped", "more", "missing"
        )
    )
    bad = False
    for path in transcripts():
        for way in WAYS:
            with tempfile.TemporaryDirectory() as folder:
                one = lived(path, way, Path(folder))
            sizes = (one.generations, one.messages, one.covered, one.kept, one.retired, one.capped, one.more)
            missing = ", ".join(f"{count} {name}" for name, count in sorted(one.missing.items()))
            print(shape.format(path.name[:24], way, *sizes, missing or "-"), flush=True)
            for what in one.wrong:
                print(f"    {what}")
            bad = bad or bool(one.wrong)
    sys.exit(bad)


if __name__ == "__main__":
    main()
