"""The admission plugin PodSecurity: labels of a namespace restrict the pods in it.

Guarantees: `enforce` rejects pods (403), `warn` adds warnings to pods and to the workloads that
create them; `audit` is validated, and has no effect because there is no audit log. Versions of
the standards are validated, and all are evaluated like `latest`.
See also: the standards (`kinds.rules.pod_security`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ...request.calls import Call
from ...statuses import Cause, forbidden, invalid
from ...storage.store import Object
from ...values import causes
from ...values.json_values import value_at
from ..plugin import PODS, Cluster, Plugin

if TYPE_CHECKING:
    from ...kinds.rules.pod_security import Violation

__all__ = ["POD_SECURITY"]

_LEVELS: Final = ("privileged", "baseline", "restricted")  # from the loosest to the strictest
_PREFIX: Final = "pod-security.kubernetes.io/"
_ENFORCE, _WARN, _AUDIT = (f"{_PREFIX}{mode}" for mode in ("enforce", "warn", "audit"))
_VERSION: Final = re.compile(r"latest|v1\.(0|[1-9][0-9]*)")
_NAMESPACES: Final = ("", "namespaces")
_POD_PARTS: Final = ("", "ephemeralcontainers", "resize")


class _Policy(NamedTuple):
    """Level and version of one mode."""

    level: str = "privileged"
    version: str = "latest"

    def __str__(self) -> str:
        return f"{self.level}:{self.version}"


def _has_policy(namespace: Mapping[str, Any]) -> bool:
    """Whether the labels of a namespace restrict its pods."""
    labels = namespace["metadata"].get("labels") or {}
    return _ENFORCE in labels or _WARN in labels


def _check_pod(namespace: Mapping[str, Any], pod: Object, old: Object | None) -> list[str]:
    """The warnings for a pod. Raises `StatusError` 403 if it violates the enforced level."""
    if old is not None and not _is_significant(pod, old):
        return []
    meta, spec = pod.get("metadata") or {}, pod.get("spec") or {}
    enforced, warned = _policies(namespace)
    found = _violations(enforced.level, meta, spec)
    if found:
        why = f'violates PodSecurity "{enforced}": {_details(found)}'
        raise forbidden("", "pods", meta.get("name") or "", why)
    return _warnings(warned, meta, spec)


def _check_workload(namespace: Mapping[str, Any], obj: Object, path: tuple[str, ...]) -> list[str]:
    """The warnings for the pod template of a workload, which is at `path`."""
    template = value_at(obj, *path)
    if not isinstance(template, dict):
        return []
    _, warned = _policies(namespace)
    return _warnings(warned, template.get("metadata") or {}, template.get("spec") or {})


def _check_labels(new: Object, old: Object | None, pods: Iterable[Object]) -> list[str]:
    """The warnings about `pods` of a namespace that violate its new level.

    Raises `StatusError` 422 for labels that are invalid.
    """
    problems = _label_problems(new)
    if problems and (old is None or _label_problems(old) != problems):
        raise invalid("", "Namespace", new["metadata"]["name"], problems)
    if old is None:
        return []
    (enforced, _), (before, _) = _policies(new), _policies(old)
    is_relaxed = enforced.version == before.version and (
        _LEVELS.index(enforced.level) <= _LEVELS.index(before.level)
    )
    return [] if is_relaxed else _pod_warnings(new["metadata"]["name"], enforced, pods)


def _pod_warnings(namespace: str, policy: _Policy, pods: Iterable[Object]) -> list[str]:
    # `EvaluatePodsInNamespace`: one line for all pods with the same violations.
    names: dict[str, list[str]] = {}
    for pod in pods:
        found = _violations(policy.level, pod["metadata"], pod.get("spec") or {})
        if found:
            reasons = ", ".join(each.reason for each in found)
            names.setdefault(reasons, []).append(pod["metadata"]["name"])
    if not names:
        return []
    lines = []
    for reasons, found_pods in names.items():
        others = len(found_pods) - 1
        more = f" (and {others} other {'pod' if others == 1 else 'pods'})" if others else ""
        lines.append(f"{min(found_pods)}{more}: {reasons}")
    head = f'existing pods in namespace "{namespace}" violate the new PodSecurity enforce level'
    return [f'{head} "{policy}"', *sorted(lines)]


def _policies(namespace: Mapping[str, Any]) -> tuple[_Policy, _Policy]:
    """What is enforced, and what is warned about (`PolicyToEvaluate`)."""
    labels = namespace["metadata"].get("labels") or {}
    level = labels.get(_ENFORCE, "privileged")
    # An invalid level is enforced as the strictest one, but no warnings follow from it.
    enforced = _Policy(level if level in _LEVELS else "restricted", _version(labels, _ENFORCE))
    warned_level = labels.get(_WARN)
    if warned_level is None:
        if level in _LEVELS and f"{_WARN}-version" not in labels:
            return enforced, enforced
        warned_level = level
    warned = _Policy(warned_level if warned_level in _LEVELS else "privileged")
    return enforced, warned._replace(version=_version(labels, _WARN))


def _version(labels: Mapping[str, str], mode: str) -> str:
    version = labels.get(f"{mode}-version", "latest")
    return version if _VERSION.fullmatch(version) else "latest"


def _label_problems(namespace: Object) -> list[Cause]:
    labels = namespace["metadata"].get("labels") or {}
    found = []
    for mode in (_ENFORCE, _AUDIT, _WARN):
        level, version = labels.get(mode), labels.get(f"{mode}-version")
        if level is not None and level not in _LEVELS:
            rule = f"must be one of {', '.join(_LEVELS)}"
            found.append(causes.invalid(f"metadata.labels[{mode}]", level, rule))
        if version is not None and not _VERSION.fullmatch(version):
            where = f"metadata.labels[{mode}-version]"
            found.append(causes.invalid(where, version, 'must be "latest" or "v1.x"'))
    return found


def _violations(
    level: str, metadata: Mapping[str, Any], spec: Mapping[str, Any]
) -> list[Violation]:
    # Imported with the first namespace that has a level: most tests never set one.
    from ...kinds.rules.pod_security import violations

    return violations(level, metadata, spec)


def _warnings(policy: _Policy, metadata: Mapping[str, Any], spec: Mapping[str, Any]) -> list[str]:
    found = _violations(policy.level, metadata, spec)
    return [f'would violate PodSecurity "{policy}": {_details(found)}'] if found else []


def _details(found: list[Violation]) -> str:
    return ", ".join(f"{each.reason} ({each.detail})" for each in found)


def _is_significant(pod: Object, old: Object) -> bool:
    """Whether an update changed containers; other fields that matter are immutable."""
    return _images(pod) != _images(old)


def _images(pod: Object) -> list[tuple[str, Any, Any]]:
    spec = pod.get("spec") or {}
    keys = ("containers", "initContainers", "ephemeralContainers")
    return [
        (key, each.get("name"), each.get("image")) for key in keys for each in spec.get(key) or ()
    ]


# --- the plugin


def _validate_namespace(
    cluster: Cluster, call: Call, namespace: Object, old: Object | None
) -> list[str]:
    if call.part:
        return []
    name = namespace["metadata"]["name"]
    pods = (entry.obj for entry in cluster.store.collection(PODS).select(name))
    return _check_labels(namespace, old, pods)


def _validate_pod(cluster: Cluster, call: Call, pod: Object, old: Object | None) -> list[str]:
    namespace = _restricting_namespace(cluster, call) if call.part in _POD_PARTS else None
    return [] if namespace is None else _check_pod(namespace, pod, old)


def _validate_workload(cluster: Cluster, call: Call, obj: Object, _: Object | None) -> list[str]:
    namespace = None if call.part else _restricting_namespace(cluster, call)
    if namespace is None:
        return []
    return _check_workload(namespace, obj, call.served.strategy.pod_template)


def _restricting_namespace(cluster: Cluster, call: Call) -> Object | None:
    """The namespace of the request, if it has a policy."""
    namespace = cluster.find(*_NAMESPACES, call.namespace)
    return namespace if namespace is not None and _has_policy(namespace) else None


POD_SECURITY: Final = Plugin(
    "PodSecurity",
    validate={_NAMESPACES: _validate_namespace, PODS: _validate_pod},
    validate_workload=_validate_workload,
)
