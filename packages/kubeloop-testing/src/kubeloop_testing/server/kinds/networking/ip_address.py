"""IPAddress (networking.k8s.io): validation and columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from kubeloop.meta import problems_of_dns_subdomain, problems_of_path_segment

from ...values import causes
from ...values.json_values import value_at
from ..kind import Causes, Json, Kind, Since
from ..rules.cell_text import name_of
from ..rules.names import address_name
from ..rules.value_rules import check_name, check_unchanged

__all__ = ["KIND"]


def _validate(obj: Json, old: Json | None) -> Causes:
    # `ValidateIPAddress`.
    spec = obj.get("spec") or {}
    parent, where = spec.get("parentRef"), "spec.parentRef"
    if not isinstance(parent, Mapping):
        yield causes.required(where)
        return
    if parent.get("group"):
        yield from check_name(f"{where}.group", parent["group"], problems_of_dns_subdomain)
    for field in ("resource", "name", "namespace"):
        value = parent.get(field)
        if value:
            yield from check_name(f"{where}.{field}", value, problems_of_path_segment)
        elif field != "namespace":
            yield causes.required(f"{where}.{field}")
    if old is not None:
        yield from check_unchanged(where, parent, (old.get("spec") or {}).get("parentRef"))


def _cells(obj: Json, since: Since) -> list[Any]:  # noqa: ARG001 # no age here
    # `printIPAddress`.
    parent = value_at(obj, "spec", "parentRef")
    if parent is None:
        return [name_of(obj), "<none>"]
    resource, group = value_at(parent, "resource") or "", value_at(parent, "group")
    parts = [f"{resource}.{group}".lower() if group else resource.lower()]
    parts += [each for each in (value_at(parent, "namespace"), value_at(parent, "name")) if each]
    return [name_of(obj), "/".join(parts)]


KIND: Final = Kind(
    "networking.k8s.io",
    "IPAddress",
    name_rule=address_name,
    validate=_validate,
    columns="Name, ParentRef",
    cells=_cells,
)
