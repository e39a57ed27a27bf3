"""Real programs in containers, through the real API server.

The stand-in kubelet starts sh, cat, tar and vi of this machine. Every test runs with a node for
which the API server translates WebSockets, and with one that declares that it handles them.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
from pathlib import Path

import pytest

from kubeloop.errors import InternalError
from kubeloop.rest import Request
from kubeloop.streams import CopyFailed
from kubeloop_testing import ControlPlane

pytestmark = [pytest.mark.timeout(90), pytest.mark.asyncio(loop_scope="session")]


async def test_a_node_that_declares_it_handles_websockets_itself(
    plane: ControlPlane, pod: str
) -> None:
    """The metrics of the API server count who translated a request, since 1.36."""
    client = plane.client()
    by = "proxied_to_kubelet" if pod == "direct" else "translated_at_apiserver"

    async def count() -> float:
        request = Request(method="GET", path="/metrics", accept="text/plain")
        text = (await client.rest.send(request)).body.decode()
        name = "apiserver_websocket_streaming_requests_total"
        found = re.search(
            rf'^{name}{{proxy_type="{by}",subresource="exec"}} (\S+)$', text, re.MULTILINE
        )
        return float(found[1]) if found else 0.0

    before = await count()
    result = await client.core_v1.pods("default").exec(pod, ["sh", "-c", "echo $((6 * 7)); exit 3"])

    assert (result.text, result.exit_code) == ("42\n", 3)
    is_counted = int((await client.version()).minor.rstrip("+")) >= 36
    assert await count() == before + is_counted


async def test_a_program_has_an_empty_environment_and_other_programs_are_not_started(
    plane: ControlPlane, pod: str, container: Path
) -> None:
    pods = plane.client().core_v1.pods("default")

    exported = await pods.exec(pod, ["sh", "-c", "export -p"])
    await pods.exec(pod, ["sh", "-c", f"echo here > where-{pod}"], check=True)

    names = set(re.findall(r"^(?:export|declare -x) (\w+)", exported.text, re.MULTILINE))
    assert names <= {"OLDPWD", "PWD", "SHLVL", "_"}  # what a shell sets by itself
    assert (container / f"where-{pod}").read_text() == "here\n"
    with pytest.raises(InternalError, match="executable file not found"):
        await pods.exec(pod, ["env"])


async def test_a_large_stream_passes_unchanged_in_both_directions(
    plane: ControlPlane, pod: str
) -> None:
    pods = plane.client().core_v1.pods("default")
    data = os.urandom(1 << 20) * 8
    received = hashlib.sha256()

    async with pods.exec(pod, ["cat"], stdin=True, stderr=False) as process:

        async def send() -> None:
            await process.stdin.write(data)
            await process.stdin.close()

        sending = asyncio.ensure_future(send())
        async for chunk in process.stdout:
            received.update(chunk)
        await sending

        assert await process.wait() == 0
    assert received.digest() == hashlib.sha256(data).digest()


def tree(folder: Path) -> dict[str, tuple[int, bytes | str]]:
    """The modes and the content of everything in a folder."""
    found: dict[str, tuple[int, bytes | str]] = {}
    for path in sorted(folder.rglob("*")):
        name, mode = str(path.relative_to(folder)), path.lstat().st_mode
        if path.is_symlink():
            found[name] = (0, str(path.readlink()))
        else:
            found[name] = (mode, path.read_bytes() if path.is_file() else b"")
    return found


async def test_a_folder_is_copied_both_ways(
    plane: ControlPlane, pod: str, container: Path, tmp_path: Path
) -> None:
    pods = plane.client().core_v1.pods("default")
    source = tmp_path / "source"
    (source / "a" / "empty").mkdir(parents=True)
    (source / "a" / "run.sh").write_bytes(b"#!/bin/sh\n")
    (source / "a" / "run.sh").chmod(0o750)
    (source / ("long name " * 20)).write_bytes(os.urandom(3_000_000))
    (source / "zero").touch()
    (source / "link").symlink_to("a/run.sh")
    for number in range(200):
        (source / f"{number:03}").write_bytes(b"x" * number)

    sent = await pods.copy_to(pod, source, f"{container}/{pod}-copy")
    received = await pods.copy_from(pod, f"{pod}-copy", tmp_path / "back")

    assert sent.files == received.files == 204
    assert tree(container / f"{pod}-copy") == tree(tmp_path / "back") == tree(source)


async def test_a_copy_that_tar_refuses_says_why(
    plane: ControlPlane, pod: str, tmp_path: Path
) -> None:
    pods = plane.client().core_v1.pods("default")
    (tmp_path / "file").write_bytes(b"x")

    with pytest.raises(CopyFailed, match=r"tar failed with exit code .*/nowhere"):
        await pods.copy_to(pod, tmp_path / "file", "/nowhere/file")
    with pytest.raises(CopyFailed, match=r"tar failed with exit code .*nothing"):
        await pods.copy_from(pod, "nothing", tmp_path / "copy")


async def test_a_port_is_forwarded_with_half_close(plane: ControlPlane, pod: str) -> None:
    async def count(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(str(len(await reader.read())).encode())
        writer.close()

    pods = plane.client().core_v1.pods("default")
    server = await asyncio.start_server(count, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, pods.port_forward(pod, port) as forward:
        reader, writer = await asyncio.open_connection("127.0.0.1", forward.port)
        writer.write(bytes(2_000_000))
        writer.write_eof()
        answer = await reader.read()
        writer.close()

    assert answer == b"2000000"
