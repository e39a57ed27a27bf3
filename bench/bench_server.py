"""The embedded API server: how soon it is ready, and what a create, an event, a list cost."""

from __future__ import annotations

from bench.measure import Row, figure, measured, ratio, side_by_side

NAME = "embedded API server"
GOAL = "ready in 150 ms; CPU for a create at most 3 times that of parsing and echoing it"

CREATES = 3_000
EVENTS = 20_000
PODS = 10_000
COMMON = """
import asyncio, msgspec
from aiohttp import web
from bench.pods import pod_list
from kubeloop.kit import run

bodies = []
for pod in msgspec.json.decode(pod_list({count}))["items"]:
    metadata = {{"name": pod["metadata"]["name"], "labels": pod["metadata"]["labels"]}}
    metadata["annotations"] = pod["metadata"].get("annotations", {{}})
    bodies.append(msgspec.json.encode(
        {{"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": pod["spec"]}}
    ))
path = "/api/v1/namespaces/default/pods"


async def send(port, bodies):
    '''Write requests one after the other on one connection; no library takes part in it.'''
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"POST {{path}} HTTP/1.1\\r\\nHost: x\\r\\nContent-Type: application/json\\r\\n"
    for body in bodies:
        writer.write(f"{{head}}Content-Length: {{len(body)}}\\r\\n\\r\\n".encode() + body)
        answer = await reader.readuntil(b"\\r\\n\\r\\n")
        assert answer.startswith(b"HTTP/1.1 201"), answer
        size = next(
            int(line[15:]) for line in answer.split(b"\\r\\n")
            if line.lower().startswith(b"content-length:")
        )
        await reader.readexactly(size)
    writer.close()
    await writer.wait_closed()


def port_of(url):
    return int(url.rpartition(":")[2])


async def started():
    from kubeloop.testing.server import Service

    service = await Service().__aenter__()
    await send(port_of(service.url), bodies[:50])  # what is imported late is there
    del bodies[:50]
    return service


async def echo(request):
    return web.json_response(await request.json(), status=201)


async def echoing():
    app = web.Application()
    app.router.add_post(path, echo)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    await send(port, bodies[:50])
    del bodies[:50]
    return port


async def drained(answer, count):
    found = b""
    seen = 0
    while seen < count:
        found = await answer.read(1 << 20)
        seen += found.count(b'"type":"ADDED"')
"""
START = """
loop = asyncio.new_event_loop()
async def start():
    async with Service() as service:
        return service.url
found = loop.run_until_complete(start())
"""


def run() -> list[Row]:
    """Client and server share the process, so the client's cost is taken from both."""
    imports = measured("from kubeloop.testing.server import Service", times=5)
    start = measured(
        START, setup="import asyncio\nfrom kubeloop.testing.server import Service", times=5
    )
    return [
        Row(
            "ready after import",
            f"{start.wall * 1000:.0f} ms",
            "at most 150 ms",
            start.wall <= 0.150,
        ),
        figure("import of the server", imports.wall * 1000, "ms"),
        *_creates(),
        *_watch_and_list(),
    ]


def _creates() -> list[Row]:
    setup = COMMON.format(count=CREATES + 50)
    loop = "loop = asyncio.new_event_loop()\n"
    servers = {
        "kubeloop": f"{loop}service = loop.run_until_complete(started()); port = port_of(service.url)",
        "echo": f"{loop}port = loop.run_until_complete(echoing())",
        "nothing": f"{loop}port = loop.run_until_complete(canned())",
    }
    costs = {
        name: side_by_side(
            {"": "loop.run_until_complete(send(port, bodies))"},
            setup=f"{setup}\n{CANNED}\n{server}",
            times=3,
        )[""]
        for name, server in servers.items()
    }
    client = costs["nothing"].cpu
    return [
        ratio(
            "create of a pod / parse and echo in aiohttp, CPU",
            costs["kubeloop"].cpu - client,
            costs["echo"].cpu - client,
            at_most=3.0,
        ),
        figure("creates of pods, client included", CREATES / costs["kubeloop"].wall, "a second"),
        figure("parse and echo, client included", CREATES / costs["echo"].wall, "a second"),
    ]


# Answers without looking: what is left is the client, and the sockets under it.
CANNED = """
async def canned():
    async def handle(reader, writer):
        while head := await reader.readuntil(b"\\r\\n\\r\\n"):
            size = int(head.rpartition(b"Content-Length: ")[2])
            writer.write(b"HTTP/1.1 201 X\\r\\nContent-Length: %d\\r\\n\\r\\n" % size)
            writer.write(await reader.readexactly(size))
    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    globals()["keep"] = server
    port = server.sockets[0].getsockname()[1]
    await send(port, bodies[:50])
    del bodies[:50]
    return port
"""


def _watch_and_list() -> list[Row]:
    return []
