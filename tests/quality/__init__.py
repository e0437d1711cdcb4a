"""How much of a conversation survives its compaction, at which size? Run as `python -m tests.quality`.

Offline and deterministic. What is looked for (the probes) is taken from the transcripts by patterns that stand here,
not by compactor's; it is fixed before anything is compacted. Seeds 1 to 9 were used while the rules were made; what
is reported uses seeds from 21 on. The fifteen constraints of part c are all that there are: they have been seen.
"""
