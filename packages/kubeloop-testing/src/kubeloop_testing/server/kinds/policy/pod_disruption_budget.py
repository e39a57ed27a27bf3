"""PodDisruptionBudget (policy): validation and columns."""

from __future__ import annotations

from typing import Any, Final

from kubeloop.meta import problems_of_path_segment

from ...values import causes
from ...values.go_values import printed
from ...values.json_values import value_at
from ..kind import Causes, Json, Kind, Since
from ..rules.cell_text import age_of, name_of, or_else
from ..rules.cells import count_at
from ..rules.value_rules import check_choice, check_int_or_percent, check_minimum, check_selector

__all__ = ["KIND"]


def _check_name(name: str, *, prefix: bool = False) -> list[str]:
    # The prefix `.` is valid: a generated name has more characters. It is not for other kinds.
    return problems_of_path_segment(f"{name}x" if prefix else name)


def _validate(obj: Json, _: Json | None) -> Causes:
    # `ValidatePodDisruptionBudgetSpec`.
    spec = obj.get("spec") or {}
    least, most = spec.get("minAvailable"), spec.get("maxUnavailable")
    if least is not None and most is not None:
        rule = "minAvailable and maxUnavailable cannot be both set"
        shown = printed("policy/v1.PodDisruptionBudgetSpec", spec)
        yield causes.invalid("spec", shown, rule)
    yield from check_int_or_percent("spec.minAvailable", least, at_most_all=True)
    yield from check_int_or_percent("spec.maxUnavailable", most, at_most_all=True)
    yield from check_selector("spec.selector", spec.get("selector"))
    policy, where = spec.get("unhealthyPodEvictionPolicy"), "spec.unhealthyPodEvictionPolicy"
    yield from check_choice(where, policy, ("AlwaysAllow", "IfHealthyBudget"))


def _validate_status(obj: Json, _: Json) -> Causes:
    status = obj.get("status") or {}
    for field in ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"):
        yield from check_minimum(f"status.{field}", status.get(field))


def _cells(obj: Json, since: Since) -> list[Any]:
    return [
        name_of(obj),
        or_else(value_at(obj, "spec", "minAvailable"), "N/A"),
        or_else(value_at(obj, "spec", "maxUnavailable"), "N/A"),
        count_at(obj, "status", "disruptionsAllowed"),
        age_of(obj, since),
    ]


KIND: Final = Kind(
    "policy",
    "PodDisruptionBudget",
    generation="counted",
    requires_version=True,
    name_rule=_check_name,
    validate=_validate,
    validate_parts={"status": _validate_status},
    columns="Name, Min Available, Max Unavailable, Allowed Disruptions:integer, Age",
    cells=_cells,
)
