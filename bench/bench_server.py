"""The embedded API server: how soon it is ready, and what a create, an event, a list cost."""

from __future__ import annotations

from bench.contest import measured, side_by_side
from bench.measure import Cost, Row, figure, ratio

NAME = "embedded API server"
GOAL = "ready in 150 ms; a create at most 3 times the CPU of a handler that parses and echoes"

CREATES = 2_000
EVENTS = 20_000
PODS = 10_000

# A client that no library takes part in: requests one after the other on one connection.
CLIENT = """
import asyncio, msgspec
from aiohttp import web
from bench.pods import pod

PATH = "/api/v1/namespaces/default/pods"


def body(number):
    found = pod(number)
    metadata = {key: found["metadata"][key] for key in ("name", "labels", "annotations")}
    new = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": found["spec"]}
    return msgspec.json.encode(new)


async def send(port, bodies):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"POST {PATH} HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\nContent-Type: application/json\\r\\n"
    for body in bodies:
        writer.write(f"{head}Content-Length: {len(body)}\\r\\n\\r\\n".encode() + body)
        answer = await reader.readuntil(b"\\r\\n\\r\\n")
        assert answer.startswith(b"HTTP/1.1 201"), answer
        await reader.readexactly(length(answer))
    writer.close()
    await writer.wait_closed()


async def get(port, path):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {path} HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\n\\r\\n".encode())
    return await reader.readuntil(b"\\r\\n\\r\\n"), reader, writer


def length(head):
    lines = (line.lower() for line in head.split(b"\\r\\n"))
    return next(int(line[15:]) for line in lines if line.startswith(b"content-length:"))


async def kubeloop():
    from kubeloop.testing.server import Service

    global service
    service = await Service().__aenter__()
    return int(service.url.rpartition(":")[2])


async def echoing():
    async def echo(request):
        return web.json_response(await request.json(), status=201)

    app = web.Application()
    app.router.add_post(PATH, echo)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    return runner.addresses[0][1]


async def canned():
    async def handle(reader, writer):
        while not reader.at_eof():
            head = await reader.readuntil(b"\\r\\n\\r\\n")
            size = length(head)
            writer.write(b"HTTP/1.1 201 X\\r\\nContent-Length: %d\\r\\n\\r\\n" % size)
            writer.write(await reader.readexactly(size))

    global server
    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    return server.sockets[0].getsockname()[1]


loop = asyncio.new_event_loop()
loop.set_exception_handler(lambda *_: None)  # connections are not closed cleanly
"""
START = """
async def start():
    async with Service() as service:
        return service.url

found = asyncio.run(start())
"""
FILL = """
port = loop.run_until_complete(kubeloop())
store = service.core.store


def fill(count):
    for number in range(count):
        found = pod(number)
        found["metadata"]["namespace"] = "default"
        store.write(("", "pods"), found)
"""
LIST = """
async def listed():
    head, reader, writer = await get(port, PATH)
    found = await reader.readexactly(length(head))
    writer.close()
    return found

found = loop.run_until_complete(listed())
"""
WATCH = """
lease = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": "default"}}


async def written(count):
    for number in range(count):
        metadata = {"name": f"event-{number}", "namespace": "default"}
        store.write(("", "configmaps"), {**lease, "metadata": metadata})
        if number % 100 == 99:
            await asyncio.sleep(0)


async def watched(count):
    path = "/api/v1/namespaces/default/configmaps?watch=1"
    head, reader, writer = await get(port, path)
    writes = asyncio.create_task(written(count))
    seen = 0
    while seen < count:
        chunk = await reader.read(1 << 18)
        assert chunk, "the watch ended"
        seen += chunk.count(b"ADDED")
    writer.close()
    await writes

loop.run_until_complete(watched(COUNT))
"""


def run() -> list[Row]:
    """Client and server share a process: what the client costs is taken from both."""
    importing = measured("from kubeloop.testing.server import Service", times=3)
    setup = "import asyncio\nfrom kubeloop.testing.server import Service"
    start = measured(START, setup=setup, times=3)
    ready = Row(
        "ready, after import", f"{start.wall * 1000:.0f} ms", "at most 150 ms", start.wall <= 0.150
    )
    return [
        ready,
        figure("import", importing.wall * 1000, "ms"),
        *_creates(),
        *_watch(),
        *_list(),
    ]


def _creates() -> list[Row]:
    bodies = f"bodies = [body(number) for number in range({CREATES + 50})]"
    costs = {
        name: _sent(f"{CLIENT}\n{bodies}\nport = loop.run_until_complete({name}())")
        for name in ("kubeloop", "echoing", "canned")
    }
    client = costs["canned"].cpu
    ours, theirs = costs["kubeloop"], costs["echoing"]
    return [
        ratio(
            "create a pod / parse and echo, CPU", ours.cpu - client, theirs.cpu - client, at_most=3
        ),
        figure("creates, client included", CREATES / ours.wall, "a second"),
        figure("echoes, client included", CREATES / theirs.wall, "a second"),
    ]


def _sent(setup: str) -> Cost:
    warm = "loop.run_until_complete(send(port, bodies[:50]))  # what is imported late is there"
    snippet = "loop.run_until_complete(send(port, bodies[50:]))"
    return side_by_side({"": snippet}, setup=f"{setup}\n{warm}", times=3)[""]


def _watch() -> list[Row]:
    snippet = WATCH.replace("COUNT", str(EVENTS))
    cost = measured(snippet, setup=f"{CLIENT}\n{FILL}", times=3)
    return [figure("events to one watcher, writes included", EVENTS / cost.wall, "a second")]


def _list() -> list[Row]:
    cost = measured(LIST, setup=f"{CLIENT}\n{FILL}\nfill({PODS})", times=3)
    return [figure(f"a list of {PODS:,} pods", cost.wall * 1000, "ms")]
