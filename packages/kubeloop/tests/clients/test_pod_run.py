"""Runs of pods and jobs to their end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from kubeloop.clients import RunInterrupted, WaitTimeout
from kubeloop.clients.pod_run import exit_code_of
from kubeloop.errors import InvalidArgument
from kubeloop.runtime import Client
from kubeloop.wire.batch.v1 import Job
from kubeloop.wire.core.v1 import Pod
from kubeloop_testing import APIServer, Workloads

OUTCOME = "kubeloop.testing/outcome"


def a_pod(name: str = "", **spec: Any) -> Pod:
    containers = [{"name": "main", "image": "app:1"}]
    return Pod.from_dict({"metadata": {"name": name}, "spec": {"containers": containers, **spec}})


def a_job(*, outcome: str = "", **spec: Any) -> Job:
    return Job.from_dict(
        {
            "metadata": {"name": "once"},
            "spec": {
                "template": {
                    "metadata": {"annotations": {OUTCOME: outcome} if outcome else {}},
                    "spec": {
                        "restartPolicy": "Never",
                        "containers": [{"name": "main", "image": "app:1"}],
                    },
                },
                **spec,
            },
        }
    )


@pytest.fixture
async def server() -> AsyncIterator[APIServer]:
    async with APIServer() as running, Workloads(running.config, delay=0.005):
        yield running


@pytest.fixture
async def client(server: APIServer) -> AsyncIterator[Client]:
    async with server.client() as connected:
        yield connected


async def test_an_image_is_run_and_its_pod_deleted(client: Client) -> None:
    result = await client.run("busybox", ["echo", "hello"], timeout=5)

    assert (result.exit_code, result.reason) == (0, "Completed")
    assert result.pod.name.startswith("run-")
    assert not await client.resource(Pod).exists(result.pod.name)


async def test_a_pod_that_fails_has_its_exit_code_and_its_logs(
    client: Client, server: APIServer
) -> None:
    server.set_log("default", "work", "first\nsecond\n")
    pod = a_pod("work")
    pod.metadata.annotations = {OUTCOME: "fail"}

    result = await client.run(pod, timeout=5, keep=True)

    assert (result.exit_code, result.logs) == (1, "first\nsecond\n")
    assert await client.resource(Pod).exists("work")
    assert not pod.spec.restart_policy  # the argument is not changed


async def test_a_job_is_run_with_its_pods(client: Client) -> None:
    result = await client.run(a_job(), timeout=5)

    assert result.exit_code == 0
    assert result.pod.name.startswith("once-")
    assert not await client.resource(Job).exists("once")


async def test_a_failed_job_has_the_exit_code_of_its_last_pod(client: Client) -> None:
    result = await client.run(a_job(outcome="fail", backoffLimit=0), timeout=5)

    assert (result.exit_code, result.reason) == (1, "Error")


async def test_a_timeout_says_what_the_pod_waits_for_and_deletes_it(client: Client) -> None:
    pod = a_pod("work")
    pod.metadata.annotations = {OUTCOME: "no-image"}

    with pytest.raises(WaitTimeout, match="main: ImagePullBackOff"):
        await client.run(pod, timeout=1.5)

    deleted = await client.resource(Pod).get_or_none("work")
    assert deleted is None or deleted.metadata.deletion_timestamp is not None


async def test_a_cancelled_run_deletes_its_job(client: Client) -> None:
    running = asyncio.create_task(client.run(a_job(outcome="no-image")))
    await client.resource(Job).wait_for("once", jsonpath="{.status.active}=1", timeout=5)

    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert not await client.resource(Job).exists("once")


async def test_a_pod_that_someone_deletes_has_no_result(client: Client) -> None:
    pod = a_pod("work")
    pod.metadata.annotations = {OUTCOME: "no-image"}
    running = asyncio.create_task(client.run(pod))
    await client.resource(Pod).wait_for("work", jsonpath="{.status.phase}=Pending", timeout=5)

    await client.resource(Pod).delete("work", grace_period=0)

    with pytest.raises(RunInterrupted, match="deleted before it had finished"):
        await running


async def test_what_never_ends_is_rejected(client: Client) -> None:
    with pytest.raises(InvalidArgument, match="never ends"):
        await client.run(a_pod(restartPolicy="Always"))
    with pytest.raises(InvalidArgument, match="a command is for an image"):
        await client.run(a_pod(), ["date"])
    with pytest.raises(InvalidArgument, match="a command is for an image"):
        await client.run(a_job(), ["date"])


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({"phase": "Succeeded"}, (0, "")),
        ({"phase": "Failed", "reason": "Evicted"}, (1, "Evicted")),
        (
            {
                "phase": "Failed",
                "initContainerStatuses": [{"name": "i", "state": {"terminated": {"exitCode": 0}}}],
                "containerStatuses": [
                    {"name": "a", "state": {"terminated": {"exitCode": 0, "reason": "Completed"}}},
                    {"name": "b", "state": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}},
                ],
            },
            (137, "OOMKilled"),
        ),
    ],
)  # fmt: skip
def test_the_exit_code_is_that_of_the_first_container_that_failed(
    status: dict[str, Any], expected: tuple[int, str]
) -> None:
    assert exit_code_of(Pod.from_dict({"status": status})) == expected
