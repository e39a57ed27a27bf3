"""Objects that are nested deeply or large: what is accepted, stored, and refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.conformance.raw_client import (
    APPLY,
    JSON,
    JSON_PATCH,
    MERGE,
    STRATEGIC,
    RawClient,
    Response,
)
from tests.conformance.widgets import WIDGETS, CustomKind

pytestmark = [pytest.mark.one_format, pytest.mark.usefixtures("widgets")]

YAML = "application/yaml"
# Deeper than Python's stack; kube-apiserver takes seconds for objects of several thousand levels.
DEEP = 1500
TOO_DEEP = 20_000
# Without the object itself: its managed fields are nested as deeply as the object.
_TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
_WITHOUT_OBJECT = {"includeObject": "None"}


def _nested(levels: int) -> str:
    return '{"a":' * levels + "1" + "}" * levels


def _widget(name: str, levels: int) -> str:
    group, version, _ = WIDGETS.split("/")
    return (
        f'{{"apiVersion":"{group}/{version}","kind":"Widget","metadata":{{"name":"{name}"}},'
        f'"spec":{{"size":1,"free":{_nested(levels)}}}}}'
    )


def _config_map(levels: int) -> str:
    return (
        '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"deep"},'
        f'"unknown":{_nested(levels)}}}'
    )


async def _send(
    api: RawClient, method: str, path: str, body: str, media: str, **query: str
) -> Response:
    return await api(
        method,
        path,
        body.encode(),
        query={"fieldManager": "case", **_WITHOUT_OBJECT, **query},
        headers={"Content-Type": media, "Accept": _TABLE},
    )


# --- depth


@pytest.mark.parametrize("media", [JSON, YAML])
async def test_a_deep_custom_object_is_stored_as_it_is(api: RawClient, media: str) -> None:
    reply = await _send(api, "POST", api.at(WIDGETS), _widget("deep", DEEP), media)

    assert reply.code == 201, reply
    found = await api.get(api.at(WIDGETS, "deep"))
    assert f'"free":{_nested(DEEP)}'.encode() in found.raw
    assert f'"free":{_nested(DEEP)}'.encode() in (await api.get(api.at(WIDGETS))).raw


@pytest.mark.parametrize(
    ("media", "body"),
    [
        (MERGE, f'{{"spec":{{"free":{_nested(DEEP)}}}}}'),
        (JSON_PATCH, f'[{{"op":"add","path":"/spec/free","value":{_nested(DEEP)}}}]'),
        (APPLY, _widget("deep", DEEP)),
    ],
)
async def test_a_deep_value_can_be_patched(api: RawClient, media: str, body: str) -> None:
    await api.create(api.at(WIDGETS), json.loads(_widget("deep", 1)))

    query = {"force": "true"} if media == APPLY else {}
    reply = await _send(api, "PATCH", api.at(WIDGETS, "deep"), body, media, **query)

    assert reply.code == 200, reply
    found = await api.get(api.at(WIDGETS, "deep"))
    assert f'"free":{_nested(DEEP)}'.encode() in found.raw


async def test_a_deep_object_can_be_changed_and_deleted(api: RawClient) -> None:
    path = api.at(WIDGETS, "deep")
    await _send(api, "POST", api.at(WIDGETS), _widget("deep", DEEP), JSON)

    changed = await _send(api, "PATCH", path, '{"spec":{"size":2}}', MERGE)
    same = await _send(api, "PATCH", path, '{"spec":{"size":2}}', MERGE)
    deleted = await _send(api, "DELETE", path, "{}", JSON)

    assert [reply.code for reply in (changed, same, deleted)] == [200, 200, 200]


async def test_deep_unknown_fields_are_dropped_with_a_warning(api: RawClient) -> None:
    reply = await _send(api, "POST", api.at("configmaps"), _config_map(DEEP), JSON)

    assert (reply.code, reply.warnings) == (201, ['unknown field "unknown"'])


_JSON_DEPTH = "invalid character '{' exceeded max depth"
_APPLY_DEPTH = (
    "error decoding patch: error converting YAML to JSON: yaml: exceeded max depth of 10000"
)


@pytest.mark.parametrize("resource", ["configmaps", WIDGETS])
@pytest.mark.parametrize(
    ("method", "media", "message"),
    [
        ("POST", JSON, _JSON_DEPTH),
        ("POST", YAML, "yaml: exceeded max depth of 10000"),
        ("PUT", JSON, _JSON_DEPTH),
        ("PATCH", MERGE, "invalid JSON patch"),
        ("PATCH", JSON_PATCH, "invalid JSON patch"),
        ("PATCH", APPLY, _APPLY_DEPTH),
        ("DELETE", JSON, _JSON_DEPTH),
    ],
)
async def test_a_body_of_more_than_ten_thousand_levels_is_a_bad_request(
    api: RawClient, resource: str, method: str, media: str, message: str
) -> None:
    is_widget = resource == WIDGETS
    await api.create(
        api.at(resource), json.loads(_widget("deep", 1) if is_widget else _config_map(1))
    )
    body = _widget("deep", TOO_DEEP) if is_widget else _config_map(TOO_DEEP)
    path = api.at(resource) if method == "POST" else api.at(resource, "deep")

    reply = await _send(api, method, path, body, media)

    assert (reply.code, reply.reason) == (400, "BadRequest")
    assert message in reply.message


async def test_a_strategic_patch_of_more_than_ten_thousand_levels_is_a_bad_request(
    api: RawClient,
) -> None:
    await api.create(api.at("configmaps"), json.loads(_config_map(1)))
    body = f'{{"data":{_nested(TOO_DEEP)}}}'

    reply = await _send(api, "PATCH", api.at("configmaps", "deep"), body, STRATEGIC)

    assert (reply.code, reply.message) == (400, "invalid JSON patch")


# --- size


def _large(size: int, name: str = "large") -> dict[str, Any]:
    body: dict[str, Any] = json.loads(_widget(name, 1))
    return {**body, "spec": {"size": 1, "free": {"text": "x" * size}}}


@pytest.mark.parametrize(
    ("size", "message"),
    [
        (1_600_000, "etcdserver: request is too large"),
        (2_097_152, "rpc error: code = ResourceExhausted desc = trying to send message larger"),
    ],
)
async def test_an_object_that_is_too_large_for_etcd_is_not_stored(
    api: RawClient, widgets: CustomKind, size: int, message: str
) -> None:
    created = await api("POST", api.at(WIDGETS), _large(size))
    dry_run = await api("POST", api.at(WIDGETS), _large(size), query={"dryRun": "All"})

    assert (created.code, "reason" in created.body) == (500, False)
    assert created.message.startswith(message)
    assert dry_run.code == 201
    assert (await api.get(api.at(WIDGETS, "large"))).code == 404


async def test_an_object_cannot_grow_beyond_what_etcd_accepts(api: RawClient) -> None:
    await api.create(api.at(WIDGETS), _large(10))

    patched = await api.patch(api.at(WIDGETS, "large"), {"spec": _large(1_600_000)["spec"]})
    applied = await api.apply(api.at(WIDGETS, "large"), _large(1_600_000), force="true")

    for reply in (patched, applied):
        assert (reply.code, reply.message) == (500, "etcdserver: request is too large")
    found = await api.get(api.at(WIDGETS, "large"))
    assert len(found.spec["free"]["text"]) == 10


async def test_an_object_just_below_the_limit_loses_its_managed_fields(api: RawClient) -> None:
    reply = await api("POST", api.at(WIDGETS), _large(1_572_350))

    assert reply.code == 201, reply.message
    assert "managedFields" not in (await api.get(api.at(WIDGETS, "large"))).meta


async def test_a_body_of_more_than_three_mebibytes_is_too_large(api: RawClient) -> None:
    reply = await api("POST", api.at(WIDGETS), _large(3 * 1024 * 1024))

    assert (reply.code, reply.reason) == (413, "RequestEntityTooLarge")
