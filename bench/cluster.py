"""A real control plane with pods in it, and client-go beside us, for benches that need both."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import final

import msgspec

from bench.contest import Program
from bench.etcd_writer import change_pods, write_pods
from bench.line_process import TIMEOUT, line_process
from bench.measure import ROOT, Cost
from bench.process_cpu import started_cpu
from kubeloop import ALL_NAMESPACES, Client, run
from kubeloop.clients import ResourceClient
from kubeloop.errors import Timeout
from kubeloop.wire.core.v1 import Pod
from kubeloop_testing import ControlPlane, ControlPlaneFailed, assets_folder, running_in_thread
from kubeloop_testing.control_plane import cached_assets

__all__ = [
    "SERVER",
    "Cluster",
    "InformerCosts",
    "client_go",
    "cluster_with",
    "cost_of",
    "go_program",
    "missing_assets",
    "ours",
]

SERVER = "kube-apiserver"
_QUOTA = 8 << 30  # bytes in etcd: 100,000 pods are 600 MB, and every change is kept as well


class InformerCosts(msgspec.Struct, frozen=True):
    """What an informer cost: until it was synced, and for the updates after that."""

    sync: Cost
    events: Cost | None = None
    hold: float = 0.0  # the longest hold of the event loop until then, in CPU seconds
    server: float = 0.0  # CPU seconds of kube-apiserver until it was synced


@final
class Cluster:
    """A control plane that holds pods, and whom informers are measured against."""

    def __init__(self, kubeconfig: Path, plane: ControlPlane) -> None:
        self.kubeconfig = kubeconfig
        self._plane = plane
        self._pods = 0
        self._rounds = 0

    @property
    def etcd(self) -> str:
        """Where pods are written, past the server."""
        return self._plane.etcd_url

    @property
    def url(self) -> str:
        return self._plane.url

    def grow(self, pods: int) -> None:
        """Add pods until there are `pods`, and wait until the server has handed all out once.

        The first read after such a write is slow; it must not be one that is measured.
        """
        if pods > self._pods:
            run(write_pods(self.etcd, range(self._pods, pods)))
            self._pods = pods
            run(self._seen())
            self.run_informer(ours())

    async def _seen(self) -> None:
        """Wait until the cache of the server has what etcd holds.

        Pods of one transaction share a version: who reads a cache that has only some of them,
        and watches from there, never gets the others.
        """
        async with Client(self._plane.config) as client:
            # A list without a version is never older than what etcd holds.
            page = await client.resource(Pod, namespace=ALL_NAMESPACES).list(limit=1)
            first = page.items[0].metadata
            pods = client.resource(Pod, namespace=first.namespace)
            async with asyncio.timeout(TIMEOUT):
                while not await _is_as_new(pods, first.name or "", page.version):
                    pass  # the server has waited for three seconds

    def restart_server(self) -> None:
        """Kill kube-apiserver, start it again, and wait until it is ready."""
        run(self._plane.restart())

    def run_informer(self, command: Sequence[str], *, events: int = 0) -> InformerCosts:
        """Run one informer in a process of its own, and change pods once it is synced.

        Raises: Failed, when it ends too early, or has to be killed: an event that was merged
        with another never comes.
        """
        whole = [*command, f"--objects={self._pods}", f"--events={events}"]
        used = started_cpu(SERVER)
        with line_process(whole, env={"KUBECONFIG": str(self.kubeconfig)}) as program:
            sync, hold = cost_of(program.line())
            server = started_cpu(SERVER) - used
            if not events:
                return InformerCosts(sync, hold=hold, server=server)
            self._rounds += 1
            run(change_pods(self.etcd, events, mark=str(self._rounds)))
            return InformerCosts(sync, cost_of(program.line())[0], hold, server)


@contextmanager
def cluster_with(pods: int) -> Iterator[Cluster]:
    """A real API server that holds `pods` pods; `KUBECONFIG` names it while the block lasts."""
    control_plane = ControlPlane(etcd_flags=[f"--quota-backend-bytes={_QUOTA}"])
    with tempfile.TemporaryDirectory() as folder, running_in_thread(control_plane) as plane:
        path = Path(folder, "kubeconfig")
        path.touch(mode=0o600)
        path.write_text(plane.kubeconfig())
        cluster = Cluster(path, plane)
        cluster.grow(pods)
        os.environ["KUBECONFIG"] = str(path)
        try:
            yield cluster
        finally:
            del os.environ["KUBECONFIG"]


def missing_assets() -> str:
    """Why no control plane can be started here; empty when one can."""
    try:
        assets_folder()
    except ControlPlaneFailed:
        return "skipped: no kube-apiserver (make assets)"
    return ""


def client_go(*, build: bool = True) -> Path | None:
    """The program of bench/peers/clientgo, from `make assets` or built now; None without Go."""
    program = cached_assets() / "bench-clientgo"
    if build:
        command = [sys.executable, str(ROOT / "tools" / "assets.py"), "--only", program.name]
        subprocess.run(command, check=True)
    return program if program.exists() else None


def go_program(work: str, **options: int) -> Program | None:
    """client-go at some work, for the cluster of `KUBECONFIG`; None where there is no Go."""
    program = client_go()
    if program is None:
        return None
    given = [f"--{name}={value}" for name, value in options.items()]
    server = os.environ.get("KUBECONFIG", "")
    return Program((str(program), f"--kubeconfig={server}", f"--work={work}", *given))


def ours(*options: str) -> list[str]:
    """Our own informer as a command."""
    return [sys.executable, "-m", "bench.informer", *options]


async def _is_as_new(pods: ResourceClient[Pod], name: str, version: str) -> bool:
    """Whether the server's cache has this version; the server waits a while for it."""
    try:
        await pods.get(name, resource_version=version)
    except Timeout:
        return False
    return True


def cost_of(line: bytes) -> tuple[Cost, float]:
    """What an informer reports: its cost, and the longest hold of the loop."""
    fields = msgspec.json.decode(line)
    hold = fields.pop("hold", 0.0)
    return msgspec.convert(fields, Cost), hold
