"""ReplicaSet (apps): defaults, validation, warnings and columns."""

from __future__ import annotations

from typing import Any, Final

from ...values.json_values import value_at
from ..kind import Causes, Json, Kind, Since
from ..rules.cell_text import selector_text
from ..rules.cells import REPLICA_COLUMNS, replica_cells
from ..rules.defaults import in_spec, spec_defaults, template_defaults
from ..rules.template_validation import problems_of_selector, problems_of_template
from ..rules.value_rules import check_minimum
from ..rules.warnings import workload_warnings
from ..rules.workload_validation import (
    AVAILABLE_COUNTS,
    COMMON_COUNTS,
    check_counts,
    check_immutable,
)

__all__ = ["KIND"]


def _validate(obj: Json, old: Json | None) -> Causes:
    # `ValidateReplicaSetSpec`.
    spec = obj.get("spec") or {}
    for field in ("replicas", "minReadySeconds"):
        yield from check_minimum(f"spec.{field}", spec.get(field))
    yield from problems_of_selector(spec, "deployment")
    yield from problems_of_template(spec, "spec.template", always="ReplicaSet")
    yield from check_immutable(spec, old, "selector")


def _cells(obj: Json, since: Since) -> list[Any]:
    return [*replica_cells(obj, since), selector_text(value_at(obj, "spec", "selector"))]


KIND: Final = Kind(
    "apps",
    "ReplicaSet",
    generation="counted",
    pod_template=("spec", "template"),
    defaults=(
        spec_defaults(replicas=1),
        in_spec(template_defaults),
    ),
    validate=_validate,
    validate_parts={
        "status": check_counts(*COMMON_COUNTS, bounded=("fullyLabeledReplicas", *AVAILABLE_COUNTS))
    },
    warn=workload_warnings("spec", "template"),
    columns=REPLICA_COLUMNS,
    cells=_cells,
)
