"""Validation of pods and pod templates.

Guarantees: the causes of `ValidatePodSpec` and `ValidatePodCreate`, with kube-apiserver's paths
and reasons; one cache for specs that were valid before.
See also: the parts of a spec (`container_validation`, `volume_source_validation`,
`scheduling_validation`, `security_validation`), updates (`core.pod_updates`), the defaults
(`pod_defaults`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kubeloop.meta import problems_of_dns_label, problems_of_dns_subdomain
from kubeloop.wire import Quantity

from ...values import causes
from ...values.go_values import printed
from ..kind import Causes, Json
from .container_validation import problems_of_containers
from .resource_rules import check_resource_name, check_resources
from .scheduling_validation import problems_of_placement, problems_of_tolerations
from .security_validation import (
    containers_of,
    problems_of_host_processes,
    problems_of_os,
    problems_of_pod_security,
    problems_of_seccomp_annotation,
)
from .spec_cache import cached_if_valid
from .value_rules import (
    check_choice,
    check_ip,
    check_labels,
    check_minimum,
    check_name,
    check_range,
    enumerate_objects,
    parse_quantity,
)
from .volume_source_validation import problems_of_volumes

__all__ = ["problems_of_pod", "problems_of_pod_annotations", "problems_of_pod_spec"]

_RESTART_POLICIES: Final = ("Always", "OnFailure", "Never")
_DNS_POLICIES: Final = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_PREEMPTION_POLICIES: Final = ("PreemptLowerPriority", "Never")
_MAX_SECONDS: Final = 2**31 - 1
_APP_ARMOR: Final = "container.apparmor.security.beta.kubernetes.io/"
_SECCOMP: Final = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP_CONTAINER: Final = "container.seccomp.security.alpha.kubernetes.io/"
_STATIC_POD: Final = "kubernetes.io/config.mirror"
_DELETION_COST: Final = "controller.kubernetes.io/pod-deletion-cost"


def problems_of_pod(obj: Json, old: Json | None = None) -> Causes:
    """What is wrong with a pod; rules of its creation apply if there is no `old`."""
    spec = obj.get("spec") or {}
    annotations = (obj.get("metadata") or {}).get("annotations")
    if annotations:
        yield from problems_of_pod_annotations(annotations, spec)
    yield from problems_of_pod_spec(spec, "spec")
    yield from _pod_only(spec)
    if old is None:
        if spec.get("ephemeralContainers"):
            yield causes.forbidden("spec.ephemeralContainers", "cannot be set on create")
        if spec.get("nodeName") and spec.get("schedulingGates"):
            rule = "cannot be set until all schedulingGates have been cleared"
            yield causes.forbidden("spec.nodeName", rule)


def _pod_only(spec: Json) -> Causes:
    # What templates may have: tokens of an account that admission will set, odd image names.
    if not spec.get("serviceAccountName"):
        for index, volume in enumerate_objects(spec.get("volumes")):
            for number, each in enumerate_objects((volume.get("projected") or {}).get("sources")):
                if each.get("serviceAccountToken") is not None:
                    where = f"spec.volumes[{index}].projected.sources[{number}]"
                    rule = "must not be specified when serviceAccountName is not set"
                    yield causes.forbidden(f"{where}.serviceAccountToken", rule)
    grace = spec.get("terminationGracePeriodSeconds")
    yield from check_minimum("spec.terminationGracePeriodSeconds", grace)
    for group in ("containers", "initContainers", "ephemeralContainers"):
        for index, container in enumerate_objects(spec.get(group)):
            image = container.get("image") or ""
            if image != image.strip():
                rule = "must not have leading or trailing whitespace"
                yield causes.invalid(f"spec.{group}[{index}].image", image, rule)


def problems_of_pod_annotations(annotations: Mapping[str, str], spec: Json) -> Causes:
    """What is wrong with annotations that Kubernetes reads."""
    # `ValidatePodSpecificAnnotations`.
    path = "metadata.annotations"
    if _STATIC_POD in annotations and not spec.get("nodeName"):
        rule = "must set spec.nodeName if mirror pod annotation is set"
        yield causes.invalid(f"{path}[{_STATIC_POD}]", annotations[_STATIC_POD], rule)
    cost = annotations.get(_DELETION_COST)
    if cost is not None and not _is_deletion_cost(cost):
        yield causes.invalid(f"{path}[{_DELETION_COST}]", cost, "must be a 32bit integer")
    for key, value in annotations.items():
        if key == _SECCOMP or key.startswith(_SECCOMP_CONTAINER):
            yield from problems_of_seccomp_annotation(f"{path}.{key}", value)
        elif key.startswith(_APP_ARMOR):
            yield from _app_armor_annotation(key, value, spec)


def _is_deletion_cost(text: str) -> bool:
    # No plus sign and no leading zeros, so that values compare as texts.
    digits = text.removeprefix("-")
    if not digits.isascii() or not digits.isdecimal() or (digits != "0" and digits[0] == "0"):
        return False
    return -(2**31) <= int(text) < 2**31


def _app_armor_annotation(key: str, value: str, spec: Json) -> Causes:
    where, name = f"metadata.annotations[{key}]", key.removeprefix(_APP_ARMOR)
    if all(each.get("name") != name for _, each in containers_of(spec, "")):
        yield causes.invalid(where, name, "container not found")
    if value not in {"", "runtime/default", "unconfined"} and not value.startswith("localhost/"):
        yield causes.invalid(where, value, f"invalid AppArmor profile name: {causes.quoted(value)}")


@cached_if_valid
def problems_of_pod_spec(spec: Json, path: str) -> Causes:
    """What is wrong with the spec of a pod at `path`."""
    yield from problems_of_volumes(spec, f"{path}.volumes")
    volumes = {str(each.get("name")): each for _, each in enumerate_objects(spec.get("volumes"))}
    yield from _resource_claims(spec, f"{path}.resourceClaims")
    yield from problems_of_containers(spec, path, volumes)
    yield from _pod_resources(spec, path)
    policy, dns = f"{path}.restartPolicy", f"{path}.dnsPolicy"
    yield from check_choice(policy, spec.get("restartPolicy"), _RESTART_POLICIES, required=True)
    yield from check_choice(dns, spec.get("dnsPolicy"), _DNS_POLICIES, required=True)
    yield from check_labels(f"{path}.nodeSelector", spec.get("nodeSelector"))
    context = spec.get("securityContext") or {}
    yield from problems_of_pod_security(context, f"{path}.securityContext")
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        shared = spec["shareProcessNamespace"]
        yield causes.invalid(
            f"{path}.shareProcessNamespace",
            shared,
            "ShareProcessNamespace and HostPID cannot both be enabled",
        )
    yield from _dns_config(spec, f"{path}.dnsConfig")
    yield from problems_of_placement(spec, path)
    yield from problems_of_host_processes(spec, path)
    yield from _host_users(spec, path)
    yield from _names(spec, path)
    deadline = spec.get("activeDeadlineSeconds")
    yield from check_range(f"{path}.activeDeadlineSeconds", deadline, 1, _MAX_SECONDS)
    yield from problems_of_tolerations(spec, path)
    yield from _host_aliases(spec, f"{path}.hostAliases")
    preemption = spec.get("preemptionPolicy")
    yield from check_choice(f"{path}.preemptionPolicy", preemption, _PREEMPTION_POLICIES)
    for name in spec.get("overhead") or ():
        yield from check_resource_name(f"{path}.overhead[{name}]", name)
    yield from problems_of_os(spec, path)
    yield from _file_references(spec, path, volumes)


def _names(spec: Json, path: str) -> Causes:
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
    override, where = spec.get("hostnameOverride"), f"{path}.hostnameOverride"
    if override is not None:
        for field in ("setHostnameAsFQDN", "hostNetwork"):
            if spec.get(field):
                yield causes.forbidden(where, f"may not be specified when {field} is true")
        if len(override) > 64:
            yield causes.too_long(where, 64)
        yield from check_name(where, override, problems_of_dns_subdomain)


def _host_users(spec: Json, path: str) -> Causes:
    # kube-apiserver reports two of the fields under their Go names.
    if spec.get("hostUsers") is not False:
        return
    for field, name in (
        ("hostNetwork", "hostNetwork"),
        ("hostPID", "HostPID"),
        ("hostIPC", "HostIPC"),
    ):
        if spec.get(field):
            yield causes.forbidden(f"{path}.{name}", "when `hostUsers` is false")
    for where, container in containers_of(spec, path):
        if container.get("volumeDevices"):
            yield causes.forbidden(f"{where}.volumeDevices", "when `hostUsers` is false")


def _host_aliases(spec: Json, path: str) -> Causes:
    for index, each in enumerate_objects(spec.get("hostAliases")):
        yield from check_ip(f"{path}[{index}].ip", each.get("ip") or "")
        for number, name in enumerate(each.get("hostnames") or ()):
            where = f"{path}[{index}].hostnames[{number}]"
            yield from check_name(where, name, problems_of_dns_subdomain)


def _dns_config(spec: Json, path: str) -> Causes:
    # `validatePodDNSConfig`.
    config = spec.get("dnsConfig")
    if spec.get("dnsPolicy") == "None":
        if not isinstance(config, Mapping):
            yield causes.required(path, "must provide `dnsConfig` when `dnsPolicy` is None")
            return
        if not config.get("nameservers"):
            yield causes.required(
                f"{path}.nameservers", "must provide `dnsConfig` when `dnsPolicy` is None"
            )
            return
    if isinstance(config, Mapping):
        yield from _dns_values(config, path)


def _dns_values(config: Json, path: str) -> Causes:
    servers, searches = config.get("nameservers") or [], config.get("searches") or []
    if len(servers) > 3:
        yield causes.invalid(
            f"{path}.nameservers", servers, "must not have more than 3 nameservers"
        )
    for index, each in enumerate(servers):
        yield from check_ip(f"{path}.nameservers[{index}]", each)
    if len(searches) > 32:
        yield causes.invalid(
            f"{path}.searches", searches, "must not have more than 32 search paths"
        )
    if len(" ".join(searches)) > 2048:
        rule = "must not have more than 2048 characters"
        yield causes.invalid(f"{path}.searches", searches, rule)
    for index, each in enumerate(searches):
        name = each.removesuffix(".")
        if each != "." and problems_of_dns_subdomain(name.replace("_", "-")):
            where = f"{path}.searches[{index}]"
            yield from check_name(where, name, problems_of_dns_subdomain)
    for index, option in enumerate_objects(config.get("options")):
        if not option.get("name"):
            yield causes.required(f"{path}.options[{index}]", "must not be empty")


def _resource_claims(spec: Json, path: str) -> Causes:
    # `validatePodResourceClaims`.
    names = ("resourceClaimName", "resourceClaimTemplateName")
    seen: set[str] = set()
    for index, each in enumerate_objects(spec.get("resourceClaims")):
        where, name = f"{path}[{index}]", each.get("name") or ""
        if not name:
            yield causes.required(f"{where}.name")
        elif name in seen:
            yield causes.duplicate(f"{where}.name", name)
        else:
            yield from check_name(f"{where}.name", name, problems_of_dns_label)
            seen.add(name)
        if sum(each.get(field) is not None for field in names) != 1:
            rule = f"must specify one of: {', '.join(f'`{field}`' for field in names)}"
            if all(each.get(field) is not None for field in names):
                rule = f"at most one of {' or '.join(f'`{f}`' for f in names)} may be specified"
            yield causes.invalid(where, printed("core/v1.PodResourceClaim", each), rule)
        for field in names:
            if each.get(field) is not None:
                yield from check_name(f"{where}.{field}", each[field], problems_of_dns_subdomain)


def _pod_resources(spec: Json, path: str) -> Causes:
    # `validatePodResources` and `validatePodResourceConsistency`.
    resources, where = spec.get("resources"), f"{path}.resources"
    if not isinstance(resources, Mapping):
        return
    if (spec.get("os") or {}).get("name") == "windows":
        yield causes.forbidden(where, "may not be set for a windows pod")
        return
    if resources.get("claims") is not None:
        yield causes.forbidden(
            f"{where}.claims", "claims may not be set for Resources at pod-level"
        )
    yield from check_resources(resources, where, (), of_pod=True)
    requests, limits = resources.get("requests") or {}, resources.get("limits") or {}
    for name, value in requests.items():
        total, own = _total(spec, name), parse_quantity(value)
        if own is not None and total is not None and total > own.milli_value():
            shown = Quantity(f"{total}m").canonical()
            rule = f"must be greater than or equal to aggregate container requests of {shown}"
            yield causes.invalid(f"{where}.requests[{name}]", own.canonical(), rule)
    for index, container in enumerate_objects(spec.get("containers")):
        for name, value in ((container.get("resources") or {}).get("limits") or {}).items():
            own, whole = parse_quantity(value), parse_quantity(limits.get(name, "0"))
            if name in limits and own is not None and whole is not None and own > whole:
                rule = f"must be at most the pod's limit of {whole.canonical()}"
                below = f"{where}.containers[{index}][{name}].limits"
                yield causes.invalid(below, own.canonical(), rule)


def _total(spec: Json, name: str) -> int | None:
    """The sum of the containers' requests, in thousandths; None if there is none."""
    found = [
        parse_quantity(((container.get("resources") or {}).get("requests") or {}).get(name))
        for _, container in enumerate_objects(spec.get("containers"))
        if name in ((container.get("resources") or {}).get("requests") or {})
    ]
    amounts = [each.milli_value() for each in found if each is not None]
    return sum(amounts) if amounts else None


def _file_references(spec: Json, path: str, volumes: Mapping[str, Json]) -> Causes:
    # `validateFileKeyRefVolumes`.
    for where, container in containers_of(spec, path):
        for index, each in enumerate_objects(container.get("env")):
            ref = (each.get("valueFrom") or {}).get("fileKeyRef")
            if not isinstance(ref, Mapping):
                continue
            name = ref.get("volumeName") or ""
            below = f"{where}.env[{index}].valueFrom.fileKeyRef.volumeName"
            if name not in volumes:
                yield causes.not_found(below, name)
            elif volumes[name].get("emptyDir") is None:
                yield causes.invalid(below, name, "must be a volume of the type emptyDir")
