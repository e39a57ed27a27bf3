"""Validation of references to a pod's own fields and resources (the downward API).

Guarantees: the causes of `validateObjectFieldSelector` and
`validateContainerResourceFieldSelector`.
See also: environment variables (`container_validation`), volumes (`volume_source_validation`).
"""

from __future__ import annotations

import re
from typing import Final

from ...values import causes
from ..kind import Causes, Json
from .value_rules import check_label_key, parse_quantity

__all__ = ["check_field_ref", "check_resource_ref"]

_SUBSCRIPT: Final = re.compile(r"(metadata\.(?:labels|annotations))\['(.*)'\]")
_ENV_FIELDS: Final = (
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
)
_VOLUME_FIELDS: Final = (
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
)
# `ConvertDownwardAPIFieldLabel` knows these; others cannot be converted.
_KNOWN: Final = frozenset({*_ENV_FIELDS, *_VOLUME_FIELDS, "spec.restartPolicy", "status.phase"})
_RESOURCES: Final = tuple(
    f"{group}.{name}"
    for group in ("limits", "requests")
    for name in ("cpu", "ephemeral-storage", "memory")
)
_HUGE: Final = ("limits.hugepages-", "requests.hugepages-")
_UNITS: Final = frozenset({"1", *(f"1{unit}" for unit in ("k", *"MGTPE"))}) | frozenset(
    f"1{unit}i" for unit in "KMGTPE"
)


def check_field_ref(ref: Json, path: str, *, in_volume: bool) -> Causes:
    """A reference to a field of the pod."""
    version, field = ref.get("apiVersion") or "", ref.get("fieldPath") or ""
    if not version:
        yield causes.required(f"{path}.apiVersion")
        return
    if not field:
        yield causes.required(f"{path}.fieldPath")
        return
    subscript = _SUBSCRIPT.fullmatch(field)
    if version != "v1" or (subscript is None and field not in _KNOWN):
        rule = f"field label not supported: {field}"
        if version != "v1":
            rule = f"unsupported pod version: {version}"
        yield causes.invalid(f"{path}.fieldPath", field, f"error converting fieldPath: {rule}")
    elif subscript is not None:
        key = subscript[2]
        is_annotation = subscript[1] == "metadata.annotations"
        yield from check_label_key(path, key.lower() if is_annotation else key)
    else:
        fields = _VOLUME_FIELDS if in_volume else _ENV_FIELDS
        if field not in fields:
            yield causes.not_supported(f"{path}.fieldPath", field, fields)


def check_resource_ref(ref: Json, path: str, *, in_volume: bool) -> Causes:
    """A reference to a resource of a container; a volume names the container."""
    name = ref.get("resource") or ""
    if in_volume and not ref.get("containerName"):
        yield causes.required(f"{path}.containerName")
    elif not name:
        yield causes.required(f"{path}.resource")
    elif name not in _RESOURCES and not name.startswith(_HUGE):
        yield causes.not_supported(f"{path}.resource", name, _RESOURCES)
    divisor = parse_quantity(ref["divisor"]) if ref.get("divisor") is not None else None
    if divisor is None or divisor.is_zero:
        return
    units = frozenset({"1m", "1"}) if name.endswith(".cpu") else _UNITS
    if (name in _RESOURCES or name.startswith(_HUGE)) and divisor.canonical() not in units:
        rule = _divisor_rule(name)
        yield causes.invalid(f"{path}.divisor", name, rule)


def _divisor_rule(name: str) -> str:
    if name.endswith(".cpu"):
        return "only divisor's values 1m and 1 are supported with the cpu resource"
    resource = "local ephemeral storage" if "storage" in name else "memory"
    resource = "hugepages" if name.startswith(_HUGE) else resource
    units = "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei"
    return f"only divisor's values {units} are supported with the {resource} resource"
