"""Does a sidecar give back what was put into it, survive a crash, and is anything else refused with a reason?"""

import copy
import json
import stat

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactor.core.handoff import Notes
from compactor.core.messages import Message, Role, digest
from compactor.core.state import Covered, Entry, Failure, Generation
from compactor.core.summary import SECTIONS, Summary
from compactor.entries import entry_from, entry_to
from compactor.errors import OutputError, StateError
from compactor.sidecar import Sidecar
from tests.running import ROOT, compact, handoffs, lined, talk

SCHEMA = json.loads((ROOT / "compactor" / "schemas" / "state.json").read_bytes())
HEX = st.text("0123456789abcdef", min_size=16, max_size=16)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


def generation(number=1, count=26, goal="keep the pump running", first="070d76ed89db9b1b", **made):
    covered = Covered(count, 1_533, first, "0692b2e55ca7fe6d")
    summary = Summary({"goal": (f"- {goal}",), "files": ("- a.py: read", "- b.py: written")})
    held = Summary({"constraints": ('- "never push" [3]',)})
    return Generation(number, covered, Role.ASSISTANT, Notes(summary), ((0, 1), (3, 0)), made, held)


def entry(key="6c979b255b5f334b", *generations, failure=None):
    return Entry(key, generations or (generation(),), failure)


def opened(path):
    return Sidecar.open(path).loaded


@pytest.fixture
def path(tmp_path):
    return tmp_path / "log.jsonl.state"


def put(path, *entries):
    sidecar = Sidecar.open(path)
    for one in entries:
        sidecar.put(one)
    sidecar.close()


# Laws.


@given(
    st.builds(
        Entry,
        st.builds("{}{}".format, HEX, st.sampled_from(["", "-2", "-17"])),
        st.lists(
            st.builds(
                Generation,
                st.integers(1, 99),
                st.builds(Covered, st.integers(1, 9_999), st.integers(0, 10**9), HEX, HEX),
                st.sampled_from([Role.USER, Role.ASSISTANT]),
                st.builds(
                    Notes,
                    st.dictionaries(
                        st.sampled_from([s.key for s in SECTIONS]), st.lists(TEXT, max_size=3).map(tuple)
                    ).map(Summary),
                    TEXT,
                ),
                st.lists(st.tuples(st.integers(0, 99), st.integers(0, 9)), max_size=3).map(tuple),
                st.fixed_dictionaries({"summarizer": TEXT, "encoding": TEXT}),
            ),
            max_size=3,
        ).map(tuple),
        st.none() | st.builds(Failure, st.floats(0, 4e9), TEXT),
    )
)
def test_what_goes_in_comes_back_and_is_of_the_published_schema(one):
    value = json.loads(json.dumps(entry_to(one)))
    jsonschema.validate(value, SCHEMA)
    assert entry_from(value) == one


def test_what_a_run_writes_is_of_the_published_schema(tmp_path):
    (tmp_path / "log.jsonl").write_bytes(lined(talk(41)))
    compact(tmp_path, "log.jsonl")
    for line in (tmp_path / "log.jsonl.state").read_bytes().splitlines():
        jsonschema.validate(json.loads(line), SCHEMA)


# A life on disk.


def test_the_last_line_of_a_key_wins_and_the_end_of_a_run_leaves_one_line_each(path):
    sidecar = Sidecar.open(path)
    for one in (entry("a" * 16), entry("b" * 16), entry("a" * 16, generation(1), generation(2))):
        sidecar.put(one)
    assert path.read_bytes().count(b"\n") == 3  # on disk at once
    assert opened(path) == sidecar.added
    sidecar.close()
    assert path.read_bytes().count(b"\n") == 2
    assert opened(path) == {"a" * 16: entry("a" * 16, generation(1), generation(2)), "b" * 16: entry("b" * 16)}


def test_what_earlier_runs_left_stays_beside_what_is_new(path):
    put(path, entry("a" * 16))
    put(path, entry("b" * 16))
    assert list(opened(path)) == ["a" * 16, "b" * 16]


def test_candidates_are_what_earlier_runs_left_not_what_this_one_adds(path):
    put(path, entry())
    sidecar = Sidecar.open(path)
    sidecar.put(entry("6c979b255b5f334b", generation(1), generation(2)))
    assert sidecar.loaded == {"6c979b255b5f334b": entry()}


def test_conversations_of_the_same_opening_get_keys_of_their_own_and_share_candidates(path):
    said = (Message(Role.SYSTEM, "be brief"), Message(Role.USER, "hello"))
    sidecar = Sidecar.open(path)
    first, second = sidecar.key(said), sidecar.key(said)
    assert second == f"{first}-2"
    assert sidecar.key((Message(Role.USER, "hello"),)) == f"{first}-3"  # the system prompt is no part of it
    mine = generation(2, first=digest(said[1]))
    put(path, entry(first), entry(second, mine), entry(f"{first}-3"), entry("f" * 16))
    known = Sidecar.open(path)
    # Of those that begin alike, the ones that cover something of it; its own in any case.
    assert [e.key for e in known.candidates(first, said)] == [first, second]
    assert [e.key for e in known.candidates(second, said)] == [second, first]
    assert [e.key for e in known.candidates(f"{first}-3", said)] == [f"{first}-3", first, second]
    assert known.candidates("0" * 16, said) == ()


def test_a_handoff_in_a_conversation_leads_to_its_entry_whatever_its_opening(path):
    put(path, entry("f" * 16))
    handed = (Message(Role.USER, "hello"), Message(Role.ASSISTANT, generation().handoff))
    assert [e.key for e in Sidecar.open(path).candidates("0" * 16, handed)] == ["f" * 16]


def test_a_run_that_adds_nothing_writes_nothing(tmp_path, path):
    Sidecar.open(path).close()
    assert list(tmp_path.iterdir()) == []
    path.write_bytes(json.dumps(entry_to(entry()), indent=None).encode())  # no final newline
    before = path.read_bytes()
    sidecar = Sidecar.open(path)
    sidecar.close()
    assert path.read_bytes() == before
    assert list(sidecar.loaded) == ["6c979b255b5f334b"]


def test_asking_for_a_place_leaves_none_behind_if_it_is_not_used(tmp_path, path):
    sidecar = Sidecar.open(path)
    sidecar.prepare()
    assert path.exists()
    sidecar.close()
    assert list(tmp_path.iterdir()) == []


def test_without_a_place_nothing_is_kept():
    sidecar = Sidecar.open(None)
    sidecar.prepare()
    sidecar.put(entry())
    sidecar.close()
    assert not sidecar.added


def test_afresh_forgets_whatever_is_there(path):
    path.write_bytes(b"{nonsense\n")
    sidecar = Sidecar.afresh(path)
    sidecar.put(entry())
    sidecar.close()
    assert opened(path) == {"6c979b255b5f334b": entry()}
    Sidecar.afresh(path).close()
    assert not path.exists()


def test_a_new_sidecar_lets_in_whom_the_transcript_lets_in(tmp_path, path):
    transcript = tmp_path / "log.jsonl"
    transcript.touch(0o600)
    transcript.chmod(0o604)
    sidecar = Sidecar.open(path, like=transcript)
    sidecar.put(entry())
    sidecar.close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


def test_a_place_that_cannot_be_is_said_with_a_way_out(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match=r"file/x.state: cannot be written .*--state-dir"):
        Sidecar.open(tmp_path / "file" / "x.state").prepare()


def test_a_sidecar_that_is_removed_or_replaced_under_way_is_written_as_it_should_be(path):
    put(path, entry("a" * 16), entry("b" * 16))
    sidecar = Sidecar.open(path)
    path.write_bytes(path.read_bytes())
    sidecar.put(entry("c" * 16))
    path.rename(path.with_name("away"))
    path.write_bytes(b"something else altogether\n")
    sidecar.put(entry("a" * 16, generation(2)))
    sidecar.close()
    assert opened(path) == {
        "a" * 16: entry("a" * 16, generation(2)),
        "b" * 16: entry("b" * 16),
        "c" * 16: entry("c" * 16),
    }


def test_it_is_read_as_it_was_when_it_was_opened(path):
    put(path, entry("a" * 16), entry("b" * 16))
    before = Sidecar.open(path)
    put(path, entry("a" * 16, generation(1), generation(2)))
    assert before.loaded == {"a" * 16: entry("a" * 16), "b" * 16: entry("b" * 16)}


# After a crash.


def test_a_last_line_that_was_cut_off_is_left_out_and_goes_with_the_next_entry(path):
    put(path, entry("a" * 16))
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:60])
    sidecar = Sidecar.open(path)
    assert sidecar.torn
    assert list(sidecar.loaded) == ["a" * 16]
    sidecar.put(entry("b" * 16))
    # The run dies here; the file is sound all the same.
    assert list(opened(path)) == ["a" * 16, "b" * 16]
    assert path.read_bytes().startswith(whole)


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_a_first_line_that_was_cut_off_is_no_state(path, cut):
    put(path, entry())
    path.write_bytes(path.read_bytes()[:cut])
    assert opened(path) == {}


def test_a_last_line_without_its_newline_is_whole(path):
    put(path, entry("a" * 16))
    path.write_bytes(path.read_bytes()[:-1])
    sidecar = Sidecar.open(path)
    assert list(sidecar.loaded) == ["a" * 16]
    sidecar.put(entry("b" * 16))
    assert list(opened(path)) == ["a" * 16, "b" * 16]


def test_what_a_failure_has_cost_is_kept():
    spent = {"usage": {"calls": 2, "prompt_tokens": 900}, "cost": 0.25}
    failed = entry(failure=Failure(1.5, "busy", spent))
    assert entry_from(entry_to(failed)) == failed
    assert entry_to(failed)["failure"] == {"at": 1.5, "why": "busy", **spent}


# What is refused.


def changed(*steps, to):
    """The value of a sound entry with one place in it changed."""
    value = copy.deepcopy(entry_to(entry(failure=Failure(1.5, "busy"))))
    place = json.loads(json.dumps(value))
    whole = place
    for step in steps[:-1]:
        place = place[step]
    place[steps[-1]] = to
    return json.dumps(whole).encode()


GENERATION = ("generations", 0)
WRONG = {
    "not JSON": (b"{nope", "not JSON"),
    "binary": (b"\x00\xff\xfe", "not JSON"),
    "a list": (b"[]", "$: [] is not of type 'object'"),
    "nothing in it": (b"{}", "$: 'version' is a required property"),
    "version 0": (changed("version", to=0), "$.version: 1 was expected"),
    "version a word": (changed("version", to="1"), "$.version: 1 was expected"),
    "more than it should have": (changed("more", to=1), "'more' was unexpected"),
    "key a number": (changed("key", to=5), "$.key: 5 is not of type 'string'"),
    "generations null": (changed("generations", to=None), "$.generations: None is not of type 'array'"),
    "failure a word": (changed("failure", to="busy"), "$.failure: "),
    "a time that is none": (changed("failure", "at", to="now"), "$.failure: "),
    "number 0": (changed(*GENERATION, "number", to=0), "$.generations[0].number: 0 is less"),
    "covers less than nothing": (changed(*GENERATION, "covered", "count", to=-1), ".covered.count: -1 is less"),
    "covers nothing": (changed(*GENERATION, "covered", "count", to=0), ".covered.count: 0 is less"),
    "covers a word": (changed(*GENERATION, "covered", "count", to="26"), "'26' is not of type 'integer'"),
    "covers a half": (changed(*GENERATION, "covered", "count", to=1.5), "1.5 is not of type 'integer'"),
    "no chain": (changed(*GENERATION, "covered", "chain", to=None), ".covered.chain: None is not of type"),
    "role tool": (changed(*GENERATION, "role", to="tool"), ".role: 'tool' is not one of"),
    "role none": (changed(*GENERATION, "role", to="critic"), ".role: 'critic' is not one of"),
    "summary a list": (changed(*GENERATION, "summary", to=[]), ".summary: [] is not of type 'object'"),
    "a section a word": (changed(*GENERATION, "summary", "goal", to="x"), ".summary.goal: 'x' is not of type 'array'"),
    "an unknown section": (changed(*GENERATION, "summary", "moods", to=["x"]), "'moods' was unexpected"),
    "stubs of one number": (changed(*GENERATION, "stubbed", to=[[1]]), ".stubbed[0]: [1] is too short"),
    "made null": (changed(*GENERATION, "made", to=None), ".made: None is not of type 'object'"),
}


@pytest.mark.parametrize(("line", "said"), WRONG.values(), ids=WRONG)
def test_a_broken_line_is_named_by_file_line_and_place(path, line, said):
    put(path, entry("a" * 16))
    path.write_bytes(path.read_bytes() + line + b"\n")
    with pytest.raises(StateError) as caught:
        Sidecar.open(path)
    assert str(caught.value).startswith(f"{path}:2: ")
    assert said in str(caught.value)
    assert "--rebuild" in caught.value.next_step


@pytest.mark.parametrize("newline", [b"\n", b""], ids=["whole", "without its newline"])
def test_a_sidecar_of_a_newer_version_is_refused_and_kept(path, newline):
    path.write_bytes(changed("version", to=2) + newline)
    with pytest.raises(
        StateError, match=r"log.jsonl.state:1: it has version 2, this program knows 1; update compactor"
    ):
        Sidecar.open(path)


def test_a_last_line_that_is_json_and_no_entry_was_not_cut_off(path):
    path.write_bytes(changed("key", to=5))
    with pytest.raises(StateError, match=r":1: \$\.key"):
        Sidecar.open(path)


def test_a_folder_in_its_place_is_said_to_be_one(tmp_path):
    with pytest.raises(StateError, match=r"cannot be read \(Is a directory\)"):
        Sidecar.open(tmp_path)


@pytest.mark.parametrize("content", [b"{nope\n", changed("version", to=2) + b"\n"], ids=["broken", "newer"])
def test_the_command_line_refuses_it_and_rebuild_is_the_way_out(tmp_path, content):
    (tmp_path / "log.jsonl").write_bytes(lined(talk(41)))
    (tmp_path / "log.jsonl.state").write_bytes(content)
    for words in ((), ("-n",), ("-i",), ("-o", "out.jsonl")):
        ran = compact(tmp_path, "log.jsonl", *words)
        assert ran.code == 2
        assert ran.said.startswith("compactor: log.jsonl.state:1: ")
        assert len(ran.out.splitlines()) in (0, 3)  # the table of a dry run, without a row
    assert (tmp_path / "log.jsonl.state").read_bytes() == content
    assert (tmp_path / "log.jsonl").read_bytes() == lined(talk(41))
    assert not (tmp_path / "out.jsonl").exists()
    ran = compact(tmp_path, "log.jsonl", "--rebuild")
    assert ran.code == 0
    assert len(handoffs(ran.lines)) == 1
    assert compact(tmp_path, "log.jsonl").out == ran.out


def test_a_torn_sidecar_is_no_trouble_on_the_command_line(tmp_path):
    (tmp_path / "log.jsonl").write_bytes(lined(talk(41)))
    first = compact(tmp_path, "log.jsonl")
    state = tmp_path / "log.jsonl.state"
    state.write_bytes(state.read_bytes() + b'{"version":1,"key":"6c97')
    ran = compact(tmp_path, "log.jsonl")
    assert (ran.code, ran.out) == (0, first.out)
    assert "no call" in ran.said
