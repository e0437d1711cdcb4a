"""The ledger adds what new turns hold and retires what they overtake, and nothing beside it."""

from dataclasses import replace

from compactor.core import ledger
from compactor.core.ledger import LAST_COMMANDS
from compactor.core.prune import STUB_SENTENCE
from compactor.core.story import story
from compactor.core.summary import Summary
from tests.making import says, user
from tests.test_deeds import ran, step
from tests.test_story import asked


def told(*turns):
    return story(asked(*turns))


def told_with(tail, left):
    return story(replace(asked(tail=tail), left=left))


def lines(*turns):
    return [entry.text for entry in ledger.updated((), told(*turns))]


def test_a_request_in_the_message_of_an_overtaken_statement_stays():
    found = lines(
        user("Hello there, mend the parser first."),
        says("Mended."),
        user("The launch date is 3 May. Rename the flag and measure 250 ms of idle time. The ticket is OPS-4411."),
        says("Renamed."),
        user("The launch date has moved to 9 May."),
    )
    text = "\n".join(found)
    assert '"The launch date is 3 May."' not in text
    assert "Rename the flag" in text
    assert "OPS-4411" in text
    assert "250 ms" in text


def test_the_first_request_of_new_turns_is_no_second_task():
    before = ledger.updated((), told(user("Mend the parser."), says("Mended.")))
    after = [entry.text for entry in ledger.updated(before, told(user("And the writer?"), says("Done, too.")))]
    assert after[0] == '- "Mend the parser." [1]'
    assert '- Asked: "And the writer?" [1]' in after


def test_what_is_read_back_says_the_same():
    turns = (user("Never push. The port is 8081, the id is OPS-4411."), says("412 tests pass."))
    first = ledger.closed(ledger.updated((), told(*turns)))
    assert ledger.closed(ledger.updated(ledger.opened(first), told())) == first


def test_of_commands_that_only_looked_the_last_ones_stay():
    early = (ran("cat a.py"), ran("make test"), ran("cat missing.py", "<returncode>1</returncode>\nno such file"))
    turns = (m for s in (*early, *(ran(f"ls d{n}") for n in range(LAST_COMMANDS))) for m in s)
    found = [line for line in lines(*turns) if line.startswith("- `")]
    assert len(found) == 2 + LAST_COMMANDS
    assert not any("cat a.py" in line for line in found)


def test_what_results_say_that_leave_as_stubs_is_kept_for_when_their_turns_are_summarised():
    def stub(call, result):
        return call, replace(result, results=(replace(result.results[0], text=f"{STUB_SENTENCE} bash(make): exit 2"),))

    said = "src/a.c:4: error: no OPS-4411 here\nOPS-4411 is at fault\n<returncode>2</returncode>"
    tail = (
        *ran("make all", said),
        *ran("git commit -m x", "[main 3f2a1b9] Fix it"),
        *ran("pytest", "OPS-4411\n2 failed"),
    )
    cleared = (*stub(*tail[:2]), *stub(*tail[2:4]), *tail[4:])
    first = told_with(tail=tail, left=cleared)
    kept = ledger.with_cleared(ledger.updated((), first), first)
    found = [entry.text for entry in kept]
    assert found == [
        '- Commit 3f2a1b9: "Fix it" [3]',
        '- Error: "src/a.c:4: error: no OPS-4411 here" [1]',
        '- git commit -m x gave "[main 3f2a1b9] Fix it" [3]',
        "- Identifiers: OPS-4411 [1]",
    ]
    later = [entry.text for entry in ledger.updated(kept, told(*cleared))]
    assert set(found) <= set(later)
    assert '- Ran pytest: "2 failed" [5]' in later
    assert [entry.text for entry in ledger.with_cleared((), told_with(tail=tail, left=tail))] == []


def test_the_last_of_two_verdicts_counts_however_early_it_was_known():
    before = ledger.updated((), told(*ran("true"), *ran("pytest", "2 failed")))
    after = ledger.updated(before, told(*ran("pytest", "1 failed")))
    assert [line.text for line in after if line.text.startswith("- Ran")] == ['- Ran pytest: "2 failed" [3]']


def test_a_file_has_one_name():
    def files(*paths):
        steps = (m for n, path in enumerate(paths) for m in step("Read", {"file_path": path}, f"x {n}"))
        return [line for line in lines(*steps) if ": read" in line and line.startswith("- ") and " calls" not in line]

    assert files("/srv/app/src/a.py", "src/a.py", "./src/a.py") == ["- /srv/app/src/a.py: read x3 [5]"]
    assert len(files("/srv/app/src/a.py", "/srv/lib/src/a.py", "src/a.py")) == 3  # of which is not said
    assert len(files("/srv/app/src/a.py", "a.py")) == 2


def test_an_empty_conversation_has_no_facts():
    assert lines() == []
    assert ledger.closed(()) == Summary({})
