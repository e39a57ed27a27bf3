"""Validation of core kinds other than pods, controllers and volumes.

Guarantees: the common checks, with kube-apiserver's paths, reasons and messages.
See also: volumes and claims (`storage_validation`), addresses and ports that the server
allocates (`preparation`).
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from kubeloop.meta import problems_of_dns_label, problems_of_dns_subdomain, problems_of_label_key

from ..values import causes
from ..values.json_values import json_equal
from .environment_validation import check_config_key
from .pod_validation import problems_of_pod, problems_of_pod_spec
from .value_rules import (
    Causes,
    check_choice,
    check_labels,
    check_name,
    check_port,
    check_port_or_name,
    check_quantity,
    check_unchanged,
    enumerate_objects,
    is_ip_address,
)

__all__ = ["CORE"]

_Raw: TypeAlias = Mapping[str, Any]

DATA_LIMIT: Final = 1024 * 1024
_PROTOCOLS: Final = ("SCTP", "TCP", "UDP")
_SERVICE_TYPES: Final = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
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
    spec = (obj.get("template") or {}).get("spec") or {}
    yield from problems_of_pod_spec(spec, "template.spec")


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
        elif key.startswith(".docker") and not _is_json(data[key]):
            where = f"data[{key}]"
            yield causes.invalid(where, "<secret contents redacted>", "invalid character")
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


def _is_json(text: str) -> bool:
    # Docker credentials must be a JSON object.
    try:
        return isinstance(json.loads(base64.b64decode(text)), dict)
    except (ValueError, binascii.Error, RecursionError):
        return False


# --- Service


def _service(obj: _Raw, old: _Raw | None) -> Causes:
    # `ValidateService`.
    spec = obj.get("spec") or {}
    if old is not None:
        yield from _address_change(spec, old.get("spec") or {})
    headless, kind = spec.get("clusterIP") == "None", spec.get("type")
    if not spec.get("ports") and not headless and kind != "ExternalName":
        yield causes.required("spec.ports")
    if headless and kind in {"LoadBalancer", "NodePort"}:
        rule = f"may not be set to 'None' for {kind} services"
        yield causes.invalid("spec.clusterIPs[0]", "None", rule)
    if kind == "ExternalName":
        yield from _external_name(spec)
    yield from _service_ports(spec)
    yield from check_labels("spec.selector", spec.get("selector"))
    affinity = spec.get("sessionAffinity")
    yield from check_choice("spec.sessionAffinity", affinity, ("ClientIP", "None"), required=True)
    yield from _address_problems(spec)
    yield from check_choice("spec.type", kind, _SERVICE_TYPES, required=True)


def _external_name(spec: _Raw) -> Causes:
    # An ExternalName service is a DNS alias, so it has no cluster IP.
    if spec.get("clusterIP"):
        yield causes.forbidden("spec.clusterIPs", "may not be set for ExternalName services")
    target = (spec.get("externalName") or "").removesuffix(".")
    if target:
        yield from check_name("spec.externalName", target, problems_of_dns_subdomain)
    else:
        yield causes.required("spec.externalName")


def _service_ports(spec: _Raw) -> Causes:
    # With several ports each needs a name, to which endpoints refer.
    names: set[str] = set()
    ports: set[tuple[Any, Any]] = set()
    node_ports: set[tuple[Any, Any]] = set()
    several = len(spec.get("ports") or ()) > 1
    for index, each in enumerate_objects(spec.get("ports")):
        path = f"spec.ports[{index}]"
        yield from _one_service_port(each, path, names, needs_name=several)
        protocol, node_port = each.get("protocol"), each.get("nodePort")
        if node_port and spec.get("type") == "ClusterIP":
            rule = "may not be used when `type` is 'ClusterIP'"
            yield causes.forbidden(f"{path}.nodePort", rule)
        if node_port and (protocol, node_port) in node_ports:
            yield causes.duplicate(f"{path}.nodePort", node_port)
        node_ports.add((protocol, node_port))
        if (protocol, each.get("port")) in ports:
            yield causes.duplicate(path, {"port": each.get("port"), "protocol": protocol})
        ports.add((protocol, each.get("port")))


def _one_service_port(each: _Raw, path: str, names: set[str], *, needs_name: bool) -> Causes:
    name = each.get("name") or ""
    if name:
        yield from check_name(f"{path}.name", name, problems_of_dns_label)
        if name in names:
            yield causes.duplicate(f"{path}.name", name)
        names.add(name)
    elif needs_name:
        yield causes.required(f"{path}.name")
    yield from check_port(f"{path}.port", each.get("port") or 0)
    yield from check_choice(f"{path}.protocol", each.get("protocol"), _PROTOCOLS, required=True)
    if each.get("targetPort") is not None:
        yield from check_port_or_name(f"{path}.targetPort", each["targetPort"])
    if each.get("appProtocol"):
        yield from check_name(f"{path}.appProtocol", each["appProtocol"], problems_of_label_key)


def _address_problems(spec: _Raw) -> Causes:
    addresses = spec.get("clusterIPs") or [each for each in [spec.get("clusterIP")] if each]
    for index, each in enumerate(addresses):
        if each != "None" and not is_ip_address(each):
            rule = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
            yield causes.invalid(f"spec.clusterIPs[{index}]", each, rule)


def _address_change(spec: _Raw, before: _Raw) -> Causes:
    # `validateUpgradeDowngradeClusterIPs`: clients may have cached the address.
    if "ExternalName" in {spec.get("type"), before.get("type")}:
        return
    new, old = spec.get("clusterIP") or "", before.get("clusterIP") or ""
    if old and not new:
        rule = "primary clusterIP can not be unset"
        yield causes.invalid("spec.clusterIPs[0]", spec.get("clusterIPs"), rule)
    elif old and new != old:
        addresses = spec.get("clusterIPs") or [new]
        yield causes.invalid("spec.clusterIPs[0]", addresses, "may not change once set")


# --- other kinds


def _namespace(obj: _Raw, _: _Raw | None) -> Causes:
    # `ValidateNamespace`.
    for each in (obj.get("spec") or {}).get("finalizers") or ():
        yield from check_name("spec.finalizers", each, problems_of_label_key)


def _event(obj: _Raw, _: _Raw | None) -> Causes:
    # `legacyValidateEvent`: events of cluster-scoped objects belong into `default`.
    own = (obj.get("metadata") or {}).get("namespace") or ""
    involved = (obj.get("involvedObject") or {}).get("namespace") or ""
    rule = "does not match event.namespace"
    if obj.get("eventTime"):
        if not involved and own not in {"default", "kube-system"}:
            yield causes.invalid("involvedObject.namespace", involved, rule)
        yield from _new_event(obj)
    elif involved != own and (involved or own not in {"", "default"}):
        yield causes.invalid("involvedObject.namespace", involved, rule)


def _new_event(obj: _Raw) -> Causes:
    # Events with `eventTime` are of the new style, which requires these fields.
    component = obj.get("reportingComponent") or ""
    if not component:
        yield causes.required("reportingComponent")
    yield from check_name("reportingComponent", component, problems_of_label_key)
    limits = {"reportingInstance": 128, "action": 128, "reason": 128}
    for field, limit in limits.items():
        text = obj.get(field) or ""
        if not text:
            yield causes.required(field)
        elif len(text) > limit:
            yield causes.invalid(field, "", f"can have at most {limit} characters")
    if len(obj.get("message") or "") > 1024:
        yield causes.invalid("message", "", "can have at most 1024 characters")


def _endpoints(obj: _Raw, _: _Raw | None) -> Causes:
    # `ValidateEndpoints`.
    for index, subset in enumerate_objects(obj.get("subsets")):
        path = f"subsets[{index}]"
        if not subset.get("addresses") and not subset.get("notReadyAddresses"):
            rule = "must specify `addresses` or `notReadyAddresses`"
            yield causes.required(path, rule)
        for number, each in enumerate_objects(subset.get("addresses")):
            where = f"{path}.addresses[{number}].ip"
            if not is_ip_address(str(each.get("ip") or "")):
                rule = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
                yield causes.invalid(where, each.get("ip") or "", rule)
        for number, each in enumerate_objects(subset.get("ports")):
            yield from check_port(f"{path}.ports[{number}].port", each.get("port"))


def _quota(obj: _Raw, _: _Raw | None) -> Causes:
    # `ValidateResourceQuota`.
    for key, value in ((obj.get("spec") or {}).get("hard") or {}).items():
        yield from check_quantity(f"spec.hard[{key}]", value)


def _limit_range(obj: _Raw, _: _Raw | None) -> Causes:
    # `ValidateLimitRange`: a pod as a whole has no defaults.
    spec = obj.get("spec") or {}
    for index, each in enumerate_objects(spec.get("limits")):
        if each.get("type") != "Pod":
            continue
        for field in ("default", "defaultRequest"):
            if each.get(field):
                rule = "may not be specified when `type` is 'Pod'"
                yield causes.forbidden(f"spec.limits[{index}].{field}", rule)


def _node(obj: _Raw, _: _Raw | None) -> Causes:
    # `ValidateNode`; kube-apiserver reports taints under `metadata`.
    spec = obj.get("spec") or {}
    effects = ("NoSchedule", "PreferNoSchedule", "NoExecute")
    for index, each in enumerate_objects(spec.get("taints")):
        yield from check_choice(f"metadata.taints[{index}].effect", each.get("effect"), effects)


CORE: Final[dict[tuple[str, str], Callable[[_Raw, _Raw | None], Causes]]] = {
    ("", "ConfigMap"): _config_map,
    ("", "Endpoints"): _endpoints,
    ("", "Event"): _event,
    ("", "LimitRange"): _limit_range,
    ("", "Namespace"): _namespace,
    ("", "Node"): _node,
    ("", "Pod"): _pod,
    ("", "PodTemplate"): _pod_template,
    ("", "ResourceQuota"): _quota,
    ("", "Secret"): _secret,
    ("", "Service"): _service,
}
