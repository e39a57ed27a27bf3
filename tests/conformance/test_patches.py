"""The three types of patches; the rules are in docs/reference/rules."""

from __future__ import annotations

from typing import Any

import pytest

from kubeloop.clients import APIClient
from kubeloop.errors import Invalid
from kubeloop.wire.core.v1 import ConfigMap
from kubeloop.wire.meta.v1 import ObjectMeta
from tests.conformance.differences import differs
from tests.conformance.raw_client import JSON_PATCH, MERGE, STRATEGIC, RawClient
from tests.conformance.samples import config_map, deployment, pod
from tests.conformance.widgets import WIDGETS, CustomKind

Object = dict[str, Any]
DEPLOYMENTS = "apps/v1/deployments"


async def patched(api: RawClient, operations: list[Object]) -> Object:
    await api.create(api.at("configmaps"), config_map("a", x="1", y="2"))
    reply = await api.patch(api.at("configmaps", "a"), operations, JSON_PATCH)
    assert reply.code == 200, reply
    return dict(reply.body["data"])


@pytest.mark.parametrize(
    ("operations", "data"),
    [
        ([{"op": "add", "path": "/data/z", "value": "3"}], {"x": "1", "y": "2", "z": "3"}),
        ([{"op": "add", "path": "/data/x", "value": "3"}], {"x": "3", "y": "2"}),
        ([{"op": "add", "path": "/data", "value": {"z": "3"}}], {"z": "3"}),
        ([{"op": "replace", "path": "/data/x", "value": "9"}], {"x": "9", "y": "2"}),
        ([{"op": "remove", "path": "/data/x"}], {"y": "2"}),
        ([{"op": "move", "from": "/data/x", "path": "/data/z"}], {"y": "2", "z": "1"}),
        ([{"op": "copy", "from": "/data/x", "path": "/data/z"}], {"x": "1", "y": "2", "z": "1"}),
        ([{"op": "test", "path": "/data/x", "value": "1"}], {"x": "1", "y": "2"}),
        ([], {"x": "1", "y": "2"}),
        (
            [
                {"op": "test", "path": "/data/x", "value": "1"},
                {"op": "remove", "path": "/data/x"},
                {"op": "add", "path": "/data/a~1b~0c", "value": "3"},
                {"op": "move", "from": "/data/a~1b~0c", "path": "/data/z"},
            ],
            {"y": "2", "z": "3"},
        ),
    ],
    ids=[
        "add", "add-over", "add-object", "replace", "remove", "move", "copy", "test", "nothing",
        "many",
    ],
)  # fmt: skip
async def test_a_json_patch_applies_its_operations_in_order(
    api: RawClient, operations: list[Object], data: Object
) -> None:
    """API-28: JSON patch."""
    assert await patched(api, operations) == data


async def test_a_json_patch_can_replace_a_missing_key(api: RawClient) -> None:
    operation = {"op": "replace", "path": "/data/z", "value": "3"}

    assert await patched(api, [operation]) == {"x": "1", "y": "2", "z": "3"}


async def test_a_json_patch_copies_and_tests_a_missing_value_as_null(api: RawClient) -> None:
    operations: list[Object] = [
        {"op": "test", "path": "/data/nope", "value": None},
        {"op": "test", "path": "/data/nope"},
        {"op": "copy", "from": "/data/nope", "path": "/data/x"},
    ]

    assert (await patched(api, operations))["y"] == "2"


@pytest.mark.parametrize(
    ("operation", "finalizers"),
    [
        ({"op": "add", "path": "/metadata/finalizers/-1", "value": "a.io/c"}, "abc"),
        ({"op": "add", "path": "/metadata/finalizers/-3", "value": "a.io/c"}, "cab"),
        ({"op": "replace", "path": "/metadata/finalizers/-1", "value": "a.io/c"}, "ac"),
        ({"op": "remove", "path": "/metadata/finalizers/-2"}, "b"),
        ({"op": "remove", "path": "/metadata/finalizers/+01"}, "a"),
        ({"op": "remove", "path": "ignored/metadata/finalizers/0"}, "b"),
        ({"op": "add", "path": "/data/new"}, "ab"),
    ],
)
async def test_a_json_patch_accepts_negative_indexes_and_lenient_paths(
    api: RawClient, operation: Object, finalizers: str
) -> None:
    made = config_map("a", x="1")
    made["metadata"]["finalizers"] = ["a.io/a", "a.io/b"]
    await api.create(api.at("configmaps"), made)

    reply = await api.patch(api.at("configmaps", "a"), [operation], JSON_PATCH)

    assert reply.code == 200, reply
    found = [each.removeprefix("a.io/") for each in reply.body["metadata"]["finalizers"]]
    assert "".join(found) == finalizers


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "add", "path": "", "value": {}},
        {"op": "remove", "path": ""},
        {"op": "copy", "from": "", "path": "/data"},
        {"op": "replace", "path": "", "value": None},
        {"op": "add", "path": "data", "value": {}},
        {"op": "remove", "path": "/metadata/finalizers/0"},
        {"op": "move", "from": "/data/nope", "path": "/data/x"},
        {"op": "test", "path": "/data/x", "value": None},
        {"op": "test", "path": "/data/x"},
        {"op": "unknown", "path": "/data/x"},
        {"op": "add", "value": "x"},
        None,
    ],
)
async def test_a_json_patch_that_cannot_be_applied_is_unprocessable(
    api: RawClient, operation: Object | None
) -> None:
    await api.create(api.at("configmaps"), config_map("a", x="1"))

    reply = await api.patch(api.at("configmaps", "a"), [operation], JSON_PATCH)

    assert (reply.code, reply.body["reason"]) == (422, "Invalid")


@pytest.mark.parametrize(
    "operation",
    ["add", 3, ["add"], {"op": ["add"], "path": "/a"}, {"op": "remove", "path": 3}],
)
async def test_a_json_patch_of_the_wrong_types_is_a_bad_request(
    api: RawClient, operation: Any
) -> None:
    await api.create(api.at("configmaps"), config_map("a", x="1"))

    reply = await api.patch(api.at("configmaps", "a"), [operation], JSON_PATCH)

    assert (reply.code, reply.body["reason"]) == (400, "BadRequest")
    assert "error decoding patch" in reply.body["message"]


async def test_a_test_by_our_client_matches_values_with_any_characters(
    client: APIClient,
) -> None:
    """`test` compares encoded texts, and the server escapes some characters."""
    maps, text = client.resource(ConfigMap), '<a href="x">&\u2028\u00e9\U0001f600\x7f\n</a>'
    await maps.create(ConfigMap(metadata=ObjectMeta(name="a"), data={"x": text}))

    found = await maps.patch("a", [{"op": "test", "path": "/data/x", "value": text}], type="json")

    assert found.data == {"x": text}


@differs("tests of JSON patches")
async def test_a_json_patch_tests_the_text_of_a_value(api: RawClient, client: APIClient) -> None:
    await api.create(api.at("configmaps"), config_map("a", x="<a>"))
    maps, patch = client.resource(ConfigMap), b'[{"op":"test","path":"/data/x","value":"<a>"}]'

    try:
        await maps.patch("a", patch, type="json")
    except Invalid:
        refused = True
    else:
        refused = False

    assert refused


async def test_a_json_patch_that_fails_in_the_middle_changes_nothing(api: RawClient) -> None:
    """API-28: JSON patch."""
    created = await api.create(api.at("configmaps"), config_map("a", x="1"))
    operations = [
        {"op": "remove", "path": "/data/x"},
        {"op": "test", "path": "/data/y", "value": "1"},
    ]

    reply = await api.patch(api.at("configmaps", "a"), operations, JSON_PATCH)

    assert reply.code == 422
    assert (await api.get(api.at("configmaps", "a"))).body == created.body


@pytest.mark.parametrize(
    ("path", "names"), [("-", "abx"), ("0", "xab"), ("1", "axb"), ("2", "abx")]
)
async def test_a_json_patch_inserts_into_a_list_at_the_index(
    api: RawClient, path: str, names: str
) -> None:
    """API-28: JSON patch."""
    body = pod()
    body["metadata"]["finalizers"] = ["example.com/a", "example.com/b"]
    await api.create(api.at("pods"), body)
    operation = {"op": "add", "path": f"/metadata/finalizers/{path}", "value": "example.com/x"}

    reply = await api.patch(api.at("pods", "web"), [operation], JSON_PATCH)

    assert reply.meta["finalizers"] == [f"example.com/{name}" for name in names]


@pytest.mark.parametrize(
    ("patch", "data"),
    [
        ({"data": {"x": "9"}}, {"x": "9", "y": "2"}),
        ({"data": {"x": None}}, {"y": "2"}),
        ({"data": {"nope": None}}, {"x": "1", "y": "2"}),
        ({"data": {"z": "3"}}, {"x": "1", "y": "2", "z": "3"}),
        ({"data": None}, None),
        ({}, {"x": "1", "y": "2"}),
    ],
    ids=["change", "delete", "delete-missing", "add", "delete-all", "nothing"],
)
async def test_a_merge_patch_merges(api: RawClient, patch: Object, data: Object | None) -> None:
    """API-27, API-C11: JSON merge patch."""
    await api.create(api.at("configmaps"), config_map("a", x="1", y="2"))

    reply = await api.patch(api.at("configmaps", "a"), patch, MERGE)

    assert (reply.code, reply.body.get("data")) == (200, data)


async def test_a_merge_patch_replaces_lists(api: RawClient) -> None:
    """API-27, API-C9: JSON merge patch."""
    body = deployment()
    body["spec"]["template"]["spec"]["containers"].append({"name": "side", "image": "other:1"})
    await api.create(api.at(DEPLOYMENTS), body)
    patch = {"spec": {"template": {"spec": {"containers": [{"name": "new", "image": "new:1"}]}}}}

    reply = await api.patch(api.at(DEPLOYMENTS, "web"), patch, MERGE)

    assert names_of(reply.spec) == ["new"]


async def test_a_resource_version_in_a_merge_patch_is_a_precondition(api: RawClient) -> None:
    created = await api.create(api.at("configmaps"), config_map("a", x="1"))
    version = created.meta["resourceVersion"]
    patch = {"metadata": {"resourceVersion": version}, "data": {"x": "2"}}

    first = await api.patch(api.at("configmaps", "a"), patch, MERGE)
    again = await api.patch(api.at("configmaps", "a"), patch, MERGE)

    assert (first.code, again.code, again.reason) == (200, 409, "Conflict")


def names_of(spec: Object) -> list[str]:
    return [each["name"] for each in spec["template"]["spec"]["containers"]]


async def strategic(api: RawClient, containers: str, pod_spec: Object) -> Object:
    """The pod spec of a deployment with these containers after a strategic patch."""
    body = deployment()
    body["spec"]["template"]["spec"]["containers"] = [
        {"name": name, "image": f"{name}:1", "env": [{"name": "A", "value": "1"}]}
        for name in containers
    ]
    await api.create(api.at(DEPLOYMENTS), body)
    patch = {"spec": {"template": {"spec": pod_spec}}}
    reply = await api.patch(api.at(DEPLOYMENTS, "web"), patch, STRATEGIC)
    assert reply.code == 200, reply
    return reply.spec


def boxes(names: str) -> list[Object]:
    return [{"name": name, "image": f"{name}:2"} for name in names]


def order(names: str) -> list[Object]:
    return [{"name": name} for name in names]


@pytest.mark.parametrize(
    ("patch", "names"),
    [
        ({"containers": boxes("c")}, "cab"),
        ({"containers": boxes("c"), "$setElementOrder/containers": order("abc")}, "abc"),
        ({"containers": boxes("b")}, "ab"),
        ({"containers": boxes("ba")}, "ba"),
        ({"containers": [{"name": "a", "$patch": "delete"}]}, "b"),
        ({"containers": [{"name": "x", "$patch": "delete"}]}, "ab"),
        ({"containers": [*boxes("c"), {"$patch": "replace"}]}, "c"),
        ({"$setElementOrder/containers": order("ba")}, "ba"),
        ({"hostNetwork": None}, "ab"),
    ],
    ids=[
        "new-first", "ordered", "known", "patch-order", "delete", "delete-missing", "replace",
        "reorder", "nothing",
    ],
)  # fmt: skip
async def test_a_strategic_patch_of_containers(api: RawClient, patch: Object, names: str) -> None:
    """V-1, API-30, API-31, API-32, API-C10: order of merged lists."""
    assert names_of(await strategic(api, "ab", patch)) == list(names)


async def test_a_strategic_patch_merges_the_variables_of_a_container(api: RawClient) -> None:
    """API-C9: lists in strategic patches."""
    patch = {"containers": [{"name": "a", "env": [{"name": "B", "value": "2"}]}]}

    spec = await strategic(api, "a", patch)

    container = spec["template"]["spec"]["containers"][0]
    assert container["env"] == [{"name": "B", "value": "2"}, {"name": "A", "value": "1"}]
    assert container["image"] == "a:1"


async def test_a_strategic_patch_puts_new_finalizers_first(api: RawClient) -> None:
    """V-1: order of merged lists."""
    body = config_map("a")
    body["metadata"]["finalizers"] = ["example.com/x", "example.com/y"]
    await api.create(api.at("configmaps"), body)

    patch = {"metadata": {"finalizers": ["example.com/z"]}}
    reply = await api.patch(api.at("configmaps", "a"), patch, STRATEGIC)

    assert reply.meta["finalizers"] == ["example.com/z", "example.com/x", "example.com/y"]


async def test_a_strategic_patch_deletes_from_a_primitive_list(api: RawClient) -> None:
    """API-32: directives for lists and retained keys."""
    body = config_map("a")
    body["metadata"]["finalizers"] = ["example.com/x", "example.com/y"]
    await api.create(api.at("configmaps"), body)

    patch = {"metadata": {"$deleteFromPrimitiveList/finalizers": ["example.com/x"]}}
    reply = await api.patch(api.at("configmaps", "a"), patch, STRATEGIC)

    assert reply.meta["finalizers"] == ["example.com/y"]


async def test_a_strategic_patch_replaces_lists_that_have_no_key(api: RawClient) -> None:
    """API-29, API-35: strategic merge patch and its list strategies."""
    toleration = {"key": "a", "operator": "Exists"}
    spec = await strategic(api, "a", {"tolerations": [toleration]})
    assert spec["template"]["spec"]["tolerations"] == [toleration]

    patch = {"spec": {"template": {"spec": {"tolerations": [{"key": "b", "operator": "Exists"}]}}}}
    reply = await api.patch(api.at(DEPLOYMENTS, "web"), patch, STRATEGIC)

    assert [each["key"] for each in reply.spec["template"]["spec"]["tolerations"]] == ["b"]


async def test_a_strategic_patch_with_a_directive_replaces_a_map(api: RawClient) -> None:
    """API-31: `$patch` directives."""
    await api.create(api.at("configmaps"), config_map("a", x="1"))

    patch = {"data": {"$patch": "replace", "y": "2"}}
    reply = await api.patch(api.at("configmaps", "a"), patch, STRATEGIC)

    assert reply.body["data"] == {"y": "2"}


async def test_a_strategic_patch_with_a_directive_empties_a_map(api: RawClient) -> None:
    """API-31: `$patch` directives."""
    await api.create(api.at("configmaps"), config_map("a", x="1"))

    reply = await api.patch(api.at("configmaps", "a"), {"data": {"$patch": "delete"}}, STRATEGIC)

    assert not reply.body.get("data")


async def test_a_strategic_patch_keeps_only_the_keys_it_retains(api: RawClient) -> None:
    """API-32: directives for lists and retained keys."""
    await api.create(api.at(DEPLOYMENTS), deployment())

    patch = {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}}
    reply = await api.patch(api.at(DEPLOYMENTS, "web"), patch, STRATEGIC)

    assert (reply.code, reply.spec["strategy"]) == (200, {"type": "Recreate"})


async def test_a_strategic_patch_deletes_with_null(api: RawClient) -> None:
    """API-33: null deletes."""
    await api.create(api.at("configmaps"), config_map("a", x="1", y="2"))

    reply = await api.patch(api.at("configmaps", "a"), {"data": {"x": None}}, STRATEGIC)

    assert reply.body["data"] == {"y": "2"}


async def test_ports_of_a_service_are_merged_by_their_number(api: RawClient) -> None:
    """API-35: merge keys."""
    ports = [{"name": "a", "port": 80}, {"name": "b", "port": 81}]
    await api.create(api.at("services"), {"metadata": {"name": "web"}, "spec": {"ports": ports}})

    patch = {"spec": {"ports": [{"port": 81, "targetPort": 8081}]}}
    reply = await api.patch(api.at("services", "web"), patch, STRATEGIC)

    assert [(each["name"], each["targetPort"]) for each in reply.spec["ports"]] == [
        ("a", 80),
        ("b", 8081),
    ]


async def test_conditions_are_merged_by_their_type(api: RawClient) -> None:
    """API-35: merge keys."""
    await api.create(api.at("pods"), pod())
    path = api.at("pods", "web", "status")

    for kind in ("Ready", "Initialized"):
        condition = {"type": kind, "status": "True"}
        await api.patch(path, {"status": {"conditions": [condition]}}, STRATEGIC)
    reply = await api.get(path)

    found = [each["type"] for each in reply.body["status"]["conditions"]]
    assert sorted(found) == ["Initialized", "Ready"]


async def test_a_custom_kind_accepts_json_and_merge_patches(
    api: RawClient, widgets: CustomKind
) -> None:
    """API-29: strategic merge patch and its list strategies."""
    await api.create(api.at(WIDGETS), widgets.new("a", spec={"size": 1, "tags": ["x"]}))
    path = api.at(WIDGETS, "a")

    merged = await api.patch(path, {"spec": {"tags": ["y", "z"]}}, MERGE)
    stepped = await api.patch(
        path, [{"op": "add", "path": "/spec/tags/0", "value": "w"}], JSON_PATCH
    )

    assert merged.spec["tags"] == ["y", "z"]
    assert stepped.spec["tags"] == ["w", "y", "z"]


async def test_a_merge_patch_drops_nulls_of_objects_in_a_list_unless_it_replaces_an_object(
    api: RawClient, widgets: CustomKind
) -> None:
    before = {"size": 1, "free": {"was_object": {"x": 1}, "was_list": [1]}}
    await api.create(api.at(WIDGETS), widgets.new("a", spec=before))
    given = [{"a": None, "b": 1}, None]

    patch = {"spec": {"free": {"was_object": given, "was_list": given, "new": given}}}
    reply = await api.patch(api.at(WIDGETS, "a"), patch, MERGE)

    pruned = [{"b": 1}, None]
    assert reply.spec["free"] == {"was_object": given, "was_list": pruned, "new": pruned}


async def test_a_patch_defaults_what_it_adds(api: RawClient, widgets: CustomKind) -> None:
    await api.create(api.at(WIDGETS), widgets.new("a", spec={"size": 1}))

    reply = await api.patch(api.at(WIDGETS, "a"), {"spec": {"ports": [{"name": "http"}]}})

    assert reply.spec["ports"] == [{"name": "http", "protocol": "TCP"}]
