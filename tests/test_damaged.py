"""Is what is left of a damaged file read and compacted, and is the damage told? Real files, and our own samples."""

import json
import re
from io import BytesIO

import pytest

from compactor.core.messages import Kept, groups
from compactor.core.verify import broken
from compactor.errors import InputError
from compactor.formats import rows
from tests.formats_table import FOLDER, files
from tests.samples import samples
from tests.test_format_laws import compacted

TURNS = 6  # of a sample: enough for a middle
ROWS = 3  # of a file with thousands of conversations
LARGE = 600_000  # bytes; of a larger file only its beginning is damaged, which keeps the suite quick

CALL = re.compile(
    rb'"(?:tool_use|tool_calls|functionCall|function_call|toolCall|toolCalls|ActionEvent|custom_tool_call)"'
)
GARBAGE = b'{"type": garbage\n'


def whole_lines(content):
    """The lines of a file up to LARGE bytes, at least two."""
    lines, size = [], 0
    for line in content.splitlines(keepends=True):
        if len(lines) > 1 and size + len(line) > LARGE:
            break
        lines.append(line)
        size += len(line)
    return lines


def cases():
    """(name, lines): real files of lines that some format reads, and the samples of the project."""
    for path in files(FOLDER) if FOLDER.is_dir() else ():
        lines = whole_lines(path.read_bytes())
        if len(lines) > 1 and _known(b"".join(lines)):
            yield str(path.relative_to(FOLDER)), lines
    for sample in samples():
        yield f"{sample.form}:{sample.file}", sample.long(TURNS).splitlines(keepends=True)


def _known(content):
    try:
        return _is_lines(content) and bool(read(content))
    except InputError:
        return False


def _is_lines(content):
    """Tell whether the first line is a JSON value of its own."""
    try:
        return bool(json.loads(content.split(b"\n", 1)[0]))
    except ValueError:
        return False


def read(content):
    return list(rows(BytesIO(content), "damaged.jsonl"))


CASES = dict(cases())
EVERY = pytest.mark.parametrize("name", CASES)
LINES = pytest.mark.parametrize("name", [name for name, lines in CASES.items() if _is_lines(lines[0])])


def messages(found):
    return sum(len(row.conversation.messages) for row in found if row.conversation)


def first_call(lines):
    """The line of a call whose result stands in another."""
    return next((n for n, line in enumerate(lines) if n and CALL.search(line)), 0)


def sound(damaged):
    """Read damaged bytes: nothing is lost, everything is written as it came, and what is compacted keeps the laws."""
    found = read(damaged)
    assert b"".join(row.raw for row in found) == damaged
    for row in found[:ROWS]:
        if row.conversation is None:
            continue
        assert row.render([Kept(n) for n in range(len(row.conversation.messages))]) == row.raw
        done = compacted(row)
        assert done.report.outcome != "failed", done.report
        if done.report.outcome in ("pruned", "summarised"):
            again = row.read_back(done.content)
            assert not broken(again, [Kept(n) for n in range(len(again.messages))])
            for group in groups(again.messages):
                torn = not again.gaps.isdisjoint(range(group.start - 1, group.stop))
                assert torn or not group.orphans
    return found


@EVERY
@pytest.mark.parametrize("damage", ["bom", "crlf"])
def test_what_changes_no_word_changes_no_message(name, damage):
    content = b"".join(CASES[name])
    damaged = b"\xef\xbb\xbf" + content if damage == "bom" else content.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    before, found = read(content), sound(damaged)
    assert [row.format.name for row in found] == [row.format.name for row in before]
    assert messages(found) == messages(before)
    assert sum(len(row.faults) for row in found) == sum(len(row.faults) for row in before)


@LINES
def test_a_cut_end_is_told_and_the_rest_is_read(name):
    *lines, last = [line for line in CASES[name] if line.strip()]
    if not lines:
        pytest.skip("one line that is cut off is no JSON at all")
    damaged = b"".join(lines) + last.rstrip()[:-3]
    before, found = read(b"".join(lines)), sound(damaged)
    told = [fault.what for row in found for fault in row.faults if f"damaged.jsonl:{len(lines) + 1}" in fault.where]
    assert len(told) == 1
    assert "cut off" in told[0] or "not JSON" in told[0]
    assert messages(found) == messages(before)


@LINES
def test_garbage_is_told_and_stays(name):
    lines = CASES[name]
    middle = max(1, len(lines) // 2)
    damaged = b"".join([*lines[:middle], GARBAGE, *lines[middle:]])
    found = sound(damaged)
    faults = [fault for row in found for fault in row.faults if f"damaged.jsonl:{middle + 1}" in fault.where]
    assert [fault.what for fault in faults] == ["column 10: not JSON (expecting value)"]
    assert messages(found) == messages(read(b"".join(lines)))


@LINES
def test_glued_lines_are_two(name):
    lines = list(CASES[name])
    middle = len(lines) // 2
    if not middle:
        pytest.skip("there is one line")
    lines[middle - 1] = lines[middle - 1].rstrip(b"\r\n")
    assert messages(sound(b"".join(lines))) == messages(read(b"".join(CASES[name])))


@LINES
@pytest.mark.parametrize("damage", ["begins after a call", "without a call", "without a link"])
def test_what_has_lost_its_partner_is_not_written_alone(name, damage):
    lines = CASES[name]
    call, middle = first_call(lines), len(lines) // 2
    if not (call and middle):
        pytest.skip("no line has a call without its result")
    damaged = {
        "begins after a call": [lines[0], *lines[call + 1 :]],
        "without a call": [*lines[:call], *lines[call + 1 :]],
        "without a link": [*lines[:middle], *lines[middle + 1 :]],
    }[damage]
    assert sound(b"".join(damaged))


@EVERY
def test_a_conversation_of_one_record_without_its_first_call_is_sound(name):
    """Whole conversations in one record: the call is taken out of the longest list of turns."""
    value = next((v for line in CASES[name] if len(v := _turns(line)[1]) > 1), None)
    if value is None:
        pytest.skip("no record holds a conversation")
    record, turns = _turns(next(line for line in CASES[name] if _turns(line)[1] == value))
    call = next((n for n, turn in enumerate(turns) if CALL.search(json.dumps(turn).encode())), None)
    if call is None:
        pytest.skip("there is no call")
    del turns[call]
    assert sound(json.dumps(record).encode() + b"\n")


def _turns(line):
    """A record, and the longest list of objects that stands in it."""
    try:
        record = json.loads(line)
    except ValueError:
        return None, []
    lists = record.values() if isinstance(record, dict) else ()
    found = [v for v in lists if isinstance(v, list) and len(v) > 1 and all(isinstance(turn, dict) for turn in v)]
    return record, max(found, key=len, default=[])
