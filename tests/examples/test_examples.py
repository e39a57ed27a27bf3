"""Every example runs as a user runs it, on a server with controllers in it."""

from __future__ import annotations

import asyncio
import os
import runpy
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from kubeloop.clients import APIClient
from kubeloop.wire.apiextensions.v1 import CustomResourceDefinition
from kubeloop.wire.core.v1 import Container, Node, Pod, PodSpec
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop_testing import APIServer, Match

from .embedded_controllers import Server, controllers

EXAMPLES = Path(__file__).parents[2] / "examples"


class Program:
    """Runs examples in a thread, as `python examples/…` does, and returns what they printed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    async def __call__(self, name: str, *arguments: str) -> list[str]:
        path = str(EXAMPLES / f"{name}.py")
        self._monkeypatch.setattr(sys, "argv", [path, *arguments])
        self.code: object = None  # with which it ended; None is 0
        try:
            await asyncio.to_thread(runpy.run_path, path, run_name="__main__")
        except SystemExit as end:
            if not isinstance(end.code, int):  # a message
                raise
            self.code = end.code
        return self._capsys.readouterr().out.splitlines()


@pytest.fixture
def program(
    kubeconfig_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Program:
    monkeypatch.setenv("KUBECONFIG", str(kubeconfig_file))
    return Program(monkeypatch, capsys)


def a_pod(name: str, *, node: str = "", app: str = "") -> Pod:
    spec = PodSpec(containers=[Container(name="main", image="app:1")], node_name=node or None)
    return Pod(metadata=ObjectMeta(name=name, labels={"app": app or name}), spec=spec)


@pytest.mark.parametrize("style", ["", "blocking_"])
async def test_a_deployment_is_made_scaled_rolled_out_restarted_and_deleted(
    program: Program, kube_server: Server, kube_client: APIClient, style: str
) -> None:
    async with controllers(kube_server):
        lines = await program(f"{style}deployment")

    assert lines == [
        "created: 1 of 1 run nginx:1.28",
        "scaled to 3: 3 of 3 run nginx:1.28",
        "new image: 3 of 3 run nginx:1.29",
        "restarted: 3 of 3 run nginx:1.29",
        "deleted",
    ]
    assert not await kube_client.apps_v1.deployments().exists("example-web")


@pytest.mark.parametrize("style", ["", "blocking_"])
@pytest.mark.parametrize(
    ("command", "end"), [("echo hello", "done, hello"), ("sing", "failed, no such command")]
)
async def test_a_job_runs_and_its_log_is_printed(
    program: Program, kube_server: Server, style: str, command: str, end: str
) -> None:
    async with controllers(kube_server):
        result, line = await program(f"{style}job", *command.split())

    assert result.startswith("job example-job-")
    assert program.code == (1 if end.startswith("failed") else None)
    assert f"{result.split()[-1]}, {line.partition(': ')[2]}" == end


@pytest.mark.parametrize("style", ["", "blocking_"])
async def test_a_configmap_is_made_and_edited(program: Program, style: str) -> None:
    assert await program(f"{style}configmap") == ["color=blue", "shape=round"]


async def test_a_kind_of_ones_own_is_a_class(program: Program, kube_client: APIClient) -> None:
    domains = ["shop.example.com", "www.shop.example.com"]

    assert await program("custom_resource") == [f"shop nginx:1.29 {domains} ready"]
    assert await kube_client.resource(CustomResourceDefinition).exists("websites.example.com")


async def test_a_kind_without_a_class_is_dicts(program: Program) -> None:
    assert await program("dynamic") == ["nightly 0 3 * * * keep 7"]


async def test_a_file_of_many_documents_is_applied(
    program: Program, kube_client: APIClient
) -> None:
    lines = await program("apply_file")

    assert [line.split() for line in lines] == [
        ["Service", "example-shop", "web"],
        ["Deployment", "example-shop", "web"],
        ["Namespace", "-", "example-shop"],
    ]
    assert await kube_client.apps_v1.deployments("example-shop").exists("web")


async def test_files_that_are_named_are_applied(
    program: Program, kube_namespace: str, tmp_path: Path
) -> None:
    manifest = tmp_path / "mine.yaml"
    manifest.write_text("{apiVersion: v1, kind: ConfigMap, metadata: {name: mine}}")

    assert [line.split() for line in await program("apply_file", str(manifest))] == [
        ["ConfigMap", kube_namespace, "mine"]
    ]


async def test_a_table_has_the_columns_of_wide_output(
    program: Program, kube_client: APIClient, kube_namespace: str
) -> None:
    await kube_client.core_v1.pods().create(a_pod("web", node="node-1"))

    head, *rows = await program("get_pods")

    assert head.split()[:4] == ["NAMESPACE", "NAME", "READY", "STATUS"]
    (row,) = [row for row in rows if row.startswith(kube_namespace)]
    assert row.split()[:4] == [kube_namespace, "web", "0/1", "Pending"]
    assert "node-1" in row


async def test_a_table_is_there_for_any_kind(program: Program) -> None:
    head, *rows = await program("get_pods", "v1", "Namespace")

    assert head.split() == ["NAMESPACE", "NAME", "STATUS", "AGE"]
    assert "default" in {row.split()[0] for row in rows}


async def test_a_node_is_cordoned_and_opened_again(
    program: Program, kube_client: APIClient, kube_namespace: str
) -> None:
    node, pod = f"node-of-{kube_namespace}", f"{kube_namespace}/web"
    await kube_client.core_v1.nodes().create(Node(metadata=ObjectMeta(name=node)))
    await kube_client.core_v1.pods().create(a_pod("web", node=node))

    assert await program("cordon", node) == [f"{node}: cordoned", f"  {pod}"]
    assert await program("cordon", node, "--undo") == [f"{node}: schedulable", f"  {pod}"]


async def test_a_node_that_is_not_there_is_named_with_those_that_are(
    program: Program, kube_client: APIClient
) -> None:
    await kube_client.core_v1.nodes().create(Node(metadata=ObjectMeta(name="node-1")))

    with pytest.raises(SystemExit, match=r"no node node-7; available: node-1"):
        await program("cordon", "node-7")


@asynccontextmanager
async def lines_of(
    example: str, *arguments: str, kubeconfig: Path
) -> AsyncIterator[Callable[[], Awaitable[str]]]:
    """Its lines, one by one, while it runs; Ctrl-C ends it, and that is no failure."""
    running = await asyncio.create_subprocess_exec(
        sys.executable,
        EXAMPLES / f"{example}.py",
        *arguments,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # The shell that started the tests may ignore Ctrl-C, which children inherit.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        env={**os.environ, "KUBECONFIG": str(kubeconfig), "PYTHONUNBUFFERED": "1"},
    )
    out = running.stdout
    assert out is not None

    async def line() -> str:
        return (await out.readline()).decode().rstrip("\n")

    try:
        yield line
        running.send_signal(signal.SIGINT)
        _, complaints = await running.communicate()
    finally:
        if running.returncode is None:  # the test has failed: later ones are not to be blamed
            running.kill()
            await running.communicate()
    assert (running.returncode, complaints) == (0, b"")


@pytest.mark.timeout(60)  # a whole interpreter has to start
@pytest.mark.parametrize("style", ["", "blocking_"])
async def test_pods_are_watched_until_ctrl_c(
    kube_client: APIClient, kube_namespace: str, kubeconfig_file: Path, style: str
) -> None:
    pods = kube_client.core_v1.pods()
    await pods.create(a_pod("web", app=kube_namespace))
    await pods.create(a_pod("other"))
    chosen = f"app={kube_namespace}"

    async with lines_of(f"{style}watch_pods", chosen, kubeconfig=kubeconfig_file) as line:
        first = await line()
        await pods.delete("web", grace_period=0)
        while not (last := await line()).startswith("DELETED"):
            pass  # it is marked before it goes

    assert first == f"ADDED     {kube_namespace}/web Pending on no node"
    assert last == f"DELETED   {kube_namespace}/web Pending on no node"


@pytest.mark.timeout(60)  # a whole interpreter has to start
@pytest.mark.parametrize("style", ["", "blocking_"])
async def test_a_watch_whose_version_has_expired_begins_again(
    kube_client: APIClient, kube_server: Server, kubeconfig_file: Path, style: str
) -> None:
    if not isinstance(kube_server, APIServer):
        pytest.skip("only the embedded server forgets on demand")
    pods = kube_client.core_v1.pods()
    await pods.create(a_pod("web"))

    async with lines_of(f"{style}watch_pods", kubeconfig=kubeconfig_file) as line:
        assert (await line()).startswith("ADDED")
        # Until it succeeds: a response may be on a connection that breaks.
        kube_server.faults.fail(410, times=None, match=Match(verb="watch"))
        kube_server.drop_connections()
        found = [await line(), await line()]

    assert found[0] == "some changes were missed; the current state follows:"
    assert found[1].startswith("ADDED")


@pytest.mark.timeout(60)  # a whole interpreter has to start
async def test_a_script_without_asyncio_counts_the_pods_of_nodes(
    kube_client: APIClient, kube_namespace: str, kubeconfig_file: Path
) -> None:
    node = f"node-of-{kube_namespace}"
    pods = kube_client.core_v1.pods()
    await pods.create(a_pod("first", node=node))

    async with lines_of("blocking_informer", kubeconfig=kubeconfig_file) as line:
        while await line() != f"{node}: 1 pods (first)":
            pass
        await pods.create(a_pod("second", node=node))
        while await line() != f"{node}: 2 pods (first, second)":
            pass
        await pods.delete("first", grace_period=0)
        while await line() != f"{node}: 1 pods (second)":
            pass
