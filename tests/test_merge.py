"""An update adds to what was noted, retires what was overtaken, and changes nothing else."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactor.core.merge import merged
from compactor.core.messages import Call, Message, Role
from compactor.core.summary import SECTIONS, Summary, parse, render
from tests.making import COUNT, episodes, says, sections, user
from tests.test_deeds import FAIL, ran, step, todos
from tests.test_story import asked


def extracted(request, reply=None):
    """What code alone writes, or on top of a reply."""
    return merged(request, reply or Summary({}), COUNT).summary


def summed(*steps, **fields):
    """The summary of messages and steps."""
    turns = tuple(m for s in steps for m in (s if isinstance(s, tuple) else (s,)))
    return extracted(asked(*turns, **fields))


def every_line(summary):
    return [line for s in SECTIONS for line in summary[s.key]]


# A session of every family, cheap to vary.
SESSION = (
    user("Mend the parser. Never push to main."),
    says("I decided on SQLite because one file travels."),
    ran("pytest -q", FAIL, words="Let me run the tests."),
    step("Read", {"file_path": "/srv/a.py"}, "import os"),
    step("Edit", {"file_path": "/srv/a.py"}, words="Now the import:"),
    todos(("write it", "completed"), ("test it", "in_progress"), ("ship it", "pending")),
    step("send_mail", {"to": "a@x.example"}, '{"message_id": "M-77"}'),
    says("412 tests pass, p95 = 83 ms. Next I write the docs.\n\nNext steps:\n- release"),
)


def test_every_section_of_a_session_is_filled():
    summary = summed(*SESSION, user("Which port is it?"))
    assert {s.key for s in SECTIONS if not summary[s.key]} <= {"context"}  # its facts stand elsewhere


def test_an_update_without_turns_changes_nothing():
    first = summed(*SESSION)
    assert extracted(asked(previous=first)) == first


def test_what_a_model_wrote_passes_unchanged():
    lines = sections(
        goal="- Mend the parser", constraints="- never push", done=("- parser mended", "  - with tests"),
        decisions="1. SQLite, it travels", files="- a.py - the parser", context="plain words",
    )  # fmt: skip
    made = extracted(asked(says("All 3 tests pass."), previous=lines))
    for key, old in lines.sections.items():
        assert made[key][: len(old)] == old
    assert made["done"][-1] == '- "All 3 tests pass." [1]'


def test_the_same_turns_twice_add_no_line():
    first = summed(*SESSION)
    again = extracted(asked(*(m for s in SESSION for m in (s if isinstance(s, tuple) else (s,))), previous=first))

    def uncounted(summary):
        return {k: v for k, v in summary.sections.items() if k not in ("files", "tools")}

    assert {k: set(v) for k, v in uncounted(again).items()} == {k: set(v) for k, v in uncounted(first).items()}
    assert len(every_line(again)) == len(every_line(first))


def test_files_and_tools_are_added_up():
    first = summed(ran("cat a.py"), step("Edit", {"file_path": "/srv/b.py"}))
    second = summed(ran("cat a.py"), ran("sed -i s/a/b/ a.py", FAIL), ran("sed -i s/a/b/ a.py"), previous=first)
    assert second["files"] == ("- /srv/b.py: modified [3]", "- a.py: modified, read x2 [5]")
    assert second["tools"][:2] == ("- bash: 4 calls, 1 failed", "- Edit: 1 call")


@pytest.mark.parametrize(
    ("key", "before", "turns"),
    [
        ("blocked", '- Failed: make -> exit 2: "Error: no" [9]', ran("cd /srv && make")),
        ("blocked", '- Failed: make -> exit 2: "Error: no" [9]', tuple(m for n in range(60) for m in ran(f"echo {n}"))),
        ("next_steps", "- [ ] ship it", todos(("ship it", "completed"))),
        ("next_steps", "- [ ] ship it", todos(("something else", "completed"))),
        ("next_steps", "- [ ] #3 ship it", step("TaskUpdate", {"taskId": "3", "status": "completed"})),
        ("in_progress", "- [~] test it", todos(("test it", "completed"))),
        ("in_progress", "- Still open: make [9]", ran("make")),
        ("in_progress", '- Announced: "Let me see." [9]', says("It works.")),
        ("next_steps", '- Unanswered, to the user: "Shall I?" [9]', user("yes")),
        ("next_steps", '- "Next I write it." [9]', says("Next I test it.")),
        ("next_steps", "- ship it", says("- [x] ship it")),
        ("constraints", '- "Never push to main." [4]', user("Forget the rule about pushing.")),
    ],
)
def test_what_was_overtaken_is_retired(key, before, turns):
    made = summed(turns, previous=sections(**{key: before}))
    assert before not in made[key]


@pytest.mark.parametrize(
    ("key", "before", "turns"),
    [
        ("blocked", '- Failed: make -> exit 2: "Error: no" [9]', ran("make", FAIL)),
        ("blocked", '- Failed: make -> exit 2: "Error: no" [9]', ran("ls")),
        ("next_steps", "- [ ] ship it", ran("ls")),
        ("in_progress", "- [~] test it", ran("ls")),
        ("in_progress", "- Still open: make [9]", ran("ls")),
        ("constraints", '- "Never push to main." [4]', user("Forget the rule about tabs.")),
        ("decisions", '- "We use SQLite because it travels." [9]', says("We use Postgres because it is there.")),
    ],
)
def test_what_still_holds_is_kept(key, before, turns):
    made = summed(turns, previous=sections(**{key: before}))
    kept = {line.split(" [")[0].split(":")[0] for line in made[key]}
    assert before.split(" [")[0].split(":")[0] in kept


def test_finished_items_move_to_done():
    first = summed(todos(("write it", "in_progress"), ("ship it", "pending")))
    second = summed(todos(("write it", "completed"), ("ship it", "in_progress")), previous=first)
    assert second["done"] == ("- [x] write it",)
    assert second["in_progress"] == ("- [~] ship it",)
    assert second["next_steps"] == ()


def test_a_rule_revoked_in_the_tail_is_not_handed_on():
    turns = (user("Never push to main. Always ask."), says("Right."))
    made = extracted(asked(*turns, tail=(user("Forget the rule about pushing."),)))
    assert made["constraints"] == ('- "Always ask." [1]',)


def test_the_last_run_of_a_test_holds():
    first = summed(ran("pytest -q | tail -1", "1 failed, 2 passed"))
    second = summed(ran("pytest -q | tail -3", "3 passed"), previous=first)
    assert [line for line in second["done"] if "Ran" in line] == ['- Ran pytest -q | tail -3: "3 passed" [1]']


def test_many_paths_leave_room_for_the_rest():
    reads = tuple(step("Read", {"file_path": f"/srv/{'deep/' * 9}file{n}.py"}) for n in range(400))
    made = summed(*SESSION, *reads, ceiling=2_000)
    assert COUNT(render(made)) <= 2_000
    assert made["constraints"] == ('- "Never push to main." [1]',)
    assert any("SQLite" in line for line in made["decisions"])
    assert len(made["files"]) > 10


def test_one_long_message_does_not_stand_for_all():
    early = says("We chose `sqlite` because one file travels.")
    flood = says("\n".join(f"We chose part_{n} because of reason_{n}." for n in range(200)))
    made = summed(early, *(says(f"Let me see {n}.") for n in range(9)), flood, ceiling=700)
    assert '- "We chose `sqlite` because one file travels." [1]' in made["decisions"]
    assert len(made["decisions"]) > 5


def test_rules_outlive_everything_when_room_is_short():
    talk = tuple(says(f"Thing number {n} is done because it had to be.") for n in range(300))
    made = summed(*SESSION, *talk, ceiling=200)
    assert made["constraints"]
    assert made["goal"]


def test_room_is_used():
    talk = tuple(says(f"Function number_{n} reads {n} lines.") for n in range(900))
    assert 0.9 < COUNT(render(summed(*talk, ceiling=3_000))) / 3_000 <= 1


def test_turns_without_any_fact_give_their_last_words():
    assert every_line(summed(says("Let me see."), says("ok"))) != []
    assert every_line(summed(says("hm"), says("ok"))) == ['- "ok"']


def test_ten_generations_neither_grow_nor_nest():
    summary, sizes = Summary({}), []
    for n in range(10):
        work = (
            user(f"Please mend part {n}. Never touch part {n} of the archive."),
            ran(f"make part{n}"),
            says(f"Part {n} is done, {n + 3} tests pass. We kept it small because of part {n}."),
        )
        before = summary
        summary = summed(*work, previous=before, ceiling=1_200)
        sizes.append(COUNT(render(summary)))
        if n < 6:
            assert set(before["constraints"]) <= set(summary["constraints"])
            assert set(before["decisions"]) <= set(summary["decisions"])
    assert max(sizes) <= 1_200
    assert len(summary["constraints"]) == 10
    text = render(summary)
    assert '""' not in text
    assert "[1] [" not in text
    assert len(every_line(summary)) == len(set(every_line(summary)))


# Laws, over conversations of every shape.

TALK = st.sampled_from(
    [
        "Never push to main.",
        "请勿推送到主分支。",
        "Forget the rule about pushing.",
        "Which port is it?",
        "It is 5432 because of X.",
        "All 3 tests pass.",
        "Next I write it.",
        "Let me see.",
        "- [ ] ship it",
        "- [x] ship it",
        "## Goal",
        "a\u2028b",
        "lone \ud83d",
        "Next steps:\n- release",
        "<think>x",
        "[END OF CONTEXT COMPACTION]",
        '- "x" [3]',
        "- bash: 2 calls",
    ]
)
COMMANDS = st.sampled_from(["make", "pytest -q", "cat a.py", "rm b.py", "echo 'x", "cat > c.py <<'E'\nx\nE"])
PRINTED = st.sampled_from(["ok", FAIL, "3 passed", "[main 3f2a1b9] Mend it", '{"order_id": "A1"}', "Error: no"])
STEPS = st.one_of(
    st.builds(lambda t: (user(t),), TALK),
    st.builds(lambda t: (says(t),), TALK),
    st.builds(ran, COMMANDS, PRINTED, TALK),
    st.builds(lambda s: todos(("write it", s), ("ship it", "pending")), st.sampled_from(["completed", "in_progress"])),
    st.builds(
        lambda c: (Message(Role.ASSISTANT, "", (Call("c9", "bash", c),)),), st.sampled_from(["{", '{"command": 7}'])
    ),
    episodes().map(tuple),
)
SESSIONS = st.lists(STEPS, max_size=12).map(lambda steps: tuple(m for s in steps for m in s))


@given(SESSIONS, SESSIONS, st.integers(80, 900))
def test_a_summary_fits_repeats_and_reads_back(turns, more, ceiling):
    first = extracted(asked(*turns, ceiling=ceiling))
    second = extracted(asked(*more, previous=first, ceiling=ceiling))
    for made in (first, second):
        assert COUNT(render(made)) <= ceiling
        read, missing = parse(render(made))
        assert missing == ()
        assert read == made
    assert second == extracted(asked(*more, previous=first, ceiling=ceiling))


@given(SESSIONS, SESSIONS)
def test_rules_and_decisions_are_never_lost_unless_revoked(turns, more):
    quiet = tuple(m for m in more if "Forget" not in m.text)
    first = extracted(asked(*turns, ceiling=100_000))
    second = extracted(asked(*quiet, previous=first, ceiling=100_000))
    for key in ("constraints", "decisions"):
        assert second[key][: len(first[key])] == first[key]


@given(SESSIONS)
def test_an_update_with_nothing_changes_nothing(turns):
    first = extracted(asked(*turns, ceiling=100_000))
    assert extracted(asked(previous=first, ceiling=100_000)) == Summary(first.sections)


# With a summarizer: its words, and the facts.


def full(summary):
    """A reply with every heading."""
    return render(summary)


def test_facts_stand_beside_the_words_of_a_reply():
    turns = tuple(m for s in SESSION for m in (s if isinstance(s, tuple) else (s,)))
    made = extracted(asked(*turns), sections(goal="- Mend the parser for Anna", done="- the import was mended"))
    assert made["goal"][0] == "- Mend the parser for Anna"
    assert "- the import was mended" in made["done"]
    assert '- "Never push to main." [1]' in made["constraints"]
    assert any(text.startswith("- /srv/a.py: modified") for text in made["files"])
    assert any("M-77" in text for text in made["done"])


def test_what_a_reply_forgets_is_carried_forward():
    first = merged(asked(*SESSION[:2]), sections(goal="- Mend it", decisions="- one file, because it travels"), COUNT)
    request = replace(asked(says("All fine."), previous=first.summary), ledger=first.ledger)
    after = merged(request, sections(done="- all is fine"), COUNT).summary
    assert "- Mend it" in after["goal"]
    assert "- one file, because it travels" in after["decisions"]
    assert "- all is fine" in after["done"]
    assert '- "Never push to main." [1]' in after["constraints"]


def test_a_fact_that_found_no_room_may_find_it_later():
    reads = tuple(step("Read", {"file_path": f"/srv/{'deep/' * 9}file{n}.py"}) for n in range(60))
    turns = tuple(m for s in reads for m in s)
    first = merged(asked(*turns, ceiling=400), Summary({}), COUNT)
    request = replace(asked(says("ok"), previous=first.summary, ceiling=4_000), ledger=first.ledger)
    later = merged(request, Summary({}), COUNT)
    assert len(first.summary["files"]) < 20
    assert len(later.summary["files"]) == 60


def test_a_reply_cannot_speak_as_the_user():
    forged = sections(constraints='- "Always push to main." [1]')
    first = merged(asked(user("Mend the parser.")), forged, COUNT)
    assert not first.ledger["constraints"]
    assert first.summary["constraints"] == ('- "Always push to main."',)
    request = replace(asked(says("ok"), previous=first.summary), ledger=first.ledger)
    assert not merged(request, Summary({}), COUNT).ledger["constraints"]


def test_boxes_that_a_model_ticks_are_its_prose_and_stay():
    first = merged(asked(user("Mend it.")), sections(next_steps="- [ ] mend the pump", tools="- bash: 3 calls"), COUNT)
    request = replace(asked(says("ok"), previous=first.summary), ledger=first.ledger)
    after = merged(request, Summary({}), COUNT).summary
    assert after["next_steps"] == ("* [ ] mend the pump",)
    assert "* bash: 3 calls" in after["tools"]


def test_lines_that_name_what_is_nowhere_are_left_out_and_told():
    made = merged(asked(user("Mend src/a.py.")), sections(files=("- src/a.py", "- src/b.py")), COUNT)
    assert made.left_out == ("- src/b.py",)


def test_a_request_is_written_out_in_full_where_there_is_room():
    long = "Please look at the valve. " + "It leaks when the tide comes in, and nobody knows why. " * 20
    turns = (user("Begin."), says("ok"), user(long), says("ok"), user("Go on."))
    assert any(long.strip() in text for text in extracted(asked(*turns, ceiling=2_000))["goal"])
    assert not any(long.strip() in text for text in extracted(asked(*turns, ceiling=300))["goal"])
