"""Is every byte that a run takes out of a file had back, whatever was added in between?"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactor.archive import Frame, appended, grafted, history, in_full, restored
from compactor.errors import OutputError, StateError


@pytest.fixture
def path(tmp_path):
    """Where an archive is to be, beside a file that only its owner and group may read."""
    (tmp_path / "x").touch(mode=0o640)
    return tmp_path / "x.archive"


def append(path, *frames):
    with appended(path, path.with_suffix("")) as add:
        for frame in frames:
            add(frame)


def frames(path):
    return [frame for row in range(5) for frame in history(path)(row)]


lines = st.lists(st.sampled_from([b"a\n", b"b\n", b"long line\n", b"\n"]), max_size=6).map(b"".join)


@given(lines, lines, lines, lines, lines)
def test_a_file_that_grew_after_each_of_two_runs_is_had_back(head, middle, tail, added, later):
    first = Frame(0, head + middle + tail, head + b"handoff 1\n" + tail)
    grown = first.after + added
    second = Frame(0, grown, head + b"handoff 2\n" + added)
    if grafted(second.after + later, second.after, second.before) is None:
        return  # the tail of the first is not the end of the second
    assert restored(second.after + later, [first, second]) == head + middle + tail + added + later


def test_elements_added_within_a_row_are_found():
    frame = Frame(3, b'{"messages": [1, 2, 3, 4], "id": 7}\n', b'{"messages": ["h", 4], "id": 7}\n')
    assert (
        restored(b'{"messages": ["h", 4, 5, 6], "id": 7}\n', [frame]) == b'{"messages": [1, 2, 3, 4, 5, 6], "id": 7}\n'
    )


def test_a_run_that_was_stopped_before_it_replaced_the_file_has_no_effect():
    frame = Frame(0, b"1\n2\n3\n", b"h\n3\n")
    assert restored(b"1\n2\n3\n4\n", [frame]) == b"1\n2\n3\n4\n"


@pytest.mark.parametrize("now", [b"1\n2\n", b"1\n2\nfour\n", b"one\n2\n3\n4\n"], ids=["cut", "forked", "edited"])
def test_nor_has_it_where_the_file_was_edited_since(now):
    assert restored(now, [Frame(0, b"1\n2\n3\n", b"h\n3\n")]) == now


def test_what_was_archived_before_a_row_was_restored_is_of_the_past():
    past = [Frame(0, b"1\n2\n3\n", b"h\n3\n"), in_full(0)]
    assert restored(b"one\n2\n3\n", past) == b"one\n2\n3\n"
    assert restored(b"H\n3\n4\n", [*past, Frame(0, b"one\n2\n3\n", b"H\n3\n")]) == b"one\n2\n3\n4\n"


@pytest.mark.parametrize("now", [b"something else\n", b"", b"h\nedited\n", b"1\nh\n"])
def test_a_file_that_was_edited_is_not_guessed_at(now):
    assert restored(now, [Frame(0, b"1\n2\n", b"h\n2\n")]) is None


def test_frames_are_read_back_in_order(path):
    made = [Frame(n, bytes([n]) * 1000, b"after") for n in range(5)]
    append(path, *made[:3])
    append(path)
    append(path, *made[3:])
    assert frames(path) == made
    assert path.stat().st_mode & 0o777 == 0o640


def test_frames_of_a_row_are_found_by_it(path):
    made = [Frame(n % 2, bytes([n]), b"after") for n in range(5)]
    append(path, *made)
    assert history(path)(1) == made[1::2]


def test_where_nothing_was_taken_out_there_is_no_archive(path):
    append(path)
    assert not path.exists()
    assert history(path)(0) == []


@pytest.mark.parametrize("cut", [1, 2, 40, 100, 150, 180])
def test_a_frame_that_a_crash_cut_off_is_left_out_and_overwritten(path, cut):
    append(path, Frame(0, b"one" * 50, b"1"))
    whole = path.stat().st_size
    append(path, Frame(1, b"two" * 50, b"2"))
    size = max(path.stat().st_size - cut, whole)
    with path.open("r+b") as file:
        file.truncate(size)
    assert [f.row for f in frames(path)] == [0]
    append(path, Frame(2, b"three", b"3"))
    assert [f.row for f in frames(path)] == [0, 2]


@pytest.mark.parametrize("at", [3, 30, 100], ids=["its mark", "its digest", "its body"])
def test_a_damaged_archive_is_said(path, at):
    append(path, Frame(0, b"one" * 50, b"1"), Frame(1, b"two" * 50, b"1"))
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)
    with pytest.raises(StateError, match="damaged"):
        history(path)


@pytest.mark.parametrize("content", [b"my own file, not yours", b"a line\n" * 50, b"\0" * 500])
def test_what_is_no_archive_is_never_written_over(path, content):
    path.write_bytes(content)
    with pytest.raises(StateError, match="damaged"):
        append(path, Frame(0, b"one", b"1"))
    assert path.read_bytes() == content


def test_an_archive_that_cannot_be_written_is_said(tmp_path, path):
    with pytest.raises(OutputError, match="cannot be written"):
        append(tmp_path / "none" / "x.archive", Frame(0, b"", b""))
    path.mkdir()
    with pytest.raises(OutputError, match="cannot be written"):
        append(path, Frame(0, b"", b""))
