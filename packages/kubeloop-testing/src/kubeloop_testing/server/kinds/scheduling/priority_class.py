"""PriorityClass (scheduling.k8s.io): defaults, validation and columns."""

from __future__ import annotations

from typing import Any, Final

from ...values import causes
from ...values.json_values import value_at
from ..kind import Causes, Json, Kind, Since
from ..rules.cell_text import age_of, name_of
from ..rules.defaults import pointer_defaults
from ..rules.value_rules import check_unchanged

__all__ = ["KIND", "SYSTEM_PRIORITIES"]

_HIGHEST_PRIORITY: Final = 1_000_000_000
# The classes that kube-apiserver creates at its start.
SYSTEM_PRIORITIES: Final = {
    "system-node-critical": 2_000_001_000,
    "system-cluster-critical": 2_000_000_000,
}


def _system_problem(name: str, value: int) -> str:
    known = SYSTEM_PRIORITIES.get(name)
    if known is None:
        return f"{name} is not a known system priority class"
    if known != value:
        return f"value of {name} PriorityClass must be {known}"
    return f"globalDefault of {name} PriorityClass must be false"


def _validate(obj: Json, old: Json | None) -> Causes:
    # `ValidatePriorityClass` and `ValidatePriorityClassUpdate`.
    value, policy = obj.get("value") or 0, obj.get("preemptionPolicy")
    if old is not None:
        if value != (old.get("value") or 0):
            yield causes.forbidden("value", "may not be changed in an update.")
        yield from check_unchanged("preemptionPolicy", policy, old.get("preemptionPolicy"))
        return
    name = (obj.get("metadata") or {}).get("name") or ""
    if name.startswith("system-"):
        if SYSTEM_PRIORITIES.get(name) != value or obj.get("globalDefault"):
            rule = (
                "priority class names with 'system-' prefix are reserved for system use only. "
                f"error: {_system_problem(name, value)}"
            )
            yield causes.forbidden("metadata.name", rule)
    elif value > _HIGHEST_PRIORITY:
        rule = f"maximum allowed value of a user defined priority is {_HIGHEST_PRIORITY}"
        yield causes.forbidden("value", rule)
    if policy == "":
        yield causes.required("preemptionPolicy")
    elif policy is not None and policy not in ("PreemptLowerPriority", "Never"):
        policies = ("PreemptLowerPriority", "Never")
        yield causes.not_supported("preemptionPolicy", policy, policies)


def _cells(obj: Json, since: Since) -> list[Any]:
    return [
        name_of(obj),
        value_at(obj, "value") or 0,
        bool(value_at(obj, "globalDefault")),
        age_of(obj, since),
        value_at(obj, "preemptionPolicy") or "",
    ]


KIND: Final = Kind(
    "scheduling.k8s.io",
    "PriorityClass",
    generation="constant",
    defaults=(pointer_defaults(preemptionPolicy="PreemptLowerPriority"),),
    validate=_validate,
    columns="Name, Value:integer, Global-Default:boolean, Age, PreemptionPolicy",
    cells=_cells,
)
