"""Reading a synced cache, by index and by selector, beside client-go's.

client-go hands out the object that the cache itself holds, which must not be changed; we hand
out one of the reader's own, decoded for it. Who only needs keys, or part of a kind, does not
pay for that.
"""

from __future__ import annotations

from bench.cluster import cluster_with, go_program, missing_assets
from bench.contest import Contestant, Snippet, in_rounds
from bench.measure import Cost, Row, figures, ratios
from bench.scale import count

NAME = "reads of a cache"
GOAL = "an index or a selector costs what is found, not what is held"

PODS = 2_000
NODES = 200  # as many as the pods are spread over
LOOKED_UP, SELECTED = 10, 80  # times that all nodes are looked up, that a service is listed
ROUNDS = count("ROUNDS", 2, full=3)

SETUP = """
from kubeloop import run
from kubeloop.runtime import Client
from kubeloop.wire.core.v1 import Pod

async def synced():
    async with Client() as client:
        index = {{"node": "spec.nodeName"}}
        async with client.informer(Pod, index=index, store_as="{store_as}") as informer:
            return informer.lister

pods = run(synced())
"""
INDEX = """
found = 0
for _ in range({times}):
    for node in pods.index_values("node"):
        found += len(pods.{read}("node", node))
assert found == {pods} * {times}, found
"""
SELECTOR = """
for number in range({times}):
    found = pods.{read}(f"app.kubernetes.io/name=service-{{number % 40}}")
    assert len(found) == {pods} // 40, len(found)
"""
# How the cache keeps pods, and which reads are measured.
OURS = {
    "kubeloop": ("bytes", "by_index", "list"),
    "kubeloop, stored as objects": ("objects", "by_index", "list"),
    "kubeloop, keys": ("bytes", "keys_by_index", "keys"),
}


def run() -> list[Row]:
    """Synced before the clock starts, each in a process of its own."""
    missing = missing_assets()
    if missing:
        return [Row(NAME, missing)]
    with cluster_with(PODS):
        indexed = in_rounds(_contestants("index", INDEX, LOOKED_UP), times=ROUNDS)
        selected = in_rounds(_contestants("selector", SELECTOR, SELECTED), times=ROUNDS)
    return [
        *_rows(f"index, {PODS // NODES} of {PODS:,}", indexed, LOOKED_UP * NODES),
        *_rows(f"selector, {PODS // 40} of {PODS:,}", selected, SELECTED),
    ]


def _contestants(work: str, code: str, times: int) -> dict[str, Contestant]:
    found: dict[str, Contestant] = {}
    for name, (store_as, by_index, listed) in OURS.items():
        read = by_index if work == "index" else listed
        snippet = code.format(times=times, pods=PODS, read=read)
        found[name] = Snippet(snippet, SETUP.format(store_as=store_as))
    program = go_program(work, objects=PODS, count=times)
    return found if program is None else {**found, "client-go": program}


def _rows(what: str, runs: dict[str, list[Cost]], reads: int) -> list[Row]:
    each = {name: [cost.cpu / reads * 1e6 for cost in costs] for name, costs in runs.items()}
    rows = [figures(f"{what}, {name}", found, "µs CPU") for name, found in each.items()]
    if "client-go" in each:
        rows += [
            ratios(f"{what}, {name} / client-go", each[name], each["client-go"]) for name in OURS
        ]
    return rows
