"""The order of keys in JSON: fields of Go's structs as declared, keys of maps sorted."""

from __future__ import annotations

import json

import pytest

from tests.conformance.raw_client import JSON, RawClient
from tests.conformance.widgets import GROUP, WIDGETS, CustomKind, define, version

pytestmark = pytest.mark.one_format

_PARTIAL = f"{JSON};as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
_TABLE = f"{JSON};as=Table;v=v1;g=meta.k8s.io"
_LABELS = dict.fromkeys(("b", "B", "a", "a.b", "a-b", "a/b", "10", "9", "z"), "1")
_SORTED = ["10", "9", "B", "a", "a-b", "a.b", "a/b", "b", "z"]
_METADATA = [
    "name",
    "namespace",
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "labels",
    "managedFields",
]


def _keys(text: bytes, *path: str | int) -> list[str]:
    found = json.loads(text)
    for step in path:
        found = found[step]
    return list(found)


async def test_fields_of_a_built_in_kind_are_in_the_order_of_its_struct(api: RawClient) -> None:
    body = {
        "binaryData": {"y": "", "x": ""},
        "data": {"b": "1", "a": "1", "B": "1"},
        "metadata": {"labels": _LABELS, "name": "keys"},
    }

    created = await api.create(api.at("configmaps"), body)
    patched = await api.patch(api.at("configmaps", "keys"), {"data": {"C": "1"}})
    read = await api.get(api.at("configmaps", "keys"))

    for reply in (created, patched, read):
        assert _keys(reply.raw) == ["kind", "apiVersion", "metadata", "data", "binaryData"]
        assert _keys(reply.raw, "metadata") == _METADATA
        assert _keys(reply.raw, "metadata", "labels") == _SORTED
        assert _keys(reply.raw, "binaryData") == ["x", "y"]
    assert _keys(created.raw, "data") == ["B", "a", "b"]
    assert _keys(patched.raw, "data") == _keys(read.raw, "data") == ["B", "C", "a", "b"]


async def test_lists_tables_and_metadata_have_the_same_order(api: RawClient) -> None:
    await api.create(api.at("configmaps"), {"metadata": {"labels": _LABELS, "name": "keys"}})

    listed = await api.get(api.at("configmaps"))
    partial = await api("GET", api.at("configmaps", "keys"), headers={"Accept": _PARTIAL})
    table = await api("GET", api.at("configmaps", "keys"), headers={"Accept": _TABLE})

    for text, path in (
        (listed.raw, ("items", 0)),
        (partial.raw, ()),
        (table.raw, ("rows", 0, "object")),
    ):
        assert _keys(text, *path, "metadata") == _METADATA
        assert _keys(text, *path, "metadata", "labels") == _SORTED
    assert _keys(partial.raw) == ["kind", "apiVersion", "metadata"]


async def test_a_pod_template_is_ordered_to_its_leaves(api: RawClient) -> None:
    limits = {"memory": "1Gi", "cpu": "1"}
    body = {
        "metadata": {"name": "keys"},
        "spec": {
            "template": {
                "spec": {
                    "nodeSelector": {"b": "1", "a": "1"},
                    "containers": [{"resources": {"limits": limits}, "image": "i", "name": "c"}],
                },
                "metadata": {"labels": {"b": "1", "a": "1"}},
            },
            "selector": {"matchLabels": {"b": "1", "a": "1"}},
        },
    }

    for name in ("keys", "again"):  # the second one shares its spec with the first
        body = {**body, "metadata": {"name": name}}
        raw = (await api.create(api.at("apps/v1/deployments"), body)).raw

        container = ("spec", "template", "spec", "containers", 0)
        assert _keys(raw, "spec")[:4] == ["replicas", "selector", "template", "strategy"]
        assert _keys(raw, "spec", "selector", "matchLabels") == ["a", "b"]
        assert _keys(raw, "spec", "template", "spec", "nodeSelector") == ["a", "b"]
        assert _keys(raw, *container)[:3] == ["name", "image", "resources"]
        assert _keys(raw, *container, "resources", "limits") == ["cpu", "memory"]


async def test_every_key_of_a_custom_object_is_sorted(api: RawClient, widgets: CustomKind) -> None:
    free = {"z": 1, "a": {"é": 1, "\U0001f600": 2, "\uffff": 3, "B": 4}, "l": [{"z": 1, "b": 2}]}
    body = {
        "spec": {"size": 1, "free": free, "color": "red"},
        "metadata": {"name": "keys", "labels": _LABELS},
        "kind": "Widget",
        "apiVersion": f"{GROUP}/v1",
    }

    created = await api.create(api.at(WIDGETS), body)
    listed = await api.get(api.at(WIDGETS))

    for text in (created.raw, json.dumps(json.loads(listed.raw)["items"][0]).encode()):
        assert _keys(text)[:4] == ["apiVersion", "kind", "metadata", "spec"]
        assert _keys(text, "metadata")[:3] == ["creationTimestamp", "generation", "labels"]
        assert _keys(text, "metadata", "labels") == _SORTED
        assert _keys(text, "spec") == ["color", "free", "size"]
        assert _keys(text, "spec", "free", "a") == ["B", "é", "\uffff", "\U0001f600"]
        assert _keys(text, "spec", "free", "l", 0) == ["b", "z"]
    assert _keys(listed.raw) == ["apiVersion", "items", "kind", "metadata"]


async def test_fields_of_a_custom_object_may_come_before_its_kind(api: RawClient) -> None:
    open_ = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"type": "object", "properties": {"data": open_, "a": open_}}
    only = version(
        schema={"openAPIV3Schema": schema},
        subresources={},
        selectableFields=[],
        additionalPrinterColumns=[],
    )
    kind = await define(api, versions=[only])
    path = api.at(kind.resource)
    body = kind.new("keys", data={}, a={})

    created = await api.create(path, body)
    listed = await api.get(path)

    assert _keys(created.raw) == ["a", "apiVersion", "data", "kind", "metadata"]
    assert _keys(listed.raw, "items", 0) == ["a", "apiVersion", "data", "kind", "metadata"]


async def test_characters_that_a_web_page_would_interpret_are_escaped(api: RawClient) -> None:
    text = "<a>&\u2028\u2029é"

    created = await api.create(
        api.at("configmaps"), {"metadata": {"name": "keys"}, "data": {"a": text}}
    )

    assert created.body["data"]["a"] == text
    assert b'"a":"\\u003ca\\u003e\\u0026\\u2028\\u2029\xc3\xa9"' in created.raw


async def test_events_of_a_watch_have_the_same_order(api: RawClient) -> None:
    await api.create(api.at("configmaps"), {"metadata": {"name": "keys", "labels": _LABELS}})

    reply = await api(
        "GET",
        api.at("configmaps"),
        query={"watch": "1", "timeoutSeconds": "1", "fieldSelector": "metadata.name=keys"},
    )

    first = reply.raw.splitlines()[0]
    assert _keys(first) == ["type", "object"]
    assert _keys(first, "object", "metadata") == _METADATA
    assert _keys(first, "object", "metadata", "labels") == _SORTED
