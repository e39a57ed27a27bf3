"""The embedded API server: how soon it is ready, and what a create, an event, a list cost.

Beside kube-apiserver, clients are the same Go program for both servers: over TLS, one HTTP/1.1
connection for each watch and writer, and nothing is decoded.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from bench.cluster import client_go, cluster_with, missing_assets
from bench.contest import measured, side_by_side
from bench.embedded_server import serving
from bench.line_process import line_process
from bench.measure import Cost, Row, figure, figures, ratio, ratios
from bench.process_cpu import started_cpu
from bench.scale import count

NAME = "embedded API server"
GOAL = (
    "ready in 5 ms; a create at most 2.5 times the CPU of a handler that parses and echoes; "
    "twice kube-apiserver's rate with 30 watches and 8 writers, lists 4 times as fast"
)

CREATES = 2_000
EVENTS = 20_000
PODS = 10_000
WATCHES = 30
WRITERS = 8
WRITES = count("WRITES", 3_000, full=10_000)
LISTS = 3
ROUNDS = count("ROUNDS", 3, full=5)
OURS, THEIRS = "embedded", "kube-apiserver"

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
    from kubeloop_testing.server import Service

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


def run() -> Iterator[Row]:
    """Client and server share a process: what the client costs is taken from both."""
    importing = measured("from kubeloop_testing.server import Service", times=3)
    setup = "import asyncio\nfrom kubeloop_testing.server import Service"
    start = measured(START, setup=setup, times=3)
    wall = start.wall * 1000
    yield Row("ready, after import", f"{wall:.1f} ms", "at most 5 ms", ok=wall <= 5)
    yield figure("import", importing.wall * 1000, "ms")
    yield from _creates()
    yield from _watch()
    yield from _beside_apiserver()


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
            "create a pod / parse and echo, CPU",
            ours.cpu - client,
            theirs.cpu - client,
            at_most=2.5,
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


class _Round(msgspec.Struct, frozen=True):
    """One round of a load: seconds until all was received, and the server's CPU seconds."""

    wall: float
    server: float


def _beside_apiserver() -> Iterator[Row]:
    program, missing = client_go(), missing_assets()
    if program is None or missing:
        yield Row("beside kube-apiserver", missing or "skipped: no Go")
        return
    with cluster_with(0) as cluster:
        with serving() as ours:
            yield from _fan_out(program, {OURS: ours, THEIRS: cluster.kubeconfig})
        cluster.grow(PODS)
        with serving(PODS) as ours:
            yield from _lists(program, {OURS: ours, THEIRS: cluster.kubeconfig})


def _fan_out(program: Path, servers: dict[str, Path]) -> Iterator[Row]:
    work = [f"--watches={WATCHES}", f"--workers={WRITERS}", f"--count={WRITES}"]
    rounds = _rounds(program, servers, ["--work=fanout", *work])
    yield from _compared(f"{WATCHES} watches, {WRITERS} writers", rounds, at_most=0.5)
    for name, found in rounds.items():
        rates = [WRITES / each.wall for each in found]
        yield figures(f"{WATCHES} watches, {WRITERS} writers, {name}", rates, "writes/s")


def _lists(program: Path, servers: dict[str, Path]) -> Iterator[Row]:
    for how, options in (("compressed", []), ("plain", ["--plain"])):
        lists = _rounds(program, servers, ["--work=raw-list", f"--count={LISTS}", *options])
        yield from _compared(f"a list of {PODS:,} pods, {how}", lists, at_most=0.25)


def _rounds(program: Path, servers: dict[str, Path], work: list[str]) -> dict[str, list[_Round]]:
    """The servers take turns; the other one is idle meanwhile."""
    found: dict[str, list[_Round]] = {name: [] for name in servers}
    for _ in range(ROUNDS):
        for name, kubeconfig in servers.items():
            before = started_cpu()
            with line_process([str(program), f"--kubeconfig={kubeconfig}", *work]) as client:
                cost = msgspec.json.decode(client.line(), type=Cost)
            found[name].append(_Round(cost.wall, started_cpu() - before))
    return found


def _compared(what: str, rounds: dict[str, list[_Round]], *, at_most: float) -> Iterator[Row]:
    ours, theirs = rounds[OURS], rounds[THEIRS]
    walls = [each.wall for each in ours], [each.wall for each in theirs]
    yield ratios(f"{what}: time / {THEIRS}", *walls, at_most=at_most)
    used = [each.server for each in ours], [each.server for each in theirs]
    yield ratios(f"{what}: CPU of the server / {THEIRS}", *used)
