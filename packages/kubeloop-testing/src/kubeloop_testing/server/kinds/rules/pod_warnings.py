"""Warnings about pods and pod templates.

Guarantees: a warning in each case of `warningsForPodSpecAndMeta`; a spec without warnings is
looked at once.
See also: what other kinds share (`warnings`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from kubeloop.meta import problems_of_label_value

from ..kind import Json, Warnings
from .address_warnings import address_warnings
from .security_validation import containers_of
from .spec_cache import cached_if_valid
from .value_rules import enumerate_objects, parse_quantity

__all__ = [
    "DEPRECATED_LABELS",
    "DEPRECATED_VOLUMES",
    "pod_warnings",
    "storage_warnings",
    "template_warnings",
    "term_warnings",
]

# Labels of nodes, with what replaces them.
DEPRECATED_LABELS: Final = {
    "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
    "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
    "failure-domain.beta.kubernetes.io/region": (
        'deprecated since v1.17; use "topology.kubernetes.io/region" instead'
    ),
    "failure-domain.beta.kubernetes.io/zone": (
        'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'
    ),
    "beta.kubernetes.io/instance-type": (
        'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead'
    ),
    "app.kubernetes.io/created-by": "deprecated since v1.9",
    "scheduler.alpha.kubernetes.io/preferAvoidPods": "deprecated since v1.22; use taints",
    "node-role.kubernetes.io/master": "use node-role.kubernetes.io/control-plane",
}
# Volumes whose plugins are gone, in the order of kube-apiserver's checks.
DEPRECATED_VOLUMES: Final = {
    "photonPersistentDisk": "deprecated in v1.11, non-functional in v1.16+",
    "gitRepo": "deprecated in v1.11, and disabled by default in v1.33+",
    "scaleIO": "deprecated in v1.16, non-functional in v1.22+",
    "flocker": "deprecated in v1.22, non-functional in v1.25+",
    "storageos": "deprecated in v1.22, non-functional in v1.25+",
    "quobyte": "deprecated in v1.22, non-functional in v1.25+",
    "glusterfs": "deprecated in v1.25, non-functional in v1.26+",
    "cephfs": "deprecated in v1.28, non-functional in v1.31+",
    "rbd": "deprecated in v1.28, non-functional in v1.31+",
}
_ANNOTATIONS: Final = {
    "scheduler.alpha.kubernetes.io/critical-pod": ("v1.16", "priorityClassName"),
    "security.alpha.kubernetes.io/sysctls": ("v1.11", "sysctls"),
    "security.alpha.kubernetes.io/unsafe-sysctls": ("v1.11", "sysctls"),
}
_NO_SECCOMP: Final = 'non-functional in v1.27+; use the "seccompProfile" field instead'
_SECCOMP: Final = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP_CONTAINER: Final = "container.seccomp.security.alpha.kubernetes.io/"
_APP_ARMOR: Final = "container.apparmor.security.beta.kubernetes.io/"
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
_BYTES: Final = ("memory", "ephemeral-storage")


def pod_warnings(pod: Json) -> Warnings:
    """Warnings about a new pod."""
    annotations = (pod.get("metadata") or {}).get("annotations")
    spec = pod.get("spec") or {}
    if annotations:
        yield from _annotation_warnings(annotations, spec, "metadata.annotations")
    yield from _spec_warnings(spec, "spec")


def template_warnings(template: Json, path: str) -> Warnings:
    """Warnings about a pod template at `path`."""
    annotations = (template.get("metadata") or {}).get("annotations")
    spec = template.get("spec") or {}
    if annotations:
        where = f"{path}.metadata.annotations"
        yield from _annotation_warnings(annotations, spec, where)
    yield from _spec_warnings(spec, f"{path}.spec")


def _annotation_warnings(annotations: Mapping[str, str], spec: Json, path: str) -> Warnings:
    for key, (since, field) in _ANNOTATIONS.items():
        if key in annotations:
            yield f'{path}[{key}]: non-functional in {since}+; use the "{field}" field instead'
    own = spec.get("securityContext") or {}
    if _SECCOMP in annotations and own.get("seccompProfile") is None:
        yield f"{path}[{_SECCOMP}]: {_NO_SECCOMP}"
    for _, container in containers_of(spec, ""):
        context, name = container.get("securityContext") or {}, container.get("name")
        key = f"{_SECCOMP_CONTAINER}{name}"
        if key in annotations and context.get("seccompProfile") is None:
            yield f"{path}[{key}]: {_NO_SECCOMP}"
        key = f"{_APP_ARMOR}{name}"
        has_profile = context.get("appArmorProfile") or own.get("appArmorProfile")
        if key in annotations and not has_profile:
            yield f'{path}[{key}]: deprecated since v1.30; use the "appArmorProfile" field instead'


@cached_if_valid
def _spec_warnings(spec: Json, path: str) -> Warnings:
    yield from _label_warnings(spec, path)
    yield from _volume_warnings(spec, f"{path}.volumes")
    yield from _path_warnings(spec)
    yield from _repeated(spec, path, "hostAliases", "ip")
    yield from _repeated(spec, path, "imagePullSecrets", "name")
    for index, each in enumerate_objects(spec.get("imagePullSecrets")):
        if not each.get("name"):
            yield f'{path}.imagePullSecrets[{index}].name: invalid empty name ""'
    yield from _fractions(spec.get("overhead") or {}, f"{path}.overhead", _BYTES)
    for where, container in containers_of(spec, path):
        resources = container.get("resources") or {}
        for group in ("limits", "requests"):
            yield from _fractions(resources.get(group) or {}, f"{where}.resources.{group}", _BYTES)
        yield from _variables(container, f"{where}.env")
    yield from _ports(spec, path)
    if (spec.get("terminationGracePeriodSeconds") or 0) < 0:
        yield (
            f"{path}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and "
            "will be treated as 1"
        )
    yield from _affinity_warnings(spec, f"{path}.affinity")
    for index, each in enumerate((spec.get("dnsConfig") or {}).get("nameservers") or ()):
        yield from address_warnings(f"{path}.dnsConfig.nameservers[{index}]", each)
    for index, alias in enumerate_objects(spec.get("hostAliases")):
        yield from address_warnings(f"{path}.hostAliases[{index}].ip", alias.get("ip") or "")


def _label_warnings(spec: Json, path: str) -> Warnings:
    for key in spec.get("nodeSelector") or ():
        if key in DEPRECATED_LABELS:
            yield f"{path}.nodeSelector[{key}]: {DEPRECATED_LABELS[key]}"
    node = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    where = f"{path}.affinity.nodeAffinity"
    terms = (node.get(_REQUIRED) or {}).get("nodeSelectorTerms")
    for index, term in enumerate_objects(terms):
        yield from term_warnings(term, f"{where}.{_REQUIRED}.nodeSelectorTerms[{index}]")
    for index, each in enumerate_objects(node.get(_PREFERRED)):
        below = f"{where}.{_PREFERRED}[{index}].preference"
        yield from term_warnings(each.get("preference") or {}, below, checks_values=True)
    for index, each in enumerate_objects(spec.get("topologySpreadConstraints")):
        where, key = f"{path}.topologySpreadConstraints[{index}]", each.get("topologyKey") or ""
        if key in DEPRECATED_LABELS:
            yield f"{where}.topologyKey: {key} is {DEPRECATED_LABELS[key]}"
        if each.get("labelSelector") is None:
            yield f"{where}.labelSelector: a null labelSelector results in matching no pod"


def term_warnings(term: Json, path: str, *, checks_values: bool = False) -> Warnings:
    """Warnings about deprecated labels in a node selector term."""
    for index, each in enumerate_objects(term.get("matchExpressions")):
        where, key = f"{path}.matchExpressions[{index}]", each.get("key") or ""
        if key in DEPRECATED_LABELS:
            yield f"{where}.key: {key} is {DEPRECATED_LABELS[key]}"
        for number, value in enumerate((each.get("values") or ()) if checks_values else ()):
            for problem in problems_of_label_value(value):
                yield f"{where}.values[{number}]: {value} is invalid, {problem}"


def _affinity_warnings(spec: Json, path: str) -> Warnings:
    for kind in ("podAffinity", "podAntiAffinity"):
        terms = (spec.get("affinity") or {}).get(kind) or {}
        found = [
            (f"{_REQUIRED}[{index}]", each)
            for index, each in enumerate_objects(terms.get(_REQUIRED))
        ]
        found += [
            (f"{_PREFERRED}[{index}].podAffinityTerm", each.get("podAffinityTerm") or {})
            for index, each in enumerate_objects(terms.get(_PREFERRED))
        ]
        for where, term in found:
            if term.get("labelSelector") is None:
                below = f"{path}.{kind}.{where}.labelSelector"
                yield f"{below}: a null labelSelector results in matching no pod"


def _volume_warnings(spec: Json, path: str) -> Warnings:
    for index, volume in enumerate_objects(spec.get("volumes")):
        for field, text in DEPRECATED_VOLUMES.items():
            if volume.get(field) is not None:
                shown = "storageOS" if field == "storageos" else field
                yield f"{path}[{index}].{shown}: {text}"
        template = (volume.get("ephemeral") or {}).get("volumeClaimTemplate") or {}
        where = f"{path}[{index}].ephemeral.volumeClaimTemplate.spec"
        yield from storage_warnings(template.get("spec") or {}, where)


def storage_warnings(spec: Json, path: str) -> Warnings:
    """Warnings about the amounts of storage of a claim."""
    resources = spec.get("resources") or {}
    for group in ("requests", "limits"):
        where = f"{path}.resources.{group}"
        yield from _fractions(resources.get(group) or {}, where, ("storage",))


def _fractions(amounts: Json, path: str, names: tuple[str, ...]) -> Warnings:
    for name in names:
        amount = parse_quantity(amounts[name]) if name in amounts else None
        if amount is not None and amount.milli_value() % 1000:
            shown = f'fractional byte value "{amount.canonical()}"'
            yield f"{path}[{name}]: {shown} is invalid, must be an integer"


def _path_warnings(spec: Json) -> Warnings:
    # `warningsForOverlappingVirtualPaths`: one file would hide the other.
    for _, volume in enumerate_objects(spec.get("volumes")):
        for field in ("configMap", "secret", "downwardAPI"):
            source = volume.get(field) or {}
            name = source.get("name") or source.get("secretName") or ""
            kind = f'{_SOURCE_KINDS[field]} "{name}"' if name else _SOURCE_KINDS[field]
            yield from _overlaps(volume, kind, _item_paths(source))
        paths: list[tuple[str, str]] = []
        for _, source in enumerate_objects((volume.get("projected") or {}).get("sources")):
            if not source:
                yield f'volume "{volume.get("name")}" (Projected) has no sources provided'
            paths += _projected_paths(source)
        yield from _overlaps(volume, "Projected", paths)


def _item_paths(source: Any, kind: str = "") -> list[tuple[str, str]]:
    items = source.get("items") if isinstance(source, Mapping) else None
    return [(each.get("path") or "", kind) for _, each in enumerate_objects(items)]


def _projected_paths(source: Json) -> list[tuple[str, str]]:
    for field in ("configMap", "secret", "downwardAPI"):
        if source.get(field) is not None:
            name = (source[field] or {}).get("name") or (source[field] or {}).get("secretName")
            shown = f'{_SOURCE_KINDS[field]} "{name}"' if name else _SOURCE_KINDS[field]
            return _item_paths(source[field], shown)
    for field in ("serviceAccountToken", "clusterTrustBundle"):
        if source.get(field) is not None:
            return [((source[field] or {}).get("path") or "", field)]
    certificate = source.get("podCertificate") or {}
    fields = ("certificateChainPath", "keyPath", "credentialBundlePath")
    return [(certificate[field], field) for field in fields if certificate.get(field)]


_SOURCE_KINDS: Final = {
    "configMap": "ConfigMap",
    "secret": "Secret",
    "downwardAPI": "DownwardAPI",
}


def _overlaps(volume: Json, kind: str, paths: list[tuple[str, str]]) -> Warnings:
    seen: list[tuple[str, str]] = []
    for raw, source in paths:
        path = raw.rstrip("/")
        for other, other_source in seen if path else ():
            one, two = f"{path}/", f"{other}/"
            if other and (one.startswith(two) or two.startswith(one)):
                first, second = (
                    f'"{each}" ({where})' if where else f'"{each}"'
                    for each, where in ((path, source), (other, other_source))
                )
                name = volume.get("name")
                yield f'volume "{name}" ({kind}): overlapping paths: {first} with {second}'
        seen.append((path, source))


def _repeated(spec: Json, path: str, field: str, key: str) -> Warnings:
    seen: set[Any] = set()
    for index, each in enumerate_objects(spec.get(field)):
        value = each.get(key) or ""
        if value in seen:
            yield f'{path}.{field}[{index}].{key}: duplicate {key} "{value}"'
        seen.add(value)


def _variables(container: Json, path: str) -> Warnings:
    # A variable may extend the former one of its name: PATH=$(PATH):/x.
    seen: set[str] = set()
    for index, each in enumerate_objects(container.get("env")):
        name, value = each.get("name") or "", each.get("value") or ""
        reference = f"$({name})"
        extends = reference in value and value != reference and each.get("valueFrom") is None
        if name in seen and not extends:
            yield (
                f'{path}[{index}]: hides previous definition of "{name}", which may be dropped '
                "when using apply"
            )
        seen.add(name)


def _ports(spec: Json, path: str) -> Warnings:
    ports: dict[tuple[Any, Any], list[tuple[str, Json]]] = {}
    names: dict[str, str] = {}
    named: list[str] = []
    for where, container in containers_of(spec, path):
        for index, port in enumerate_objects(container.get("ports")):
            here = f"{where}.ports[{index}]"
            if port.get("hostIP") and not port.get("hostPort"):
                yield f"{here}: hostIP set without hostPort: {_port_text(port)}"
            others = ports.setdefault((port.get("containerPort"), port.get("protocol")), [])
            for other_path, other in others:
                conflict = _port_conflict(port, other)
                if conflict:
                    yield f"{here}: {conflict} {other_path}"
            others.append((here, port))
            name = port.get("name") or ""
            if name in names:
                named.append(
                    f'{here}: duplicate port name "{name}" with {names[name]}, services and probes '
                    f"that select ports by name will use {names[name]}"
                )
            elif name:
                names[name] = here
    yield from named


def _port_text(port: Json) -> str:
    # Go's format %+v.
    fields = {
        "Name": port.get("name") or "",
        "HostPort": port.get("hostPort") or 0,
        "ContainerPort": port.get("containerPort") or 0,
        "Protocol": port.get("protocol") or "",
        "HostIP": port.get("hostIP") or "",
    }
    return "{" + " ".join(f"{name}:{value}" for name, value in fields.items()) + "}"


def _port_conflict(port: Json, other: Json) -> str:
    one, two = ((each.get("hostIP") or "", each.get("hostPort") or 0) for each in (port, other))
    if one == two:
        return "duplicate port definition with"
    if not one[1] or not two[1]:
        return "overlapping port definition with"
    if one[1] == two[1] and bool(one[0]) != bool(two[0]):
        return "dangerously ambiguous port definition with"
    return ""
