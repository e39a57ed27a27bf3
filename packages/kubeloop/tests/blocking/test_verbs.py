"""The verbs of everyday work, without asyncio."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kubeloop.blocking import Client
from kubeloop.clients import DrainStep
from kubeloop.wire.apps.v1 import Deployment
from kubeloop.wire.core.v1 import Pod
from kubeloop_testing import APIServer, Workloads, running_in_thread

WEB = Deployment.from_dict(
    {
        "metadata": {"name": "web"},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "main", "image": "app:1"}]},
            },
        },
    }
)


@pytest.fixture
def client() -> Iterator[Client]:
    with (
        running_in_thread(APIServer()) as server,
        running_in_thread(Workloads(server.config, delay=0.005)),
        Client(server.config) as connected,
    ):
        yield connected


def test_a_rollout_is_restarted_followed_and_undone(client: Client) -> None:
    client.apps_v1.deployments().create(WEB)
    web = client.apps_v1.deployments().rollout("web")
    web.wait(timeout=5)

    web.restart()
    statuses = list(web.progress(timeout=5))
    restored = web.undo()

    assert statuses[-1].is_complete
    assert restored is not None
    assert [each.number for each in web.history()]
    assert web.status().desired == 2


def test_a_node_is_drained_and_steps_are_reported_in_this_thread(client: Client) -> None:
    client.apps_v1.deployments().create(WEB)
    client.apps_v1.deployments().scale.set("web", 3, wait=True, timeout=5)
    nodes = client.core_v1.nodes()
    steps: list[DrainStep] = []

    def report(step: DrainStep) -> None:
        steps.append(step)
        assert nodes.get("node-1").spec.unschedulable  # a call from the callback

    plan = nodes.drain("node-1", timeout=5, progress=report)

    assert len(plan.evict) == 1
    assert nodes.drain_plan("node-1").evict == ()
    assert [step.action for step in steps] == ["cordoned", "evicting", "evicted"]
    assert nodes.uncordon("node-1")


def test_the_methods_of_a_client_return_what_the_async_ones_do(client: Client) -> None:
    client.apps_v1.deployments().create(WEB)
    client.apps_v1.deployments().rollout("web").wait(timeout=5)
    pod = client.core_v1.pods().list(selector="app=web").items[0]

    assert client.can_i("delete", Pod)
    assert client.what_can_i().rules
    assert client.run("busybox", ["true"], timeout=5).exit_code == 0
    assert [each.kind for each in client.owners(pod).walk()] == ["Pod", "ReplicaSet", "Deployment"]
    assert client.children(pod).branches == ()
    assert client.events_of(client.apps_v1.deployments().get("web"))
