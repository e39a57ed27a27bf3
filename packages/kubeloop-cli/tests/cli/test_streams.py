"""`kubeloop exec`, `attach`, `debug`, `cp`, `port-forward`, and `logs` of many pods."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kubeloop.blocking import Client
from kubeloop.wire.core.v1 import Pod
from kubeloop_testing import APIServer
from kubeloop_testing.server.kubelet.processes import Process

from .conftest import Call, Terminal, command, finished, line_of, on_terminal, started

pytestmark = pytest.mark.timeout(60)


async def cat(process: Process) -> int:
    while chunk := await process.stdin.read(65536):
        await process.stdout.write(chunk)
    return 0


async def editor(process: Process) -> int:
    """A program for terminals: shows sizes and keys, ends with q."""
    size = await process.resized()
    await process.stdout.write(f"size {size.width}x{size.height}\r\n")
    while key := await process.stdin.read(1):
        if key == b"q":
            await process.stdout.write("bye\r\n")
            return 7
        if key == b"s":
            size = await process.resized()
            await process.stdout.write(f"size {size.width}x{size.height}\r\n")
        else:
            await process.stdout.write(f"key {key.hex()}\r\n")
    return 1


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(await reader.read(100))
    writer.write_eof()


@pytest.fixture
def server(kube_server: APIServer, kube_blocking_client: Client) -> APIServer:
    """The shop, whose pods run and have a few programs."""
    pods = kube_blocking_client.core_v1.pods("shop")
    for name in ("web-1", "web-2"):
        kube_server.kubelet.run_pod(name, namespace="shop")
    assert pods.wait_for("web-1", jsonpath="{.status.phase}=Running") is not None
    kube_server.kubelet.command("ls", stdout="bin\netc\n", stderr="careful\n")
    kube_server.kubelet.command("false", stderr="no\n", exit_code=3)
    kube_server.kubelet.command("cat", cat)
    kube_server.kubelet.command("vi", editor)
    return kube_server


# --- exec


def test_output_and_exit_code_pass_through(server: APIServer, environment: dict[str, str]) -> None:
    ran = finished(environment, "exec", "web-1", "-n", "shop", "--", "ls", "-l", "/")
    failed = finished(environment, "exec", "web-1", "-n", "shop", "--", "false")

    assert ran == (0, "bin\netc\n", "careful\n")
    assert failed == (3, "", "no\ncommand terminated with exit code 3\n")


def test_stdin_of_a_pipe_and_of_a_file_reaches_the_program(
    server: APIServer, environment: dict[str, str], tmp_path: Path
) -> None:
    data = bytes(range(256)) * 2000
    (tmp_path / "data").write_bytes(data)
    words = command("exec", "-i", "pod/web-1", "-n", "shop", "--", "cat")

    piped = subprocess.run(words, env=environment, input=data, capture_output=True, check=True)
    with (tmp_path / "data").open("rb") as file:
        read = subprocess.run(words, env=environment, stdin=file, capture_output=True, check=True)

    assert piped.stdout == read.stdout == data


def test_errors_are_one_line(server: APIServer, environment: dict[str, str]) -> None:
    code, _, errors = finished(environment, "exec", "web-1", "-n", "shop", "--", "nothing")

    assert code == 1
    assert errors.count("\n") == 1
    assert "executable file not found" in errors


@contextmanager
def in_editor(environment: dict[str, str]) -> Iterator[Terminal]:
    with on_terminal(
        environment, "exec", "-it", "web-1", "-n", "shop", "--", "vi", size=(30, 90)
    ) as terminal:
        terminal.until(lambda text: "size 90x30" in text)
        yield terminal


def test_keys_and_sizes_of_a_terminal_reach_the_program(
    server: APIServer, environment: dict[str, str]
) -> None:
    fcntl, termios = (pytest.importorskip(name) for name in ("fcntl", "termios"))
    with in_editor(environment) as terminal:
        terminal.interrupt()
        terminal.until(lambda text: "key 03" in text)
        terminal.write(b"\x1b")
        terminal.until(lambda text: "key 1b" in text)
        fcntl.ioctl(terminal.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 120, 0, 0))
        os.kill(terminal.process.pid, signal.SIGWINCH)
        terminal.write(b"s")
        terminal.until(lambda text: "size 120x50" in text)
        terminal.write(b"q")
        text = terminal.rest()

    assert "bye" in text
    assert terminal.process.returncode == 7


def test_the_terminal_is_restored(server: APIServer, environment: dict[str, str]) -> None:
    termios = pytest.importorskip("termios")
    with in_editor(environment) as terminal:
        raw = termios.tcgetattr(terminal.fd)
        terminal.write(b"q")
        terminal.rest()
        after = termios.tcgetattr(terminal.fd)

    assert not raw[3] & (termios.ICANON | termios.ECHO | termios.ISIG)
    assert after[3] & termios.ICANON
    assert after[3] & termios.ECHO


def test_a_pipe_that_is_closed_ends_the_command(
    server: APIServer, environment: dict[str, str]
) -> None:
    async def flood(process: Process) -> int:
        while True:
            await process.stdout.write(bytes(32 * 1024))

    server.kubelet.command("flood", flood)
    with subprocess.Popen(
        command("exec", "web-1", "-n", "shop", "--", "flood"),
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.read(100_000)
        process.stdout.close()

        assert process.wait() == 141


# --- attach and debug


def test_attach_connects_to_the_program_of_the_container(
    server: APIServer, environment: dict[str, str]
) -> None:
    server.kubelet.attach(cat)

    done = subprocess.run(
        command("attach", "-i", "web-1", "-n", "shop"),
        env=environment,
        input=b"through",
        capture_output=True,
        check=True,
    )

    assert done.stdout == b"through"


def test_debug_adds_a_container(
    server: APIServer, environment: dict[str, str], kube_blocking_client: Client
) -> None:
    server.kubelet.attach(cat, container="dbg")
    words = command(
        *("debug", "web-1", "-n", "shop", "--image", "busybox", "-c", "dbg", "-i", "--", "sh")
    )
    pods = kube_blocking_client.core_v1.pods("shop")

    def added(pod: Pod) -> bool:
        return bool(pod.spec.ephemeral_containers)

    with subprocess.Popen(
        words, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        pods.wait_for("web-1", function=added)
        server.kubelet.run_pod("web-1", namespace="shop")
        output, _ = process.communicate(b"hello")

    assert (output, process.returncode) == (b"hello", 0)


# --- cp


def test_files_are_copied_both_ways(kubeloop: Call, server: APIServer, tmp_path: Path) -> None:
    files = server.kubelet.files({"/srv/www/index.html": "hi"})

    there = kubeloop("cp", "web-1:/srv/www", "site", "-n", "shop")
    back = kubeloop("cp", "site/", "shop/web-1:/tmp/")  # as kubectl names a pod of a namespace

    assert (there.exit_code, back.exit_code) == (0, 0)
    assert (tmp_path / "site" / "index.html").read_text() == "hi"
    assert files["/tmp/site/index.html"] == b"hi"


def test_one_side_of_a_copy_is_local(kubeloop: Call) -> None:
    for words in (("a", "b"), ("x:/a", "y:/b"), ("./x:y", "/a:b")):
        result = kubeloop("cp", *words)

        assert result.exit_code == 2
        assert "expected POD:PATH" in result.stderr


# --- port-forward


def test_a_port_is_forwarded_until_the_command_ends(
    server: APIServer, environment: dict[str, str]
) -> None:
    server.kubelet.port(80, echo)
    with started(environment, "port-forward", "pod/web-1", ":80", "-n", "shop") as process:
        line = line_of(process)  # as kubectl prints it
        port = int(line.removeprefix("Forwarding from 127.0.0.1:").removesuffix(" -> 80"))
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(b"ping")
            assert connection.recv(100) == b"ping"
        process.send_signal(signal.SIGINT)

        assert process.wait() == 130
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            pytest.fail("the port is still open")


# --- logs


def test_the_logs_of_a_selector_have_prefixes(kubeloop: Call, server: APIServer) -> None:
    for name in ("web-1", "web-2"):
        server.set_log("shop", name, f"hello of {name}\n")

    result = kubeloop("logs", "-l", "app=web", "-n", "shop", "--all-containers", "--prefix")

    assert result.stdout.splitlines() == [
        "[pod/web-1/web] hello of web-1",
        "[pod/web-2/web] hello of web-2",
    ]


def test_followed_logs_continue_with_new_lines(
    server: APIServer, environment: dict[str, str]
) -> None:
    server.set_log("shop", "web-1", "one\n")
    with started(
        environment, "logs", "-f", "-l", "app=web", "-n", "shop", "--tail", "1"
    ) as process:
        lines = {line_of(process), line_of(process)}
        server.set_log("shop", "web-1", "one\ntwo\n")

        assert "one" in lines
        assert line_of(process) == "two"


def test_a_pod_or_a_selector_is_required(kubeloop: Call) -> None:
    for words in ((), ("web-1", "-l", "app=web")):
        result = kubeloop("logs", *words)

        assert result.exit_code == 2
        assert "expected either a pod or --selector" in result.stderr
