"""Discovery documents."""

from __future__ import annotations

import json
from typing import Any

import pytest
from assets import KUBERNETES

from kubeloop_testing.server.describe import discovery
from kubeloop_testing.server.registry import Registry
from kubeloop_testing.server.request.negotiation import negotiate_discovery
from kubeloop_testing.server.schema.crds import CustomKind

CRD: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "websites.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {
            "plural": "websites",
            "singular": "website",
            "kind": "Website",
            "listKind": "WebsiteList",
            "shortNames": ["ws"],
            "categories": ["all"],
        },
        "versions": [
            {
                "name": version,
                "served": True,
                "storage": version == "v1",
                "schema": {"openAPIV3Schema": {"type": "object"}},
                "subresources": {"status": {}},
            }
            for version in ("v1beta1", "v1")
        ],
    },
}


@pytest.fixture
def registry() -> Registry:
    return Registry()


def _items(registry: Registry, root: discovery.Root) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(discovery.aggregated(registry, root).body)["items"]
    return found


# --- aggregated


def test_the_core_group_is_one_item_without_a_name(registry: Registry) -> None:
    [core] = _items(registry, "/api")

    assert core["metadata"] == {}
    pods = next(e for e in core["versions"][0]["resources"] if e["resource"] == "pods")
    assert pods["scope"] == "Namespaced"
    assert pods["shortNames"] == ["po"]
    assert pods["responseKind"] == {"group": "", "version": "", "kind": "Pod"}
    eviction = next(e for e in pods["subresources"] if e["subresource"] == "eviction")
    assert eviction["responseKind"] == {"group": "policy", "version": "v1", "kind": "Eviction"}


def test_a_new_custom_kind_is_listed_after_the_built_in_groups(registry: Registry) -> None:
    before = discovery.aggregated(registry, "/apis")
    registry.add_custom(CustomKind.from_crd(CRD))

    after = discovery.aggregated(registry, "/apis")
    group = _items(registry, "/apis")[-1]

    assert before.etag != after.etag
    assert group["metadata"] == {"name": "example.com"}
    assert [each["version"] for each in group["versions"]] == ["v1", "v1beta1"]
    [website] = group["versions"][0]["resources"]
    assert website["responseKind"] == {"group": "example.com", "version": "v1", "kind": "Website"}
    assert website["categories"] == ["all"]
    assert [each["subresource"] for each in website["subresources"]] == ["status"]

    registry.remove_custom("example.com", "websites")
    assert discovery.aggregated(registry, "/apis").body == before.body


def test_a_document_is_built_once_for_each_generation(registry: Registry) -> None:
    assert discovery.aggregated(registry, "/apis") is discovery.aggregated(registry, "/apis")


def test_a_known_etag_is_not_modified(registry: Registry) -> None:
    document = discovery.aggregated(registry, "/api")

    assert document.etag.startswith('"')
    assert document.is_known(document.etag)
    assert document.is_known(f'"x", {document.etag}')
    assert not document.is_known('"x"')
    assert not document.is_known(None)


@pytest.mark.parametrize(
    ("accept", "media"),
    [
        ("", None),
        ("application/json", None),
        (discovery.AGGREGATED, "application/json"),
        (f"application/json,{discovery.AGGREGATED};q=0.1", "application/json"),
        (discovery.AGGREGATED.replace("json", "yaml"), "application/yaml"),
        ("application/json;as=Table;g=meta.k8s.io;v=v1,application/json", None),
        (
            "application/json; as=APIGroupDiscoveryList; v=v2; g=apidiscovery.k8s.io",
            "application/json",
        ),
        ("application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList", None),
        ("application/vnd.kubernetes.protobuf;as=APIGroupDiscoveryList", None),
    ],
)
def test_aggregated_discovery_wins_wherever_it_is_in_the_header(
    accept: str, media: str | None
) -> None:
    found = negotiate_discovery(accept)

    assert (found.media if found else None) == media


# --- legacy


def test_the_legacy_documents_have_their_old_format(registry: Registry) -> None:
    versions = discovery.legacy_versions("127.0.0.1:6443")
    core = discovery.legacy_resources(registry, "", "v1")

    assert versions["versions"] == ["v1"]
    assert versions["serverAddressByClientCIDRs"][0]["serverAddress"] == "127.0.0.1:6443"
    assert core is not None
    assert "apiVersion" not in core
    assert core["groupVersion"] == "v1"


def test_groups_name_their_versions_and_prefer_the_first(registry: Registry) -> None:
    groups = discovery.legacy_groups(registry)["groups"]

    autoscaling = next(each for each in groups if each["name"] == "autoscaling")
    assert [each["version"] for each in autoscaling["versions"]] == ["v2", "v1"]
    assert autoscaling["preferredVersion"] == {"groupVersion": "autoscaling/v2", "version": "v2"}
    assert discovery.legacy_group(registry, "autoscaling") == {
        "kind": "APIGroup",
        "apiVersion": "v1",
        **autoscaling,
    }


def test_what_is_not_served_has_no_document(registry: Registry) -> None:
    assert discovery.legacy_group(registry, "nope") is None
    assert discovery.legacy_group(registry, "") is None
    assert discovery.legacy_resources(registry, "apps", "v9") is None


def test_resources_are_listed_with_their_subresources(registry: Registry) -> None:
    found = discovery.legacy_resources(registry, "apps", "v1")

    assert found is not None
    names = [each["name"] for each in found["resources"]]
    assert {"deployments", "deployments/scale", "deployments/status"} <= set(names)
    scale = next(each for each in found["resources"] if each["name"] == "deployments/scale")
    assert (scale["group"], scale["version"], scale["kind"]) == ("autoscaling", "v1", "Scale")
    status = next(each for each in found["resources"] if each["name"] == "deployments/status")
    assert "group" not in status


def test_all_versions_of_a_resource_have_the_hash_of_the_stored_one(registry: Registry) -> None:
    hashes = set()
    for version in ("v1", "v2"):
        found = discovery.legacy_resources(registry, "autoscaling", version)
        assert found is not None
        hashes.add(found["resources"][0]["storageVersionHash"])

    assert len(hashes) == 1


def test_the_version_is_the_one_whose_api_is_served() -> None:
    version = discovery.version()

    assert (version["major"], version["minor"]) == ("1", KUBERNETES.split(".")[1])
    assert version["gitVersion"].startswith(KUBERNETES.rpartition(".")[0])


def test_the_root_lists_the_paths(registry: Registry) -> None:
    paths = discovery.paths(registry, [])["paths"]

    assert {"/api/v1", "/apis/apps/v1", "/version", "/openapi/v3"} <= set(paths)
