"""ComponentStatus: columns."""

from __future__ import annotations

from typing import Any, Final

from ...values.json_values import value_at
from ..kind import Json, Kind, Since
from ..rules.cell_text import items_at, name_of

__all__ = ["KIND"]


def _cells(obj: Json, since: Since) -> list[Any]:  # noqa: ARG001 # no age here
    found = next((e for e in items_at(obj, "conditions") if value_at(e, "type") == "Healthy"), None)
    if found is None:
        return [name_of(obj), "Unknown", "", ""]
    health = "Healthy" if value_at(found, "status") == "True" else "Unhealthy"
    return [name_of(obj), health, value_at(found, "message") or "", value_at(found, "error") or ""]


KIND: Final = Kind(
    "",
    "ComponentStatus",
    deprecation="v1 ComponentStatus is deprecated in v1.19+",
    columns="Name, Status, Message, Error",
    cells=_cells,
)
