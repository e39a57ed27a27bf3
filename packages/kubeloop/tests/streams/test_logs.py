"""Logs through lost connections, of restarted containers, and of many pods."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from kubeloop.clients import PodClient
from kubeloop.errors import InvalidArgument, NotFound
from kubeloop.streams import LogEntry, LogGap, LogLine, LogStart
from kubeloop.wire import parse_time
from kubeloop.wire.core.v1 import (
    ContainerState,
    ContainerStateTerminated,
    ContainerStateWaiting,
    ContainerStatus,
)
from kubeloop_testing import APIServer

from .conftest import CuttingProxy, create, end, pod_of, running_status, service_of


async def until_followed(server: APIServer, logs: int = 1) -> None:
    while sum(seen.path.endswith("/log") for seen in server.requests) < logs:
        await asyncio.sleep(0.001)


async def next_line(entries: AsyncGenerator[LogEntry, None]) -> str:
    while True:
        entry = await anext(entries)
        if isinstance(entry, LogLine):
            return f"{entry.pod}/{entry.container}: {entry.text}"


async def test_a_followed_log_continues_after_a_lost_connection(
    server: APIServer, proxy: CuttingProxy, pods: PodClient
) -> None:
    await create(pods, pod_of("web"))
    server.set_log("default", "web", "one\ntwo\n")
    lines = pods.logs("web", follow=True)
    assert [await anext(lines), await anext(lines)] == ["one", "two"]

    proxy.cut()
    server.set_log("default", "web", "one\ntwo\nthree\n")
    third = await anext(lines)
    await end(pods, "web")

    assert third == "three"
    assert [line async for line in lines] == []


@pytest.mark.parametrize("follow", [True, False])
async def test_the_time_of_a_line_is_a_datetime(
    server: APIServer, pods: PodClient, *, follow: bool
) -> None:
    await create(pods, pod_of("web"))
    server.set_log("default", "web", "one\n")

    async with aclosing(pods.log_entries("web", follow=follow)) as entries:
        _, line = await anext(entries), await anext(entries)

    assert isinstance(line, LogLine)
    assert line.time == parse_time(line.timestamp)
    assert f"{line.time:%Y-%m-%dT%H:%M:%S.%f}000Z" == line.timestamp


async def test_a_log_that_was_rotated_meanwhile_has_a_gap(
    server: APIServer,
    proxy: CuttingProxy,
    pods: PodClient,
    caplog: pytest.LogCaptureFixture,
) -> None:
    await create(pods, pod_of("web"))
    server.set_log("default", "web", "one\n")
    async with (
        aclosing(pods.log_entries("web", follow=True)) as entries,
        aclosing(pods.logs("web", follow=True)) as lines,
    ):
        assert isinstance(await anext(entries), LogStart)
        assert await next_line(entries) == "web/app: one"
        assert await anext(lines) == "one"

        proxy.cut()
        server.set_log("default", "web", "nine\n")

        gap = await anext(entries)
        assert isinstance(gap, LogGap)
        assert gap.reason == "the log was rotated"
        assert await next_line(entries) == "web/app: nine"
        assert await anext(lines) == "nine"
    assert "log of web: the log was rotated; lines may be missing" in caplog.text


def crashed_status(restarts: int) -> ContainerStatus:
    """A container that has ended in the second in which it started, and will be restarted."""
    status = running_status("app", restarts=restarts)
    at = parse_time("2030-01-01T00:00:00Z")
    status.state = ContainerState(waiting=ContainerStateWaiting(reason="CrashLoopBackOff"))
    status.last_state = ContainerState(
        terminated=ContainerStateTerminated(
            exit_code=1, started_at=at, finished_at=at, container_id=status.container_id
        )
    )
    return status


async def test_each_restart_begins_with_its_start_and_without_a_gap(
    pods: PodClient,
) -> None:
    """Also if the new run has ended before it was noticed: the previous log is then its own."""
    await create(pods, pod_of("web"))
    entries: list[LogEntry] = []

    async def read(count: int) -> None:
        while len(entries) < count:
            entries.append(await anext(followed))

    async def become(status: ContainerStatus) -> None:
        async with pods.status.edit("web") as pod:
            pod.status.container_statuses = [status]

    async with aclosing(pods.log_entries("web", follow=True)) as followed:
        await read(3)
        await become(crashed_status(0))
        await read(4)
        await become(crashed_status(1))
        await read(8)
        restarted = running_status("app", restarts=2)
        restarted.last_state = crashed_status(1).last_state
        await become(restarted)
        await read(11)

    texts = [entry.text if isinstance(entry, LogLine) else entry for entry in entries]
    run = [
        "app started, image app:1 (simulated)",
        "pod default/web runs on node node-1",
        "exited with code 1",
    ]
    starts = [LogStart("web", "app", restarts) for restarts in range(3)]
    assert texts == [starts[0], *run, starts[1], *run, starts[2], *run[:2]]


async def test_a_restarted_container_is_announced(
    server: APIServer, proxy: CuttingProxy, pods: PodClient
) -> None:
    await create(pods, pod_of("web"))
    server.set_log("default", "web", "first run\n")
    async with aclosing(pods.log_entries("web", follow=True)) as entries:
        assert await anext(entries) == LogStart("web", "app", 0)
        assert await next_line(entries) == "web/app: first run"
        async with pods.status.edit("web") as pod:
            restarted = running_status("app", restarts=1, started="2100-01-01T00:00:00Z")
            pod.status.container_statuses = [restarted]
        server.set_log("default", "web", "second run\n")
        proxy.cut()

        found: list[LogEntry] = []
        while not (found and isinstance(found[-1], LogStart)):
            found.append(await anext(entries))

        assert found[-1] == LogStart("web", "app", 1)


async def test_a_followed_log_ends_with_its_container(server: APIServer, pods: PodClient) -> None:
    await create(pods, pod_of("web"))
    server.set_log("default", "web", "one\nno newline")
    lines = pods.logs("web", follow=True)
    assert await anext(lines) == "one"

    await end(pods, "web")

    assert [line async for line in lines] == ["no newline"]


async def test_a_limit_counts_the_bytes_of_all_streams(
    server: APIServer, proxy: CuttingProxy, pods: PodClient
) -> None:
    await create(pods, pod_of("web"))
    server.set_log("default", "web", "one\n")
    lines = pods.logs("web", follow=True, limit_bytes=8)
    assert await anext(lines) == "one"

    proxy.cut()
    server.set_log("default", "web", "one\ntwo\nthree\n")

    assert [line async for line in lines] == ["two"]


async def test_the_logs_of_all_containers_of_a_selector_are_read_one_after_the_other(
    server: APIServer, pods: PodClient
) -> None:
    for name in ("web-2", "web-1"):
        await create(pods, pod_of(name, "app", "side", app="web"))
        server.set_log("default", name, "app\n", container="app")
        server.set_log("default", name, "side\n", container="side")
    await create(pods, pod_of("db"))

    entries = [entry async for entry in pods.log_entries(selector="app=web", all_containers=True)]

    assert [(entry.pod, entry.text) for entry in entries if isinstance(entry, LogLine)] == [
        ("web-1", "app"),
        ("web-1", "side"),
        ("web-2", "app"),
        ("web-2", "side"),
    ]


async def test_pods_that_come_later_are_followed_as_well(
    server: APIServer, pods: PodClient
) -> None:
    await create(pods, pod_of("web-1", app="web"))
    server.set_log("default", "web-1", "one\n")
    server.set_log("default", "web-2", "early\nlate\n")
    entries = pods.log_entries(selector={"app": "web"}, follow=True, tail_lines=1)
    async with aclosing(entries):
        assert await next_line(entries) == "web-1/app: one"

        await create(pods, pod_of("web-2", app="web"))

        assert await next_line(entries) == "web-2/app: early"  # all of it: `tail` is for the start
        server.set_log("default", "web-1", "one\ntwo\n")
        assert {await next_line(entries), await next_line(entries)} == {
            "web-1/app: two",
            "web-2/app: late",
        }


async def test_more_containers_than_allowed_are_an_error(pods: PodClient) -> None:
    for name in ("web-1", "web-2"):
        await create(pods, pod_of(name, app="web"))

    with pytest.raises(InvalidArgument, match=r"more than 1 containers .* larger max_streams"):
        async for _ in pods.log_entries(selector="app=web", follow=True, max_streams=1):
            pass


async def test_a_slow_reader_stops_the_stream(server: APIServer, pods: PodClient) -> None:
    await create(pods, pod_of("web"))
    server.set_log("default", "web", "".join(f"line {each}\n" for each in range(3000)))
    entries = pods.log_entries("web", follow=True)
    async with aclosing(entries):
        assert await next_line(entries) == "web/app: line 0"
        for _ in range(100):
            await asyncio.sleep(0)  # the reader does other work

        lines = [await next_line(entries) for _ in range(2999)]

    assert lines[-1] == "web/app: line 2999"


async def test_the_log_of_a_deployment_is_that_of_a_ready_pod(
    server: APIServer, pods: PodClient
) -> None:
    await create(pods, pod_of("web-1", ready=False, app="web"))
    await create(pods, pod_of("web-2", app="web"))
    server.set_log("default", "web-2", "ready\n")
    await server.client().core_v1.services("default").create(service_of("web"))

    assert [line async for line in pods.logs("svc/web")] == ["ready"]


async def test_errors_before_the_first_line_are_raised(pods: PodClient) -> None:
    with pytest.raises(NotFound):
        await anext(pods.logs("gone", follow=True))
    with pytest.raises(InvalidArgument, match="either a pod or a selector"):
        await anext(pods.log_entries())
