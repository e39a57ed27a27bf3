"""The programs that benches start, on the embedded server: that they report what they should."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.cluster import cost_of
from bench.line_process import line_process
from kubeloop import Client, ClusterConfig, run
from kubeloop.wire.core.v1 import Container, Pod, PodSpec
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop_testing import APIServer, running_in_thread

pytestmark = pytest.mark.timeout(60)  # each starts an interpreter


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ClusterConfig]:
    """A server that `KUBECONFIG` names."""
    with running_in_thread(APIServer(tls=True)) as server:
        path = tmp_path / "kubeconfig"
        path.touch(mode=0o600)
        path.write_text(server.kubeconfig())
        monkeypatch.setenv("KUBECONFIG", str(path))
        yield server.config


async def change(config: ClusterConfig, *marks: str) -> None:
    """Create the pod `web` or change its label, once for each mark."""
    async with Client(config) as client:
        pods = client.resource(Pod, namespace="default")
        for mark in marks:
            meta = ObjectMeta(name="web", labels={"mark": mark})
            spec = PodSpec(containers=[Container(name="app", image="web:1")])
            await pods.apply(Pod(metadata=meta, spec=spec), field_manager="bench")


@pytest.mark.parametrize("loop", [(), ("--asyncio",)], ids=["uvloop", "asyncio"])
@pytest.mark.parametrize("handler", ["key", "new"])
def test_an_informer_in_turns_reports_after_each_number_of_updates(
    config: ClusterConfig, handler: str, loop: tuple[str, ...]
) -> None:
    options = ("--objects=1", "--events=2", "--turns", "--namespace=default", *loop)
    run(change(config, "0"))

    with line_process(
        [sys.executable, "-m", "bench.informer", f"--handler={handler}", *options]
    ) as (informer):
        informer.line()
        run(change(config, "1", "2"))
        first, _ = cost_of(informer.line())
        run(change(config, "3", "4"))
        second, _ = cost_of(informer.line())

    assert first.cpu > 0.0
    assert second.cpu > 0.0


@pytest.mark.parametrize("client", ["kubeloop", "aiohttp"])
def test_open_watches_are_reported_with_their_memory(config: ClusterConfig, client: str) -> None:
    command = [sys.executable, "-m", "bench.watches", client, "--count=5"]

    with line_process(command) as watches:
        cost, _ = cost_of(watches.line())

    assert cost.steady >= cost.before > 0
