"""Warnings about objects that are valid, yet probably not what the client meant.

Guarantees: a warning for each case in which kube-apiserver's strategies return one
(`WarningsOnCreate`, `WarningsOnUpdate`), with its field path; the sentences are our own.
See also: pods and templates (`pod_warnings`), unknown fields (`values.unknown_fields`), deprecated
versions (`registry`).
"""

from __future__ import annotations

import base64
import ssl
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

from kubeloop.meta import problems_of_dns_label

from ..values.json_values import json_equal, value_at
from .address_warnings import address_warnings, network_warnings
from .pod_warnings import (
    DEPRECATED_LABELS,
    DEPRECATED_VOLUMES,
    pod_warnings,
    storage_warnings,
    template_warnings,
    term_warnings,
)
from .value_rules import enumerate_objects, parse_quantity

__all__ = ["warnings_of"]

_Raw: TypeAlias = Mapping[str, Any]
_Warnings: TypeAlias = Iterator[str]
_Warn: TypeAlias = Callable[[_Raw, _Raw | None], _Warnings]

_STATIC: Final = ".static.k8s.io"
_CLASS_ANNOTATION: Final = "volume.beta.kubernetes.io/storage-class"
_MOUNT_ANNOTATION: Final = "volume.beta.kubernetes.io/mount-options"
_INGRESS_CLASS: Final = "kubernetes.io/ingress.class"
_MOUNTABLE: Final = "kubernetes.io/enforce-mountable-secrets"
_HINTS: Final = "service.kubernetes.io/topology-aware-hints"
_MANAGED_BY: Final = "endpoints.kubernetes.io/managed-by"


def warnings_of(
    group: str, kind: str, obj: _Raw, old: _Raw | None, *, subresource: str = ""
) -> list[str]:
    """The warnings about `obj`, or about its update from `old`; each text once."""
    warn = (_STATUS if subresource == "status" else _WARN).get((group, kind))
    if warn is None or subresource not in {"", "status"}:
        return []
    return list(dict.fromkeys(warn(obj, old)))


def _annotations(obj: _Raw) -> Mapping[str, str]:
    return (obj.get("metadata") or {}).get("annotations") or {}


def _name_warnings(obj: _Raw, old: _Raw | None) -> _Warnings:
    if old is None and problems_of_dns_label((obj.get("metadata") or {}).get("name") or ""):
        used = "the Pod's hostname" if obj.get("kind") == "Pod" else "Pod names and hostnames"
        found = " ".join(problems_of_dns_label((obj.get("metadata") or {}).get("name") or ""))
        yield (
            f"metadata.name: this is used in {used}, which can result in surprising behavior; a "
            f"DNS label is recommended: [{found}]"
        )


# --- pods and workloads


def _pod(obj: _Raw, old: _Raw | None) -> _Warnings:
    # Controllers update pods, so that no one would read warnings.
    if old is None:
        yield from _name_warnings(obj, old)
        yield from pod_warnings(obj)


def _pod_status(obj: _Raw, _: _Raw | None) -> _Warnings:
    for field in ("podIPs", "hostIPs"):
        for index, each in enumerate_objects(value_at(obj, "status", field)):
            yield from address_warnings(f"status.{field}[{index}].ip", each.get("ip") or "")


def _workload(*path: str, names_pods: bool = True) -> _Warn:
    """Warnings about a template at `path`, when the spec changes."""

    def warn(obj: _Raw, old: _Raw | None) -> _Warnings:
        if names_pods:
            yield from _name_warnings(obj, old)
        if old is None or not json_equal(obj.get(path[0]), old.get(path[0])):
            template = value_at(obj, *path)
            if isinstance(template, Mapping):
                yield from template_warnings(template, ".".join(path))

    return warn


_template: Final = _workload("spec", "template", names_pods=False)


def _daemon_set(obj: _Raw, old: _Raw | None) -> _Warnings:
    path = ("spec", "template")
    if old is None or not json_equal(value_at(obj, *path), value_at(old, *path)):
        yield from _template(obj, None)


def _stateful_set(obj: _Raw, old: _Raw | None) -> _Warnings:
    yield from _template(obj, old)
    for index, claim in enumerate_objects(value_at(obj, "spec", "volumeClaimTemplates")):
        path = f"spec.volumeClaimTemplates[{index}]"
        yield from storage_warnings(
            claim.get("spec") or {}, path if old is None else f"{path}.Spec"
        )
    if (value_at(obj, "spec", "revisionHistoryLimit") or 0) < 0:
        yield (
            "spec.revisionHistoryLimit: a negative value retains all historical revisions; a "
            "value >= 0 is recommended"
        )


def _job_spec(spec: _Raw, path: str) -> _Warnings:
    many = (spec.get("completions") or 0) > 100_000 and (spec.get("parallelism") or 0) > 10_000
    if spec.get("completionMode") == "Indexed" and many:
        yield f"{path}: with so many indexes, failed ones may not be recorded"
    if isinstance(spec.get("template"), Mapping):
        yield from template_warnings(spec["template"], f"{path}.template")


def _job(obj: _Raw, old: _Raw | None) -> _Warnings:
    yield from _name_warnings(obj, old)
    if old is None or not json_equal(obj.get("spec"), old.get("spec")):
        yield from _job_spec(obj.get("spec") or {}, "spec")


def _cron_job(obj: _Raw, old: _Raw | None) -> _Warnings:
    yield from _name_warnings(obj, old)
    if old is None or not json_equal(obj.get("spec"), old.get("spec")):
        yield from _job_spec(
            value_at(obj, "spec", "jobTemplate", "spec") or {}, "spec.jobTemplate.spec"
        )
    if old is not None and "TZ" in (value_at(obj, "spec", "schedule") or ""):
        yield "spec.schedule: use timeZone instead of TZ or CRON_TZ"


# --- services and networks


def _service(obj: _Raw, _: _Raw | None) -> _Warnings:
    spec = obj.get("spec") or {}
    kind = spec.get("type")
    is_headless = kind == "ClusterIP" and spec.get("clusterIP") == "None"
    if _HINTS in _annotations(obj):
        yield (
            f"annotation {_HINTS} is deprecated, please use "
            "service.kubernetes.io/topology-mode instead"
        )
    if not is_headless:
        for index, each in enumerate(spec.get("clusterIPs") or ()):
            yield from address_warnings(f"spec.clusterIPs[{index}]", each)
    yield from _ignored_fields(spec, is_headless=is_headless)
    if spec.get("loadBalancerIP"):
        yield from address_warnings("spec.loadBalancerIP", spec["loadBalancerIP"])
    for index, each in enumerate(spec.get("loadBalancerSourceRanges") or ()):
        yield from network_warnings(f"spec.loadBalancerSourceRanges[{index}]", each)
    if kind != "ExternalName" and spec.get("externalName"):
        yield 'spec.externalName is ignored when spec.type is not "ExternalName"'
    if spec.get("trafficDistribution") == "PreferClose":
        yield 'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"'


def _ignored_fields(spec: _Raw, *, is_headless: bool) -> _Warnings:
    addresses = spec.get("externalIPs") or []
    ignored = {
        "loadBalancerIP": spec.get("loadBalancerIP"),
        "externalIPs": addresses,
        "SessionAffinity": spec.get("sessionAffinity") not in (None, "None"),
    }
    for field, value in ignored.items():
        if is_headless and value:
            yield f"spec.{field} is ignored for headless services"
    for index, each in enumerate(addresses):
        yield from address_warnings(f"spec.externalIPs[{index}]", each)
    if addresses and spec.get("type") == "ExternalName":
        yield 'spec.externalIPs is ignored when spec.type is "ExternalName"'
    elif addresses and not is_headless:
        yield "spec.externalIPs is deprecated and may no longer be implemented in some clusters"


def _balancer_status(obj: _Raw, _: _Raw | None) -> _Warnings:
    path = ("status", "loadBalancer", "ingress")
    for index, each in enumerate_objects(value_at(obj, *path)):
        if each.get("ip"):
            yield from address_warnings(f"{'.'.join(path)}[{index}]", each["ip"])


def _endpoints(obj: _Raw, _: _Raw | None) -> _Warnings:
    if value_at(obj, "metadata", "labels", _MANAGED_BY) == "endpoint-controller":
        return
    for index, subset in enumerate_objects(obj.get("subsets")):
        for field in ("addresses", "notReadyAddresses"):
            for number, each in enumerate_objects(subset.get(field)):
                path = f"subsets[{index}].{field}[{number}].ip"
                yield from address_warnings(path, each.get("ip") or "")


def _endpoint_slice(obj: _Raw, old: _Raw | None) -> _Warnings:
    kind = obj.get("addressType")
    if old is None and kind == "FQDN":
        yield "spec.addressType: FQDN endpoints are deprecated"
    if kind not in {"IPv4", "IPv6"}:
        return
    for index, each in enumerate_objects(obj.get("endpoints")):
        for number, address in enumerate(each.get("addresses") or ()):
            yield from address_warnings(f"endpoints[{index}].addresses[{number}]", address)


def _ingress(obj: _Raw, old: _Raw | None) -> _Warnings:
    is_set = value_at(obj, "spec", "ingressClassName") is not None
    if old is None and _INGRESS_CLASS in _annotations(obj) and not is_set:
        yield (
            f'annotation "{_INGRESS_CLASS}" is deprecated, please use '
            "'spec.ingressClassName' instead"
        )


def _network_policy(obj: _Raw, _: _Raw | None) -> _Warnings:
    for direction, peers in (("ingress", "from"), ("egress", "to")):
        for index, rule in enumerate_objects(value_at(obj, "spec", direction)):
            for number, peer in enumerate_objects(rule.get(peers)):
                block = peer.get("ipBlock") or {}
                path = f"spec.{direction}[{index}].{peers}[{number}].ipBlock"
                yield from network_warnings(f"{path}.cidr", block.get("cidr") or "")
                for order, each in enumerate(block.get("except") or ()):
                    yield from network_warnings(f"{path}.except[{order}]", each)


# --- nodes and volumes


def _node(obj: _Raw, _: _Raw | None) -> _Warnings:
    spec = obj.get("spec") or {}
    if spec.get("configSource") is not None:
        yield "spec.configSource: the feature is removed"
    if spec.get("externalID"):
        yield "spec.externalID: this field is deprecated, and is unused by Kubernetes"
    for index, each in enumerate(spec.get("podCIDRs") or ()):
        yield from network_warnings(f"spec.podCIDRs[{index}]", each)


def _volume(obj: _Raw, _: _Raw | None) -> _Warnings:
    spec, annotations = obj.get("spec") or {}, _annotations(obj)
    for key, field in (
        (_CLASS_ANNOTATION, "storageClassName"),
        (_MOUNT_ANNOTATION, "mountOptions"),
    ):
        if key in annotations:
            yield f"metadata.annotations[{key}]: deprecated; use {field}"
    if spec.get("persistentVolumeReclaimPolicy") == "Recycle":
        yield (
            "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. "
            "Instead, the recommended approach is to use dynamic provisioning."
        )
    terms = value_at(spec, "nodeAffinity", "required", "nodeSelectorTerms")
    for index, term in enumerate_objects(terms):
        yield from term_warnings(term, f"spec.nodeAffinity.required.nodeSelectorTerms[{index}]")
    for field, text in DEPRECATED_VOLUMES.items():
        if spec.get(field) is not None and field not in {"flocker", "gitRepo", "quobyte"}:
            shown = "storageOS" if field == "storageos" else field
            yield f"spec.{shown}: {text}"


def _claim(obj: _Raw, _: _Raw | None) -> _Warnings:
    if _CLASS_ANNOTATION in _annotations(obj):
        yield (
            f"metadata.annotations[{_CLASS_ANNOTATION}]: deprecated since v1.8; use "
            '"storageClassName" attribute instead'
        )
    yield from storage_warnings(obj.get("spec") or {}, "spec")


def _storage_class(obj: _Raw, _: _Raw | None) -> _Warnings:
    for index, term in enumerate_objects(obj.get("allowedTopologies")):
        for number, each in enumerate_objects(term.get("matchLabelExpressions")):
            text = DEPRECATED_LABELS.get(each.get("key") or "")
            if text:
                path = f"allowedTopologies[{index}].matchLabelExpressions[{number}].key"
                yield f"{path}: {text}"


def _storage_capacity(obj: _Raw, _: _Raw | None) -> _Warnings:
    topology = obj.get("nodeTopology") or {}
    yield from term_warnings(topology, "nodeTopology")
    for key in topology.get("matchLabels") or ():
        if key in DEPRECATED_LABELS:
            yield f"nodeTopology.matchLabels.{key}: {DEPRECATED_LABELS[key]}"


def _csi_driver(obj: _Raw, old: _Raw | None) -> _Warnings:
    spec = obj.get("spec") or {}
    requests = spec.get("tokenRequests")
    is_new = old is None or not json_equal(requests, value_at(old, "spec", "tokenRequests"))
    if requests and is_new and spec.get("serviceAccountTokenInSecrets") is None:
        yield (
            "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to "
            "true to prevent possible logging of tokens in volume attributes"
        )


def _runtime_class(obj: _Raw, _: _Raw | None) -> _Warnings:
    for key in value_at(obj, "scheduling", "nodeSelector") or ():
        if key in DEPRECATED_LABELS:
            yield f"scheduling.nodeSelector: {DEPRECATED_LABELS[key]}"


# --- other kinds


def _secret(obj: _Raw, _: _Raw | None) -> _Warnings:
    # `warningsForSecret`: the certificate and the key must belong together.
    if obj.get("type") == "kubernetes.io/tls":
        data = obj.get("data") or {}
        problem = _problem_of_pair(data.get("tls.crt") or "", data.get("tls.key") or "")
        if problem:
            yield f"data: the certificate and the key are no pair: {problem}"


def _problem_of_pair(certificate: str, key: str) -> str:
    # The ssl module reads certificates from files only.
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in ("crt", "key")]
        try:
            for path, text in zip(paths, (certificate, key), strict=True):
                path.write_bytes(base64.b64decode(text))
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(paths[0], paths[1], password=lambda: "")
        except (ssl.SSLError, OSError, ValueError) as error:
            return str(error) or type(error).__name__
    return ""


def _service_account(obj: _Raw, old: _Raw | None) -> _Warnings:
    is_new = old is None or _MOUNTABLE not in _annotations(old)
    if is_new and _MOUNTABLE in _annotations(obj):
        yield (
            f"metadata.annotations[{_MOUNTABLE}]: deprecated in v1.32+; prefer separate namespaces "
            "to isolate access to mounted secrets"
        )


def _quota(obj: _Raw, old: _Raw | None) -> _Warnings:
    hard = value_at(obj, "spec", "hard") or {}
    for name in ("cpu", "memory", "storage", "ephemeral-storage") if old is None else ():
        request = f"requests.{name}"
        if request not in hard and name in {"cpu", "memory"} and name in hard:
            request = name
        low, high = (parse_quantity(hard.get(key, "0")) for key in (request, f"limits.{name}"))
        has_both = request in hard and f"limits.{name}" in hard
        if has_both and low is not None and high is not None and low > high:
            yield (
                f"ResourceQuota {request} ({low.canonical()}) should be less than limits.{name} "
                f"({high.canonical()})"
            )


def _static_name(obj: _Raw, old: _Raw | None) -> _Warnings:
    del old
    if ((obj.get("metadata") or {}).get("name") or "").endswith(_STATIC):
        yield f"metadata.name: names that end with {_STATIC} are reserved for static configurations"


def _resource_slice(obj: _Raw, _: _Raw | None) -> _Warnings:
    driver = value_at(obj, "spec", "driver") or ""
    if driver != driver.lower():
        yield "spec.driver: the names of drivers should be in lower case"


_ADMISSION: Final = "admissionregistration.k8s.io"
_WARN: Final[dict[tuple[str, str], _Warn]] = {
    ("", "Endpoints"): _endpoints,
    ("", "Node"): _node,
    ("", "PersistentVolume"): _volume,
    ("", "PersistentVolumeClaim"): _claim,
    ("", "Pod"): _pod,
    ("", "PodTemplate"): _workload("template", names_pods=False),
    ("", "ReplicationController"): _workload("spec", "template"),
    ("", "ResourceQuota"): _quota,
    ("", "Secret"): _secret,
    ("", "Service"): _service,
    ("", "ServiceAccount"): _service_account,
    (_ADMISSION, "MutatingAdmissionPolicy"): _static_name,
    (_ADMISSION, "MutatingAdmissionPolicyBinding"): _static_name,
    (_ADMISSION, "MutatingWebhookConfiguration"): _static_name,
    (_ADMISSION, "ValidatingAdmissionPolicy"): _static_name,
    (_ADMISSION, "ValidatingAdmissionPolicyBinding"): _static_name,
    (_ADMISSION, "ValidatingWebhookConfiguration"): _static_name,
    ("apps", "DaemonSet"): _daemon_set,
    ("apps", "Deployment"): _workload("spec", "template"),
    ("apps", "ReplicaSet"): _workload("spec", "template"),
    ("apps", "StatefulSet"): _stateful_set,
    ("batch", "CronJob"): _cron_job,
    ("batch", "Job"): _job,
    ("discovery.k8s.io", "EndpointSlice"): _endpoint_slice,
    ("networking.k8s.io", "Ingress"): _ingress,
    ("networking.k8s.io", "NetworkPolicy"): _network_policy,
    ("node.k8s.io", "RuntimeClass"): _runtime_class,
    ("resource.k8s.io", "ResourceSlice"): _resource_slice,
    ("storage.k8s.io", "CSIDriver"): _csi_driver,
    ("storage.k8s.io", "CSIStorageCapacity"): _storage_capacity,
    ("storage.k8s.io", "StorageClass"): _storage_class,
}
_STATUS: Final[dict[tuple[str, str], _Warn]] = {
    ("", "Pod"): _pod_status,
    ("", "Service"): _balancer_status,
    ("networking.k8s.io", "Ingress"): _balancer_status,
}
