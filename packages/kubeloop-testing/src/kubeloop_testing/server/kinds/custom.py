"""The `Kind` of a custom resource, made of its definition.

See also: how a definition is read (`schema.crds`), its schema (`schema.schemas`).
"""

from __future__ import annotations

from kubeloop.wire import JsonObject

from ..schema.crd_warnings import warnings_of_finalizers
from ..schema.crds import CustomVersion
from ..values.json_values import without
from .kind import ALL_METADATA, Json, Kind, Warnings, own_paths

__all__ = ["custom_kind"]


def custom_kind(group: str, kind: str, version: CustomVersion) -> Kind:
    """The facts of a custom kind in one version, as the strategies of apiextensions have them."""
    return Kind(
        group,
        kind,
        deprecation=version.deprecation_warning if version.deprecated else "",
        generation="counted",
        requires_version=True,
        kept_by_status=ALL_METADATA,
        # With the status subresource enabled, a create ignores the status that was sent.
        prepare_new=_without_status if version.has_status else None,
        defaults=(version.schema.default,),
        warn=_warn,
        selectable=own_paths(*(str(path).lstrip(".") for path in version.selectable_fields or ())),
    )


def _without_status(obj: JsonObject) -> JsonObject:
    return without(obj, "status")


def _warn(obj: Json, old: Json | None) -> Warnings:
    names = obj["metadata"].get("finalizers")
    if names:
        before = () if old is None else old["metadata"].get("finalizers") or ()
        yield from warnings_of_finalizers(names, before)
