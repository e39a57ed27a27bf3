"""The informer against client-go's, on one real API server, each in a process of its own."""

from __future__ import annotations

from bench.cluster import Mirrored, client_go, cluster_with, mirrored, ours
from bench.measure import Row, figure, ratio

NAME = "informer against client-go"
GOAL = "cheaper than client-go with protobuf: CPU 0.8, wall 1.0, peak memory 0.5"

PODS = 20_000
EVENTS = 10_000


def run() -> list[Row]:
    """Cold sync, then updates under load."""
    program = client_go()
    if program is None:
        return [Row("client-go", "no Go here to build it with")]
    with cluster_with(PODS) as kubeconfig:

        def measure(*command: str) -> Mirrored:
            return mirrored(command, kubeconfig, objects=PODS, events=EVENTS)

        protobuf = measure(str(program), f"-kubeconfig={kubeconfig}")
        keys = measure(*ours())
        json = measure(str(program), f"-kubeconfig={kubeconfig}", "-json")
        decoded = measure(*ours("--decoded"))
        compressed = measure(*ours("--keeping=compressed"))
    return [*_sync_rows(keys, protobuf, json), *_other_rows(keys, decoded, compressed, protobuf)]


def _sync_rows(us: Mirrored, protobuf: Mirrored, json: Mirrored) -> list[Row]:
    what = f"cold sync of {PODS:,} pods"
    return [
        ratio(f"{what}, CPU / protobuf", us.sync.cpu, protobuf.sync.cpu, at_most=0.8),
        ratio(f"{what}, wall / protobuf", us.sync.wall, protobuf.sync.wall, at_most=1.0),
        ratio(f"{what}, peak memory / protobuf", us.sync.peak, protobuf.sync.peak, at_most=0.5),
        ratio(f"{what}, CPU / JSON", us.sync.cpu, json.sync.cpu, at_most=0.3),
        figure("cold sync, ours", us.sync.cpu, "s CPU"),
        figure("cold sync, client-go protobuf", protobuf.sync.cpu, "s CPU"),
        figure("cold sync, client-go JSON", json.sync.cpu, "s CPU"),
    ]


def _other_rows(
    keys: Mirrored, decoded: Mirrored, compressed: Mirrored, protobuf: Mirrored
) -> list[Row]:
    assert keys.events is not None
    assert decoded.events is not None
    assert protobuf.events is not None
    them = protobuf.events.cpu
    steady = protobuf.sync.steady
    return [
        ratio(f"{EVENTS:,} events, keys, CPU / protobuf", keys.events.cpu, them, at_most=0.5),
        ratio(
            f"{EVENTS:,} events, decoded, CPU / protobuf", decoded.events.cpu, them, at_most=0.75
        ),
        ratio("steady memory, bytes / protobuf", keys.sync.steady, steady, at_most=0.6),
        ratio("steady memory, compressed / protobuf", compressed.sync.steady, steady, at_most=0.15),
        figure("an event, keys", keys.events.cpu / EVENTS * 1e6, "µs CPU"),
        figure("an event, client-go protobuf", them / EVENTS * 1e6, "µs CPU"),
    ]
