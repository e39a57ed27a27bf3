"""Validation of the metadata of all kinds, as apimachinery's `ValidateObjectMeta`.

Guarantees: causes have kube-apiserver's paths and reasons; names follow the rule of the kind.
See also: the rules for names (`names`, `kubeloop.meta.names`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, Final

from kubeloop.meta import (
    ANNOTATIONS_LIMIT,
    GroupVersion,
    problems_of_dns_label,
    problems_of_label_key,
)
from kubeloop.wire import InvalidArgument

from ...values import causes
from ...values.go_values import printed
from ..kind import Causes, Kind
from .value_rules import check_labels, check_minimum, check_name, check_unchanged, enumerate_objects

__all__ = ["problems_of_metadata"]

_EXCLUSIVE_FINALIZERS: Final = frozenset({"orphan", "foregroundDeletion"})
_STANDARD_FINALIZERS: Final = frozenset({"kubernetes", "orphan", "foregroundDeletion"})
# In these groups kube-apiserver accepts any finalizer that is a valid label key.
_UNQUALIFIED_GROUPS: Final = frozenset(
    {
        "admissionregistration.k8s.io",
        "apiextensions.k8s.io",
        "apiregistration.k8s.io",
        "coordination.k8s.io",
        "node.k8s.io",
    }
)


def problems_of_metadata(
    kind: Kind, new: Mapping[str, Any], old: Mapping[str, Any] | None
) -> Causes:
    """What is wrong with the metadata of a new object, or with the update from `old`."""
    finalizers = new.get("finalizers") or []
    if old is None:
        yield from _name_problems(kind, new)
    else:
        yield from _change_problems(new, old)
        if prefix := new.get("generateName"):
            yield from check_name("metadata.generateName", prefix, _prefix_rule(kind))
    yield from check_minimum("metadata.generation", new.get("generation"))
    yield from check_labels("metadata.labels", new.get("labels"))
    yield from _annotation_problems(new.get("annotations") or {})
    yield from _owner_problems(new.get("ownerReferences") or [])
    yield from _finalizer_problems(finalizers)
    if _qualifies_finalizers(kind.group):
        yield from _unqualified_problems(finalizers)


def _name_problems(kind: Kind, new: Mapping[str, Any]) -> Causes:
    prefix, object_name = new.get("generateName") or "", new.get("name") or ""
    if prefix and kind.checks_prefix:
        yield from check_name("metadata.generateName", prefix, _prefix_rule(kind))
    if not object_name:
        yield causes.required("metadata.name", "name or generateName is required")
    else:
        yield from check_name("metadata.name", object_name, kind.name_rule)
    if new.get("namespace"):
        yield from check_name("metadata.namespace", new["namespace"], problems_of_dns_label)


def _prefix_rule(kind: Kind) -> Callable[[str], list[str]]:
    return lambda value: kind.name_rule(value, prefix=True)


def _change_problems(new: Mapping[str, Any], old: Mapping[str, Any]) -> Causes:
    # `ValidateObjectMetaUpdate`.
    if old.get("deletionTimestamp"):
        extra = sorted(set(new.get("finalizers") or ()) - set(old.get("finalizers") or ()))
        if extra:
            found = ", ".join(causes.quoted(each) for each in extra)
            yield causes.forbidden(
                "metadata.finalizers",
                "no new finalizers can be added if the object is being deleted, found new "
                f"finalizers []string{{{found}}}",
            )
    for field in ("name", "namespace", "uid", "creationTimestamp"):
        yield from check_unchanged(f"metadata.{field}", new.get(field) or "", old.get(field) or "")
    for field in ("deletionTimestamp", "deletionGracePeriodSeconds"):
        yield from check_unchanged(f"metadata.{field}", new.get(field), old.get(field))


def _qualifies_finalizers(group: str) -> bool:
    """Whether finalizers need a domain: they do in most groups of Kubernetes itself."""
    return ("." not in group or group.endswith(".k8s.io")) and group not in _UNQUALIFIED_GROUPS


def _finalizer_problems(finalizers: list[str]) -> Causes:
    # `ValidateFinalizers`.
    path = "metadata.finalizers"
    for each in finalizers:
        yield from check_name(path, each, problems_of_label_key)
    if set(finalizers) >= _EXCLUSIVE_FINALIZERS:
        rule = "finalizer orphan and foregroundDeletion cannot be both set"
        yield causes.invalid(path, finalizers, rule)


def _unqualified_problems(finalizers: list[str]) -> Causes:
    # `ValidateFinalizerName` of the core group.
    for index, each in enumerate(finalizers):
        if "/" not in each and each not in _STANDARD_FINALIZERS:
            rule = "name is neither a standard finalizer name nor is it fully qualified"
            yield causes.invalid(f"metadata.finalizers[{index}]", each, rule)


@functools.lru_cache(4096)
def _annotation_key(key: str) -> tuple[str, ...]:
    """The problems of an annotation key, where upper case is allowed.

    Cached, because few keys occur in many objects.
    """
    return tuple(problems_of_label_key(key.lower()))


def _annotation_problems(annotations: Mapping[str, str]) -> Causes:
    path = "metadata.annotations"
    for key in annotations:
        yield from (causes.invalid(path, key, problem) for problem in _annotation_key(key))
    size = sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items())
    if size > ANNOTATIONS_LIMIT:
        yield causes.too_long(path, ANNOTATIONS_LIMIT)


def _owner_problems(owners: list[Any]) -> Causes:
    # `ValidateOwnerReferences`.
    path, controller = "metadata.ownerReferences", ""
    for index, owner in enumerate_objects(owners):
        yield from _one_owner(owner, f"{path}[{index}]")
        if owner.get("controller"):
            current = f"{owner.get('kind')}/{owner.get('name')}"
            if controller:
                yield causes.invalid(
                    path,
                    printed("[]meta/v1.OwnerReference", owners),
                    'Only one reference can have Controller set to true. Found "true" in '
                    f"references for {controller} and {current}",
                )
            controller = controller or current


def _one_owner(owner: Mapping[str, Any], path: str) -> Causes:
    api_version = owner.get("apiVersion") or ""
    for field in ("apiVersion", "kind", "name", "uid"):
        if not owner.get(field):
            yield causes.required(f"{path}.{field}", "must not be empty")
    if api_version and not _is_api_version(api_version):
        rule = "must be <group>/<version> or <version>"
        yield causes.invalid(f"{path}.apiVersion", api_version, rule)
    if (api_version, owner.get("kind")) == ("v1", "Event"):
        rule = "/v1, Kind=Event is disallowed from being an owner"
        yield causes.invalid(path, printed("meta/v1.OwnerReference", owner), rule)


def _is_api_version(text: str) -> bool:
    try:
        return bool(GroupVersion.parse(text).version)
    except InvalidArgument:
        return False
