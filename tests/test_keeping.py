"""Is a compacted file had back, told about, checked and forgotten as promised, whatever has happened to it since?"""

import asyncio
import json
import subprocess
import sys
from contextlib import contextmanager

import pytest

from compactor.core.settings import Settings
from compactor.errors import OutputError
from compactor.keeping import faults, forget, kit_of, put_back, restore
from tests.killing import watched
from tests.offline import ran
from tests.running import WINDOW, ask, compact, compactor, environment, lined, talk
from tests.standin import Standin
from tests.test_locks import HOLD

GENERATIONS = 5


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(lined(talk(61)))
    return path


@pytest.fixture
def compacted(file):
    assert compact(file.parent, "-i", file).code == 0
    return file


def grow(file, first, last):
    added = lined(talk(first, last))
    file.write_bytes(file.read_bytes() + added)
    return added


# Restore.


@pytest.fixture(scope="module")
def old(tmp_path_factory):
    """A session that was compacted in place five times, and has grown after each; and what it would be without."""
    file = tmp_path_factory.mktemp("old") / "log.jsonl"
    whole = lined(talk(61))
    file.write_bytes(whole)
    for n in range(GENERATIONS):
        assert compact(file.parent, "-i", file).code == 0
        whole += grow(file, 61 + 60 * n, 121 + 60 * n)
    state = json.loads(file.with_name("log.jsonl.state").read_bytes())
    assert [g["number"] for g in state["generations"]] == list(range(1, GENERATIONS + 1))
    return file, whole


def test_over_five_generations_every_byte_is_had_back(old):
    file, whole = old
    assert compactor(file.parent, "restore", file).out == whole
    assert compactor(file.parent, "restore", file, "-o", "full.jsonl").code == 0
    assert (file.parent / "full.jsonl").read_bytes() == whole


def test_over_five_generations_no_promise_is_broken(old):
    ran = compactor(old[0].parent, "verify", old[0])
    assert (ran.code, ran.out) == (0, b"")


def test_it_is_shown_generation_by_generation(old):
    shown = compactor(old[0].parent, "show", old[0]).out.decode()
    assert [f"generation {n}: " in shown for n in range(1, GENERATIONS + 2)] == [True] * GENERATIONS + [False]
    assert shown.count("<- goes on from here") == 1
    assert "generation 1: messages 3-49 (" in shown
    assert "summarised by extractive on 20" in shown
    assert "## Goal" in shown
    assert f"undo: compactor restore {old[0]}" in shown


def test_a_summary_that_was_paid_for_is_shown_with_its_price(file):
    with Standin() as endpoint:
        assert compact(file.parent, "-i", file, *ask(endpoint), "--price-in", "2", "--price-out", "8").code == 0
    shown = compactor(file.parent, "show", file).out.decode()
    assert "summarised by openai:stand-in on 20" in shown
    assert "calls: 1 (" in shown
    assert ", cost: 0.0" in shown


def test_put_back_it_is_as_if_it_had_never_been_compacted(compacted):
    whole = lined(talk(61)) + grow(compacted, 61, 65)
    assert compactor(compacted.parent, "restore", "-i", compacted).code == 0
    assert compacted.read_bytes() == whole
    # The next run goes on from the summary that is paid for, and what is edited now is not taken for damage.
    assert "generation 1" in compact(compacted.parent, "-i", compacted).said
    assert b"".join(restore(kit_of(compacted))) == whole


def test_put_back_and_edited_it_is_had_back_as_edited(compacted):
    asyncio.run(put_back(kit_of(compacted), 0))
    edited = compacted.read_bytes().replace(b"pump 1.0", b"crane 1.0")
    compacted.write_bytes(edited)
    assert compact(compacted.parent, "-i", "--rebuild", compacted).code == 0
    assert compacted.read_bytes() != edited
    assert b"".join(restore(kit_of(compacted))) == edited


def test_a_file_that_another_session_took_over_is_had_back_without_the_old_one(compacted):
    other = lined(talk(61, topic="crane"))
    compacted.write_bytes(other)
    assert compact(compacted.parent, "-i", compacted).code == 2  # the sidecar is of another transcript
    assert compact(compacted.parent, "-i", "--rebuild", compacted).code == 0
    assert b"".join(restore(kit_of(compacted))) == other


def test_rows_that_were_pruned_before_they_were_summarised_can_be_put_back_too(file):
    assert compact(file.parent, "-i", file, "--context-window", "8000").code == 0
    assert b"CONTEXT COMPACTION" not in file.read_bytes()
    whole = lined(talk(61)) + grow(file, 61, 121)
    assert compact(file.parent, "-i", file).code == 0
    asyncio.run(put_back(kit_of(file), 0))
    assert file.read_bytes() == whole
    assert compact(file.parent, "-i", file).code == 0


@pytest.mark.parametrize("words", [(), ("-o", "full.jsonl"), ("-i",)], ids=["stdout", "elsewhere", "in place"])
def test_what_was_not_archived_is_not_given_for_the_whole(file, words):
    assert compact(file.parent, "-i", "--no-archive", file).code == 0
    before = file.read_bytes()
    ran = compactor(file.parent, "restore", file, *words)
    assert (ran.code, ran.out) == (2, b"")
    assert "there is no log.jsonl.archive of what was taken out" in ran.said
    assert file.read_bytes() == before
    assert not (file.parent / "full.jsonl").exists()


def test_a_file_that_was_never_compacted_is_given_as_it_is(file):
    assert compactor(file.parent, "restore", file).out == lined(talk(61))


def test_an_edit_of_a_compacted_file_is_said_and_nothing_is_guessed(compacted):
    compacted.write_bytes(compacted.read_bytes().replace(b"You keep", b"You KEEP"))
    ran = compactor(compacted.parent, "restore", compacted)
    assert (ran.code, ran.out) == (2, b"")
    assert "row 1 was changed since it was compacted" in ran.said


@contextmanager
def meanwhile(file, added):
    """Have turns come in when all has been read and written, and only the rename is to be done."""

    def before(number, name):
        nonlocal added
        if name == "fsync" and added:
            file.write_bytes(file.read_bytes() + added)
            added = b""

    with watched(before):
        yield


def test_a_file_that_grows_while_it_is_put_back_keeps_its_new_turns(compacted):
    before, added = compacted.read_bytes(), lined(talk(61, 65))
    with meanwhile(compacted, added), pytest.raises(OutputError, match="it was changed meanwhile"):
        asyncio.run(put_back(kit_of(compacted), 0))
    assert compacted.read_bytes() == before + added
    asyncio.run(put_back(kit_of(compacted), 0))
    assert compacted.read_bytes() == lined(talk(61)) + added


def test_a_file_that_grows_while_it_is_compacted_keeps_its_new_turns(file):
    added = lined(talk(61, 65))
    with meanwhile(file, added):
        ending = ran(file, file, Settings(context_window=WINDOW))
    assert [str(error) for error in ending.errors] == [
        f"{file}: it was changed meanwhile; run again; nothing was replaced"
    ]
    assert file.read_bytes() == lined(talk(61)) + added
    assert b"".join(restore(kit_of(file))) == lined(talk(61)) + added
    ending = ran(file, file, Settings(context_window=WINDOW))
    assert ending.exit_code == 0
    assert b"".join(restore(kit_of(file))) == lined(talk(61)) + added


# Verify.


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda kit: kit.file.write_bytes(kit.file.read_bytes().replace(b"[END OF", b"[END")), "its handoff is not in"),
        (lambda kit: kit.file.write_bytes(lined(talk(9, topic="crane"))), "or is another transcript"),
        (lambda kit: kit.file.write_bytes(kit.file.read_bytes() + b'{"role": "use'), "cut off after column"),
        (lambda kit: kit.file.unlink(), "does not exist"),
        (lambda kit: kit.state.write_bytes(b"{}\n"), "'version' is a required property"),
        (lambda kit: kit.archive.write_bytes(b"nonsense\n"), "damaged"),
        (lambda kit: kit.file.write_bytes(kit.file.read_bytes().replace(b"You keep", b"Keep")), "was changed since"),
    ],
    ids=["handoff", "another file", "cut line", "no file", "sidecar", "archive", "edited"],
)  # fmt: skip
def test_verify_names_what_is_broken(compacted, damage, said):
    assert list(faults(kit_of(compacted))) == []
    damage(kit_of(compacted))
    ran = compactor(compacted.parent, "verify", compacted)
    assert ran.code == 1
    assert said in ran.out.decode()
    assert "Traceback" not in ran.said


def test_verify_says_that_a_source_was_edited_where_it_is_covered(file):
    assert compact(file.parent, file, "-o", "out.jsonl").code == 0
    assert list(faults(kit_of(file))) == []
    file.write_bytes(file.read_bytes().replace(b"Reply 8:", b"Reply eight:"))
    (fault,) = faults(kit_of(file))
    assert "it was edited or cut short" in fault


# Forget, and others at the file.


def test_what_is_forgotten_is_gone_and_the_file_stays(compacted):
    before = compacted.read_bytes()
    kit = kit_of(compacted)
    assert asyncio.run(forget(kit, 0)) == (kit.state, kit.archive)
    assert [path.name for path in compacted.parent.iterdir()] == [compacted.name]
    assert compacted.read_bytes() == before
    assert compactor(compacted.parent, "forget", compacted).out == b"there was nothing to forget\n"


@pytest.mark.parametrize("command", ["restore -i", "forget", "compact -i"])
def test_while_another_run_is_at_it_nothing_is_done(compacted, command):
    before = {path.name: path.read_bytes() for path in compacted.parent.iterdir()}
    words = [sys.executable, "-c", HOLD, str(compacted)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment()) as holder:
        assert holder.stdout.readline() == "held\n"
        ran = compactor(compacted.parent, *command.split(), "--lock-timeout", "0", compacted.name)
        holder.kill()
    assert ran.code == 2
    assert "another run is at it" in ran.said
    assert {path.name: path.read_bytes() for path in compacted.parent.iterdir()} == before
