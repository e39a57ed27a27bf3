"""Output of a program, files of a container, and a byte through a forwarded port.

Programs run behind kube-apiserver and the stand-in kubelet (`cat` and `tar` of this machine), or,
where these are missing, in the embedded server. Servers and clients are processes of their own.
Run as a program, this module is the server.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from bench.cluster import missing_assets
from bench.contest import Command, Contestant, Snippet, attempted
from bench.embedded_server import write
from bench.measure import ROOT, Cost, Failed, Row, figure, figures, ratios
from bench.scale import count
from kubeloop.kit import run as run_loop
from kubeloop.wire.core.v1 import (
    Container,
    DaemonEndpoint,
    Node,
    NodeAddress,
    NodeDaemonEndpoints,
    NodeStatus,
    Pod,
    PodSpec,
    PodStatus,
)
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop_testing import APIServer, ControlPlane, Process, assets_folder
from kubeloop_testing.control_plane import cached_assets

NAME = "streams"
GOAL = "half of the CPU of the best Python peer, and 1.2 of the wall time of kubectl"

# The Python peers need time in proportion to the square of it.
MEGABYTES = count("STREAM_MB", 20, full=50)
COPY = count("STREAM_COPY_MB", 100, full=1024)
FILES = count("STREAM_FILES", 2_000, full=10_000)
TRIPS = count("STREAM_TRIPS", 500, full=2_000)
ROUNDS = count("ROUNDS", 3, full=5)

OURS, KUBECTL = "kubeloop", "kubectl"
# In memory if possible: on a disk, to create a file takes ten times as long in some runs.
_MEMORY = next((each for each in ("/dev/shm",) if os.access(each, os.W_OK)), None)
_KUBELET = cached_assets() / "stand-in-kubelet"
_SETUP = "import asyncio\nfrom kubeloop import Client, run\n"
_OFFICIAL = (
    "from kubernetes import client, config\nfrom kubernetes.stream import stream\n"
    "config.load_kube_config()\ncore = client.CoreV1Api()\n"
)
_KR8S = "import asyncio, kr8s.asyncio\nfrom kr8s.asyncio.objects import Pod\n"
# kr8s is not here: it did not finish 10 MB in two minutes.
_EXEC = {
    OURS: (
        _SETUP,
        """
async def work():
    size = 0
    async with Client() as client:
        pods = client.core_v1.pods("default")
        async with pods.exec("web", ["cat", "some"], stderr=False) as process:
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
    core.connect_get_namespaced_pod_exec, "web", "default", command=["cat", "some"],
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
}
_COPY = {
    OURS: (
        f"{_SETUP}import tempfile\n",
        """
async def work(folder):
    async with Client() as client:
        return await client.core_v1.pods("default").copy_from("web", SOURCE, folder + "/copy")
with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
    assert run(work(folder)).files == EXPECTED
""",
    ),
}
# It has no copy: this is the shortest program for one.
_COPY_BY_HAND = {
    "official client": (
        f"{_OFFICIAL}import os, tarfile, tempfile\n",
        """
socket = stream(
    core.connect_get_namespaced_pod_exec, "web", "default", command=["tar", "cf", "-", SOURCE],
    stdout=True, stderr=False, stdin=False, tty=False, binary=True, _preload_content=False,
)
with tempfile.TemporaryDirectory(dir=MEMORY) as folder, open(folder + ".tar", "w+b") as archive:
    while socket.is_open():
        socket.update(timeout=1)
        if socket.peek_stdout():
            archive.write(socket.read_stdout())
    archive.seek(0)
    with tarfile.open(fileobj=archive) as members:
        members.extractall(folder, filter="data")
os.remove(archive.name)
""",
    ),
}
# The local client is a process of its own, so that the CPU is that of the forward.
_TRIPS = """
import asyncio, sys
async def started(port):
    return await asyncio.create_subprocess_exec(
        sys.executable, "-c", LOCAL_CLIENT, str(port), str(TRIPS), stdin=-1, stdout=-1
    )
async def trips():
    local.stdin.write(b"start\\n")
    assert await local.stdout.readline() == b"done\\n"
"""
_LOCAL_CLIENT = """
import socket, sys
with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as connection:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sys.stdin.readline()
    for _ in range(int(sys.argv[2])):
        connection.sendall(b"x")
        assert connection.recv(1) == b"x"
    print("done", flush=True)
"""
_FORWARD = {
    OURS: (
        f"""{_SETUP}{_TRIPS}
from kubeloop.kit import new_event_loop
runner = asyncio.Runner(loop_factory=new_event_loop)
async def forward():
    global client, block, local
    client = Client()
    block = client.core_v1.pods("default").port_forward("web", PORT)
    local = await started((await block.__aenter__()).port)
runner.run(forward())
""",
        "runner.run(trips())",
    ),
    "kr8s": (
        f"""{_KR8S}{_TRIPS}
runner = asyncio.Runner()
async def forward():
    global block, local
    block = (await Pod.get("web", namespace="default")).portforward(PORT, local_port="auto")
    local = await started(await block.__aenter__())
runner.run(forward())
""",
        "runner.run(trips())",
    ),
}
_KUBECTL_FORWARD = f"""
import subprocess
{_TRIPS}
process = subprocess.Popen(
    [PROGRAM, "port-forward", "pod/web", f":{{PORT}}"], stdout=subprocess.PIPE, text=True
)
port = int(process.stdout.readline().split(" -> ")[0].rpartition(":")[2])
runner = asyncio.Runner()
local = runner.run(started(port))
"""
_SLOW_READER = """
import time
async def work():
    size = 0
    async with Client() as client:
        pods = client.core_v1.pods("default")
        async with pods.exec("web", ["cat", "large"], stderr=False) as process:
            async for chunk in process.stdout:
                size += len(chunk)
                if size % (COPY << 16) < len(chunk):  # 16 times
                    await asyncio.sleep(0.1)
    return size
assert run(work()) == COPY << 20
"""


def run() -> Iterator[Row]:
    """The rows of all of them."""
    with serving() as port:
        numbers = f"MEGABYTES, COPY, TRIPS, PORT = {MEGABYTES}, {COPY}, {TRIPS}, {port}\n"
        numbers += f"LOCAL_CLIENT = {_LOCAL_CLIENT!r}\n"
        yield from _rows(
            f"exec cat, {MEGABYTES} MB", _contestants(_EXEC, numbers), ["exec", "web", "--", *_CAT]
        )
        many = f"SOURCE, EXPECTED = 'many', {FILES}\n"
        yield from _copy_rows(f"cp, {FILES:,} small files", _COPY | _COPY_BY_HAND, many)
        yield from _copy_rows(f"cp, {COPY} MB", _COPY, "SOURCE, EXPECTED = 'large', 1\n")
        forwards = _contestants(_FORWARD, numbers)
        if not missing_assets():
            program = f"PROGRAM = {str(assets_folder() / 'kubectl')!r}\n"
            setup = numbers + program + _KUBECTL_FORWARD
            forwards[KUBECTL] = Snippet("runner.run(trips())\nprocess.kill()", setup)
        yield from _rows(f"port-forward, {TRIPS} round trips of a byte", forwards, [])
        slow, _ = attempted({OURS: Snippet(_SLOW_READER, _SETUP + numbers)}, times=1)
        (cost,) = slow[OURS]
        grown = (cost.peak - cost.before) / (1 << 20)
        yield figure(f"exec cat, {COPY} MB to a reader that sleeps: memory added", grown, "MB")


_CAT = ("cat", "some")


def _copy_rows(what: str, programs: dict[str, tuple[str, str]], names: str) -> Iterator[Row]:
    names += f"MEMORY = {_MEMORY!r}\n"
    with tempfile.TemporaryDirectory(dir=_MEMORY) as folder:
        source = names.split("'")[1]
        yield from _rows(
            what, _contestants(programs, names), ["cp", f"web:{source}", f"{folder}/copy"]
        )


def _contestants(programs: dict[str, tuple[str, str]], names: str) -> dict[str, Contestant]:
    return {name: Snippet(code, names + setup) for name, (setup, code) in programs.items()}


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
def serving() -> Iterator[int]:
    """A server with the pod `web`, in KUBECONFIG; the port of the pod that echoes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kubeconfig")
        command = [sys.executable, "-m", "bench.bench_streams", str(path)]
        with subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            line = process.stdout.readline()
            if not line:
                raise Failed("the server did not start")
            before = os.environ.get("KUBECONFIG")
            os.environ["KUBECONFIG"] = str(path)
            try:
                yield int(line)
            finally:
                del os.environ["KUBECONFIG"]
                if before is not None:
                    os.environ["KUBECONFIG"] = before
                process.stdin.close()


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)


async def serve(path: Path) -> None:
    """Serve until the input ends."""
    echoing = await asyncio.start_server(echo, "127.0.0.1", 0)
    port = echoing.sockets[0].getsockname()[1]
    with tempfile.TemporaryDirectory() as name:
        server = _embedded() if missing_assets() or not _KUBELET.exists() else _real(Path(name))
        async with echoing, server as (kubeconfig, embedded):
            if embedded is not None:
                embedded.kubelet.port(port, ("127.0.0.1", port))
            write(path, kubeconfig)
            print(port, flush=True)
            await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


@asynccontextmanager
async def _real(folder: Path) -> AsyncIterator[tuple[str, None]]:
    """kube-apiserver, and a kubelet whose containers run in a folder with the files."""
    container = folder / "container"
    (container / "many").mkdir(parents=True)
    for number in range(FILES):
        (container / "many" / f"{number:05}").write_bytes(b"x" * 100)
    for name, size in (("some", MEGABYTES), ("large", COPY)):
        with (container / name).open("wb") as file:
            for _ in range(size):
                file.write(bytes(1 << 20))
    async with ControlPlane() as plane:
        certificate, key = plane.server_certificate().write(folder, "kubelet")
        (folder / "ca.crt").write_bytes(plane.ca)
        flags = (f"-cert={certificate}", f"-key={key}", f"-ca={folder / 'ca.crt'}")
        process = await asyncio.create_subprocess_exec(
            _KUBELET, *flags, f"-programs={container}", stdin=-1, stdout=-1
        )
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            await _add_pod(plane, int(await process.stdout.readline()))
            yield plane.kubeconfig(), None
        finally:
            process.stdin.close()  # it exits at the end of its input
            await process.wait()


async def _add_pod(plane: ControlPlane, port: int) -> None:
    core = plane.client().core_v1
    node = await core.nodes().create(Node(metadata=ObjectMeta(name="node")))
    node.status = NodeStatus(
        addresses=[NodeAddress(type="InternalIP", address="127.0.0.1")],
        daemon_endpoints=NodeDaemonEndpoints(kubelet_endpoint=DaemonEndpoint(port=port)),
    )
    await core.nodes().status.update(node)
    pod = await core.pods("default").create(_pod())
    pod.status = PodStatus(phase="Running")
    await core.pods("default").status.update(pod)


def _pod() -> Pod:
    spec = PodSpec(node_name="node", containers=[Container(name="app", image="bench")])
    return Pod(metadata=ObjectMeta(name="web"), spec=spec)


@asynccontextmanager
async def _embedded() -> AsyncIterator[tuple[str, APIServer]]:
    async def cat(process: Process) -> int:
        for _ in range(MEGABYTES if process.command[1] == "some" else COPY):
            await process.stdout.write(piece)
        return 0

    piece = bytes(1 << 20)
    async with APIServer(tls=True) as server:
        await server.client().core_v1.pods("default").create(_pod())
        server.kubelet.run_pod("web")
        files = {f"/many/{each:05}": b"x" * 100 for each in range(FILES)}
        server.kubelet.files({**files, "/large": bytes(COPY << 20)})
        server.kubelet.command("cat", cat)
        yield server.kubeconfig(), server


if __name__ == "__main__":
    run_loop(serve(Path(sys.argv[1])))
