"""Whatever an endpoint does: is no transcript damaged, no failure a saving, and the user told what to do?"""

import pytest

from tests.standin import BEHAVIOURS
from tests.standin_table import SPECS, as_markdown, happens

# The behaviours behind failures that users of other compactors reported, by the numbers of the cases.
CASES = {
    "reasoning_field": "h47",
    "length_in_thought:4000": "h45 p15 p17",
    "endless:10": "h46",
    "too_long": "p20",
    "null_content": "h48 p1 p4",
    "planning": "p19",
    "tool_text": "p16",
    "refusal_text": "p11",
    "prose": "p28",
    "error_200": "p12",
    "no_turns": "p9",
    "other_language": "p25",
    "length": "h49 p14",
    "content_filter_400": "h52 p26",
    "context_400:5000": "h53 p50 p51",
    "fail_500": "h73",
    "fail_529": "h48 p3",
    "hang": "h72",
    "reset": "h50 p2",
    "incomplete": "p5",
    "refused": "h50 p58",
}


def test_every_behaviour_has_a_row():
    assert {spec.partition(":")[0].partition(",")[0] for spec in SPECS} == set(BEHAVIOURS)
    assert set(CASES) <= set(SPECS)


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: f"{spec} {CASES.get(spec, '')}".strip())
def test_what_a_behaviour_comes_to(spec, tmp_path):
    row = happens(spec, tmp_path)
    assert row.said.count("\n") == 0
    if row.code == 0:
        assert row.written == "compacted"
        assert row.sidecar.startswith("generation 1, ")
        assert f" {row.calls} call" in row.sidecar  # every request that was made is counted
        assert "tokens (-" in row.said
    else:
        assert row.written == "as it came"
        assert row.sidecar == {1: "failure, nothing covered", 3: "none"}[row.code]
        assert "; " in row.said  # what happened; what to do
        assert row.said.endswith("(left as it came)")
    if row.code == 3:
        assert row.calls <= (3 if spec == "redirects" else 1)
    assert row.calls <= (7 if spec.startswith(("cut:", "context_")) else 3)
    assert len(as_markdown(row).splitlines()) == 1


@pytest.mark.parametrize(
    ("spec", "calls", "code", "said"),
    [
        ("obey", 2, 1, "lacks the headings"),
        ("obey_outside", 1, 0, ""),
        ("obey_adding", 1, 0, "left 1 permission out that only a tool result gives"),
        ("other_language", 2, 0, ""),
        ("echo_notes", 3, 0, ""),
        ("same_notes", 3, 1, "gave its notes back for messages"),
    ],
)
def test_what_the_words_of_the_conversation_make_of_it(spec, calls, code, said, tmp_path):
    row = happens(spec, tmp_path)
    assert (row.calls, row.code) == (calls, code)
    assert said in row.said
