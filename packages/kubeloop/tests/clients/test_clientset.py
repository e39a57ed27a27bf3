"""The groups as methods."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from kubeloop_generate.clientset import method_name, render_clientset
from kubeloop_generate.discovery import ResourceRow

import kubeloop.clients
from kubeloop.clients import ResourceClient
from kubeloop.wire import ResourceInfo, resources
from kubeloop.wire._generated.resources import GROUPS
from kubeloop.wire.apps.v1 import Deployment

from .conftest import Recorder

PACKAGE = Path(kubeloop.clients.__file__).parent


def row(info: ResourceInfo) -> ResourceRow:
    return ResourceRow(
        info.group, info.version, info.plural, info.kind, info.singular, info.namespaced, info.verbs
    )


@pytest.mark.parametrize("info", resources(), ids=lambda info: f"{info.api_version}.{info.plural}")
async def test_every_built_in_resource_has_its_method(info: ResourceInfo) -> None:
    """TYP-1: and it is the collection of the class."""
    client = Recorder().client
    group = getattr(client, GROUPS[info.group, info.version])

    found = getattr(group, method_name(row(info)))()

    assert isinstance(found, ResourceClient)
    at = await found.info()
    assert (at.group, at.version, at.plural, at.namespaced) == (
        info.group,
        info.version,
        info.plural,
        info.namespaced,
    )


async def test_the_method_and_the_class_are_the_same_collection() -> None:
    client = Recorder().client

    by_method = client.apps_v1.deployments("shop")
    by_class = client.resource(Deployment, namespace="shop")

    assert repr(by_method) == repr(by_class)
    assert await by_method.info() == await by_class.info()


@pytest.mark.parametrize(
    ("kind", "plural", "name"),
    [
        ("Pod", "pods", "pods"),
        ("ConfigMap", "configmaps", "config_maps"),
        ("NetworkPolicy", "networkpolicies", "network_policies"),
        ("Endpoints", "endpoints", "endpoints"),
        ("CSINode", "csinodes", "csi_nodes"),
        ("IPAddress", "ipaddresses", "ip_addresses"),
        ("Odd", "strange", "strange"),
    ],
)
def test_methods_are_named_in_snake_case(kind: str, plural: str, name: str) -> None:
    assert method_name(ResourceRow("", "v1", plural, kind, "", True, ())) == name


def test_the_generated_file_is_what_the_generator_writes() -> None:
    opening = (PACKAGE / "_generated/clientset.py").read_text("utf-8").partition("\n")[0]
    source = opening.removeprefix("# Generated from ").partition(" by tools/")[0]

    files = render_clientset(list(map(row, resources())), sorted(GROUPS.items()), source=source)

    for name, text in files.items():
        assert (PACKAGE / name).read_text("utf-8") == text


@pytest.mark.timeout(60)
def test_no_kind_is_imported_before_it_is_used() -> None:
    program = (
        "import sys, kubeloop.clients\n"
        "print(sorted(name for name in sys.modules if name.startswith('kubeloop.wire._generated.')"
        " and name.endswith(('apps_v1', 'core_v1', 'batch_v1'))))"
    )

    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert ran.stdout.strip() == "[]"
