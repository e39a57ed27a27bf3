"""CustomResourceDefinition (apiextensions.k8s.io).

Defaults, preparation, validation and columns.
"""

from __future__ import annotations

from typing import Any, Final

from kubeloop.wire import JsonObject

from ...schema.crd_validation import problems_of_crd
from ...schema.crd_warnings import not_evaluated, warnings_of_crd
from ...schema.crds import default_crd, with_storage_version
from ...values.json_values import json_equal, value_at, without
from ..kind import Causes, Json, Kind, Since
from ..rules.cell_text import condition_of, items_at

__all__ = ["KIND"]


def _new_definition(obj: JsonObject) -> JsonObject:
    return default_crd(without(obj, "status"))


def _validate(obj: Json, old: Json | None) -> Causes:
    if old is not None and json_equal(obj.get("spec"), old.get("spec")):
        return  # only status or metadata changed: an old definition need not be valid today
    yield from problems_of_crd(obj, old)


def _cells(obj: Json, since: Since) -> list[Any]:  # noqa: ARG001 # has the timestamp itself
    # The table convertor of apiextensions, not a printer.
    served = [each for each in items_at(obj, "spec", "versions") if value_at(each, "served")]
    versions = [
        f"{value_at(e, 'name')}(storage)" if value_at(e, "storage") else value_at(e, "name")
        for e in served
    ]
    established = condition_of(obj, "Established")
    return [
        value_at(obj, "metadata", "name"),
        value_at(obj, "spec", "scope"),
        ",".join(sorted(versions)),
        value_at(obj, "metadata", "creationTimestamp"),
        value_at(obj, "spec", "group"),
        value_at(obj, "spec", "names", "kind"),
        ",".join(items_at(obj, "spec", "names", "shortNames")),
        value_at(established, "status") == "True",
    ]


KIND: Final = Kind(
    "apiextensions.k8s.io",
    "CustomResourceDefinition",
    generation="counted",
    requires_version=True,
    defaults=(default_crd,),
    keeps_new_status=True,
    prepare_new=_new_definition,
    prepare_update=lambda new, _: with_storage_version(new),
    validate=_validate,
    warn=lambda obj, old: iter(warnings_of_crd(obj, old)),
    not_evaluated=not_evaluated,
    columns="Name, Scope, Versions, Created At:date, *Group, *Kind, *ShortNames, "
    "*Established:boolean",
    cells=_cells,
)
