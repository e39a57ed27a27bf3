"""Names, labels, owners, config maps, secrets and pods that are rejected."""

from __future__ import annotations

from typing import Any

from tests.conformance.raw_client import MERGE, RawClient
from tests.conformance.rejections import Rejected, check, rows

MERGED = {"Content-Type": MERGE}
MAPS = "/api/v1/namespaces/{ns}/configmaps"
PODS = "/api/v1/namespaces/{ns}/pods"
Object = dict[str, Any]


def cm(**meta: Any) -> Object:
    return {"metadata": {"name": "new", **meta}}


def pod_of(**spec: Any) -> Object:
    return {
        "metadata": {"name": "new"},
        "spec": {"containers": [{"name": "a", "image": "b"}], **spec},
    }


def box(**more: Any) -> Object:
    return pod_of(containers=[{"name": "a", "image": "b", **more}])


# fmt: off
TABLE = (
    Rejected("a name with capitals", "POST", MAPS, cm(name="New"), code=422, reason="Invalid",
        about={"name": "New", "kind": "ConfigMap"},
        causes=[("metadata.name", "FieldValueInvalid")],
        says='ConfigMap "New" is invalid: metadata.name: Invalid value: "New": a lowercase RFC '
             '1123 subdomain'),
    Rejected("a name with an underscore", "POST", MAPS, cm(name="a_b"), code=422, reason="Invalid",
        about={"name": "a_b", "kind": "ConfigMap"},
        causes=[("metadata.name", "FieldValueInvalid")],
        says='ConfigMap "a_b" is invalid: metadata.name: Invalid value: "a_b": a lowercase RFC '
             '1123 subdomain'),
    Rejected("a name with a slash", "POST", MAPS, cm(name="a/b"), code=422, reason="Invalid",
        about={"name": "a/b", "kind": "ConfigMap"},
        causes=[("metadata.name", "FieldValueInvalid")],
        says='ConfigMap "a/b" is invalid: metadata.name: Invalid value: "a/b": a lowercase RFC '
             '1123 subdomain'),
    Rejected("a name that begins with a dash", "POST", MAPS, cm(name="-a"), code=422,
        reason="Invalid", about={"name": "-a", "kind": "ConfigMap"},
        causes=[("metadata.name", "FieldValueInvalid")],
        says='ConfigMap "-a" is invalid: metadata.name: Invalid value: "-a": a lowercase RFC 1123 '
             'subdomain'),
    Rejected("a name that is too long", "POST", MAPS, cm(name="a" * 254), code=422,
        reason="Invalid",
        about={"name": "a" * 254, "kind": "ConfigMap"},
        causes=[("metadata.name", "FieldValueInvalid")], says="ConfigMap"),
    Rejected("no name at all", "POST", MAPS, {"metadata": {}}, code=422, reason="Invalid",
        about={"kind": "ConfigMap"}, causes=[("metadata.name", "FieldValueRequired")],
        says='ConfigMap "" is invalid: metadata.name: Required value: name or generateName is '
             'required'),
    Rejected("a namespace whose name has a dot", "POST", "/api/v1/namespaces",
        {"metadata": {"name": "a.b"}}, code=422, reason="Invalid",
        about={"name": "a.b", "kind": "Namespace"},
        causes=[("metadata.name", "FieldValueInvalid")],
        says='Namespace "a.b" is invalid: metadata.name: Invalid value: "a.b":'),
    Rejected("a namespace whose name is too long", "POST", "/api/v1/namespaces",
        {"metadata": {"name": "a" * 64}}, code=422, reason="Invalid",
        about={"name": "a" * 64, "kind": "Namespace"},
        causes=[("metadata.labels", "FieldValueInvalid"), ("metadata.name", "FieldValueInvalid")],
        says=f'Namespace "{"a" * 64}" is invalid: [metadata.name: Invalid value:'),
    Rejected("a label key with two slashes", "POST", MAPS, cm(labels={"a/b/c": "d"}), code=422,
        reason="Invalid", about={"name": "new", "kind": "ConfigMap"},
        causes=[("metadata.labels", "FieldValueInvalid")],
        says='ConfigMap "new" is invalid: metadata.labels: Invalid value: "a/b/c": a'),
    Rejected("a label key that is empty", "POST", MAPS, cm(labels={"": "d"}), code=422,
        reason="Invalid", about={"name": "new", "kind": "ConfigMap"},
        causes=[("metadata.labels", "FieldValueInvalid"), ("metadata.labels", "FieldValueInvalid")],
        says='ConfigMap "new" is invalid: [metadata.labels: Invalid value: "": name part must be '
             'non-empty, metadata.labels: Invalid value: "": name part must'),
    Rejected("a label value that is too long", "POST", MAPS, cm(labels={"a": "x" * 64}), code=422,
        reason="Invalid", about={"name": "new", "kind": "ConfigMap"},
        causes=[("metadata.labels", "FieldValueInvalid")],
        says=f'ConfigMap "new" is invalid: metadata.labels: Invalid value: "{"x" * 64}": must be '
             f'no more than'),
    Rejected("a label value with a space", "POST", MAPS, cm(labels={"a": "b c"}), code=422,
        reason="Invalid", about={"name": "new", "kind": "ConfigMap"},
        causes=[("metadata.labels", "FieldValueInvalid")],
        says='ConfigMap "new" is invalid: metadata.labels: Invalid value: "b c": a'),
    Rejected("an annotation key that cannot be", "POST", MAPS, cm(annotations={"a b": "c"}),
        code=422, reason="Invalid", about={"name": "new", "kind": "ConfigMap"},
        causes=[("metadata.annotations", "FieldValueInvalid")],
        says='ConfigMap "new" is invalid: metadata.annotations: Invalid value: "a b": name part '
             'must'),
    Rejected("annotations that are too large", "POST", MAPS, cm(annotations={"a": "x" * 262145}),
        code=422, reason="Invalid", about={"name": "new", "kind": "ConfigMap"},
        causes=[("metadata.annotations", "FieldValueTooLong")],
        says='ConfigMap "new" is invalid: metadata.annotations: Too long: may not be more than '
             '262144 bytes'),
    Rejected("a finalizer without a domain", "POST", MAPS, cm(finalizers=["nothing special"]),
        code=422, reason="Invalid", about={"name": "new", "kind": "ConfigMap"},
        causes=[("metadata.finalizers", "FieldValueInvalid"), ("metadata.finalizers[0]",
            "FieldValueInvalid")],
        says='ConfigMap "new" is invalid: [metadata.finalizers: Invalid value: "nothing special": '
             'name part must'),
    Rejected("an owner without a uid", "POST", MAPS,
        cm(ownerReferences=[{"apiVersion": "v1", "kind": "Pod", "name": "web"}]), code=422,
        reason="Invalid", about={"name": "new", "kind": "ConfigMap"},
        causes=[("metadata.ownerReferences[0].uid", "FieldValueRequired")],
        says='ConfigMap "new" is invalid: metadata.ownerReferences[0].uid: Required value: must '
             'not be empty'),
    Rejected("an owner without anything", "POST", MAPS, cm(ownerReferences=[{}]), code=422,
        reason="Invalid", about={"name": "new", "kind": "ConfigMap"},
        causes=[("metadata.ownerReferences[0].apiVersion", "FieldValueRequired"),
            ("metadata.ownerReferences[0].kind", "FieldValueRequired"),
            ("metadata.ownerReferences[0].name", "FieldValueRequired"),
            ("metadata.ownerReferences[0].uid", "FieldValueRequired")],
        says='ConfigMap "new" is invalid: [metadata.ownerReferences[0].apiVersion: Required value: '
             'must not be empty, metadata.ownerReferences[0].kind: Required'),
    Rejected("two owners that control", "POST", MAPS,
        cm(ownerReferences=[{"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": "1",
            "controller": True}, {"apiVersion": "v1", "kind": "Pod", "name": "b", "uid": "2",
            "controller": True}]),
        code=422, reason="Invalid", about={"name": "new", "kind": "ConfigMap"},
        causes=[("metadata.ownerReferences", "FieldValueInvalid")],
        says='ConfigMap "new" is invalid: metadata.ownerReferences: Invalid value:'),
    Rejected("an owner of an event", "POST", MAPS,
        cm(ownerReferences=[{"apiVersion": "v1", "kind": "Event", "name": "a", "uid": "1"}]),
        code=422, reason="Invalid", about={"name": "new", "kind": "ConfigMap"},
        causes=[("metadata.ownerReferences[0]", "FieldValueInvalid")],
        says='ConfigMap "new" is invalid: metadata.ownerReferences[0]: Invalid value: '
             '{"apiVersion":"v1","kind":"Event","name":"a","uid":"1"}: /v1, Kind=Event is'),
    Rejected("a key of data with a slash", "POST", MAPS, {**cm(), "data": {"a/b": "c"}}, code=422,
        reason="Invalid", about={"name": "new", "kind": "ConfigMap"},
        causes=[("data[a/b]", "FieldValueInvalid")],
        says="ConfigMap \"new\" is invalid: data[a/b]: Invalid value: \"a/b\": a valid config key "
             "must consist of alphanumeric characters, '-', '_' or '.' (e.g."),
    Rejected("a key in both data and binary data", "POST", MAPS,
        {**cm(), "data": {"a": "c"}, "binaryData": {"a": "Yg=="}}, code=422, reason="Invalid",
        about={"name": "new", "kind": "ConfigMap"}, causes=[("data[a]", "FieldValueInvalid")],
        says='ConfigMap "new" is invalid: data[a]: Invalid value: "a": duplicate of key present in '
             'binaryData'),
    Rejected("data that is too large", "POST", MAPS, {**cm(), "data": {"a": "c" * 1048577}},
        code=422, reason="Invalid", about={"name": "new", "kind": "ConfigMap"},
        causes=[("[]", "FieldValueTooLong")],
        says='ConfigMap "new" is invalid: []: Too long: may not be more than 1048576 bytes'),
    Rejected("a change of an immutable config map", "PATCH", f"{MAPS}/frozen",
        {"data": {"color": "red"}}, headers=MERGED, code=422, reason="Invalid",
        about={"name": "frozen", "kind": "ConfigMap"}, causes=[("data", "FieldValueForbidden")],
        says='ConfigMap "frozen" is invalid: data: Forbidden: field is immutable when `immutable` '
             'is set'),
    Rejected("an immutable config map made mutable", "PATCH", f"{MAPS}/frozen", {"immutable": None},
        headers=MERGED, code=422, reason="Invalid", about={"name": "frozen", "kind": "ConfigMap"},
        causes=[("immutable", "FieldValueForbidden")],
        says='ConfigMap "frozen" is invalid: immutable: Forbidden: field is immutable when '
             '`immutable` is set'),
    Rejected("a change of an immutable secret", "PATCH", "/api/v1/namespaces/{ns}/secrets/frozen",
        {"data": {"a": "Yw=="}}, headers=MERGED, code=422, reason="Invalid",
        about={"name": "frozen", "kind": "Secret"}, causes=[("data", "FieldValueForbidden")],
        says='Secret "frozen" is invalid: data: Forbidden: field is immutable when `immutable` is '
             'set'),
    Rejected("another type of a secret", "PATCH", "/api/v1/namespaces/{ns}/secrets/typed",
        {"type": "example.com/two"}, headers=MERGED, code=422, reason="Invalid",
        about={"name": "typed", "kind": "Secret"}, causes=[("type", "FieldValueInvalid")],
        says='Secret "typed" is invalid: type: Invalid value: "example.com/two": field is '
             'immutable'),
    Rejected("a TLS secret without its parts", "POST", "/api/v1/namespaces/{ns}/secrets",
        {**cm(), "type": "kubernetes.io/tls"}, code=422, reason="Invalid",
        about={"name": "new", "kind": "Secret"},
        causes=[("data[tls.crt]", "FieldValueRequired"), ("data[tls.key]", "FieldValueRequired")],
        says='Secret "new" is invalid: [data[tls.crt]: Required value, data[tls.key]: Required '
             'value]'),
    Rejected("a pod without containers", "POST", PODS, pod_of(containers=[]), code=422,
        reason="Invalid", about={"name": "new", "kind": "Pod"},
        causes=[("spec.containers", "FieldValueRequired")],
        says='Pod "new" is invalid: spec.containers: Required value'),
    Rejected("a pod without a spec", "POST", PODS, {"metadata": {"name": "new"}}, code=422,
        reason="Invalid", about={"name": "new", "kind": "Pod"},
        causes=[("spec.containers", "FieldValueRequired")],
        says='Pod "new" is invalid: spec.containers: Required value'),
    Rejected("two containers of one name", "POST", PODS,
        pod_of(containers=[{"name": "a", "image": "b"}, {"name": "a", "image": "b"}]), code=422,
        reason="Invalid", about={"name": "new", "kind": "Pod"},
        causes=[("spec.containers[1].name", "FieldValueDuplicate")],
        says='Pod "new" is invalid: spec.containers[1].name: Duplicate value: "a"'),
    Rejected("a container without a name", "POST", PODS, pod_of(containers=[{"image": "b"}]),
        code=422, reason="Invalid", about={"name": "new", "kind": "Pod"},
        causes=[("spec.containers[0].name", "FieldValueRequired")],
        says='Pod "new" is invalid: spec.containers[0].name: Required value'),
    Rejected("a container without an image", "POST", PODS, pod_of(containers=[{"name": "a"}]),
        code=422, reason="Invalid", about={"name": "new", "kind": "Pod"},
        causes=[("spec.containers[0].image", "FieldValueRequired")],
        says='Pod "new" is invalid: spec.containers[0].image: Required value'),
    Rejected("a container whose name has capitals", "POST", PODS,
        pod_of(containers=[{"name": "A", "image": "b"}]), code=422, reason="Invalid",
        about={"name": "new", "kind": "Pod"},
        causes=[("spec.containers[0].name", "FieldValueInvalid")],
        says='Pod "new" is invalid: spec.containers[0].name: Invalid value: "A": a lowercase RFC '
             '1123 label'),
    Rejected("an unknown restart policy", "POST", PODS, pod_of(restartPolicy="Sometimes"),
        code=422, reason="Invalid", about={"name": "new", "kind": "Pod"},
        causes=[("spec.restartPolicy", "FieldValueNotSupported")],
        says='Pod "new" is invalid: spec.restartPolicy: Unsupported value: "Sometimes": supported '
             'values: "Always", "OnFailure", "Never"'),
    Rejected("an unknown pull policy", "POST", PODS, box(imagePullPolicy="Maybe"), code=422,
        reason="Invalid", about={"name": "new", "kind": "Pod"},
        causes=[("spec.containers[0].imagePullPolicy", "FieldValueNotSupported")],
        says='Pod "new" is invalid: spec.containers[0].imagePullPolicy: Unsupported value: '
             '"Maybe": supported values: "Always", "IfNotPresent", "Never"'),
    Rejected("a port that is too large", "POST", PODS, box(ports=[{"containerPort": 70000}]),
        code=422, reason="Invalid", about={"name": "new", "kind": "Pod"},
        causes=[("spec.containers[0].ports[0].containerPort", "FieldValueInvalid")],
        says='Pod "new" is invalid: spec.containers[0].ports[0].containerPort: Invalid value: '
             '70000: must be between 1 and 65535, inclusive'),
    Rejected("a port of no protocol", "POST", PODS,
        box(ports=[{"containerPort": 70, "protocol": "ICMP"}]), code=422, reason="Invalid",
        about={"name": "new", "kind": "Pod"},
        causes=[("spec.containers[0].ports[0].protocol", "FieldValueNotSupported")],
        says='Pod "new" is invalid: spec.containers[0].ports[0].protocol: Unsupported value: '
             '"ICMP": supported values: "SCTP", "TCP", "UDP"'),
    Rejected("two ports of one name", "POST", PODS,
        box(ports=[{"containerPort": 70, "name": "a"}, {"containerPort": 71, "name": "a"}]),
        code=422, reason="Invalid", about={"name": "new", "kind": "Pod"},
        causes=[("spec.containers[0].ports[1].name", "FieldValueDuplicate")],
        says='Pod "new" is invalid: spec.containers[0].ports[1].name: Duplicate value: "a"'),
    Rejected("a variable without a name", "POST", PODS, box(env=[{"value": "a"}]), code=422,
        reason="Invalid", about={"name": "new", "kind": "Pod"},
        causes=[("spec.containers[0].env[0].name", "FieldValueRequired")],
        says='Pod "new" is invalid: spec.containers[0].env[0].name: Required value'),
    Rejected("a variable with a value and a source", "POST", PODS,
        box(env=[{"name": "A", "value": "a",
            "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]),
        code=422, reason="Invalid", about={"name": "new", "kind": "Pod"},
        causes=[("spec.containers[0].env[0].valueFrom", "FieldValueInvalid")],
        says='Pod "new" is invalid: spec.containers[0].env[0].valueFrom: Invalid value: "": may '
             'not be specified when `value` is not empty'),
    Rejected("a request above the limit", "POST", PODS,
        box(resources={"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}), code=422,
        reason="Invalid", about={"name": "new", "kind": "Pod"},
        causes=[("spec.containers[0].resources.requests", "FieldValueInvalid")],
        says='Pod "new" is invalid: spec.containers[0].resources.requests: Invalid value: "2": '
             'must be less than or equal to cpu limit of 1'),
    Rejected("a limit below zero", "POST", PODS, box(resources={"limits": {"cpu": "-1"}}), code=422,
        reason="Invalid", about={"name": "new", "kind": "Pod"},
        causes=[("spec.containers[0].resources.limits[cpu]", "FieldValueInvalid"),
            ("spec.containers[0].resources.requests[cpu]", "FieldValueInvalid")],
        says='Pod "new" is invalid: [spec.containers[0].resources.limits[cpu]: Invalid value: '
             '"-1": must be greater than or equal to 0,'),
    Rejected("a mount of a missing volume", "POST", PODS,
        box(volumeMounts=[{"name": "v", "mountPath": "/v"}]), code=422, reason="Invalid",
        about={"name": "new", "kind": "Pod"},
        causes=[("spec.containers[0].volumeMounts[0].name", "FieldValueNotFound")],
        says='Pod "new" is invalid: spec.containers[0].volumeMounts[0].name: Not found: "v"'),
    Rejected("two volumes of one name", "POST", PODS,
        pod_of(volumes=[{"name": "v", "emptyDir": {}}, {"name": "v", "emptyDir": {}}]), code=422,
        reason="Invalid", about={"name": "new", "kind": "Pod"},
        causes=[("spec.volumes[1].name", "FieldValueDuplicate")],
        says='Pod "new" is invalid: spec.volumes[1].name: Duplicate value: "v"'),
    Rejected("a volume with two sources", "POST", PODS,
        pod_of(volumes=[{"name": "v", "emptyDir": {}, "hostPath": {"path": "/a"}}]), code=422,
        reason="Invalid", about={"name": "new", "kind": "Pod"},
        causes=[("spec.volumes[0].hostPath", "FieldValueForbidden")],
        says='Pod "new" is invalid: spec.volumes[0].hostPath: Forbidden: may not specify more than '
             '1 volume type'),
    Rejected("a probe without a way to ask", "POST", PODS, box(livenessProbe={}), code=422,
        reason="Invalid", about={"name": "new", "kind": "Pod"},
        causes=[("spec.containers[0].livenessProbe", "FieldValueRequired")],
        says='Pod "new" is invalid: spec.containers[0].livenessProbe: Required value: must specify '
             'a handler type'),
    Rejected("a probe with two ways to ask", "POST", PODS,
        box(livenessProbe={"exec": {"command": ["a"]}, "tcpSocket": {"port": 1}}), code=422,
        reason="Invalid", about={"name": "new", "kind": "Pod"},
        causes=[("spec.containers[0].livenessProbe.tcpSocket", "FieldValueForbidden")],
        says='Pod "new" is invalid: spec.containers[0].livenessProbe.tcpSocket: Forbidden: may not '
             'specify more than 1 handler type'),
    Rejected("an unknown toleration", "POST", PODS,
        pod_of(tolerations=[{"key": "a", "operator": "Like"}]), code=422, reason="Invalid",
        about={"name": "new", "kind": "Pod"},
        causes=[("spec.tolerations[0].operator", "FieldValueNotSupported")],
        says='Pod "new" is invalid: spec.tolerations[0].operator: Unsupported value: "Like": '
             'supported values: "Equal", "Exists"'),
    Rejected("an unknown DNS policy", "POST", PODS, pod_of(dnsPolicy="Guess"), code=422,
        reason="Invalid", about={"name": "new", "kind": "Pod"},
        causes=[("spec.dnsPolicy", "FieldValueNotSupported")],
        says='Pod "new" is invalid: spec.dnsPolicy: Unsupported value: "Guess": supported values: '
             '"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"'),
    Rejected("a deadline of zero", "POST", PODS, pod_of(activeDeadlineSeconds=0), code=422,
        reason="Invalid", about={"name": "new", "kind": "Pod"},
        causes=[("spec.activeDeadlineSeconds", "FieldValueInvalid")],
        says='Pod "new" is invalid: spec.activeDeadlineSeconds: Invalid value: 0: must be between '
             '1 and 2147483647, inclusive'),
    Rejected("another network of a pod", "PATCH", f"{PODS}/web", {"spec": {"hostNetwork": True}},
        headers=MERGED, code=422, reason="Invalid", about={"name": "web", "kind": "Pod"},
        causes=[("spec", "FieldValueForbidden")],
        says='Pod "web" is invalid: spec: Forbidden: pod updates may not change fields other than'),
)
# fmt: on


@rows(*TABLE)
async def test_metadata_or_a_pod_is_rejected(populated: RawClient, row: Rejected) -> None:
    await check(populated, row)
