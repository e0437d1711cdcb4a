"""Do bytes come in whole or with a clear error, and go out whole or not at all?"""

import gzip
import io
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from compactor.errors import InputError, OutputError
from compactor.files import GZIP_MAGIC, ZSTD_MAGIC, atomic, lines

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

TEXT = b'{"role": "user"}\n{"role": "assistant"}\r\n\n{"last": "without a newline"}'
as_root = pytest.mark.skipif(os.geteuid() == 0, reason="permissions do not bind the superuser")


def in_folder(folder):
    return sorted(p.name for p in folder.iterdir())


# Reading


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstd.compress], ids=["plain", "gzip", "zstd"])
@pytest.mark.parametrize(
    "content", [TEXT, b"", b"\n", b"{}", b"ab\ncd", b"x" * 3_000_000 + b"\ny\n"], ids=lambda c: c[:9]
)
def test_lines_keep_their_ends_however_they_are_packed(tmp_path, pack, content):
    path = tmp_path / "any.name"
    path.write_bytes(pack(content))
    assert list(lines(path)) == list(io.BytesIO(content))
    assert list(lines(io.BytesIO(pack(content)))) == list(io.BytesIO(content))


@given(st.lists(st.binary(max_size=20), max_size=4), st.sampled_from([bytes, gzip.compress, zstd.compress]))
def test_members_that_follow_one_another_are_one_file(parts, pack):
    packed = b"".join(pack(part) for part in parts)
    assume(pack is not bytes or not packed.startswith((GZIP_MAGIC, ZSTD_MAGIC)))
    assert b"".join(lines(io.BytesIO(packed))) == b"".join(parts)


def test_a_pipe_is_read_as_it_comes():
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as source, os.fdopen(writing, "wb", 0) as sink:
        found = lines(source)
        sink.write(b'{"a')
        threading.Timer(0.05, sink.write, [b'": 1}\n']).start()
        assert next(found) == b'{"a": 1}\n'  # although the writer has not closed it
        del found


@pytest.mark.parametrize("pack", [gzip.compress, zstd.compress], ids=["gzip", "zstd"])
def test_compressed_input_that_is_cut_off_is_an_error(tmp_path, pack):
    path = tmp_path / "chat.jsonl.gz"
    path.write_bytes(pack(os.urandom(5_000))[:-9])
    with pytest.raises(InputError, match=r"chat\.jsonl\.gz: the compressed data is cut off; copy or compress it again"):
        list(lines(path))


@pytest.mark.parametrize(
    "content",
    [gzip.compress(TEXT, mtime=0) + b"rubbish", b"\x1f\x8b" + b"x" * 30, b"\x28\xb5\x2f\xfd" + b"x" * 30],
    ids=["what follows", "gzip", "zstd"],
)
def test_compressed_input_that_is_damaged_is_an_error(content):
    with pytest.raises(InputError, match=r"^standard input: the compressed data is damaged \(.+\); copy or compress"):
        list(lines(io.BytesIO(content)))


def test_a_missing_file(tmp_path):
    with pytest.raises(InputError, match=r"none\.jsonl: does not exist; check the path$"):
        list(lines(tmp_path / "none.jsonl"))


def test_a_directory(tmp_path):
    with pytest.raises(InputError, match=r": is a directory; name the files in it, for example DIR/\*\.jsonl$"):
        list(lines(tmp_path))


@as_root
def test_a_file_without_permission(tmp_path):
    path = tmp_path / "chat.jsonl"
    path.touch(0o000)
    with pytest.raises(InputError, match=r"chat\.jsonl: may not be read; check its permissions$"):
        list(lines(path))


def test_other_failures_are_named(tmp_path):
    path = tmp_path / "loop"
    path.symlink_to(path)
    with pytest.raises(InputError, match=r"loop: cannot be read \(Too many levels of symbolic links\)$"):
        list(lines(path))


def test_a_reader_that_stops_early_leaves_nothing_open(tmp_path):
    for pack in (bytes, gzip.compress, zstd.compress):
        (tmp_path / "chat").write_bytes(pack(TEXT))
        assert next(lines(tmp_path / "chat")) == b'{"role": "user"}\n'  # a ResourceWarning would be an error


# Writing


@pytest.mark.parametrize("name", ["chat.jsonl", "chat.jsonl.gz", "chat.jsonl.zst"])
def test_what_is_written_is_read_again(tmp_path, name):
    path = tmp_path / name
    with atomic(path) as file:
        file.write(TEXT)
        assert not path.exists()
    assert b"".join(lines(path)) == TEXT
    assert in_folder(tmp_path) == [name]
    assert path.read_bytes().startswith({".gz": b"\x1f\x8b", ".zst": b"\x28\xb5\x2f\xfd"}.get(path.suffix, TEXT))


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_the_same_content_gives_the_same_bytes_under_any_name(tmp_path, suffix):
    for stem in ("a", "b"):
        with atomic(tmp_path / (stem + suffix)) as file:
            file.write(TEXT)
    first, second = tmp_path / f"a{suffix}", tmp_path / f"b{suffix}"
    assert first.read_bytes() == second.read_bytes()
    if suffix == ".gz":
        assert first.read_bytes()[3:8] == b"\0\0\0\0\0"  # neither a name nor a time in the header


@pytest.mark.parametrize("name", ["chat.jsonl", "chat.jsonl.gz", "chat.jsonl.zst"])
@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt, SystemExit, OSError])
def test_a_failure_under_way_leaves_the_target_alone(tmp_path, name, failure):
    path = tmp_path / name
    path.write_bytes(b"old")

    def write_and_fail():
        with atomic(path) as file:
            file.write(TEXT)
            raise failure

    with pytest.raises(failure):
        write_and_fail()
    assert path.read_bytes() == b"old"
    assert in_folder(tmp_path) == [name]


def test_killed_under_way_leaves_the_target_alone(tmp_path):
    path = tmp_path / "chat.jsonl"
    path.write_bytes(b"old")
    code = """
import os, pathlib, signal, sys
from compactor.files import atomic
with atomic(pathlib.Path(sys.argv[1])) as file:
    file.write(b"new" * 1_000_000)
    os.kill(os.getpid(), signal.SIGKILL)
"""
    subprocess.run([sys.executable, "-c", code, path], check=False)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.glob("*.jsonl")) == [path]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o755])
def test_mode_bits_of_the_replaced_file_stay(tmp_path, mode):
    path = tmp_path / "chat.jsonl"
    path.touch()
    path.chmod(mode)
    with atomic(path, like=tmp_path) as file:
        file.write(b"new")
    assert path.stat().st_mode & 0o7777 == mode
    assert path.read_bytes() == b"new"


def test_a_new_file_is_like_its_model_or_as_the_umask_says(tmp_path):
    model = tmp_path / "model"
    model.touch()
    model.chmod(0o600)
    old = os.umask(0o027)
    try:
        for name, like in (("a", model), ("b", None), ("c", tmp_path / "missing")):
            with atomic(tmp_path / name, like=like):
                pass
    finally:
        os.umask(old)
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in "abc"] == [0o600, 0o640, 0o640]


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser may give a file away")
def test_the_owner_of_the_replaced_file_stays(tmp_path):
    path = tmp_path / "chat.jsonl"
    path.touch()
    os.chown(path, 12345, 23456)
    with atomic(path):
        pass
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 23456)


def test_a_private_file_is_private_while_it_is_written(tmp_path):
    path = tmp_path / "chat.jsonl"
    path.touch()
    path.chmod(0o600)
    with atomic(path):
        assert [p.stat().st_mode & 0o777 for p in tmp_path.iterdir()] == [0o600, 0o600]


@pytest.mark.parametrize("exists", [True, False])
def test_a_symbolic_link_is_followed(tmp_path, exists):
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "chat.jsonl", tmp_path / "link.jsonl"
    link.symlink_to(Path("real", "chat.jsonl"))
    if exists:
        target.write_bytes(b"old")
    with atomic(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert in_folder(tmp_path / "real") == ["chat.jsonl"]


def test_the_longest_name_fits(tmp_path):
    path = tmp_path / ("ü" * 124 + ".jsonl")
    with atomic(path) as file:
        file.write(b"new")
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("none/chat.jsonl", r"cannot be written \(No such file or directory\); create the directory first$"),
        ("file/chat.jsonl", r"cannot be written \(Not a directory\); part of the path is a file: choose another$"),
        ("folder", r"cannot be replaced, it is a directory; name a file, or use standard output$"),
        ("pipe", r"cannot be replaced, it is not a regular file; name a file, or use standard output$"),
        ("x" * 300, r"cannot be written \(File name too long\); choose a shorter name$"),
    ],
)
def test_where_nothing_can_be_written(tmp_path, place, told):
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    before = in_folder(tmp_path)
    with pytest.raises(OutputError, match=told) as caught, atomic(tmp_path / place):
        pytest.fail("nothing can be written here")
    assert str(caught.value).startswith(str(tmp_path / place))
    assert in_folder(tmp_path) == before


@as_root
def test_a_folder_without_permission(tmp_path):
    tmp_path.chmod(0o500)
    with (
        pytest.raises(OutputError, match=r"Permission denied.*choose a directory that you may write to"),
        atomic(tmp_path / "a"),
    ):
        pytest.fail("nothing can be written here")


@pytest.mark.parametrize("name", ["chat.jsonl", "chat.jsonl.gz", "chat.jsonl.zst"])
def test_no_room_leaves_the_target_alone_and_says_so(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"old")
    code = """
import os, pathlib, resource, sys
from compactor.errors import OutputError
from compactor.files import atomic
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    with atomic(pathlib.Path(sys.argv[1])) as file:
        for _ in range(100):
            file.write(os.urandom(100_000))
except OutputError as error:
    print(error)
"""
    run = subprocess.run([sys.executable, "-c", code, path], check=True, capture_output=True, text=True)
    assert (
        run.stdout
        == f"{path}: cannot be written (File too large); raise the limit on file sizes, or write somewhere else\n"
    )
    assert run.stderr == ""
    assert path.read_bytes() == b"old"
    assert in_folder(tmp_path) == [name]
