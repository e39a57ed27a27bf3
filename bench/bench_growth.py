"""What a cold sync costs as the cluster grows; the long form only, and drawn as SVG.

Ours and client-go are informers; of the peers whatever they have, which for most is a list.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial

from bench.bench_peers import GO, OURS, best_peer, contestants
from bench.cluster import Cluster, client_go, cluster_with, missing_assets, ours
from bench.contest import attempted, median_cost
from bench.measure import ROOT, Cost, Failed, Row, format_number, ratio
from bench.plots import svg
from bench.scale import is_full

NAME = "cost against number of objects"
GOAL = "a pod of a large cluster costs what one of a small cluster costs, up to 200,000 pods"

SIZES = tuple(map(int, os.environ.get("BENCH_SIZES", "2000,20000,100000,200000").split(",")))
OURS_BY_PROTOBUF = "kubeloop informer, protobuf"
ROUNDS = 3  # of ours and of client-go; the peers have one
LARGE = 100_000  # pods; of more, everyone has one round
OUT = ROOT / "build" / "bench"
# How many pods someone is asked for, and why no more.
AT_MOST = {
    "client-go, JSON": (LARGE, "52 s of CPU at 100,000"),
    "lightkube list": (LARGE, "0.5 GB and 5 s of CPU at 20,000"),
    "kr8s list": (20_000, "3.4 GB and 47 s of CPU at 20,000"),
    "official client list": (20_000, "2.4 GB and 19 s of CPU at 20,000"),
    "official client informer": (20_000, "2.5 GB and 28 s of CPU at 20,000"),
    "kubernetes_asyncio list": (20_000, "1.4 GB and 31 s of CPU at 20,000"),
}

Curves = dict[str, dict[int, Cost]]


def run() -> Iterator[Row]:
    """One cluster that grows; at each size everyone has its turn."""
    missing = missing_assets() if is_full() else "only in `make bench-full`"
    if missing:
        yield Row("plots of CPU, wall and memory", missing)
        return
    curves: Curves = {}
    with cluster_with(SIZES[0]) as cluster:
        for size in SIZES:
            cluster.grow(size)
            yield from _measure(cluster, size, curves)
            _draw(curves)  # what there is, should a larger size fail
    few, many = SIZES[0], SIZES[-1]
    for name in (OURS, OURS_BY_PROTOBUF):
        us = curves[name]
        what = f"{name}: CPU for a pod, of {many:,} / of {few:,}"
        yield ratio(what, us[many].cpu / many, us[few].cpu / few, at_most=1.1)
    for unit, of in _FIGURES.values():
        yield from (_row(name, unit, of, curve) for name, curve in curves.items())


def _measure(cluster: Cluster, size: int, curves: Curves) -> Iterator[Row]:
    """Add everyone's costs at this size to the curves; gives rows for those who have none."""
    for name, sync in _informers(cluster).items():
        most, why = AT_MOST.get(name, (size, ""))
        if size > most:
            yield Row(f"{name} of {size:,} pods", f"left out: {why}")
            continue
        try:
            cost = median_cost([sync() for _ in range(ROUNDS if size <= LARGE else 1)])
        except Failed as failure:
            yield Row(f"{name} of {size:,} pods", str(failure))
        else:
            curves.setdefault(name, {})[size] = cost
    asked = {}
    for name, contestant in contestants(size).items():
        most, why = AT_MOST.get(name, (size, ""))
        if name == OURS or name in GO:
            continue
        if size > most:
            yield Row(f"{name} of {size:,} pods", f"left out: {why}")
        else:
            asked[name] = contestant
    costs, failures = attempted(asked, times=1)
    yield from (Row(f"{name} of {size:,} pods", str(why)) for name, why in failures.items())
    for name, found in costs.items():
        curves.setdefault(name, {})[size] = found[0]
    if OURS in curves and size in curves[OURS]:
        yield best_peer({OURS: [curves[OURS][size]], **costs}, size)


def _informers(cluster: Cluster) -> dict[str, Callable[[], Cost]]:
    commands = {OURS: ours(), OURS_BY_PROTOBUF: ours("--format=protobuf")}
    program = client_go()
    if program is not None:
        go = [str(program), f"--kubeconfig={cluster.kubeconfig}"]
        commands |= {"client-go, protobuf": go, "client-go, JSON": [*go, "--json"]}
    return {name: partial(_sync, cluster, command) for name, command in commands.items()}


def _sync(cluster: Cluster, command: list[str]) -> Cost:
    return cluster.run_informer(command).sync


_FIGURES: dict[str, tuple[str, Callable[[Cost], float]]] = {
    "cpu": ("CPU seconds", lambda cost: cost.cpu),
    "wall": ("seconds", lambda cost: cost.wall),
    "peak": ("peak memory, MB", lambda cost: cost.peak / 1e6),
}


def _draw(curves: Curves) -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    for name, (unit, of) in _FIGURES.items():
        points = {
            who: [(float(size), of(cost)) for size, cost in curve.items()]
            for who, curve in curves.items()
        }
        picture = svg("Cold sync of all pods", points, x="pods of 6 kB", y=unit)
        (OUT / f"sync-{name}.svg").write_text(picture)


def _row(name: str, unit: str, of: Callable[[Cost], float], curve: dict[int, Cost]) -> Row:
    each = ", ".join(f"{size:,}: {format_number(of(cost))}" for size, cost in curve.items())
    return Row(f"{name}, {unit}", each)
