"""What identifies a kind, a resource and an object."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.errors import InvalidArgument
from kubeloop.meta import (
    GroupKind,
    GroupResource,
    GroupVersion,
    GroupVersionKind,
    GroupVersionResource,
    ObjectKey,
)
from kubeloop.wire.core.v1 import Pod
from kubeloop.wire.meta.v1 import ObjectMeta

part = st.text("abc.-1", max_size=4)


@pytest.mark.parametrize(
    ("text", "group", "version"),
    [("v1", "", "v1"), ("apps/v1", "apps", "v1"), ("", "", ""), ("/", "", ""), ("/v1", "", "v1")],
)
def test_an_api_version_is_a_group_and_a_version(text: str, group: str, version: str) -> None:
    """API-49: parsing of apiVersion."""
    assert GroupVersion.parse(text) == GroupVersion(group, version)


@pytest.mark.parametrize("text", ["a/b/c", "//", "apps/v1/"])
def test_an_api_version_with_more_than_one_slash_is_refused(text: str) -> None:
    """API-49: parsing of apiVersion."""
    with pytest.raises(InvalidArgument, match="more than one '/'"):
        GroupVersion.parse(text)


@given(part, part)
def test_a_group_version_survives_its_text(group: str, version: str) -> None:
    """API-49: parsing of apiVersion."""
    value = GroupVersion(group, version)

    assert GroupVersion.parse(str(value)) == value


def test_a_kind_is_written_as_the_rest_of_the_field_writes_it() -> None:
    gvk = GroupVersionKind.of("apps/v1", "Deployment")

    assert str(gvk) == "apps/v1, Kind=Deployment"
    assert str(gvk.group_kind) == "Deployment.apps"
    assert gvk.api_version == "apps/v1"
    assert gvk.group_version.with_kind("Deployment") == gvk
    assert gvk.group_kind.with_version("v1") == gvk
    assert str(GroupVersionKind.of("v1", "Pod").group_kind) == "Pod"


def test_a_resource_is_written_as_the_rest_of_the_field_writes_it() -> None:
    gvr = GroupVersionResource.of("apps/v1", "deployments")

    assert str(gvr) == "apps/v1, Resource=deployments"
    assert str(gvr.group_resource) == "deployments.apps"
    assert gvr.api_version == "apps/v1"
    assert gvr.group_version.with_resource("deployments") == gvr
    assert gvr.group_resource.with_version("v1") == gvr
    assert str(GroupResource("", "pods")) == "pods"


@pytest.mark.parametrize("text", ["Pod", "Deployment.apps", "Ingress.networking.k8s.io"])
def test_the_first_dot_divides_a_kind_or_a_resource_from_its_group(text: str) -> None:
    assert str(GroupKind.parse(text)) == text
    assert str(GroupResource.parse(text)) == text
    assert GroupKind.parse("Ingress.networking.k8s.io").group == "networking.k8s.io"


def test_identities_are_ordered_hashable_and_frozen() -> None:
    keys = {ObjectKey("b", "a"), ObjectKey("a", "b"), ObjectKey("a", "b")}

    assert sorted(keys) == [ObjectKey("a", "b"), ObjectKey("b", "a")]
    assert min(GroupVersion("b", "v1"), GroupVersion("a", "v2")).group == "a"
    with pytest.raises(AttributeError):
        ObjectKey("a", "b").name = "c"  # type: ignore[misc] # the point of the test


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("shop/web", ObjectKey("shop", "web")),
        ("node-7", ObjectKey("", "node-7")),
        ("/x", ObjectKey("", "x")),
    ],
)
def test_a_key_is_read_from_its_text(text: str, key: ObjectKey) -> None:
    """CCH-3: parsing of keys."""
    assert ObjectKey.parse(text) == key
    assert str(key) == text.lstrip("/")


def test_a_key_with_more_than_one_slash_is_refused() -> None:
    """CCH-3: parsing of keys."""
    with pytest.raises(InvalidArgument, match="expected 'namespace/name'"):
        ObjectKey.parse("a/b/c")


def test_the_key_of_an_object_is_its_namespace_and_name() -> None:
    """CCH-1: for typed objects and dicts alike."""
    pod = Pod(metadata=ObjectMeta(name="web", namespace="shop"))

    assert ObjectKey.of(pod) == ObjectKey("shop", "web")
    assert ObjectKey.of({"metadata": {"name": "web", "namespace": "shop"}}) == ObjectKey.of(pod)
    assert ObjectKey.of({"metadata": {"name": "node-7"}}) == ObjectKey("", "node-7")


@pytest.mark.parametrize("obj", [{}, {"metadata": None}, 7, None])
def test_an_object_without_metadata_has_no_key(obj: object) -> None:
    """CCH-1: the default key."""
    with pytest.raises(InvalidArgument, match="no metadata"):
        ObjectKey.of(obj)  # type: ignore[arg-type] # what callers without types may do
