"""Is what `make quality` measures what it says, and which of its bars hold? The tables themselves are its business."""

import json
from functools import cache

import pytest
from compaction_kit.corpus import build_random_session
from compaction_kit.session import Turn

from compactor.core.settings import Settings, Trigger
from tests.quality import arms, drift, excerpts, kit, languages, real, rules, talk
from tests.quality.phrases import LANGUAGES
from tests.quality.probes import FAMILIES, claude_code, frozen, plain, there
from tests.quality.seeds import REPORTING, TUNING, Seeds
from tests.quality.tables import Share, Table, as_json, as_text

SHARED = pytest.mark.skipif(not real.SHARED.is_dir(), reason="the shared transcripts are not beside the project")


# The measure.


def test_tuning_and_reporting_share_nothing():
    phrases = LANGUAGES["English"].rules
    assert not set(TUNING.numbers) & set(REPORTING.numbers)
    assert not set(TUNING.half(phrases)) & set(REPORTING.half(phrases))
    probes = [f"lib/{n}.py" for n in range(200)]
    assert all(TUNING.mine(p) != REPORTING.mine(p) for p in probes)
    assert 60 < sum(map(TUNING.mine, probes)) < 140
    with pytest.raises(ValueError, match="are for tuning"):
        Seeds((4, 104))


def test_probes_are_read_from_the_branch_that_stands():
    def record(ident, parent, kind, *blocks, **more):
        return {"uuid": ident, "parentUuid": parent, "type": kind, "message": {"content": list(blocks)}, **more}

    def said(text):
        return {"type": "text", "text": text}

    def call(ident, name, **given):
        return {"type": "tool_use", "id": ident, "name": name, "input": given}

    def result(ident, text, failed=False):
        return {"type": "tool_result", "tool_use_id": ident, "content": text, "is_error": failed}

    records = [
        record("1", None, "user", said("Please never push. Thanks! Why not?")),
        record("2", "1", "assistant", call("a", "Edit", file_path="/w/lib/a.py")),
        record("x", "1", "assistant", call("z", "Edit", file_path="/w/lib/left.py")),
        record("3", "2", "user", result("a", "ok")),
        record("4", "3", "assistant", call("b", "Bash", command="cd /w && git commit -m x")),
        record("5", "4", "user", result("b", "[main 1a2b3c4] x")),
        record("6", "5", "assistant", said("All **43 tests** pass."), call("c", "Read", file_path="/w/lib/b.py")),
        record("7", "6", "user", result("c", "<error>File does not exist: not found</error>", failed=True)),
        record("8", "7", "user", said("never mind this"), isMeta=True),
    ]
    assert frozen(claude_code(records), "/w") == {
        "edited": ["lib/a.py"],
        "read": [],
        "command": ["git commit -m x"],
        "hash": ["1a2b3c4"],
        "number": ["43 tests"],
        "rule": ["Please never push."],
        "error": ["<error>File does not exist: not found</error>"],
    }


def test_a_path_may_be_shortened_and_a_command_may_not():
    assert there("edited", "lib/deep/a.py", "changed deep/a.py")
    assert not there("edited", "lib/deep/a.py", "changed a.py")
    assert there("command", "make  test", plain("ran `make test`"))
    assert not there("command", "make test", plain("made tests"))


def test_a_size_is_found_without_trusting_that_it_grows():
    def made(size):
        return None if size < 40 else "x" * (size * 3 + (7 if size % 2 else 0))

    found = arms.fit(made, 1_000, str)
    assert 980 <= len(found) <= 1_000
    assert arms.fit(made, 100, str) is None


def test_tables_say_what_was_measured():
    share = Share()
    share.add(True)
    share.add(False, "a probe")
    table = Table("T", ("arm", "all"), (("one", share), ("none", None)), ("note",), tuple(share.lost))
    assert as_text(table).splitlines() == [
        "T",
        "",
        "arm    all",
        "one   50.0",
        "none     -",
        "",
        "note",
        "  lost: a probe",
    ]
    assert as_json(table)["rows"][0] == {"arm": "one", "all": {"percent": 50.0, "hits": 1, "of": 2}}


@pytest.mark.parametrize("factory", [kit.Whole, kit.Bare, kit.Alone])
def test_what_the_kit_hands_back_is_the_compacted_conversation(factory):
    session, _ = build_random_session(1)
    adapter = factory()
    text = adapter.compact(session.transcript(), 1, 3_000).text
    assert len(text) <= 3_000
    row = arms.read(kit.as_file(adapter.opened([Turn("system", text)])), "chat.jsonl")
    assert adapter.text(row.conversation.messages) == text
    assert adapter.compact([Turn("system", text)], 2, 3_000).text == text


def test_the_kit_is_told_when_nothing_fits():
    session, _ = build_random_session(1)
    assert len(kit.Whole().compact(session.transcript(), 1, 100).text) > 100


def test_a_story_says_what_it_is_asked_for():
    story = talk.Story(TUNING, 1, "Japanese")
    for _ in range(talk.ROUNDS):
        story.go_on()
    text = arms.words(arms.read(talk.as_file(story.messages), "chat.jsonl").conversation.messages[1])
    assert story.said[0].rule in text
    assert len(story.standing()) == talk.ROUNDS - len(story.revoked()) == 8
    assert len({said.rule for said in story.said}) == talk.ROUNDS


@SHARED
def test_constraints_are_put_where_conpact_puts_them():
    build = rules.builder()
    if build is None:
        pytest.skip("conpact is not installed; make quality does that")
    messages = [{"role": "user", "content": f"{n}"} for n in range(3)]
    hay = {"haystack_id": "h", "source": "s", "system_prompt": "", "messages": messages, "message_tokens": [1] * 3}
    made = build.build_instances([{**hay, "source_conversation_count": 1}], length=9, position="middle")
    assert len(made) == 15
    assert made[0].messages[1]["content"].startswith("For the rest of this session. ")
    assert rules.kept(made[0], json.dumps(made[0].messages[1]["content"]))
    assert not rules.kept(made[0], made[1].sc_text)


@SHARED
def test_real_compactions_hold_every_family_and_only_what_stands_in_the_text():
    pieces = real.pieces()
    assert len(pieces) == 5
    assert all(sum(len(p.probes[f]) for p in pieces) >= 9 for f in FAMILIES)
    for piece in pieces:
        whole = plain("\n".join(map(arms.words, arms.read(piece.content).conversation.messages))).lower()
        assert all(there(f, probe, whole) for f, probes in piece.probes.items() for probe in probes)


# The bars. What is reached must stay; what is not is expected to fail, with the figure of the reporting seeds.


@cache
def planted(budget):
    return kit.measure(kit.Alone, budget, TUNING.numbers[:1])


def share_of(budget, name):
    return getattr(planted(budget), name).percent


@pytest.mark.parametrize(
    ("budget", "name", "bar"),
    [
        (0.1, "survival", 45),
        (0.1, "resolved", 56),
        pytest.param(0.1, "pairs", 100, marks=pytest.mark.xfail(strict=False, reason="87.5 % are kept")),
        (0.2, "survival", 90),
        (0.2, "resolved", 100),
        (0.2, "pairs", 100),
        (0.3, "survival", 100),
        (0.3, "resolved", 100),
        (0.3, "pairs", 100),
    ],
)
def test_the_conformance_kit_finds_what_it_planted(budget, name, bar):
    assert share_of(budget, name) >= bar


@pytest.mark.parametrize("budget", kit.BUDGETS)
def test_round_five_is_round_one(budget):
    assert share_of(budget, "stable") == 100


@pytest.fixture(scope="module")
def ten_rounds():
    return drift.measure(TUNING, drift.Way.BESIDE, LANGUAGES)


@pytest.mark.parametrize("name", ["rules", "decisions", "first", "paths", "revoked", "finished", "active", "within"])
def test_ten_rounds_lose_nothing_that_holds(ten_rounds, name):
    assert getattr(ten_rounds, name).percent == 100


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_keeps_all_that_was_said(language):
    found, _ = languages.measure(Seeds((1,)), language)
    assert {what: share.percent for what, share in found.items()} == dict.fromkeys(languages.WHAT, 100)


@SHARED
def test_at_the_size_of_the_tool_s_own_summary_more_survives_without_a_model():
    own, theirs = real.Found(), real.Found()
    for piece in (p for p in real.pieces() if p.name.startswith("claude-code")):
        text = arms.whole(arms.read(piece.content), len(piece.native)).text
        assert len(text) <= len(piece.native)
        own.judge(piece, piece.probes, text, 1)
        theirs.judge(piece, piece.probes, piece.native, 1)
    assert own.all.percent >= 85
    assert all(own.families[f].hits >= theirs.families[f].hits for f in FAMILIES)


@SHARED
def test_in_four_thousand_characters_more_survives_than_in_the_tool_s_own_summaries():
    own, theirs = real.Found(), real.Found()
    for piece in (p for p in real.pieces() if p.name.startswith("pi")):
        own.judge(piece, piece.probes, arms.handoff_alone(arms.read(piece.content), len(piece.native)).handoff, 1)
        theirs.judge(piece, piece.probes, piece.native, 1)
    assert own.all.hits > theirs.all.hits


@pytest.mark.parametrize("way", drift.Way)
def test_every_round_is_compacted_from_what_there_is_then(way):
    steps = list(drift.rounds(talk.Story(TUNING, 3, "English"), way))
    assert len(steps) == talk.ROUNDS
    sizes = [made.report.before for made, _, _ in steps]
    if way is drift.Way.BESIDE:
        assert [made.report.generation for made, _, _ in steps] == list(range(1, talk.ROUNDS + 1))
        assert sizes[-1] > 5 * sizes[0]
    else:
        assert {made.report.generation for made, _, _ in steps[1:]} == {2}  # nobody counts on without a sidecar
        assert sizes[-1] < 5 * sizes[0]


def test_a_forced_run_of_an_arm_is_a_run_with_a_summary():
    story = talk.Story(TUNING, 2, "English")
    for _ in range(4):
        story.go_on()
    row = arms.read(talk.as_file(story.messages), "chat.jsonl")
    assert arms.compact(row, Settings(context_window=8_000, trigger_mode=Trigger.FORCE)).handoff
    assert len(arms.whole(row, 4_000).text) <= 4_000
    assert len(arms.tail_only(row, 4_000)) == 4_000


@SHARED
def test_more_of_each_result_shows_a_summarizer_more():
    (few, nothing), (more, some) = (excerpts.measure(TUNING, n) for n in (0, excerpts.DEFAULT))
    assert few < more
    assert nothing["error"].hits < some["error"].hits
    assert some["rule"].hits == some["rule"].of > 0
