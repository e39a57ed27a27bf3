"""Tables (meta.k8s.io/v1): objects as rows with cells.

Guarantees: pure; a row has a cell for each column, null if it has no value.
See also: the columns and cells of built-in kinds (`kinds`), when a client gets a Table
(`negotiation`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, Literal, final

import msgspec

from kubeloop.jsonpath import JSONPath, JSONPathError

from ..kinds.kind import Cells, Json, Kind
from ..kinds.rules.cell_text import human_since
from ..registry import ServedResource
from ..values.json_values import value_at

__all__ = ["Column", "Include", "Layout", "layout_of", "table"]

Include = Literal["None", "Metadata", "Object"]

_META: Final = "meta.k8s.io/v1"


@final
class Column(msgspec.Struct, frozen=True):
    """One column; priority 0 is always shown, others with `-o wide`."""

    name: str
    type: str = "string"
    format: str = ""
    description: str = ""
    priority: int = 0


@final
class Layout(msgspec.Struct, frozen=True):
    """The columns of a kind and the cells of an object, one for each column."""

    columns: tuple[Column, ...]
    cells: Cells


_NAME: Final = Column("Name", "string", "name")
_DEFAULT: Final = (_NAME, Column("Created At", "date"))


@functools.lru_cache(1024)
def layout_of(kind: Kind) -> Layout:
    """The columns of a built-in kind; most have a name and the time of their creation."""
    if kind.cells is None:
        return Layout(_DEFAULT, _default_cells)
    return Layout(tuple(_columns(kind.columns)), kind.cells)


def _columns(spec: str) -> Iterator[Column]:
    for text in spec.split(", "):
        name, _, column_type = text.removeprefix("*").partition(":")
        yield Column(
            name,
            column_type or "string",
            "name" if name == "Name" else "",
            priority=1 if text.startswith("*") else 0,
        )


def table(
    served: ServedResource,
    objects: Sequence[Mapping[str, Any]],
    *,
    include: str = "Metadata",
    columns: bool = True,
    metadata: Mapping[str, Any] | None = None,
    now: datetime | None = None,
) -> dict[str, Any]:
    """The Table of some objects of one resource, which are in the requested version.

    Without `columns` it has no column definitions, as in every watch event but the first.
    `metadata` is that of the list; without it the resource version is that of a single object.
    """
    layout, rules, current = _layout(served), served.strategy, now or datetime.now(UTC)
    if rules.row_order is not None:
        objects = sorted(objects, key=rules.row_order)
    rows = [_row(rules, layout, obj, current, include) for obj in objects]
    default = None if rules.default_row is None else rules.default_row(objects)
    for obj, row in zip(objects, rows, strict=True):
        if obj is default:
            row["cells"][0] = f"{row['cells'][0]} (default)"
    return {
        "kind": "Table",
        "apiVersion": _META,
        "metadata": dict(metadata) if metadata is not None else _own_version(objects),
        "columnDefinitions": [_definition(each) for each in layout.columns] if columns else None,
        "rows": rows,
    }


def _partial(obj: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "kind": "PartialObjectMetadata",
        "apiVersion": _META,
        "metadata": obj.get("metadata") or {},
    }


def _own_version(objects: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    # kube-apiserver takes the version of a single object; a list brings its own.
    version = value_at(objects[0], "metadata", "resourceVersion") if len(objects) == 1 else None
    return {"resourceVersion": version} if version else {}


def _definition(column: Column) -> dict[str, Any]:
    return {
        "name": column.name,
        "type": column.type,
        "format": column.format,
        "description": column.description,
        "priority": column.priority,
    }


def _row(kind: Kind, layout: Layout, obj: Json, now: datetime, include: str) -> dict[str, Any]:
    row: dict[str, Any] = {
        "cells": layout.cells(obj, lambda timestamp: human_since(timestamp, now))
    }
    conditions = [] if kind.row_conditions is None else kind.row_conditions(obj)
    if conditions:
        row["conditions"] = conditions
    row["object"] = {"None": None, "Object": obj}.get(include, _partial(obj))
    return row


def _layout(served: ServedResource) -> Layout:
    if served.custom is not None:
        return _custom_layout(tuple(served.custom.columns))
    return layout_of(served.strategy)


def _default_cells(
    obj: Mapping[str, Any],
    since: Callable[[object], str],  # noqa: ARG001 # has the timestamp itself
) -> list[Any]:
    # `rest.NewDefaultTableConvertor`.
    created = value_at(obj, "metadata", "creationTimestamp") or "0001-01-01T00:00:00Z"
    return [value_at(obj, "metadata", "name"), created]


# --- custom kinds

_TEXT: Final = JSONPath("{.value}")


@functools.lru_cache(maxsize=256)
def _custom_layout(printer_columns: tuple[Any, ...]) -> Layout:
    """The layout of a custom kind from its printer columns (`crds.Column`)."""
    columns = [
        Column(each.name, each.type, each.format, _description(each), each.priority)
        for each in printer_columns
    ]
    paths = [(each.type, _path(each.json_path)) for each in printer_columns]

    def cells(obj: Mapping[str, Any], since: Callable[[object], str]) -> list[Any]:
        values = [_cell(column_type, path, obj, since) for column_type, path in paths]
        return [value_at(obj, "metadata", "name"), *values]

    return Layout((_NAME, *columns), cells)


def _description(column: Any) -> str:
    default = f"Custom resource definition column (in JSONPath format): {column.json_path}"
    return str(column.description or default)


def _path(text: str) -> JSONPath | None:
    # Validation has rejected invalid paths; one that still fails has empty cells.
    try:
        return JSONPath(f"{{{text}}}", allow_missing_keys=True)
    except JSONPathError:
        return None


def _cell(
    column_type: str, path: JSONPath | None, obj: Mapping[str, Any], since: Callable[[object], str]
) -> Any:
    try:
        found = path.values(obj) if path is not None else []
    except JSONPathError:
        return None
    if not found:
        return None
    if found[0] is None:
        # The printer of JSONPath writes this for null.
        return "<no value>" if column_type == "string" else None
    return _as_type(column_type, found[0], since)


def _as_type(column_type: str, value: Any, since: Callable[[object], str]) -> Any:
    """A value as the column's type; null if it is of another type (`cellForJSONValue`)."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    match column_type:
        case "string":
            return _TEXT.render({"value": value})
        case "integer" if number:
            return int(value)
        case "number" if number:
            return value
        case "boolean" if isinstance(value, bool):
            return value
        case "date" if isinstance(value, str):
            return since(value)
    return None
