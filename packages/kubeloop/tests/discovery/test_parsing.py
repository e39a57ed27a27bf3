"""Parsing the responses of discovery."""

from __future__ import annotations

import msgspec
import pytest

from kubeloop.discovery import (
    ApiGroup,
    ApiResource,
    StaleGroupVersion,
    is_aggregated,
    parse_aggregated,
    parse_core_versions,
    parse_groups,
    parse_resources,
)
from kubeloop.discovery.parsing import dump_groups, dump_resources
from kubeloop.errors import DecodeError
from kubeloop.meta import GroupVersion, GroupVersionKind

from .conftest import aggregated, group, resource


@pytest.mark.parametrize(
    ("content_type", "message"),
    [
        ("application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", True),
        ("application/json; as=APIGroupDiscoveryList; v=v2; g=apidiscovery.k8s.io", True),
        (
            "application/json;profile=nopeer;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
            True,
        ),
        ("application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList", False),
        ("application/json", False),
        ("", False),
        ("text/html;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", False),
    ],
)
def test_the_content_type_says_whether_it_is_aggregated(content_type: str, message: bool) -> None:
    """DSC-3, DSC-4, DSC-C5: order and further parameters do not matter, v2beta1 is legacy."""
    assert is_aggregated(content_type) is message


def test_the_preferred_version_is_the_first_that_is_not_stale() -> None:
    """DSC-8, DSC-C4: a stale version has failed, the others are there."""
    found = parse_aggregated(
        msgspec.json.encode(
            aggregated(group("shop.io", v2="Stale", v1=[resource("orders", "Order")]))
        )
    )

    assert found.groups == (ApiGroup("shop.io", ("v1",), "v1"),)
    assert isinstance(found.failures[GroupVersion("shop.io", "v2")], StaleGroupVersion)
    assert [row.name for row in found.resources[GroupVersion("shop.io", "v1")]] == ["orders"]


def test_a_resource_without_a_kind_is_dropped_but_not_its_parts() -> None:
    """DSC-9: subresources are named after their resource and inherit scope and singular name."""
    scale = {"group": "autoscaling", "version": "v1", "kind": "Scale"}
    broken = {
        "resource": "things",
        "scope": "Namespaced",
        "singularResource": "thing",
        "responseKind": {"group": "", "version": "", "kind": ""},
        "subresources": [
            {"subresource": "scale", "responseKind": scale, "verbs": ["get"]},
            {"subresource": "poke", "verbs": ["create"]},
        ],
    }

    found = parse_aggregated(msgspec.json.encode(aggregated(group("a.io", v1=[broken]))))

    (row,) = found.resources[GroupVersion("a.io", "v1")]
    assert (row.name, row.namespaced, row.singular) == ("things/scale", True, "thing")
    assert row.kind_at(GroupVersion("a.io", "v1")) == GroupVersionKind("autoscaling", "v1", "Scale")


def test_the_legacy_core_group_prefers_its_first_version() -> None:
    """DSC-7: legacy core group: name empty, preferred version = first listed version."""
    assert parse_core_versions(b'{"versions":["v1","v2"]}') == ApiGroup("", ("v1", "v2"), "v1")
    assert parse_core_versions(b'{"versions":null}') is None


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"groups": 5}', b"\xff"])
def test_a_response_of_another_shape_says_what_was_expected(body: bytes) -> None:
    with pytest.raises(DecodeError, match="not an APIGroupList"):
        parse_groups(body)


def test_nulls_read_as_empty() -> None:
    assert parse_groups(b'{"groups":null}') == ()
    assert parse_resources(b'{"resources":[{"name":"a","kind":"A","verbs":null}]}') == (
        ApiResource("a", "A"),
    )
    assert parse_aggregated(b'{"items":[{"metadata":null,"versions":null}]}').groups == (
        ApiGroup(""),
    )


def test_what_is_written_reads_back_the_same() -> None:
    """DSC-24: cache files have the legacy format."""
    groups = (ApiGroup("", ("v1",), "v1"), ApiGroup("apps", ("v1", "v1beta1"), "v1"))
    rows = (
        ApiResource("pods", "Pod", True, ("get",), "pod", ("po",), ("all",)),
        ApiResource("pods/eviction", "Eviction", True, ("create",), group="policy", version="v1"),
    )

    assert parse_groups(dump_groups(groups)) == groups
    assert parse_resources(dump_resources(GroupVersion("", "v1"), rows)) == rows
