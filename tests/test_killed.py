"""Is anything lost when a run in place is killed, or fails, where it touches the disk? kill_matrix has the table."""

import errno
import signal

import pytest

from tests.kill_matrix import endings


@pytest.mark.parametrize("generations", [0, 1])
@pytest.mark.parametrize("step", [8, 10, 11, 13, 14, 17])
def test_killed_at_a_step_the_next_run_comes_to_the_same_end(step, generations):
    (ending,) = endings(generations, steps=[step])
    assert ending.code == -signal.SIGKILL
    assert not ending.wrong
    if ending.transcript == "new":
        assert ending.archive == "new"  # what it takes out is kept before it is taken out


@pytest.mark.parametrize("step", [9, 11, 13])
@pytest.mark.parametrize("error", [errno.EIO, errno.ENOSPC], ids=errno.errorcode.get)
def test_a_disk_that_fails_is_told_and_nothing_is_lost(step, error):
    (ending,) = endings(1, error, steps=[step])
    assert ending.code == 2
    assert not ending.wrong
