"""Streams of the command line: memory with a slow reader, cut text, and a server that is gone."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kubeloop_testing import APIServer
from kubeloop_testing.server.kubelet.processes import Process
from tests.support.relay import relay_process

from .conftest import command, finished, on_terminal, until

pytestmark = pytest.mark.timeout(60)

MEGABYTE = 1 << 20
TEXT = "grün, 緑, 🟢, \x1b[31mred\x1b[0m\n"


class Flood:
    """A program that writes much, and counts what it has written."""

    def __init__(self, megabytes: int) -> None:
        self.megabytes = megabytes
        self.written = 0

    async def __call__(self, process: Process) -> int:
        piece = os.urandom(MEGABYTE)
        for _ in range(self.megabytes):
            await process.stdout.write(piece)
            self.written += len(piece)
        return 0

    def wait_until_it_stops(self) -> None:
        """Wait until nothing was written for a while, although there is more."""
        before = -1
        while before != self.written or not self.written:
            before = self.written
            time.sleep(0.2)


@pytest.fixture
def server(kube_server: APIServer) -> APIServer:
    """The shop, whose pod web-1 runs."""
    kube_server.kubelet.run_pod("web-1", namespace="shop")
    return kube_server


def resident(process: subprocess.Popen[bytes], field: str) -> int:
    """The memory of a process in bytes: VmRSS now, VmHWM at most."""
    try:
        text = Path(f"/proc/{process.pid}/status").read_text()
    except FileNotFoundError:
        pytest.skip("the memory of a process is read from /proc, on Linux")
    (line,) = [each for each in text.splitlines() if each.startswith(field)]
    return int(line.split()[1]) * 1024


@contextmanager
def reading(environment: dict[str, str], *words: str) -> Iterator[subprocess.Popen[bytes]]:
    """The command with a pipe that no one reads yet; killed at the end if it still runs."""
    with subprocess.Popen(
        command(*words),
        env=environment,
        stdin=subprocess.PIPE,  # without an end
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def test_a_reader_that_sleeps_does_not_grow_memory(
    server: APIServer, environment: dict[str, str]
) -> None:
    """100 MB are offered; the pipe, the buffers and the sockets hold a few."""
    flood = Flood(100)
    server.kubelet.command("flood", flood)

    with reading(environment, "exec", "web-1", "-n", "shop", "--", "flood") as process:
        assert process.stdout is not None
        os.read(process.stdout.fileno(), 1)
        flood.wait_until_it_stops()
        waiting, stopped_at = resident(process, "VmRSS"), flood.written
        size = 1
        while chunk := os.read(process.stdout.fileno(), MEGABYTE):
            size += len(chunk)
            if size < 99 * MEGABYTE:
                peak = resident(process, "VmHWM")
        assert process.wait() == 0

    assert size == 100 * MEGABYTE
    assert stopped_at < 30 * MEGABYTE
    assert peak < waiting + 30 * MEGABYTE


@pytest.mark.parametrize("tty", [False, True])
def test_text_that_is_cut_between_messages_is_shown_unchanged(
    server: APIServer, environment: dict[str, str], *, tty: bool
) -> None:
    async def byte_by_byte(process: Process) -> int:
        for at in range(len(TEXT.encode())):
            await process.stdout.write(TEXT.encode()[at : at + 1])
        return 0

    server.kubelet.command("words", byte_by_byte)
    words = ("exec", "web-1", "-n", "shop", "--", "words")
    if tty:
        with on_terminal(environment, words[0], "-it", *words[1:]) as terminal:
            terminal.rest()
            shown = terminal.raw
    else:
        _, shown, _ = finished(environment, *words)

    assert TEXT.strip() in shown


def test_the_lines_of_a_log_are_shown_unchanged(
    server: APIServer, environment: dict[str, str]
) -> None:
    long = "ä" * 5_000_000
    server.set_log("shop", "web-1", f"{long}\n緑\n")

    _, output, _ = finished(environment, "logs", "web-1", "-n", "shop")

    assert output == f"{long}\n緑\n"


def test_a_server_that_is_gone_is_one_line_that_says_how_much_arrived(
    server: APIServer, environment: dict[str, str], tmp_path: Path
) -> None:
    async def half(process: Process) -> int:
        await process.stdout.write(b"x" * 1000)
        await process.stdin.read()
        return 0

    server.kubelet.command("half", half)
    with relay_process(int(server.url.rpartition(":")[2])) as (url, pid):
        path = tmp_path / "through-relay"
        path.touch(mode=0o600)
        path.write_text(server.kubeconfig().replace(server.url, url))
        flags = ("--kubeconfig", str(path), "-n", "shop", "-i", "web-1")
        with reading(environment, "exec", *flags, "--", "half", "s3cr3t") as process:
            assert process.stdout is not None
            assert process.stderr is not None
            assert process.stdout.read(1000) == b"x" * 1000
            os.kill(pid, signal.SIGKILL)
            errors = process.stderr.read().decode()

            assert process.wait() == 4  # as for every lost connection
    assert errors.count("\n") == 1
    assert "exec half in web-1: the connection was lost after 1000 bytes of output" in errors
    assert "s3cr3t" not in errors


def test_a_command_that_is_killed_ends_the_program(
    server: APIServer, environment: dict[str, str]
) -> None:
    ended = []

    async def wait(process: Process) -> int:
        try:
            await process.stdout.write(b"ready")
            await process.stdin.read()
        finally:
            ended.append(process)
        return 0

    server.kubelet.command("wait", wait)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        with reading(environment, "exec", "-i", "web-1", "-n", "shop", "--", "wait") as process:
            assert process.stdout is not None
            assert process.stdout.read(5) == b"ready"
            process.send_signal(number)
            process.wait()
            until(lambda: bool(ended))
            ended.clear()
