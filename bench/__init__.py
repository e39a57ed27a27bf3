"""Measurements against the peers, side by side on one machine: `python -m bench`.

A bench is a module `bench_<name>.py` here that offers `NAME`, `GOAL` (a sentence) and
`run()`, which gives rows; one that yields them keeps those before a failure. See also: who
does what at what cost (`contest`), rows (`measure`), how one bench runs in an interpreter of
its own (`alone`), how much is measured (`scale`), how results are shown (`report`, `plots`).
"""
