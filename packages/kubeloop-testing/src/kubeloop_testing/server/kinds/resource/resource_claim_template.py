"""ResourceClaimTemplate (resource.k8s.io): conversion, defaults, validation and columns."""

from __future__ import annotations

from typing import Final

from kubeloop.wire import JsonObject

from ...values.json_values import map_field
from ..kind import Causes, Json, Kind
from ..rules.cells import name_and_age
from ..rules.defaults import in_spec
from ..rules.value_rules import check_labels, check_unchanged
from .claims import check_devices, convert_claim_spec, default_devices

__all__ = ["KIND"]


def _convert_template(obj: JsonObject, source: str, target: str) -> JsonObject:
    return map_field(
        obj,
        "spec",
        lambda spec: map_field(
            spec, "spec", lambda below: convert_claim_spec(below, source, target)
        ),
    )


def _validate(obj: Json, old: Json | None) -> Causes:
    spec = obj.get("spec") or {}
    if old is not None:
        yield from check_unchanged("spec", spec, old.get("spec") or {})
        return
    labels = (spec.get("metadata") or {}).get("labels")
    yield from check_labels("spec.metadata.labels", labels)
    yield from check_devices("spec.spec.devices", (spec.get("spec") or {}).get("devices") or {})


KIND: Final = Kind(
    "resource.k8s.io",
    "ResourceClaimTemplate",
    schemas_differ=True,
    returns_deleted=True,
    convert=_convert_template,
    defaults=(in_spec(lambda spec: map_field(spec, "spec", default_devices)),),
    validate=_validate,
    columns="Name, Age",
    cells=name_and_age,
)
