"""A real control plane with pods in it, and client-go beside us, for benches that need both."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from bench.measure import ROOT, Cost, Failed
from bench.served import fill
from kubeloop import ALL, Client, ClusterConfig, run
from kubeloop.testing import ControlPlane, assets_folder, running_in_thread
from kubeloop.wire.core.v1 import Namespace, Pod
from kubeloop.wire.meta.v1 import ObjectMeta

__all__ = ["Mirrored", "client_go", "cluster_with", "mirrored"]


class Mirrored(msgspec.Struct, frozen=True):
    """What an informer cost: until it was synced, and for the updates after that."""

    sync: Cost
    events: Cost | None = None


@contextmanager
def cluster_with(pods: int) -> Iterator[Path]:
    """The path of a kubeconfig for a real API server that holds `pods` pods."""
    with tempfile.TemporaryDirectory() as folder, running_in_thread(ControlPlane()) as plane:
        path = Path(folder, "kubeconfig")
        path.touch(mode=0o600)
        path.write_text(plane.kubeconfig())
        run(_loaded(plane.config, pods))
        yield path


async def _loaded(config: ClusterConfig, pods: int) -> None:
    async with Client(config) as client:
        for number in range(12):
            namespace = Namespace(metadata=ObjectMeta(name=f"team-{number}"))
            await client.core_v1.namespaces().create(namespace)
        await fill(client, pods)


def client_go() -> Path | None:
    """The Go program, built once into the folder of the assets; None where there is no Go."""
    program = assets_folder() / "kubeloop-bench-clientgo"
    if not program.exists():
        if shutil.which("go") is None:
            return None
        source = ROOT / "bench" / "peers" / "clientgo"
        subprocess.run(["go", "build", "-o", str(program), "."], cwd=source, check=True)
    return program


def ours(*options: str) -> list[str]:
    """Our own informer as a command."""
    return [sys.executable, "-m", "bench.mirror", *options]


def mirrored(command: Sequence[str], kubeconfig: Path, *, objects: int, events: int) -> Mirrored:
    """Run one informer in a process of its own, and change pods once it is synced."""
    mark = "-" if command[0] != sys.executable else "--"
    numbers = [f"{mark}objects={objects}", f"{mark}events={events}"]
    with subprocess.Popen(
        [*command, *numbers],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        env={**os.environ, "KUBECONFIG": str(kubeconfig)},
    ) as process:
        assert process.stdout is not None
        sync = _cost(process.stdout.readline())
        if not events:
            return Mirrored(sync)
        run(_changed(kubeconfig, events))
        return Mirrored(sync, _cost(process.stdout.readline()))


def _cost(line: bytes) -> Cost:
    if not line:
        raise Failed("the informer ended before it was done")
    said = msgspec.json.decode(line)
    return Cost(said["wall"], said["cpu"], 0, said["peak"], said["steady"])


async def _changed(kubeconfig: Path, events: int) -> None:
    """Change one label of one pod after the other, `events` times in all."""
    async with Client(ClusterConfig.load(str(kubeconfig))) as client:
        pods = (await client.resource(Pod, namespace=ALL).list(limit=500)).items

        async def some(numbers: range) -> None:
            for number in numbers:
                meta = pods[number % len(pods)].metadata
                target = client.resource(Pod, namespace=meta.namespace)
                body = {"metadata": {"labels": {"round": str(number)}}}
                await target.patch(meta.name, body, type="merge")

        await asyncio.gather(*(some(range(start, events, 8)) for start in range(8)))
