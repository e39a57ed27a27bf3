"""Requests that are rejected for their query or their options."""

from __future__ import annotations

from tests.conformance.raw_client import MERGE, RawClient
from tests.conformance.rejections import Rejected, check, rows

MAPS = "/api/v1/namespaces/{ns}/configmaps"
PODS = "/api/v1/namespaces/{ns}/pods"
DEPLOYMENTS = "/apis/apps/v1/namespaces/{ns}/deployments"
WIDGETS = "/apis/conformance.example.com/v1/namespaces/{ns}/widgets"
BODY = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "new"}}
MERGED = {"Content-Type": MERGE}

# fmt: off
TABLE = (
    Rejected("an unknown dry run", "POST", MAPS, BODY, query={"dryRun": "Some"}, code=422,
        reason="Invalid", about={"group": "meta.k8s.io", "kind": "CreateOptions"},
        causes=[("dryRun", "FieldValueNotSupported")],
        says='CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: '
             'supported values: "All"'),
    Rejected("a dry run given twice", "POST", MAPS, BODY, query={"dryRun": ["All", "Some"]},
        code=422, reason="Invalid", about={"group": "meta.k8s.io", "kind": "CreateOptions"},
        causes=[("dryRun", "FieldValueNotSupported")],
        says='CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["All","Some"]: '
             'supported values: "All"'),
    Rejected("an unknown field validation", "POST", MAPS, BODY,
        query={"fieldValidation": "Loose"}, code=422, reason="Invalid",
        about={"group": "meta.k8s.io", "kind": "CreateOptions"},
        causes=[("fieldValidation", "FieldValueNotSupported")],
        says='CreateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: '
             '"Loose": supported values: "", "Ignore", "Strict", "Warn"'),
    Rejected("an unknown field validation in an update", "PUT", f"{MAPS}/settings", BODY,
        query={"fieldValidation": "Loose"}, code=422, reason="Invalid",
        about={"group": "meta.k8s.io", "kind": "UpdateOptions"},
        causes=[("fieldValidation", "FieldValueNotSupported")],
        says='UpdateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: '
             '"Loose": supported values: "", "Ignore", "Strict", "Warn"'),
    Rejected("an unknown field validation in a patch", "PATCH", f"{MAPS}/settings", {},
        query={"fieldValidation": "Loose"}, headers=MERGED, code=422, reason="Invalid",
        about={"group": "meta.k8s.io", "kind": "PatchOptions"},
        causes=[("fieldValidation", "FieldValueNotSupported")],
        says='PatchOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "Loose": '
             'supported values: "", "Ignore", "Strict", "Warn"'),
    Rejected("a field manager that is too long", "POST", MAPS, BODY,
        query={"fieldManager": "x" * 129}, code=422, reason="Invalid",
        about={"group": "meta.k8s.io", "kind": "CreateOptions"},
        causes=[("fieldManager", "FieldValueTooLong")],
        says='CreateOptions.meta.k8s.io "" is invalid: fieldManager: Too long: may not be more '
             'than 128 bytes'),
    Rejected("a field manager with a tab in it", "POST", MAPS, BODY, query={"fieldManager": "a\tb"},
        code=422, reason="Invalid", about={"group": "meta.k8s.io", "kind": "CreateOptions"},
        causes=[("fieldManager", "FieldValueInvalid")],
        says='CreateOptions.meta.k8s.io "" is invalid: fieldManager: Invalid value: "a\\tb": '
             'invalid character U+0009 (at position 1)'),
    Rejected("an unknown field in strict validation", "POST", MAPS, {**BODY, "colour": 1},
        query={"fieldValidation": "Strict"}, code=400, reason="BadRequest",
        says='ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: '
             'unknown field "colour"'),
    Rejected("a duplicate field in strict validation", "POST", MAPS,
        b'{"metadata":{"name":"a","name":"b"}}', query={"fieldValidation": "Strict"}, code=400,
        reason="BadRequest",
        says='ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: '
             'duplicate field "metadata.name"'),
    Rejected("unknown and duplicate fields in strict validation", "POST", MAPS,
        b'{"metadata":{"name":"a","name":"b","x":1},"y":2}', query={"fieldValidation": "Strict"},
        code=400, reason="BadRequest",
        says='ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: '
             'duplicate field "metadata.name", unknown field "metadata.x",'),
    Rejected("an unknown field of a custom kind in strict validation", "POST", WIDGETS,
        {"apiVersion": "conformance.example.com/v1", "kind": "Widget", "metadata": {"name": "a"},
            "spec": {"size": 1, "colour": 1}},
        query={"fieldValidation": "Strict"}, code=400, reason="BadRequest",
        says='Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown '
             'field "spec.colour"'),
    Rejected("an unknown field of metadata of a custom kind in strict validation", "POST", WIDGETS,
        {"apiVersion": "conformance.example.com/v1", "kind": "Widget", "metadata": {"name": "a",
            "x": 1}, "spec": {"size": 1}},
        query={"fieldValidation": "Strict"}, code=400, reason="BadRequest",
        says='Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown '
             'field "metadata.x"'),
    Rejected("a duplicate field of a custom kind in strict validation", "POST", WIDGETS,
        b'{"apiVersion":"conformance.example.com/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"size":1,"size":2}}',
        query={"fieldValidation": "Strict"}, code=400, reason="BadRequest",
        says='Widget in version "v1" cannot be handled as a Widget: strict decoding error: '
             'duplicate field "spec.size"'),
    Rejected("a limit that is no number", "GET", MAPS, query={"limit": "many"}, code=400,
        reason="BadRequest", says='strconv.ParseInt: parsing "many": invalid syntax'),
    Rejected("a timeout that is no number", "GET", MAPS, query={"timeoutSeconds": "soon"}, code=400,
        reason="BadRequest", says='strconv.ParseInt: parsing "soon": invalid syntax'),
    Rejected("a version that is no number in a list", "GET", MAPS, query={"resourceVersion": "abc"},
        code=400, reason="BadRequest",
        says='invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: '
             'parsing "abc": invalid syntax'),
    Rejected("a version that is no number in a get", "GET", f"{MAPS}/settings",
        query={"resourceVersion": "abc"}, code=500,
        says='resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid '
             'syntax'),
    Rejected("a version that is no number in a watch", "GET", MAPS,
        query={"resourceVersion": "abc", "watch": "1"}, code=500,
        says='resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid '
             'syntax'),
    Rejected("a negative version in a list", "GET", MAPS, query={"resourceVersion": "-1"}, code=400,
        reason="BadRequest",
        says='invalid resource version: resourceVersion: Invalid value: "-1": strconv.ParseUint: '
             'parsing "-1": invalid syntax'),
    Rejected("a match without a version", "GET", MAPS, query={"resourceVersionMatch": "Exact"},
        code=422, reason="Invalid", about={"group": "meta.k8s.io", "kind": "ListOptions"},
        causes=[("resourceVersionMatch", "FieldValueForbidden")],
        says='ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: '
             'resourceVersionMatch is forbidden unless resourceVersion is provided'),
    Rejected("an unknown match", "GET", MAPS,
        query={"resourceVersionMatch": "Roughly", "resourceVersion": "1"}, code=422,
        reason="Invalid", about={"group": "meta.k8s.io", "kind": "ListOptions"},
        causes=[("resourceVersionMatch", "FieldValueNotSupported")],
        says='ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Unsupported value: '
             '"Roughly": supported values: "Exact", "NotOlderThan", ""'),
    Rejected("an unknown match without a version", "GET", MAPS,
        query={"resourceVersionMatch": "Roughly"}, code=422, reason="Invalid",
        about={"group": "meta.k8s.io", "kind": "ListOptions"},
        causes=[("resourceVersionMatch", "FieldValueForbidden"), ("resourceVersionMatch",
            "FieldValueNotSupported")],
        says='ListOptions.meta.k8s.io "" is invalid: [resourceVersionMatch: Forbidden: '
             'resourceVersionMatch is forbidden unless resourceVersion is provided,'),
    Rejected("an exact match of zero", "GET", MAPS,
        query={"resourceVersionMatch": "Exact", "resourceVersion": "0"}, code=422,
        reason="Invalid", about={"group": "meta.k8s.io", "kind": "ListOptions"},
        causes=[("resourceVersionMatch", "FieldValueForbidden")],
        says='ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: '
             'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'),
    Rejected("a match with a continue token", "GET", MAPS,
        query={"resourceVersionMatch": "Exact", "resourceVersion": "1", "continue": "x"}, code=422,
        reason="Invalid", about={"group": "meta.k8s.io", "kind": "ListOptions"},
        causes=[("resourceVersionMatch", "FieldValueForbidden")],
        says='ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: '
             'resourceVersionMatch is forbidden when continue is provided'),
    Rejected("a continue token that is none", "GET", MAPS, query={"continue": "rubbish"}, code=400,
        reason="BadRequest", says="invalid continue token: continue key is not valid:"),
    Rejected("a continue token of an empty object", "GET", MAPS, query={"continue": "e30"},
        code=400, reason="BadRequest", says="invalid continue token: continue key is not valid:"),
    Rejected("a continue token together with a version", "GET", MAPS,
        query={"continue": "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MjMyLCJzdGFydCI6Ii9jMlx1MDAwMCJ9",
            "resourceVersion": "5"},
        code=400, reason="BadRequest",
        says="specifying resource version is not allowed when using continue"),
    Rejected("initial events requested in a list", "GET", MAPS, query={"sendInitialEvents": "true"},
        code=422, reason="Invalid", about={"group": "meta.k8s.io", "kind": "ListOptions"},
        causes=[("sendInitialEvents", "FieldValueForbidden")],
        says='ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: '
             'sendInitialEvents is forbidden for list'),
    Rejected("initial events without a match", "GET", MAPS,
        query={"sendInitialEvents": "true", "watch": "1"}, code=422, reason="Invalid",
        about={"group": "meta.k8s.io", "kind": "ListOptions"},
        causes=[("resourceVersionMatch", "FieldValueForbidden")],
        says='ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: '
             'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'),
    Rejected("initial events with an exact match", "GET", MAPS,
        query={"sendInitialEvents": "true", "watch": "1", "resourceVersionMatch": "Exact",
            "resourceVersion": "1"},
        code=422, reason="Invalid", about={"group": "meta.k8s.io", "kind": "ListOptions"},
        causes=[("resourceVersionMatch", "FieldValueForbidden"), ("resourceVersionMatch",
            "FieldValueNotSupported")],
        says='ListOptions.meta.k8s.io "" is invalid: [resourceVersionMatch: Forbidden: '
             'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan,'),
    Rejected("a match in a watch without initial events", "GET", MAPS,
        query={"watch": "1", "resourceVersionMatch": "NotOlderThan", "resourceVersion": "1"},
        code=422, reason="Invalid", about={"group": "meta.k8s.io", "kind": "ListOptions"},
        causes=[("resourceVersionMatch", "FieldValueForbidden")],
        says='ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: '
             'resourceVersionMatch is forbidden for watch unless sendInitialEvents is'),
    Rejected("a label selector that cannot be read", "GET", MAPS, query={"labelSelector": "a=b=c"},
        code=400, reason="BadRequest"),
    Rejected("a label selector with an invalid value", "GET", MAPS, query={"labelSelector": "a=-"},
        code=400, reason="BadRequest", says="unable to parse requirement:"),
    Rejected("a label selector with an invalid key", "GET", MAPS, query={"labelSelector": "-=a"},
        code=400, reason="BadRequest", says="unable to parse requirement:"),
    Rejected("a label selector with an open set", "GET", MAPS, query={"labelSelector": "a in (b"},
        code=400, reason="BadRequest", says="unable to parse requirement:"),
    Rejected("a field selector without an operator", "GET", MAPS,
        query={"fieldSelector": "metadata.name"}, code=400, reason="BadRequest"),
    Rejected("a field selector of an unknown field", "GET", MAPS,
        query={"fieldSelector": "data.color=blue"}, code=400, reason="BadRequest",
        says='"data.color" is not a known field selector: only "metadata.name", '
             '"metadata.namespace"'),
    Rejected("a field selector of an unknown field of pods", "GET", PODS,
        query={"fieldSelector": "spec.color=blue"}, code=400, reason="BadRequest",
        says="field label not supported: spec.color"),
    Rejected("a field selector of an unknown field of a custom kind", "GET", WIDGETS,
        query={"fieldSelector": "spec.size=1"}, code=400, reason="BadRequest",
        says="field label not supported: spec.size"),
    Rejected("a field selector of an unknown field in a watch", "GET", MAPS,
        query={"fieldSelector": "data.color=blue", "watch": "1"}, code=400, reason="BadRequest",
        says='"data.color" is not a known field selector: only "metadata.name", '
             '"metadata.namespace"'),
    Rejected("a field selector of an unknown field in a delete of all", "DELETE", MAPS,
        query={"fieldSelector": "data.color=blue"}, code=400, reason="BadRequest",
        says='"data.color" is not a known field selector: only "metadata.name", '
             '"metadata.namespace"'),
    Rejected("a grace period that is no number", "DELETE", f"{MAPS}/settings",
        query={"gracePeriodSeconds": "long"}, code=400, reason="BadRequest",
        says='strconv.ParseInt: parsing "long": invalid syntax'),
    Rejected("an unknown propagation policy", "DELETE", f"{MAPS}/settings",
        query={"propagationPolicy": "Sideways"}, code=422, reason="Invalid",
        about={"group": "meta.k8s.io", "kind": "DeleteOptions"},
        causes=[("propagationPolicy", "FieldValueNotSupported")],
        says='DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: '
             '"Sideways": supported values: "Foreground", "Background", "Orphan",'),
    Rejected("a propagation policy beside the old way to say it", "DELETE", f"{MAPS}/settings",
        {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Orphan",
            "orphanDependents": True},
        code=422, reason="Invalid", about={"group": "meta.k8s.io", "kind": "DeleteOptions"},
        causes=[("propagationPolicy", "FieldValueInvalid")],
        says='DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Invalid value: "Orphan": '
             'orphanDependents and deletionPropagation cannot be both set'),
    Rejected("an unknown dry run in a delete", "DELETE", f"{MAPS}/settings",
        {"kind": "DeleteOptions", "apiVersion": "v1", "dryRun": ["Some"]}, code=422,
        reason="Invalid", about={"group": "meta.k8s.io", "kind": "DeleteOptions"},
        causes=[("dryRun", "FieldValueNotSupported")],
        says='DeleteOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: '
             'supported values: "All"'),
    Rejected("a delete with another uid", "DELETE", f"{MAPS}/settings",
        {"kind": "DeleteOptions", "apiVersion": "v1",
            "preconditions": {"uid": "11111111-1111-1111-1111-111111111111"}},
        code=409, reason="Conflict", about={"name": "settings", "kind": "ConfigMap"},
        says='Operation cannot be fulfilled on ConfigMap "settings": the UID in the precondition '
             '(11111111-1111-1111-1111-111111111111) does not match the UID in'),
    Rejected("a delete with another version", "DELETE", f"{MAPS}/settings",
        {"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": {"resourceVersion": "1"}},
        code=409, reason="Conflict", about={"name": "settings", "kind": "ConfigMap"},
        says='Operation cannot be fulfilled on ConfigMap "settings": the ResourceVersion in the '
             'precondition (1) does not match the ResourceVersion in record'),
    Rejected("a delete with a body that is not JSON", "DELETE", f"{MAPS}/settings", b"{nope",
        code=400, reason="BadRequest"),
    Rejected("a delete with a body of another kind", "DELETE", f"{MAPS}/settings",
        {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a"}}, code=400,
        reason="BadRequest"),
    Rejected("a delete with a grace period that is a text", "DELETE", f"{MAPS}/settings",
        {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": "long"}, code=400,
        reason="BadRequest", says="json: cannot"),
)
# fmt: on


@rows(*TABLE)
async def test_an_option_is_rejected(populated: RawClient, row: Rejected) -> None:
    await check(populated, row)
