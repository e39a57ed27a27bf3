"""Every example runs as a user runs it, on a server with controllers in it."""

from __future__ import annotations

import asyncio
import os
import runpy
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kubeloop.clients import Client
from kubeloop.testing import APIServer
from kubeloop.wire.apiextensions.v1 import CustomResourceDefinition
from kubeloop.wire.core.v1 import Container, Node, Pod, PodSpec
from kubeloop.wire.meta.v1 import ObjectMeta

from .standins import controllers

EXAMPLES = Path(__file__).parents[2] / "examples"


class Program:
    """Runs examples in a thread, as `python examples/…` does, and says what they printed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    async def __call__(self, name: str, *arguments: str) -> list[str]:
        path = str(EXAMPLES / f"{name}.py")
        self._monkeypatch.setattr(sys, "argv", [path, *arguments])
        await asyncio.to_thread(runpy.run_path, path, run_name="__main__")
        return self._capsys.readouterr().out.splitlines()


@pytest.fixture
def program(
    kubeconfig_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Program:
    monkeypatch.setenv("KUBECONFIG", str(kubeconfig_file))
    return Program(monkeypatch, capsys)


def a_pod(name: str, *, node: str = "") -> Pod:
    spec = PodSpec(containers=[Container(name="main", image="app:1")], node_name=node or None)
    return Pod(metadata=ObjectMeta(name=name, labels={"app": name}), spec=spec)


@pytest.mark.parametrize("style", ["", "blocking_"])
async def test_a_deployment_is_made_scaled_rolled_out_restarted_and_deleted(
    program: Program, kube_server: APIServer, kube_client: Client, style: str
) -> None:
    async with controllers(kube_server):
        said = await program(f"{style}deployment")

    assert said == [
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
    program: Program, kube_server: APIServer, style: str, command: str, end: str
) -> None:
    async with controllers(kube_server):
        result, line = await program(f"{style}job", *command.split())

    assert result.startswith("job example-job-")
    assert f"{result.split()[-1]}, {line.partition(': ')[2]}" == end


@pytest.mark.parametrize("style", ["", "blocking_"])
async def test_a_configmap_is_made_and_edited(program: Program, style: str) -> None:
    assert await program(f"{style}configmap") == ["color=blue", "shape=round"]


async def test_a_kind_of_ones_own_is_a_class(program: Program, kube_client: Client) -> None:
    domains = ["shop.example.com", "www.shop.example.com"]

    assert await program("custom_resource") == [f"shop nginx:1.29 {domains} ready"]
    assert await kube_client.resource(CustomResourceDefinition).exists("websites.example.com")


async def test_a_kind_without_a_class_is_dicts(program: Program) -> None:
    assert await program("dynamic") == ["nightly {'schedule': '0 3 * * *', 'keep': 7}"]


async def test_a_file_of_many_documents_is_applied(program: Program, kube_client: Client) -> None:
    said = await program("apply_file")

    assert [line.split() for line in said] == [
        ["Service", "example-shop", "web"],
        ["Deployment", "example-shop", "web"],
        ["Namespace", "-", "example-shop"],
    ]
    assert await kube_client.apps_v1.deployments("example-shop").exists("web")


async def test_files_that_are_named_are_applied(program: Program, tmp_path: Path) -> None:
    manifest = tmp_path / "mine.yaml"
    manifest.write_text("{apiVersion: v1, kind: ConfigMap, metadata: {name: mine}}")

    assert [line.split() for line in await program("apply_file", str(manifest))] == [
        ["ConfigMap", "default", "mine"]
    ]


async def test_a_table_has_the_columns_of_wide_output(
    program: Program, kube_client: Client
) -> None:
    await kube_client.core_v1.pods().create(a_pod("web", node="node-1"))

    head, row = await program("get_pods")

    assert head.split()[:4] == ["NAMESPACE", "NAME", "READY", "STATUS"]
    assert row.split()[:4] == ["default", "web", "0/1", "Pending"]
    assert "node-1" in row


async def test_a_table_is_there_for_any_kind(program: Program) -> None:
    head, *rows = await program("get_pods", "v1", "Namespace")

    assert head.split() == ["NAMESPACE", "NAME", "STATUS", "AGE"]
    assert "default" in {row.split()[0] for row in rows}


async def test_a_node_is_cordoned_and_opened_again(program: Program, kube_client: Client) -> None:
    await kube_client.core_v1.nodes().create(Node(metadata=ObjectMeta(name="node-1")))
    await kube_client.core_v1.pods().create(a_pod("web", node="node-1"))

    assert await program("cordon", "node-1") == ["node-1: cordoned", "  default/web"]
    assert await program("cordon", "node-1", "--undo") == ["node-1: open", "  default/web"]


async def test_a_node_that_is_not_there_is_named_with_those_that_are(
    program: Program, kube_client: Client
) -> None:
    await kube_client.core_v1.nodes().create(Node(metadata=ObjectMeta(name="node-1")))

    with pytest.raises(SystemExit, match=r"no node node-7 \(there are: node-1\)"):
        await program("cordon", "node-7")


@pytest.mark.timeout(60)  # a whole interpreter has to start
@pytest.mark.parametrize("style", ["", "blocking_"])
async def test_pods_are_watched_until_ctrl_c(
    kube_client: Client, kubeconfig_file: Path, style: str
) -> None:
    pods = kube_client.core_v1.pods()
    await pods.create(a_pod("web"))
    await pods.create(a_pod("other"))
    watching = await asyncio.create_subprocess_exec(
        sys.executable,
        EXAMPLES / f"{style}watch_pods.py",
        "app=web",
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Whoever started the tests may have Ctrl-C ignored, which children inherit.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        env={**os.environ, "KUBECONFIG": str(kubeconfig_file), "PYTHONUNBUFFERED": "1"},
    )
    assert watching.stdout is not None
    first = await watching.stdout.readline()
    await pods.delete("web", grace_period=0)
    second = await watching.stdout.readline()

    watching.send_signal(signal.SIGINT)
    rest = await watching.communicate()

    assert first.decode() == "ADDED     default/web Pending on no node\n"
    assert second.decode() == "DELETED   default/web Pending on no node\n"
    assert rest == (b"", b"")
    assert watching.returncode == 0
