"""Representations of responses (Table, metadata only, YAML, compressed) and of bodies."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import yaml

from tests.conformance.differences import differs
from tests.conformance.raw_client import RawClient, Response
from tests.conformance.samples import config_map, deployment, pod, service
from tests.conformance.widgets import WIDGETS, CustomKind

Object = dict[str, Any]
TABLE = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
PARTIAL = {"Accept": "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"}
PARTIALS = {"Accept": "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"}


async def table(api: RawClient, path: str, **query: Any) -> Response:
    reply = await api("GET", path, query=query, headers=TABLE)
    assert (reply.code, reply.body["kind"], reply.body["apiVersion"]) == (
        200,
        "Table",
        "meta.k8s.io/v1",
    )
    return reply


def columns(reply: Response, *, priority: int = 0) -> list[str]:
    return [
        each["name"] for each in reply.body["columnDefinitions"] if each["priority"] <= priority
    ]


@pytest.mark.parametrize(
    ("resource", "names"),
    [
        ("pods", ["Name", "Ready", "Status", "Restarts", "Age"]),
        ("services", ["Name", "Type", "Cluster-IP", "External-IP", "Port(s)", "Age"]),
        ("configmaps", ["Name", "Data", "Age"]),
        ("secrets", ["Name", "Type", "Data", "Age"]),
        ("events", ["Last Seen", "Type", "Reason", "Object", "Message"]),
        ("serviceaccounts", ["Name", "Age"]),
        ("apps/v1/deployments", ["Name", "Ready", "Up-to-date", "Available", "Age"]),
        ("apps/v1/statefulsets", ["Name", "Ready", "Age"]),
        ("apps/v1/replicasets", ["Name", "Desired", "Current", "Ready", "Age"]),
        ("batch/v1/jobs", ["Name", "Status", "Completions", "Duration", "Age"]),
        (
            "batch/v1/cronjobs",
            ["Name", "Schedule", "Timezone", "Suspend", "Active", "Last Schedule", "Age"],
        ),
        ("networking.k8s.io/v1/ingresses", ["Name", "Class", "Hosts", "Address", "Ports", "Age"]),
        ("coordination.k8s.io/v1/leases", ["Name", "Holder", "Age"]),
        ("rbac.authorization.k8s.io/v1/roles", ["Name", "Created At"]),
        ("rbac.authorization.k8s.io/v1/rolebindings", ["Name", "Role", "Age"]),
        (
            "policy/v1/poddisruptionbudgets",
            ["Name", "Min Available", "Max Unavailable", "Allowed Disruptions", "Age"],
        ),
    ],
)
async def test_a_kind_has_its_columns(api: RawClient, resource: str, names: list[str]) -> None:
    """API-46: Table."""
    assert columns(await table(api, api.at(resource))) == names


async def test_nodes_and_namespaces_have_their_columns(api: RawClient) -> None:
    """API-46: Table."""
    nodes = columns(await table(api, "/api/v1/nodes"))
    namespaces = columns(await table(api, "/api/v1/namespaces"))

    assert nodes == ["Name", "Status", "Roles", "Age", "Version"]
    assert namespaces == ["Name", "Status", "Age"]


async def test_a_row_of_a_pod(api: RawClient) -> None:
    await api.create(api.at("pods"), pod())

    (row,) = (await table(api, api.at("pods"))).body["rows"]

    assert row["cells"][:4] == ["web", "0/1", "Pending", "0"]
    assert row["object"]["kind"] == "PartialObjectMetadata"


async def test_a_row_of_a_deployment(api: RawClient) -> None:
    await api.create(api.at("apps/v1/deployments"), deployment(replicas=2))

    (row,) = (await table(api, api.at("apps/v1/deployments"))).body["rows"]

    assert row["cells"][:4] == ["web", "0/2", 0, 0]


async def test_a_row_of_a_service(api: RawClient) -> None:
    created = await api.create(api.at("services"), service())

    (row,) = (await table(api, api.at("services"))).body["rows"]

    address = created.spec["clusterIP"]
    assert row["cells"][:5] == ["web", "ClusterIP", address, "<none>", "80/TCP"]


async def test_one_object_as_a_table_is_one_row(api: RawClient) -> None:
    created = await api.create(api.at("configmaps"), config_map("a", x="1"))

    reply = await table(api, api.at("configmaps", "a"))

    (row,) = reply.body["rows"]
    assert row["cells"][:2] == ["a", 1]
    assert reply.meta["resourceVersion"] == created.meta["resourceVersion"]


@pytest.mark.parametrize("include", ["None", "Metadata", "Object"])
async def test_a_row_includes_the_requested_object(api: RawClient, include: str) -> None:
    """API-46: Table."""
    await api.create(api.at("configmaps"), config_map("a", x="1"))

    (row,) = (await table(api, api.at("configmaps"), includeObject=include)).body["rows"]

    kinds = {"None": None, "Metadata": "PartialObjectMetadata", "Object": "ConfigMap"}
    found = row.get("object")
    assert (found and found.get("kind")) == kinds[include]


async def test_a_table_of_a_page_has_the_continue_token(api: RawClient) -> None:
    for name in "abc":
        await api.create(api.at("configmaps"), config_map(name))

    reply = await table(api, api.at("configmaps"), limit=2)

    assert len(reply.body["rows"]) == 2
    assert reply.meta["continue"]
    assert reply.meta["remainingItemCount"] == 1


async def test_a_custom_kind_has_the_printer_columns_it_declares(
    api: RawClient, widgets: CustomKind
) -> None:
    await api.create(api.at(WIDGETS), widgets.new("a", spec={"size": 3}))

    reply = await table(api, api.at(WIDGETS))

    assert columns(reply) == ["Name", "Size"]
    assert columns(reply, priority=1) == ["Name", "Size", "Color"]
    assert reply.body["rows"][0]["cells"] == ["a", 3, "blue"]


async def test_a_column_has_its_type(api: RawClient) -> None:
    reply = await table(api, api.at("configmaps"))

    name, data, _ = reply.body["columnDefinitions"]
    assert (name["type"], name["format"]) == ("string", "name")
    assert data["type"] == "integer" or data["type"] == "string"


async def test_a_created_object_may_be_returned_as_a_table(api: RawClient) -> None:
    reply = await api("POST", api.at("configmaps"), config_map("a"), headers=TABLE)

    assert (reply.code, reply.body["kind"]) == (201, "Table")


async def test_a_rejection_is_a_status_for_any_accept_header(api: RawClient) -> None:
    reply = await api("GET", api.at("configmaps", "nope"), headers=TABLE)

    assert (reply.code, reply.body["kind"]) == (404, "Status")


async def test_one_object_as_metadata_only(api: RawClient) -> None:
    """API-47: PartialObjectMetadata."""
    created = await api.create(api.at("configmaps"), config_map("a", x="1"))

    reply = await api("GET", api.at("configmaps", "a"), headers=PARTIAL)

    assert reply.body == {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": created.meta,
    }


async def test_a_list_as_metadata_only(api: RawClient) -> None:
    """API-47: PartialObjectMetadata."""
    await api.create(api.at("configmaps"), config_map("a", x="1"))

    reply = await api("GET", api.at("configmaps"), headers=PARTIALS)

    assert reply.body["kind"] == "PartialObjectMetadataList"
    assert reply.body["apiVersion"] == "meta.k8s.io/v1"
    assert reply.names == ["a"]
    assert "data" not in reply.items[0]
    assert reply.meta["resourceVersion"]


async def test_a_representation_may_have_a_fallback(api: RawClient) -> None:
    accept = "application/json;as=Picture;v=v1;g=meta.k8s.io, application/json"

    reply = await api("GET", api.at("configmaps"), headers={"Accept": accept})

    assert (reply.code, reply.body["kind"]) == (200, "ConfigMapList")


@pytest.mark.parametrize("accept", ["*/*", "application/*", "application/json", ""])
async def test_json_is_the_default_representation(api: RawClient, accept: str) -> None:
    reply = await api("GET", api.at("configmaps"), headers={"Accept": accept})

    assert reply.headers["Content-Type"] == "application/json"


async def test_a_response_may_be_protobuf(api: RawClient) -> None:
    accept = {"Accept": "application/vnd.kubernetes.protobuf"}

    reply = await api("GET", api.at("configmaps"), headers=accept)

    assert reply.code == 200
    assert reply.raw.startswith(b"k8s\x00")


async def test_a_client_that_accepts_json_and_protobuf_gets_a_response(
    api: RawClient, widgets: CustomKind
) -> None:
    accept = {"Accept": "application/vnd.kubernetes.protobuf,application/json"}

    reply = await api("GET", api.at(WIDGETS), headers=accept)

    assert (reply.code, reply.headers["Content-Type"]) == (200, "application/json")


@differs("unknown methods")
async def test_an_unknown_method_is_405(api: RawClient) -> None:
    assert (await api("BREW", api.at("configmaps"))).code == 405


async def test_a_response_may_be_yaml(api: RawClient) -> None:
    await api.create(api.at("configmaps"), config_map("a", x="1"))

    reply = await api("GET", api.at("configmaps", "a"), headers={"Accept": "application/yaml"})

    assert reply.headers["Content-Type"] == "application/yaml"
    assert yaml.safe_load(reply.raw)["data"] == {"x": "1"}


async def test_a_body_may_be_yaml(api: RawClient) -> None:
    text = b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  x: 'yes'\n"

    reply = await api(
        "POST", api.at("configmaps"), text, headers={"Content-Type": "application/yaml"}
    )

    assert (reply.code, reply.body["data"]) == (201, {"x": "yes"})


@pytest.mark.one_format
async def test_a_response_may_be_indented(api: RawClient) -> None:
    plain = await api.get(api.at("configmaps"))
    pretty = await api.get(api.at("configmaps"), pretty="true")

    assert b"\n  " not in plain.raw
    assert b"\n  " in pretty.raw


async def test_a_large_response_is_compressed_if_accepted(api: RawClient) -> None:
    await api.create(api.at("configmaps"), config_map("a", x="y" * 200_000))

    reply = await api("GET", api.at("configmaps"), headers={"Accept-Encoding": "gzip"})
    plain = await api("GET", api.at("configmaps"), headers={"Accept-Encoding": "identity"})

    assert reply.headers["Content-Encoding"] == "gzip"
    assert "Content-Encoding" not in plain.headers
    assert reply.body == plain.body


async def test_responses_are_not_cacheable(api: RawClient) -> None:
    reply = await api.get(api.at("configmaps"))

    assert reply.headers["Cache-Control"] == "no-cache, private"


async def test_a_body_that_is_too_large_is_rejected(api: RawClient) -> None:
    body = config_map("a", x="y" * (3 * 1024 * 1024))

    reply = await api("POST", api.at("configmaps"), body)

    assert (reply.code, reply.reason) == (413, "RequestEntityTooLarge")
    assert reply.message == "Request entity too large: limit is 3145728"


async def test_many_concurrent_requests_all_get_a_response(api: RawClient) -> None:
    replies = await asyncio.gather(
        *(api("POST", api.at("configmaps"), config_map(f"n{number}")) for number in range(20))
    )

    assert {reply.code for reply in replies} == {201}
    versions = {reply.meta["resourceVersion"] for reply in replies}
    assert len(versions) == 20


async def test_of_many_updates_of_one_version_one_succeeds(api: RawClient) -> None:
    created = await api.create(api.at("configmaps"), config_map("a"))

    async def update(number: int) -> int:
        body = {**created.body, "data": {"n": str(number)}}
        return (await api("PUT", api.at("configmaps", "a"), body)).code

    codes = await asyncio.gather(*(update(number) for number in range(8)))

    assert sorted(codes) == [200] + [409] * 7


async def test_of_many_creates_of_one_name_one_succeeds(api: RawClient) -> None:
    replies = await asyncio.gather(
        *(api("POST", api.at("configmaps"), config_map("a")) for _ in range(8))
    )

    assert sorted(reply.code for reply in replies) == [201] + [409] * 7


async def test_concurrent_patches_are_all_stored(api: RawClient) -> None:
    await api.create(api.at("configmaps"), config_map("a"))

    await asyncio.gather(
        *(api.patch(api.at("configmaps", "a"), {"data": {f"k{n}": "v"}}) for n in range(4))
    )

    data = (await api.get(api.at("configmaps", "a"))).body["data"]
    assert data == {f"k{n}": "v" for n in range(4)}


ENDPOINTS = "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"


async def test_a_request_for_a_deprecated_kind_gets_a_warning_in_every_response(
    api: RawClient,
) -> None:
    listed = await api.get(api.at("endpoints"))
    missed = await api.get(api.at("endpoints", "none"))

    assert (listed.code, listed.warnings) == (200, [ENDPOINTS])
    assert (missed.code, missed.warnings) == (404, [ENDPOINTS])


async def test_only_known_health_checks_exist(api: RawClient) -> None:
    assert (await api.get("/readyz/ping")).code == 200
    assert (await api.get("/readyz/nothing")).code == 404


async def test_the_table_of_definitions_has_scope_and_versions(
    api: RawClient, widgets: CustomKind
) -> None:
    table = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
    reply = await api("GET", widgets.path, headers=table)

    names = [(each["name"], each["priority"]) for each in reply.body["columnDefinitions"]]
    assert names == [
        ("Name", 0),
        ("Scope", 0),
        ("Versions", 0),
        ("Created At", 0),
        ("Group", 1),
        ("Kind", 1),
        ("ShortNames", 1),
        ("Established", 1),
    ]
    name, scope, versions, _, *rest = reply.body["rows"][0]["cells"]
    assert (name, scope, versions) == (widgets.path.rpartition("/")[2], "Namespaced", "v1(storage)")
    assert rest[1:] == ["Widget", "", True]
