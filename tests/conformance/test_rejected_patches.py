"""Patches and applies that are rejected."""

from __future__ import annotations

from tests.conformance.raw_client import APPLY, JSON_PATCH, MERGE, STRATEGIC, RawClient
from tests.conformance.rejections import Rejected, check, rows

MAPS = "/api/v1/namespaces/{ns}/configmaps"
PODS = "/api/v1/namespaces/{ns}/pods"
DEPLOYMENTS = "/apis/apps/v1/namespaces/{ns}/deployments"
WIDGETS = "/apis/conformance.example.com/v1/namespaces/{ns}/widgets"
BODY = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "new"}}
MERGED = {"Content-Type": MERGE}
STEPS = {"Content-Type": JSON_PATCH}
STRATEGIC_PATCH = {"Content-Type": STRATEGIC}
APPLIED = {"Content-Type": APPLY}

# fmt: off
TABLE = (
    Rejected("an unknown field in a strict merge patch", "PATCH", f"{MAPS}/settings", {"colour": 1},
        query={"fieldValidation": "Strict"}, headers=MERGED, code=422, reason="Invalid",
        causes=[("patch", "FieldValueInvalid")], says=' "" is invalid: patch: Invalid value:'),
    Rejected("an unknown field in a strict JSON patch", "PATCH", f"{MAPS}/settings",
        [{"op": "add", "path": "/colour", "value": 1}], query={"fieldValidation": "Strict"},
        headers=STEPS, code=422, reason="Invalid", causes=[("patch", "FieldValueInvalid")],
        says=' "" is invalid: patch: Invalid value:'),
    Rejected("an unknown field in a strict strategic patch", "PATCH", f"{DEPLOYMENTS}/web",
        {"spec": {"colour": 1}}, query={"fieldValidation": "Strict"}, headers=STRATEGIC_PATCH,
        code=422, reason="Invalid", causes=[("patch", "FieldValueInvalid")],
        says=' "" is invalid: patch: Invalid value:'),
    Rejected("an unknown field in a strict patch of a custom kind", "PATCH", f"{WIDGETS}/small",
        {"spec": {"colour": 1}}, query={"fieldValidation": "Strict"}, headers=MERGED, code=422,
        reason="Invalid", causes=[("patch", "FieldValueInvalid")],
        says=' "" is invalid: patch: Invalid value:'),
    Rejected("an unknown field in an apply", "PATCH", f"{MAPS}/new", {**BODY, "colour": 1},
        query={"fieldManager": "me"}, headers=APPLIED, code=500,
        says="failed to create typed patch object (/new; /v1, Kind=ConfigMap): .colour: field not "
             "declared in schema"),
    Rejected("a patch without a content type of a patch", "PATCH", f"{MAPS}/settings", {},
        code=415, reason="UnsupportedMediaType"),
    Rejected("a patch of an unknown type", "PATCH", f"{MAPS}/settings", {},
        headers={"Content-Type": "application/other-patch"}, code=415,
        reason="UnsupportedMediaType"),
    Rejected("a strategic patch of a custom kind", "PATCH", f"{WIDGETS}/small", {},
        headers=STRATEGIC_PATCH, code=415, reason="UnsupportedMediaType",
        says="the body of the request was in an unknown format - accepted media types include: "
             "application/json-patch+json, application/merge-patch+json,"),
    Rejected("a JSON patch that is an object", "PATCH", f"{MAPS}/settings", {}, headers=STEPS,
        code=400, reason="BadRequest",
        says="error decoding patch: json: cannot unmarshal object into Go value of type "
             "[]handlers.jsonPatchOp"),
    Rejected("a JSON patch that is not JSON", "PATCH", f"{MAPS}/settings", b"[nope", headers=STEPS,
        code=400, reason="BadRequest", says="invalid JSON patch"),
    Rejected("a JSON patch with an unknown operation", "PATCH", f"{MAPS}/settings",
        [{"op": "turn", "path": "/data"}], headers=STEPS, code=422, reason="Invalid",
        says="the server rejected our request due to an error in our request"),
    Rejected("a JSON patch without a path", "PATCH", f"{MAPS}/settings",
        [{"op": "add", "value": 1}], headers=STEPS, code=422, reason="Invalid",
        says="the server rejected our request due to an error in our request"),
    Rejected("a JSON patch whose test fails", "PATCH", f"{MAPS}/settings",
        [{"op": "test", "path": "/data/color", "value": "red"}], headers=STEPS, code=422,
        reason="Invalid", says="the server rejected our request due to an error in our request"),
    Rejected("a JSON patch that removes a missing value", "PATCH", f"{MAPS}/settings",
        [{"op": "remove", "path": "/data/nope"}], headers=STEPS, code=422, reason="Invalid",
        says="the server rejected our request due to an error in our request"),
    Rejected("a JSON patch that adds below a missing value", "PATCH", f"{MAPS}/settings",
        [{"op": "add", "path": "/nope/deep", "value": "x"}], headers=STEPS, code=422,
        reason="Invalid", says="the server rejected our request due to an error in our request"),
    Rejected("a JSON patch that makes a wrong type", "PATCH", f"{MAPS}/settings",
        [{"op": "add", "path": "/data", "value": 7}], headers=STEPS, code=422, reason="Invalid",
        causes=[("patch", "FieldValueInvalid")], says=' "" is invalid: patch: Invalid value:'),
    Rejected("a JSON patch that changes the name", "PATCH", f"{MAPS}/settings",
        [{"op": "replace", "path": "/metadata/name", "value": "other"}], headers=STEPS, code=400,
        reason="BadRequest",
        says="the name of the object (other) does not match the name on the URL (settings)"),
    Rejected("a JSON patch with too many operations", "PATCH", f"{MAPS}/settings",
        [{"op": "test", "path": "/data/color", "value": "blue"}] * 10001, headers=STEPS, code=413,
        reason="RequestEntityTooLarge",
        says="Request entity too large: The allowed maximum operations in a JSON patch is 10000, "
             "got 10001"),
    Rejected("a merge patch that is an array", "PATCH", f"{MAPS}/settings", [], headers=MERGED,
        code=400, reason="BadRequest",
        says="error decoding patch: json: cannot unmarshal array into Go value of type "
             "map[string]interface {}"),
    Rejected("a merge patch that is not JSON", "PATCH", f"{MAPS}/settings", b"{nope",
        headers=MERGED, code=400, reason="BadRequest", says="invalid JSON patch"),
    Rejected("a merge patch that changes the name", "PATCH", f"{MAPS}/settings",
        {"metadata": {"name": "other"}}, headers=MERGED, code=400, reason="BadRequest",
        says="the name of the object (other) does not match the name on the URL (settings)"),
    Rejected("a merge patch that changes the namespace", "PATCH", f"{MAPS}/settings",
        {"metadata": {"namespace": "other"}}, headers=MERGED, code=400, reason="BadRequest",
        says="the namespace of the provided object does not match the namespace sent on the "
             "request"),
    Rejected("a merge patch with an old version", "PATCH", f"{MAPS}/settings",
        {"metadata": {"resourceVersion": "1"}}, headers=MERGED, code=409, reason="Conflict",
        about={"name": "settings", "kind": "configmaps"},
        says='Operation cannot be fulfilled on configmaps "settings": the object has been '
             'modified; please apply your changes to the latest version and try again'),
    Rejected("a merge patch with another uid", "PATCH", f"{MAPS}/settings",
        {"metadata": {"uid": "other"}}, headers=MERGED, code=422, reason="Invalid",
        about={"name": "settings", "kind": "ConfigMap"},
        causes=[("metadata.uid", "FieldValueInvalid")],
        says='ConfigMap "settings" is invalid: metadata.uid: Invalid value: "other": field is '
             'immutable'),
    Rejected("a merge patch that makes a wrong type", "PATCH", f"{MAPS}/settings", {"data": []},
        headers=MERGED, code=422, reason="Invalid", causes=[("patch", "FieldValueInvalid")],
        says=' "" is invalid: patch: Invalid value:'),
    Rejected("a merge patch that is refused by validation", "PATCH", f"{DEPLOYMENTS}/web",
        {"spec": {"replicas": -1}}, headers=MERGED, code=422, reason="Invalid",
        about={"name": "web", "group": "apps", "kind": "Deployment"},
        causes=[("spec.replicas", "FieldValueInvalid")],
        says='Deployment.apps "web" is invalid: spec.replicas: Invalid value: -1: must be greater '
             'than or equal to 0'),
    Rejected("a merge patch that changes the kind", "PATCH", f"{MAPS}/settings", {"kind": "Secret"},
        headers=MERGED, code=422, reason="Invalid", causes=[("patch", "FieldValueInvalid")],
        says=' "" is invalid: patch: Invalid value:'),
    Rejected("a strategic patch with an unknown directive", "PATCH", f"{DEPLOYMENTS}/web",
        {"spec": {"$patch": "turn"}}, headers=STRATEGIC_PATCH, code=500),
    Rejected("a strategic patch of a list element without its key", "PATCH", f"{DEPLOYMENTS}/web",
        {"spec": {"template": {"spec": {"containers": [{"image": "a"}]}}}},
        headers=STRATEGIC_PATCH, code=500),
    Rejected("a strategic patch whose order does not fit its list", "PATCH", f"{DEPLOYMENTS}/web",
        {"spec": {"template": {"spec": {"$setElementOrder/containers": [{"name": "b"},
            {"name": "a"}], "containers": [{"name": "a"}, {"name": "b"}]}}}},
        headers=STRATEGIC_PATCH, code=500),
    Rejected("a strategic patch that is an array", "PATCH", f"{DEPLOYMENTS}/web", [],
        headers=STRATEGIC_PATCH, code=400, reason="BadRequest"),
    Rejected("a strategic patch with a type that does not fit", "PATCH", f"{DEPLOYMENTS}/web",
        {"spec": {"template": {"spec": {"containers": {"name": "a"}}}}}, headers=STRATEGIC_PATCH,
        code=422, reason="Invalid", causes=[("patch", "FieldValueInvalid")],
        says=' "" is invalid: patch: Invalid value:'),
    Rejected("an apply without a manager", "PATCH", f"{MAPS}/new", BODY, headers=APPLIED, code=422,
        reason="Invalid", about={"group": "meta.k8s.io", "kind": "PatchOptions"},
        causes=[("fieldManager", "FieldValueRequired")],
        says='PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required '
             'for apply patch'),
    Rejected("an apply without a kind", "PATCH", f"{MAPS}/new",
        {"apiVersion": "v1", "metadata": {"name": "new"}}, query={"fieldManager": "me"},
        headers=APPLIED, code=400, reason="BadRequest", says="invalid object type: /v1, Kind="),
    Rejected("an apply without a version", "PATCH", f"{MAPS}/new",
        {"kind": "ConfigMap", "metadata": {"name": "new"}}, query={"fieldManager": "me"},
        headers=APPLIED, code=400, reason="BadRequest",
        says="invalid object type: /, Kind=ConfigMap"),
    Rejected("an apply of managed fields", "PATCH", f"{MAPS}/new",
        {**BODY, "metadata": {"name": "new", "managedFields": [{"manager": "x",
            "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {}}]}},
        query={"fieldManager": "me"}, headers=APPLIED, code=400, reason="BadRequest",
        says="metadata.managedFields must be nil"),
    Rejected("an apply under another name", "PATCH", f"{MAPS}/new",
        {**BODY, "metadata": {"name": "other"}}, query={"fieldManager": "me"}, headers=APPLIED,
        code=400, reason="BadRequest",
        says="the name of the object (other) does not match the name on the URL (new)"),
    Rejected("an apply of another kind", "PATCH", f"{MAPS}/new",
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "new"}},
        query={"fieldManager": "me"}, headers=APPLIED, code=400, reason="BadRequest",
        says="invalid object type: /v1, Kind=Secret"),
    Rejected("an apply of another version", "PATCH", f"{DEPLOYMENTS}/new",
        {"apiVersion": "apps/v7", "kind": "Deployment", "metadata": {"name": "new"}},
        query={"fieldManager": "me"}, headers=APPLIED, code=400, reason="BadRequest",
        says="invalid object type: apps/v7, Kind=Deployment"),
    Rejected("an apply that is not YAML", "PATCH", f"{MAPS}/new", b"a: [",
        query={"fieldManager": "me"}, headers=APPLIED, code=400, reason="BadRequest"),
    Rejected("an apply of a list that repeats a key", "PATCH", f"{DEPLOYMENTS}/new",
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "new"},
            "spec": {"template": {"spec": {"containers": [{"name": "a"}, {"name": "a"}]}}}},
        query={"fieldManager": "me"}, headers=APPLIED, code=500,
        says="failed to create typed patch object"),
    Rejected("an apply of a list element without its key", "PATCH", f"{DEPLOYMENTS}/new",
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "new"},
            "spec": {"template": {"spec": {"containers": [{"image": "a"}]}}}},
        query={"fieldManager": "me"}, headers=APPLIED, code=422, reason="Invalid",
        about={"name": "new", "group": "apps", "kind": "Deployment"},
        causes=[("spec.selector", "FieldValueRequired"), ("spec.template.metadata.labels",
            "FieldValueInvalid"), ("spec.template.spec.containers[0].name", "FieldValueRequired")],
        says='Deployment.apps "new" is invalid: [spec.selector: Required value, '
             'spec.template.metadata.labels: Invalid value: null: `selector` does not match'),
    Rejected("a patch that is forced and no apply", "PATCH", f"{MAPS}/settings", {},
        query={"force": "true"}, headers=MERGED, code=422, reason="Invalid",
        about={"group": "meta.k8s.io", "kind": "PatchOptions"},
        causes=[("force", "FieldValueForbidden")],
        says='PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for '
             'non-apply patch'),
    Rejected("an apply of a wrong type", "PATCH", f"{MAPS}/new", {**BODY, "data": []},
        query={"fieldManager": "me"}, headers=APPLIED, code=500,
        says="failed to create typed patch object (/new; /v1, Kind=ConfigMap):"),
    Rejected("an apply with an unknown uid", "PATCH", f"{MAPS}/new",
        {**BODY, "metadata": {"name": "new", "uid": "x"}}, query={"fieldManager": "me"},
        headers=APPLIED, code=409, reason="Conflict", about={"name": "new", "kind": "configmaps"},
        says='Operation cannot be fulfilled on configmaps "new": uid mismatch: the provided object '
             'specified uid x, and no existing object was found'),
)
# fmt: on


@rows(*TABLE)
async def test_a_patch_is_rejected(populated: RawClient, row: Rejected) -> None:
    await check(populated, row)
