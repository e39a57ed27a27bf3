"""Tables (meta.k8s.io/v1): objects as rows for people, and objects as their metadata only.

Promises: a row has a cell for each column; columns that cannot be filled are null; the
objects given are not changed.
Elsewhere: the columns of built-in kinds (`table_kinds`), who asks for a Table
(`negotiation`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, Literal

from kubeloop.jsonpath import JSONPath, JSONPathError

from ..registry import ServedResource
from .human import at, human_since
from .table_kinds import Column, Layout, layout_of
from .table_pods import pod_conditions

__all__ = ["Include", "partial", "partial_list", "table"]

Include = Literal["None", "Metadata", "Object"]

_META: Final = "meta.k8s.io/v1"
_NAME: Final = Column("Name", "string", "name")
_DEFAULT: Final = (_NAME, Column("Created At", "date"))
_IS_DEFAULT: Final = "storageclass.kubernetes.io/is-default-class"
_WAS_DEFAULT: Final = "storageclass.beta.kubernetes.io/is-default-class"


def table(
    served: ServedResource,
    objects: Sequence[Mapping[str, Any]],
    *,
    include: str = "Metadata",
    columns: bool = True,
    metadata: Mapping[str, Any] | None = None,
    now: datetime | None = None,
) -> dict[str, Any]:
    """The Table of some objects of one resource, in the version they were asked in.

    Without `columns` the column definitions are left out, as in every event of a watch but
    the first. `metadata` is that of the list; a single object lends its own version.
    """
    layout, moment = _layout(served), now or datetime.now(UTC)
    rows = [_row(served, layout, obj, moment, include) for obj in objects]
    default = _default_class(served, objects)
    for obj, row in zip(objects, rows, strict=True):
        if obj is default:
            row["cells"][0] = f"{row['cells'][0]} (default)"
    return {
        "kind": "Table",
        "apiVersion": _META,
        "metadata": dict(metadata) if metadata is not None else _own_version(objects),
        "columnDefinitions": [_wire(each) for each in layout.columns] if columns else None,
        "rows": rows,
    }


def partial(obj: Mapping[str, Any]) -> dict[str, Any]:
    """An object as PartialObjectMetadata."""
    return {
        "kind": "PartialObjectMetadata",
        "apiVersion": _META,
        "metadata": obj.get("metadata") or {},
    }


def partial_list(
    objects: Iterable[Mapping[str, Any]], metadata: Mapping[str, Any]
) -> dict[str, Any]:
    """Objects as PartialObjectMetadataList."""
    return {
        "kind": "PartialObjectMetadataList",
        "apiVersion": _META,
        "metadata": dict(metadata),
        "items": [partial(obj) for obj in objects],
    }


def _own_version(objects: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    version = at(objects[0], "metadata", "resourceVersion") if len(objects) == 1 else None
    return {"resourceVersion": version} if version else {}


def _wire(column: Column) -> dict[str, Any]:
    return {
        "name": column.name,
        "type": column.type,
        "format": column.format,
        "description": column.description,
        "priority": column.priority,
    }


def _row(
    served: ServedResource, layout: Layout, obj: Mapping[str, Any], now: datetime, include: str
) -> dict[str, Any]:
    row: dict[str, Any] = {"cells": layout.cells(obj, lambda moment: human_since(moment, now))}
    conditions = pod_conditions(obj) if (served.group, served.kind) == ("", "Pod") else []
    if conditions:
        row["conditions"] = conditions
    row["object"] = {"None": None, "Object": obj}.get(include, partial(obj))
    return row


def _layout(served: ServedResource) -> Layout:
    if served.custom is not None:
        return _custom_layout(tuple(served.custom.columns))
    return layout_of(served.group, served.kind) or Layout(_DEFAULT, _default_cells)


def _default_cells(
    obj: Mapping[str, Any],
    since: Callable[[object], str],  # noqa: ARG001 # the moment itself is shown
) -> list[Any]:
    created = at(obj, "metadata", "creationTimestamp") or "0001-01-01T00:00:00Z"
    return [at(obj, "metadata", "name"), created]


def _default_class(
    served: ServedResource, objects: Sequence[Mapping[str, Any]]
) -> Mapping[str, Any] | None:
    """The storage class that is the default: the newest of those that say so."""
    if (served.group, served.kind) != ("storage.k8s.io", "StorageClass"):
        return None
    return max(filter(_is_default, objects), default=None, key=_creation)


def _is_default(obj: Mapping[str, Any]) -> bool:
    said = at(obj, "metadata", "annotations") or {}
    return "true" in {said.get(_IS_DEFAULT), said.get(_WAS_DEFAULT)}


def _creation(obj: Mapping[str, Any]) -> str:
    return str(at(obj, "metadata", "creationTimestamp") or "")


# --- custom kinds

_PRINTED: Final = JSONPath("{.value}")


@functools.lru_cache(maxsize=256)
def _custom_layout(said: tuple[Any, ...]) -> Layout:
    """The layout of a custom kind from its printer columns (`crds.Column`)."""
    columns = [Column(e.name, e.type, e.format, _description(e), e.priority) for e in said]
    paths = [(each.type, _path(each.json_path)) for each in said]

    def cells(obj: Mapping[str, Any], since: Callable[[object], str]) -> list[Any]:
        shown = [_cell(sort, path, obj, since) for sort, path in paths]
        return [at(obj, "metadata", "name"), *shown]

    return Layout((_NAME, *columns), cells)


def _description(column: Any) -> str:
    said = f"Custom resource definition column (in JSONPath format): {column.json_path}"
    return str(column.description or said)


def _path(text: str) -> JSONPath | None:
    try:
        return JSONPath(f"{{{text}}}", allow_missing_keys=True)
    except JSONPathError:
        return None


def _cell(
    sort: str, path: JSONPath | None, obj: Mapping[str, Any], since: Callable[[object], str]
) -> Any:
    try:
        found = path.values(obj) if path is not None else []
    except JSONPathError:
        return None
    value = found[0] if found else None
    return None if value is None else _as_type(sort, value, since)


def _as_type(sort: str, value: Any, since: Callable[[object], str]) -> Any:
    """A value as the column's type wants it; null where it is of another type."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    match sort:
        case "string":
            return _PRINTED.render({"value": value})
        case "integer" if number:
            return int(value)
        case "number" if number:
            return float(value)
        case "boolean" if isinstance(value, bool):
            return value
        case "date" if isinstance(value, str):
            return since(value)
    return None
