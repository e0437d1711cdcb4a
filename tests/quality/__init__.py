"""How much of a conversation survives its compaction, at which size? Run as `python -m tests.quality`.

Offline and deterministic. What is looked for (the probes) is taken from the transcripts by patterns that stand here, not
by compactor's; it is fixed before anything is compacted. Nothing in compactor knows of a probe. Seeds 1 to 9 have been
used while the rules were made; what is reported uses seeds from 21 on.
"""
