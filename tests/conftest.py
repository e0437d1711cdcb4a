"""What does every test find around it? The same examples each run, and nothing of whoever runs them."""

import os

import hypothesis
import pytest

# The same examples every time, however slow the machine: a red run means a change in the code, never luck.
hypothesis.settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
hypothesis.settings.load_profile("ci")


@pytest.fixture(autouse=True, scope="session")
def nobody(tmp_path_factory):
    """Take away the settings, keys and home of whoever runs the tests; give an empty home instead."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith(("COMPACTOR_", "OPENAI_", "XDG_")):
                patch.delenv(name)
        patch.setenv("HOME", str(home))
        yield
