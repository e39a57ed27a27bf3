"""Requests one after the other, and a long list, each client in a process of its own.

Rounds of create, get, update and delete on a real API server, where each process lives for all its
turns; lists, each in a new process, as a script has it; single requests on a server that only
responds (`responder`), where a bare protocol shows how little is possible.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bench.bench_peers import LISTED, contestants
from bench.cluster import cluster_with, go_program, missing_assets
from bench.contest import Contestant, Snippet, in_rounds, in_turns
from bench.measure import Cost, Row, figures, ratio_of_turns
from bench.responder import Address, responding
from bench.scale import count

NAME = "transport: requests"
GOAL = (
    "a round of create, get, update, delete within 0.40 of the official client's CPU and 1.0 of "
    "client-go's; a list of 2,000 pods decoded within 1.1 of client-go's"
)

REQUEST_TURNS = count("REQUEST_TURNS", 40, full=80)
REQUESTS = 250  # in a turn
ROUND_TURNS = count("ROUND_TURNS", 100, full=200)
ROUNDS = 15  # of create, get, update and delete in a turn
LISTS = count("LISTS", 25, full=50)
PODS = 2_000

OURS, OFFICIAL, GO, BARE = "kubeloop", "official client", "client-go", "bare protocol"
GO_LISTED = "client-go list"

# A loop that lives on between turns.
LOOPS = {
    "uvloop": (
        "import asyncio, uvloop\nrunner = asyncio.Runner(loop_factory=uvloop.new_event_loop)\n"
    ),
    "asyncio": "import asyncio\nrunner = asyncio.Runner()\n",
}
_OUR_LOOP = (
    "import asyncio\nfrom kubeloop.kit.running import new_event_loop\n"
    "runner = asyncio.Runner(loop_factory=new_event_loop)\n"
)
_OURS_ROUND = """
from kubeloop import Client
from kubeloop.wire.core.v1 import ConfigMap
from kubeloop.wire.meta.v1 import ObjectMeta

async def open_client():
    return await Client().__aenter__()

maps = runner.run(open_client()).core_v1.config_maps("default")

async def work():
    for number in range(ROUNDS):
        name = f"ours-{number}"
        await maps.create(ConfigMap(metadata=ObjectMeta(name=name), data={"a": "1"}))
        found = await maps.get(name)
        found.data["a"] = "2"
        await maps.update(found)
        await maps.delete(name)
"""
_OFFICIAL_ROUND = """
from kubernetes import client, config
config.load_kube_config()
core = client.CoreV1Api()

def work():
    for number in range(ROUNDS):
        name = f"official-{number}"
        body = client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name), data={"a": "1"})
        core.create_namespaced_config_map("default", body)
        found = core.read_namespaced_config_map(name, "default")
        found.data["a"] = "2"
        core.replace_namespaced_config_map(name, "default", found)
        core.delete_namespaced_config_map(name, "default")
"""
_OURS_REQUEST = """
from kubeloop import ClusterConfig
from kubeloop.rest import RESTClient, path_request

config = ClusterConfig(server=URL, ca_file=CA_FILE, token="bench")
path = "/api/v1/namespaces/default/configmaps/settings"
request = path_request("PUT", path, body=BODY)

async def open_client():
    return await RESTClient(config).__aenter__()

rest = runner.run(open_client())

async def work():
    for _ in range(REQUESTS):
        response = await rest.send(request)
        assert response.status == 200
"""
# No pool, no deadline, no limit: the least that asyncio, TLS and a parser cost.
_BARE_REQUEST = """
import ssl
from urllib.parse import urlsplit
import httptools

class Connection(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport = transport

    def send(self, data):
        self.headers, self.pieces = [], []
        self.parser = httptools.HttpResponseParser(self)
        self.answer = asyncio.get_running_loop().create_future()
        self.transport.write(data)
        return self.answer

    def data_received(self, data):
        self.parser.feed_data(data)

    def on_header(self, name, value):
        self.headers.append((name, value))

    def on_body(self, piece):
        self.pieces.append(piece)

    def on_message_complete(self):
        status = self.parser.get_status_code()
        self.answer.set_result((status, self.headers, b"".join(self.pieces)))

async def connect():
    context = ssl.create_default_context(cafile=CA_FILE)
    loop = asyncio.get_running_loop()
    port = urlsplit(URL).port
    return (await loop.create_connection(Connection, "127.0.0.1", port, ssl=context))[1]

connection = runner.run(connect())
head = (
    b"PUT /api/v1/namespaces/default/configmaps/settings HTTP/1.1\\r\\n"
    b"Host: 127.0.0.1\\r\\nAccept: application/json\\r\\nContent-Type: application/json\\r\\n"
    b"User-Agent: bench\\r\\nAuthorization: Bearer bench\\r\\n"
)

async def work():
    for _ in range(REQUESTS):
        data = b"".join((head, b"Content-Length: %d\\r\\n\\r\\n" % len(BODY), BODY))
        status, headers, body = await connection.send(data)
        assert status == 200
"""
_SENT = b'{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"settings"},"data":{"a":"1"}}'
_RUN = "kept = runner.run(work())"

Runs = Mapping[str, list[Cost]]


def run() -> Iterator[Row]:
    """CPU of the client's own process; the servers are others."""
    yield from _request_rows()
    missing = missing_assets()
    if missing:
        yield Row(NAME, missing)
        return
    with cluster_with(0) as cluster:
        yield from _round_rows(in_turns(_rounds(), times=ROUND_TURNS))
        cluster.grow(PODS)
        yield from _list_rows(in_rounds(_lists(), times=LISTS))


def _rounds() -> dict[str, Contestant]:
    ours = (_OUR_LOOP + _OURS_ROUND).replace("ROUNDS", str(ROUNDS))
    found: dict[str, Contestant] = {
        OURS: Snippet(_RUN, ours),
        OFFICIAL: Snippet("work()", _OFFICIAL_ROUND.replace("ROUNDS", str(ROUNDS))),
    }
    program = go_program("round", count=ROUNDS)
    return found if program is None else {**found, GO: program}


def _round_rows(runs: Runs) -> Iterator[Row]:
    what = "a round of create, get, update, delete, CPU"
    yield _compared(f"{what} / {OFFICIAL}", runs, OURS, OFFICIAL, at_most=0.40)
    if GO in runs:
        yield _compared(f"{what} / {GO}", runs, OURS, GO, at_most=1.0)
    for name, costs in runs.items():
        yield figures(f"a round, {name}", [each / ROUNDS * 1e6 for each in _cpu(costs)], "µs CPU")


def _lists() -> dict[str, Contestant]:
    found = contestants(PODS)
    return {name: found[name] for name in (LISTED, GO_LISTED) if name in found}


def _list_rows(runs: Runs) -> Iterator[Row]:
    what = f"a list of {PODS:,} pods decoded"
    if GO_LISTED in runs:
        yield _compared(f"{what}, CPU / {GO} protobuf", runs, LISTED, GO_LISTED, at_most=1.1)
    for name, costs in runs.items():
        yield figures(f"{what}, {name}", [each * 1000 for each in _cpu(costs)], "ms CPU")


def _request_rows() -> Iterator[Row]:
    with responding() as address:
        runs = in_turns(_requests(address), times=REQUEST_TURNS)
    for loop in LOOPS:
        ours, bare = f"{OURS}, {loop}", f"{BARE}, {loop}"
        yield _compared(f"a request over TLS, {loop}, CPU / {BARE}", runs, ours, bare)
    for name in (OURS, BARE):
        fast, slow = f"{name}, uvloop", f"{name}, asyncio"
        yield _compared(f"a request over TLS, {name}, CPU, uvloop / asyncio", runs, fast, slow)
    for name, costs in runs.items():
        each = [spent / REQUESTS * 1e6 for spent in _cpu(costs)]
        yield figures(f"a request over TLS, {name}", each, "µs CPU")


def _requests(address: Address) -> dict[str, Contestant]:
    names = (
        f"URL, CA_FILE = {address.url!r}, {address.ca_file!r}\n"
        f"BODY, REQUESTS = {_SENT!r}, {REQUESTS}\n"
    )
    return {
        f"{name}, {loop}": Snippet(_RUN, names + start + code)
        for loop, start in LOOPS.items()
        for name, code in ((OURS, _OURS_REQUEST), (BARE, _BARE_REQUEST))
    }


def _compared(
    what: str, runs: Runs, ours: str, theirs: str, *, at_most: float | None = None
) -> Row:
    return ratio_of_turns(what, _cpu(runs[ours]), _cpu(runs[theirs]), at_most=at_most)


def _cpu(costs: list[Cost]) -> list[float]:
    return [cost.cpu for cost in costs]
