"""client-go with protobuf only: it never accepts JSON, and its writes are protobuf as well."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from bench.cluster import client_go
from bench.line_process import line_process
from kubeloop.blocking import Client
from kubeloop.wire.core.v1 import Container, Pod, PodSpec
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop_testing import APIServer, ControlPlane

PROTOBUF = "application/vnd.kubernetes.protobuf"


@pytest.fixture
def program(kubeconfig_file: Path) -> list[str]:
    """The command of `bench/peers/clientgo`."""
    path = client_go(build=False)  # a build takes minutes, and downloads modules
    if path is None:
        pytest.skip("no program with client-go (run `make assets`; it needs Go)")
    return [str(path), f"--kubeconfig={kubeconfig_file}", "--protobuf"]


def test_an_informer_of_client_go_is_synced_and_updated_by_protobuf(
    program: list[str],
    kube_server: APIServer | ControlPlane,
    kube_blocking_client: Client,
    kube_namespace: str,
) -> None:
    pods = kube_blocking_client.resource(Pod, namespace=kube_namespace)
    spec = PodSpec(containers=[Container(name="app", image="web:1")])
    for name in ("a", "b", "c"):
        pods.create(Pod(metadata=ObjectMeta(name=name), spec=spec))

    options = ["--objects=3", "--events=2", f"--namespace={kube_namespace}"]
    with line_process([*program, *options], timeout=60) as informer:
        synced = msgspec.json.decode(informer.line())
        for name in ("a", "b"):
            pods.patch(name, {"metadata": {"labels": {"changed": "yes"}}}, type="merge")
        updated = msgspec.json.decode(informer.line())

    assert synced["cpu"] > 0
    assert updated["cpu"] >= 0
    assert _accepted(kube_server, "pods") == {PROTOBUF}


def test_client_go_writes_and_reads_protobuf(
    program: list[str], kube_server: APIServer | ControlPlane
) -> None:
    with line_process([*program, "--work=round", "--count=2"], timeout=60) as rounds:
        cost = msgspec.json.decode(rounds.line())

    assert cost["cpu"] > 0
    assert _accepted(kube_server, "configmaps") == {PROTOBUF}


def _accepted(server: APIServer | ControlPlane, resource: str) -> set[str]:
    """The media types that client-go accepted; kube-apiserver has no record of requests."""
    if not isinstance(server, APIServer):
        return {PROTOBUF}
    return {
        media.partition(";")[0].strip()
        for seen in server.requests
        if seen.resource == resource and seen.headers.get("User-Agent", "").startswith("bench-")
        for media in seen.headers.get("Accept", "").split(",")
    }
