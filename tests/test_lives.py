"""Is every turn kept or summarised once, whatever happens in any order? A few lives; tests.lives has more."""

from hypothesis import settings

from tests.lives import STEPS, Life

TestLives = Life.TestCase
TestLives.settings = settings(max_examples=30, stateful_step_count=STEPS)
