"""Copies between this machine and containers of the embedded server."""

from __future__ import annotations

import asyncio
import tarfile
from pathlib import Path

import pytest

from kubeloop.clients import PodClient
from kubeloop.errors import InvalidArgument
from kubeloop.streams import CopyFailed, CopyProgress
from kubeloop_testing import APIServer
from kubeloop_testing.server.kubelet.files import File, FileTree, Link
from kubeloop_testing.server.kubelet.processes import Process as ServedProcess
from tests.support.tar_headers import raw_header

from .conftest import CuttingProxy, create, pod_of


@pytest.fixture
async def files(server: APIServer, pods: PodClient) -> FileTree:
    """The files of the pod `web`."""
    await create(pods, pod_of("web"))
    return server.kubelet.files(
        {
            "/srv/www/index.html": "<h1>hi</h1>",
            "/srv/www/run": File(content=b"#!/bin/sh\n", mode=0o755),
            "/srv/www/latest": Link("index.html"),
            "/srv/bad/out": Link("/etc/passwd"),
        }
    )


async def test_a_folder_is_copied_from_a_container(
    pods: PodClient, files: FileTree, tmp_path: Path
) -> None:
    done = await pods.copy_from("web", "/srv/www", tmp_path / "site")

    assert (tmp_path / "site" / "index.html").read_text() == "<h1>hi</h1>"
    assert (tmp_path / "site" / "run").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "site" / "latest").readlink() == Path("index.html")
    assert (done.files, done.size) == (3, 21)


async def test_a_file_is_copied_into_a_folder(
    pods: PodClient, files: FileTree, tmp_path: Path
) -> None:
    await pods.copy_from("web", "/srv/www/run", f"{tmp_path}/")
    await pods.copy_from("web", "/srv/www/run", f"{tmp_path}/other")
    await pods.copy_to("web", tmp_path / "run", "/tmp/")
    await pods.copy_to("web", tmp_path / "run", "/tmp/named")

    assert (tmp_path / "run").read_bytes() == (tmp_path / "other").read_bytes() == b"#!/bin/sh\n"
    assert files["/tmp/run"] == files["/tmp/named"] == b"#!/bin/sh\n"


async def test_a_folder_is_copied_to_a_container(
    pods: PodClient, files: FileTree, tmp_path: Path
) -> None:
    (tmp_path / "site" / "deep").mkdir(parents=True)
    (tmp_path / "site" / "deep" / "big").write_bytes(bytes(3_000_000))
    (tmp_path / "site" / "run").write_bytes(b"x")
    (tmp_path / "site" / "run").chmod(0o711)
    (tmp_path / "site" / "link").symlink_to("run")
    seen: list[CopyProgress] = []

    done = await pods.copy_to("web", tmp_path / "site", "/srv/new", progress=seen.append)

    assert files["/srv/new/deep/big"] == bytes(3_000_000)
    node = files.find("/srv/new/run")
    assert isinstance(node, File)
    assert node.mode == 0o711
    assert files.find("/srv/new/link", follow=False) == Link("run", mtime=node.mtime)
    assert seen[-1] == done
    assert [each.size for each in seen] == sorted(each.size for each in seen)
    assert (done.files, done.size, len(seen) > 2) == (3, 3_000_001, True)


async def test_a_link_that_leads_outside_is_refused(
    pods: PodClient, files: FileTree, tmp_path: Path
) -> None:
    with pytest.raises(CopyFailed, match=r"bad/out': a link to '/etc/passwd', outside.*0 files"):
        await pods.copy_from("web", "/srv/bad", tmp_path / "bad")


async def test_a_malformed_archive_ends_the_copy(
    server: APIServer, pods: PodClient, files: FileTree, tmp_path: Path
) -> None:
    """The shape of CVE-2025-8194."""
    server.kubelet.command("tar", stdout=raw_header("data", size=b"-0000000001") + bytes(100_000))

    with pytest.raises(CopyFailed, match="cannot be read: a header has the size"):
        await pods.copy_from("web", "/srv/data", tmp_path / "data")


async def test_errors_of_tar_are_reported(
    server: APIServer, pods: PodClient, files: FileTree, tmp_path: Path
) -> None:
    with pytest.raises(CopyFailed, match=r"exit code 2: tar: ./gone: Cannot stat: No such file"):
        await pods.copy_from("web", "/srv/gone", tmp_path / "gone")
    with pytest.raises(CopyFailed, match="exit code 2: tar: /none: Cannot open"):
        await pods.copy_to("web", tmp_path, "/none/there")
    with pytest.raises(InvalidArgument, match="does not exist"):
        await pods.copy_to("web", tmp_path / "missing", "/tmp/x")
    server.kubelet.clear()
    with pytest.raises(CopyFailed, match="the container needs the program tar"):
        await pods.copy_from("web", "/srv/www", tmp_path / "site")


async def test_an_interrupted_copy_says_what_is_complete(
    server: APIServer,
    proxy: CuttingProxy,
    pods: PodClient,
    files: FileTree,
    tmp_path: Path,
) -> None:
    async def half(process: ServedProcess) -> int:
        first, second = tarfile.TarInfo("./big/a"), tarfile.TarInfo("./big/b")
        first.size, second.size = 2_000_000, 9_000_000
        await process.stdout.write(first.tobuf() + bytes(first.size - first.size % -512))
        await process.stdout.write(second.tobuf() + bytes(second.size // 2))
        await asyncio.Event().wait()
        return 0

    def cut(progress: CopyProgress) -> None:
        if progress.files:
            proxy.cut()

    server.kubelet.command("tar", half)
    (tmp_path / "big").mkdir()

    with pytest.raises(CopyFailed, match=r"connection was lost .*; 1 files and \d+ bytes are") as e:
        await pods.copy_from("web", "/srv/big", tmp_path / "big", progress=cut)

    assert e.value.progress.files == 1
    assert list(tmp_path.joinpath("big").iterdir()) == [tmp_path / "big" / "a"]
