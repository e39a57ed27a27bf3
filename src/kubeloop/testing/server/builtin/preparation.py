"""Prepares objects for creation and update, as `PrepareForCreate` and `PrepareForUpdate` do.

Resets the status, generates the selectors of jobs, sets what admission plugins add.
Guarantees: never changes objects in place.
See also: defaults (`builtin_defaults`), services (`service_preparation`).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from kubeloop.wire import JsonObject, Quantity, resources

from ..values.json_values import map_field, map_items, value_at, with_defaults, without
from .allocation import Reservation
from .builtin_defaults import default
from .label_keys import with_label_keys
from .pod_defaults import complete_pod_spec
from .quality import quality_of_service
from .service_preparation import allocate_service
from .spec_cache import cached_by_content
from .value_rules import parse_quantity

__all__ = [
    "new_api_service",
    "new_namespace",
    "prepare_for_create",
    "prepare_for_update",
    "with_default_tolerations",
    "with_template_generation_of",
]

# Kinds whose status is accepted at creation.
_KEEPS_STATUS: Final = frozenset(
    {("", "Node"), ("apiextensions.k8s.io", "CustomResourceDefinition")}
)
# Fields in the spec that belong to features which are disabled by default.
_DISABLED: Final = {("coordination.k8s.io", "Lease"): ("strategy", "preferredHolder")}
_JOB: Final = "batch.kubernetes.io/"
_TEMPLATE_GENERATION: Final = "deprecated.daemonset.template.generation"
_NUMBER: Final = re.compile("[1-9][0-9]{0,17}")
# The taints that the admission plugin DefaultTolerationSeconds tolerates for five minutes.
_TOLERATED: Final = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


def prepare_for_create(
    group: str, kind: str, obj: dict[str, Any], reservation: Reservation
) -> dict[str, Any]:
    """`obj` prepared for storage; it has its defaults, its name and its uid already.

    Raises:
        StatusError: a requested address or port cannot be allocated (422).
    """
    if (group, kind) in _WITH_STATUS and (group, kind) not in _KEEPS_STATUS:
        first = _initial_status(group, kind)
        obj = without(obj, "status") if first is None else {**obj, "status": first}
    if (group, kind) in _DISABLED:
        obj = _without_disabled(group, kind, obj, {})
    if (group, kind) == ("", "Service"):
        return allocate_service(obj, reservation)
    change = _NEW.get((group, kind))
    return obj if change is None else change(obj)


def _without_disabled(group: str, kind: str, obj: JsonObject, old: JsonObject) -> JsonObject:
    """`obj` without the fields of disabled features, unless `old` has them."""
    before = old.get("spec") or {}
    names = [each for each in _DISABLED[group, kind] if each not in before]
    return map_field(obj, "spec", lambda spec: without(spec, *names))


@functools.cache
def _initial_status(group: str, kind: str) -> JsonObject | None:
    """The status of a new object of the kind."""
    found: JsonObject | None = default(group, kind, {}).get("status")
    return found


def _kinds_with_status() -> Iterable[tuple[str, str]]:
    for info in resources():
        if any(part.name == "status" for part in info.subresources):
            yield info.group, info.kind


_WITH_STATUS: Final = frozenset(_kinds_with_status())


def _with_not_ready(spec: JsonObject) -> JsonObject:
    # TaintNodesByCondition: no pod runs on a new node before the node controller allows it.
    taints = spec.get("taints") or []
    own = {"key": _TOLERATED[0], "effect": "NoSchedule"}
    has_taint = any(
        each.get("key") == own["key"] and each.get("effect") == own["effect"] for each in taints
    )
    return spec if has_taint else {**spec, "taints": [*taints, own]}


def _new_volume(obj: JsonObject) -> JsonObject:
    created = value_at(obj, "metadata", "creationTimestamp")
    return {**obj, "status": {"phase": "Pending", "lastPhaseTransitionTime": created}}


def _data_sources(spec: JsonObject) -> JsonObject:
    # `NormalizeDataSources`: old and new clients use different fields for the same.
    source, ref = spec.get("dataSource"), spec.get("dataSourceRef")
    if source and not ref:
        return {**spec, "dataSourceRef": source}
    if ref and not source and not ref.get("namespace"):
        return {**spec, "dataSource": ref}
    return spec


# --- pods, namespaces, jobs


def _new_pod(obj: JsonObject) -> JsonObject:
    # Cached by spec: the pods of a replica set differ only in their names.
    pod = {**obj, **_pending_pod({key: obj[key] for key in obj.keys() & {"spec"}})}
    spec = pod.get("spec") or {}
    if spec.get("affinity") or spec.get("topologySpreadConstraints"):
        labels = value_at(pod, "metadata", "labels") or {}
        pod = {**pod, "spec": with_label_keys(spec, labels)}
    return _gated(pod) if spec.get("schedulingGates") else pod


def _gated(pod: JsonObject) -> JsonObject:
    # `applySchedulingGatedCondition`.
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "lastProbeTime": None,
        "lastTransitionTime": value_at(pod, "metadata", "creationTimestamp"),
        "reason": "SchedulingGated",
        "message": "Scheduling is blocked due to non-empty scheduling gates",
    }
    return {**pod, "status": {**pod["status"], "conditions": [condition]}}


@cached_by_content
def _pending_pod(pod: JsonObject) -> JsonObject:
    """The parts of a new pod that depend on its spec alone, so that they can be cached."""
    pod = map_field(pod, "spec", _admit_spec)
    status = {"phase": "Pending", "qosClass": quality_of_service(pod)}
    return {**map_field(pod, "spec", complete_pod_spec), "status": status}


def _admit_spec(spec: JsonObject) -> JsonObject:
    """The spec after the admission plugins Priority and DefaultTolerationSeconds."""
    spec = map_field(spec, "resources", lambda value: _pod_requests(value, spec))
    spec = with_defaults(spec, {"priority": 0, "preemptionPolicy": "PreemptLowerPriority"})
    return with_default_tolerations(spec)


def _pod_requests(resources: JsonObject, spec: JsonObject) -> JsonObject:
    # `defaultPodRequests`: the sum of the containers, else the limit of the pod.
    limits = resources.get("limits")
    if not limits:
        return resources
    requests = dict(resources.get("requests") or {})
    totals: dict[str, int] = {}
    for container in spec.get("containers") or ():
        for key, value in ((container.get("resources") or {}).get("requests") or {}).items():
            amount = parse_quantity(value)
            if key in {"cpu", "memory"} and amount is not None:
                totals[key] = totals.get(key, 0) + amount.milli_value()
    for key, total in totals.items():
        requests.setdefault(key, Quantity(f"{total}m").canonical())
    for key, value in limits.items():
        if key in {"cpu", "memory"} or key.startswith("hugepages-"):
            requests.setdefault(key, value)
    return {**resources, "requests": requests}


def _admit_changed_spec(spec: JsonObject, old: JsonObject) -> JsonObject:
    """The same for an update: a manifest that leaves out what the plugins set can be sent again."""
    kept: JsonObject = {key: old[key] for key in ("priority", "preemptionPolicy") if key in old}
    return with_default_tolerations(with_defaults(spec, kept))


def with_default_tolerations(spec: JsonObject) -> JsonObject:
    """The spec of a pod that tolerates lost nodes for five minutes."""
    tolerations = spec.get("tolerations") or []
    missing = [
        {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
        for key in _TOLERATED
        if not any(_tolerates(each, key) for each in tolerations)
    ]
    return {**spec, "tolerations": [*tolerations, *missing]} if missing else spec


def _tolerates(toleration: Mapping[str, Any], key: str) -> bool:
    matches_key = toleration.get("key") in (key, None, "")
    return matches_key and toleration.get("effect") in ("NoExecute", None, "")


def new_namespace(obj: JsonObject) -> JsonObject:
    """A new namespace: active, and kept until the namespace controller has emptied it."""

    def add_finalizer(spec: JsonObject) -> JsonObject:
        found = spec.get("finalizers") or []
        return spec if "kubernetes" in found else {**spec, "finalizers": [*found, "kubernetes"]}

    return {**map_field(obj, "spec", add_finalizer, make=True), "status": {"phase": "Active"}}


def _clean_secrets(obj: JsonObject) -> JsonObject:
    """A service account whose references to secrets have only a name."""

    def clean(reference: JsonObject) -> JsonObject:
        return {"name": reference["name"]} if reference.get("name") else {}

    return map_items(obj, "secrets", clean)


def _new_job(obj: JsonObject) -> JsonObject:
    """A job selects its pods by its uid, unless `manualSelector` is set."""
    uid, name = value_at(obj, "metadata", "uid"), value_at(obj, "metadata", "name")
    if value_at(obj, "spec", "manualSelector") or not uid:
        return obj
    labels = {"controller-uid": uid, f"{_JOB}controller-uid": uid}
    if name:
        labels |= {"job-name": name, f"{_JOB}job-name": name}

    def mark(meta: JsonObject) -> JsonObject:
        return {**meta, "labels": {**labels, **(meta.get("labels") or {})}}

    def select(selector: JsonObject) -> JsonObject:
        own = {f"{_JOB}controller-uid": uid}
        return {**selector, "matchLabels": {**own, **(selector.get("matchLabels") or {})}}

    def change(spec: JsonObject) -> JsonObject:
        spec = map_field(spec, "selector", select, make=True)
        return map_field(
            spec, "template", lambda value: map_field(value, "metadata", mark, make=True)
        )

    job = map_field(obj, "spec", change)
    own, inner = (
        value_at(obj, "metadata", "labels"),
        value_at(obj, "spec", "template", "metadata", "labels"),
    )
    # Defaulting copied the labels of the template to a job without labels: keep them equal.
    return job if own and own != inner else map_field(job, "metadata", mark)


def new_api_service(obj: JsonObject) -> JsonObject:
    """An API service without a backend is served by this server, and available at once."""
    if value_at(obj, "spec", "service") is not None:
        return obj
    condition = {
        "type": "Available",
        "status": "True",
        "lastTransitionTime": value_at(obj, "metadata", "creationTimestamp"),
        "reason": "Local",
        "message": "Local APIServices are always available",
    }
    return {**obj, "status": {"conditions": [condition]}}


def _with_taint_times(obj: JsonObject) -> JsonObject:
    # `SetDefaults_DeviceTaint`.
    times = {"timeAdded": value_at(obj, "metadata", "creationTimestamp")}

    def fill(taint: JsonObject) -> JsonObject:
        return with_defaults(taint, times)

    def fill_spec(spec: JsonObject) -> JsonObject:
        spec = map_field(spec, "taint", fill)
        return map_items(spec, "devices", lambda device: map_items(device, "taints", fill))

    return map_field(obj, "spec", fill_spec)


def _template_generation(obj: JsonObject) -> int:
    """The template generation of a daemon set, which apps/v1 keeps in an annotation."""
    text = value_at(obj, "metadata", "annotations", _TEMPLATE_GENERATION) or ""
    return int(text) if _NUMBER.fullmatch(text) else 1


def _with_template_generation(obj: JsonObject, number: int) -> JsonObject:
    def annotate(meta: JsonObject) -> JsonObject:
        annotations = {**(meta.get("annotations") or {}), _TEMPLATE_GENERATION: str(number)}
        return {**meta, "annotations": annotations}

    return map_field(obj, "metadata", annotate)


def with_template_generation_of(new: JsonObject, old: JsonObject) -> JsonObject:
    """An updated daemon set: the template generation grows if the template changed."""
    number = _template_generation(old)
    is_same = value_at(new, "spec", "template") == value_at(old, "spec", "template")
    return _with_template_generation(new, number if is_same else number + 1)


# --- updates


def prepare_for_update(
    group: str, kind: str, new: dict[str, Any], old: dict[str, Any]
) -> dict[str, Any]:
    """`new` with what its kind keeps of `old`: finalizers, tolerations, the template generation."""
    if (group, kind) in _DISABLED:
        return _without_disabled(group, kind, new, old)
    match group, kind:
        case "", "Namespace":
            # Only the subresource finalize changes them.
            return {**new, "spec": old.get("spec") or {}}
        case "", "Pod":
            before = old.get("spec") or {}
            return map_field(new, "spec", lambda spec: _admit_changed_spec(spec, before))
        case "", "Secret":
            return with_defaults(new, {"type": old.get("type")})
        case "", "ServiceAccount":
            return _clean_secrets(new)
        case "apps", "DaemonSet":
            return with_template_generation_of(new, old)
    return new


def _new_definition(obj: JsonObject) -> JsonObject:
    return default("apiextensions.k8s.io", "CustomResourceDefinition", without(obj, "status"))


_NEW: Final[dict[tuple[str, str], Callable[[JsonObject], JsonObject]]] = {
    ("", "Namespace"): new_namespace,
    ("", "Node"): lambda obj: map_field(obj, "spec", _with_not_ready, make=True),
    ("", "PersistentVolume"): _new_volume,
    ("", "PersistentVolumeClaim"): lambda obj: map_field(obj, "spec", _data_sources),
    ("", "Pod"): _new_pod,
    ("", "ServiceAccount"): _clean_secrets,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): _new_definition,
    ("apiregistration.k8s.io", "APIService"): new_api_service,
    ("apps", "DaemonSet"): lambda obj: _with_template_generation(obj, _template_generation(obj)),
    ("batch", "Job"): _new_job,
    ("resource.k8s.io", "DeviceTaintRule"): _with_taint_times,
    ("resource.k8s.io", "ResourceSlice"): _with_taint_times,
}
