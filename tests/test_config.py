"""Which value of an option holds if it is set in several places, and what is said of one that cannot be?"""

import json
from importlib.resources import files
from pathlib import Path

import pytest

from compactor.config import Options, SummarizerKind, public, resolve, user_file
from compactor.core.settings import OnFailure, Settings, StubStyle
from compactor.errors import UsageError
from tests.running import compactor, lined, talk

PLACES = ["flag", "environment", "project", "user"]  # from the strongest to the weakest


@pytest.fixture
def resolved(tmp_path):
    """Resolve options that are set in several places, each given as a mapping or as the text of a file."""

    def found(flag=(), environment=(), project="", user=""):
        paths = [tmp_path / "compactor.toml", tmp_path / "config.toml"]
        for path, text in zip(paths, (project, user), strict=True):
            if text:
                path.write_text(text, encoding="utf-8")
        return resolve(dict(flag), dict(environment), *paths)

    return found


def everywhere(*places):
    """Set `jobs` in some places, in each to another value."""
    values = {
        "flag": {"jobs": 11},
        "environment": {"COMPACTOR_JOBS": "12"},
        "project": "jobs = 13",
        "user": "jobs = 14",
    }
    return {place: values[place] for place in places}


@pytest.mark.parametrize("strongest", range(4), ids=PLACES)
def test_the_nearest_place_wins(resolved, strongest):
    settings, options, given = resolved(**everywhere(*PLACES[strongest:]))
    assert (settings, options, given) == ({}, {"jobs": 11 + strongest}, {"jobs"})


def test_nothing_set_is_nothing_given(resolved):
    assert resolved(flag={"jobs": None, "model": None}, environment={"HOME": "/", "COMPACTOR_JOBS": ""}) == (
        {},
        {},
        frozenset(),
    )


def test_places_add_up_key_by_key(resolved):
    settings, options, given = resolved(
        {"threshold": 0.25}, {"COMPACTOR_STUB": "plain", "COMPACTOR_TIMEOUT": "7"}, "jobs = 2", "tail_tokens = 5_000"
    )
    assert settings == {"threshold": 0.25, "stub": StubStyle.PLAIN, "tail_tokens": 5_000}
    assert options == {"timeout": 7.0, "jobs": 2}
    assert given == {"threshold", "stub", "timeout", "jobs", "tail_tokens"}


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("context_window = 32_000", "context_window", 32_000),
        ("threshold = 1", "threshold", 1.0),
        ("timeout = 2.5", "timeout", 2.5),
        ('on_failure = "extract"', "on_failure", OnFailure.EXTRACT),
        ('summarizer = "command"', "summarizer", SummarizerKind.COMMAND),
        ('model = "größer/模型:7b"', "model", "größer/模型:7b"),
        ('base_url = ""', "base_url", ""),
    ],
)
def test_files_hold_values_of_their_own_kind(resolved, text, name, value):
    settings, options, _ = resolved(project=text)
    found = {**settings, **options}
    assert found == {name: value}
    assert type(found[name]) is type(value)


@pytest.mark.parametrize(
    ("words", "number"), [("32000", 32_000), ("32_000", 32_000), (" 7 ", 7)], ids=["plain", "grouped", "blanks"]
)
def test_variables_are_text_and_mean_numbers(resolved, words, number):
    assert resolved(environment={"COMPACTOR_CONTEXT_WINDOW": words})[0] == {"context_window": number}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"project": "jobs = 2.5"}, "jobs is 2.5; it must be of type int"),
        ({"project": 'jobs = "many"'}, "jobs is 'many'; it must be of type int"),
        ({"project": "jobs = true"}, "jobs is True; it must be of type int"),
        ({"user": 'timeout = "soon"'}, "timeout is 'soon'; it must be of type float"),
        ({"user": "model = 5"}, "model is 5; it must be of type str"),
        ({"user": 'model = ["a"]'}, "model is ['a']; it must be of type str"),
        ({"project": "[jobs]\nmany = 3"}, "jobs is {'many': 3}; it must be of type int"),
        ({"project": 'stub = "long"'}, "stub is 'long'; it must be one of describe, plain"),
        ({"environment": {"COMPACTOR_JOBS": "1e3"}}, "jobs is '1e3'; it must be of type int"),
        ({"environment": {"COMPACTOR_ON_FAILURE": "DROP"}}, "on_failure is 'DROP'; it must be one of keep, drop"),
        ({"project": "jbos = 3"}, "compactor.toml: unknown key 'jbos'; known are base_url, "),
        ({"user": "trigger_mode = 'force'"}, "config.toml: unknown key 'trigger_mode'"),
        ({"project": "jobs = "}, "compactor.toml: Invalid value (at"),
        ({"project": "jobs = 1\njobs = 2"}, "compactor.toml: Cannot overwrite a value (at"),
    ],
)
def test_what_cannot_be_is_refused_with_a_reason(resolved, given, said):
    with pytest.raises(UsageError) as caught:
        resolved(**given)
    assert said in str(caught.value)
    assert caught.value.next_step


def test_a_file_that_is_no_text_is_named(tmp_path):
    path = tmp_path / "compactor.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match=r"compactor.toml: .*utf-8"):
        resolve({}, {}, path, tmp_path / "none")
    with pytest.raises(UsageError, match="Is a directory"):
        resolve({}, {}, tmp_path, tmp_path / "none")


def test_a_home_that_is_no_folder_holds_no_settings(tmp_path):
    assert resolve({}, {}, tmp_path / "none", Path("/dev/null/.config/compactor/config.toml"))[0] == {}


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("jobs", 0, "jobs is 0; give at least 1"),
        ("retries", -1, "at least 0"),
        ("timeout", 0.0, "at least 0.001"),
        ("rpm", -1, "rpm is -1; give at least 0"),
        ("price_in", -0.5, "price_in is -0.5; give at least 0"),
        ("price_out", float("nan"), "price_out is nan; give at least 0"),
        ("price_in", float("inf"), "price_in is inf; give at most 1,000,000,000"),
        ("summarizer_context", 3_000, "summarizer_context is 3000; give at least 3500"),
    ],
)
def test_numbers_that_cannot_work_are_refused(name, value, said):
    with pytest.raises(UsageError) as caught:
        Options(**{name: value})
    assert said in str(caught.value)


def test_every_option_has_a_reason_and_none_two_meanings():
    fields = [f for kind in (Settings, Options) for f in public(kind)]
    assert all(f.metadata["why"] for f in fields)
    assert len({f.name for f in fields}) == len(fields)


def test_the_users_file_is_where_the_desktop_says(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert user_file() == tmp_path / ".config/compactor/config.toml"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    assert user_file() == tmp_path / "xdg/compactor/config.toml"


def test_the_command_line_reads_all_four_places(tmp_path):
    """One place after the other is filled, from the weakest on; the trigger of a dry run tells which one holds."""
    config = tmp_path / "xdg" / "compactor"
    config.mkdir(parents=True)
    (tmp_path / "chat.jsonl").write_bytes(lined(talk(41)))

    def calls(*words, **env):
        ran = compactor(
            tmp_path, "compact", "chat.jsonl", "-n", "--json", *words, XDG_CONFIG_HOME=tmp_path / "xdg", **env
        )
        assert ran.code == 0, ran.said
        return ran.lines[0]["calls"]

    assert calls() == 0
    (config / "config.toml").write_text("context_window = 4000")
    assert calls() == 1
    (tmp_path / "compactor.toml").write_text("context_window = 9000")
    assert calls() == 0
    assert calls(COMPACTOR_CONTEXT_WINDOW="4000") == 1
    assert calls("--context-window", "9000", COMPACTOR_CONTEXT_WINDOW="4000") == 0


def test_the_command_line_refuses_an_unknown_key_before_it_does_anything(tmp_path):
    (tmp_path / "chat.jsonl").write_bytes(lined(talk(41)))
    (tmp_path / "compactor.toml").write_text("jobs = 2\nthreshhold = 0.3\n")
    ran = compactor(tmp_path, "compact", "chat.jsonl")
    assert (ran.code, ran.out) == (2, b"")
    assert ran.said.startswith("compactor: compactor.toml: unknown key 'threshhold'; known are ")


def test_the_published_schema_has_every_key_with_its_default_and_reason():
    schema = json.loads(files("compactor").joinpath("schemas/config.json").read_text(encoding="utf-8"))
    fields = [f for kind in (Settings, Options) for f in public(kind)]
    assert {f.name: (f.default, f.metadata["why"]) for f in fields} == {
        name: (key["default"], key["description"]) for name, key in schema["properties"].items()
    }
