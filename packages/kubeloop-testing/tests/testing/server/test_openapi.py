"""OpenAPI documents."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from kubeloop_testing.server.describe import openapi
from kubeloop_testing.server.registry import Registry
from kubeloop_testing.server.runtime_config import parse_runtime_config
from kubeloop_testing.server.schema.crds import CustomKind

CRD: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "websites.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "websites", "kind": "Website", "listKind": "WebsiteList"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "required": ["image"],
                                "properties": {
                                    "image": {"type": "string", "nullable": True},
                                    "port": {"x-kubernetes-int-or-string": True},
                                },
                            }
                        },
                    }
                },
            }
        ],
    },
}


@pytest.fixture
def registry() -> Registry:
    registry = Registry()
    registry.add_custom(CustomKind.from_crd(CRD))
    return registry


def _v3(registry: Registry, group: str, version: str) -> dict[str, Any]:
    document = openapi.v3(registry, f"apis/{group}/{version}" if group else f"api/{version}")
    assert document is not None
    found: dict[str, Any] = json.loads(document.body)
    return found


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for each in value.values():
            yield from _references(each)
    elif isinstance(value, list):
        for each in value:
            yield from _references(each)


@pytest.mark.parametrize("group_version", [("", "v1"), ("apps", "v1"), ("example.com", "v1")])
def test_every_reference_of_a_document_can_be_resolved(
    registry: Registry, group_version: tuple[str, str]
) -> None:
    document = _v3(registry, *group_version)

    for reference in _references(document):
        head, _, name = reference.rpartition("/")
        assert head == "#/components/schemas"
        assert name in document["components"]["schemas"]


def test_every_reference_of_version_2_can_be_resolved(registry: Registry) -> None:
    document = json.loads(openapi.v2(registry).body)

    for reference in set(_references(document)):
        _, section, name = reference.split("/")
        assert section in {"definitions", "parameters"}
        assert name in document[section]


def test_no_field_has_an_empty_schema(registry: Registry) -> None:
    """`kubectl explain` fails for a kind with a field whose schema is empty."""
    schemas = _v3(registry, "apiextensions.k8s.io", "v1")["components"]["schemas"]

    for schema in schemas.values():
        for field in (schema.get("properties") or {}).values():
            assert field
            assert field.get("items", field)


def test_a_kind_is_found_by_its_path_and_schema(registry: Registry) -> None:
    """What `kubectl explain pods` does."""
    document = _v3(registry, "", "v1")

    operation = document["paths"]["/api/v1/namespaces/{namespace}/pods"]["get"]
    gvk = operation["x-kubernetes-group-version-kind"]
    schemas = document["components"]["schemas"].values()
    pod = next(e for e in schemas if gvk in e.get("x-kubernetes-group-version-kind", []))

    assert gvk == {"group": "", "kind": "Pod", "version": "v1"}
    assert pod["properties"]["spec"] == {
        "allOf": [{"$ref": "#/components/schemas/io.k8s.api.core.v1.PodSpec"}],
        "default": {},
    }


def test_a_patch_operation_lists_its_parameters(registry: Registry) -> None:
    """`kubectl apply --validate` looks for it to use server-side validation."""
    pods = _v3(registry, "", "v1")["paths"]["/api/v1/namespaces/{namespace}/pods/{name}"]["patch"]
    websites = _v3(registry, "example.com", "v1")["paths"][
        "/apis/example.com/v1/namespaces/{namespace}/websites/{name}"
    ]["patch"]

    for patch in (pods, websites):
        query = {each["name"] for each in patch["parameters"] if each["in"] == "query"}
        assert {"fieldValidation", "dryRun", "fieldManager"} <= query
        assert "application/apply-patch+yaml" in patch["requestBody"]["content"]
    strategic = "application/strategic-merge-patch+json"
    assert strategic in pods["requestBody"]["content"]
    assert strategic not in websites["requestBody"]["content"]


def test_schemas_have_merge_rules_and_scalar_types(registry: Registry) -> None:
    schemas = _v3(registry, "", "v1")["components"]["schemas"]
    spec = schemas["io.k8s.api.core.v1.PodSpec"]["properties"]
    container = schemas["io.k8s.api.core.v1.Container"]
    port = schemas["io.k8s.api.core.v1.ServicePort"]

    assert spec["containers"]["x-kubernetes-patch-merge-key"] == "name"
    assert spec["containers"]["x-kubernetes-list-map-keys"] == ["name"]
    assert spec["volumes"]["x-kubernetes-patch-strategy"] == "merge,retainKeys"
    assert spec["activeDeadlineSeconds"] == {"type": "integer", "format": "int64"}
    assert container["required"] == ["name"]
    assert container["properties"]["imagePullPolicy"]["enum"] == ["Always", "IfNotPresent", "Never"]
    assert port["properties"]["protocol"]["default"] == "TCP"
    assert port["properties"]["targetPort"]["allOf"][0]["$ref"].endswith("IntOrString")
    meta = schemas["io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"]
    assert "required" not in meta
    assert meta["properties"]["creationTimestamp"]["allOf"][0]["$ref"].endswith("meta.v1.Time")


def test_a_reference_in_version_3_has_no_sibling_keywords(registry: Registry) -> None:
    schemas = _v3(registry, "apps", "v1")["components"]["schemas"]

    strategy = schemas["io.k8s.api.apps.v1.DeploymentSpec"]["properties"]["strategy"]

    assert strategy["x-kubernetes-patch-strategy"] == "retainKeys"
    assert list(strategy["allOf"][0]) == ["$ref"]


def test_a_type_is_described_by_its_name(registry: Registry) -> None:
    schemas = _v3(registry, "apps", "v1")["components"]["schemas"]

    assert schemas["io.k8s.api.core.v1.PodSpec"]["description"] == "PodSpec of core/v1"


def test_a_kind_of_many_versions_is_of_the_version_of_the_document_only(registry: Registry) -> None:
    schemas = _v3(registry, "apps", "v1")["components"]["schemas"]
    options = schemas["io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"]

    groups = [each["group"] for each in options["x-kubernetes-group-version-kind"]]

    assert groups == ["", "apps"]


def test_a_resource_that_is_not_served_has_no_path() -> None:
    registry = Registry(parse_runtime_config("apps/v1/deployments=false"))

    paths = _v3(registry, "apps", "v1")["paths"]

    assert "/apis/apps/v1/daemonsets" in paths
    assert "/apis/apps/v1/deployments" not in paths


def test_a_custom_kind_has_its_own_schema_with_metadata(registry: Registry) -> None:
    schemas = _v3(registry, "example.com", "v1")["components"]["schemas"]

    website = schemas["com.example.v1.Website"]

    assert website["properties"]["spec"]["properties"]["image"]["nullable"]
    assert website["properties"]["metadata"]["allOf"][0]["$ref"].endswith("meta.v1.ObjectMeta")
    assert website["x-kubernetes-group-version-kind"] == [
        {"group": "example.com", "kind": "Website", "version": "v1"}
    ]
    assert schemas["com.example.v1.WebsiteList"]["required"] == ["items"]


def test_version_2_omits_what_kubectl_cannot_read(registry: Registry) -> None:
    document = json.loads(openapi.v2(registry).body)

    spec = document["definitions"]["com.example.v1.Website"]["properties"]["spec"]
    assert document["swagger"] == "2.0"
    # `image` is nullable: it has no type, and is not required.
    assert spec["properties"]["image"] == {}
    assert "required" not in spec


def test_operation_ids_are_unique(registry: Registry) -> None:
    document = json.loads(openapi.v2(registry).body)

    names = [
        operation["operationId"]
        for item in document["paths"].values()
        for method, operation in item.items()
        if method != "parameters"
    ]
    assert len(names) == len(set(names))
    assert {
        "listCoreV1NamespacedPod",
        "listCoreV1PodForAllNamespaces",
        "deleteCoreV1CollectionNamespacedPod",
        "replaceAppsV1NamespacedDeploymentScale",
        "createRbacAuthorizationV1ClusterRole",
        "patchExampleComV1NamespacedWebsite",
    } <= set(names)


def test_the_index_has_the_urls_of_documents_with_their_hashes(registry: Registry) -> None:
    index = json.loads(openapi.v3_index(registry).body)["paths"]

    for path in ("api/v1", "apis/apps/v1", "apis/example.com/v1"):
        document = openapi.v3(registry, path)
        assert document is not None
        assert index[path] == {"serverRelativeURL": openapi.v3_url(path, document)}


def _url(registry: Registry, path: str) -> str:
    document = openapi.v3(registry, path)
    assert document is not None
    return openapi.v3_url(path, document)


def test_a_hash_changes_with_its_group_version_only(registry: Registry) -> None:
    apps, own = _url(registry, "apis/apps/v1"), _url(registry, "apis/example.com/v1")
    changed = json.loads(json.dumps(CRD))
    version = changed["spec"]["versions"][0]
    version["schema"]["openAPIV3Schema"]["properties"]["more"] = {"type": "string"}

    registry.add_custom(CustomKind.from_crd(changed))

    assert _url(registry, "apis/apps/v1") == apps
    assert _url(registry, "apis/example.com/v1") != own
    assert (
        "more"
        in _v3(registry, "example.com", "v1")["components"]["schemas"]["com.example.v1.Website"][
            "properties"
        ]
    )


def test_what_is_not_served_has_no_document(registry: Registry) -> None:
    assert openapi.v3(registry, "apis/apps/v9") is None
    assert openapi.v3(registry, "apis/apps/v1") is openapi.v3(registry, "apis/apps/v1")
