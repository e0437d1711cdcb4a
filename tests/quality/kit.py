"""Part b: the compaction conformance kit. What survives of facts, rules and their updates in a tenth to a third?"""

from __future__ import annotations

from compaction_kit.benchmark import run_budget_benchmark
from compaction_kit.compacted import CompactedContext
from compaction_kit.generated import build_generated_session
from compaction_kit.runner import run_conformance

from compactor.core.merge import merged
from compactor.core.messages import Message, Role, groups
from compactor.core.prompt import Request, Turns
from compactor.core.summary import Summary, parse
from tests.quality import arms

BUDGETS = (0.10, 0.20, 0.30)
ROUNDS = 5


class Compactor:
    """compactor without a model, as the kit calls it; a summary that comes back is the earlier one.

    The fixed sentences around a summary, the same for every conversation, are left out: the kit's budgets are smaller
    than they are.
    """

    name = "compactor"

    def compact(self, turns, round_num=1, budget_chars=None):
        earlier = next((parse(t.text)[0] for t in turns if t.role == "system" and t.text.startswith("#")), None)
        messages = tuple(Message(Role(t.role), t.text) for t in turns if not t.text.startswith("#"))

        def summary(_, ceiling):
            asked = Request("", "", ceiling, earlier, Turns(messages, groups(messages), 0), (), ())
            return merged(asked, Summary({}), arms.COUNT).summary

        text = arms.in_chars(summary, messages, budget_chars or 100_000, arms.brief)
        return CompactedContext(text, self.name, round_num)


def measure(seeds=(21, 22, 23)):
    """Give the kit's own figures for each budget."""
    return run_budget_benchmark({"compactor": Compactor}, budgets=BUDGETS, seeds=seeds, rounds=ROUNDS)["entries"]


def generated(seeds=range(21, 27)):
    """Give for each budget the share of what the kit's rotating sessions plant that is there at round 1 and 5."""
    shares = {}
    for budget in BUDGETS:
        first = last = planted = 0
        for seed in seeds:
            session, canaries = build_generated_session(seed)
            run = run_conformance(session, Compactor(), rounds=ROUNDS, canaries=canaries, budget_fraction=budget)
            first += sum(run.rounds[0].survived.values())
            last += sum(run.rounds[-1].survived.values())
            planted += len(canaries)
        shares[budget] = (first / planted, last / planted)
    return shares


def report():
    """Print a line for each budget."""
    for entry in measure():
        print(entry_line(entry))
    for budget, (first, last) in generated().items():
        print(f"generated sessions, {budget:.0%}: {first:.1%} at round 1, {last:.1%} at round {ROUNDS}")


def entry_line(entry):
    """Write what matters of one of the kit's entries."""
    meaning = entry["semantic"]
    return (
        f"budget {entry['budget_fraction']:.0%}: survival {entry['randomized']['overall_final_survival']:.1%}, "
        f"conflicts resolved {meaning['resolved_rate']:.1%}, distinct pairs kept {meaning['distinct_pair_rate']:.1%}, "
        f"size {entry['mean_final_output_ratio']:.1%}, "
        f"within the budget: {'yes' if entry['budget_compliant'] else 'NO'}"
    )
