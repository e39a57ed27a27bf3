"""exec, attach and debug on the embedded server."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from kubeloop.clients import PodClient
from kubeloop.errors import (
    BadRequest,
    Forbidden,
    InternalError,
    InvalidArgument,
    NotFound,
    StreamBroken,
)
from kubeloop.rest import Request, RequestSender, WebSocket
from kubeloop.streams import (
    DebugFailed,
    NonZeroExitCode,
    NoReadyPod,
    Process,
    UnsupportedByServer,
)
from kubeloop.streams.process import MessageConnection, open_socket
from kubeloop.streams.tunnel import V4Tunnel
from kubeloop_testing import APIServer, User
from kubeloop_testing.server.kubelet.processes import Process as ServedProcess

from .conftest import CuttingProxy, create, pod_of, service_of


async def cat(process: ServedProcess) -> int:
    while chunk := await process.stdin.read(65536):
        await process.stdout.write(chunk)
    return 0


@pytest.fixture
async def web(server: APIServer, pods: PodClient) -> PodClient:
    """A client of pods, with the running pod `web`."""
    await create(pods, pod_of("web"))
    server.kubelet.command("cat", cat)
    server.kubelet.command("ls", stdout="bin\netc\n", stderr="careful\n")
    server.kubelet.command("false", stderr="no\n", exit_code=1)
    return pods


async def test_a_command_returns_its_output_and_exit_code(web: PodClient) -> None:
    """WTC-13: one handshake over GET offers v5 and v4."""
    result = await web.exec("web", ["ls", "/"])

    assert (result.text, result.stderr, result.exit_code) == ("bin\netc\n", b"careful\n", 0)


async def test_the_request_has_the_streams_that_are_used(server: APIServer, web: PodClient) -> None:
    """WTC-16"""
    await web.exec("web", ["ls", "-l"], container="app")
    async with web.exec("web", ["cat"], stdin=True, tty=True):
        pass

    plain, terminal = [seen.query for seen in server.requests if seen.path.endswith("/exec")]
    assert plain == {
        "command": ["ls", "-l"],
        "container": ["app"],
        "stdout": ["true"],
        "stderr": ["true"],
    }
    assert terminal == {
        "command": ["cat"],
        "stdin": ["true"],
        "stdout": ["true"],
        "tty": ["true"],
    }


async def test_a_silent_connection_has_a_heartbeat(web: PodClient) -> None:
    """WTC-19: a ping every 5 s; `kubeloop.rest.WebSocket` gives up after 61 s."""
    seen: list[float | None] = []
    rest = web._objects.collection.rest

    class Sender:
        async def websocket(
            self, request: Request, *, heartbeat: float | None, **options: Any
        ) -> WebSocket:
            seen.append(heartbeat)
            return await rest.websocket(request, heartbeat=heartbeat, **options)

    request = await web._objects.collection.request(
        "get", name="web", subresource="exec", params={"command": "ls", "stdout": "true"}
    )
    socket = await open_socket(cast("RequestSender", Sender()), request, ("v5.channel.k8s.io",))
    await socket.close()

    assert seen == [5.0]


async def test_input_is_passed_on_unchanged(web: PodClient) -> None:
    """WTC-C10"""
    data = bytes(range(256)) * 4000

    assert (await web.exec("web", ["cat"], stdin=data)).stdout == data


async def test_a_process_is_talked_to(web: PodClient) -> None:
    async with web.exec("web", ["cat"], stdin=True) as process:
        await process.stdin.write("one\n")
        lines = process.stdout.lines()
        assert await anext(lines) == "one"
        await process.stdin.write("two")
        await process.stdin.close()
        assert [line async for line in lines] == ["two"]

        assert await process.wait() == 0


async def test_a_terminal_can_be_resized(server: APIServer, web: PodClient) -> None:
    """WTC-17"""

    async def sizes(process: ServedProcess) -> int:
        size = await process.resized()
        await process.stdout.write(f"{size.width}x{size.height}")
        return 0

    server.kubelet.command("sizes", sizes)
    async with web.exec("web", ["sizes"], tty=True) as process:
        await process.resize(120, 40)

        assert await process.stdout.read() == b"120x40"


async def test_a_failed_program_is_an_error_only_with_check(web: PodClient) -> None:
    """WTC-C8"""
    assert (await web.exec("web", ["false"])).exit_code == 1
    with pytest.raises(NonZeroExitCode, match="exec false in web: exit code 1: no"):
        await web.exec("web", ["false"], check=True)


async def test_errors_of_the_server_are_raised(web: PodClient) -> None:
    """WTC-22"""
    await create(web, pod_of("two", "app", "side"))

    with pytest.raises(InternalError, match="executable file not found"):
        await web.exec("web", ["nothing"])
    with pytest.raises(NotFound, match="GET pods/gone/exec in default"):
        await web.exec("gone", ["ls"])
    with pytest.raises(BadRequest, match=r"choose one of: .*app side"):
        await web.exec("two", ["ls"])
    with pytest.raises(InvalidArgument, match="expected a list of its words"):
        web.exec("web", "ls /")


async def test_a_missing_role_is_named_with_both_verbs(web: PodClient) -> None:
    async with APIServer(tokens={"t": User(name="ann")}, rbac=True) as server:
        client = server.client(server.config.replace(token="t"))
        with pytest.raises(Forbidden, match="grant the verbs get and create on pods/exec"):
            await client.core_v1.pods("default").exec("web", ["ls"])


async def test_a_connection_that_is_lost_is_an_error(
    server: APIServer, proxy: CuttingProxy, web: PodClient
) -> None:
    async with web.exec("web", ["cat"], stdin=True) as process:
        await process.stdin.write(b"x" * 100)
        assert await anext(process.stdout) == b"x" * 100
        proxy.cut()

        with pytest.raises(StreamBroken, match="lost after 100 bytes of output"):
            await process.wait()


async def test_a_cancelled_call_ends_the_program(server: APIServer, web: PodClient) -> None:
    """WTC-21"""
    started, ended = asyncio.Event(), asyncio.Event()

    async def sleep(_: ServedProcess) -> int:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return 0

    server.kubelet.command("sleep", sleep)
    call = asyncio.ensure_future(web.exec("web", ["sleep"]))
    await started.wait()
    call.cancel()

    with pytest.raises(asyncio.CancelledError):
        await call
    await ended.wait()


async def test_a_reader_that_sleeps_stops_the_program(server: APIServer, web: PodClient) -> None:
    written = 0

    async def flood(process: ServedProcess) -> int:
        nonlocal written
        for _ in range(2000):
            await process.stdout.write(bytes(32 * 1024))
            written += 32 * 1024
        return 0

    server.kubelet.command("flood", flood)
    async with web.exec("web", ["flood"]) as process:
        await anext(process.stdout)
        before = -1
        while written != before:
            before = written
            await asyncio.sleep(0.05)

        assert written < 16 * 1024 * 1024
        size = 0
        async for chunk in process.stdout:
            size += len(chunk)
    assert size > 60_000_000


@pytest.mark.timeout(20)
async def test_a_hundred_commands_run_at_once(web: PodClient) -> None:
    async def run(number: int) -> bytes:
        return (await web.exec("web", ["cat"], stdin=str(number))).stdout

    results = await asyncio.gather(*(run(each) for each in range(100)))

    assert results == [str(each).encode() for each in range(100)]


async def test_attach_connects_to_the_program_of_the_container(
    server: APIServer, web: PodClient
) -> None:
    server.kubelet.attach(cat)

    assert (await web.attach("web", stdin=b"through")).stdout == b"through"


# --- older servers


async def open_v4(pods: PodClient, subresource: str, **params: str) -> MessageConnection:
    """A connection as with a server that speaks v4.channel.k8s.io only."""
    request = await pods._objects.collection.request(
        "get", name="web", subresource=subresource, params=params
    )
    return await open_socket(pods._objects.collection.rest, request, ("v4.channel.k8s.io",))


async def test_v4_runs_programs_and_refuses_to_close_stdin(web: PodClient) -> None:
    """WTC-15"""
    socket = await open_v4(web, "exec", command="cat", stdin="true", stdout="true")
    process = Process(socket, "exec cat in web", stdin=True, stderr=False, tty=False)
    try:
        await process.stdin.write(b"through")
        assert await anext(process.stdout) == b"through"

        with pytest.raises(UnsupportedByServer):
            await process.stdin.close()
    finally:
        process.abort()


async def test_v4_forwards_one_connection(server: APIServer, web: PodClient) -> None:
    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"hello " + await reader.readline())
        writer.write_eof()

    async def opener(port: int) -> MessageConnection:
        return await open_v4(web, "portforward", ports=str(port))

    server.kubelet.port(8080, greet)
    connection = await V4Tunnel(opener, "web", (8080, await opener(8080))).open(8080)
    await connection.write(b"you\n")

    assert b"".join([chunk async for chunk in connection]) == b"hello you\n"
    connection.close()


# --- targets


async def test_a_service_is_one_of_its_ready_pods(server: APIServer, web: PodClient) -> None:
    server.kubelet.command("hostname", stdout="two", pod="shop-2", container="app")
    services = server.client().core_v1.services("default")
    await services.create(service_of("shop"))
    with pytest.raises(NoReadyPod, match="it selects no pods"):
        await web.exec("svc/shop", ["hostname"])
    await create(web, pod_of("shop-1", "app", "side", ready=False, app="shop"))
    with pytest.raises(NoReadyPod, match=r"none of its 1 pods is ready: shop-1 \(Running\)"):
        await web.exec("svc/shop", ["hostname"])
    await create(web, pod_of("shop-2", "app", "side", app="shop"))

    assert (await web.exec("svc/shop", ["hostname"])).text == "two"
    assert (await web.exec("pod/shop-2", ["hostname"], container="app")).text == "two"


async def test_a_target_of_another_kind_is_an_error(web: PodClient) -> None:
    with pytest.raises(InvalidArgument, match="'node' is not one of pod, daemonset, deployment"):
        await web.exec("node/one", ["ls"])
    with pytest.raises(NotFound, match="GET deployments/gone in default"):
        await web.exec("deploy/gone", ["ls"])


async def test_debug_adds_a_container_and_attaches(server: APIServer, web: PodClient) -> None:
    server.kubelet.attach(cat, container="debugger-*")
    call = asyncio.ensure_future(web.debug("web", image="busybox", stdin=b"hello"))
    while not (await web.get("web")).spec.ephemeral_containers:
        await asyncio.sleep(0.001)
    server.kubelet.run_pod("web")

    assert (await call).stdout == b"hello"
    (added,) = (await web.get("web")).spec.ephemeral_containers
    assert (added.image, added.stdin) == ("busybox", True)


async def test_a_container_that_does_not_start_is_an_error(web: PodClient) -> None:
    with pytest.raises(DebugFailed, match=r"debugger did not start within 0\.05 s"):
        await web.debug("web", image="busybox", name="debugger", wait_for=0.05)
