"""Requests that are rejected for their path, their method or their body.

See also: options (`test_rejected_options`), patches, and the validation of kinds.
"""

from __future__ import annotations

from tests.conformance.raw_client import RawClient
from tests.conformance.rejections import Rejected, check, rows

MAPS = "/api/v1/namespaces/{ns}/configmaps"
PODS = "/api/v1/namespaces/{ns}/pods"
DEPLOYMENTS = "/apis/apps/v1/namespaces/{ns}/deployments"
WIDGETS = "/apis/conformance.example.com/v1/namespaces/{ns}/widgets"
BODY = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "new"}}


# fmt: off
TABLE = (
    Rejected("a group that is not there", "GET", "/apis/nope.example.com/v1/things", code=404),
    Rejected("a version that is not there", "GET", "/apis/apps/v7/deployments", code=404,
        reason="NotFound", says="the server could not find the requested resource"),
    Rejected("a resource that is not there", "GET", "/api/v1/namespaces/{ns}/things", code=404,
        reason="NotFound", says="the server could not find the requested resource"),
    Rejected("a resource that is not there in a group", "GET",
        "/apis/apps/v1/namespaces/{ns}/things", code=404, reason="NotFound",
        says="the server could not find the requested resource"),
    Rejected("an object that is not there", "GET", f"{MAPS}/nope", code=404, reason="NotFound",
        about={"name": "nope", "kind": "configmaps"}, says='configmaps "nope" not found'),
    Rejected("an object of a group that is not there", "GET", f"{DEPLOYMENTS}/nope", code=404,
        reason="NotFound", about={"name": "nope", "group": "apps", "kind": "deployments"},
        says='deployments.apps "nope" not found'),
    Rejected("an object of a kind of a custom object that is not there", "GET", f"{WIDGETS}/nope", code=404,
        reason="NotFound",
        about={"name": "nope", "group": "conformance.example.com", "kind": "widgets"},
        says='widgets.conformance.example.com "nope" not found'),
    Rejected("an unknown resource of a custom group", "GET",
        "/apis/conformance.example.com/v1/namespaces/{ns}/things", code=404),
    Rejected("a part that the kind does not have", "GET", f"{MAPS}/settings/status", code=404,
        reason="NotFound", says="the server could not find the requested resource"),
    Rejected("a part of a missing object", "GET", f"{PODS}/nope/status", code=404,
        reason="NotFound", about={"name": "nope", "kind": "pods"}, says='pods "nope" not found'),
    Rejected("a cluster-scoped object requested in a namespace", "GET", "/api/v1/namespaces/{ns}/nodes",
        code=404, reason="NotFound", says="the server could not find the requested resource"),
    Rejected("a namespaced object requested without a namespace", "GET",
        "/api/v1/configmaps/settings", code=404, reason="NotFound",
        says="the server could not find the requested resource"),
    Rejected("a create without a namespace", "POST", "/api/v1/configmaps", BODY, code=405,
        reason="MethodNotAllowed",
        says="the server does not allow this method on the requested resource"),
    Rejected("a post to an object", "POST", f"{MAPS}/settings", BODY, code=405,
        reason="MethodNotAllowed",
        says="the server does not allow this method on the requested resource"),
    Rejected("a put to a collection", "PUT", MAPS, BODY, code=405, reason="MethodNotAllowed",
        says="the server does not allow this method on the requested resource"),
    Rejected("a patch of a collection", "PATCH", MAPS, {},
        headers={"Content-Type": "application/merge-patch+json"}, code=405,
        reason="MethodNotAllowed",
        says="the server does not allow this method on the requested resource"),
    Rejected("a post to the status", "POST", f"{PODS}/web/status", {}, code=405,
        reason="MethodNotAllowed",
        says="the server does not allow this method on the requested resource"),
    Rejected("a delete of the status", "DELETE", f"{PODS}/web/status", code=405,
        reason="MethodNotAllowed",
        says="the server does not allow this method on the requested resource"),
    Rejected("a get of an eviction", "GET", f"{PODS}/web/eviction", code=405,
        reason="MethodNotAllowed",
        says="the server does not allow this method on the requested resource"),
    Rejected("a list of token reviews", "GET", "/apis/authentication.k8s.io/v1/tokenreviews",
        code=405, reason="MethodNotAllowed",
        says="the server does not allow this method on the requested resource"),
    Rejected("a get of an access review", "GET",
        "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews/x", code=404, reason="NotFound",
        says="the server could not find the requested resource"),
    Rejected("a delete of all namespaces", "DELETE", "/api/v1/namespaces", code=405,
        reason="MethodNotAllowed",
        says="the server does not allow this method on the requested resource"),
    Rejected("a list of bindings", "GET", "/api/v1/namespaces/{ns}/bindings", code=405,
        reason="MethodNotAllowed",
        says="the server does not allow this method on the requested resource"),
    Rejected("an update of an object that is not there", "PUT", f"{MAPS}/nope",
        {"metadata": {"name": "nope"}}, code=404, reason="NotFound",
        about={"name": "nope", "kind": "configmaps"}, says='configmaps "nope" not found'),
    Rejected("a patch of an object that is not there", "PATCH", f"{MAPS}/nope", {},
        headers={"Content-Type": "application/merge-patch+json"}, code=404, reason="NotFound",
        about={"name": "nope", "kind": "configmaps"}, says='configmaps "nope" not found'),
    Rejected("a delete of an object that is not there", "DELETE", f"{MAPS}/nope", code=404,
        reason="NotFound", about={"name": "nope", "kind": "configmaps"},
        says='configmaps "nope" not found'),
    Rejected("a create in a namespace that is not there", "POST",
        "/api/v1/namespaces/nowhere/configmaps", BODY, code=404, reason="NotFound",
        about={"name": "nowhere", "kind": "namespaces"}, says='namespaces "nowhere" not found'),
    Rejected("a create of what is there", "POST", MAPS, {"metadata": {"name": "settings"}},
        code=409, reason="AlreadyExists", about={"name": "settings", "kind": "configmaps"},
        says='configmaps "settings" already exists'),
    Rejected("a create of a kind of a group that is there", "POST", DEPLOYMENTS,
        {"metadata": {"name": "web"}, "spec": {"selector": {"matchLabels": {"a": "b"}},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "a",
            "image": "b"}]}}}},
        code=409, reason="AlreadyExists",
        about={"name": "web", "group": "apps", "kind": "deployments"},
        says='deployments.apps "web" already exists'),
    Rejected("a create of a custom object that is there", "POST", WIDGETS,
        {"apiVersion": "conformance.example.com/v1", "kind": "Widget",
            "metadata": {"name": "small"}, "spec": {"size": 1}},
        code=409, reason="AlreadyExists",
        about={"name": "small", "group": "conformance.example.com", "kind": "widgets"},
        says='widgets.conformance.example.com "small" already exists'),
    Rejected("a create without a body", "POST", MAPS, b"", code=400, reason="BadRequest",
        says="the object provided is unrecognized (must be of type ConfigMap): couldn't get "
             "version/kind; json parse error: unexpected end of JSON input (<empty>)"),
    Rejected("a body that is not JSON", "POST", MAPS, b"{nope", code=400, reason="BadRequest",
        says="the object provided is unrecognized (must be of type ConfigMap): couldn't get "
             "version/kind; json parse error:"),
    Rejected("a body that is an array", "POST", MAPS, [], code=400, reason="BadRequest",
        says="the object provided is unrecognized (must be of type ConfigMap): couldn't get "
             "version/kind; json parse error: json: cannot unmarshal array into Go"),
    Rejected("a body that is a string", "POST", MAPS, "text", code=400, reason="BadRequest",
        says="the object provided is unrecognized (must be of type ConfigMap): couldn't get "
             "version/kind; json parse error: json: cannot unmarshal string into Go"),
    Rejected("a body that is null", "POST", MAPS, b"null", code=422, reason="Invalid",
        about={"kind": "ConfigMap"}, causes=[("metadata.name", "FieldValueRequired")],
        says='ConfigMap "" is invalid: metadata.name: Required value: name or generateName is '
             'required'),
    Rejected("a body that is cut off", "POST", MAPS, b'{"metadata":{"name":"a"}', code=400,
        reason="BadRequest",
        says="the object provided is unrecognized (must be of type ConfigMap): couldn't get "
             "version/kind; json parse error: unexpected end of JSON input"),
    Rejected("a body with bytes behind it", "POST", MAPS, b'{"metadata":{"name":"a"}} x', code=400,
        reason="BadRequest",
        says="the object provided is unrecognized (must be of type ConfigMap): couldn't get "
             "version/kind; json parse error:"),
    Rejected("a body of another kind", "POST", MAPS,
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}}, code=400,
        reason="BadRequest",
        says='Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to '
             '(core.ConfigMap): unknown conversion'),
    Rejected("a body of another version", "POST", MAPS,
        {"apiVersion": "v2", "kind": "ConfigMap", "metadata": {"name": "a"}}, code=400,
        reason="BadRequest",
        says='ConfigMap in version "v2" cannot be handled as a ConfigMap: no kind "ConfigMap" is '
             'registered for version "v2" in scheme "pkg/runtime/scheme.go:111"'),
    Rejected("a body of another group", "POST", DEPLOYMENTS,
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}, code=400,
        reason="BadRequest",
        says='Pod in version "v1" cannot be handled as a Deployment: converting (v1.Pod) to '
             '(apps.Deployment): unknown conversion'),
    Rejected("a body of an unknown kind", "POST", MAPS,
        {"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "a"}}, code=400,
        reason="BadRequest",
        says='Thing in version "v1" cannot be handled as a ConfigMap: no kind "Thing" is '
             'registered for version "v1" in scheme "pkg/runtime/scheme.go:111"'),
    Rejected("a custom object without its kind", "POST", WIDGETS,
        {"apiVersion": "conformance.example.com/v1", "metadata": {"name": "a"}}, code=400,
        reason="BadRequest",
        says="the object provided is unrecognized (must be of type Widget): Object 'Kind' is "
             "missing in"),
    Rejected("a custom object without its version", "POST", WIDGETS,
        {"kind": "Widget", "metadata": {"name": "a"}}, code=400, reason="BadRequest",
        says="the API version in the data () does not match the expected API version "
             "(conformance.example.com/v1)"),
    Rejected("a custom object of another kind", "POST", WIDGETS,
        {"apiVersion": "conformance.example.com/v1", "kind": "Gadget", "metadata": {"name": "a"}},
        code=422, reason="Invalid",
        about={"name": "a", "group": "conformance.example.com", "kind": "Gadget"},
        causes=[("kind", "FieldValueInvalid")],
        says='Gadget.conformance.example.com "a" is invalid: kind: Invalid value: "Gadget": must '
             'be Widget'),
    Rejected("a number that is written as a word", "POST", DEPLOYMENTS,
        {"metadata": {"name": "a"}, "spec": {"replicas": "two"}}, code=400, reason="BadRequest",
        says='Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal '
             'string into Go struct field DeploymentSpec.spec.replicas of type'),
    Rejected("a fraction for a whole number", "POST", DEPLOYMENTS,
        {"metadata": {"name": "a"}, "spec": {"replicas": 1.5}}, code=400, reason="BadRequest",
        says='Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal '
             'number 1.5 into Go struct field DeploymentSpec.spec.replicas of'),
    Rejected("a list where an object belongs", "POST", MAPS,
        {"metadata": {"name": "a"}, "data": []}, code=400, reason="BadRequest",
        says='ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal '
             'array into Go struct field ConfigMap.data of type map[string]string'),
    Rejected("a text where metadata belongs", "POST", MAPS, {"metadata": "a"}, code=400,
        reason="BadRequest",
        says='ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal '
             'string into Go struct field ConfigMap.metadata of type'),
    Rejected("a label whose value is a number", "POST", MAPS,
        {"metadata": {"name": "a", "labels": {"a": 1}}}, code=400, reason="BadRequest",
        says='ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal '
             'number into Go struct field'),
    Rejected("a quantity that is none", "POST", PODS,
        {"metadata": {"name": "a"}, "spec": {"containers": [{"name": "a", "image": "b",
            "resources": {"limits": {"cpu": "1K"}}}]}},
        code=400, reason="BadRequest", says='Pod in version "v1" cannot be handled as a Pod:'),
    Rejected("a time that is none", "POST", MAPS,
        {"metadata": {"name": "a", "deletionTimestamp": "soon"}}, code=400, reason="BadRequest",
        says='ConfigMap in version "v1" cannot be handled as a ConfigMap: parsing time "soon" as'),
    Rejected("bytes that are not base64", "POST", "/api/v1/namespaces/{ns}/secrets",
        {"metadata": {"name": "a"}, "data": {"a": "%%"}}, code=400, reason="BadRequest",
        says='Secret in version "v1" cannot be handled as a Secret: illegal base64 data at input '
             'byte 0'),
    Rejected("an unknown content type", "POST", MAPS, b"<a/>",
        headers={"Content-Type": "text/xml"}, code=415, reason="UnsupportedMediaType",
        says="the body of the request was in an unknown format - accepted media types include: "
             "application/json, application/yaml,"),
    Rejected("an unknown representation", "GET", MAPS, headers={"Accept": "text/xml"},
        code=406, reason="NotAcceptable"),
    Rejected("an unavailable representation", "GET", MAPS,
        headers={"Accept": "application/json;as=Picture;g=meta.k8s.io;v=v1"}, code=406,
        reason="NotAcceptable",
        says="only the following media types are accepted: application/json, application/yaml"),
    Rejected("protobuf for a custom object", "GET", WIDGETS,
        headers={"Accept": "application/vnd.kubernetes.protobuf"}, code=406),
    Rejected("YAML that is none", "POST", MAPS, b"a: [",
        headers={"Content-Type": "application/yaml"}, code=400, reason="BadRequest",
        says="the object provided is unrecognized (must be of type ConfigMap):"),
    Rejected("another name in the body than in the path", "PUT", f"{MAPS}/settings",
        {"metadata": {"name": "other"}}, code=400, reason="BadRequest",
        says="the name of the object (other) does not match the name on the URL (settings)"),
    Rejected("another namespace in the body than in the path", "POST", MAPS,
        {"metadata": {"name": "a", "namespace": "other"}}, code=400, reason="BadRequest",
        says="the namespace of the provided object does not match the namespace sent on the "
             "request"),
    Rejected("another namespace in the body of an update", "PUT", f"{MAPS}/settings",
        {"metadata": {"name": "settings", "namespace": "other"}}, code=400, reason="BadRequest",
        says="the namespace of the provided object does not match the namespace sent on the "
             "request"),
    Rejected("an update without a name", "PUT", f"{MAPS}/settings", {"metadata": {}}, code=400,
        reason="BadRequest",
        says="the name of the object (settings based on URL) was undeterminable: name must be "
             "provided"),
    Rejected("an old version", "PUT", f"{MAPS}/settings",
        {"metadata": {"name": "settings", "resourceVersion": "1"}}, code=409, reason="Conflict",
        about={"name": "settings", "kind": "configmaps"},
        says='Operation cannot be fulfilled on configmaps "settings": the object has been '
             'modified; please apply your changes to the latest version and try again'),
    Rejected("a version that is no number", "PUT", f"{MAPS}/settings",
        {"metadata": {"name": "settings", "resourceVersion": "abc"}}, code=500,
        says='strconv.ParseUint: parsing "abc": invalid syntax'),
    Rejected("another uid", "PUT", f"{MAPS}/settings",
        {"metadata": {"name": "settings", "uid": "11111111-1111-1111-1111-111111111111"}},
        code=409, reason="Conflict", about={"name": "settings", "kind": "configmaps"},
        says='Operation cannot be fulfilled on configmaps "settings": StorageError: invalid '
             'object, Code: 4, Key: /registry/configmaps/{ns}/settings,'),
    Rejected("an update of a custom object without a version", "PUT", f"{WIDGETS}/small",
        {"apiVersion": "conformance.example.com/v1", "kind": "Widget",
            "metadata": {"name": "small"}, "spec": {"size": 2}},
        code=422, reason="Invalid",
        about={"name": "small", "group": "conformance.example.com", "kind": "widgets"},
        causes=[("metadata.resourceVersion", "FieldValueInvalid")],
        says='widgets.conformance.example.com "small" is invalid: metadata.resourceVersion: '
             'Invalid value: 0: must be specified for an update'),
    Rejected("an update with an old version of a custom object", "PUT", f"{WIDGETS}/small",
        {"apiVersion": "conformance.example.com/v1", "kind": "Widget",
            "metadata": {"name": "small", "resourceVersion": "1"}, "spec": {"size": 2}},
        code=409, reason="Conflict",
        about={"name": "small", "group": "conformance.example.com", "kind": "widgets"},
        says='Operation cannot be fulfilled on widgets.conformance.example.com "small": the object '
             'has been modified; please apply your changes to the latest'),
    Rejected("an uid of a missing object", "PUT",
        "/apis/coordination.k8s.io/v1/namespaces/{ns}/leases/nope",
        {"metadata": {"name": "nope", "uid": "11111111-1111-1111-1111-111111111111"}}, code=409,
        reason="Conflict",
        about={"name": "nope", "group": "coordination.k8s.io", "kind": "leases"},
        says='Operation cannot be fulfilled on leases.coordination.k8s.io "nope": StorageError: '
             'invalid object, Code: 4, Key: /registry/leases/{ns}/nope,'),
    Rejected("a resource version in a create", "POST", MAPS,
        {"metadata": {"name": "a", "resourceVersion": "7"}}, code=500,
        says="resourceVersion should not be set on objects to be created"),
    Rejected("a body for a custom group with a nested type", "POST", WIDGETS,
        {"apiVersion": "conformance.example.com/v1", "kind": "Widget", "metadata": []}, code=400,
        reason="BadRequest"),
)
# fmt: on


@rows(*TABLE)
async def test_a_request_is_rejected(populated: RawClient, row: Rejected) -> None:
    await check(populated, row)
