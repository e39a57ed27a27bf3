"""The memory of watches that receive nothing, beside a plain aiohttp session and client-go.

client-go has all of them on one connection (HTTP/2); the others have a connection each.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from bench.cluster import cluster_with, go_program, missing_assets
from bench.contest import Contestant, Program, in_rounds
from bench.measure import Cost, Row, figures, ratios
from bench.scale import count

NAME = "transport: idle watches"
GOAL = "an idle watch takes less memory than one of aiohttp"

WATCHES = 200
ROUNDS = count("ROUNDS", 3, full=5)
OURS, AIOHTTP = "kubeloop", "aiohttp"


def run() -> Iterator[Row]:
    """Each client in a process of its own; the watches are open at the same time."""
    missing = missing_assets()
    if missing:
        yield Row(NAME, missing)
        return
    with cluster_with(0):
        costs = in_rounds(_contestants(), times=ROUNDS)
    each = {name: [_kilobytes(cost) for cost in found] for name, found in costs.items()}
    what = f"{WATCHES} idle watches: memory for each"
    yield ratios(f"{what} / {AIOHTTP}", each[OURS], each[AIOHTTP], at_most=1.0)
    yield from (figures(f"{what}, {name}", found, "kB") for name, found in each.items())
    opening = {name: [cost.cpu / WATCHES * 1e3 for cost in found] for name, found in costs.items()}
    for name, found in opening.items():
        yield figures(f"opening a watch, {name}", found, "ms CPU")


def _contestants() -> dict[str, Contestant]:
    found: dict[str, Contestant] = {
        OURS: _holding("kubeloop"),
        AIOHTTP: _holding("aiohttp"),
        f"{OURS}, asyncio": _holding("kubeloop", "--asyncio"),
        f"{AIOHTTP}, asyncio": _holding("aiohttp", "--asyncio"),
    }
    program = go_program("watches", count=WATCHES)
    return found if program is None else {**found, "client-go, HTTP/2": program}


def _holding(client: str, *options: str) -> Program:
    command = (sys.executable, "-m", "bench.watches", client, f"--count={WATCHES}", *options)
    return Program(command)


def _kilobytes(cost: Cost) -> float:
    return (cost.steady - cost.before) / WATCHES / 1e3
