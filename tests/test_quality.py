"""Do the measures of quality keep the bars that they have reached? `make quality` prints the tables."""

import pytest
from compaction_kit.benchmark import run_budget_benchmark

from tests.quality import arms, drift, kit, real

LANGUAGES = list(drift.RULES)


@pytest.mark.parametrize("languages", [LANGUAGES, *([name] for name in LANGUAGES)], ids="+".join)
def test_after_ten_rounds_every_rule_and_decision_is_there_and_nothing_grows_without_bound(languages):
    found = drift.drift(31, languages)
    assert found["rules"] == found["decisions"] == found["paths"] == 1
    assert found["within"]
    assert found["finished listed as active"] == 0


@pytest.mark.parametrize(("budget", "survival", "resolved", "pairs"), [(0.2, 0.8, 1, 1), (0.3, 1, 1, 1)])
def test_the_conformance_kit_finds_what_it_planted(budget, survival, resolved, pairs):
    run = run_budget_benchmark({"compactor": kit.Compactor}, budgets=(budget,), seeds=(41,), rounds=2)
    (entry,) = run["entries"]
    assert entry["budget_compliant"]
    assert entry["randomized"]["overall_final_survival"] >= survival
    assert entry["semantic"]["resolved_rate"] >= resolved
    assert entry["semantic"]["distinct_pair_rate"] >= pairs


@pytest.mark.skipif(not real.FOLDER.is_dir(), reason="the shared transcripts are not beside the project")
def test_at_the_size_of_the_tool_s_own_summary_more_survives_without_a_model():
    _, content, records, native = next(real.sessions())
    (row,) = real.rows(real.BytesIO(content), "session.jsonl")
    wanted = real.read_ones(real.probes(records), row.conversation.messages)
    ours = arms.in_chars(arms.offline, row.conversation.messages, len(native))
    assert len(ours) <= len(native)
    shares = []
    for text in (ours, native):
        flat = " ".join(text.split())
        hits = sum(real.survived(family, probe, flat) for family, probes in wanted.items() for probe in probes)
        shares.append(hits / sum(map(len, wanted.values())))
    assert shares[0] >= 0.85 > shares[1]
