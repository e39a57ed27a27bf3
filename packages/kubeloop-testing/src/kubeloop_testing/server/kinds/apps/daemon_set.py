"""DaemonSet (apps): defaults, preparation, validation, warnings and columns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from kubeloop.wire import JsonObject

from ...values import causes
from ...values.go_values import printed
from ...values.json_values import json_equal, map_field, value_at, with_defaults
from ..kind import Causes, Json, Kind, Since, Warnings
from ..rules.cell_text import age_of, containers_text, labels_text, name_of, selector_text
from ..rules.cells import TEMPLATE_SPEC, WORKLOAD_COLUMNS, count_at
from ..rules.defaults import in_spec, rolling_defaults, spec_defaults, template_defaults
from ..rules.template_validation import problems_of_selector, problems_of_template
from ..rules.value_rules import check_int_or_percent, check_minimum, is_zero
from ..rules.warnings import spec_template_warnings
from ..rules.workload_validation import check_counts, check_immutable

__all__ = ["KIND"]


def _with_template_annotation(obj: JsonObject) -> JsonObject:
    """A daemon set with the annotation into which apps/v1 converts the template generation."""

    def annotate(meta: JsonObject) -> JsonObject:
        return map_field(
            meta,
            "annotations",
            lambda value: with_defaults(value, {"deprecated.daemonset.template.generation": "0"}),
            make=True,
        )

    return map_field(obj, "metadata", annotate, make=True)


_TEMPLATE_GENERATION: Final = "deprecated.daemonset.template.generation"
_NUMBER: Final = re.compile("[1-9][0-9]{0,17}")


def _template_generation(obj: JsonObject) -> int:
    """The template generation of a daemon set, which apps/v1 keeps in an annotation."""
    text = value_at(obj, "metadata", "annotations", _TEMPLATE_GENERATION) or ""
    return int(text) if _NUMBER.fullmatch(text) else 1


def _with_template_generation(obj: JsonObject, number: int) -> JsonObject:
    def annotate(meta: JsonObject) -> JsonObject:
        annotations = {**(meta.get("annotations") or {}), _TEMPLATE_GENERATION: str(number)}
        return {**meta, "annotations": annotations}

    return map_field(obj, "metadata", annotate)


def _with_template_generation_of(new: JsonObject, old: JsonObject) -> JsonObject:
    """An updated daemon set: the template generation grows if the template changed."""
    number = _template_generation(old)
    is_same = value_at(new, "spec", "template") == value_at(old, "spec", "template")
    return _with_template_generation(new, number if is_same else number + 1)


def _validate(obj: Json, old: Json | None) -> Causes:
    # `ValidateDaemonSetSpec`.
    spec = obj.get("spec") or {}
    yield from problems_of_selector(spec, "daemonset")
    yield from problems_of_template(spec, "spec.template", always="DaemonSet")
    yield from check_minimum("spec.minReadySeconds", spec.get("minReadySeconds"))
    strategy, kinds = spec.get("updateStrategy") or {}, ("RollingUpdate", "OnDelete")
    rolling = strategy.get("rollingUpdate")
    if strategy.get("type") not in (None, "", *kinds):
        shown = printed("apps/v1.DaemonSetUpdateStrategy", strategy)
        yield causes.not_supported("spec.updateStrategy", shown, kinds)
    elif strategy.get("type") != "OnDelete" and isinstance(rolling, Mapping):
        yield from _daemon_rolling(rolling, "spec.updateStrategy.rollingUpdate")
    yield from check_minimum("spec.revisionHistoryLimit", spec.get("revisionHistoryLimit"))
    yield from check_immutable(spec, old, "selector")


def _daemon_rolling(rolling: Json, path: str) -> Causes:
    # A node runs either no pod or two pods during an update.
    unavailable, surge = rolling.get("maxUnavailable"), rolling.get("maxSurge")
    yield from check_int_or_percent(f"{path}.maxUnavailable", unavailable, at_most_all=True)
    yield from check_int_or_percent(f"{path}.maxSurge", surge, at_most_all=True)
    # A text that is no percentage counts as zero.
    has_unavailable, has_surge = (
        not is_zero(each) and (isinstance(each, int) or str(each).endswith("%"))
        for each in (unavailable, surge)
    )
    if has_unavailable and has_surge:
        rule = "may not be set when maxUnavailable is non-zero"
        yield causes.invalid(f"{path}.maxSurge", surge, rule)
    elif not has_unavailable and not has_surge:
        yield causes.required(f"{path}.maxUnavailable", "cannot be 0 when maxSurge is 0")


_DAEMON_COUNTS: Final = (
    "currentNumberScheduled",
    "numberMisscheduled",
    "desiredNumberScheduled",
    "numberReady",
    "observedGeneration",
    "updatedNumberScheduled",
    "numberAvailable",
    "numberUnavailable",
    "collisionCount",
)


def _warn(obj: Json, old: Json | None) -> Warnings:
    path = ("spec", "template")
    if old is None or not json_equal(value_at(obj, *path), value_at(old, *path)):
        yield from spec_template_warnings(obj, None)


def _cells(obj: Json, since: Since) -> list[Any]:
    counters = (
        "desiredNumberScheduled",
        "currentNumberScheduled",
        "numberReady",
        "updatedNumberScheduled",
        "numberAvailable",
    )
    return [
        name_of(obj),
        *(count_at(obj, "status", each) for each in counters),
        labels_text(value_at(obj, *TEMPLATE_SPEC, "nodeSelector")),
        age_of(obj, since),
        *containers_text(value_at(obj, *TEMPLATE_SPEC)),
        selector_text(value_at(obj, "spec", "selector")),
    ]


KIND: Final = Kind(
    "apps",
    "DaemonSet",
    generation="counted",
    pod_template=("spec", "template"),
    defaults=(
        rolling_defaults("updateStrategy", maxUnavailable=1, maxSurge=0),
        spec_defaults(revisionHistoryLimit=10),
        in_spec(template_defaults),
        _with_template_annotation,
    ),
    prepare_new=lambda obj: _with_template_generation(obj, _template_generation(obj)),
    prepare_update=_with_template_generation_of,
    prepare_part=lambda new, old, _, __: _with_template_generation_of(new, old),
    validate=_validate,
    validate_parts={"status": check_counts(*_DAEMON_COUNTS)},
    warn=_warn,
    columns="Name, Desired:integer, Current:integer, Ready:integer, Up-to-date:integer, "
    f"Available:integer, Node Selector, Age, {WORKLOAD_COLUMNS}",
    cells=_cells,
)
