"""Is no conversation summarised twice when a large run is killed? tests.counting_run does it with as many as asked."""

import pytest

from tests.counting_run import counted

ROWS = 60


@pytest.mark.parametrize("in_place", [False, True], ids=["elsewhere", "in place"])
def test_a_killed_run_goes_on_with_what_it_has_not_finished(tmp_path, in_place):
    found = counted(tmp_path, ROWS, in_place)
    assert found.wrong == ()
    assert found.calls <= ROWS + 4
    assert found.finished >= 0.6 * ROWS
