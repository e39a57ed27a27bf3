"""Scale (autoscaling): columns."""

from __future__ import annotations

from typing import Any, Final

from ..kind import Json, Kind, Since
from ..rules.cell_text import age_of, name_of
from ..rules.cells import count_at

__all__ = ["KIND"]


def _cells(obj: Json, since: Since) -> list[Any]:
    desired, found = count_at(obj, "spec", "replicas"), count_at(obj, "status", "replicas")
    return [name_of(obj), desired, found, age_of(obj, since)]


KIND: Final = Kind(
    "autoscaling",
    "Scale",
    columns="Name, Desired:integer, Available:integer, Age",
    cells=_cells,
)
