"""ServiceCIDR (networking.k8s.io): validation and columns."""

from __future__ import annotations

from typing import Any, Final

from ...values import causes
from ..kind import METADATA, Causes, Json, Kind, Since, unchecked
from ..rules.cell_text import age_of, items_at, name_of
from ..rules.value_rules import check_cidr, check_unchanged, ip_family, is_network

__all__ = ["KIND"]


def _validate(obj: Json, old: Json | None) -> Causes:
    # `ValidateServiceCIDR`: networks can be added, not changed.
    networks, where = (obj.get("spec") or {}).get("cidrs") or [], "spec.cidrs"
    if old is not None:
        former = (old.get("spec") or {}).get("cidrs") or []
        for index, (one, two) in enumerate(zip(networks, former, strict=False)):
            yield from check_unchanged(f"{where}[{index}]", one, two)
        if networks == former:
            return
    if not networks:
        yield causes.required(where, "at least one CIDR required")
        return
    if len(networks) > 2:
        yield causes.invalid(where, None, "may only hold up to 2 values")
        return
    for index, each in enumerate(networks):
        yield from check_cidr(f"{where}[{index}]", each)
    families = [ip_family(each.partition("/")[0]) for each in networks]
    if len(networks) == 2 and all(map(is_network, networks)) and families[0] == families[1]:
        rule = (
            "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and "
            "2001:db8::/64"
        )
        yield causes.invalid(where, networks, rule)


def _cells(obj: Json, since: Since) -> list[Any]:
    blocks = ",".join(map(str, items_at(obj, "spec", "cidrs")))
    return [name_of(obj), blocks, age_of(obj, since)]


KIND: Final = Kind(
    "networking.k8s.io",
    "ServiceCIDR",
    kept_by_status=METADATA,
    validate=_validate,
    validate_parts={"status": unchecked},
    columns="Name, CIDRs, Age",
    cells=_cells,
)
