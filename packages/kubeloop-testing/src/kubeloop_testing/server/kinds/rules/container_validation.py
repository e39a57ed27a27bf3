"""Validation of containers: ports, environment, mounts, probes, resources.

Guarantees: the causes of `validateContainers`, `validateInitContainers` and
`validateEphemeralContainers`.
See also: security contexts (`security_validation`), the rest of a pod (`pod_validation`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from kubeloop.meta import problems_of_dns_label

from ...values import causes
from ..kind import Causes, Json
from .environment_validation import problems_of_environment
from .probe_validation import problems_of_lifecycle, problems_of_probe
from .resource_rules import check_resources
from .security_validation import problems_of_container_security
from .value_rules import (
    check_choice,
    check_name,
    check_port,
    check_port_or_name,
    check_relative_path,
    enumerate_objects,
    has_parent_step,
)

__all__ = ["problems_of_containers"]

_PROTOCOLS: Final = ("SCTP", "TCP", "UDP")
_PULL_POLICIES: Final = ("Always", "IfNotPresent", "Never")
_MESSAGE_POLICIES: Final = ("File", "FallbackToLogsOnError")
_RESTART_POLICIES: Final = ("Always", "Never", "OnFailure")
_PROPAGATIONS: Final = ("Bidirectional", "HostToContainer", "None")
_PROBES: Final = ("livenessProbe", "readinessProbe", "startupProbe")
_NOT_EPHEMERAL: Final = ("ports", "resources", *_PROBES, "lifecycle", "resizePolicy")


class _PodContext(msgspec.Struct, frozen=True):
    """What the containers of a pod share."""

    volumes: Mapping[str, Json]
    claims: frozenset[str]
    restart_policy: str
    host_users: bool
    grace: Any
    system: Any  # the name of the operating system, None if it is not set


def problems_of_containers(spec: Json, path: str, volumes: Mapping[str, Json]) -> Causes:
    """What is wrong with the containers of a pod; `volumes` are its valid volumes by name."""
    claims = [str(each.get("name")) for _, each in enumerate_objects(spec.get("resourceClaims"))]
    system = spec.get("os")
    pod = _PodContext(
        volumes,
        frozenset(claims),
        spec.get("restartPolicy") or "",
        spec.get("hostUsers") is not False,
        spec.get("terminationGracePeriodSeconds"),
        system.get("name") if isinstance(system, Mapping) else None,
    )
    if not spec.get("containers"):
        yield causes.required(f"{path}.containers")
    names: set[str] = set()
    for group, check in (("containers", _regular), ("initContainers", _init)):
        for index, container in enumerate_objects(spec.get(group)):
            where = f"{path}.{group}[{index}]"
            yield from _common(container, where, pod)
            yield from _unique_name(container, where, names)
            yield from check(container, where, pod)
        if group == "containers":
            yield from _host_ports(spec, f"{path}.{group}")
    others = frozenset(names)
    for index, container in enumerate_objects(spec.get("ephemeralContainers")):
        where = f"{path}.ephemeralContainers[{index}]"
        yield from _common(container, where, pod)
        yield from _unique_name(container, where, names)
        yield from _ephemeral(container, where, others)


def _unique_name(container: Json, path: str, names: set[str]) -> Causes:
    name = str(container.get("name") or "")
    if name in names:
        yield causes.duplicate(f"{path}.name", name)
    if name:
        names.add(name)


def _regular(container: Json, path: str, pod: _PodContext) -> Causes:
    yield from _lifecycle_and_probes(container, path, pod)
    yield from _restart_policy(container, path)


def _init(container: Json, path: str, pod: _PodContext) -> Causes:
    # Only sidecars live long enough for probes and hooks.
    yield from _restart_policy(container, path)
    is_sidecar = container.get("restartPolicy") == "Always"
    if is_sidecar:
        yield from _lifecycle_and_probes(container, path, pod)
        return
    for field in ("lifecycle", *_PROBES):
        if container.get(field) is not None:
            rule = "may not be set for init containers without restartPolicy=Always"
            yield causes.forbidden(f"{path}.{field}", rule)
    for index, each in enumerate_objects(container.get("resizePolicy")):
        if each.get("restartPolicy") == "RestartContainer":
            where = f"{path}.resizePolicy[{index}].restartPolicy"
            rule = "must not be set for init containers that are no sidecars"
            yield causes.invalid(where, "RestartContainer", rule)


def _ephemeral(container: Json, path: str, others: frozenset[str]) -> Causes:
    rule = "cannot be set for an Ephemeral Container"
    target = container.get("targetContainerName")
    if target and target not in others:
        yield causes.not_found(f"{path}.targetContainerName", target)
    for field in _NOT_EPHEMERAL:
        if container.get(field):
            yield causes.forbidden(f"{path}.{field}", rule)
    for index, mount in enumerate_objects(container.get("volumeMounts")):
        for field in ("subPath", "subPathExpr"):
            if mount.get(field):
                yield causes.forbidden(f"{path}.volumeMounts[{index}].{field}", rule)


def _lifecycle_and_probes(container: Json, path: str, pod: _PodContext) -> Causes:
    if isinstance(container.get("lifecycle"), Mapping):
        where = f"{path}.lifecycle"
        yield from problems_of_lifecycle(container["lifecycle"], where, pod.grace)
    for kind in _PROBES:
        if isinstance(container.get(kind), Mapping):
            yield from problems_of_probe(container[kind], f"{path}.{kind}", kind)


def _restart_policy(container: Json, path: str) -> Causes:
    # `validateContainerRestartPolicy`.
    policy, rules = container.get("restartPolicy"), container.get("restartPolicyRules")
    if policy is None:
        if rules:
            yield causes.required(f"{path}.restartPolicy", "is required with restartPolicyRules")
    else:
        yield from check_choice(f"{path}.restartPolicy", policy, _RESTART_POLICIES)
    if rules and len(rules) > 20:
        yield causes.too_many(f"{path}.restartPolicyRules", len(rules), 20)
    for index, each in enumerate_objects(rules):
        where, codes = f"{path}.restartPolicyRules[{index}]", each.get("exitCodes")
        action = each.get("action") or ""
        if action not in {"Restart", "RestartAllContainers"}:
            actions = ("Restart", "RestartAllContainers")
            yield causes.not_supported(f"{where}.action", action, actions)
        if not isinstance(codes, Mapping):
            yield causes.required(f"{where}.exitCodes", "must be specified")
            continue
        operator, values = codes.get("operator") or "", codes.get("values") or []
        if operator not in {"In", "NotIn"}:
            yield causes.not_supported(f"{where}.exitCodes.operator", operator, ("In", "NotIn"))
        if len(values) > 255:
            yield causes.too_many(f"{where}.exitCodes.values", len(values), 255)


def _common(container: Json, path: str, pod: _PodContext) -> Causes:
    # `validateContainerCommon`.
    name = str(container.get("name") or "")
    if not name:
        yield causes.required(f"{path}.name")
    else:
        yield from check_name(f"{path}.name", name, problems_of_dns_label)
    if not container.get("image"):
        yield causes.required(f"{path}.image")
    message, where = container.get("terminationMessagePolicy"), f"{path}.terminationMessagePolicy"
    yield from check_choice(where, message, _MESSAGE_POLICIES, required=True)
    yield from _ports(container, f"{path}.ports")
    yield from problems_of_environment(container, path)
    yield from _mounts(container, f"{path}.volumeMounts", pod.volumes)
    yield from _devices(container, f"{path}.volumeDevices", pod.volumes)
    policy = container.get("imagePullPolicy")
    yield from check_choice(f"{path}.imagePullPolicy", policy, _PULL_POLICIES, required=True)
    yield from check_resources(container.get("resources") or {}, f"{path}.resources", pod.claims)
    yield from _resize_policy(container, f"{path}.resizePolicy", pod.restart_policy)
    context, where = container.get("securityContext"), f"{path}.securityContext"
    yield from problems_of_container_security(context, where, host_users=pod.host_users)


def _ports(container: Json, path: str) -> Causes:
    # `validateContainerPorts`.
    seen: set[str] = set()
    for index, each in enumerate_objects(container.get("ports")):
        where, name = f"{path}[{index}]", each.get("name") or ""
        if name:
            problems = list(check_port_or_name(f"{where}.name", name))
            yield from problems
            if not problems and name in seen:
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


def _host_ports(spec: Json, path: str) -> Causes:
    # `checkHostPortConflicts` and `validatePodHostNetworkDeps`.
    seen: set[str] = set()
    for number, container in enumerate_objects(spec.get("containers")):
        for index, each in enumerate_objects(container.get("ports")):
            host, where = each.get("hostPort"), f"{path}[{number}].ports[{index}].hostPort"
            if not host:
                continue
            key = f"{each.get('protocol') or ''}/{each.get('hostIP') or ''}/{host}"
            if key in seen:
                yield causes.duplicate(where, key)
            seen.add(key)
            if spec.get("hostNetwork") and host != each.get("containerPort"):
                rule = "must match `containerPort` when `hostNetwork` is true"
                yield causes.invalid(where, host, rule)


def _mounts(container: Json, path: str, volumes: Mapping[str, Json]) -> Causes:
    # `ValidateVolumeMounts`; some problems are reported under the path of the list.
    # Of two devices with the same name only the last one counts here.
    devices = {
        each.get("name") or "": each.get("devicePath") or ""
        for _, each in enumerate_objects(container.get("volumeDevices"))
    }
    seen: set[str] = set()
    for index, each in enumerate_objects(container.get("volumeMounts")):
        where, name, target = f"{path}[{index}]", each.get("name") or "", each.get("mountPath")
        if not name:
            yield causes.required(f"{where}.name")
        if name not in volumes:
            yield causes.not_found(f"{where}.name", name)
        if not target:
            yield causes.required(f"{where}.mountPath")
        if target in seen:
            yield causes.invalid(f"{where}.mountPath", target or "", "must be unique")
        seen.add(target or "")
        if name in devices:
            yield causes.invalid(f"{where}.name", name, "must not already exist in volumeDevices")
        if (target or "") in devices.values():
            yield causes.invalid(
                f"{where}.mountPath",
                target or "",
                "must not already exist as a path in volumeDevices",
            )
        yield from _sub_paths(each, where, path)
        yield from _mount_options(each, container, path)


def _sub_paths(mount: Json, path: str, above: str) -> Causes:
    plain, expression = mount.get("subPath"), mount.get("subPathExpr")
    if plain:
        yield from check_relative_path(f"{above}.subPath", plain)
    if expression:
        if plain:
            yield causes.invalid(
                f"{path}.subPathExpr", expression, "subPathExpr and subPath are mutually exclusive"
            )
        yield from check_relative_path(f"{above}.subPathExpr", expression)


def _mount_options(mount: Json, container: Json, path: str) -> Causes:
    propagation, recursive = mount.get("mountPropagation"), mount.get("recursiveReadOnly")
    yield from check_choice(f"{path}.mountPropagation", propagation, _PROPAGATIONS)
    privileged = (container.get("securityContext") or {}).get("privileged")
    if propagation == "Bidirectional" and not privileged:
        rule = "Bidirectional mount propagation is available only to privileged containers"
        yield causes.forbidden(f"{path}.mountPropagation", rule)
    where, choices = f"{path}.recursiveReadOnly", ("Disabled", "Enabled", "IfPossible")
    yield from check_choice(where, recursive, choices)
    if recursive in {"Enabled", "IfPossible"}:
        if not mount.get("readOnly"):
            yield causes.forbidden(where, "may only be specified when readOnly is true")
        if propagation not in (None, "None"):
            yield causes.forbidden(where, "requires mountPropagation None")


def _devices(container: Json, path: str, volumes: Mapping[str, Json]) -> Causes:
    # `ValidateVolumeDevices`.
    mounts = {
        each.get("name") or "": each.get("mountPath") or ""
        for _, each in enumerate_objects(container.get("volumeMounts"))
    }
    names: set[str] = set()
    paths: set[str] = set()
    for index, each in enumerate_objects(container.get("volumeDevices")):
        where, name, target = f"{path}[{index}]", each.get("name") or "", each.get("devicePath")
        target = target or ""
        if not name:
            yield causes.required(f"{where}.name")
        if name in names:
            yield causes.invalid(f"{where}.name", name, "must be unique")
        if name not in volumes:
            yield causes.not_found(f"{where}.name", name)
        elif not volumes[name].keys() & {"persistentVolumeClaim", "ephemeral"}:
            yield causes.invalid(
                f"{where}.name",
                name,
                "can only use volume source type of PersistentVolumeClaim or Ephemeral for block "
                "mode",
            )
        if not target:
            yield causes.required(f"{where}.devicePath")
        if target in paths:
            yield causes.invalid(f"{where}.devicePath", target, "must be unique")
        if has_parent_step(target):
            yield causes.invalid(f"{where}.devicePath", target, "must not contain '..'")
        else:
            paths.add(target)
        if name in mounts:
            yield causes.invalid(f"{where}.name", name, "must not already exist in volumeMounts")
        if target in mounts.values():
            yield causes.invalid(
                f"{where}.devicePath", target, "must not already exist as a path in volumeMounts"
            )
        if name:
            names.add(name)


def _resize_policy(container: Json, path: str, restart_policy: str) -> Causes:
    # `validateResizePolicy`; most problems are reported under the path of the list.
    seen: set[str] = set()
    for index, each in enumerate_objects(container.get("resizePolicy")):
        name, policy = each.get("resourceName") or "", each.get("restartPolicy") or ""
        if name in seen:
            yield causes.duplicate(f"{path}[{index}]", name)
        seen.add(name)
        yield from check_choice(path, name, ("cpu", "memory"), required=True)
        policies = ("NotRequired", "RestartContainer")
        yield from check_choice(path, policy, policies, required=True)
        if restart_policy == "Never" and policy != "NotRequired":
            rule = "must be 'NotRequired' when the pod's `restartPolicy` is 'Never'"
            yield causes.invalid(path, policy, rule)
