"""Clients of kinds with verbs of their own."""

from __future__ import annotations

from importlib import import_module
from typing import Any, get_overloads

import pytest

from kubeloop import blocking
from kubeloop.clients import (
    APIClient,
    NodeClient,
    PodClient,
    ResourceClient,
    ScalableClient,
    WorkloadClient,
)
from kubeloop.clients import client as client_module
from kubeloop.clients.kinds import client_class, client_classes
from kubeloop.config import ClusterConfig
from kubeloop.wire.apps.v1 import Deployment
from kubeloop.wire.core.v1 import ConfigMap, Node, Pod

from .conftest import Recorder

KINDS = sorted(client_classes())


class LabelledPod(Pod):
    """A class of a user that extends a built-in one."""


def kind_named(name: str) -> Any:
    module, _, kind = name.partition(".")
    return getattr(import_module(f"kubeloop.wire._generated.{module}"), kind)


@pytest.mark.parametrize("name", KINDS)
def test_each_kind_with_verbs_of_its_own_has_its_client(name: str) -> None:
    client = Recorder().client
    kind = kind_named(name)

    by_class = client.resource(kind)

    assert type(by_class) is client_classes()[name]
    assert by_class.object_type is kind


@pytest.mark.parametrize("name", KINDS)
def test_each_kind_with_verbs_of_its_own_is_an_overload_of_resource(name: str) -> None:
    """The table and the types of `resource()` name the same classes."""
    kind = name.rpartition(".")[2]

    (returned,) = [
        overload.__annotations__["return"]
        for overload in get_overloads(APIClient.resource)
        if kind in kinds_of(overload.__annotations__.get("kind", ""))
    ]

    assert returned.partition("[")[0] == client_classes()[name].__name__


def kinds_of(annotation: str) -> list[str]:
    """The kinds of `type[Pod]`, or of `type[W]` by the constraints of the variable."""
    kind = annotation.removeprefix("type[").removesuffix("]")
    variable = getattr(client_module, kind, None)
    constraints = getattr(variable, "__constraints__", ())
    return [each.__forward_arg__ for each in constraints] or [kind]


@pytest.mark.parametrize("name", KINDS)
def test_the_blocking_client_has_the_same_classes(name: str) -> None:
    client = blocking.Client(ClusterConfig(server="http://127.0.0.1:1"))

    found = client.resource(kind_named(name))

    assert type(found).__name__ == client_classes()[name].__name__


def test_a_client_in_another_namespace_has_the_same_class() -> None:
    pods = Recorder().client.resource(Pod)

    elsewhere = pods.in_namespace("shop")

    assert (type(elsewhere), elsewhere.namespace) == (PodClient, "shop")


def test_a_class_that_extends_a_built_in_one_has_its_client() -> None:
    assert client_class(LabelledPod) is PodClient
    assert client_class(ConfigMap) is ResourceClient


@pytest.mark.parametrize(
    ("client", "verb", "message"),
    [
        (
            lambda client: client.core_v1.config_maps("shop"),
            "drain_plan",
            "drain_plan is a method of NodeClient, use client.resource(Node)",
        ),
        (
            lambda client: client.resource("v1", "Pod"),
            "exec",
            "exec is a method of PodClient, use client.resource(Pod)",
        ),
        (
            lambda client: client.resource(Pod),
            "no_such_verb",
            "'PodClient' object has no attribute 'no_such_verb'",
        ),
    ],
)
def test_a_verb_of_another_kind_is_an_error_that_names_its_client(
    client: Any, verb: str, message: str
) -> None:
    resource = client(Recorder().client)

    with pytest.raises(AttributeError) as raised:
        getattr(resource, verb)

    assert str(raised.value).endswith(message)


async def test_any_kind_is_scaled_through_its_subresource() -> None:
    recorder = Recorder()
    deployments = recorder.client.resource(Deployment, namespace="shop")

    assert repr(deployments.scale) == repr(deployments.subresource("scale"))
    assert issubclass(WorkloadClient, ScalableClient)
    assert not hasattr(recorder.client.resource(Node), "scale")
    assert isinstance(recorder.client.resource(Node), NodeClient)
