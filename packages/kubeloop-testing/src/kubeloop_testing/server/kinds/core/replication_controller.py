"""ReplicationController: defaults, validation, warnings and columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from kubeloop.selectors import selector_from_map
from kubeloop.wire import JsonObject

from ...values import causes
from ...values.json_values import map_field, value_at
from ..kind import Causes, Json, Kind, Since, own_paths
from ..rules.cell_text import labels_text
from ..rules.cells import REPLICA_COLUMNS, replica_cells
from ..rules.defaults import in_spec, labels_of_template, spec_defaults
from ..rules.pod_defaults import default_template
from ..rules.template_validation import mismatch, problems_of_template, template_labels
from ..rules.value_rules import check_minimum
from ..rules.warnings import workload_warnings
from ..rules.workload_validation import AVAILABLE_COUNTS, COMMON_COUNTS, check_counts

__all__ = ["KIND"]


def _controller_selector(spec: JsonObject) -> JsonObject:
    labels = value_at(spec, "template", "metadata", "labels")
    return {**spec, "selector": labels} if labels and not spec.get("selector") else spec


def _validate(obj: Json, _: Json | None) -> Causes:
    # `ValidateReplicationControllerSpec`.
    spec = obj.get("spec") or {}
    for field in ("replicas", "minReadySeconds"):
        yield from map(causes.declared, check_minimum(f"spec.{field}", spec.get(field)))
    labels = spec.get("selector") or {}
    if not labels:
        yield causes.required("spec.selector")
    if not isinstance(spec.get("template"), Mapping):
        yield causes.required("spec.template")
        return
    if labels and not selector_from_map(labels, validate=False).matches(template_labels(spec)):
        yield mismatch(spec, "spec.template")
    yield from problems_of_template(spec, "spec.template", always="ReplicationController")


def _cells(obj: Json, since: Since) -> list[Any]:
    return [*replica_cells(obj, since), labels_text(value_at(obj, "spec", "selector"))]


KIND: Final = Kind(
    "",
    "ReplicationController",
    generation="counted",
    orphans_by_default=True,
    checks_prefix=False,
    selectable=own_paths("status.replicas"),
    pod_template=("spec", "template"),
    defaults=(
        labels_of_template,
        in_spec(_controller_selector),
        spec_defaults(replicas=1),
        # A pointer in Go: a missing template stays missing.
        in_spec(lambda spec: map_field(spec, "template", default_template)),
    ),
    validate=_validate,
    validate_parts={
        "status": check_counts(*COMMON_COUNTS, bounded=("fullyLabeledReplicas", *AVAILABLE_COUNTS))
    },
    warn=workload_warnings("spec", "template"),
    columns=REPLICA_COLUMNS,
    cells=_cells,
)
