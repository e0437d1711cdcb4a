"""Summaries that other tools wrote are read under our headings, and none of their words are lost."""

import re

from hypothesis import given
from hypothesis import strategies as st

from compactor.core.foreign import foreign_summary
from compactor.core.handoff import read

CLAUDE_CODE = """This session is being continued from a previous conversation that ran out of context. The summary \
below covers the earlier portion of the conversation.

Analysis:
First the pump, then the valve.

Summary:
1. Primary Request and Intent:
   Mend the pump and say what it cost.

2. Key Technical Concepts:
   - Debounce of 500 ms

3. Files and Code Sections:
   - `src/pump.py`
     - The valve is closed first
     ```python
     if open:
         close()
     ```

4. Errors and fixes:
   - **Leak**: sealed

5. Problem Solving:
   The leak is found.

6. All user messages:
   - "mend the pump"

7. Pending Tasks:
   - Paint it

8. Current Work:
   Drying.

9. Optional Next Step:
   Paint.

If you need specific details from before compaction, read the full transcript at: /tmp/a.jsonl
Please continue the conversation from where we left off without asking the user any further questions."""

GEMINI = """<state_snapshot>
    <overall_goal>
        Mend the pump.
    </overall_goal>
    <key_knowledge>
        - The valve is old.
    </key_knowledge>
    <recent_actions>- Sealed it.</recent_actions>
    <current_plan>
        1. [DONE] Seal
        2. [TODO] Paint
    </current_plan>
</state_snapshot>"""


OPENHANDS = """USER_CONTEXT: Mend the pump

TASK_TRACKING:
COMPLETED:
- Sealed the valve

PENDING:
- Paint it

CURRENT_STATE:
- Drying

CODE_STATE:
- pump.py: closes the valve first

TESTS: 3 passed

CHANGES: pump.py closes the valve

DEPS:
- None

VERSION_CONTROL_STATUS:
- Branch: mend-pump"""


def test_the_labels_of_openhands():
    summary = foreign_summary(OPENHANDS)
    assert summary["goal"] == ("Mend the pump",)
    assert summary["done"] == ("- Sealed the valve", "pump.py closes the valve")
    assert summary["next_steps"] == ("- Paint it",)
    assert summary["in_progress"] == ("- Drying",)
    assert summary["files"] == ("- pump.py: closes the valve first",)
    assert summary["context"] == (
        "Tests:", "3 passed", "Deps:", "- None", "Version control status:", "- Branch: mend-pump",
    )  # fmt: skip
    assert foreign_summary("Completed: all\nPending: none").sections.keys() == {"context"}


def test_the_nine_headings_of_claude_code():
    summary = read(CLAUDE_CODE).summary
    assert summary["goal"] == ("Mend the pump and say what it cost.", '- "mend the pump"')
    assert summary["files"][:2] == ("- `src/pump.py`", "  - The valve is closed first")
    assert "          close()" not in summary["files"]
    assert "      close()" in summary["files"]
    assert summary["done"] == ("The leak is found.",)
    assert summary["in_progress"] == ("Drying.",)
    assert summary["next_steps"] == ("- Paint it", "Paint.")
    assert "Key technical concepts:" in summary["context"]
    assert "- **Leak**: sealed" in summary["context"]
    assert summary["context"][-1].endswith("/tmp/a.jsonl")
    assert not any("Please continue" in line for line in summary["context"])


def test_the_tags_of_gemini_cli():
    summary = read(GEMINI).summary
    assert summary["goal"] == ("Mend the pump.",)
    assert summary["done"] == ("- Sealed it.",)
    assert summary["next_steps"] == ("1. [DONE] Seal", "2. [TODO] Paint")
    assert summary["context"] == ("Key knowledge:", "- The valve is old.")


def test_free_text_is_context():
    assert foreign_summary("The pump is mended.\n\nCurrent work:\npaint it").sections == {
        "context": ("The pump is mended.", "Current work:", "paint it")
    }


@given(st.lists(st.sampled_from(f"{CLAUDE_CODE}\n{GEMINI}\n{OPENHANDS}".splitlines()), max_size=30).map("\n".join))
def test_no_word_of_a_summary_is_lost(text):
    kept = "\n".join(line for lines in foreign_summary(text).sections.values() for line in lines).lower()
    told = re.findall(r"pump|valve|leak|paint|drying|sealed|cost|debounce", text.lower())
    assert all(word in kept for word in told)
