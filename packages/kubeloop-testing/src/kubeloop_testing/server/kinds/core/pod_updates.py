"""Validation of changes of pods: of their specs, sizes, ephemeral containers and status.

Guarantees: the causes of `ValidatePodUpdate`, `ValidatePodResize`,
`ValidatePodEphemeralContainersUpdate` and `ValidatePodStatusUpdate`.
See also: rules that do not depend on the former pod (`rules.pod_validation`).
"""

from __future__ import annotations

from typing import Any, Final

from kubeloop.meta import problems_of_dns_subdomain

from ...values import causes
from ...values.go_values import changes
from ...values.json_values import json_equal, value_at
from ..kind import Causes, Json
from ..rules.quality import quality_of_service
from ..rules.value_rules import (
    check_ip,
    check_label_key,
    check_name,
    check_unchanged,
    enumerate_objects,
    ip_family,
)

__all__ = ["problems_of_pod_change", "problems_of_pod_status"]

_CHANGEABLE: Final = (
    "pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
    "additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set "
    "to 1 if it was previously negative)"
)
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_STATIC_POD: Final = "kubernetes.io/config.mirror"
_APP_ARMOR: Final = "container.apparmor.security.beta.kubernetes.io/"
_MAX_SECONDS: Final = 2**31 - 1


def problems_of_pod_change(new: Json, old: Json, *, subresource: str | None = None) -> Causes:
    """Why an update of a pod's spec is forbidden.

    `subresource` is the part that was written; None allows what any subresource may write.
    """
    spec, before = dict(new.get("spec") or {}), dict(old.get("spec") or {})
    if subresource in {None, "", "ephemeralcontainers"}:
        yield from _annotations(new, old)
    for group in ("containers", "initContainers"):
        if len(spec.get(group) or ()) != len(before.get(group) or ()):
            rule = "pod updates may not add or remove containers"
            yield causes.forbidden(f"spec.{group}", rule)
            return
    if spec is before or spec == before:
        return
    if subresource == "ephemeralcontainers":
        yield from _removed_containers(spec, before)
    if subresource == "resize":
        yield from _resize(new, old)
    yield from _deadline(spec, before)
    yield from _removed_tolerations(spec.get("tolerations") or [], before.get("tolerations") or [])
    yield from _added_gates(spec, before)
    if before.get("schedulingGates"):
        yield from _node_constraints(spec, before)
    writable = _writable_by(subresource)
    if not json_equal(
        _immutable_part(spec, before, writable), _immutable_part(before, before, writable)
    ):
        one, two = (_immutable_part(each, before, writable) for each in (before, spec))
        yield causes.forbidden("spec", _CHANGEABLE + changes("core/v1.PodSpec", one, two))


def _annotations(new: Json, old: Json) -> Causes:
    # `ValidatePodSpecificAnnotationUpdates`.
    after = value_at(new, "metadata", "annotations") or {}
    before = value_at(old, "metadata", "annotations") or {}
    if after == before:
        return
    for key in {**before, **after}:
        special = key == _STATIC_POD or key.startswith(_APP_ARMOR)
        if special and after.get(key) != before.get(key):
            rule = "may not be added, changed or removed"
            yield causes.forbidden(f"metadata.annotations[{key}]", rule)


def _removed_containers(spec: Json, before: Json) -> Causes:
    """Existing ephemeral containers must not be removed or changed."""
    path, new = "spec.ephemeralContainers", list(spec.get("ephemeralContainers") or ())
    for old in before.get("ephemeralContainers") or ():
        name = causes.quoted(str(old.get("name")))
        matching = [each for each in new if each.get("name") == old.get("name")]
        if not matching:
            rule = f"existing ephemeral containers {name} may not be removed\n"
            yield causes.forbidden(path, rule)
        elif not json_equal(matching[0], old):
            rule = f"existing ephemeral containers {name} may not be changed\n"
            yield causes.forbidden(path, rule)


def _deadline(spec: Json, before: Json) -> Causes:
    # The deadline of a pod can be set or shortened, never removed.
    path = "spec.activeDeadlineSeconds"
    new, old = spec.get("activeDeadlineSeconds"), before.get("activeDeadlineSeconds")
    if new is None:
        if old is not None:
            rule = "must not update from a positive integer to nil value"
            yield causes.invalid(path, None, rule)
    elif not 0 <= new <= _MAX_SECONDS:
        yield causes.invalid(path, new, f"must be between 0 and {_MAX_SECONDS}, inclusive")
    elif old is not None and new > old:
        yield causes.invalid(path, new, "must be less than or equal to previous value")


def _removed_tolerations(new: list[Any], old: list[Any]) -> Causes:
    # `validateOnlyAddedTolerations`.
    present = [_without_seconds(each) for each in new]
    if any(_without_seconds(each) not in present for each in old):
        rule = "existing toleration can not be modified except its tolerationSeconds"
        yield causes.forbidden("spec.tolerations", rule)


def _without_seconds(toleration: Json) -> dict[str, Any]:
    return {key: value for key, value in toleration.items() if key != "tolerationSeconds"}


def _added_gates(spec: Json, before: Json) -> Causes:
    # `validateOnlyDeletedSchedulingGates`.
    former = {each.get("name") for _, each in enumerate_objects(before.get("schedulingGates"))}
    for index, each in enumerate_objects(spec.get("schedulingGates")):
        if each.get("name") not in former:
            rule = f"only deletion is allowed, but found new scheduling gate '{each.get('name')}'"
            yield causes.forbidden(f"spec.schedulingGates[{index}].name", rule)


def _node_constraints(spec: Json, before: Json) -> Causes:
    # A gated pod may only become more constrained.
    new, old = spec.get("nodeSelector") or {}, before.get("nodeSelector") or {}
    if not old.items() <= new.items():
        rule = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
        yield causes.invalid("spec.nodeSelector", new, rule)
    path = ("affinity", "nodeAffinity", _REQUIRED, "nodeSelectorTerms")
    terms, former = value_at(spec, *path) or [], value_at(before, *path) or []
    where = f"spec.{'.'.join(path)}"
    if former and len(former) != len(terms):
        yield causes.invalid(
            where,
            terms or None,
            "no additions/deletions to non-empty NodeSelectorTerms list are allowed",
        )
        return
    for index, each in enumerate(former):
        if not _has_only_additions(terms[index], each):
            rule = "only additions are allowed (no mutations or deletions)"
            yield causes.invalid(f"{where}[{index}]", terms[index], rule)


def _has_only_additions(new: Json, old: Json) -> bool:
    fields = ("matchExpressions", "matchFields")
    if not any(old.get(field) for field in fields):
        return not any(new.get(field) for field in fields)
    for field in fields:
        former = old.get(field) or []
        if (new.get(field) or [])[: len(former)] != former:
            return False
    return True


def _writable_by(subresource: str | None) -> frozenset[str]:
    """The fields of a pod or its containers that only this subresource may write."""
    if subresource is None:
        return frozenset({"ephemeralContainers", "resources", "resizePolicy", "nodeName"})
    return _SUBRESOURCES.get(subresource, frozenset())


_SUBRESOURCES: Final = {
    "binding": frozenset({"nodeName"}),
    "ephemeralcontainers": frozenset({"ephemeralContainers"}),
    "resize": frozenset({"resources", "resizePolicy"}),
}


def _immutable_part(spec: Json, before: Json, writable: frozenset[str]) -> dict[str, Any]:
    """The part of a spec that must not change; a gated pod may still get node constraints."""
    mutable = writable | {"activeDeadlineSeconds", "tolerations", "schedulingGates"}
    is_gated = bool(before.get("schedulingGates"))
    if is_gated:
        mutable |= {"nodeSelector", "affinity"}
    if (before.get("terminationGracePeriodSeconds") or 0) < 0:
        mutable |= {"terminationGracePeriodSeconds"}
    # Go compares an empty list and a missing one as equal.
    rest = {key: value for key, value in spec.items() if key not in mutable and value != []}
    for group in ("containers", "initContainers"):
        if group in rest:
            rest[group] = [_immutable_container(each, writable) for each in rest[group] or ()]
    if is_gated:
        affinity = spec.get("affinity") or {}
        rest["affinity"] = {key: affinity.get(key) for key in ("podAffinity", "podAntiAffinity")}
    return rest


def _immutable_container(container: Json, writable: frozenset[str]) -> dict[str, Any]:
    mutable = writable | {"image"}
    return {key: value for key, value in container.items() if key not in mutable}


def _resize(new: Json, old: Json) -> Causes:
    # The class decides how the kernel treats the pod, so it is fixed when the pod starts.
    before = value_at(old, "status", "qosClass") or quality_of_service(old)
    if quality_of_service(new) != before:
        rule = "Pod QOS Class may not change as a result of resizing"
        yield causes.invalid("spec", before, rule)
    for group in ("initContainers", "containers"):
        pairs = zip(
            value_at(new, "spec", group) or (), value_at(old, "spec", group) or (), strict=False
        )
        for index, (one, two) in enumerate(pairs):
            where = f"spec.{group}[{index}].resources"
            for part in ("requests", "limits"):
                after = value_at(one, "resources", part) or {}
                former = value_at(two, "resources", part) or {}
                if former.keys() - after.keys() & {"cpu", "memory"}:
                    rule = f"resource {part} cannot be removed"
                    yield causes.forbidden(f"{where}.{part}", rule)


def problems_of_pod_status(new: Json, old: Json) -> Causes:
    """What is wrong with the status of a pod, or with its change."""
    status, before = new.get("status") or {}, old.get("status") or {}
    yield from _annotations(new, old)
    for index, each in enumerate_objects(status.get("conditions")):
        if each.get("type") not in {"PodScheduled", "Ready", "Initialized"}:
            where = f"status.conditions[{index}].Type"
            yield from check_label_key(where, each.get("type") or "")
    node = status.get("nominatedNodeName")
    if node and node != before.get("nominatedNodeName"):
        yield from check_name("status.nominatedNodeName", node, problems_of_dns_subdomain)
        if value_at(old, "spec", "nodeName"):
            rule = "the pod is bound to a node already"
            yield causes.forbidden("status.nominatedNodeName", rule)
    yield from check_unchanged("status.qosClass", status.get("qosClass"), before.get("qosClass"))
    for group, containers in _STATUSES:
        yield from _state_changes(new, status, before, group, containers)
    yield from _addresses(status, before, "podIP", "podIPs")
    yield from _addresses(status, before, "hostIP", "hostIPs")


_STATUSES: Final = (
    ("containerStatuses", "containers"),
    ("initContainerStatuses", "initContainers"),
    ("ephemeralContainerStatuses", ""),
)


def _state_changes(pod: Json, status: Json, before: Json, group: str, containers: str) -> Causes:
    # A container that ended for good cannot run again.
    now = {each.get("name"): each for _, each in enumerate_objects(status.get(group))}
    for index, each in enumerate_objects(before.get(group)):
        ended = value_at(each, "state", "terminated")
        current = now.get(each.get("name"))
        if ended is None or current is None:
            continue
        if value_at(current, "state", "terminated") is not None:
            continue
        if not _restarts(pod, containers, each.get("name"), ended.get("exitCode") or 0):
            rule = "may not be transitioned to non-terminated state"
            yield causes.forbidden(f"status.{group}[{index}].state", rule)


def _restarts(pod: Json, group: str, name: Any, code: int) -> bool:
    # `ContainerShouldRestart`: rules, the container's policy, the pod's policy, in this order.
    if not group:
        return False
    policy = value_at(pod, "spec", "restartPolicy")
    for _, container in enumerate_objects(value_at(pod, "spec", group)):
        if container.get("name") != name:
            continue
        for _, rule in enumerate_objects(container.get("restartPolicyRules")):
            codes = rule.get("exitCodes") or {}
            is_in = code in (codes.get("values") or ())
            if is_in == (codes.get("operator") == "In"):
                return True
        own = container.get("restartPolicy") or policy
        if group == "initContainers" and not container.get("restartPolicy") and own == "Always":
            return True
        return own == "Always" or (own == "OnFailure" and code != 0)
    return False


def _addresses(status: Json, before: Json, single: str, several: str) -> Causes:
    # `validatePodIPs` and `validateHostIPs`.
    path = f"status.{several}"
    found = [each.get("ip") or "" for _, each in enumerate_objects(status.get(several))]
    former = {each.get("ip") for _, each in enumerate_objects(before.get(several))}
    if single == "hostIP" and found and found[0] != (status.get(single) or ""):
        yield causes.invalid(f"{path}[0].ip", found[0], f"must be equal to `{single}`")
    for index, each in enumerate(found):
        if each not in former:
            yield from check_ip(f"{path}[{index}]", each)
    families = [ip_family(each) for each in found]
    if len(found) > 1 and (len(found) > 2 or families[0] == families[1]) and all(families):
        rule = (
            "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and "
            "2001:db8::/64"
        )
        yield causes.invalid(path, status.get(several), rule)
