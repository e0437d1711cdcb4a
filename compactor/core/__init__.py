"""What is decided about a conversation? Pure functions: no I/O, no clock, no network, no logging.

Read in this order: `messages` (the values), `settings` (the numbers), `tokens` (the prices), then the five
stages `plan` (0, the trigger), `prune` (1), `split` (2 and 3), `prompt` and `summary` (4), `state` (5), and
`verify`, which checks the promises before anything is written.
"""
