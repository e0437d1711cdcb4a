"""Which files become jobs, where do their results and sidecars go, and what makes no sense?"""

import io
import os
from pathlib import Path

import pytest

from compactor.errors import CompactorError, OutputError, UsageError
from compactor.formats.convert import Target
from compactor.job import Act, Found
from compactor.jobs import STDIN, Places, jobs_of

PIPE = io.StringIO()


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A working directory with three files, two of them in a folder of their own."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "logs" / "deep").mkdir(parents=True)
    for name in ("a.jsonl", "logs/b.jsonl", "logs/deep/c.jsonl.gz"):
        (tmp_path / name).write_bytes(b"{}\n")
    return tmp_path


def jobs(*sources, act=Act.COMPACT, stdin=PIPE, **places):
    given = {"output": None, "in_place": False, "state": None, "state_dir": None, **places}
    for name in ("state", "state_dir"):
        given[name] = Path(given[name]) if given[name] else None
    return jobs_of([Path(source) for source in sources], Places(act=act, **given), stdin)


def told(found):
    """Each job as source, target and sidecar; "-" stands for a stream, and for nothing."""
    return [tuple(str(path or "-") for path in (job.source, job.target, job.state)) for job in found]


@pytest.mark.parametrize(
    ("sources", "places", "expected"),
    [
        ((), {}, [("-", "-", "-")]),
        (("-",), {"state": "s"}, [("-", "-", "s")]),
        (("-",), {"output": "logs"}, [("-", "logs/stdin.jsonl", "-")]),
        (("-",), {"output": "x.jsonl"}, [("-", "x.jsonl", "-")]),
        (("a.jsonl",), {}, [("a.jsonl", "-", "a.jsonl.state")]),
        (("a.jsonl",), {"output": "x.jsonl"}, [("a.jsonl", "x.jsonl", "a.jsonl.state")]),
        (("a.jsonl",), {"output": "logs"}, [("a.jsonl", "logs/a.jsonl", "a.jsonl.state")]),
        (("a.jsonl",), {"output": "new/"}, [("a.jsonl", "new/a.jsonl", "a.jsonl.state")]),
        (("a.jsonl",), {"in_place": True}, [("a.jsonl", "a.jsonl", "a.jsonl.state")]),
        (("a.jsonl",), {"state": "x/y"}, [("a.jsonl", "-", "x/y")]),
        (("a.jsonl",), {"state_dir": "x"}, [("a.jsonl", "-", "x/a.jsonl.state")]),
        (("a.jsonl",), {"output": "x", "act": Act.PLAN}, [("a.jsonl", "-", "a.jsonl.state")]),
        (("a.jsonl",), {"in_place": True, "act": Act.PLAN}, [("a.jsonl", "-", "a.jsonl.state")]),
        (
            ("a.jsonl", "logs/b.jsonl"),
            {"output": "out"},
            [("a.jsonl", "out/a.jsonl", "a.jsonl.state"), ("logs/b.jsonl", "out/b.jsonl", "logs/b.jsonl.state")],
        ),
        (
            ("logs",),
            {"output": "out", "state_dir": "st"},
            [
                ("logs/b.jsonl", "out/b.jsonl", "st/b.jsonl.state"),
                ("logs/deep/c.jsonl.gz", "out/deep/c.jsonl.gz", "st/deep/c.jsonl.gz.state"),
            ],
        ),
        (("logs",), {"output": "out", "include": ("*.gz",)}, [
            ("logs/deep/c.jsonl.gz", "out/deep/c.jsonl.gz", "logs/deep/c.jsonl.gz.state"),
        ]),
        (("logs",), {"in_place": True, "exclude": ("deep/*",)}, [
            ("logs/b.jsonl", "logs/b.jsonl", "logs/b.jsonl.state"),
        ]),
    ],
)  # fmt: skip
def test_results_and_sidecars_have_their_places(sources, places, expected):
    assert told(jobs(*sources, **places)) == expected


def test_a_folder_is_made_for_results_and_none_for_a_dry_run(folder):
    jobs("a.jsonl", output="one/two/", act=Act.PLAN)
    assert not (folder / "one").exists()
    jobs("a.jsonl", output="one/two/")
    assert (folder / "one" / "two").is_dir()


def test_what_was_named_and_what_was_found_are_told_apart(folder):
    found = jobs("a.jsonl", "logs", act=Act.PLAN)
    assert [job.how for job in found] == [Found.NAMED, Found.WALKED, Found.WALKED]


def test_a_pipe_with_a_name_has_no_sidecar_beside_it(folder):
    os.mkfifo(folder / "pipe")
    assert told(jobs("pipe")) == [("pipe", "-", "-")]
    assert told(jobs("pipe", state="s")) == [("pipe", "-", "s")]


@pytest.mark.parametrize(
    ("sources", "places", "said"),
    [
        (("a.jsonl", "logs/b.jsonl"), {}, "2 inputs and no place for the results; give -o DIR, or -i, or -n"),
        (
            ("a.jsonl", "logs/b.jsonl"),
            {"output": "a.jsonl"},
            "a.jsonl is a file, but there are 2 inputs; name a folder",
        ),
        (("a.jsonl", "logs/b.jsonl"), {"in_place": True, "state": "x"}, "--state names the sidecar of one input; give"),
        (("a.jsonl", "./a.jsonl"), {"in_place": True}, "an input is named twice"),
        (("-", "-"), {"act": Act.PLAN}, "an input is named twice"),
        (("a.jsonl", "logs/../a.jsonl"), {"output": "out"}, "two inputs are called a.jsonl"),
        (("a.jsonl",), {"in_place": True, "output": "x"}, "--in-place replaces named files; leave out --output"),
        ((), {"in_place": True}, "--in-place replaces named files"),
        (("-",), {"in_place": True}, "--in-place replaces named files"),
        (("a.jsonl",), {"in_place": True, "to": Target.ANTHROPIC}, "--in-place keeps the format of a file"),
        (("a.jsonl",), {"output": "a.jsonl"}, "a.jsonl is also the input; give -i to replace it"),
        (("a.jsonl",), {"output": "."}, "a.jsonl is also the input"),
        (("a.jsonl",), {"output": "logs/../a.jsonl"}, "is also the input"),
        (("a.jsonl",), {"output": "x", "state": "./x"}, "x is to hold the result and the sidecar; name two files"),
        (("logs",), {"output": "out", "include": ("*.txt",)}, "no transcripts below logs; see --include and --exclude"),
    ],
)
def test_what_makes_no_sense_is_said_with_a_way_out(sources, places, said):
    with pytest.raises(UsageError) as caught:
        jobs(*sources, **places)
    assert said in str(caught.value)
    assert caught.value.next_step


@pytest.mark.parametrize("stdin", [Terminal(), None], ids=["a terminal", "closed"])
@pytest.mark.parametrize("sources", [(), ("-",)], ids=["nothing", "-"])
def test_nobody_is_left_waiting_for_input_that_cannot_come(stdin, sources):
    with pytest.raises(UsageError, match="no input; name a file, or pipe one in"):
        jobs(*sources, stdin=stdin)


def test_a_terminal_is_no_trouble_if_a_file_is_named():
    assert told(jobs("a.jsonl", stdin=Terminal())) == [("a.jsonl", "-", "a.jsonl.state")]


def test_a_folder_that_cannot_be_made_is_said(folder):
    with pytest.raises(
        OutputError, match=r"a.jsonl/x/: cannot be made a folder \(Not a directory\); name another with -o"
    ):
        jobs("logs/b.jsonl", output="a.jsonl/x/")


def test_links_to_one_file_are_one_input(folder):
    (folder / "link.jsonl").symlink_to("a.jsonl")
    with pytest.raises(CompactorError, match="an input is named twice"):
        jobs("a.jsonl", "link.jsonl", in_place=True)


def test_standard_input_has_a_name():
    assert STDIN.name == "-"
    assert jobs()[0].name == "stdin"
