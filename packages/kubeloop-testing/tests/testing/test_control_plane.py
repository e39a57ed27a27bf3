"""A real control plane starts, serves, reports failures and removes all it created."""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from kubeloop.clients import APIClient
from kubeloop.config import ClusterConfig
from kubeloop.errors import InvalidArgument
from kubeloop.wire.core.v1 import Namespace
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop_testing import ControlPlane, ControlPlaneFailed, assets_folder, supervisor
from kubeloop_testing.control_plane import _reserve_ports

try:
    ASSETS: Path | None = assets_folder()
    WITHOUT = ""
except ControlPlaneFailed as error:
    ASSETS, WITHOUT = None, str(error)

real = pytest.mark.skipif(ASSETS is None, reason=WITHOUT)
slow = pytest.mark.timeout(90)

VICTIM = """
import asyncio
from pathlib import Path
from kubeloop_testing import ControlPlane

async def main():
    async with ControlPlane() as plane:
        supervisor = plane._supervisor.pid
        children = Path(f"/proc/{supervisor}/task/{supervisor}/children").read_text().split()
        print(plane._folder, supervisor, *children, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


@real
@slow
async def test_a_control_plane_serves_its_administrator_and_removes_its_files(
    tmp_path: Path,
) -> None:
    manifest = tmp_path / "shop.yaml"
    manifest.write_text("apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}")

    async with ControlPlane(manifests=[manifest]) as plane:
        namespaces = plane.client().core_v1.namespaces()
        await namespaces.get("shop")
        await namespaces.create(Namespace(metadata=ObjectMeta(name="other")))
        async with APIClient(ClusterConfig.from_kubeconfig(plane.kubeconfig())) as other:
            await other.core_v1.namespaces().get("other")
        folder = plane._folder
        assert "etcd" in plane.log("etcd")

    assert not folder.exists()


@real
@slow
@pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")
def test_a_killed_control_plane_leaves_no_process_and_no_folder() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", VICTIM], stdout=subprocess.PIPE, text=True
    ) as victim:
        try:
            assert victim.stdout is not None
            folder, *pids = victim.stdout.readline().split()
            ends = [os.pidfd_open(int(pid)) for pid in pids]  # readable once the process is gone
        finally:
            victim.kill()

    try:
        assert len(pids) == 3
        for end in ends:
            assert select.select([end], [], [], 30)[0], f"one of {pids} is still there"
    finally:
        for end in ends:
            os.close(end)
    assert not Path(folder).exists()


@pytest.mark.timeout(60)  # starts a Python process
def test_a_supervisor_whose_parent_died_before_any_command_removes_the_folder(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "plane"
    folder.mkdir()
    (folder / "admin.key").touch()

    command = [sys.executable, "-I", supervisor.__file__, str(folder)]
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=True)

    assert (result.stdout, result.stderr) == (b"", b"")
    assert not folder.exists()


@real
@slow
async def test_an_unknown_flag_is_reported_with_the_log() -> None:
    plane = ControlPlane(api_server_flags=["--no-such-flag"])

    with pytest.raises(ControlPlaneFailed) as raised:
        async with plane:
            pass

    assert "kube-apiserver exited with code 1" in str(raised.value)
    assert "unknown flag: --no-such-flag" in str(raised.value)
    assert not plane._folder.exists()


async def test_missing_binaries_are_reported_with_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    with pytest.raises(ControlPlaneFailed, match="make assets") as raised:
        async with ControlPlane():
            pass

    assert str(tmp_path / "cache" / "kubeloop" / "assets") in str(raised.value)


def test_a_folder_without_binaries_is_not_replaced_by_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cached = tmp_path / "kubeloop" / "assets"
    cached.mkdir(parents=True)
    for name in ("etcd", "kube-apiserver"):
        (cached / name).touch(mode=0o755)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path / "mistyped"))

    with pytest.raises(ControlPlaneFailed, match="mistyped"):
        assets_folder()
    with pytest.raises(ControlPlaneFailed, match="other"):
        assets_folder(tmp_path / "other")


def test_an_explicit_folder_takes_precedence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path))
    for folder in (tmp_path, tmp_path / "mine"):
        folder.mkdir(exist_ok=True)
        for name in ("etcd", "kube-apiserver"):
            (folder / name).touch(mode=0o755)

    assert assets_folder(tmp_path / "mine") == tmp_path / "mine"
    assert assets_folder() == tmp_path


def test_a_reserved_port_can_only_be_bound_with_reuse_port() -> None:
    with _reserve_ports() as ports:
        for port in msgspec.structs.astuple(ports):
            with socket.socket() as other, pytest.raises(OSError, match="in use"):
                other.bind(("127.0.0.1", port))
            with socket.socket() as ours:
                ours.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
                ours.bind(("127.0.0.1", port))
                ours.listen()


def test_a_control_plane_has_no_kubeconfig_before_it_runs() -> None:
    with pytest.raises(RuntimeError, match="async with"):
        ControlPlane().kubeconfig()


@real
@slow
async def test_a_restarted_server_is_a_new_process_with_the_same_data() -> None:
    async with ControlPlane() as plane:
        namespaces = plane.client().core_v1.namespaces()
        await namespaces.create(Namespace(metadata=ObjectMeta(name="kept")))

        await plane.restart()

        await namespaces.get("kept")
        assert plane.log("kube-apiserver").count("Serving securely") == 2


@real
@slow
async def test_only_a_running_process_can_be_restarted() -> None:
    async with ControlPlane() as plane:
        with pytest.raises(InvalidArgument, match="running: etcd, kube-apiserver"):
            await plane.restart("kube-controller-manager")

    with pytest.raises(RuntimeError, match="not running"):
        await plane.restart()


async def test_controllers_without_their_binary_are_rejected_before_the_start(
    tmp_path: Path,
) -> None:
    for name in ("etcd", "kube-apiserver"):
        (tmp_path / name).touch(mode=0o755)

    with pytest.raises(ControlPlaneFailed, match="kube-controller-manager is not in"):
        async with ControlPlane(assets=tmp_path, controllers=["namespace"]):
            pass
