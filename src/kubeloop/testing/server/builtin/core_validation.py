"""Validation of core kinds other than pods, controllers and volumes.

Guarantees: the common checks, with kube-apiserver's paths, reasons and messages.
See also: volumes and claims (`volume_validation`, `claim_validation`), addresses and ports that
the server allocates (`preparation`).
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from kubeloop.meta import problems_of_dns_label, problems_of_dns_subdomain, problems_of_label_key

from ..values import causes
from ..values.go_json import struct_error, syntax_error
from ..values.json_values import json_equal
from .environment_validation import check_config_key
from .limit_validation import (
    problems_of_limit_range,
    problems_of_quota,
    problems_of_quota_status,
)
from .node_validation import problems_of_node
from .pod_update_validation import problems_of_pod_status
from .pod_validation import problems_of_pod, problems_of_pod_spec
from .service_validation import problems_of_load_balancer, problems_of_service
from .value_rules import (
    Causes,
    check_choice,
    check_endpoint_ip,
    check_ip,
    check_label_key,
    check_labels,
    check_name,
    check_port,
    check_unchanged,
    enumerate_objects,
)

__all__ = ["CORE", "CORE_STATUS"]

_Raw: TypeAlias = Mapping[str, Any]

DATA_LIMIT: Final = 1024 * 1024
_IMMUTABLE: Final = "field is immutable when `immutable` is set"
_SECRET_KEYS: Final = {
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
}
_ACCOUNT_KEY: Final = "kubernetes.io/service-account.name"


def _pod(obj: _Raw, old: _Raw | None) -> Causes:
    yield from problems_of_pod(obj, old)


def _pod_template(obj: _Raw, _: _Raw | None) -> Causes:
    # `ValidatePodTemplate`.
    template = obj.get("template") or {}
    yield from check_labels("template.labels", (template.get("metadata") or {}).get("labels"))
    yield from problems_of_pod_spec(template.get("spec") or {}, "template.spec")


# --- ConfigMap and Secret


def _config_map(obj: _Raw, old: _Raw | None) -> Causes:
    # `ValidateConfigMap` and `ValidateConfigMapUpdate`.
    if old is not None:
        yield from _check_immutable(obj, old, "data", "binaryData")
    text, binary = obj.get("data") or {}, obj.get("binaryData") or {}
    yield from _key_problems("data", text)
    for key in text.keys() & binary.keys():
        yield causes.invalid(f"data[{key}]", key, "duplicate of key present in binaryData")
    yield from _key_problems("binaryData", binary)
    size = sum(len(value.encode()) for value in text.values()) + _size(binary)
    if size > DATA_LIMIT:
        yield causes.too_long("[]", DATA_LIMIT)  # how Go prints an empty field path


def _secret(obj: _Raw, old: _Raw | None) -> Causes:
    # `ValidateSecret` and `ValidateSecretUpdate`.
    if old is not None:
        yield from check_unchanged("type", obj.get("type") or "", old.get("type") or "")
        yield from _check_immutable(obj, old, "data")
    data = obj.get("data") or {}
    yield from _key_problems("data", data)
    if _size(data) > DATA_LIMIT:
        yield causes.too_long("data", DATA_LIMIT)
    yield from _secret_type(obj, data)


def _secret_type(obj: _Raw, data: Mapping[str, str]) -> Causes:
    # The types that Kubernetes itself defines require certain keys.
    kind = obj.get("type") or ""
    annotations = (obj.get("metadata") or {}).get("annotations") or {}
    for key in _SECRET_KEYS.get(kind, ()):
        if key not in data:
            yield causes.required(f"data[{key}]")
        elif key.startswith(".docker") and (problem := _json_problem(data[key])):
            yield causes.invalid(f"data[{key}]", "<secret contents redacted>", problem)
    if kind == "kubernetes.io/service-account-token" and not annotations.get(_ACCOUNT_KEY):
        yield causes.required(f"metadata.annotations[{_ACCOUNT_KEY}]")
    if kind == "kubernetes.io/basic-auth" and not {"username", "password"} & data.keys():
        yield causes.required("data[username]")
        yield causes.required("data[password]")


def _check_immutable(obj: _Raw, old: _Raw, *fields: str) -> Causes:
    """An object with `immutable: true` cannot change, nor become mutable."""
    if not old.get("immutable"):
        return
    if not obj.get("immutable"):
        yield causes.forbidden("immutable", _IMMUTABLE)
    for field in fields:
        if not json_equal(obj.get(field) or {}, old.get(field) or {}):
            yield causes.forbidden(field, _IMMUTABLE)


def _key_problems(path: str, data: Mapping[str, Any]) -> Causes:
    for key in data:
        yield from check_config_key(f"{path}[{key}]", key)


def _size(data: Mapping[str, str]) -> int:
    """The number of bytes that base64 texts decode to."""
    return sum(len(text) * 3 // 4 - text.count("=", -2) for text in data.values())


def _json_problem(text: str) -> str:
    # Docker credentials must be a JSON object.
    try:
        raw = base64.b64decode(text)
    except ValueError:
        return "invalid base64"
    return syntax_error(raw) or struct_error(json.loads(raw), "map[string]interface {}", {})


# --- other kinds


def _namespace(obj: _Raw, old: _Raw | None) -> Causes:
    # `ValidateNamespace`; the subresource finalize reports the index, too.
    for index, each in enumerate((obj.get("spec") or {}).get("finalizers") or ()):
        where = "spec.finalizers" if old is None else f"spec.finalizers[{index}]"
        yield from check_name(where, each, problems_of_label_key)
        if "/" not in each and each not in {"kubernetes", "orphan", "foregroundDeletion"}:
            rule = "name is neither a standard finalizer name nor is it fully qualified"
            yield causes.invalid(where, each, rule)


def _namespace_status(obj: _Raw, _: _Raw) -> Causes:
    """The phase of a namespace follows its deletion."""
    is_deleted = (obj.get("metadata") or {}).get("deletionTimestamp")
    expected = "Terminating" if is_deleted else "Active"
    phase = (obj.get("status") or {}).get("phase") or ""
    if phase != expected:
        yield causes.invalid("status.Phase", phase, f"must be '{expected}'")


# --- events


def _event(obj: _Raw, _: _Raw | None) -> Causes:
    yield from _legacy_event(obj, "reportingComponent")


def _legacy_event(obj: _Raw, component: str) -> Causes:
    # `legacyValidateEvent`: events of cluster-scoped objects belong into `default`.
    own = (obj.get("metadata") or {}).get("namespace") or ""
    involved = (obj.get("involvedObject") or {}).get("namespace") or ""
    rule = "does not match event.namespace"
    if obj.get("eventTime"):
        if not involved and own not in {"default", "kube-system"}:
            yield causes.invalid("involvedObject.namespace", involved, rule)
        yield from _event_fields(obj, component)
    elif involved != own and (involved or own not in {"", "default"}):
        yield causes.invalid("involvedObject.namespace", involved, rule)


def _event_fields(obj: _Raw, where: str) -> Causes:
    # Events with `eventTime` are of the new style, which requires these fields.
    component = obj.get("reportingComponent") or ""
    if not component:
        yield causes.required(where)
    yield from check_label_key(where, component)
    limits = {"reportingInstance": 128, "action": 128, "reason": 128}
    for field, limit in limits.items():
        text = obj.get(field) or ""
        if not text:
            yield causes.required(field)
        elif len(text) > limit:
            yield causes.invalid(field, "", f"can have at most {limit} characters")
    if len(obj.get("message") or "") > 1024:
        yield causes.invalid("message", "", "can have at most 1024 characters")


_EVENT_FIELDS: Final = (
    "involvedObject",
    "reason",
    "message",
    "source",
    "firstTimestamp",
    "lastTimestamp",
    "count",
    "type",
    "eventTime",
    "action",
    "related",
    "reportingInstance",
)


def _new_event(obj: _Raw, old: _Raw | None) -> Causes:
    # `ValidateEventCreate` and `ValidateEventUpdate` of events.k8s.io/v1: events are immutable,
    # apart from the count of a series.
    yield from _legacy_event(obj, "reportingController")
    series = obj.get("series")
    if isinstance(series, Mapping) and (old is None or series != old.get("series")):
        if (series.get("count") or 0) < 2:
            yield causes.invalid("series.count", "", "should be at least 2")
        if not series.get("lastObservedTime"):
            yield causes.required("series.lastObservedTime")
    if old is not None:
        for field in _EVENT_FIELDS:
            yield from check_unchanged(field, obj.get(field), old.get(field))
        controllers = obj.get("reportingComponent"), old.get("reportingComponent")
        yield from check_unchanged("reportingController", *controllers)
        return
    if not obj.get("eventTime"):
        yield causes.required("eventTime")
    if obj.get("type") not in {"Normal", "Warning"}:
        yield causes.invalid("type", "", f"has invalid value: {obj.get('type') or ''}")
    for field in ("firstTimestamp", "lastTimestamp", "count"):
        if obj.get(field):
            yield causes.invalid(field, "", "needs to be unset")
    if any((obj.get("source") or {}).values()):
        yield causes.invalid("source", "", "needs to be unset")


# --- endpoints


def _endpoints(obj: _Raw, old: _Raw | None) -> Causes:
    # `ValidateEndpoints`; unchanged subsets need not be valid.
    if old is not None and json_equal(obj.get("subsets"), old.get("subsets")):
        return
    for index, subset in enumerate_objects(obj.get("subsets")):
        path = f"subsets[{index}]"
        if not subset.get("addresses") and not subset.get("notReadyAddresses"):
            rule = "must specify `addresses` or `notReadyAddresses`"
            yield causes.required(path, rule)
        for field in ("addresses", "notReadyAddresses"):
            for number, each in enumerate_objects(subset.get(field)):
                yield from _endpoint_address(each, f"{path}.{field}[{number}]")
        several = len(subset.get("ports") or ()) > 1
        for number, each in enumerate_objects(subset.get("ports")):
            yield from _endpoint_port(each, f"{path}.ports[{number}]", needs_name=several)


def _endpoint_address(each: _Raw, path: str) -> Causes:
    address = str(each.get("ip") or "")
    yield from check_ip(f"{path}.ip", address)
    if each.get("hostname"):
        yield from check_name(f"{path}.hostname", each["hostname"], problems_of_dns_label)
    if each.get("nodeName") is not None:
        yield from check_name(f"{path}.nodeName", each["nodeName"], problems_of_dns_subdomain)
    yield from check_endpoint_ip(f"{path}.ip", address)


def _endpoint_port(each: _Raw, path: str, *, needs_name: bool) -> Causes:
    name = each.get("name") or ""
    if name:
        yield from check_name(f"{path}.name", name, problems_of_dns_label)
    elif needs_name:
        yield causes.required(f"{path}.name")
    yield from check_port(f"{path}.port", each.get("port") or 0)
    protocols = ("SCTP", "TCP", "UDP")
    yield from check_choice(f"{path}.protocol", each.get("protocol"), protocols, required=True)
    if each.get("appProtocol") is not None:
        yield from check_label_key(f"{path}.appProtocol", each["appProtocol"])


CORE: Final[dict[tuple[str, str], Callable[[_Raw, _Raw | None], Causes]]] = {
    ("", "ConfigMap"): _config_map,
    ("", "Endpoints"): _endpoints,
    ("", "Event"): _event,
    ("", "LimitRange"): problems_of_limit_range,
    ("", "Namespace"): _namespace,
    ("", "Node"): problems_of_node,
    ("", "Pod"): _pod,
    ("", "PodTemplate"): _pod_template,
    ("", "ResourceQuota"): problems_of_quota,
    ("", "Secret"): _secret,
    ("", "Service"): problems_of_service,
    ("events.k8s.io", "Event"): _new_event,
}

# The checks of writes to the subresource status.
CORE_STATUS: Final[dict[tuple[str, str], Callable[[_Raw, _Raw], Causes]]] = {
    ("", "Namespace"): _namespace_status,
    ("", "Node"): problems_of_node,
    ("", "Pod"): problems_of_pod_status,
    ("", "ResourceQuota"): problems_of_quota_status,
    ("", "Service"): problems_of_load_balancer,
}
