"""The defaults of built-in kinds, as the `SetDefaults_*` functions of Kubernetes.

Guarantees: pure and idempotent; a kind that is not in the table has no defaults. Zero values are
none: Go writes them later (`zero_values`).
See also: pods (`pod_defaults`), what is only set at creation (`preparation`).
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any, Final

from kubeloop.wire import JsonObject

from ..schema.crds import default_crd
from ..values.json_values import (
    Change,
    map_field,
    map_items,
    value_at,
    with_defaults,
    without,
)
from .pod_defaults import default_pod, default_template, default_volume_sources

__all__ = ["default"]

_RBAC: Final = "rbac.authorization.k8s.io"
_RESOURCE: Final = "resource.k8s.io"
_FLOWS: Final = "flowcontrol.apiserver.k8s.io"


def default(group: str, kind: str, obj: dict[str, Any]) -> dict[str, Any]:
    """`obj` with the defaults of its kind and version."""
    for change in _CHANGES.get((group, kind), ()):
        obj = change(obj)
    return obj


def _spec(change: Change) -> Change:
    return lambda obj: map_field(obj, "spec", change, make=True)


def _spec_defaults(**defaults: Any) -> Change:
    return _spec(lambda spec: with_defaults(spec, defaults))


def _status_defaults(**defaults: Any) -> Change:
    return lambda obj: map_field(
        obj, "status", lambda value: with_defaults(value, defaults), make=True
    )


def _defaults(**defaults: Any) -> Change:
    return lambda obj: with_defaults(obj, defaults)


def _pointer_defaults(**defaults: Any) -> Change:
    """Defaults of pointers in Go: an empty text stays as it is, and validation rejects it."""

    def fill(obj: JsonObject) -> JsonObject:
        missing = {key: value for key, value in defaults.items() if obj.get(key) is None}
        return {**obj, **missing} if missing else obj

    return fill


def _items_in_spec(key: str, change: Change) -> Change:
    return _spec(lambda spec: map_items(spec, key, change))


# --- workloads


def _template_generation(obj: JsonObject) -> JsonObject:
    """A daemon set with the annotation into which apps/v1 converts the template generation."""

    def annotate(meta: JsonObject) -> JsonObject:
        return map_field(
            meta,
            "annotations",
            lambda value: with_defaults(value, {"deprecated.daemonset.template.generation": "0"}),
            make=True,
        )

    return map_field(obj, "metadata", annotate, make=True)


def _template(spec: JsonObject) -> JsonObject:
    return map_field(spec, "template", default_template, make=True)


def _rolling(key: str, **defaults: Any) -> Change:
    """The strategy `RollingUpdate` by default, with the defaults of its parameters."""

    def fill(strategy: JsonObject) -> JsonObject:
        strategy = with_defaults(strategy, {"type": "RollingUpdate"})
        if strategy["type"] != "RollingUpdate":
            return strategy
        return map_field(strategy, "rollingUpdate", fill_parameters, make=True)

    def fill_parameters(parameters: JsonObject) -> JsonObject:
        # An empty string is a value of an `IntOrString`, and not a valid one.
        missing = {key: defaults[key] for key in defaults if parameters.get(key) is None}
        return {**parameters, **missing} if missing else parameters

    return _spec(lambda spec: map_field(spec, key, fill, make=True))


def _claim_templates(spec: JsonObject) -> JsonObject:
    return map_items(
        spec,
        "volumeClaimTemplates",
        lambda claim: _claim(
            with_defaults(claim, {"apiVersion": "v1", "kind": "PersistentVolumeClaim"})
        ),
    )


def _retention(spec: JsonObject) -> JsonObject:
    retain = {"whenDeleted": "Retain", "whenScaled": "Retain"}
    name = "persistentVolumeClaimRetentionPolicy"
    return map_field(spec, name, lambda value: with_defaults(value, retain), make=True)


def _labels_of_template(obj: JsonObject) -> JsonObject:
    # `SetDefaults_ReplicationController` and `SetDefaults_Job`.
    labels = value_at(obj, "spec", "template", "metadata", "labels")
    if not labels or value_at(obj, "metadata", "labels"):
        return obj
    return map_field(obj, "metadata", lambda meta: {**meta, "labels": labels}, make=True)


def _controller_selector(spec: JsonObject) -> JsonObject:
    labels = value_at(spec, "template", "metadata", "labels")
    return {**spec, "selector": labels} if labels and not spec.get("selector") else spec


def _job(spec: JsonObject) -> JsonObject:
    # `SetDefaults_Job`.
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec = {**spec, "completions": 1}
    per_index = spec.get("backoffLimitPerIndex") is not None
    has_failure_policy = spec.get("podFailurePolicy") is not None
    spec = with_defaults(
        spec,
        {
            "parallelism": 1,
            "backoffLimit": 2**31 - 1 if per_index else 6,
            "completionMode": "NonIndexed",
            "suspend": False,
            "podReplacementPolicy": "Failed" if has_failure_policy else "TerminatingOrFailed",
            "manualSelector": False,
        },
    )
    return map_field(
        spec, "podFailurePolicy", lambda policy: map_items(policy, "rules", _failure_rule)
    )


def _failure_rule(rule: JsonObject) -> JsonObject:
    return map_items(
        rule, "onPodConditions", lambda pattern: with_defaults(pattern, {"status": "True"})
    )


def _job_template(spec: JsonObject) -> JsonObject:
    return map_field(
        spec,
        "jobTemplate",
        lambda template: map_field(template, "spec", _template, make=True),
        make=True,
    )


# --- core


def _secret(obj: JsonObject) -> JsonObject:
    # The strategy of secrets: `stringData` is write-only and overrides `data`.
    text = obj.get("stringData")
    if text is None:
        return obj
    data = {key: base64.b64encode(value.encode()).decode() for key, value in text.items()}
    merged = {**(obj.get("data") or {}), **data}
    rest = without(obj, "stringData")
    return {**rest, "data": merged} if merged else rest


def _claim(obj: JsonObject) -> JsonObject:
    # `SetDefaults_PersistentVolumeClaim`.
    obj = map_field(obj, "spec", lambda spec: with_defaults(spec, _FILES), make=True)
    return _status_defaults(phase="Pending")(obj)


_FILES: Final = {"volumeMode": "Filesystem"}


def _namespace(obj: JsonObject) -> JsonObject:
    # `SetDefaults_Namespace`: selectors can then match a namespace by its name.
    name = value_at(obj, "metadata", "name")
    if not name:
        return obj
    own = {"kubernetes.io/metadata.name": name}

    def label(meta: JsonObject) -> JsonObject:
        labels = meta.get("labels") or {}
        return meta if own.items() <= labels.items() else {**meta, "labels": {**labels, **own}}

    return map_field(obj, "metadata", label)


def _node_networks(spec: JsonObject) -> JsonObject:
    # The conversion from the internal version keeps both fields equal.
    single, several = spec.get("podCIDR"), spec.get("podCIDRs")
    if single:
        is_same = several is not None and several[:1] == [single]
        return spec if is_same else {**spec, "podCIDRs": [single]}
    return {**spec, "podCIDR": several[0]} if several else spec


def _node_status(status: JsonObject) -> JsonObject:
    # `SetDefaults_NodeStatus`.
    capacity = status.get("capacity")
    return with_defaults(status, {"allocatable": dict(capacity)}) if capacity else status


def _limit(item: JsonObject) -> JsonObject:
    if item.get("type") != "Container":
        return item
    # Limits default to the maximum; requests to the limits, or to the minimum.
    limits = {**(item.get("max") or {}), **(item.get("default") or {})}
    requests = {**(item.get("min") or {}), **limits, **(item.get("defaultRequest") or {})}
    defaults = {"default": limits, "defaultRequest": requests}
    changed = {key: value for key, value in defaults.items() if value and item.get(key) != value}
    return {**item, **changed} if changed else item


def _subset(subset: JsonObject) -> JsonObject:
    return map_items(subset, "ports", lambda port: with_defaults(port, {"protocol": "TCP"}))


def _service(spec: JsonObject) -> JsonObject:
    # `SetDefaults_Service`.
    spec = with_defaults(spec, {"sessionAffinity": "None", "type": "ClusterIP"})
    spec = _affinity(spec)
    kind = spec["type"]
    if kind in {"NodePort", "LoadBalancer"} or (kind == "ClusterIP" and spec.get("externalIPs")):
        spec = with_defaults(spec, {"externalTrafficPolicy": "Cluster"})
    if kind in {"ClusterIP", "NodePort", "LoadBalancer"}:
        spec = with_defaults(spec, {"internalTrafficPolicy": "Cluster"})
    if kind == "LoadBalancer":
        spec = with_defaults(spec, {"allocateLoadBalancerNodePorts": True})
    return map_items(spec, "ports", _service_port)


def _affinity(spec: JsonObject) -> JsonObject:
    # Sticky sessions last three hours by default.
    if spec["sessionAffinity"] == "None":
        return without(spec, "sessionAffinityConfig")
    if spec["sessionAffinity"] != "ClientIP":
        return spec
    if value_at(spec, "sessionAffinityConfig", "clientIP", "timeoutSeconds") is not None:
        return spec
    return {**spec, "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 10800}}}


def _service_port(port: JsonObject) -> JsonObject:
    # The target defaults to the port itself.
    port = with_defaults(port, {"protocol": "TCP"})
    if port.get("targetPort") in (None, 0, "") and "port" in port:
        port = {**port, "targetPort": port["port"]}
    return port


# --- the other groups


def _autoscaler(obj: JsonObject) -> JsonObject:
    # v1 has no metrics in its spec; they are in annotations.
    obj = _spec_defaults(minReplicas=1)(obj)
    if str(obj.get("apiVersion", "")).endswith("/v1"):
        return obj
    return _spec(_scaling)(obj)


def _scaling(spec: JsonObject) -> JsonObject:
    if not spec.get("metrics"):
        target = {"type": "Utilization", "averageUtilization": 80}
        metric = {"type": "Resource", "resource": {"name": "cpu", "target": target}}
        spec = {**spec, "metrics": [metric]}
    return map_field(spec, "behavior", _behavior)


_PERCENT: Final = {"type": "Percent", "value": 100, "periodSeconds": 15}
_PODS: Final = {"type": "Pods", "value": 4, "periodSeconds": 15}


def _behavior(behavior: JsonObject) -> JsonObject:
    # `GenerateHPAScaleUpRules` and `GenerateHPAScaleDownRules`.
    up = {
        "stabilizationWindowSeconds": 0,
        "selectPolicy": "Max",
        "policies": [_PODS, _PERCENT],
    }
    down = {"selectPolicy": "Max", "policies": [_PERCENT]}
    behavior = map_field(behavior, "scaleUp", lambda value: with_defaults(value, up), make=True)
    return map_field(behavior, "scaleDown", lambda value: with_defaults(value, down), make=True)


def _network_policy(spec: JsonObject) -> JsonObject:
    # `SetDefaults_NetworkPolicy`: a policy affects egress only if it has egress rules.
    if not spec.get("policyTypes"):
        types = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]
        spec = {**spec, "policyTypes": types}
    return map_items(
        spec,
        ("ingress", "egress"),
        lambda rule: map_items(
            rule, "ports", lambda port: with_defaults(port, {"protocol": "TCP"})
        ),
    )


def _binding(obj: JsonObject) -> JsonObject:
    obj = map_field(obj, "roleRef", lambda ref: with_defaults(ref, {"apiGroup": _RBAC}), make=True)
    return map_items(obj, "subjects", _subject)


def _subject(subject: JsonObject) -> JsonObject:
    return (
        with_defaults(subject, {"apiGroup": _RBAC})
        if subject.get("kind") in {"User", "Group"}
        else subject
    )


_SELECTORS: Final = {"matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {}}


def _webhooks(**defaults: Any) -> Change:
    all_defaults = {"failurePolicy": "Fail", "timeoutSeconds": 10, **_SELECTORS, **defaults}

    def fill(webhook: JsonObject) -> JsonObject:
        webhook = map_items(with_defaults(webhook, all_defaults), "rules", _rule)
        return map_field(webhook, "clientConfig", _service_reference)

    return lambda obj: map_items(obj, "webhooks", fill)


def _rule(rule: JsonObject) -> JsonObject:
    return with_defaults(rule, {"scope": "*"})


def _service_reference(config: JsonObject) -> JsonObject:
    return map_field(config, "service", lambda service: with_defaults(service, {"port": 443}))


def _match_resources(value: JsonObject) -> JsonObject:
    rules = ("resourceRules", "excludeResourceRules")
    return map_items(with_defaults(value, _SELECTORS), rules, _rule)


def _policy(spec: JsonObject) -> JsonObject:
    spec = with_defaults(spec, {"failurePolicy": "Fail"})
    return map_field(spec, "matchConstraints", _match_resources)


def _policy_binding(spec: JsonObject) -> JsonObject:
    return map_field(spec, "matchResources", _match_resources)


def _driver(spec: JsonObject) -> JsonObject:
    # `SetDefaults_CSIDriver`.
    if not spec.get("volumeLifecycleModes"):
        spec = {**spec, "volumeLifecycleModes": ["Persistent"]}
    return with_defaults(
        spec,
        {
            "attachRequired": True,
            "podInfoOnMount": False,
            "storageCapacity": False,
            "fsGroupPolicy": "ReadWriteOnceWithFSType",
            "requiresRepublish": False,
            "seLinuxMount": False,
            "preventPodSchedulingIfMissing": False,
        },
    )


def _flow_schema(spec: JsonObject) -> JsonObject:
    return spec if spec.get("matchingPrecedence") else {**spec, "matchingPrecedence": 1000}


_QUEUING: Final = {"handSize": 8, "queues": 64, "queueLengthLimit": 50}


def _priority_level(spec: JsonObject) -> JsonObject:
    # `SetDefaults_LimitedPriorityLevelConfiguration` and its neighbours.
    exempt = _pointer_defaults(nominalConcurrencyShares=0, lendablePercent=0)
    limited = _pointer_defaults(nominalConcurrencyShares=30, lendablePercent=0)
    spec = map_field(map_field(spec, "exempt", exempt), "limited", limited)
    return map_field(
        spec,
        "limited",
        lambda value: map_field(
            value, "limitResponse", lambda response: map_field(response, "queuing", _queuing)
        ),
    )


def _queuing(queuing: JsonObject) -> JsonObject:
    missing = {key: value for key, value in _QUEUING.items() if not queuing.get(key)}
    return {**queuing, **missing} if missing else queuing


def _device_claim(spec: JsonObject) -> JsonObject:
    return map_field(
        spec, "devices", lambda devices: map_items(devices, "requests", _device_request)
    )


def _device_request(request: JsonObject) -> JsonObject:
    return map_items(map_field(request, "exactly", _device_count), "firstAvailable", _device_count)


def _device_count(wanted: JsonObject) -> JsonObject:
    # `SetDefaults_ExactDeviceRequest` and `SetDefaults_DeviceSubRequest`.
    wanted = with_defaults(wanted, {"allocationMode": "ExactCount"})
    if wanted["allocationMode"] == "ExactCount" and not wanted.get("count"):
        wanted = {**wanted, "count": 1}
    return map_items(
        wanted, "tolerations", lambda value: with_defaults(value, {"operator": "Equal"})
    )


def _ingress_class(spec: JsonObject) -> JsonObject:
    return map_field(spec, "parameters", lambda value: with_defaults(value, {"scope": "Cluster"}))


def _ip_modes(obj: JsonObject) -> JsonObject:
    # `SetDefaults_ServiceLoadBalancerIngress`, part of `SetDefaults_Service`.
    entries = value_at(obj, "status", "loadBalancer", "ingress")
    if value_at(obj, "spec", "type") != "LoadBalancer" or not entries:
        return obj

    def fill(entry: JsonObject) -> JsonObject:
        return with_defaults(entry, {"ipMode": "VIP"}) if entry.get("ip") else entry

    return map_field(
        obj,
        "status",
        lambda status: map_field(
            status, "loadBalancer", lambda balancer: map_items(balancer, "ingress", fill)
        ),
    )


_SERVICE_PORT: Final = {"name": "", "protocol": "TCP"}


def _endpoint_port(port: JsonObject) -> JsonObject:
    # `SetDefaults_EndpointPort` writes the empty name too.
    return {**_SERVICE_PORT, **port} if _SERVICE_PORT.keys() - port.keys() else port


_CHANGES: Final[dict[tuple[str, str], tuple[Callable[[JsonObject], JsonObject], ...]]] = {
    ("", "Endpoints"): (lambda obj: map_items(obj, "subsets", _subset),),
    ("", "LimitRange"): (_items_in_spec("limits", _limit),),
    ("", "Namespace"): (_namespace, _status_defaults(phase="Active")),
    ("", "Node"): (
        lambda obj: map_field(obj, "spec", _node_networks),
        lambda obj: map_field(obj, "status", _node_status),
    ),
    ("", "PersistentVolume"): (
        lambda obj: map_field(obj, "spec", default_volume_sources),
        _spec_defaults(persistentVolumeReclaimPolicy="Retain", volumeMode="Filesystem"),
        _status_defaults(phase="Pending"),
    ),
    ("", "PersistentVolumeClaim"): (_claim,),
    ("", "Pod"): (default_pod,),
    ("", "PodTemplate"): (lambda obj: map_field(obj, "template", default_template, make=True),),
    ("", "ReplicationController"): (
        _labels_of_template,
        _spec(_controller_selector),
        _spec_defaults(replicas=1),
        # A pointer in Go: a missing template stays missing.
        _spec(lambda spec: map_field(spec, "template", default_template)),
    ),
    ("", "Secret"): (_secret, _defaults(type="Opaque")),
    ("", "Service"): (_spec(_service), _ip_modes),
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicy"): (_spec(_policy),),
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding"): (_spec(_policy_binding),),
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"): (
        _webhooks(reinvocationPolicy="Never"),
    ),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"): (_spec(_policy),),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"): (_spec(_policy_binding),),
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"): (_webhooks(),),
    ("apiextensions.k8s.io", "CustomResourceDefinition"): (default_crd,),
    ("apiregistration.k8s.io", "APIService"): (_spec(_service_reference),),
    ("apps", "DaemonSet"): (
        _rolling("updateStrategy", maxUnavailable=1, maxSurge=0),
        _spec_defaults(revisionHistoryLimit=10),
        _spec(_template),
        _template_generation,
    ),
    ("apps", "Deployment"): (
        _spec_defaults(replicas=1, revisionHistoryLimit=10, progressDeadlineSeconds=600),
        _rolling("strategy", maxUnavailable="25%", maxSurge="25%"),
        _spec(_template),
    ),
    ("apps", "ReplicaSet"): (
        _spec_defaults(replicas=1),
        _spec(_template),
    ),
    ("apps", "StatefulSet"): (
        _spec_defaults(replicas=1, revisionHistoryLimit=10, podManagementPolicy="OrderedReady"),
        _rolling("updateStrategy", partition=0, maxUnavailable=1),
        _spec(_retention),
        _spec(_claim_templates),
        _spec(_template),
    ),
    ("autoscaling", "HorizontalPodAutoscaler"): (_autoscaler,),
    ("batch", "CronJob"): (
        _spec_defaults(
            concurrencyPolicy="Allow",
            suspend=False,
            successfulJobsHistoryLimit=3,
            failedJobsHistoryLimit=1,
        ),
        _spec(_job_template),
    ),
    ("batch", "Job"): (_labels_of_template, _spec(_job), _spec(_template)),
    ("certificates.k8s.io", "PodCertificateRequest"): (
        _spec(_pointer_defaults(maxExpirationSeconds=86400)),
    ),
    ("discovery.k8s.io", "EndpointSlice"): (lambda obj: map_items(obj, "ports", _endpoint_port),),
    (_FLOWS, "FlowSchema"): (_spec(_flow_schema),),
    (_FLOWS, "PriorityLevelConfiguration"): (_spec(_priority_level),),
    ("networking.k8s.io", "IngressClass"): (_spec(_ingress_class),),
    ("networking.k8s.io", "NetworkPolicy"): (_spec(_network_policy),),
    (_RESOURCE, "ResourceClaim"): (_spec(_device_claim),),
    (_RESOURCE, "ResourceClaimTemplate"): (
        _spec(lambda spec: map_field(spec, "spec", _device_claim)),
    ),
    (_RBAC, "ClusterRoleBinding"): (_binding,),
    (_RBAC, "RoleBinding"): (_binding,),
    ("scheduling.k8s.io", "PriorityClass"): (
        _pointer_defaults(preemptionPolicy="PreemptLowerPriority"),
    ),
    ("storage.k8s.io", "CSIDriver"): (_spec(_driver),),
    ("storage.k8s.io", "StorageClass"): (
        _pointer_defaults(reclaimPolicy="Delete", volumeBindingMode="Immediate"),
    ),
}
