"""All pods of a real API server, by us and by the Python peers, each in a process of its own."""

from __future__ import annotations

import statistics
from collections.abc import Mapping

from bench.cluster import cluster_with, missing_assets
from bench.measure import Cost, Row, figure, in_rounds, ratios, spread
from bench.scale import count

NAME = "Python peers"
GOAL = "a synced informer for a quarter of the CPU of the best Python peer's list"

PODS = count("PEERS", 2_000, full=20_000)
ROUNDS = count("ROUNDS", 3, full=1)

OURS = "kubeloop informer"
LISTED = "kubeloop list"

_KUBELOOP = "from kubeloop import ALL, Client, run\nfrom kubeloop.wire.core.v1 import Pod\n"
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
    async with Client() as client:
        return (await client.resource(Pod, namespace=ALL).list()).items
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


def run() -> list[Row]:
    """They take turns; each figure is a peer's against ours of the same round."""
    missing = missing_assets()
    if missing:
        return [Row("Python peers", missing)]
    with cluster_with(PODS):
        runs = in_rounds(contestants(PODS), times=ROUNDS)
    peers = [name for name in runs if name not in (OURS, LISTED)]
    best = min(peers, key=lambda name: statistics.median(cost.cpu for cost in runs[name]))
    return [
        ratios(f"{OURS} / {best}, CPU", _cpu(runs[OURS]), _cpu(runs[best]), at_most=0.25),
        *(_row(name, runs) for name in runs if name != OURS),
        figure(OURS, statistics.median(_cpu(runs[OURS])), "s CPU"),
    ]


def contestants(pods: int) -> dict[str, tuple[str, str]]:
    """Everyone, told how many pods there are; whoever finds fewer fails."""
    check = f"\nassert found == {pods}, found\n"
    return {
        name: (setup, snippet.replace("WANTED", str(pods)) + check)
        for name, (setup, snippet) in CONTESTANTS.items()
    }


def _row(name: str, runs: Runs) -> Row:
    pairs = list(zip(runs[name], runs[OURS], strict=True))
    wall = spread([them.wall / us.wall for them, us in pairs])
    cpu = spread([them.cpu / us.cpu for them, us in pairs])
    peak = spread([them.peak / us.peak for them, us in pairs])
    what = f"{name} of {PODS:,} pods / {OURS}"
    return Row(what, f"wall {wall}, CPU {cpu}, peak {peak}")


def _cpu(costs: list[Cost]) -> list[float]:
    return [cost.cpu for cost in costs]
