"""ControllerRevision (apps): validation and columns."""

from __future__ import annotations

from typing import Any, Final

from ...values import causes
from ...values.json_values import value_at
from ..kind import Causes, Json, Kind, Since
from ..rules.cell_text import age_of, items_at, name_of
from ..rules.cells import count_at
from ..rules.value_rules import check_minimum, check_unchanged

__all__ = ["KIND"]


def _validate(obj: Json, old: Json | None) -> Causes:
    # `ValidateControllerRevisionCreate`; the data of a revision never change.
    data = obj.get("data")
    if old is None and not isinstance(data, dict):
        yield causes.required("data", "data is mandatory")
    yield from check_minimum("revision", obj.get("revision"))
    if old is not None:
        yield from check_unchanged("data", data, old.get("data"))


def _cells(obj: Json, since: Since) -> list[Any]:
    owners = items_at(obj, "metadata", "ownerReferences")
    owner = next((each for each in owners if value_at(each, "controller")), None)
    return [
        name_of(obj),
        _owner_text(owner) if owner else "<none>",
        count_at(obj, "revision"),
        age_of(obj, since),
    ]


def _owner_text(owner: Json) -> str:
    """`statefulset.apps/web`."""
    group = str(owner.get("apiVersion", "")).rpartition("/")[0]
    kind = str(owner.get("kind", "")).lower()
    return f"{kind}.{group}/{owner.get('name')}" if group else f"{kind}/{owner.get('name')}"


KIND: Final = Kind(
    "apps",
    "ControllerRevision",
    validate=_validate,
    columns="Name, Controller, Revision, Age",
    cells=_cells,
)
