"""Namespace: defaults, preparation, validation and columns."""

from __future__ import annotations

from typing import Any, Final

from kubeloop.meta import problems_of_label_key
from kubeloop.wire import JsonObject

from ...values import causes
from ...values.json_values import map_field, value_at, without
from ..kind import Causes, Json, Kind, Since, own_paths
from ..rules.cell_text import age_of, name_of
from ..rules.defaults import status_defaults
from ..rules.names import label_name
from ..rules.value_rules import check_name

__all__ = ["KIND", "new_namespace"]


def _namespace(obj: JsonObject) -> JsonObject:
    # `SetDefaults_Namespace`: selectors can then match a namespace by its name.
    name = value_at(obj, "metadata", "name")
    if not name:
        return obj
    own = {"kubernetes.io/metadata.name": name}

    def label(meta: JsonObject) -> JsonObject:
        labels = meta.get("labels") or {}
        return meta if own.items() <= labels.items() else {**meta, "labels": {**labels, **own}}

    return map_field(obj, "metadata", label)


def new_namespace(obj: JsonObject) -> JsonObject:
    """A new namespace: active, and kept until the namespace controller has emptied it."""

    def add_finalizer(spec: JsonObject) -> JsonObject:
        found = spec.get("finalizers") or []
        return spec if "kubernetes" in found else {**spec, "finalizers": [*found, "kubernetes"]}

    return {**map_field(obj, "spec", add_finalizer, make=True), "status": {"phase": "Active"}}


def _keep_spec(new: JsonObject, old: JsonObject) -> JsonObject:
    # Only the subresource finalize changes it.
    return {**new, "spec": old.get("spec") or {}}


def _keep_finalizers(new: JsonObject, old: JsonObject) -> JsonObject:
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    kept = {"finalizers": before["finalizers"]} if "finalizers" in before else {}
    return {**new, "spec": {**without(spec, "finalizers"), **kept}}


def _validate(obj: Json, old: Json | None) -> Causes:
    # `ValidateNamespace`; the subresource finalize reports the index, too.
    for index, each in enumerate((obj.get("spec") or {}).get("finalizers") or ()):
        where = "spec.finalizers" if old is None else f"spec.finalizers[{index}]"
        yield from check_name(where, each, problems_of_label_key)
        if "/" not in each and each not in {"kubernetes", "orphan", "foregroundDeletion"}:
            rule = "name is neither a standard finalizer name nor is it fully qualified"
            yield causes.invalid(where, each, rule)


def _validate_status(obj: Json, _: Json) -> Causes:
    """The phase of a namespace follows its deletion."""
    is_deleted = (obj.get("metadata") or {}).get("deletionTimestamp")
    expected = "Terminating" if is_deleted else "Active"
    phase = (obj.get("status") or {}).get("phase") or ""
    if phase != expected:
        yield causes.invalid("status.Phase", phase, f"must be '{expected}'")


def _cells(obj: Json, since: Since) -> list[Any]:
    return [name_of(obj), value_at(obj, "status", "phase") or "", age_of(obj, since)]


KIND: Final = Kind(
    "",
    "Namespace",
    returns_deleted=True,
    merge_update=_keep_finalizers,
    name_rule=label_name,
    selectable=own_paths("status.phase"),
    selects_namespace=False,
    defaults=(_namespace, status_defaults(phase="Active")),
    prepare_new=new_namespace,
    prepare_update=_keep_spec,
    validate=_validate,
    validate_parts={"status": _validate_status},
    columns="Name, Status, Age",
    cells=_cells,
)
