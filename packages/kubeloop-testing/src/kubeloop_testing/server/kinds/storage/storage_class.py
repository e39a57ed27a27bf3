"""StorageClass (storage.k8s.io): defaults, validation, warnings and columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from kubeloop.meta import problems_of_label_key

from ...values import causes
from ...values.json_values import value_at
from ..kind import Causes, Json, Kind, Since, Warnings
from ..rules.cell_text import age_of, name_of
from ..rules.defaults import pointer_defaults
from ..rules.field_rules import check_fixed, check_known, check_qualified_name
from ..rules.pod_warnings import DEPRECATED_LABELS
from ..rules.value_rules import check_name, enumerate_objects

__all__ = ["KIND", "check_parameters"]

_PARAMETERS: Final = 512
_PARAMETERS_SIZE: Final = 256 * 1024
_BINDING_MODES: Final = ("Immediate", "WaitForFirstConsumer")


def _validate(obj: Json, old: Json | None) -> Causes:
    # `ValidateStorageClass`; the cause of a missing provisioner comes last, from the
    # declarative validation.
    provisioner = obj.get("provisioner") or ""
    if provisioner:
        yield from check_name("provisioner", provisioner.lower(), problems_of_label_key)
    yield from check_parameters(obj.get("parameters"))
    yield from check_known("reclaimPolicy", obj.get("reclaimPolicy") or None, ("Delete", "Retain"))
    yield from check_known("volumeBindingMode", obj.get("volumeBindingMode"), _BINDING_MODES)
    yield from _topologies(obj.get("allowedTopologies"))
    if not provisioner:
        yield causes.required("provisioner")
    if old is not None:
        for field in ("provisioner", "parameters", "reclaimPolicy", "volumeBindingMode"):
            yield from check_fixed(field, obj.get(field), old.get(field))


def check_parameters(parameters: Any) -> Causes:
    found = parameters or {}
    if len(found) > _PARAMETERS:
        yield causes.too_long("parameters", _PARAMETERS)
        return
    if "" in found:
        yield causes.invalid("parameters", "", "field can not be empty.")
    if sum(len(key) + len(value) for key, value in found.items()) > _PARAMETERS_SIZE:
        yield causes.too_long("parameters", _PARAMETERS_SIZE)


def _topologies(terms: Any) -> Causes:
    # `validateAllowedTopologies`: no two terms are equal.
    seen: list[Any] = []
    for index, term in enumerate_objects(terms):
        path = f"allowedTopologies[{index}].matchLabelExpressions"
        values: dict[str, set[str]] = {}
        for number, each in enumerate_objects(term.get("matchLabelExpressions")):
            yield from _topology(f"{path}[{number}]", each, values)
        if values in seen:
            yield causes.duplicate(path, "")
        seen.append(values)


def _topology(path: str, expression: Json, seen: dict[str, set[str]]) -> Causes:
    key, values = expression.get("key") or "", expression.get("values") or []
    found: set[str] = set()
    if not values:
        yield causes.required(f"{path}.values")
    for index, value in enumerate(values):
        if value in found:
            yield causes.duplicate(f"{path}.values[{index}]", value)
        found.add(value)
    yield from check_qualified_name(f"{path}.key", key)
    if key in seen:
        yield causes.duplicate(f"{path}.key", key)
    seen[key] = found


def _warn(obj: Json, _: Json | None) -> Warnings:
    for index, term in enumerate_objects(obj.get("allowedTopologies")):
        for number, each in enumerate_objects(term.get("matchLabelExpressions")):
            text = DEPRECATED_LABELS.get(each.get("key") or "")
            if text:
                path = f"allowedTopologies[{index}].matchLabelExpressions[{number}].key"
                yield f"{path}: {text}"


def _cells(obj: Json, since: Since) -> list[Any]:
    return [
        name_of(obj),
        value_at(obj, "provisioner") or "",
        value_at(obj, "reclaimPolicy") or "Delete",
        value_at(obj, "volumeBindingMode") or "Immediate",
        bool(value_at(obj, "allowVolumeExpansion")),
        age_of(obj, since),
    ]


_IS_DEFAULT: Final = "storageclass.kubernetes.io/is-default-class"
_IS_DEFAULT_BETA: Final = "storageclass.beta.kubernetes.io/is-default-class"


def _default_class(objects: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The default storage class: the newest of those with the annotation."""
    return max(filter(_is_default, objects), default=None, key=_creation)


def _is_default(obj: Mapping[str, Any]) -> bool:
    annotations = value_at(obj, "metadata", "annotations") or {}
    return "true" in {annotations.get(_IS_DEFAULT), annotations.get(_IS_DEFAULT_BETA)}


def _creation(obj: Mapping[str, Any]) -> str:
    return str(value_at(obj, "metadata", "creationTimestamp") or "")


KIND: Final = Kind(
    "storage.k8s.io",
    "StorageClass",
    returns_deleted=True,
    defaults=(pointer_defaults(reclaimPolicy="Delete", volumeBindingMode="Immediate"),),
    validate=_validate,
    warn=_warn,
    columns="Name, Provisioner, ReclaimPolicy, VolumeBindingMode, AllowVolumeExpansion, Age",
    cells=_cells,
    default_row=_default_class,
)
