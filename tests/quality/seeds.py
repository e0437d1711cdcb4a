"""Which probes may be looked at while rules are made, and which only when the result is reported?

Below FIRST_REPORTED seeds are for tuning, from there on for reporting; probes of real sessions fall into two halves by
their digest, and written phrases by their place. The two sets never meet. `--tune` prints what was lost; a report never
does, so that nobody writes a rule for a probe.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

FIRST_REPORTED = 101


@dataclass(frozen=True)
class Seeds:
    """The seeds of a measurement, all from one side of FIRST_REPORTED."""

    numbers: tuple[int, ...]

    def __post_init__(self):
        if len({n >= FIRST_REPORTED for n in self.numbers}) != 1:
            raise ValueError(f"seeds below {FIRST_REPORTED} are for tuning, the others for reporting: {self.numbers}")

    @property
    def tuning(self):
        return self.numbers[0] < FIRST_REPORTED

    def mine(self, probe):
        """Tell whether a probe of a real session belongs to this side."""
        return (blake2b(probe.encode(), digest_size=1).digest()[0] % 2 == 0) == self.tuning

    def half(self, phrases):
        """Give those of some phrases that belong to this side: every other one."""
        return phrases[0::2] if self.tuning else phrases[1::2]


TUNING = Seeds((1, 2, 3, 4))
REPORTING = Seeds((101, 102, 103, 104))
