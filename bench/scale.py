"""How much is measured: the short form, the long form (`--full`), or as the environment says.

`BENCH_PODS=2000 python -m bench --only informer` makes a bench small while it is written.
"""

from __future__ import annotations

import os

__all__ = ["FULL", "count", "is_full"]

FULL = "BENCH_FULL"  # set by `--full`, for the interpreters the benches run in


def is_full() -> bool:
    """Whether the long form was asked for."""
    return bool(os.environ.get(FULL))


def count(name: str, short: int, *, full: int | None = None) -> int:
    """The number in `BENCH_<name>`, or the one of the form that was asked for."""
    usual = full if full is not None and is_full() else short
    return int(os.environ.get(f"BENCH_{name}", usual))
