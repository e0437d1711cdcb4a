"""Is a folder with an event a file one conversation: found, read, written elsewhere, and added to in place?"""

import json

import pytest

from compactor.core.handoff import PREFIX
from compactor.folders import is_conversation, lines, parts
from tests.running import compactor
from tests.samples import openhands

SMALL = ("--context-window", "8000", "--force")


@pytest.fixture
def folder(tmp_path):
    """A conversation as the tool keeps it."""
    found = tmp_path / "conversations" / "8d2f" / "events"
    found.mkdir(parents=True)
    (found.parent / "base_state.json").write_text('{"id": "8d2f", "agent": {"kind": "Agent"}}')
    (found / ".eventlog.lock").touch()
    for number, one in enumerate([openhands.SYSTEM, *openhands.events(14)]):
        text = json.dumps(one, indent=2 if number % 5 == 0 else None)
        (found / f"event-{number:05d}-{one['id']}.json").write_text(text)
    return found


def values(folder):
    return [json.loads(line) for line in lines(folder)]


def test_its_files_are_lines_in_order(folder):
    assert is_conversation(folder)
    assert not is_conversation(folder.parent)
    assert not is_conversation(parts(folder)[0])
    assert values(folder) == [openhands.SYSTEM, *openhands.events(14)]


def test_appended_it_has_more_files_and_the_old_ones_are_as_they_were(tmp_path, folder):
    before = {path: path.read_bytes() for path in folder.iterdir()}
    ran = compactor(tmp_path, "compact", folder, "-i", *SMALL, "--native", "append")
    assert ran.code == 0, ran.said
    assert {path: path.read_bytes() for path in before} == before
    found = values(folder)
    mark = found[-1]
    assert (mark["kind"], mark["summary"].startswith(PREFIX)) == ("Condensation", True)
    names = [path.name for path in parts(folder)]
    assert names == [f"event-{n:05d}-{one['id']}.json" for n, one in enumerate(found)]
    assert not list(folder.glob("*.archive"))
    again = compactor(tmp_path, "compact", folder, "-i", *SMALL, "--native", "append", "--json")
    assert again.code == 0
    assert [path.name for path in parts(folder)] == names


def lead_to(folder, name):
    state = folder.parent / "base_state.json"
    state.write_text(f'{{"id": "8d2f", "leaf_event_id": "{name}", "stats": {{"cost": 1.50}}}}')
    return state


def test_what_the_tool_goes_on_from_is_the_last_event(tmp_path, folder):
    ends = [one["id"] for one in values(folder) if one["kind"] == "MessageEvent"]
    state = lead_to(folder, ends[-1])
    before = state.read_text()
    ran = compactor(tmp_path, "compact", folder, "-i", *SMALL, "--native", "append")
    assert ran.code == 0, ran.said
    assert state.read_text() == before.replace(ends[-1], values(folder)[-1]["id"])


def test_where_the_tool_has_gone_back_nothing_is_added(tmp_path, folder):
    lead_to(folder, values(folder)[4]["id"])
    before = sorted(folder.iterdir())
    ran = compactor(tmp_path, "compact", folder, "-i", *SMALL, "--native", "append")
    assert ran.code != 0
    assert "gone back" in ran.said
    assert sorted(folder.iterdir()) == before


def test_it_is_not_rewritten_in_place_and_the_reason_is_told(tmp_path, folder):
    before = {path: path.read_bytes() for path in folder.iterdir()}
    ran = compactor(tmp_path, "compact", folder, "-i", *SMALL)
    assert ran.code != 0
    assert "only grows" in ran.said
    assert "--native append" in ran.said
    assert {path: path.read_bytes() for path in before} == before


def test_below_a_folder_it_is_one_input_and_its_result_is_a_file(tmp_path, folder):
    ran = compactor(tmp_path, "compact", tmp_path / "conversations", "-o", "out/", *SMALL, "--json")
    assert ran.code == 0, ran.said
    made = (tmp_path / "out" / "8d2f" / "events.jsonl").read_bytes().splitlines()
    assert len(made) < len(parts(folder))
    assert sum(json.loads(line)["kind"] == "Condensation" for line in made) == 1
    assert (folder.parent / "events.state").exists()


def test_it_is_among_the_sessions_of_this_machine(tmp_path, folder):
    ran = compactor(tmp_path, "discover", OPENHANDS_PERSISTENCE_DIR=str(tmp_path))
    assert b"OpenHands" in ran.out
    assert str(folder).encode() in ran.out
