"""Part c: the side constraints of COMPINT. Which of the user's rules still stand after a compaction?

`conpact` carries the fifteen constraints, their framing, and the builder that puts them before a user's turn. Its judge
is a model, so here a rule counts as kept if it stands word for word. The data set that its generator loads is not used:
the histories are `histories`. What the package imports for that need not be installed.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
from dataclasses import replace
from types import ModuleType

from compactor.core.settings import Settings, Trigger
from tests.quality import arms, histories
from tests.quality.probes import plain
from tests.quality.tables import Share, Table

BARS = "bars: agent histories 97, chat histories 92 (published best 95.6 and 90.3, judged by a model)"
STRICT = "extractive, handoff and last turn"
POSITIONS = ("top", "middle", "bottom")
DEFAULT = Settings(context_window=32_000, trigger_mode=Trigger.FORCE)
# Nothing stays word for word but the last turn: the rule has to be carried by the handoff, which has the share of the
# text that it would have of COMPINT's 100,000 tokens.
NO_HEAD = replace(DEFAULT, protect_first=0, tail_tokens=0, summary_ratio=0.12)


def builder():
    """The constraints and the instance builder of `conpact`; None if it is not installed."""
    spec = importlib.util.find_spec("conpact")
    if spec is None:
        return None
    package, hub = ModuleType("conpact"), ModuleType("datasets")
    package.__path__ = list(spec.submodule_search_locations)
    hub.load_dataset = None
    before = {name: sys.modules.get(name) for name in ("conpact", "datasets")}
    sys.modules |= {"conpact": package, "datasets": hub}
    try:
        return importlib.import_module("conpact.generate")
    finally:
        for name, module in before.items():
            sys.modules.pop(name)
            if module:
                sys.modules[name] = module


def kept(instance, text):
    """Tell whether the rule of an instance stands word for word in a text."""
    return plain(instance.sc_text).lower() in plain(text).lower()


def measure(seeds):
    """Give the share of rules that are kept, by (arm, kind of history, position)."""
    found = {}
    build = builder()
    if build is None:
        return found
    for kind, hay in (("agent", histories.agents(seeds)), ("chat", histories.chats(seeds))):
        for position in POSITIONS:
            for instance in build.build_instances(hay, length=histories.LENGTH, position=position):
                content = "\n".join(json.dumps(m, ensure_ascii=False) for m in instance.messages).encode()
                row = arms.read(content, "chat.jsonl")
                texts = {STRICT: arms.compact(row, NO_HEAD).text}
                texts["tail only, same size"] = arms.tail_only(row, len(texts[STRICT]))
                if instance.haystack_id == hay[0]["haystack_id"]:
                    texts["extractive, default head and tail (one history)"] = arms.compact(row, DEFAULT).text
                for arm, text in texts.items():
                    share = found.setdefault((arm, kind, position), Share())
                    share.add(kept(instance, text), f"{arm}: {instance.id} {position}: {instance.sc_text}")
    return found


def table(seeds):
    """Part c as a table."""
    found = measure(seeds)
    if not found:
        why = "conpact is not installed, or the shared transcripts are not beside the project"
        return [Table(f"c. Side constraints of COMPINT: {why}", ("arm",), ())]
    rows = []
    for arm in dict.fromkeys(arm for arm, _, _ in found):
        for kind in ("agent", "chat"):
            shares = [found[arm, kind, position] for position in POSITIONS]
            rows.append((f"{kind}: {arm}", sum(shares, Share()), *shares, sum(s.of for s in shares)))
    lost = tuple(line for (arm, _, _), s in found.items() if arm.startswith("extractive") for line in s.lost)
    title = f"c. Side constraints of COMPINT in histories of {histories.LENGTH:,} tokens: kept word for word, in %"
    headings = ("histories", "all", *POSITIONS, "instances")
    return [Table(title, headings, tuple(rows), (BARS,), lost if seeds.tuning else ())]
