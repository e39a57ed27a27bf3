"""PodTemplate: defaults, validation, warnings and columns."""

from __future__ import annotations

from typing import Any, Final

from ...values.json_values import map_field, value_at
from ..kind import Causes, Json, Kind, Since
from ..rules.cell_text import containers_text, labels_text, name_of
from ..rules.pod_defaults import default_template
from ..rules.pod_validation import problems_of_pod_spec
from ..rules.value_rules import check_labels
from ..rules.warnings import workload_warnings

__all__ = ["KIND"]


def _validate(obj: Json, _: Json | None) -> Causes:
    # `ValidatePodTemplate`.
    template = obj.get("template") or {}
    yield from check_labels("template.labels", (template.get("metadata") or {}).get("labels"))
    yield from problems_of_pod_spec(template.get("spec") or {}, "template.spec")


def _cells(obj: Json, since: Since) -> list[Any]:  # noqa: ARG001 # no age here
    template = value_at(obj, "template")
    labels = labels_text(value_at(template, "metadata", "labels"))
    return [name_of(obj), *containers_text(value_at(template, "spec")), labels]


KIND: Final = Kind(
    "",
    "PodTemplate",
    generation="counted",
    returns_deleted=True,
    pod_template=("template",),
    defaults=(lambda obj: map_field(obj, "template", default_template, make=True),),
    validate=_validate,
    warn=workload_warnings("template", names_pods=False),
    columns="Name, Containers, Images, Pod Labels",
    cells=_cells,
)
