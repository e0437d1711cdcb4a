"""Is a note that takes a failed change for a deed told from one of a change that was made?"""

import pytest

from compactor.core.claims import MARK, beside_failures
from compactor.core.families import line
from compactor.core.merge import merged
from compactor.core.messages import Call, Message, Role
from compactor.core.revision import items
from compactor.core.summary import Summary
from tests.making import COUNT, result, sections, user
from tests.test_story import asked

REFUSED = line("failed", 'Failed: Edit(/app/hook registry.go): "The user does not want it." [83]')
FAILED = MARK.format("hook registry.go", 83)


@pytest.mark.parametrize(
    ("section", "told", "marked"),
    [
        ("done", "- Added the agent to `hook registry.go`", True),
        ("done", "- 登録を hook registry.go に追加した", True),
        ("files", "- /app/hook registry.go: sets the agent", True),
        ("context", "- hook registry.go now knows the agent", True),
        ("next_steps", "- Change hook registry.go", False),
        ("in_progress", "- Changing hook registry.go", False),
        ("constraints", "- Leave hook registry.go alone", False),
        ("done", "- Added the agent to my-hook registry.go", False),
        ("done", "- Added the agent to hook registry.gox", False),
        ("done", "- Added the agent to logger.go", False),
    ],
)
def test_a_failed_change_is_written_behind_what_tells_of_the_file(section, told, marked):
    notes = beside_failures(sections(**{section: told}), [REFUSED])
    assert notes == sections(**{section: f"{told} {FAILED}" if marked else told})
    assert beside_failures(notes, [REFUSED]) == notes


@pytest.mark.parametrize(
    "ledger",
    [
        [],
        [REFUSED, line("changed_file", "/app/hook registry.go: modified [12]")],
        [line("failed", 'Failed: Read(/app/hook registry.go): "No such file" [83]')],
        [line("failed", 'Failed: make hook registry.go: "No rule" [83]')],
    ],
)
def test_a_file_that_was_changed_or_only_could_not_be_read_is_not_marked_or_no_longer(ledger):
    bare = sections(done="- Added the agent to hook registry.go", files=("- hook registry.go", "  - sets the agent"))
    assert beside_failures(bare, ledger) == bare
    assert beside_failures(beside_failures(bare, [REFUSED]), ledger) == bare


def edit(number, failing):
    arguments = '{"file_path": "/app/registry.go", "old_string": "a", "new_string": "b"}'
    return (
        Message(Role.ASSISTANT, "", (Call(f"c{number}", "Edit", arguments),)),
        result(f"c{number}", "The edit was refused." if failing else "The file has been updated.", failed=failing),
    )


def test_the_mark_goes_once_the_file_has_been_changed():
    claim = sections(done="- Added the agent to registry.go")
    one = merged(asked(user("Add the agent."), *edit(1, failing=True)), claim, COUNT)
    assert f"- Added the agent to registry.go {MARK.format('registry.go', 2)}" in one.summary["done"]
    later = asked(user("Try again."), *edit(2, failing=False), previous=one.summary)
    two = merged(later, Summary({}), COUNT)
    assert "Added the agent to registry.go" in [item.words for item in items(two.summary)]
