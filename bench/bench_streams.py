"""Output of a program, files of a container, and a byte through a forwarded port.

The embedded server plays the kubelet, in a process of its own; each client runs in its own as
well. Run as a program, this module is that server.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.cluster import missing_assets
from bench.contest import Command, Contestant, Snippet, attempted
from bench.embedded_server import write
from bench.measure import ROOT, Cost, Failed, Row, figures, ratios
from bench.scale import count
from kubeloop.kit import run as run_loop
from kubeloop.testing import APIServer, Process, assets_folder
from kubeloop.wire.core.v1 import Container, Pod, PodSpec
from kubeloop.wire.meta.v1 import ObjectMeta

NAME = "streams"
GOAL = "half of the CPU of the best Python peer, and 1.2 of the wall time of kubectl"

# The Python peers need time in proportion to the square of it.
MEGABYTES = count("STREAM_MB", 20, full=50)
FILES = count("STREAM_FILES", 2_000, full=10_000)
TRIPS = count("STREAM_TRIPS", 500, full=2_000)
ROUNDS = count("ROUNDS", 2, full=5)

OURS, KUBECTL = "kubeloop", "kubectl"
_SETUP = "import asyncio\nfrom kubeloop import Client, run\n"
_OFFICIAL = (
    "from kubernetes import client, config\nfrom kubernetes.stream import stream\n"
    "config.load_kube_config()\ncore = client.CoreV1Api()\n"
)
_EXEC = {
    OURS: (
        _SETUP,
        """
async def work():
    size = 0
    async with Client() as client:
        pods = client.core_v1.pods("default")
        async with pods.exec("web", ["flood"], stderr=False) as process:
            async for chunk in process.stdout:
                size += len(chunk)
    return size
assert run(work()) == MEGABYTES << 20
""",
    ),
    "official client": (
        _OFFICIAL,
        """
socket = stream(
    core.connect_get_namespaced_pod_exec, "web", "default", command=["flood"],
    stdout=True, stderr=False, stdin=False, tty=False, binary=True, _preload_content=False,
)
size = 0
while socket.is_open():
    socket.update(timeout=1)
    if socket.peek_stdout():
        size += len(socket.read_stdout())
assert size == MEGABYTES << 20, size
""",
    ),
    "kr8s": (
        "import asyncio, io, kr8s.asyncio\nfrom kr8s.asyncio.objects import Pod\n",
        """
class Counter(io.RawIOBase):
    size = 0
    def write(self, data):
        self.size += len(data)
        return len(data)
async def work():
    counter = Counter()
    pod = await Pod.get("web", namespace="default")
    await pod.exec(["flood"], stdout=counter)
    return counter.size
assert asyncio.run(work()) == MEGABYTES << 20
""",
    ),
}
_COPY = {
    OURS: (
        f"{_SETUP}import tempfile\n",
        """
async def work(folder):
    async with Client() as client:
        return await client.core_v1.pods("default").copy_from("web", "/many", folder + "/many")
with tempfile.TemporaryDirectory() as folder:
    assert run(work(folder)).files == FILES
""",
    ),
}
_FORWARD = {
    OURS: (
        _SETUP,
        """
async def work():
    async with Client() as client:
        async with client.core_v1.pods("default").port_forward("web", 8080) as local:
            await trips(local.port)
run(work())
""",
    ),
}
_TRIPS = """
async def trips(port):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for _ in range(TRIPS):
        writer.write(b"x")
        await reader.readexactly(1)
    writer.close()
"""


def run() -> Iterator[Row]:
    """The rows of all three."""
    with serving():
        yield from _rows(
            f"exec: {MEGABYTES} MB", _contestants(_EXEC), ["exec", "web", "--", "flood"]
        )
        with tempfile.TemporaryDirectory() as folder:
            yield from _rows(
                f"cp: {FILES} small files",
                _contestants(_COPY),
                ["cp", "web:/many", f"{folder}/many"],
            )
        yield from _rows(f"port-forward: {TRIPS} round trips", _contestants(_FORWARD), [])


def _contestants(programs: dict[str, tuple[str, str]]) -> dict[str, Contestant]:
    numbers = f"MEGABYTES, FILES, TRIPS = {MEGABYTES}, {FILES}, {TRIPS}\n"
    return {
        name: Snippet(code, setup + numbers + _TRIPS) for name, (setup, code) in programs.items()
    }


def _rows(what: str, contestants: dict[str, Contestant], kubectl: list[str]) -> Iterator[Row]:
    if kubectl and not missing_assets():
        contestants[KUBECTL] = Command((str(assets_folder() / "kubectl"), *kubectl))
    costs, failures = attempted(contestants, times=ROUNDS)
    if OURS in failures:
        raise failures[OURS]
    for name, found in costs.items():
        yield figures(f"{what}, {name}: CPU", _cpu(found), "s")
        yield figures(f"{what}, {name}: wall", [cost.wall for cost in found], "s")
    for name, failure in failures.items():
        yield Row(f"{what}, {name}", f"failed: {str(failure)[-80:]}")
    ours = costs[OURS]
    peers = {name: found for name, found in costs.items() if name not in {OURS, KUBECTL}}
    if peers:
        best = min(peers.values(), key=lambda found: min(cost.cpu for cost in found))
        yield ratios(
            f"{what}: CPU against the best Python peer", _cpu(ours), _cpu(best), at_most=0.5
        )
    if KUBECTL in costs:
        walls = [[cost.wall for cost in found] for found in (ours, costs[KUBECTL])]
        yield ratios(f"{what}: wall time against kubectl", *walls, at_most=1.2)


def _cpu(costs: list[Cost]) -> list[float]:
    return [cost.cpu for cost in costs]


# --- the server


@contextmanager
def serving() -> Iterator[None]:
    """A server with the pod `web`, in KUBECONFIG."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kubeconfig")
        command = [sys.executable, "-m", "bench.bench_streams", str(path)]
        with subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            if not process.stdout.readline():
                raise Failed("the server did not start")
            before = os.environ.get("KUBECONFIG")
            os.environ["KUBECONFIG"] = str(path)
            try:
                yield
            finally:
                del os.environ["KUBECONFIG"]
                if before is not None:
                    os.environ["KUBECONFIG"] = before
                process.stdin.close()


async def flood(process: Process) -> int:
    piece = bytes(1 << 20)
    for _ in range(MEGABYTES):
        await process.stdout.write(piece)
    return 0


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)


async def serve(path: Path) -> None:
    """Serve until the input ends."""
    async with APIServer(tls=True) as server:
        write(path, server.kubeconfig())
        pod = Pod(
            metadata=ObjectMeta(name="web"),
            spec=PodSpec(containers=[Container(name="app", image="bench")]),
        )
        await server.client().core_v1.pods("default").create(pod)
        server.kubelet.run_pod("web")
        server.kubelet.command("flood", flood)
        server.kubelet.port(8080, echo)
        server.kubelet.files({f"/many/{each:05}": b"x" * 100 for each in range(FILES)})
        print("ready", flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    run_loop(serve(Path(sys.argv[1])))
