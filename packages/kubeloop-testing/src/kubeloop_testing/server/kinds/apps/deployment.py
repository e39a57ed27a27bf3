"""Deployment (apps): defaults, validation, warnings and columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ...values import causes
from ...values.go_values import printed
from ...values.json_values import value_at
from ..kind import Causes, Json, Kind, Since
from ..rules.cell_text import age_of, containers_text, name_of, selector_text
from ..rules.cells import TEMPLATE_SPEC, WORKLOAD_COLUMNS, count_at
from ..rules.defaults import in_spec, rolling_defaults, spec_defaults, template_defaults
from ..rules.template_validation import problems_of_selector, problems_of_template
from ..rules.value_rules import check_at_most_all, check_int_or_percent, check_minimum, is_zero
from ..rules.warnings import workload_warnings
from ..rules.workload_validation import (
    AVAILABLE_COUNTS,
    COMMON_COUNTS,
    check_counts,
    check_immutable,
)

__all__ = ["KIND"]


def _validate(obj: Json, old: Json | None) -> Causes:
    # `ValidateDeploymentSpec`.
    spec = obj.get("spec") or {}
    yield from check_minimum("spec.replicas", spec.get("replicas"))
    yield from problems_of_selector(spec, "deployment")
    yield from problems_of_template(spec, "spec.template", always="ReplicaSet")
    yield from _strategy_problems(spec.get("strategy") or {})
    for field in ("minReadySeconds", "revisionHistoryLimit"):
        yield from check_minimum(f"spec.{field}", spec.get(field))
    yield from _deadline_problems(spec)
    yield from check_immutable(spec, old, "selector")


def _deadline_problems(spec: Json) -> Causes:
    # Otherwise the deadline would pass before a pod can be available.
    deadline = spec.get("progressDeadlineSeconds")
    yield from check_minimum("spec.progressDeadlineSeconds", deadline)
    if isinstance(deadline, int) and deadline <= (spec.get("minReadySeconds") or 0):
        rule = "must be greater than minReadySeconds"
        yield causes.invalid("spec.progressDeadlineSeconds", deadline, rule)


def _strategy_problems(strategy: Json) -> Causes:
    # `ValidateDeploymentStrategy`.
    path, rolling = "spec.strategy", strategy.get("rollingUpdate")
    if strategy.get("type") == "Recreate":
        if rolling is not None:
            rule = "may not be specified when strategy `type` is 'Recreate'"
            yield causes.forbidden(f"{path}.rollingUpdate", rule)
        return
    kinds = ("Recreate", "RollingUpdate")
    if strategy.get("type") not in (None, "", *kinds):
        shown = printed("apps/v1.DeploymentStrategy", strategy)
        yield causes.not_supported(path, shown, kinds)
    if isinstance(rolling, Mapping):
        yield from _rolling_problems(rolling, f"{path}.rollingUpdate")


def _rolling_problems(rolling: Json, path: str) -> Causes:
    # With both at zero no pod could ever be replaced.
    unavailable, surge = rolling.get("maxUnavailable"), rolling.get("maxSurge")
    yield from check_int_or_percent(f"{path}.maxUnavailable", unavailable)
    yield from check_int_or_percent(f"{path}.maxSurge", surge)
    if is_zero(unavailable) and is_zero(surge):
        rule = "may not be 0 when `maxSurge` is 0"
        yield causes.invalid(f"{path}.maxUnavailable", unavailable, rule)
    yield from check_at_most_all(f"{path}.maxUnavailable", unavailable)


def _cells(obj: Json, since: Since) -> list[Any]:
    ready, desired = count_at(obj, "status", "readyReplicas"), count_at(obj, "spec", "replicas")
    return [
        name_of(obj),
        f"{ready}/{desired}",
        count_at(obj, "status", "updatedReplicas"),
        count_at(obj, "status", "availableReplicas"),
        age_of(obj, since),
        *containers_text(value_at(obj, *TEMPLATE_SPEC)),
        selector_text(value_at(obj, "spec", "selector"), none=""),
    ]


KIND: Final = Kind(
    "apps",
    "Deployment",
    generation="counted",
    counted_metadata="annotations",
    kept_by_status=("labels",),
    pod_template=("spec", "template"),
    defaults=(
        spec_defaults(replicas=1, revisionHistoryLimit=10, progressDeadlineSeconds=600),
        rolling_defaults("strategy", maxUnavailable="25%", maxSurge="25%"),
        in_spec(template_defaults),
    ),
    validate=_validate,
    validate_parts={
        "status": check_counts(
            *COMMON_COUNTS, "unavailableReplicas", bounded=("updatedReplicas", *AVAILABLE_COUNTS)
        )
    },
    warn=workload_warnings("spec", "template"),
    columns=f"Name, Ready, Up-to-date, Available, Age, {WORKLOAD_COLUMNS}",
    cells=_cells,
)
