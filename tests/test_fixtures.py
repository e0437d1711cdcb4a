"""Are the committed transcripts what the generator writes, and is what facts.json says true of them?"""

from __future__ import annotations

import gzip
import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import pytest

from fixtures import coding, generate, workshop
from fixtures.script import StoryError, bundle, cut, unmark

ROOT = Path(__file__).resolve().parent.parent
TRANSCRIPTS = ROOT / "fixtures" / "transcripts"
FACTS = ROOT / "fixtures" / "facts.json"

FILES = generate.files()
STORY = coding.tell().shop.files


def committed(name: str) -> bytes:
    content = (TRANSCRIPTS / name).read_bytes()
    return gzip.decompress(content) if name.endswith(".gz") else content


def parsed(name: str) -> list[dict[str, Any]]:
    text = committed(name).decode("utf-8")
    assert text.endswith("\n")
    return [json.loads(line) for line in text.split("\n")[:-1]]


def conversations() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    for name in generate.NAMES:
        if name == "support-chats":
            for row, record in enumerate(generate.records(name)):
                yield f"{name}-{row}", record["messages"]
        else:
            yield name, generate.conversation(name)


CONVERSATIONS = dict(conversations())
CODING = CONVERSATIONS["coding-session"]


def size(messages: list[dict[str, Any]]) -> int:
    return sum(len(json.dumps(message, ensure_ascii=False).encode()) for message in messages)


def everything(message: dict[str, Any]) -> str:
    """All that a model would read of a message."""
    parts = [message.get("content") or "", message.get("reasoning_content") or ""]
    parts += [call["function"]["arguments"] for call in message.get("tool_calls", [])]
    return "\n".join(part if isinstance(part, str) else json.dumps(part) for part in parts)


# -- what is committed ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
def test_committed_file_is_what_the_generator_writes(name: str) -> None:
    made = gzip.decompress(FILES[name]) if name.endswith(".gz") else FILES[name]
    assert committed(name) == made


def test_facts_are_what_the_generator_writes() -> None:
    text = json.dumps(generate.facts(), ensure_ascii=False, indent=2) + "\n"
    assert FACTS.read_bytes() == text.encode("utf-8")


def test_nothing_else_lies_in_the_folder() -> None:
    assert {path.name for path in TRANSCRIPTS.iterdir()} == set(FILES)


def test_the_folder_stays_small() -> None:
    assert sum(path.stat().st_size for path in TRANSCRIPTS.iterdir()) < 4_000_000


def test_gzip_holds_no_time_and_no_name() -> None:
    header = (TRANSCRIPTS / "multilingual-agent.jsonl.gz").read_bytes()[:10]
    assert header[4:8] == b"\0\0\0\0"
    assert header[3] == 0


@pytest.mark.parametrize("name", FILES)
def test_every_line_parses_and_comes_back_the_same(name: str) -> None:
    assert generate.lines(parsed(name)) == committed(name)


@pytest.mark.parametrize("seed", ["0", "1", "random"])
def test_hash_order_changes_nothing(seed: str) -> None:
    command = [
        sys.executable,
        "-W",
        "error",
        "-m",
        "fixtures.generate",
        str(TRANSCRIPTS),
        "--facts",
        str(FACTS),
        "--check",
    ]
    done = subprocess.run(command, cwd=ROOT, env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_check_names_what_differs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    generate.main([str(tmp_path)])
    (tmp_path / "research-chat.jsonl").write_bytes(b"{}\n")
    (tmp_path / "support-chats.jsonl").unlink()
    capsys.readouterr()
    assert generate.main([str(tmp_path), "--check"]) == 1
    said = capsys.readouterr().out
    assert "research-chat.jsonl: differs" in said
    assert "support-chats.jsonl: missing" in said
    assert "coding-session" not in said


# -- shapes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_each_call_is_answered_by_the_messages_that_follow_it(name: str) -> None:
    owed: list[str] = []
    for message in CONVERSATIONS[name]:
        if message["role"] == "tool":
            assert message["tool_call_id"] in owed
            owed.remove(message["tool_call_id"])
        elif message["role"] == "function":
            assert owed == [message["name"]]
            owed.clear()
        else:
            assert owed == []
            calls = message.get("tool_calls", [])
            owed = [call["id"] for call in calls]
            assert len(set(owed)) == len(owed)
            if "function_call" in message:
                owed = [message["function_call"]["name"]]
    assert owed == []


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_arguments_are_json_objects(name: str) -> None:
    for message in CONVERSATIONS[name]:
        calls = [call["function"] for call in message.get("tool_calls", [])]
        calls += [message["function_call"]] if "function_call" in message else []
        assert all(isinstance(json.loads(call["arguments"]), dict) for call in calls)
        assert message["content"] is not None or calls


def test_coding_session() -> None:
    first = generate.records("coding-session")[0]
    assert first["role"] == "session_meta"
    tools = {tool["function"]["name"] for tool in first["tools"]}
    called = {call["function"]["name"] for m in CODING for call in m.get("tool_calls", [])}
    assert called <= tools
    assert len(CODING) == 422
    assert size(CODING) > 500_000
    assert CODING[0]["role"] == "system"
    assert sum(m["role"] == "user" for m in CODING) == 10
    assert CODING[-1]["role"] == "tool"


MESSES = {
    "null content": lambda m: m["content"] is None,
    "empty content": lambda m: m["content"] == "",
    "reasoning": lambda m: "reasoning_content" in m,
    "two calls": lambda m: len(m.get("tool_calls", [])) == 2,
    "three calls": lambda m: len(m.get("tool_calls", [])) == 3,
    "refused edit": lambda m: '"success": false' in (m["content"] or ""),
    "failed command": lambda m: '"exit_code": 2}' in (m["content"] or ""),
    "traceback": lambda m: "ForeignKeyViolation" in (m["content"] or ""),
    "patch": lambda m: "*** Begin Patch" in everything(m),
    "long log": lambda m: m["role"] == "tool" and len(m["content"].encode()) > 60_000,
    "base64": lambda m: m["role"] == "tool" and any(len(w) == 76 for w in m["content"].split("\\n")[1:3]),
    "colours": lambda m: "\\u001b[3" in (m["content"] or ""),
    "carriage return": lambda m: "\r\n" in (m["content"] or ""),
    "made-up secret": lambda m: "whsec_FAKE_" in everything(m),
    "made-up key": lambda m: "sk-fake-" in everything(m),
    "emoji": lambda m: "🌊" in (m["content"] or ""),
}


@pytest.mark.parametrize("mess", MESSES)
def test_coding_session_is_as_messy_as_real_ones(mess: str) -> None:
    assert any(MESSES[mess](message) for message in CODING)


def test_support_chats() -> None:
    records = parsed("support-chats.jsonl")
    assert len(records) == 40
    assert all(set(record) == {"id", "messages", "tools", "reward"} for record in records)
    assert sum(size(record["messages"]) > 240_000 for record in records) == 4
    assert sum(size(record["messages"]) < 40_000 for record in records) == 36
    assert any(m["content"] == "" and m["role"] == "tool" for r in records for m in r["messages"])


def test_a_quarter_of_the_support_chats_use_an_id_twice() -> None:
    def reused(messages: list[dict[str, Any]]) -> bool:
        ids = [call["id"] for message in messages for call in message.get("tool_calls", [])]
        return len(ids) > len(set(ids))

    assert sum(reused(record["messages"]) for record in parsed("support-chats.jsonl")) == 10


@pytest.mark.parametrize(("row", "words"), [(11, "Guten Tag"), (22, "こんにちは"), (33, "你好")])
def test_support_in_other_languages(row: int, words: str) -> None:
    assert words in CONVERSATIONS[f"support-chats-{row}"][1]["content"]


def test_no_placeholder_is_left_in_the_prose() -> None:
    for name, messages in CONVERSATIONS.items():
        if name.startswith(("support", "research")):
            assert not [m for m in messages if isinstance(m["content"], str) and "{customer}" in m["content"]]
            assert not [m for m in messages if isinstance(m["content"], str) and "%or" in m["content"]]


def test_research_chat() -> None:
    messages = CONVERSATIONS["research-chat"]
    assert [m["role"] for m in messages] == ["user", "assistant"] * 28
    assert size(messages) > 260_000
    assert max(len(m["content"]) for m in messages if m["role"] == "assistant") > 8_000
    parts = [part for m in messages if isinstance(m["content"], list) for part in m["content"]]
    images = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    assert len(images) >= 4
    assert all(url.startswith("data:image/png;base64,iVBORw0KGgo") for url in images)


def test_spanish_agent_is_one_endless_turn() -> None:
    messages = CONVERSATIONS["multilingual-agent"]
    assert [m["role"] for m in messages[:3]] == ["system", "user", "assistant"]
    assert sum(m["role"] == "user" for m in messages) == 1
    rounds = [m for m in messages if "tool_calls" in m or "function_call" in m]
    assert len(rounds) >= 120
    assert {"function", "tool"} <= {m["role"] for m in messages}
    assert size(messages) > 280_000


# -- growth --------------------------------------------------------------------------------------


def test_growth_goes_on_from_the_same_beginning() -> None:
    sizes = []
    whole = generate.records("coding-session")
    for step in generate.growth():
        assert step == whole[: len(step)]
        assert len(step) == len(whole) or whole[len(step)]["role"] == "user"
        sizes.append(size(step))
    assert sizes == sorted(set(sizes))
    assert sizes[1] - sizes[0] < sizes[0] / 8
    assert step == whole


def test_growth_of_chosen_turns() -> None:
    one, many = generate.growth("research-chat", [1, 99])
    assert [m["role"] for m in one] == ["user", "assistant"]
    assert many == generate.records("research-chat")


def test_growth_on_the_command_line(tmp_path: Path) -> None:
    assert generate.main([str(tmp_path), "--growth"]) == 0
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [f"coding-session.{n}.jsonl" for n in (1, 2, 3, 4)]
    assert (tmp_path / names[-1]).read_bytes() == committed("coding-session.jsonl")


def test_callers_may_change_what_they_get() -> None:
    generate.conversation("coding-session")[0]["content"] = "changed"
    assert generate.conversation("coding-session")[0]["content"] != "changed"


# -- facts ---------------------------------------------------------------------------------------

KNOWN = json.loads(FACTS.read_text(encoding="utf-8"))
STATED = ("constraints_in_force", "constraints_revoked", "decisions", "open_questions", "numbers")


@pytest.mark.parametrize(("kind", "entry"), [(kind, entry) for kind in STATED for entry in KNOWN[kind]])
def test_stated_words_stand_in_their_message(kind: str, entry: dict[str, Any]) -> None:
    assert entry["text"] in CODING[entry["message"]]["content"]
    if kind == "constraints_revoked":
        assert entry["revoked_by"] in CODING[entry["revoked_at"]]["content"]
        assert entry["message"] < entry["revoked_at"]


def test_every_kind_of_fact_is_there() -> None:
    assert all(KNOWN[kind] for kind in STATED)
    assert {entry["key"] for entry in KNOWN["constraints_revoked"]} == {"py310", "commit-prefix", "timeout-10"}
    assert len(KNOWN["decisions"]) >= 10
    assert KNOWN["messages"] == len(CODING)


def test_users_state_constraints_and_assistants_decide() -> None:
    for kind, role in (("constraints_in_force", "user"), ("decisions", "assistant")):
        assert {CODING[entry["message"]]["role"] for entry in KNOWN[kind]} == {role}


def test_modified_files_are_named_by_a_call_that_succeeded() -> None:
    for entry in KNOWN["files_modified"]:
        call = next(
            call
            for message in reversed(CODING[: entry["message"]])
            for call in message.get("tool_calls", [])
            if call["id"] == CODING[entry["message"]]["tool_call_id"]
        )
        assert call["function"]["name"] in ("edit_file", "write_file", "apply_patch")
        assert entry["path"] in call["function"]["arguments"]
        assert "false" not in CODING[entry["message"]]["content"][:20]


def test_read_files_were_shown_with_line_numbers() -> None:
    for entry in KNOWN["files_read"]:
        message = CODING[entry["message"]]
        assert message["name"] == "read_file"
        assert "\t" in message["content"]


def test_commits_were_printed_by_git() -> None:
    assert len({entry["hash"] for entry in KNOWN["commits"]}) == 8
    for entry in KNOWN["commits"]:
        assert f"{entry['hash']}] {entry['subject']}" in CODING[entry["message"]]["content"]


def test_failed_tests_were_red_and_then_green() -> None:
    assert len(KNOWN["tests_failed_then_fixed"]) == 10
    for entry in KNOWN["tests_failed_then_fixed"]:
        assert f"FAILED {entry['test']}" in CODING[entry["failed_at"]]["content"]
        later = json.loads(CODING[entry["fixed_at"]]["content"])
        assert entry["failed_at"] < entry["fixed_at"]
        assert f"FAILED {entry['test']}" not in later["output"]
        assert "passed" in later["output"]


def test_session_ends_in_the_middle_of_the_export() -> None:
    assert not [m for m in CODING[-12:] if "git commit" in everything(m)]
    todo = [
        json.loads(c["function"]["arguments"])
        for m in CODING
        for c in m.get("tool_calls", [])
        if c["function"]["name"] == "todo"
    ]
    assert [item["status"] for item in todo[-1]["items"]].count("pending") == 3


# -- the parts that make them --------------------------------------------------------------------


def test_a_story_is_cut_at_its_marks() -> None:
    found = list(cut("#% remark\n%% user\nhello\n\n%% call read a.py 1 2\n", "t"))
    assert [(s.verb, s.argument, s.body, s.where) for s in found] == [
        ("user", "", "hello", "t:2"),
        ("call", "read a.py 1 2", "", "t:5"),
    ]


def test_marks_leave_only_their_words() -> None:
    text, (mark,) = unmark("we [[decision d-1|chose tea]] today")
    assert text == "we chose tea today"
    assert (mark.kind, mark.key, mark.words) == ("decision", "d-1", "chose tea")


def test_bundles_keep_carriage_returns_where_asked() -> None:
    files = bundle("saltmarsh-core.txt")
    assert "\r\n" in files["AGENTS.md"]
    assert "\r" not in files["Makefile"]
    assert "\n\t" in files["Makefile"]


@pytest.fixture
def shop() -> workshop.Workshop:
    return workshop.Workshop({"a.py": "x = 1\ny = 1\n", "tests/test_a.py": "def test_x():\n    pass\n"})


def test_an_edit_needs_one_place(shop: workshop.Workshop) -> None:
    assert json.loads(shop.edit("a.py", "x = 1", "x = 2"))["success"]
    assert shop.read("a.py") == "    1\tx = 2\n    2\ty = 1"
    with pytest.raises(StoryError, match="occurs 0 times"):
        shop.edit("a.py", "x = 1", "x = 3")


def test_a_refused_edit_changes_nothing(shop: workshop.Workshop) -> None:
    assert "2 places" in json.loads(shop.refuse("a.py", "= 1"))["error"]
    assert shop.status() == "## main"
    with pytest.raises(StoryError, match="meant to fail"):
        shop.refuse("a.py", "x = 1")


def test_a_missing_file_is_an_answer(shop: workshop.Workshop) -> None:
    assert json.loads(shop.read("b.py"))["success"] is False


def test_commits_count_lines(shop: workshop.Workshop) -> None:
    shop.write("b.py", "z = 1\n")
    shop.edit("a.py", "x = 1", "x = 2")
    assert "2 files changed, 2 insertions(+), 1 deletions(-)" in shop.commit("Both")
    with pytest.raises(StoryError, match="nothing to commit"):
        shop.commit("Again")


def test_test_runs_count_what_is_in_the_files(shop: workshop.Workshop) -> None:
    output, code = workshop.run_tests(shop, "tests", {}, "0.1")
    assert (output.split("\n")[-1], code) == ("1 passed in 0.1s", 0)
    output, code = workshop.run_tests(shop, "tests", {"tests/test_a.py::test_x": "E   boom"}, "0.1")
    assert (output.split("\n")[-1], code) == ("1 failed in 0.1s", 1)
    with pytest.raises(StoryError, match="no such test"):
        workshop.run_tests(shop, "tests", {"tests/test_a.py::test_y": ""}, "0.1")


def collisions(source: str, lines: list[str], folder: Path) -> tuple[int, int, int]:
    """Readings, lost readings and refused lines, by the parser of the story itself."""
    folder.mkdir()
    (folder / "telegram.py").write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(f"telegram_{folder.name}", folder / "telegram.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    keys, refused = [], 0
    for line in lines:
        try:
            keys.append(module.parse(line).key)
        except module.TelegramError:
            refused += 1
    return len(keys), len(keys) - len(set(keys)), refused


def test_the_code_in_the_story_does_what_the_story_says(tmp_path: Path) -> None:
    try:
        ZoneInfo("Europe/Copenhagen")
    except ZoneInfoNotFoundError:
        pytest.skip("this machine has no time zone database")
    files = STORY
    text = files["tests/data/telegrams_2024-10-27.txt"]
    lines = [line for line in text.split("\n") if line and not line.startswith("#")]
    before = bundle("saltmarsh-core.txt")["saltmarsh/telegram.py"]
    assert collisions(before, lines, tmp_path / "before") == (1980, 660, 3)
    assert collisions(files["saltmarsh/telegram.py"], lines, tmp_path / "after") == (1980, 0, 3)
    assert KNOWN["numbers"][0]["text"] == "660 of the 1,980 readings"


@pytest.mark.parametrize("path", sorted(path for path in STORY if path.endswith(".py")))
def test_python_in_the_story_compiles(path: str) -> None:
    compile(STORY[path], path, "exec")
