"""VolumeAttachment (storage.k8s.io): validation and columns."""

from __future__ import annotations

from typing import Any, Final

from kubeloop.meta import problems_of_dns_subdomain

from ...values import causes
from ...values.json_values import value_at
from ..kind import METADATA, Causes, Json, Kind, Since
from ..rules.cell_text import age_of, name_of
from ..rules.field_rules import check_driver_name, check_fixed
from ..rules.value_rules import check_name

__all__ = ["KIND"]


def _validate(obj: Json, old: Json | None) -> Causes:
    # `ValidateVolumeAttachment`; the attacher is checked by the declarative validation.
    spec = obj.get("spec") or {}
    source, node = spec.get("source") or {}, spec.get("nodeName") or ""
    yield from _source(source)
    yield from check_name("spec.nodeName", node, problems_of_dns_subdomain)
    status = obj.get("status") or {}
    for field in ("attachError", "detachError"):
        yield from _volume_error(f"status.{field}", status.get(field))
    name = source.get("persistentVolumeName")
    if name is not None:
        where = "spec.source.persistentVolumeName"
        yield from check_name(where, name, problems_of_dns_subdomain)
    yield from check_driver_name("spec.attacher", spec.get("attacher") or "")
    if old is not None:
        yield from check_fixed("spec", spec, old.get("spec"))


def _source(source: Json) -> Causes:
    # `validateVolumeAttachmentSource`.
    inline, name = source.get("inlineVolumeSpec"), source.get("persistentVolumeName")
    rule = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
    if inline is None and name is None:
        yield causes.required("spec.source", rule)
    elif inline is not None and name is not None:
        yield causes.forbidden("spec.source", rule)
    elif name == "":
        yield causes.required(
            "spec.source.persistentVolumeName", "must specify non empty persistentVolumeName"
        )
    elif inline is not None and not inline.get("csi"):
        path = "spec.source.inlineVolumeSpec"
        yield causes.required(f"{path}.csi", "has to be specified in the context of inline volumes")
        yield causes.required(path, "must specify a volume type")


def _volume_error(path: str, error: Any) -> Causes:
    if not isinstance(error, dict):
        return
    if len(error.get("message") or "") > 1024:
        yield causes.too_long(f"{path}.message", 1024)
    code = error.get("errorCode")
    if isinstance(code, int) and code < 0:
        rule = "must be between 0 and 2147483647, inclusive"
        yield causes.invalid(f"{path}.errorCode", code, rule)


def _cells(obj: Json, since: Since) -> list[Any]:
    return [
        name_of(obj),
        value_at(obj, "spec", "attacher") or "",
        value_at(obj, "spec", "source", "persistentVolumeName") or "",
        value_at(obj, "spec", "nodeName") or "",
        bool(value_at(obj, "status", "attached")),
        age_of(obj, since),
    ]


KIND: Final = Kind(
    "storage.k8s.io",
    "VolumeAttachment",
    requires_version=True,
    returns_deleted=True,
    kept_by_status=METADATA,
    validate=_validate,
    columns="Name, Attacher, PV, Node, Attached:boolean, Age",
    cells=_cells,
)
