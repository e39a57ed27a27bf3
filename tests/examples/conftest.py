"""The server of the examples: `--kube` chooses it, and each test has its own namespace.

A real server is shared by all tests, so what a test leaves outside of its namespace is removed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from kubeloop.clients import APIClient
from kubeloop.config import ClusterConfig
from kubeloop.wire.admissionregistration.v1 import (
    MutatingWebhookConfiguration,
    ValidatingWebhookConfiguration,
)
from kubeloop.wire.apiextensions.v1 import CustomResourceDefinition
from kubeloop.wire.core.v1 import Node
from kubeloop.wire.yaml import dump_document, load_document
from kubeloop_testing import APIServer

from .embedded_controllers import Server

LEFT_BEHIND = (
    MutatingWebhookConfiguration,
    ValidatingWebhookConfiguration,
    CustomResourceDefinition,
    Node,
)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A real cluster takes its time: a rollout is many steps of many controllers."""
    if (config.getoption("--kube") or config.getini("kube")) == "embedded":
        return
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.timeout(120))


@pytest.fixture
def kubeconfig_file(kube_server: Server, kube_namespace: str, tmp_path: Path) -> Path:
    """A kubeconfig whose context names the test's namespace, as people set theirs."""
    kubeconfig: Any = load_document(kube_server.kubeconfig())
    kubeconfig["contexts"][0]["context"]["namespace"] = kube_namespace
    path = tmp_path / "kubeconfig"
    path.touch(mode=0o600)
    path.write_text(dump_document(kubeconfig), encoding="utf-8")
    return path


@pytest.fixture
def kube_config(kubeconfig_file: Path) -> ClusterConfig:
    return ClusterConfig.from_kubeconfig(kubeconfig_file.read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
async def _remove_what_is_left(kube_server: Server, kube_client: APIClient) -> AsyncIterator[None]:
    yield
    if isinstance(kube_server, APIServer):
        return  # it goes as a whole
    for kind in LEFT_BEHIND:
        left = client_of(kube_client, kind)
        names = [each.metadata.name for each in await left.list()]
        await left.delete_collection()
        for name in names:
            await left.wait_for(name, deleted=True, timeout=60)
    await kube_client.core_v1.namespaces().delete("example-shop", missing_ok=True)


def client_of(client: APIClient, kind: Any) -> Any:
    return client.resource(kind)
