"""Requests for custom kinds and for subresources that are rejected."""

from __future__ import annotations

from tests.conformance.raw_client import APPLY, JSON_PATCH, MERGE, RawClient
from tests.conformance.rejections import Rejected, check, rows

MAPS = "/api/v1/namespaces/{ns}/configmaps"
PODS = "/api/v1/namespaces/{ns}/pods"
DEPLOYMENTS = "/apis/apps/v1/namespaces/{ns}/deployments"
WIDGETS = "/apis/conformance.example.com/v1/namespaces/{ns}/widgets"
BODY = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "new"}}
MERGED = {"Content-Type": MERGE}
STEPS = {"Content-Type": JSON_PATCH}
APPLIED = {"Content-Type": APPLY}
OWN = {"apiVersion": "conformance.example.com/v1", "kind": "Widget"}

# fmt: off
TABLE = (
    Rejected("a put to a custom collection", "PUT", WIDGETS, {}, code=400, reason="BadRequest",
        says="name must be provided"),
    Rejected("a patch of a custom collection", "PATCH", WIDGETS, {}, headers=MERGED, code=400,
        reason="BadRequest", says="name must be provided"),
    Rejected("a post to the status of a custom object", "POST", f"{WIDGETS}/small/status", {}, code=405,
        reason="MethodNotAllowed", about={"group": "conformance.example.com", "kind": "widgets"},
        says='create is not supported on resources of kind "widgets.conformance.example.com"'),
    Rejected("a delete of the status of a custom object", "DELETE", f"{WIDGETS}/small/status", code=405,
        reason="MethodNotAllowed", about={"group": "conformance.example.com", "kind": "widgets"},
        says='delete is not supported on resources of kind "widgets.conformance.example.com"'),
    Rejected("a part of a custom kind that is not there", "GET", f"{WIDGETS}/small/nope", code=404,
        reason="NotFound",
        about={"name": "small", "group": "conformance.example.com", "kind": "widgets"},
        says='widgets.conformance.example.com "small" not found'),
    Rejected("a create of a custom object without a namespace", "POST",
        "/apis/conformance.example.com/v1/widgets", {}, code=404),
    Rejected("a custom object requested without a namespace", "GET",
        "/apis/conformance.example.com/v1/widgets/small", code=404),
    Rejected("null for a custom object", "POST", WIDGETS, b"null", code=400,
        reason="BadRequest",
        says="the object provided is unrecognized (must be of type Widget): Object 'Kind' is "
             "missing in 'null' (6e756c6c)"),
    Rejected("an update of a definition without a version", "PUT",
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.conformance.example.com",
        {"metadata": {"name": "widgets.conformance.example.com"}, "spec": {}}, code=422,
        reason="Invalid",
        about={"name": "widgets.conformance.example.com", "group": "apiextensions.k8s.io",
            "kind": "customresourcedefinitions"},
        causes=[("metadata.resourceVersion", "FieldValueInvalid")],
        says='customresourcedefinitions.apiextensions.k8s.io "widgets.conformance.example.com" is '
             'invalid: metadata.resourceVersion: Invalid value: 0: must be'),
    Rejected("an apply without a name", "PATCH", f"{MAPS}/new",
        {"apiVersion": "v1", "kind": "ConfigMap"}, query={"fieldManager": "me"}, headers=APPLIED,
        code=400, reason="BadRequest",
        says="the name of the object (new based on URL) was undeterminable: name must be provided"),
    Rejected("an unknown field in an apply of a custom object", "PATCH", f"{WIDGETS}/new",
        {**OWN, "metadata": {"name": "new"}, "spec": {"size": 1, "colour": 1}},
        query={"fieldManager": "me"}, headers=APPLIED, code=500,
        says="failed to create typed patch object (/new; conformance.example.com/v1, Kind=Widget): "
             ".spec.colour: field not declared in schema"),
    Rejected("an unknown field deep in an apply", "PATCH",
        "/apis/apps/v1/namespaces/{ns}/deployments/new",
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "new"},
            "spec": {"template": {"spec": {"containers": [{"name": "a", "imagee": "x"}]}}}},
        query={"fieldManager": "me"}, headers=APPLIED, code=500,
        says='failed to create typed patch object (/new; apps/v1, Kind=Deployment): '
             '.spec.template.spec.containers[name="a"].imagee: field not declared in schema'),
    Rejected("a wrong type in an apply of a list", "PATCH",
        "/apis/apps/v1/namespaces/{ns}/deployments/new",
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "new"},
            "spec": {"template": {"spec": {"containers": "x"}}}},
        query={"fieldManager": "me"}, headers=APPLIED, code=500,
        says="failed to create typed patch object (/new; apps/v1, Kind=Deployment):"),
    Rejected("a wrong number in an apply", "PATCH", "/apis/apps/v1/namespaces/{ns}/deployments/new",
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "new"},
            "spec": {"replicas": "x"}},
        query={"fieldManager": "me"}, headers=APPLIED, code=500,
        says="failed to create typed patch object (/new; apps/v1, Kind=Deployment):"),
    Rejected("an apply of another kind to a custom object", "PATCH", f"{WIDGETS}/new",
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "new"}},
        query={"fieldManager": "me"}, headers=APPLIED, code=400, reason="BadRequest",
        says="invalid object type: /v1, Kind=ConfigMap"),
    Rejected("a JSON patch that moves a missing value", "PATCH", f"{MAPS}/settings",
        [{"op": "move", "from": "/data/nope", "path": "/data/x"}], headers=STEPS, code=422,
        reason="Invalid", says="the server rejected our request due to an error in our request"),
    Rejected("a JSON patch that tests a missing value", "PATCH", f"{MAPS}/settings",
        [{"op": "test", "path": "/data/nope", "value": "x"}], headers=STEPS, code=422,
        reason="Invalid", says="the server rejected our request due to an error in our request"),
    Rejected("a JSON patch that replaces below a missing value", "PATCH", f"{MAPS}/settings",
        [{"op": "replace", "path": "/nope/x", "value": "x"}], headers=STEPS, code=422,
        reason="Invalid", says="the server rejected our request due to an error in our request"),
    Rejected("a JSON patch whose index is too large", "PATCH",
        "/apis/apps/v1/namespaces/{ns}/deployments/web",
        [{"op": "add", "path": "/spec/template/spec/containers/7", "value": {}}], headers=STEPS,
        code=422, reason="Invalid",
        says="the server rejected our request due to an error in our request"),
    Rejected("a JSON patch that replaces a missing element", "PATCH",
        "/apis/apps/v1/namespaces/{ns}/deployments/web",
        [{"op": "replace", "path": "/spec/template/spec/containers/7", "value": {}}],
        headers=STEPS, code=422, reason="Invalid",
        says="the server rejected our request due to an error in our request"),
    Rejected("a merge patch that is a number", "PATCH", f"{MAPS}/settings", 7, headers=MERGED,
        code=400, reason="BadRequest",
        says="error decoding patch: json: cannot unmarshal number into Go value of type "
             "map[string]interface {}"),
    Rejected("an empty merge patch body", "PATCH", f"{MAPS}/settings", b"", headers=MERGED,
        code=400, reason="BadRequest", says="invalid JSON patch"),
    Rejected("a wrong type in a merge patch of a custom object", "PATCH", f"{WIDGETS}/small",
        {"spec": {"size": "x"}}, headers=MERGED, code=422, reason="Invalid",
        about={"name": "small", "group": "conformance.example.com", "kind": "Widget"},
        causes=[(".spec.size", "FieldValueInvalid"), ("spec.size", "FieldValueTypeInvalid")],
        says='Widget.conformance.example.com "small" is invalid: [spec.size: Invalid value: '
             '"string": spec.size in body must be of type integer: "string",'),
    Rejected("a merge patch that changes the kind of a custom object", "PATCH", f"{WIDGETS}/small",
        {"kind": "Gadget"}, headers=MERGED, code=422, reason="Invalid",
        about={"name": "small", "group": "conformance.example.com", "kind": "Gadget"},
        causes=[("kind", "FieldValueInvalid")],
        says='Gadget.conformance.example.com "small" is invalid: kind: Invalid value: "Gadget": '
             'must be Widget'),
    Rejected("a merge patch that changes the version of a custom object", "PATCH", f"{WIDGETS}/small",
        {"apiVersion": "conformance.example.com/v9"}, headers=MERGED, code=422, reason="Invalid",
        about={"name": "small", "group": "conformance.example.com", "kind": "Widget"},
        causes=[("apiVersion", "FieldValueInvalid")],
        says='Widget.conformance.example.com "small" is invalid: apiVersion: Invalid value: '
             '"conformance.example.com/v9": must be conformance.example.com/v1'),
    Rejected("a merge patch that changes the name of a custom object", "PATCH", f"{WIDGETS}/small",
        {"metadata": {"name": "other"}}, headers=MERGED, code=400, reason="BadRequest",
        says="the name of the object (other) does not match the name on the URL (small)"),
    Rejected("a watch of a custom kind from a version that is no number", "GET", WIDGETS,
        query={"watch": "1", "resourceVersion": "abc"}, code=500,
        says='resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid '
             'syntax'),
    Rejected("a list of a custom kind at a version that is no number", "GET", WIDGETS,
        query={"resourceVersion": "abc"}, code=400, reason="BadRequest",
        says='invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: '
             'parsing "abc": invalid syntax'),
    Rejected("a duplicate in a strict merge patch", "PATCH", f"{MAPS}/settings",
        b'{"data":{"x":"1","x":"2"}}', query={"fieldValidation": "Strict"}, headers=MERGED,
        code=422, reason="Invalid", causes=[("patch", "FieldValueInvalid")],
        says=' "" is invalid: patch: Invalid value:'),
    Rejected("a document of another version of core", "GET", "/api/v7/pods", code=404,
        reason="NotFound", says="the server could not find the requested resource"),
    Rejected("a delete of the version", "DELETE", "/version", code=405, reason="MethodNotAllowed",
        says="the server does not allow this method on the requested resource"),
    Rejected("options of a resource", "OPTIONS", MAPS, code=405, reason="MethodNotAllowed",
        says="the server does not allow this method on the requested resource"),
    Rejected("an update of a pod that names no containers", "PUT",
        "/api/v1/namespaces/{ns}/pods/web", {"metadata": {"name": "web"}, "spec": {}}, code=422,
        reason="Invalid", about={"name": "web", "kind": "Pod"},
        causes=[("spec.containers", "FieldValueForbidden"), ("spec.containers",
            "FieldValueRequired")],
        says='Pod "web" is invalid: [spec.containers: Required value, spec.containers: Forbidden: '
             'pod updates may not add or remove containers]'),
    Rejected("a scale of another kind", "PUT",
        "/apis/apps/v1/namespaces/{ns}/deployments/web/scale",
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}}, code=400,
        reason="BadRequest",
        says='Pod in version "v1" cannot be handled as a Scale: converting (v1.Pod) to '
             '(autoscaling.Scale): unknown conversion'),
    Rejected("a scale under another name", "PUT",
        "/apis/apps/v1/namespaces/{ns}/deployments/web/scale",
        {"metadata": {"name": "other"}, "spec": {"replicas": 1}}, code=400, reason="BadRequest",
        says="the name of the object (other) does not match the name on the URL (web)"),
    Rejected("an eviction under another name", "POST", "/api/v1/namespaces/{ns}/pods/web/eviction",
        {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "other"}}, code=400,
        reason="BadRequest", says="name in URL does not match name in Eviction object"),
    Rejected("an eviction of another kind", "POST", "/api/v1/namespaces/{ns}/pods/web/eviction",
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}}, code=400,
        reason="BadRequest",
        says='Pod in version "v1" cannot be handled as a Eviction: converting (v1.Pod) to '
             '(policy.Eviction): unknown conversion'),
    Rejected("a binding without a target", "POST", "/api/v1/namespaces/{ns}/pods/web/binding",
        {"metadata": {"name": "web"}}, code=500, says="target.name: Required value"),
    Rejected("a binding to something else", "POST", "/api/v1/namespaces/{ns}/pods/web/binding",
        {"metadata": {"name": "web"}, "target": {"kind": "Moon", "name": "x"}}, code=500,
        says='target.kind: Unsupported value: "Moon": supported values: "Node", "<empty>"'),
    Rejected("a status under another name", "PUT", "/api/v1/namespaces/{ns}/pods/web/status",
        {"metadata": {"name": "other"}}, code=400, reason="BadRequest",
        says="the name of the object (other) does not match the name on the URL (web)"),
    Rejected("a status of a custom object under another name", "PUT", f"{WIDGETS}/small/status",
        {**OWN, "metadata": {"name": "other"}}, code=400, reason="BadRequest",
        says="the name of the object (other) does not match the name on the URL (small)"),
    Rejected("a status of a custom object that the schema forbids", "PATCH", f"{WIDGETS}/small/status",
        {"status": {"replicas": "x"}}, headers=MERGED, code=422, reason="Invalid",
        about={"name": "small", "group": "conformance.example.com", "kind": "Widget"},
        causes=[(".status.replicas", "FieldValueInvalid"), ("status.replicas",
            "FieldValueTypeInvalid")],
        says='Widget.conformance.example.com "small" is invalid: [status.replicas: Invalid value: '
             '"string":'),
    Rejected("a custom object with metadata of a wrong type", "POST", WIDGETS,
        {**OWN, "metadata": {"name": "a", "labels": {"x": 1}}, "spec": {"size": 1}}, code=400,
        reason="BadRequest"),
    Rejected("a custom object with an invalid label", "POST", WIDGETS,
        {**OWN, "metadata": {"name": "a", "labels": {"x": "-"}}, "spec": {"size": 1}}, code=422,
        reason="Invalid",
        about={"name": "a", "group": "conformance.example.com", "kind": "Widget"},
        causes=[("metadata.labels", "FieldValueInvalid")],
        says='Widget.conformance.example.com "a" is invalid: metadata.labels: Invalid value: "-": '
             'a'),
    Rejected("a custom object with an invalid name", "POST", WIDGETS,
        {**OWN, "metadata": {"name": "A"}, "spec": {"size": 1}}, code=422, reason="Invalid",
        about={"name": "A", "group": "conformance.example.com", "kind": "Widget"},
        causes=[("metadata.name", "FieldValueInvalid")],
        says='Widget.conformance.example.com "A" is invalid: metadata.name: Invalid value: "A": a '
             'lowercase RFC 1123 subdomain'),
    Rejected("a custom object without a name", "POST", WIDGETS,
        {**OWN, "metadata": {}, "spec": {"size": 1}}, code=422, reason="Invalid",
        about={"group": "conformance.example.com", "kind": "Widget"},
        causes=[("metadata.name", "FieldValueRequired")],
        says='Widget.conformance.example.com "" is invalid: metadata.name: Required value: name or '
             'generateName is required'),
    Rejected("a custom object without metadata", "POST", WIDGETS, {**OWN, "spec": {"size": 1}},
        code=422, reason="Invalid", about={"group": "conformance.example.com", "kind": "Widget"},
        causes=[("metadata.name", "FieldValueRequired")],
        says='Widget.conformance.example.com "" is invalid: metadata.name: Required value: name or '
             'generateName is required'),
    Rejected("a spec of a custom object that is a string", "POST", WIDGETS,
        {**OWN, "metadata": {"name": "a"}, "spec": "x"}, code=422, reason="Invalid",
        about={"name": "a", "group": "conformance.example.com", "kind": "Widget"},
        causes=[(".spec.size", "FieldValueInvalid"), ("spec", "FieldValueTypeInvalid")],
        says='Widget.conformance.example.com "a" is invalid: [spec: Invalid value: "string": spec '
             'in body must be of type object: "string", .spec.size: Invalid'),
)
# fmt: on


@rows(*TABLE)
async def test_a_request_for_a_custom_kind_is_rejected(populated: RawClient, row: Rejected) -> None:
    await check(populated, row)
