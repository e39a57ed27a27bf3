"""Updates and patches of metadata that are rejected, with every cause; results without a type."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.raw_client import APPLY, JSON_PATCH, MERGE, RawClient
from tests.conformance.samples import config_map, deployment
from tests.conformance.widgets import GROUP, WIDGETS

pytestmark = [pytest.mark.one_format, pytest.mark.usefixtures("widgets")]

_KINDS = ["configmaps", WIDGETS]


def _object(resource: str, **metadata: Any) -> dict[str, Any]:
    if resource == "configmaps":
        body = config_map("one")
    else:
        body = {"apiVersion": f"{GROUP}/v1", "kind": "Widget", "metadata": {"name": "one"}}
        body["spec"] = {"size": 1}
    return {**body, "metadata": {**body["metadata"], **metadata}}


# --- finalizers

_KEY = ("metadata.finalizers", "FieldValueInvalid")
_UNQUALIFIED = ("metadata.finalizers[0]", "FieldValueInvalid")


@pytest.mark.parametrize(
    ("finalizers", "keys", "unqualified"),
    [
        (["a b"], 1, True),
        ([""], 2, True),
        (["example.com/"], 2, False),
        (["Example.com/a b"], 2, False),
        (["orphan", "foregroundDeletion"], 1, False),
    ],
)
@pytest.mark.parametrize("resource", _KINDS)
async def test_every_problem_of_a_finalizer_is_a_cause(
    api: RawClient, resource: str, finalizers: list[str], keys: int, *, unqualified: bool
) -> None:
    # Only built-in kinds need names with a domain.
    is_reported = unqualified and resource == "configmaps"
    expected = [_KEY] * keys + [_UNQUALIFIED] * is_reported
    body = _object(resource, finalizers=finalizers)
    path = api.at(resource, "one")

    created = await api("POST", api.at(resource), body)
    await api.create(api.at(resource), _object(resource))
    patched = await api.patch(path, {"metadata": {"finalizers": finalizers}})
    applied = await api.apply(path, body, force="true")

    for reply in (created, patched, applied):
        assert (reply.code, reply.causes) == (422, expected)


# --- uids


@pytest.mark.parametrize("media", [MERGE, APPLY])
@pytest.mark.parametrize(("resource", "count"), [("configmaps", 1), (WIDGETS, 2)])
async def test_a_patch_of_the_uid_is_rejected_once_by_each_strategy(
    api: RawClient, resource: str, count: int, media: str
) -> None:
    await api.create(api.at(resource), _object(resource))
    query = {"force": "true"} if media == APPLY else {}

    reply = await api.patch(
        api.at(resource, "one"), _object(resource, uid="other"), media, fieldManager="a", **query
    )

    cause = {
        "reason": "FieldValueInvalid",
        "message": 'Invalid value: "other": field is immutable',
        "field": "metadata.uid",
    }
    assert (reply.code, reply.details["causes"]) == (422, [cause] * count)


@pytest.mark.parametrize("version", [None, "1", "x"])
@pytest.mark.parametrize("resource", _KINDS)
async def test_an_update_with_another_uid_is_a_conflict_whatever_its_version(
    api: RawClient, resource: str, version: str | None
) -> None:
    await api.create(api.at(resource), _object(resource))
    metadata = {"uid": "other"} if version is None else {"uid": "other", "resourceVersion": version}

    reply = await api("PUT", api.at(resource, "one"), _object(resource, **metadata))

    group = "" if resource == "configmaps" else f"{GROUP}/"
    plural = resource.rpartition("/")[2]
    key = f"Key: /registry/{group}{plural}/{api.namespace}/one, ResourceVersion: 0"
    assert (reply.code, reply.reason) == (409, "Conflict")
    assert key in reply.message
    assert "Precondition failed: UID in precondition: other" in reply.message


@pytest.mark.parametrize("media", [MERGE, APPLY])
async def test_a_patch_of_the_uid_with_a_broken_version_is_an_error(
    api: RawClient, media: str
) -> None:
    await api.create(api.at("configmaps"), _object("configmaps"))
    body = _object("configmaps", uid="other", resourceVersion="x")

    reply = await api.patch(api.at("configmaps", "one"), body, media, fieldManager="a")

    assert (reply.code, reply.message) == (500, 'strconv.ParseUint: parsing "x": invalid syntax')


# --- results of patches without a kind, a version or a name


def _replacement(value: Any) -> list[dict[str, Any]]:
    return [{"op": "replace", "path": "", "value": value}]


@pytest.mark.parametrize("value", [{}, {"a": 1}, {"metadata": {}}, {"kind": "", "apiVersion": ""}])
async def test_a_custom_object_cannot_be_replaced_by_one_without_a_kind(
    api: RawClient, value: Any
) -> None:
    await api.create(api.at(WIDGETS), _object(WIDGETS))

    reply = await api.patch(api.at(WIDGETS, "one"), _replacement(value), JSON_PATCH)

    assert (reply.code, reply.reason) == (422, "Invalid")
    assert reply.causes == [("patch", "FieldValueInvalid")]
    assert "Object 'Kind' is missing in '{" in reply.message


@pytest.mark.parametrize("patch", [{"kind": None}, {"kind": None, "apiVersion": None}])
async def test_the_kind_of_a_custom_object_cannot_be_removed(api: RawClient, patch: Any) -> None:
    await api.create(api.at(WIDGETS), _object(WIDGETS))

    reply = await api.patch(api.at(WIDGETS, "one"), patch)

    assert (reply.code, reply.causes) == (422, [("patch", "FieldValueInvalid")])


async def test_the_version_of_a_custom_object_cannot_be_removed(api: RawClient) -> None:
    await api.create(api.at(WIDGETS), _object(WIDGETS))

    reply = await api.patch(api.at(WIDGETS, "one"), {"apiVersion": None})

    why = "Object 'apiVersion' is missing in 'object has no apiVersion field'"
    assert (reply.code, reply.reason) == (500, "InternalError")
    assert reply.message == f"Internal error occurred: {why}"


async def test_a_custom_object_of_another_kind_without_a_name_is_a_bad_request(
    api: RawClient,
) -> None:
    await api.create(api.at(WIDGETS), _object(WIDGETS))
    value = {"apiVersion": "v1", "kind": "ConfigMap"}

    reply = await api.patch(api.at(WIDGETS, "one"), _replacement(value), JSON_PATCH)

    assert (reply.code, reply.reason) == (400, "BadRequest")
    assert "was undeterminable: name must be provided" in reply.message


@pytest.mark.parametrize("resource", _KINDS)
async def test_an_object_cannot_be_replaced_by_a_list(api: RawClient, resource: str) -> None:
    await api.create(api.at(resource), _object(resource))

    reply = await api.patch(api.at(resource, "one"), _replacement([]), JSON_PATCH)

    assert (reply.code, reply.causes) == (422, [("patch", "FieldValueInvalid")])
    assert "json: cannot unmarshal array into Go value of type struct" in reply.message


async def test_an_object_cannot_become_a_kind_that_its_group_does_not_have(api: RawClient) -> None:
    path = api.at("apps/v1/deployments")
    await api.create(path, deployment("one"))

    reply = await api.patch(f"{path}/one", _replacement({"kind": "ConfigMap"}), JSON_PATCH)

    assert (reply.code, reply.causes) == (422, [("patch", "FieldValueInvalid")])
    assert 'no kind "ConfigMap" is registered for the internal version of group "apps"' in (
        reply.message
    )
