"""The examples that run until they are stopped, each on a server, in this process."""

from __future__ import annotations

import asyncio
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kubeloop.clients import APIClient
from kubeloop.errors import Forbidden
from kubeloop.kit import running
from kubeloop.meta import GroupVersionKind, controller_of
from kubeloop.runtime import Manager, WebhookServer
from kubeloop.wire.apps.v1 import Deployment
from kubeloop.wire.core.v1 import ConfigMap, Container, Event, Pod, PodSpec
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop_testing.server.access.certs import Authority

from .embedded_controllers import Server, controllers

EXAMPLES = Path(__file__).parents[2] / "examples"
PATIENCE = 60  # seconds; pytest's own limit is shorter where the server is the embedded one


def names_in(example: str) -> dict[str, Any]:
    """What a file defines, as `import` sees it, with every call."""
    spec = importlib.util.spec_from_file_location(f"example_{example}", EXAMPLES / f"{example}.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return vars(module)


class Program:
    """Something to run, as a part that `running` takes."""

    def __init__(self, main: Callable[[], Any]) -> None:
        self._main = main

    async def run(self) -> None:
        await self._main()


@pytest.fixture(autouse=True)
def _kubeconfig(kubeconfig_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(kubeconfig_file))


class Output:
    """The lines that were printed so far."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self.lines: list[str] = []

    async def has(self, *lines: str) -> None:
        """Wait until these were printed."""
        while not set(lines) <= set(self.lines):
            await asyncio.sleep(0.01)
            self.lines += self._capsys.readouterr().out.splitlines()


@pytest.fixture
def output(capsys: pytest.CaptureFixture[str]) -> Output:
    return Output(capsys)


def a_pod(name: str, **labels: str) -> Pod:
    spec = PodSpec(containers=[Container(name="main", image="app:1")])
    return Pod(metadata=ObjectMeta(name=name, labels=labels), spec=spec)


async def test_the_workqueue_turns_pods_into_keys_and_gives_up_in_the_end(
    kube_client: APIClient, kube_namespace: str, output: Output
) -> None:
    web, plain = f"{kube_namespace}/web", f"{kube_namespace}/plain"
    pods = kube_client.core_v1.pods()
    await pods.create(a_pod("web", app="web"))
    await pods.create(a_pod("plain"))

    async with running(Program(names_in("workqueue")["main"])):
        await output.has(
            f"{web}: Pending", f"{plain}: failed, will not retry: a pod without labels"
        )
        await pods.delete("web", grace_period=0)
        await output.has(f"{web}: deleted")


async def test_the_sample_controller_makes_a_deployment_and_follows_it(
    kube_server: Server, kube_client: APIClient
) -> None:
    example = names_in("sample_controller")
    manager: Manager = example["manager"]
    foo_class = example["Foo"]
    foos = kube_client.resource(foo_class)

    async with controllers(kube_server), running(manager):
        await manager.wait_ready(timeout=PATIENCE)
        await foos.create(
            foo_class(
                metadata=ObjectMeta(name="one"),
                spec=example["FooSpec"](deployment_name="one-nginx", replicas=2),
            )
        )
        foo = await foos.wait_for("one", jsonpath="{.status.availableReplicas}=2", timeout=PATIENCE)
        deployment = await kube_client.resource(Deployment).get("one-nginx")
        manager.stop()
        while manager.stats().state != "ended":
            await asyncio.sleep(0.01)

    owner = controller_of(deployment)
    assert owner is not None
    assert owner.uid == foo.metadata.uid
    events = await kube_client.resource(Event).list()
    assert "created one-nginx" in {event.message for event in events}


async def test_a_foo_that_cannot_be_is_left_alone(kube_client: APIClient) -> None:
    example = names_in("sample_controller")
    manager: Manager = example["manager"]

    async with running(manager):
        await manager.wait_ready(timeout=PATIENCE)
        spec = example["FooSpec"](deployment_name="never", replicas=-1)
        await kube_client.resource(example["Foo"]).create(
            example["Foo"](metadata=ObjectMeta(name="bad"), spec=spec)
        )
        while not manager.stats().controllers[0].terminal:
            await asyncio.sleep(0.01)

    assert not await kube_client.resource(Deployment).exists("never")


async def test_of_two_candidates_the_second_takes_over(
    output: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    main = names_in("leader_election")["main"]
    monkeypatch.setattr("sys.argv", ["leader_election.py", "first"])

    async with running(Program(main)):
        await output.has("first: working, the lease has changed hands 0 times")

    monkeypatch.setattr("sys.argv", ["leader_election.py", "second"])
    async with running(Program(main)):
        await output.has("second: working, the lease has changed hands 1 times")


async def test_the_dynamic_controller_labels_any_kind(
    kube_client: APIClient, kube_namespace: str, output: Output
) -> None:
    manager: Manager = names_in("dynamic_controller")["manager_for"](
        GroupVersionKind("", "v1", "ConfigMap")
    )
    maps = kube_client.resource(ConfigMap)

    async with running(manager):
        await maps.create(ConfigMap(metadata=ObjectMeta(name="one")))
        await output.has(f"ConfigMap {kube_namespace}/one: labelled")

    assert (await maps.get("one")).metadata.labels == {"example.com/seen": "true"}


async def test_the_webhook_changes_and_refuses_deployments(
    kube_client: APIClient, tmp_path: Path
) -> None:
    authority = Authority()
    authority.server().write(tmp_path)
    webhooks: WebhookServer = names_in("webhook")["webhooks_with"](str(tmp_path), "127.0.0.1:0")
    deployments = kube_client.resource(Deployment)

    async with running(webhooks):
        url = f"https://{await webhooks.address()}"
        for each in webhooks.configurations("example", url=url, ca=authority.pem):
            await kube_client.apply(each)
        made = await deployments.create(a_deployment("small", replicas=2))
        with pytest.raises(Forbidden, match="11 is more than 10"):
            await deployments.create(a_deployment("large", replicas=11))

    assert made.metadata.labels["example.com/owner"]


def a_deployment(name: str, *, replicas: int) -> Deployment:
    return Deployment.from_dict(
        {
            "metadata": {"name": name},
            "spec": {
                "replicas": replicas,
                "selector": {"matchLabels": {"app": name}},
                "template": {
                    "metadata": {"labels": {"app": name}},
                    "spec": {"containers": [{"name": "main", "image": "app:1"}]},
                },
            },
        }
    )
