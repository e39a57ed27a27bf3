"""A round of create, get, update and delete, by us and by every peer, on one real API server.

The goals of a round are judged by `bench_transport_requests`, beside the two peers they name.
"""

from __future__ import annotations

from collections.abc import Iterator

from bench.cluster import cluster_with, go_program, missing_assets
from bench.contest import Contestant, Snippet, attempted
from bench.measure import Cost, Row, figures, ratios, spread
from bench.scale import count

NAME = "clients"
GOAL = "all pods streamed in constant memory"

TURNS = count("TURNS", 120, full=300)
STREAMED = count("STREAMED", 5_000, full=20_000)
ROUNDS = count("ROUNDS", 2, full=3)

OURS = "kubeloop"
BEFORE_US = "client-go"  # the one peer that is not in Python

# Imports, and the work. A single turn goes before, unmeasured: some import when they first work.
CONTESTANTS = {
    OURS: (
        """
from kubeloop import Client, run
from kubeloop.wire.core.v1 import ConfigMap
from kubeloop.wire.meta.v1 import ObjectMeta
""",
        """
async def work():
    async with Client() as client:
        maps = client.core_v1.config_maps("default")
        for number in range(TURNS):
            name = f"ours-{number}"
            await maps.create(ConfigMap(metadata=ObjectMeta(name=name), data={"a": "1"}))
            found = await maps.get(name)
            found.data["a"] = "2"
            await maps.update(found)
            await maps.delete(name)
run(work())
""",
    ),
    "lightkube": (
        """
import asyncio
from lightkube import AsyncClient
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import ConfigMap
""",
        """
async def work():
    client = AsyncClient(namespace="default")
    for number in range(TURNS):
        name = f"lightkube-{number}"
        await client.create(ConfigMap(metadata=ObjectMeta(name=name), data={"a": "1"}))
        found = await client.get(ConfigMap, name)
        found.data["a"] = "2"
        await client.replace(found)
        await client.delete(ConfigMap, name)
asyncio.run(work())
""",
    ),
    "kubernetes_asyncio": (
        "import asyncio\nfrom kubernetes_asyncio import client, config\n",
        """
async def work():
    await config.load_kube_config()
    async with client.ApiClient() as api:
        core = client.CoreV1Api(api)
        for number in range(TURNS):
            name = f"asyncio-{number}"
            body = client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name), data={"a": "1"})
            await core.create_namespaced_config_map("default", body)
            found = await core.read_namespaced_config_map(name, "default")
            found.data["a"] = "2"
            await core.replace_namespaced_config_map(name, "default", found)
            await core.delete_namespaced_config_map(name, "default")
asyncio.run(work())
""",
    ),
    "official client": (
        "from kubernetes import client, config\n",
        """
config.load_kube_config()
core = client.CoreV1Api()
for number in range(TURNS):
    name = f"official-{number}"
    body = client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name), data={"a": "1"})
    core.create_namespaced_config_map("default", body)
    found = core.read_namespaced_config_map(name, "default")
    found.data["a"] = "2"
    core.replace_namespaced_config_map(name, "default", found)
    core.delete_namespaced_config_map(name, "default")
""",
    ),
    # It has no update: the change is sent as a merge patch.
    "kr8s": (
        "import asyncio\nimport kr8s.asyncio\nfrom kr8s.asyncio.objects import ConfigMap\n",
        """
async def work():
    api = await kr8s.asyncio.api()
    for number in range(TURNS):
        name = f"kr8s-{number}"
        body = {"metadata": {"name": name, "namespace": "default"}, "data": {"a": "1"}}
        await (await ConfigMap(body, api=api)).create()
        found = await ConfigMap.get(name, namespace="default", api=api)
        await found.patch({"data": {"a": "2"}})
        await found.delete()
asyncio.run(work())
""",
    ),
}
STREAM_SETUP = (
    "from kubeloop import ALL_NAMESPACES, Client, run\nfrom kubeloop.wire.core.v1 import Pod\n"
)
STREAM = f"""
async def work():
    async with Client() as client:
        count = 0
        async for pod in client.resource(Pod, namespace=ALL_NAMESPACES).each():
            count += 1
        return count
assert run(work()) == {STREAMED}
"""


def run() -> Iterator[Row]:
    """CPU of the client's own process; the server is another."""
    missing = missing_assets()
    if missing:
        yield Row(NAME, missing)
        return
    with cluster_with(0) as cluster:
        costs, failures = attempted(_contestants(), times=ROUNDS)
        yield from _rows({name: _cpu(found) for name, found in costs.items()})
        yield from (Row(f"a round, {name}", str(why)) for name, why in failures.items())
        cluster.grow(STREAMED)
        yield _stream()


def _contestants() -> dict[str, Contestant]:
    found: dict[str, Contestant] = {
        name: Snippet(code.replace("TURNS", str(TURNS)), setup + code.replace("TURNS", "1"))
        for name, (setup, code) in CONTESTANTS.items()
    }
    program = go_program("round", count=TURNS)
    return found if program is None else {**found, BEFORE_US: program}


def _cpu(costs: list[Cost]) -> list[float]:
    return [cost.cpu for cost in costs]


def _rows(cpu: dict[str, list[float]]) -> Iterator[Row]:
    us = cpu[OURS]
    peers = [name for name in cpu if name not in (OURS, BEFORE_US)]
    best = min(peers, key=lambda name: min(cpu[name]))
    yield ratios(f"a round, CPU, {OURS} / {best}", us, cpu[best])
    for name in (*peers, BEFORE_US):
        if name in cpu:
            shares = [them / own for them, own in zip(cpu[name], us, strict=True)]
            yield Row(f"a round, CPU, {name} / {OURS}", spread(shares))
    yield figures(f"a round, {OURS}", [each / TURNS * 1000 for each in us], "ms CPU")


def _stream() -> Row:
    contestants = {"each": Snippet(STREAM, STREAM_SETUP)}
    costs, failures = attempted(contestants, times=1)
    what = f"each of {STREAMED:,} pods: memory on top"
    if failures:
        return Row(what, str(failures["each"]))
    more = costs["each"][0].peak - costs["each"][0].before
    return Row(what, f"{more / 1e6:.0f} MB", "at most 30 MB", more <= 30e6)
