"""The informer by JSON against client-go's, on one real API server, each in a process of its own.

The goals of its CPU are judged by `bench_transport_events`, which has more and shorter turns, and
those of protobuf by `bench_informer_protobuf`.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from pathlib import Path

from bench.cluster import Cluster, InformerCosts, client_go, cluster_with, missing_assets, ours
from bench.measure import Cost, Row, figure, ratios
from bench.scale import count

NAME = "informer against client-go"
GOAL = "cheaper than client-go with protobuf"

PODS = count("PODS", 20_000)
EVENTS = count("EVENTS", 3_000, full=10_000)
ROUNDS = count("ROUNDS", 2, full=3)
LOADED = count("LOADED", 20_000, full=100_000)  # pods while the loop is watched

Runs = dict[str, list[InformerCosts]]


def run() -> list[Row]:
    """Cold sync, then updates under load."""
    program = None if missing_assets() else client_go()
    if program is None:
        return [Row("client-go", missing_assets() or "skipped: no Go here to build it with")]
    with cluster_with(PODS) as cluster:
        runs = _in_turns(cluster, program)
        cluster.grow(max(PODS, LOADED))
        hold = cluster.run_informer(ours("--hold")).hold
    return [*_sync_rows(runs), *_event_rows(runs), *_memory_rows(runs), _hold_row(hold)]


def _in_turns(cluster: Cluster, program: Path) -> Runs:
    go = [str(program), f"--kubeconfig={cluster.kubeconfig}"]
    contestants = {
        "protobuf": (go, EVENTS),
        "keys": (ours("--format=json"), EVENTS),
        "json": ([*go, "--json"], 0),
        "decoded": (ours("--format=json", "--handler=new"), EVENTS),
        "both": (ours("--handler=both"), EVENTS),
        "compressed": (ours("--keeping=compressed"), 0),
    }
    runs: Runs = {name: [] for name in contestants}
    for _ in range(ROUNDS):
        for name, (command, events) in contestants.items():
            runs[name].append(cluster.run_informer(command, events=events))
    return runs


def _sync_rows(runs: Runs) -> list[Row]:
    what = f"cold sync of {PODS:,} pods"
    us, protobuf, json = (_syncs(runs[name]) for name in ("keys", "protobuf", "json"))
    return [
        _compared(f"{what}, CPU / protobuf", us, protobuf, lambda cost: cost.cpu),
        _compared(f"{what}, wall / protobuf", us, protobuf, lambda cost: cost.wall, 1.0),
        _compared(f"{what}, peak memory / protobuf", us, protobuf, lambda cost: cost.peak, 0.5),
        _compared(f"{what}, CPU / JSON", us, json, lambda cost: cost.cpu, 0.3),
        _median("cold sync, ours", us, lambda cost: cost.cpu, "s CPU"),
        _median("cold sync, client-go protobuf", protobuf, lambda cost: cost.cpu, "s CPU"),
        _median("cold sync, client-go JSON", json, lambda cost: cost.cpu, "s CPU"),
        _median("cold sync, ours", us, lambda cost: cost.wall, "s"),
        _median("cold sync, client-go protobuf", protobuf, lambda cost: cost.wall, "s"),
        _median("peak memory, ours", us, lambda cost: cost.peak / 1e6, "MB"),
        _median("peak memory, client-go protobuf", protobuf, lambda cost: cost.peak / 1e6, "MB"),
    ]


def _event_rows(runs: Runs) -> list[Row]:
    names = ("keys", "decoded", "both", "protobuf")
    keys, decoded, both, them = (_events(runs[name]) for name in names)
    what = f"{EVENTS:,} events"

    def each(cost: Cost) -> float:
        return cost.cpu / EVENTS * 1e6

    return [
        _compared(f"{what}, keys, CPU / protobuf", keys, them, each),
        _compared(f"{what}, decoded, CPU / protobuf", decoded, them, each),
        _median("an event, keys", keys, each, "µs CPU"),
        _median("an event, decoded", decoded, each, "µs CPU"),
        _median("an event, old and new decoded", both, each, "µs CPU"),
        _median("an event, client-go protobuf", them, each, "µs CPU"),
    ]


def _memory_rows(runs: Runs) -> list[Row]:
    names = ("keys", "compressed", "protobuf", "json")
    keys, compressed, them, json = (_syncs(runs[name]) for name in names)

    def each(cost: Cost) -> float:
        return (cost.steady - cost.before) / PODS

    return [
        _compared("steady memory of a pod, bytes / protobuf", keys, them, each, 0.6),
        _compared("steady memory of a pod, compressed / protobuf", compressed, them, each, 0.15),
        _median("steady memory of a pod, bytes", keys, each, "B"),
        _median("steady memory of a pod, compressed", compressed, each, "B"),
        _median("steady memory of a pod, client-go protobuf", them, each, "B"),
        _median("steady memory of a pod, client-go JSON", json, each, "B"),
    ]


def _hold_row(hold: float) -> Row:
    what = f"longest hold of the loop while {max(PODS, LOADED):,} pods load"
    return Row(what, f"{hold * 1000:.1f} ms CPU", "at most 20 ms", hold <= 0.020)


def _syncs(runs: Sequence[InformerCosts]) -> list[Cost]:
    return [each.sync for each in runs]


def _events(runs: Sequence[InformerCosts]) -> list[Cost]:
    return [each.events for each in runs if each.events is not None]


def _compared(
    what: str,
    us: list[Cost],
    them: list[Cost],
    of: Callable[[Cost], float],
    goal: float | None = None,
) -> Row:
    return ratios(what, [*map(of, us)], [*map(of, them)], at_most=goal)


def _median(what: str, costs: list[Cost], of: Callable[[Cost], float], unit: str) -> Row:
    return figure(what, statistics.median(map(of, costs)), unit)
