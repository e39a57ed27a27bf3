"""What a cold sync costs as the cluster grows; the long form only, and drawn as SVG."""

from __future__ import annotations

import os
from collections.abc import Callable

from bench.bench_peers import LISTED, OURS, contestants
from bench.cluster import Cluster, client_go, cluster_with, missing_assets, ours
from bench.measure import ROOT, Cost, Row, in_rounds, ratio
from bench.plots import svg
from bench.scale import is_full

NAME = "cost against number of objects"
GOAL = "a pod of a large cluster costs what one of a small cluster costs"

SIZES = tuple(map(int, os.environ.get("BENCH_SIZES", "2000,5000,10000,20000,100000").split(",")))
PEERS_AT_MOST = 10_000  # the slowest of them take minutes beyond that
OUT = ROOT / "build" / "bench"

Curves = dict[str, dict[int, Cost]]


def run() -> list[Row]:
    """One cluster that grows; at each size everyone syncs once."""
    if not is_full():
        return [Row("plots of CPU, wall and memory", "only in `make bench-full`")]
    missing = missing_assets()
    if missing:
        return [Row("plots of CPU, wall and memory", missing)]
    curves: Curves = {}
    with cluster_with(SIZES[0]) as cluster:
        for size in SIZES:
            cluster.grow(size)
            for name, cost in _costs(cluster, size).items():
                curves.setdefault(name, {})[size] = cost
    _draw(curves)
    few, many = SIZES[0], SIZES[-1]
    us = curves[OURS]
    what = f"CPU for a pod, of {many:,} / of {few:,}"
    return [
        ratio(what, us[many].cpu / many, us[few].cpu / few, at_most=1.1),
        *(_row(name, curve) for name, curve in curves.items()),
    ]


def _costs(cluster: Cluster, size: int) -> dict[str, Cost]:
    costs = {OURS: cluster.mirrored(ours()).sync}
    program = client_go()
    if program is not None:
        go = [str(program), f"--kubeconfig={cluster.kubeconfig}"]
        costs["client-go protobuf"] = cluster.mirrored(go).sync
        costs["client-go JSON"] = cluster.mirrored([*go, "--json"]).sync
    if size <= PEERS_AT_MOST:
        peers = {name: each for name, each in contestants(size).items() if name != OURS}
        costs |= {name: found[0] for name, found in in_rounds(peers, times=1).items()}
    else:
        costs[LISTED] = in_rounds({LISTED: contestants(size)[LISTED]}, times=1)[LISTED][0]
    return costs


def _draw(curves: Curves) -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    drawn: dict[str, tuple[str, Callable[[Cost], float]]] = {
        "cpu": ("CPU seconds", lambda cost: cost.cpu),
        "wall": ("seconds", lambda cost: cost.wall),
        "peak": ("peak memory, MB", lambda cost: cost.peak / 1e6),
    }
    for name, (unit, of) in drawn.items():
        points = {
            who: [(float(size), of(cost)) for size, cost in curve.items()]
            for who, curve in curves.items()
        }
        picture = svg("Cold sync of all pods", points, x="pods of 6 kB", y=unit)
        (OUT / f"sync-{name}.svg").write_text(picture)


def _row(name: str, curve: dict[int, Cost]) -> Row:
    each = ", ".join(f"{size:,}: {cost.cpu:.2f}" for size, cost in curve.items())
    return Row(f"{name}, s CPU", each)
