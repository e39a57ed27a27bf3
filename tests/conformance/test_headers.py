"""Headers and the form of bodies: newlines, indentation, Audit-Id, flow control, media types."""

from __future__ import annotations

import asyncio
import uuid

import pytest

from tests.conformance.raw_client import RawClient

pytestmark = pytest.mark.one_format

NAMESPACE = "/api/v1/namespaces/default"
V2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
SCHEMA = "X-Kubernetes-Pf-Flowschema-Uid"
LEVEL = "X-Kubernetes-Pf-Prioritylevel-Uid"
FLOW_CONTROL = "/apis/flowcontrol.apiserver.k8s.io/v1"

OBJECTS = [NAMESPACE, "/api/v1/namespaces", "/api", "/api/v1", "/apis", "/apis/apps/v1"]


@pytest.mark.parametrize("path", [*OBJECTS, "/apis/apps", "/api/v1/nodes/nothing"])
async def test_compact_json_ends_with_a_newline(api: RawClient, path: str) -> None:
    reply = await api.get(path)

    assert reply.raw.endswith(b"}\n")
    assert reply.raw.count(b"\n") == 1


@pytest.mark.parametrize("path", [*OBJECTS, "/api/v1/nodes/nothing"])
@pytest.mark.parametrize("agent", ["curl/8.5.0", "Wget/1.21", "Mozilla/5.0 (X11; Linux)"])
async def test_people_get_indented_json(api: RawClient, path: str, agent: str) -> None:
    reply = await api("GET", path, headers={"User-Agent": agent})

    assert reply.raw.startswith(b'{\n  "kind"')
    assert reply.raw.endswith(b"\n}")


@pytest.mark.parametrize("path", ["/", "/version"])
async def test_what_is_no_object_is_always_indented(api: RawClient, path: str) -> None:
    reply = await api("GET", path)

    assert reply.raw.startswith(b'{\n  "')
    assert reply.raw.endswith(b"\n}")


async def test_the_query_decides_about_indentation(api: RawClient) -> None:
    curl = {"User-Agent": "curl/8.5.0"}
    compact = await api("GET", NAMESPACE, query={"pretty": "false"}, headers=curl)
    indented = await api("GET", NAMESPACE, query={"pretty": "true"})

    assert compact.raw.count(b"\n") == 1
    assert indented.raw.startswith(b"{\n  ")


async def test_an_error_is_yaml_for_a_client_of_yaml(api: RawClient) -> None:
    reply = await api("GET", "/api/v1/nodes/nothing", headers={"Accept": "application/yaml"})

    assert (reply.code, reply.headers["Content-Type"]) == (404, "application/yaml")
    assert reply.raw.startswith(b"apiVersion: v1\ncode: 404\ndetails:\n")


async def test_an_error_is_not_hidden_behind_the_media_type(api: RawClient) -> None:
    accept = "application/json;as=Table;v=v1;g=meta.k8s.io"
    reply = await api("GET", "/api/v1/nodes/nothing", headers={"Accept": accept})

    assert (reply.code, reply.headers["Content-Type"]) == (404, "application/json")
    assert reply.raw.startswith(b"{\n  ")


@pytest.mark.parametrize("path", [NAMESPACE, "/nothing", "/api/v1/nodes/nothing", "/livez"])
async def test_every_response_has_an_audit_id(api: RawClient, path: str) -> None:
    first, second = await api.get(path), await api.get(path)

    assert uuid.UUID(first.headers["Audit-Id"]) != uuid.UUID(second.headers["Audit-Id"])
    assert first.headers["Cache-Control"] == "no-cache, private"


async def test_the_audit_id_of_the_client_is_kept(api: RawClient) -> None:
    reply = await api("GET", NAMESPACE, headers={"Audit-ID": "mine, whatever it is"})

    assert reply.headers["Audit-Id"] == "mine, whatever it is"


@pytest.mark.parametrize(
    ("user", "groups", "path", "schema"),
    [
        ("", (), NAMESPACE, "exempt"),
        ("", (), "/nothing", "exempt"),
        ("jane", (), NAMESPACE, "global-default"),
        ("jane", (), "/livez", "probes"),
        ("jane", (), "/livez/ping", "probes"),
        ("system:serviceaccount:shop:web", (), NAMESPACE, "service-accounts"),
        ("system:serviceaccount:kube-system:x", (), NAMESPACE, "kube-system-service-accounts"),
        ("system:kube-scheduler", (), NAMESPACE, "kube-scheduler"),
        (
            "system:kube-scheduler",
            (),
            "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/x",
            "system-leader-election",
        ),
        ("system:node:a", ("system:nodes",), "/api/v1/nodes/a", "system-node-high"),
        ("system:node:a", ("system:nodes",), "/api/v1/pods", "system-nodes"),
    ],
)
async def test_a_response_names_its_flow_schema_and_its_priority_level(
    api: RawClient, user: str, groups: tuple[str, ...], path: str, schema: str
) -> None:
    reply = await api("GET", path, as_user=user, as_groups=groups)
    found = await api.get(f"{FLOW_CONTROL}/flowschemas/{schema}")
    level = found.spec["priorityLevelConfiguration"]["name"]
    used = await api.get(f"{FLOW_CONTROL}/prioritylevelconfigurations/{level}")

    assert reply.headers[SCHEMA] == found.meta["uid"]
    assert reply.headers[LEVEL] == used.meta["uid"]


async def test_a_flow_schema_of_a_user_is_used_at_its_precedence(api: RawClient) -> None:
    name = f"own-{api.namespace}"
    rule = {
        "subjects": [{"kind": "User", "user": {"name": name}}],
        "nonResourceRules": [{"verbs": ["get"], "nonResourceURLs": ["/logs/*"]}],
    }
    own = {
        "priorityLevelConfiguration": {"name": "exempt"},
        "matchingPrecedence": 8000,
        "rules": [rule],
    }
    created = await api.create(
        f"{FLOW_CONTROL}/flowschemas", {"metadata": {"name": name}, "spec": own}
    )
    default = await api.get(f"{FLOW_CONTROL}/flowschemas/global-default")
    try:
        # kube-apiserver reads its schemas from an informer: it may take a moment.
        async with asyncio.timeout(10):
            while (await _schema_of(api, "/logs/a", name)) != created.meta["uid"]:
                await asyncio.sleep(0.05)

        assert await _schema_of(api, "/version", name) == default.meta["uid"]
    finally:
        await api("DELETE", f"{FLOW_CONTROL}/flowschemas/{name}")


async def _schema_of(api: RawClient, path: str, user: str) -> str:
    return (await api("GET", path, as_user=user)).headers[SCHEMA]


@pytest.mark.parametrize("path", ["/apis", "/api"])
async def test_aggregated_discovery_may_be_cached(api: RawClient, path: str) -> None:
    accept = f"application/json, {V2};q=0.1"
    reply = await api("GET", path, headers={"Accept": accept})

    assert reply.body["kind"] == "APIGroupDiscoveryList"
    assert reply.headers["Content-Type"] == V2
    assert (reply.headers["Cache-Control"], reply.headers["Vary"]) == ("public", "Accept")
    known = {"Accept": accept, "If-None-Match": reply.headers["ETag"]}
    assert (await api("GET", path, headers=known)).code == 304


@pytest.mark.parametrize(
    ("path", "accept", "details"),
    [
        (NAMESPACE, "text/html", True),
        (NAMESPACE, "application/*", True),
        (NAMESPACE, "application/cbor", True),
        (NAMESPACE, "application/json;as=Thing;v=v1;g=meta.k8s.io", False),
        (NAMESPACE, "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", False),
        ("/api/v1/pods", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", False),
        ("/api", "text/html", True),
        ("/api/v1", "text/html", True),
        ("/apis/apps/v1", V2, False),
        ("/apis", "text/html", False),
        ("/apis", V2.replace("v2", "v2beta1"), False),
        ("/apis/apps", "text/html", False),
        ("/version", "text/html", True),
    ],
)
async def test_what_a_client_accepts_must_be_possible(
    api: RawClient, path: str, accept: str, details: bool
) -> None:
    reply = await api("GET", path, headers={"Accept": accept})

    assert (reply.code, reply.reason) == (406, "NotAcceptable")
    # Routes have details without content, handlers have none.
    assert ("details" in reply.body) is details
    assert reply.headers["Content-Type"] == "application/json"


async def test_events_are_never_yaml(api: RawClient) -> None:
    query = {"watch": "1", "timeoutSeconds": "1"}
    headers = {"Accept": "application/yaml"}
    reply = await api("GET", api.at("configmaps"), query=query, headers=headers)

    assert reply.code == 406


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
async def test_a_table_has_the_requested_version(api: RawClient, version: str) -> None:
    await api.create(api.at("configmaps"), {"metadata": {"name": "a"}})
    accept = f"application/json;as=Table;v={version};g=meta.k8s.io"
    reply = await api("GET", api.at("configmaps"), headers={"Accept": accept})

    assert reply.body["apiVersion"] == f"meta.k8s.io/{version}"
    assert [row["object"]["apiVersion"] for row in reply.body["rows"]] == [f"meta.k8s.io/{version}"]


async def test_an_empty_list_of_metadata_has_no_items(api: RawClient) -> None:
    accept = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
    reply = await api("GET", api.at("configmaps"), headers={"Accept": accept})

    assert reply.body["items"] is None


@pytest.mark.parametrize(
    "path",
    ["/nothing", "/healthz/", "/livez/nothing", "/apis/nothing.example.com/v1", "/favicon.ico"],
)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
async def test_a_path_that_no_handler_serves_is_plain_text(
    api: RawClient, path: str, method: str
) -> None:
    reply = await api(method, path)

    assert (reply.code, reply.raw) == (404, b"404 page not found\n")
    assert reply.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert reply.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("method", ["POST", "OPTIONS"])
@pytest.mark.parametrize("path", ["/", "/apis", "/apis/apps", "/healthz", "/openapi/v3"])
async def test_plain_handlers_answer_any_method(api: RawClient, path: str, method: str) -> None:
    assert (await api(method, path)).code == 200


@pytest.mark.parametrize("method", ["HEAD", "POST", "OPTIONS"])
@pytest.mark.parametrize("path", ["/api", "/api/v1", "/apis/apps/v1", "/version"])
async def test_routes_allow_their_methods_only(api: RawClient, path: str, method: str) -> None:
    assert (await api(method, path)).code == 405


async def test_the_checks_of_a_health_check_can_be_listed_and_excluded(api: RawClient) -> None:
    query = {"verbose": "", "exclude": ["etcd", "nothing"]}
    reply = await api("GET", "/livez", query=query)

    lines = reply.raw.decode().splitlines()
    assert "[+]etcd excluded: ok" in lines
    assert "[+]poststarthook/rbac/bootstrap-roles ok" in lines
    assert lines[-2:] == [
        'warn: some health checks cannot be excluded: no matches for "nothing"',
        "livez check passed",
    ]
    assert (await api.get("/readyz/poststarthook/rbac/bootstrap-roles")).raw == b"ok"
    assert (await api.get("/readyz/informer-sync")).raw == b"ok"


async def test_metrics_count_the_stored_objects(api: RawClient) -> None:
    reply = await api.get("/metrics")

    assert reply.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    assert "# TYPE apiserver_resource_objects gauge" in reply.raw.decode()


async def test_a_patch_of_another_media_type_is_415(api: RawClient) -> None:
    reply = await api("PATCH", api.at("configmaps", "a"), {})

    assert (reply.code, reply.reason) == (415, "UnsupportedMediaType")


@pytest.mark.parametrize("path", ["/openapi/v3/apis/nothing/v1", "/openapi/v3/"])
async def test_openapi_that_does_not_exist_has_no_body(api: RawClient, path: str) -> None:
    reply = await api.get(path)

    assert (reply.code, reply.raw) == (404, b"")


async def test_a_url_with_an_old_hash_leads_to_the_new_one(api: RawClient) -> None:
    index = (await api.get("/openapi/v3")).body["paths"]
    url = index["apis/events.k8s.io/v1"]["serverRelativeURL"]

    # The session follows redirects.
    moved = await api("GET", "/openapi/v3/apis/events.k8s.io/v1", query={"hash": "old"})
    current = await api("GET", url)

    assert moved.raw == current.raw
    assert current.headers["Cache-Control"] == "public, immutable"
    assert current.headers["Vary"] == "Accept"
