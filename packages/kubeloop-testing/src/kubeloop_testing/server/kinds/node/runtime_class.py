"""RuntimeClass (node.k8s.io): validation, warnings and columns."""

from __future__ import annotations

from typing import Any, Final

from kubeloop.meta import problems_of_dns_label, problems_of_label_key

from ...values import causes
from ...values.json_values import value_at
from ..kind import Causes, Json, Kind, Warnings
from ..rules.cells import field_cells
from ..rules.field_rules import check_fixed
from ..rules.pod_warnings import DEPRECATED_LABELS
from ..rules.scheduling_validation import check_toleration
from ..rules.value_rules import check_labels, check_name, check_quantity, enumerate_objects

__all__ = ["KIND"]

_STANDARD_RESOURCES: Final = frozenset({"cpu", "memory", "ephemeral-storage"})


def _validate(obj: Json, old: Json | None) -> Causes:
    # `ValidateRuntimeClass`; an update checks nothing but the handler, and new labels.
    handler = obj.get("handler") or ""
    yield from _overhead((obj.get("overhead") or {}).get("podFixed"))
    scheduling = obj.get("scheduling") or {}
    yield from check_labels("scheduling.nodeSelector", scheduling.get("nodeSelector"))
    yield from _tolerations(scheduling.get("tolerations"))
    if not handler:
        yield causes.required("handler")
    else:
        yield from check_name("handler", handler, problems_of_dns_label)
    if old is not None:
        yield from check_fixed("handler", handler, old.get("handler"))


def _overhead(resources: Any) -> Causes:
    # `ValidateContainerResourceRequirements` with the overhead as limits.
    for name, value in (resources or {}).items():
        path = f"overhead.limits[{name}]"
        yield from check_name(path, name, problems_of_label_key)
        if "/" not in name and name not in _STANDARD_RESOURCES and "hugepages-" not in name:
            for rule in ("must be a standard resource type or fully qualified",) * 2:
                yield causes.invalid(path, name, rule)
        yield from check_quantity(path, value)


def _tolerations(tolerations: Any) -> Causes:
    # `ValidateTolerations`, and each combination may occur once.
    keys: list[tuple[Any, ...]] = []
    for index, each in enumerate_objects(tolerations):
        yield from check_toleration(f"scheduling.tolerations[{index}]", each)
        key = tuple(each.get(field) or "" for field in ("key", "operator", "value", "effect"))
        if key in keys:
            yield causes.duplicate(f"scheduling.tolerations[{index}]", dict(each))
        keys.append(key)
    for index, each in enumerate_objects(tolerations):
        if each.get("key"):
            where = f"scheduling.tolerations[{index}].key"
            yield from check_name(where, each["key"], problems_of_label_key)


def _warn(obj: Json, _: Json | None) -> Warnings:
    for key in value_at(obj, "scheduling", "nodeSelector") or ():
        if key in DEPRECATED_LABELS:
            yield f"scheduling.nodeSelector: {DEPRECATED_LABELS[key]}"


KIND: Final = Kind(
    "node.k8s.io",
    "RuntimeClass",
    creates_on_update=True,
    requires_version=True,
    validate=_validate,
    warn=_warn,
    columns="Name, Handler, Age",
    cells=field_cells("handler"),
)
