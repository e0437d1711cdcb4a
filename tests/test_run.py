"""Does a whole run keep its order, its files and its promises, however many conversations are in flight?"""

import gzip
import json
import os
import resource
import stat
import subprocess
import sys

import pytest

from compactor.core.report import Outcome, Report
from compactor.ending import Ending
from compactor.errors import InputError
from tests.running import PROGRAM, SMALL, ask, compact, entries, environment, handoffs, lined, row, talk
from tests.standin import Standin

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

LONG, SHORT = lined(talk(41)), lined(talk(9))


def many():
    """Eight rows: three conversations that are long enough, each twice, and two short ones."""
    long = [row(talk(41, topic=topic)) for topic in ("pump", "crane", "dyke")]
    return b"".join([*long, row(talk(5)), *reversed(long), row(talk(9, topic="crane"))])


def by_row(content):
    return [json.loads(line)["messages"] for line in content.splitlines()]


# Order, and calls in flight.


def test_jobs_never_change_bytes(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(many())
    runs = []
    for jobs in ("1", "8"):
        with Standin() as endpoint:
            ran = compact(tmp_path, path, "--state", f"{jobs}.state", "-j", jobs, *ask(endpoint))
            assert endpoint.hits == 6
        assert ran.code == 0
        again = compact(tmp_path, path, "--state", f"{jobs}.state", "-j", jobs, *ask(endpoint))
        assert again.out == ran.out
        runs.append((ran.out, entries(tmp_path / f"{jobs}.state").keys()))
    assert runs[0] == runs[1]
    assert len(runs[0][1]) == 6


def test_rows_leave_in_their_order_although_the_first_summary_is_the_last_to_come(tmp_path):
    path = tmp_path / "rows.jsonl"
    topics = ["pump", "crane", "dyke", "lock"]
    path.write_bytes(b"".join(row(talk(41, topic=topic)) for topic in topics))
    with Standin("slow:1,good") as endpoint:
        ran = compact(tmp_path, path, *ask(endpoint), "-v")
    assert [f"keep the {topic} " in m[0]["content"] for topic, m in zip(topics, by_row(ran.out), strict=True)] == [
        True
    ] * 4
    assert [line.partition(": ")[0] for line in ran.said.splitlines()[:4]] == [f"{path}:{n}" for n in (1, 2, 3, 4)]


def test_no_more_calls_than_jobs_are_in_flight(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"".join(row(talk(41, topic=f"pump{n}")) for n in range(6)))
    with Standin("slow:0.3") as endpoint:
        assert compact(tmp_path, path, *ask(endpoint), "-j", "2").code == 0
    begun = [one.time for one in endpoint.asks]
    assert all(later - earlier >= 0.29 for earlier, later in zip(begun, begun[2:], strict=False))


def test_more_rows_than_are_held_at_once(tmp_path):
    path = tmp_path / "rows.jsonl"
    content = b"".join(row(talk(3), id=n) for n in range(300))
    path.write_bytes(content + row(talk(41), id=300))
    ran = compact(tmp_path, path)
    assert ran.out.startswith(content)
    assert len(handoffs(ran.lines[300]["messages"])) == 1
    assert "301 conversations: 300 untouched, 1 summarised" in ran.said


def test_reports_come_in_the_order_of_the_inputs(tmp_path):
    names = [f"{n}.jsonl" for n in (3, 1, 2, 5, 4, 6)]
    for name in names:
        (tmp_path / name).write_bytes(lined(talk(41 if name in ("3.jsonl", "5.jsonl") else 3, topic=name)))
    ran = compact(tmp_path, *names, "-n", "--json")
    assert [line["name"] for line in ran.lines[:-1]] == names
    with Standin("slow:0.5,good") as endpoint:
        ran = compact(tmp_path, *names, "-o", "out/", "--json", *ask(endpoint))
    assert [line["name"] for line in ran.lines[:-1]] == names


def test_one_file_that_cannot_be_done_leaves_the_others_alone(tmp_path):
    (tmp_path / "good.jsonl").write_bytes(LONG)
    (tmp_path / "locked.jsonl").write_bytes(LONG)
    (tmp_path / "locked.jsonl.state").mkdir()
    ran = compact(tmp_path, "locked.jsonl", "good.jsonl", "-i")
    assert ran.code == 2
    assert "locked.jsonl.state: cannot be read (Is a directory)" in ran.said
    assert (tmp_path / "locked.jsonl").read_bytes() == LONG
    assert len((tmp_path / "good.jsonl").read_bytes()) < len(LONG)


def test_nothing_is_paid_for_if_the_sidecar_could_not_be_written(tmp_path):
    (tmp_path / "long.jsonl").write_bytes(LONG)
    with Standin() as endpoint:
        ran = compact(tmp_path, "long.jsonl", "--state", "long.jsonl/x.state", *ask(endpoint))
        assert endpoint.hits == 0
    assert (ran.code, ran.out) == (2, b"")


# Compressed files.


@pytest.mark.parametrize(
    ("ending", "pack", "unpack"),
    [("gz", gzip.compress, gzip.decompress), ("zst", zstd.compress, zstd.decompress)],
    ids=["gzip", "zstd"],
)
def test_compressed_files_are_read_and_written_by_their_ending(tmp_path, ending, pack, unpack):
    plain = tmp_path / "plain.jsonl"
    plain.write_bytes(LONG)
    expected = compact(tmp_path, plain).out
    packed = tmp_path / f"log.jsonl.{ending}"
    packed.write_bytes(pack(LONG))
    assert compact(tmp_path, packed).out == expected
    assert compact(tmp_path, stdin=pack(LONG)).out == expected
    assert compact(tmp_path, plain, "-o", f"out.jsonl.{ending}").code == 0
    assert unpack((tmp_path / f"out.jsonl.{ending}").read_bytes()) == expected
    assert compact(tmp_path, packed, "-i").code == 0
    assert unpack(packed.read_bytes()) == expected


# What happens to files.


@pytest.mark.parametrize("content", [SHORT, gzip.compress(SHORT, 1), b"", b"\n", b"oops\n" + SHORT])
def test_in_place_a_file_in_which_nothing_changes_is_not_written(tmp_path, content):
    path = tmp_path / ("log.jsonl.gz" if content.startswith(b"\x1f") else "log.jsonl")
    path.write_bytes(content)
    os.utime(path, (1, 1))
    before = path.stat()
    assert compact(tmp_path, path, "-i").code == (1 if b"oops" in content else 0)
    assert path.read_bytes() == content
    assert (path.stat().st_ino, path.stat().st_mtime) == (before.st_ino, 1)


def test_mode_bits_stay_and_the_sidecar_lets_nobody_else_in(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(LONG)
    path.chmod(0o640)
    compact(tmp_path, path, "-o", "out.jsonl")
    compact(tmp_path, path, "-i")
    for name in ("log.jsonl", "out.jsonl", "log.jsonl.state"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o640, name


def test_a_link_stays_one_and_its_target_is_replaced(tmp_path):
    real, link = tmp_path / "real.jsonl", tmp_path / "link.jsonl"
    real.write_bytes(LONG)
    link.symlink_to(real)
    assert compact(tmp_path, link, "-i").code == 0
    assert link.is_symlink()
    assert len(real.read_bytes()) < len(LONG)
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "link.jsonl",
        "link.jsonl.archive",
        "link.jsonl.state",
        "real.jsonl",
    ]


@pytest.mark.parametrize(
    ("words", "made"),
    [
        (("-o", "out.jsonl", "--threshold", "1.0"), []),
        (("-i",), ["log.jsonl.state"]),
    ],
    ids=["for the result", "for the sidecar"],
)
def test_without_space_the_old_files_stay_and_nothing_is_half_written(tmp_path, words, made):
    path = tmp_path / "log.jsonl"
    path.write_bytes(LONG * 20)
    done = subprocess.run(
        [*PROGRAM, "compact", *SMALL, "log.jsonl", *words],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2_048, 2_048)),
    )
    said = done.stderr.decode()
    assert "Traceback" not in said
    assert path.read_bytes() == LONG * 20
    assert sorted(p.name for p in tmp_path.iterdir()) == ["log.jsonl", *made]
    assert [(tmp_path / name).read_bytes() for name in made] == [b""] * len(made)
    assert done.returncode == 2
    assert "cannot be written (" in said


def test_a_runtime_folder_that_is_gone_is_no_trouble(tmp_path):
    (tmp_path / "log.jsonl").write_bytes(LONG)
    ran = compact(tmp_path, "log.jsonl", "-i", XDG_RUNTIME_DIR="/run/user/none")
    assert ran.code == 0, ran.said


def test_a_row_keeps_everything_beside_its_messages(tmp_path):
    content = b'{"id": 1.50, "messages": ' + json.dumps(talk(41)).encode() + b', "\\u0061": [1e3, {"x":NaN}]}\n'
    ran = compact(tmp_path, stdin=content)
    assert ran.code == 0
    assert ran.out.startswith(b'{"id": 1.50, "messages": [' + json.dumps(talk(1)[0]).encode())
    assert ran.out.endswith(b'], "\\u0061": [1e3, {"x":NaN}]}\n')


# How it ended.


def report(outcome=Outcome.UNTOUCHED, **more):
    return Report("x", outcome, **more)


@pytest.mark.parametrize(
    ("ending", "code"),
    [
        (Ending(), 0),
        (Ending({"a": [report(), report(Outcome.SUMMARISED), report(Outcome.REUSED), report(Outcome.PRUNED)]}), 0),
        (Ending({"a": [report(), report(Outcome.FAILED)]}), 1),
        (Ending({"a": [report()], "b": [report(Outcome.UNREADABLE)]}), 1),
        (Ending({"a": [report(faults=("x:1: $.content: 5",))]}), 1),
        (Ending({"a": []}, [InputError("gone")]), 2),
        (Ending({"a": [report(Outcome.FAILED)]}, [InputError("gone")]), 2),
        (Ending({"a": [report(Outcome.FAILED)]}, unavailable=True), 3),
        (Ending({"a": [report(Outcome.SUMMARISED)]}, unavailable=True), 0),  # the offline summarizer stood in
        (Ending({"a": [report(Outcome.FAILED)]}, [InputError("gone")], interrupted=True, unavailable=True), 130),
    ],
)
def test_the_exit_code_says_how_it_ended(ending, code):
    assert ending.exit_code == code
