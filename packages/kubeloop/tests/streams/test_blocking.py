"""The blocking forms of streams."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import assert_type

import pytest

from kubeloop.blocking import Client, PodClient, PortConnection, Process, Stream
from kubeloop.errors import InvalidArgument
from kubeloop.streams import ExecResult, LogEntry, LogLine, NonZeroExitCode, PortForward
from kubeloop_testing import APIServer, running_in_thread
from kubeloop_testing.server.kubelet.processes import Process as ServedProcess

from .conftest import pod_of


async def cat(process: ServedProcess) -> int:
    while chunk := await process.stdin.read(65536):
        await process.stdout.write(chunk)
    return 0


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(await reader.read(100))
    writer.write_eof()


@pytest.fixture
def server() -> Iterator[APIServer]:
    with running_in_thread(APIServer()) as running:
        yield running


@pytest.fixture
def pods(server: APIServer) -> Iterator[PodClient]:
    """A client of pods, with the running pod `web`."""
    with Client(server.config) as client:
        pods = client.core_v1.pods("default")
        created = pods.create(pod_of("web", app="web"))
        created.status = pod_of("web").status
        pods.status.update(created)
        server.kubelet.command("cat", cat)
        server.kubelet.command("ls", stdout="bin\n")
        server.kubelet.command("false", exit_code=3)
        server.kubelet.port(8080, echo)
        yield pods


def test_exec_returns_the_result(pods: PodClient) -> None:
    assert pods.exec("web", ["ls"]).text == "bin\n"
    assert pods.exec("web", ["cat"], stdin="through").stdout == b"through"
    with pytest.raises(NonZeroExitCode):
        pods.exec("web", ["false"], check=True)


def test_a_process_is_talked_to_in_a_block(pods: PodClient) -> None:
    with pods.open_exec("web", ["cat"], stdin=True) as process:
        process.stdin.write("one\n")
        assert next(process.stdout) == b"one\n"
        process.stdin.write("two\nthree")
        process.stdin.close()
        assert list(process.stdout.lines()) == ["two", "three"]
        assert process.stderr.read() == b""
        assert process.wait() == 0


def test_errors_of_a_process_are_raised_in_the_thread_of_the_caller(
    pods: PodClient,
) -> None:
    with pods.open_exec("web", ["cat"]) as process:
        with pytest.raises(InvalidArgument, match="no stdin"):
            _ = process.stdin
        with pytest.raises(InvalidArgument, match="no terminal"):
            process.resize(80, 24)


def test_ports_are_forwarded(pods: PodClient) -> None:
    with (
        pods.port_forward("web", 8080) as local,
        socket.create_connection(("127.0.0.1", local.port)) as connection,
    ):
        connection.sendall(b"ping")
        assert connection.recv(100) == b"ping"
    with pods.open_connection("web", 8080) as direct:
        direct.write(b"ping")
        assert list(direct) == [b"ping"]


def test_files_are_copied(server: APIServer, pods: PodClient, tmp_path: Path) -> None:
    files = server.kubelet.files({"/etc/motd": "hi"})

    assert pods.copy_from("web", "/etc/motd", tmp_path / "motd").files == 1
    assert pods.copy_to("web", tmp_path / "motd", "/tmp/copy").size == 2

    assert files["/tmp/copy"] == b"hi"


def test_logs_of_many_pods_are_a_stream(server: APIServer, pods: PodClient) -> None:
    server.set_log("default", "web", "one\ntwo\n")

    with pods.log_entries(selector="app=web", follow=True) as entries:
        lines = (entry.text for entry in entries if isinstance(entry, LogLine))
        assert [next(lines), next(lines)] == ["one", "two"]


def test_the_types_are_those_of_the_async_methods(pods: PodClient) -> None:
    def check() -> None:
        assert_type(pods.exec("web", ["ls"]), ExecResult)
        assert_type(pods.open_exec("web", ["ls"]), AbstractContextManager[Process])
        assert_type(pods.port_forward("web", 80), AbstractContextManager[PortForward])
        assert_type(pods.open_connection("web", 80), AbstractContextManager[PortConnection])
        assert_type(pods.log_entries("web"), Stream[LogEntry])

    assert callable(check)
