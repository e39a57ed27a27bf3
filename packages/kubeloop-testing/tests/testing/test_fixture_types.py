"""Each fixture has a type that a user's test can write down; `make check` runs mypy over this."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import kubeloop
from kubeloop import blocking
from kubeloop.config import ClusterConfig
from kubeloop.kit import ManualClock
from kubeloop.wire.core.v1 import Namespace
from kubeloop_testing import APIServer, Faults, Kubelet, Server


async def test_the_fixtures_of_a_client_have_types_with_names(
    kube_server: Server,
    kube_client: kubeloop.Client,
    kube_namespace: str,
    kube_workloads: None,
    kube_clock: ManualClock,
) -> None:
    found: Namespace = await kube_client.core_v1.namespaces().get(kube_namespace)
    await kube_server.load()
    await kube_clock.advance(60)

    assert found.metadata.name == kube_namespace
    assert kube_workloads is None
    assert kube_clock.now() == 60


def test_the_fixtures_of_a_server_have_types_with_names(
    kube_server: Server,
    kube_config: ClusterConfig,
    kubeconfig_file: Path,
    kube_manifests: Sequence[str | Path],
    kube_options: Mapping[str, Any],
) -> None:
    assert kube_server.url == kube_config.server == kube_server.config.server
    assert kubeconfig_file.read_text(encoding="utf-8") == kube_server.kubeconfig()
    assert (list(kube_manifests), dict(kube_options)) == ([], {})


def test_the_fixtures_of_the_embedded_server_have_types_with_names(
    kube_session_server: Server,
    kube_faults: Faults,
    kube_kubelet: Kubelet,
    kube_blocking_client: blocking.Client,
    kube_namespace: str,
) -> None:
    assert isinstance(kube_session_server, APIServer)
    assert kube_session_server.faults is kube_faults
    assert kube_session_server.kubelet is kube_kubelet
    assert kube_blocking_client.core_v1.namespaces().exists(kube_namespace)
