"""Discovery, OpenAPI, the version, and health checks."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from assets import KUBERNETES

from tests.conformance.raw_client import RawClient
from tests.conformance.widgets import GROUP, CustomKind

Object = dict[str, Any]
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz"])
async def test_a_health_check_returns_ok(api: RawClient, path: str) -> None:
    reply = await api.get(path)

    assert (reply.code, reply.raw) == (200, b"ok")
    assert reply.headers["Content-Type"].startswith("text/plain")


@pytest.mark.parametrize("path", ["/healthz/ping", "/livez/ping", "/readyz/ping"])
async def test_one_health_check_can_be_requested(api: RawClient, path: str) -> None:
    reply = await api.get(path)

    assert (reply.code, reply.raw) == (200, b"ok")


async def test_a_verbose_health_check_lists_the_checks(api: RawClient) -> None:
    reply = await api.get("/readyz", verbose=1)

    lines = reply.raw.decode().splitlines()
    assert "[+]ping ok" in lines
    assert lines[-1] == "readyz check passed"


async def test_the_version_can_be_read(api: RawClient) -> None:
    reply = await api.get("/version")

    assert (reply.body["major"], reply.body["minor"]) == ("1", KUBERNETES.split(".")[1])
    assert reply.body["gitVersion"].startswith(KUBERNETES.rpartition(".")[0])
    assert {"gitCommit", "platform", "goVersion", "buildDate", "compiler"} <= reply.body.keys()


async def test_the_root_lists_paths(api: RawClient) -> None:
    paths = (await api.get("/")).body["paths"]

    assert {"/api", "/api/v1", "/apis", "/apis/apps/v1", "/version", "/openapi/v2"} <= set(paths)


async def test_the_core_group_has_one_version(api: RawClient) -> None:
    body = (await api.get("/api")).body

    assert (body["kind"], body["versions"]) == ("APIVersions", ["v1"])


async def test_every_group_names_its_versions_and_its_preferred_one(api: RawClient) -> None:
    body = (await api.get("/apis")).body

    assert (body["kind"], body["apiVersion"]) == ("APIGroupList", "v1")
    groups = {each["name"]: each for each in body["groups"]}
    assert groups["autoscaling"]["versions"] == [
        {"groupVersion": "autoscaling/v2", "version": "v2"},
        {"groupVersion": "autoscaling/v1", "version": "v1"},
    ]
    assert groups["autoscaling"]["preferredVersion"]["version"] == "v2"


async def test_one_group_can_be_read(api: RawClient) -> None:
    body = (await api.get("/apis/apps")).body

    assert body["kind"] == "APIGroup"
    assert (body["name"], body["preferredVersion"]["groupVersion"]) == ("apps", "apps/v1")


async def resource(api: RawClient, path: str, name: str) -> Object:
    body = (await api.get(path)).body
    assert body["kind"] == "APIResourceList"
    (found,) = [each for each in body["resources"] if each["name"] == name]
    found.pop("storageVersionHash", None)
    return dict(found)


VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (
            "/api/v1",
            {
                "name": "pods", "singularName": "pod", "namespaced": True, "kind": "Pod",
                "verbs": VERBS, "shortNames": ["po"], "categories": ["all"],
            },
        ),
        (
            "/api/v1",
            {
                "name": "namespaces", "singularName": "namespace", "namespaced": False,
                "kind": "Namespace",
                "verbs": ["create", "delete", "get", "list", "patch", "update", "watch"],
                "shortNames": ["ns"],
            },
        ),
        (
            "/api/v1",
            {
                "name": "pods/eviction", "singularName": "", "namespaced": True,
                "group": "policy", "version": "v1", "kind": "Eviction", "verbs": ["create"],
            },
        ),
        (
            "/api/v1",
            {
                "name": "pods/log", "singularName": "", "namespaced": True, "kind": "Pod",
                "verbs": ["get"],
            },
        ),
        (
            "/api/v1",
            {
                "name": "serviceaccounts/token", "singularName": "", "namespaced": True,
                "group": "authentication.k8s.io", "version": "v1", "kind": "TokenRequest",
                "verbs": ["create"],
            },
        ),
        (
            "/apis/apps/v1",
            {
                "name": "deployments", "singularName": "deployment", "namespaced": True,
                "kind": "Deployment", "verbs": VERBS, "shortNames": ["deploy"],
                "categories": ["all"],
            },
        ),
        (
            "/apis/apps/v1",
            {
                "name": "deployments/scale", "singularName": "", "namespaced": True,
                "group": "autoscaling", "version": "v1", "kind": "Scale",
                "verbs": ["get", "patch", "update"],
            },
        ),
        (
            "/apis/authorization.k8s.io/v1",
            {
                "name": "selfsubjectaccessreviews", "singularName": "selfsubjectaccessreview",
                "namespaced": False, "kind": "SelfSubjectAccessReview", "verbs": ["create"],
            },
        ),
    ],
    ids=lambda value: value["name"].replace("/", "-") if isinstance(value, dict) else None,
)  # fmt: skip
async def test_a_built_in_resource_is_described(
    api: RawClient, path: str, expected: Object
) -> None:
    assert await resource(api, path, expected["name"]) == expected


async def test_a_custom_kind_is_described(api: RawClient, widgets: CustomKind) -> None:
    found = await resource(api, f"/apis/{GROUP}/v1", "widgets")

    assert sorted(found.pop("verbs")) == VERBS
    assert found == {
        "name": "widgets",
        "singularName": "widget",
        "namespaced": True,
        "kind": "Widget",
    }


async def test_subresources_of_a_custom_kind_are_described(
    api: RawClient, widgets: CustomKind
) -> None:
    status = await resource(api, f"/apis/{GROUP}/v1", "widgets/status")
    scale = await resource(api, f"/apis/{GROUP}/v1", "widgets/scale")

    assert (status["kind"], sorted(status["verbs"])) == ("Widget", ["get", "patch", "update"])
    assert (scale["group"], scale["version"], scale["kind"]) == ("autoscaling", "v1", "Scale")


async def test_aggregated_discovery_is_returned_if_accepted(api: RawClient) -> None:
    reply = await api("GET", "/apis", headers={"Accept": AGGREGATED})

    assert reply.body["kind"] == "APIGroupDiscoveryList"
    assert reply.body["apiVersion"] == "apidiscovery.k8s.io/v2"
    assert "as=APIGroupDiscoveryList" in reply.headers["Content-Type"]
    names = [each["metadata"]["name"] for each in reply.body["items"]]
    assert {"apps", "batch"} <= set(names)


async def test_aggregated_discovery_describes_a_resource_with_its_subresources(
    api: RawClient,
) -> None:
    reply = await api("GET", "/api", headers={"Accept": AGGREGATED})

    (core,) = reply.body["items"]
    resources = {each["resource"]: each for each in core["versions"][0]["resources"]}
    pods = resources["pods"]
    parts = {each["subresource"]: each for each in pods.pop("subresources")}
    assert pods == {
        "resource": "pods",
        "responseKind": {"group": "", "version": "", "kind": "Pod"},
        "scope": "Namespaced",
        "singularResource": "pod",
        "verbs": VERBS,
        "shortNames": ["po"],
        "categories": ["all"],
    }
    assert parts["eviction"] == {
        "subresource": "eviction",
        "responseKind": {"group": "policy", "version": "v1", "kind": "Eviction"},
        "verbs": ["create"],
    }


async def test_aggregated_discovery_is_not_sent_twice(api: RawClient) -> None:
    headers = {"Accept": AGGREGATED}
    first = await api("GET", "/api", headers=headers)

    again = await api("GET", "/api", headers={**headers, "If-None-Match": first.headers["ETag"]})

    assert (again.code, again.raw) == (304, b"")


async def test_openapi_v3_has_a_document_for_each_version(
    api: RawClient, widgets: CustomKind
) -> None:
    while f"apis/{GROUP}/v1" not in (paths := (await api.get("/openapi/v3")).body["paths"]):
        await asyncio.sleep(0.02)  # kube-apiserver updates its OpenAPI documents asynchronously

    assert {"api/v1", "apis/apps/v1"} <= set(paths)
    url = paths["apis/apps/v1"]["serverRelativeURL"]
    assert url.startswith("/openapi/v3/apis/apps/v1?hash=")


async def test_openapi_v3_describes_a_kind(api: RawClient) -> None:
    body = (await api.get("/openapi/v3/apis/apps/v1")).body

    assert body["openapi"].startswith("3.0")
    schema = body["components"]["schemas"]["io.k8s.api.apps.v1.Deployment"]
    assert schema["x-kubernetes-group-version-kind"] == [
        {"group": "apps", "kind": "Deployment", "version": "v1"}
    ]
    assert {"apiVersion", "kind", "metadata", "spec", "status"} == schema["properties"].keys()


async def test_openapi_v3_describes_paths_with_their_action(api: RawClient) -> None:
    paths = (await api.get("/openapi/v3/apis/apps/v1")).body["paths"]

    operation = paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"]
    assert operation["x-kubernetes-action"] == "patch"
    assert operation["x-kubernetes-group-version-kind"] == {
        "group": "apps",
        "kind": "Deployment",
        "version": "v1",
    }


async def test_openapi_v2_describes_merge_keys(api: RawClient) -> None:
    body = (await api.get("/openapi/v2")).body

    containers = body["definitions"]["io.k8s.api.core.v1.PodSpec"]["properties"]["containers"]
    assert containers["x-kubernetes-patch-merge-key"] == "name"
    assert containers["x-kubernetes-patch-strategy"] == "merge"


async def schemas_of(api: RawClient, path: str) -> Object:
    reply = await api.get(path)
    return dict(reply.body["components"]["schemas"]) if reply.code == 200 else {}


async def test_openapi_v3_describes_a_custom_kind(api: RawClient, widgets: CustomKind) -> None:
    name = "com.example.conformance.v1.Widget"
    while name not in (schemas := await schemas_of(api, f"/openapi/v3/apis/{GROUP}/v1")):
        await asyncio.sleep(0.02)  # as above

    spec = schemas[name]["properties"]["spec"]
    assert spec["required"] == ["size"]
    assert spec["properties"]["size"]["maximum"] == 10


@pytest.mark.parametrize("path", ["/nope", "/apis/nope.example.com", "/openapi/v9", "/api/v7"])
async def test_a_missing_document_is_404(api: RawClient, path: str) -> None:
    assert (await api.get(path)).code == 404


async def test_openapi_has_formats_enums_defaults_and_required_fields(api: RawClient) -> None:
    schemas = (await api.get("/openapi/v3/apis/apps/v1")).body["components"]["schemas"]
    spec = schemas["io.k8s.api.apps.v1.DeploymentSpec"]
    strategy = schemas["io.k8s.api.apps.v1.DeploymentStrategy"]["properties"]
    port = schemas["io.k8s.api.core.v1.ContainerPort"]["properties"]

    assert spec["required"] == ["selector", "template"]
    assert spec["properties"]["replicas"]["format"] == "int32"
    assert spec["properties"]["template"]["default"] == {}
    assert strategy["type"]["enum"] == ["Recreate", "RollingUpdate"]
    assert (port["containerPort"]["default"], port["protocol"]["default"]) == (0, "TCP")


async def test_openapi_describes_the_paths_of_discovery(api: RawClient) -> None:
    index = (await api.get("/openapi/v3")).body["paths"]

    assert {"api", "api/v1", "apis", "apis/apps", "apis/apps/v1", "version"} <= set(index)
    assert list((await api.get("/openapi/v3/apis/apps")).body["paths"]) == ["/apis/apps/"]
