"""All pods of a real API server as typed objects, by us and by every peer.

Each in a process of its own. Lists are read and decoded to the end; an informer is one that
has notified its user of every object.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping

from bench.cluster import cluster_with, go_program, missing_assets
from bench.contest import Contestant, Snippet, attempted, in_rounds
from bench.measure import Cost, Row, figures, ratios, spread
from bench.scale import count

NAME = "list to typed objects"
GOAL = "a synced informer for a quarter of the CPU of the best Python peer's list"

PODS = count("PEERS", 2_000)
JUDGED = 20_000  # pods that the goal is about: what every process pays once weighs little there
ROUNDS = count("ROUNDS", 2, full=3)

OURS = "kubeloop informer"
LISTED = "kubeloop list"
GO = {"client-go list": 0, "client-go list, JSON": 1}

_KUBELOOP = (
    "from kubeloop import ALL_NAMESPACES, Client, run\nfrom kubeloop.wire.core.v1 import Pod\n"
)
_LIGHTKUBE = (
    "import asyncio\nfrom lightkube import AsyncClient\n"
    "from lightkube.resources.core_v1 import Pod\n"
)
_OFFICIAL = (
    "import time\nfrom kubernetes import client, config\n"
    "from kubernetes.informer import SharedInformer\n"
)
# Setup, which is not measured, and the work. The official informer is left running, in a
# thread that ends with the process: its stop() waits for the next event.
CONTESTANTS = {
    OURS: (
        f"{_KUBELOOP}from kubeloop.runtime import Client\n",
        """
async def work():
    async with Client() as client, client.informer(Pod, sync_timeout=600) as informer:
        return informer, informer.lister.count()
kept, found = run(work())
""",
    ),
    LISTED: (
        _KUBELOOP,
        """
async def work():
    async with Client(tune_gc=True) as client:
        return (await client.resource(Pod, namespace=ALL_NAMESPACES).list()).items
kept = run(work())
found = len(kept)
""",
    ),
    "lightkube list": (
        _LIGHTKUBE,
        """
async def work():
    return [pod async for pod in AsyncClient().list(Pod, namespace="*")]
kept = asyncio.run(work())
found = len(kept)
""",
    ),
    "kr8s list": (
        "import asyncio\nimport kr8s\nimport kr8s.asyncio\n",
        """
async def work():
    api = await kr8s.asyncio.api()
    return [pod async for pod in api.get("pods", namespace=kr8s.ALL)]
kept = asyncio.run(work())
found = len(kept)
""",
    ),
    "official client list": (
        _OFFICIAL,
        """
config.load_kube_config()
kept = client.CoreV1Api().list_pod_for_all_namespaces().items
found = len(kept)
""",
    ),
    "official client informer": (
        _OFFICIAL,
        """
config.load_kube_config()
kept = SharedInformer(client.CoreV1Api().list_pod_for_all_namespaces)
kept.start()
while (found := len(kept.cache.list())) < WANTED:
    time.sleep(0.01)
""",
    ),
    "kubernetes_asyncio list": (
        "import asyncio\nfrom kubernetes_asyncio import client, config\n",
        """
async def work():
    await config.load_kube_config()
    async with client.ApiClient() as api:
        return (await client.CoreV1Api(api).list_pod_for_all_namespaces()).items
kept = asyncio.run(work())
found = len(kept)
""",
    ),
}

Runs = Mapping[str, list[Cost]]


def run() -> Iterator[Row]:
    """They take turns; each figure is a peer's against ours of the same round."""
    missing = missing_assets()
    if missing:
        yield Row(NAME, missing)
        return
    with cluster_with(PODS) as cluster:
        runs, failures = attempted(contestants(PODS), times=ROUNDS)
        cluster.grow(JUDGED)
        finalists = (OURS, _best(runs))
        many = {name: each for name, each in contestants(JUDGED).items() if name in finalists}
        yield best_peer(in_rounds(many, times=1), JUDGED)
    yield best_peer(runs, PODS)
    yield from (_row(name, runs) for name in runs if name != OURS)
    yield from (Row(f"{name} of {PODS:,} pods", str(why)) for name, why in failures.items())
    yield figures(f"{OURS} of {PODS:,} pods", _cpu(runs[OURS]), "s CPU")


def contestants(pods: int) -> dict[str, Contestant]:
    """All clients, given the number of pods; one that finds fewer fails."""
    check = f"\nassert found == {pods}, found\n"
    found: dict[str, Contestant] = {
        name: Snippet(code.replace("WANTED", str(pods)) + check, setup)
        for name, (setup, code) in CONTESTANTS.items()
    }
    for name, json in GO.items():
        program = go_program("list", objects=pods, json=json)
        if program is not None:
            found[name] = program
    return found


def best_peer(runs: Runs, pods: int) -> Row:
    """Our informer against the cheapest of the Python peers."""
    best = _best(runs)
    what = f"{OURS} of {pods:,} pods / {best}, CPU"
    goal = 0.25 if pods >= JUDGED else None
    return ratios(what, _cpu(runs[OURS]), _cpu(runs[best]), at_most=goal)


def _best(runs: Runs) -> str:
    peers = [name for name in runs if name not in (OURS, LISTED, *GO)]
    return min(peers, key=lambda name: statistics.median(_cpu(runs[name])))


def _row(name: str, runs: Runs) -> Row:
    pairs = list(zip(runs[name], runs[OURS], strict=True))
    cpu = spread([them.cpu / us.cpu for them, us in pairs])
    wall = statistics.median(them.wall / us.wall for them, us in pairs)
    peak = statistics.median(them.peak / us.peak for them, us in pairs)
    what = f"{name} of {PODS:,} pods / {OURS}"
    return Row(what, f"CPU {cpu}, wall {wall:.2f}, peak {peak:.2f}")


def _cpu(costs: list[Cost]) -> list[float]:
    return [cost.cpu for cost in costs]
