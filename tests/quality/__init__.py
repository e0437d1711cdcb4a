"""How much of a conversation survives its compaction, at which size? Run as `python -m tests.quality`.

Offline and deterministic. Everything goes through the entry that a run uses (`compactor.attempt.compact_row`): bytes
in, bytes out, read back as a model would read them. What is looked for (the probes) is taken from the raw records by
patterns that stand here, not by compactor's, and is fixed before anything is compacted.
"""
