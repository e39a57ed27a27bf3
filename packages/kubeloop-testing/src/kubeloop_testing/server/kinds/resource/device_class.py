"""DeviceClass (resource.k8s.io): validation and columns."""

from __future__ import annotations

from typing import Final

from ...values import causes
from ..kind import Causes, Json, Kind
from ..rules.cells import name_and_age
from ..rules.field_rules import check_qualified_name
from ..rules.value_rules import enumerate_objects
from .device_rules import check_configuration, check_selectors, check_size

__all__ = ["KIND"]


def _validate(obj: Json, _: Json | None) -> Causes:
    # `validateDeviceClassSpec`.
    spec = obj.get("spec") or {}
    yield from check_selectors("spec.selectors", spec.get("selectors"))
    yield from check_size("spec.config", spec.get("config"), 32)
    for index, each in enumerate_objects(spec.get("config")):
        yield from check_configuration(f"spec.config[{index}]", each)
    name = spec.get("extendedResourceName")
    if name is not None and not _is_extended(name):
        rule = "must be a valid extended resource name"
        yield causes.invalid("spec.extendedResourceName", name, rule)


def _is_extended(name: str) -> bool:
    # `IsExtendedResourceName`: a domain of its own, which quotas can prefix.
    domain, slash, _ = name.partition("/")
    is_native = not slash or domain.endswith("kubernetes.io") or domain.startswith("requests.")
    return not is_native and not list(check_qualified_name("", f"requests.{name}"))


KIND: Final = Kind(
    "resource.k8s.io",
    "DeviceClass",
    schemas_differ=True,
    generation="counted",
    returns_deleted=True,
    checks_prefix=False,
    validate=_validate,
    columns="Name, Age",
    cells=name_and_age,
)
