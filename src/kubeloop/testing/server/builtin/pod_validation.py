"""Validation of pods and pod templates, and of updates of pods.

Guarantees: the common checks of `ValidatePodSpec` and `ValidatePodUpdate`, with kube-apiserver's
paths, reasons and messages; fields without a check here are accepted.
See also: the defaults (`pod_defaults`), workloads (`workload_validation`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from kubeloop.meta import problems_of_dns_label, problems_of_dns_subdomain

from ..values import causes
from ..values.json_values import json_equal
from .spec_cache import cached_if_valid
from .value_rules import (
    Causes,
    check_choice,
    check_labels,
    check_minimum,
    check_name,
    check_port,
    check_port_or_name,
    check_quantity,
    enumerate_objects,
    parse_quantity,
)

__all__ = ["problems_of_pod", "problems_of_pod_change", "problems_of_pod_spec"]

_Raw: TypeAlias = Mapping[str, Any]

_PROTOCOLS: Final = ("SCTP", "TCP", "UDP")
_PULL_POLICIES: Final = ("Always", "IfNotPresent", "Never")
_RESTART_POLICIES: Final = ("Always", "OnFailure", "Never")
_DNS_POLICIES: Final = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_MESSAGE_POLICIES: Final = ("File", "FallbackToLogsOnError")
_TOLERATION_OPERATORS: Final = ("Equal", "Exists")
_EFFECTS: Final = ("NoExecute", "NoSchedule", "PreferNoSchedule")
_ENV_SOURCES: Final = (
    "fieldRef",
    "resourceFieldRef",
    "configMapKeyRef",
    "secretKeyRef",
    "fileKeyRef",
)
_HANDLERS: Final = ("exec", "httpGet", "tcpSocket", "grpc", "sleep")
_MAX_SECONDS: Final = 2**31 - 1
_CHANGEABLE: Final = (
    "pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
    "additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set "
    "to 1 if it was previously negative)"
)


def problems_of_pod(obj: _Raw) -> Causes:
    yield from problems_of_pod_spec(obj.get("spec") or {}, "spec")


@cached_if_valid
def problems_of_pod_spec(spec: _Raw, path: str) -> Causes:
    """What is wrong with the spec of a pod at `path`."""
    volumes = {str(each.get("name")) for _, each in enumerate_objects(spec.get("volumes"))}
    yield from _volume_problems(spec, f"{path}.volumes")
    yield from _containers_problems(spec, path, volumes)
    policy, dns = f"{path}.restartPolicy", f"{path}.dnsPolicy"
    yield from check_choice(policy, spec.get("restartPolicy"), _RESTART_POLICIES, required=True)
    yield from check_choice(dns, spec.get("dnsPolicy"), _DNS_POLICIES, required=True)
    yield from check_labels(f"{path}.nodeSelector", spec.get("nodeSelector"))
    yield from _names_in_spec(spec, path)
    yield from _seconds(spec, path)
    for index, toleration in enumerate_objects(spec.get("tolerations")):
        yield from _toleration_problems(toleration, f"{path}.tolerations[{index}]")


def _names_in_spec(spec: _Raw, path: str) -> Causes:
    rules = {
        "serviceAccountName": problems_of_dns_subdomain,
        "nodeName": problems_of_dns_subdomain,
        "hostname": problems_of_dns_label,
        "subdomain": problems_of_dns_label,
        "priorityClassName": problems_of_dns_subdomain,
        "runtimeClassName": problems_of_dns_subdomain,
    }
    for field, rule in rules.items():
        if spec.get(field):
            yield from check_name(f"{path}.{field}", spec[field], rule)


def _seconds(spec: _Raw, path: str) -> Causes:
    # In a pod, defaulting has replaced a negative grace period.
    deadline, grace = spec.get("activeDeadlineSeconds"), spec.get("terminationGracePeriodSeconds")
    if isinstance(deadline, int) and not 1 <= deadline <= _MAX_SECONDS:
        rule = f"must be between 1 and {_MAX_SECONDS}, inclusive"
        yield causes.invalid(f"{path}.activeDeadlineSeconds", deadline, rule)
    yield from check_minimum(f"{path}.terminationGracePeriodSeconds", grace)


def _toleration_problems(toleration: _Raw, path: str) -> Causes:
    # `ValidateTolerations`.
    operator = toleration.get("operator")
    yield from check_choice(f"{path}.operator", operator, _TOLERATION_OPERATORS)
    yield from check_choice(f"{path}.effect", toleration.get("effect"), _EFFECTS)
    if not toleration.get("key") and operator != "Exists":
        rule = (
            "operator must be Exists when `key` is empty, which means "
            '"match all values and all keys"'
        )
        yield causes.invalid(f"{path}.operator", operator or "", rule)
    if operator == "Exists" and toleration.get("value"):
        rule = "value must be empty when `operator` is 'Exists'"
        yield causes.invalid(f"{path}.operator", dict(toleration), rule)
    if toleration.get("tolerationSeconds") is not None and toleration.get("effect") != "NoExecute":
        rule = "effect must be 'NoExecute' when `tolerationSeconds` is set"
        yield causes.invalid(f"{path}.effect", toleration.get("effect") or "", rule)


# --- volumes


def _volume_problems(spec: _Raw, path: str) -> Causes:
    # `ValidateVolumes`.
    seen: set[str] = set()
    for index, volume in enumerate_objects(spec.get("volumes")):
        where, name = f"{path}[{index}].name", str(volume.get("name") or "")
        if not name:
            yield causes.required(where)
            continue
        yield from check_name(where, name, problems_of_dns_label)
        if name in seen:
            yield causes.duplicate(where, name)
        seen.add(name)
        if len(volume) > 2:
            other = max(volume.keys() - {"name"})
            rule = "may not specify more than 1 volume type"
            yield causes.forbidden(f"{path}[{index}].{other}", rule)
        yield from _volume_source_problems(volume, f"{path}[{index}]")


def _volume_source_problems(volume: _Raw, path: str) -> Causes:
    # The required field of each source, from its `validate…VolumeSource`.
    needed = (
        ("secret", "secretName"),
        ("configMap", "name"),
        ("persistentVolumeClaim", "claimName"),
        ("hostPath", "path"),
        ("nfs", "server"),
        ("csi", "driver"),
    )
    for source, field in needed:
        value = volume.get(source)
        if isinstance(value, Mapping) and not value.get(field):
            yield causes.required(f"{path}.{source}.{field}")


# --- containers


def _containers_problems(spec: _Raw, path: str, volumes: set[str]) -> Causes:
    # Names are unique among all three kinds of containers.
    if not spec.get("containers"):
        yield causes.required(f"{path}.containers")
    seen: set[str] = set()
    for group in ("containers", "initContainers", "ephemeralContainers"):
        for index, container in enumerate_objects(spec.get(group)):
            where = f"{path}.{group}[{index}]"
            yield from _container_problems(container, where, volumes)
            name = str(container.get("name") or "")
            if name in seen:
                yield causes.duplicate(f"{where}.name", name)
            seen.add(name)


def _container_problems(container: _Raw, path: str, volumes: set[str]) -> Causes:
    # `validateContainerCommon`.
    name, image = str(container.get("name") or ""), str(container.get("image") or "")
    if not name:
        yield causes.required(f"{path}.name")
    else:
        yield from check_name(f"{path}.name", name, problems_of_dns_label)
    if not image:
        yield causes.required(f"{path}.image")
    elif image != image.strip():
        rule = "must not have leading or trailing whitespace"
        yield causes.invalid(f"{path}.image", image, rule)
    policy, message = container.get("imagePullPolicy"), container.get("terminationMessagePolicy")
    yield from check_choice(f"{path}.terminationMessagePolicy", message, _MESSAGE_POLICIES)
    yield from _port_problems(container, f"{path}.ports")
    yield from _env_problems(container, f"{path}.env")
    yield from _mount_problems(container, f"{path}.volumeMounts", volumes)
    yield from check_choice(f"{path}.imagePullPolicy", policy, _PULL_POLICIES, required=True)
    yield from _resource_problems(container.get("resources") or {}, f"{path}.resources")
    for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
        if isinstance(container.get(probe), Mapping):
            yield from _probe_problems(container[probe], f"{path}.{probe}", probe)


def _port_problems(container: _Raw, path: str) -> Causes:
    # `validateContainerPorts`.
    seen: set[str] = set()
    for index, each in enumerate_objects(container.get("ports")):
        where, name = f"{path}[{index}]", each.get("name") or ""
        if name:
            yield from check_port_or_name(f"{where}.name", name)
            if name in seen:
                yield causes.duplicate(f"{where}.name", name)
            seen.add(name)
        if not each.get("containerPort"):
            yield causes.required(f"{where}.containerPort")
        else:
            yield from check_port(f"{where}.containerPort", each["containerPort"])
        if each.get("hostPort"):
            yield from check_port(f"{where}.hostPort", each["hostPort"])
        protocol = each.get("protocol")
        yield from check_choice(f"{where}.protocol", protocol, _PROTOCOLS, required=True)


def _env_problems(container: _Raw, path: str) -> Causes:
    # `ValidateEnv` and `validateEnvVarValueFrom`.
    for index, each in enumerate_objects(container.get("env")):
        where = f"{path}[{index}]"
        if not each.get("name"):
            yield causes.required(f"{where}.name")
        source = each.get("valueFrom")
        if not isinstance(source, Mapping):
            continue
        count = sum(source.get(kind) is not None for kind in _ENV_SOURCES)
        if count == 0:
            rule = (
                "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, "
                "`secretKeyRef` or `fileKeyRef`"
            )
            yield causes.invalid(f"{where}.valueFrom", "", rule)
        elif each.get("value"):
            rule = "may not be specified when `value` is not empty"
            yield causes.invalid(f"{where}.valueFrom", "", rule)
        elif count > 1:
            rule = "may not have more than one field specified at a time"
            yield causes.invalid(f"{where}.valueFrom", "", rule)


def _mount_problems(container: _Raw, path: str, volumes: set[str]) -> Causes:
    # `ValidateVolumeMounts`.
    seen: set[str] = set()
    for index, each in enumerate_objects(container.get("volumeMounts")):
        where, target = f"{path}[{index}]", each.get("mountPath") or ""
        if not each.get("name"):
            yield causes.required(f"{where}.name")
        elif each["name"] not in volumes:
            yield causes.not_found(f"{where}.name", each["name"])
        if not target:
            yield causes.required(f"{where}.mountPath")
        elif target in seen:
            yield causes.invalid(f"{where}.mountPath", target, "must be unique")
        seen.add(target)


def _resource_problems(resources: _Raw, path: str) -> Causes:
    # `validateResourceRequirements`.
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for group, amounts in (("limits", limits), ("requests", requests)):
        for key, value in amounts.items():
            yield from check_quantity(f"{path}.{group}[{key}]", value)
    for key, value in requests.items():
        if key in limits and _exceeds(value, limits[key]):
            rule = f"must be less than or equal to {key} limit of {limits[key]}"
            yield causes.invalid(f"{path}.requests", value, rule)


def _exceeds(left: Any, right: Any) -> bool:
    one, two = parse_quantity(left), parse_quantity(right)
    return one is not None and two is not None and one > two


def _probe_problems(probe: _Raw, path: str, kind: str) -> Causes:
    # `validateProbe` and `validateHandler`.
    handlers = [each for each in _HANDLERS if probe.get(each) is not None]
    if not handlers:
        yield causes.required(path, "must specify a handler type")
    for extra in handlers[1:]:
        rule = "may not specify more than 1 handler type"
        yield causes.forbidden(f"{path}.{extra}", rule)
    for handler in ("httpGet", "tcpSocket"):
        if isinstance(probe.get(handler), Mapping):
            yield from check_port_or_name(f"{path}.{handler}.port", probe[handler].get("port"))
    for field in ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "failureThreshold"):
        yield from check_minimum(f"{path}.{field}", probe.get(field))
    threshold = probe.get("successThreshold")
    if kind != "readinessProbe" and threshold not in (None, 1):
        yield causes.invalid(f"{path}.successThreshold", threshold, "must be 1")


# --- updates


def problems_of_pod_change(new: _Raw, old: _Raw, *, subresource: str | None = None) -> Causes:
    """Why an update of a pod's spec is forbidden.

    `subresource` is the part that was written; None allows what any subresource may write.
    """
    spec, before = dict(new.get("spec") or {}), dict(old.get("spec") or {})
    for group in ("containers", "initContainers"):
        if len(spec.get(group) or ()) != len(before.get(group) or ()):
            rule = "pod updates may not add or remove containers"
            yield causes.forbidden(f"spec.{group}", rule)
            return
    if subresource == "ephemeralcontainers":
        yield from _removed_containers(spec, before)
    yield from _deadline_problems(spec, before)
    yield from _removed_tolerations(spec.get("tolerations") or [], before.get("tolerations") or [])
    writable = _writable_by(subresource)
    if not json_equal(
        _immutable_part(spec, before, writable), _immutable_part(before, before, writable)
    ):
        yield causes.forbidden("spec", _CHANGEABLE)


def _removed_containers(spec: _Raw, before: _Raw) -> Causes:
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


def _deadline_problems(spec: _Raw, before: _Raw) -> Causes:
    # The deadline of a pod can be set or shortened, never removed.
    path = "spec.activeDeadlineSeconds"
    new, old = spec.get("activeDeadlineSeconds"), before.get("activeDeadlineSeconds")
    if new is None and old is not None:
        rule = "must not update from a positive integer to nil value"
        yield causes.invalid(path, None, rule)
    elif new is not None and old is not None and new > old:
        yield causes.invalid(path, new, "must be less than or equal to previous value")


def _removed_tolerations(new: list[Any], old: list[Any]) -> Causes:
    # `validateOnlyAddedTolerations`.
    present = [_without_seconds(each) for each in new]
    if any(_without_seconds(each) not in present for each in old):
        rule = "existing toleration can not be modified except its tolerationSeconds"
        yield causes.forbidden("spec.tolerations", rule)


def _without_seconds(toleration: _Raw) -> dict[str, Any]:
    return {key: value for key, value in toleration.items() if key != "tolerationSeconds"}


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


def _immutable_part(spec: _Raw, before: _Raw, writable: frozenset[str]) -> dict[str, Any]:
    """The part of a spec that must not change; a gated pod may still get node constraints."""
    mutable = writable | {"activeDeadlineSeconds", "tolerations", "schedulingGates"}
    if before.get("schedulingGates"):
        mutable |= {"nodeSelector", "affinity"}
    if (before.get("terminationGracePeriodSeconds") or 0) < 0:
        mutable |= {"terminationGracePeriodSeconds"}
    rest = {key: value for key, value in spec.items() if key not in mutable}
    for group in ("containers", "initContainers"):
        if group in rest:
            rest[group] = [_immutable_container(each, writable) for each in rest[group] or ()]
    return rest


def _immutable_container(container: _Raw, writable: frozenset[str]) -> dict[str, Any]:
    mutable = writable | {"image"}
    return {key: value for key, value in container.items() if key not in mutable}
