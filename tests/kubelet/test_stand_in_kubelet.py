"""Streams of kubectl pass through the real API server to the stand-in kubelet."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import final

import pytest

from kubeloop_testing import ControlPlane, assets_folder

pytestmark = [pytest.mark.timeout(90), pytest.mark.asyncio(loop_scope="session")]


@final
class Kubectl:
    """Runs kubectl as the administrator."""

    def __init__(self, kubeconfig: Path) -> None:
        self._kubeconfig = kubeconfig

    async def __call__(self, *words: str, stdin: bytes = b"") -> tuple[int | None, str, str]:
        """The exit code, stdout and stderr."""
        process = await self._start(*words)
        out, errors = await process.communicate(stdin)
        return process.returncode, out.decode(), errors.decode()

    @asynccontextmanager
    async def running(self, *words: str) -> AsyncIterator[asyncio.StreamReader]:
        """The output of kubectl, which runs until the block ends."""
        process = await self._start(*words)
        assert process.stdout is not None
        try:
            yield process.stdout
        finally:
            process.kill()
            await process.communicate()

    async def _start(self, *words: str) -> asyncio.subprocess.Process:
        pipe = asyncio.subprocess.PIPE
        home = str(self._kubeconfig.parent)
        return await asyncio.create_subprocess_exec(
            assets_folder() / "kubectl",
            *words,
            env={"PATH": os.environ["PATH"], "HOME": home, "KUBECONFIG": str(self._kubeconfig)},
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
        )


@pytest.fixture
def kubectl(plane: ControlPlane, tmp_path: Path) -> Kubectl:
    path = tmp_path / "kubeconfig"
    path.touch(mode=0o600)
    path.write_text(plane.kubeconfig())
    return Kubectl(path)


async def test_exec_returns_the_output_of_a_command_and_its_exit_code(kubectl: Kubectl) -> None:
    assert await kubectl("exec", "web", "--", "echo", "hello", "there") == (0, "hello there\n", "")
    assert (await kubectl("exec", "web", "--", "warn", "careful"))[2] == "careful\n"
    assert (await kubectl("exec", "web", "--", "exit", "7"))[0] == 7


async def test_exec_passes_its_input_to_the_command(kubectl: Kubectl) -> None:
    code, out, _ = await kubectl("exec", "-i", "web", "--", "cat", stdin=b"one\ntwo\n")

    assert (code, out) == (0, "one\ntwo\n")


async def test_attach_connects_to_the_running_container(kubectl: Kubectl) -> None:
    code, out, _ = await kubectl("attach", "-i", "web", stdin=b"through\n")

    assert code == 0
    assert "through\n" in out


async def test_logs_can_be_read_completely_or_from_the_end(kubectl: Kubectl) -> None:
    whole = (await kubectl("logs", "web"))[1].splitlines()

    assert whole == [f"default/web/app: line {number}" for number in range(1, 11)]
    assert (await kubectl("logs", "web", "--tail=2"))[1].splitlines() == whole[-2:]


async def test_followed_logs_continue(kubectl: Kubectl) -> None:
    async with kubectl.running("logs", "--follow", "--tail=1", "web") as lines:
        seen = [await lines.readline() for _ in range(3)]

    assert seen == [b"default/web/app: line %d\n" % number for number in (10, 11, 12)]


async def test_a_forwarded_port_reaches_a_listener_of_the_pod(kubectl: Kubectl) -> None:
    async def echo_upper(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write((await reader.readline()).upper())
        writer.close()

    server = await asyncio.start_server(echo_upper, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, kubectl.running("port-forward", "pod/web", f":{port}") as output:
        local = int((await output.readline()).split(b" -> ")[0].rpartition(b":")[2])
        reader, writer = await asyncio.open_connection("127.0.0.1", local)
        writer.write(b"loud\n")
        response = await reader.readline()
        writer.close()
        await writer.wait_closed()

    assert response == b"LOUD\n"
