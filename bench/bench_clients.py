"""What talking to a server costs, beside the Python peers, all against one server over TLS."""

from __future__ import annotations

from bench.measure import Row, figure, ratio, side_by_side
from bench.served import serving

NAME = "clients"
GOAL = (
    "a round of create, get, update, delete within 0.45 of lightkube and 0.4 of kubernetes_asyncio"
)

ROUNDS = 300
LISTED = 5_000
STREAMED = 20_000

OURS = f"""
async def work():
    async with Client() as client:
        maps = client.core_v1.config_maps("team-0")
        for number in range({ROUNDS}):
            name = f"ours-{{number}}"
            made = await maps.create(ConfigMap(metadata=ObjectMeta(name=name), data={{"a": "1"}}))
            found = await maps.get(name)
            found.data["a"] = "2"
            await maps.update(found)
            await maps.delete(name)
run(work())
"""
LIGHTKUBE = f"""
async def work():
    client = AsyncClient(namespace="team-0")
    for number in range({ROUNDS}):
        name = f"lightkube-{{number}}"
        made = await client.create(ConfigMap(metadata=ObjectMeta(name=name), data={{"a": "1"}}))
        found = await client.get(ConfigMap, name)
        found.data["a"] = "2"
        await client.replace(found)
        await client.delete(ConfigMap, name)
asyncio.run(work())
"""
ASYNCIO = f"""
async def work():
    await config.load_kube_config()
    async with client.ApiClient() as api:
        core = client.CoreV1Api(api)
        for number in range({ROUNDS}):
            name = f"asyncio-{{number}}"
            body = client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name), data={{"a": "1"}})
            await core.create_namespaced_config_map("team-0", body)
            found = await core.read_namespaced_config_map(name, "team-0")
            found.data["a"] = "2"
            await core.replace_namespaced_config_map(name, "team-0", found)
            await core.delete_namespaced_config_map(name, "team-0")
asyncio.run(work())
"""
SETUPS = {
    "kubeloop": (
        "from kubeloop import ALL, Client, run\n"
        "from kubeloop.wire.core.v1 import ConfigMap, Pod\n"
        "from kubeloop.wire.meta.v1 import ObjectMeta\n"
        "import kubeloop.testing\n"
    ),
    "lightkube": (
        "import asyncio\n"
        "from lightkube import AsyncClient\n"
        "from lightkube.models.meta_v1 import ObjectMeta\n"
        "from lightkube.resources.core_v1 import ConfigMap, Pod\n"
    ),
    "kubernetes_asyncio": "import asyncio\nfrom kubernetes_asyncio import client, config\n",
}
ROUND = {"kubeloop": OURS, "lightkube": LIGHTKUBE, "kubernetes_asyncio": ASYNCIO}
LIST = {
    "kubeloop": """
async def work():
    async with Client() as client:
        return (await client.resource(Pod, namespace=ALL).list()).items
found = run(work())
""",
    "lightkube": """
async def work():
    client = AsyncClient()
    return [pod async for pod in client.list(Pod, namespace="*")]
found = asyncio.run(work())
""",
}
STREAM = f"""
async def work():
    async with Client() as client:
        count = 0
        async for pod in client.resource(Pod, namespace=ALL).each():
            count += 1
        return count
assert run(work()) == {STREAMED}
"""


def run() -> list[Row]:
    """CPU of the client's own process; the server is another."""
    with serving(LISTED):
        rounds = {
            name: side_by_side({name: ROUND[name]}, setup=setup, times=3)[name].cpu
            for name, setup in SETUPS.items()
        }
        lists = {
            name: side_by_side({name: snippet}, setup=SETUPS[name], times=3)[name].cpu
            for name, snippet in LIST.items()
        }
    with serving(STREAMED):
        streamed = side_by_side({"": STREAM}, setup=SETUPS["kubeloop"], times=1)[""]
    return [
        ratio(
            "a round, CPU, against lightkube", rounds["kubeloop"], rounds["lightkube"], at_most=0.45
        ),
        ratio(
            "a round, CPU, against kubernetes_asyncio",
            rounds["kubeloop"],
            rounds["kubernetes_asyncio"],
            at_most=0.4,
        ),
        ratio(
            f"list of {LISTED:,} pods, CPU, against lightkube",
            lists["kubeloop"],
            lists["lightkube"],
            at_most=0.8,
        ),
        Row(
            f"each of {STREAMED:,} pods: memory on top",
            f"{(streamed.peak - streamed.before) / 1e6:.0f} MB",
            "at most 30 MB",
            streamed.peak - streamed.before <= 30e6,
        ),
        figure("a round", rounds["kubeloop"] / ROUNDS * 1000, "ms CPU"),
    ]
