"""Streams under load, when they are cancelled, and when the server goes away."""

from __future__ import annotations

import asyncio
import itertools
import traceback
import types
from collections.abc import Awaitable, Callable, Coroutine, Generator
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pytest

from kubeloop.clients import PodClient
from kubeloop.errors import KubeError
from kubeloop.runtime import Client
from kubeloop_testing import APIServer, User
from kubeloop_testing.server.kubelet.processes import Process

from .conftest import CuttingProxy, create, pod_of

T = TypeVar("T")
SECRET = "s3cr3t-of-ann"


@pytest.fixture
async def web(server: APIServer, pods: PodClient) -> PodClient:
    """A client of pods, with the running pod `web`."""
    await create(pods, pod_of("web"))
    return pods


# --- cancellation


@types.coroutine
def cancelled_at(number: int, call: Coroutine[Any, Any, T]) -> Generator[Any, Any, T]:
    """Run a coroutine, and cancel its task when it waits for that time (0 is the first)."""
    task = asyncio.current_task()
    assert task is not None
    proceed: Callable[[], Any] = partial(call.send, None)
    for at in itertools.count():
        try:
            awaited = proceed()
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        if at == number:
            asyncio.get_running_loop().call_soon(task.cancel)
        try:
            yield awaited
        except BaseException as error:  # noqa: BLE001 - passed on
            proceed = partial(call.throw, error)
        else:
            proceed = partial(call.send, None)
    raise AssertionError("a coroutine ends")


class Programs:
    """Counts the programs that run in containers."""

    def __init__(self, server: APIServer) -> None:
        self.started = self.ended = 0
        server.kubelet.command("cat", self._run)
        server.kubelet.port(8080, self._serve)

    async def _run(self, process: Process) -> int:
        self.started += 1
        try:
            while chunk := await process.stdin.read(100):
                await process.stdout.write(chunk)
        finally:
            self.ended += 1
        return 0

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.started += 1
        try:
            while chunk := await reader.read(100):
                writer.write(chunk)
        finally:
            self.ended += 1


async def use_exec(pods: PodClient, _: Path) -> None:
    result = await pods.exec("web", ["cat"], stdin=b"x" * 200)
    assert result.stdout == b"x" * 200


async def use_process(pods: PodClient, _: Path) -> None:
    async with pods.exec("pod/web", ["cat"], stdin=True, tty=True) as process:
        await process.resize(80, 24)
        await process.stdin.write(b"hello")
        assert await anext(process.stdout) == b"hello"
        await process.stdin.close()
        assert await process.wait() == 0


async def use_forward(pods: PodClient, _: Path) -> None:
    async with pods.port_forward("web", 8080) as forward:
        try:
            await _say_hello(forward.port)
        except asyncio.CancelledError:
            # asyncio loses a connection that it accepts while its listener is closed.
            while not forward.stats().accepted:
                await asyncio.sleep(0)
            raise


async def _say_hello(port: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(b"hello")
        assert await reader.readexactly(5) == b"hello"
    finally:
        writer.transport.abort()


async def use_connection(pods: PodClient, _: Path) -> None:
    async with pods.open_connection("web", 8080) as connection:
        await connection.write(b"hello")
        assert await connection.read() == b"hello"


async def use_copy(pods: PodClient, folder: Path) -> None:
    await pods.copy_to("web", folder / "one", "/tmp/")
    copied = await pods.copy_from("web", "/tmp/one", folder / "two")
    assert copied.files == 1


@pytest.mark.timeout(30)
@pytest.mark.parametrize("use", [use_exec, use_process, use_forward, use_connection, use_copy])
async def test_cancellation_at_every_await_closes_the_remote_side(
    server: APIServer,
    web: PodClient,
    tmp_path: Path,
    use: Callable[[PodClient, Path], Coroutine[Any, Any, None]],
) -> None:
    """WTC-21"""
    programs = Programs(server)
    server.kubelet.files({})
    (tmp_path / "one").write_bytes(b"content")
    for number in itertools.count():
        task = asyncio.ensure_future(_awaitable(cancelled_at(number, use(web, tmp_path))))
        await asyncio.wait([task])
        while programs.started != programs.ended:
            await asyncio.sleep(0.001)
        if not task.cancelled():
            break

    assert task.exception() is None
    assert number > 3


async def _awaitable(call: Awaitable[T]) -> T:
    return await call


# --- load


@pytest.mark.timeout(20)
async def test_a_line_of_ten_megabytes_passes_in_both_directions(
    server: APIServer, web: PodClient
) -> None:
    async def cat(process: Process) -> int:
        while chunk := await process.stdin.read(65536):
            await process.stdout.write(chunk)
        return 0

    server.kubelet.command("cat", cat)
    line = "ä" * 5_000_000

    async with web.exec("web", ["cat"], stdin=True) as process:

        async def send() -> None:
            await process.stdin.write(line + "\nshort\n")
            await process.stdin.close()

        sending = asyncio.ensure_future(send())
        lines = [each async for each in process.stdout.lines()]
        await sending

    assert lines == [line, "short"]


# --- errors


async def test_no_error_has_a_credential() -> None:
    """A token is in every request; commands and their input may have secrets, too."""

    async def half(process: Process) -> int:
        await process.stdout.write(b"x" * 1000)
        await process.stdin.read()
        return 0

    errors: list[BaseException] = []
    async with APIServer(tokens={SECRET: User(name="ann", groups=("system:masters",))}) as server:
        await create(server.client().core_v1.pods("default"), pod_of("web"))
        server.kubelet.command("half", half)
        async with CuttingProxy(int(server.url.rpartition(":")[2])) as proxy:
            url = proxy.url.replace("http:", "https:")
            config = server.config.replace(server=url, namespace="default", token=SECRET)
            async with Client(config) as client:
                pods = client.core_v1.pods()
                uses: list[Callable[[], Awaitable[object]]] = [
                    lambda: pods.exec("web", ["nothing", SECRET]),
                    lambda: pods.exec("gone", ["sh", "-c", SECRET]),
                    lambda: pods.exec("web", ["half", SECRET], max_output=10),
                    lambda: pods.copy_from("web", "/srv", "copy"),
                    lambda: _connect(pods, 9),
                ]
                errors += [await _error_of(use) for use in uses]
                async with pods.exec("web", ["half", SECRET], stdin=True) as process:
                    assert len(await anext(process.stdout)) == 1000
                    proxy.cut()
                    errors.append(await _error_of(process.stdout.read))
                    errors.append(await _error_of(process.wait))
                    errors.append(await _error_of(lambda: process.stdin.write(SECRET * 100_000)))

    assert "after 1000 bytes of output" in str(errors[-2])
    for error in errors:
        text = "".join(traceback.format_exception(error)) + repr(error) + str(error.__dict__)
        # A traceback shows the lines of this file.
        assert SECRET not in text.replace('["nothing", SECRET]', "")


async def _connect(pods: PodClient, port: int) -> None:
    async with pods.open_connection("web", port) as connection:
        await connection.read()


async def _error_of(use: Callable[[], Awaitable[object]]) -> KubeError:
    with pytest.raises(KubeError) as found:
        await use()
    return found.value
