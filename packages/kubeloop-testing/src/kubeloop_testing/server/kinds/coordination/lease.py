"""Lease (coordination.k8s.io): preparation, validation and columns."""

from __future__ import annotations

from typing import Any, Final

from kubeloop.wire import JsonObject

from ...values import causes
from ...values.json_values import map_field, value_at, without
from ..kind import Causes, Json, Kind, Since
from ..rules.cell_text import age_of, name_of
from ..rules.value_rules import check_minimum

__all__ = ["KIND"]

# Fields in the spec that belong to features which are disabled by default.
_DISABLED: Final = ("strategy", "preferredHolder")


def _without_disabled(new: JsonObject, old: JsonObject) -> JsonObject:
    """A lease without the fields of disabled features, unless `old` has them."""
    before = old.get("spec") or {}
    names = [name for name in _DISABLED if name not in before]
    return map_field(new, "spec", lambda spec: without(spec, *names))


def _validate(obj: Json, _: Json | None) -> Causes:
    # `ValidateLeaseSpec`; strategy and preferredHolder are dropped before, because coordinated
    # leader election is not enabled.
    spec = obj.get("spec") or {}
    seconds = spec.get("leaseDurationSeconds")
    if isinstance(seconds, int) and seconds <= 0:
        yield causes.invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0")
    yield from check_minimum("spec.leaseTransitions", spec.get("leaseTransitions"))


def _cells(obj: Json, since: Since) -> list[Any]:
    return [name_of(obj), value_at(obj, "spec", "holderIdentity") or "", age_of(obj, since)]


KIND: Final = Kind(
    "coordination.k8s.io",
    "Lease",
    creates_on_update=True,
    requires_version=True,
    prepare_new=lambda obj: _without_disabled(obj, {}),
    prepare_update=_without_disabled,
    validate=_validate,
    columns="Name, Holder, Age",
    cells=_cells,
)
