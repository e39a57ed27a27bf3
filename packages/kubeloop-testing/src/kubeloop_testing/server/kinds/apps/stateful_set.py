"""StatefulSet (apps): defaults, validation, warnings and columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from kubeloop.meta import problems_of_dns_label
from kubeloop.wire import JsonObject

from ...values import causes
from ...values.go_values import printed
from ...values.json_values import map_field, map_items, value_at, with_defaults
from ..kind import Causes, Json, Kind, Since, Warnings
from ..rules.cell_text import age_of, containers_text, name_of
from ..rules.cells import CONTAINER_COLUMNS, TEMPLATE_SPEC, count_at
from ..rules.claim_validation import problems_of_claim_spec
from ..rules.defaults import (
    claim_defaults,
    in_spec,
    rolling_defaults,
    spec_defaults,
    template_defaults,
)
from ..rules.names import label_name
from ..rules.pod_warnings import storage_warnings
from ..rules.template_validation import problems_of_selector, problems_of_template
from ..rules.value_rules import (
    check_choice,
    check_int_or_percent,
    check_minimum,
    check_name,
    enumerate_objects,
    is_zero,
)
from ..rules.warnings import spec_template_warnings
from ..rules.workload_validation import (
    AVAILABLE_COUNTS,
    COMMON_COUNTS,
    check_counts,
    check_immutable,
)

__all__ = ["KIND"]


def _claim_templates(spec: JsonObject) -> JsonObject:
    return map_items(
        spec,
        "volumeClaimTemplates",
        lambda claim: claim_defaults(
            with_defaults(claim, {"apiVersion": "v1", "kind": "PersistentVolumeClaim"})
        ),
    )


def _retention(spec: JsonObject) -> JsonObject:
    retain = {"whenDeleted": "Retain", "whenScaled": "Retain"}
    name = "persistentVolumeClaimRetentionPolicy"
    return map_field(spec, name, lambda value: with_defaults(value, retain), make=True)


def _validate(obj: Json, old: Json | None) -> Causes:
    # `ValidateStatefulSetSpec` and `ValidateStatefulSetUpdate`.
    spec = obj.get("spec") or {}
    policy = spec.get("podManagementPolicy")
    if policy not in (None, "", "OrderedReady", "Parallel"):
        rule = "must be 'OrderedReady' or 'Parallel'"
        yield causes.invalid("spec.podManagementPolicy", policy, rule)
    yield from _set_strategy(spec.get("updateStrategy") or {})
    retention = spec.get("persistentVolumeClaimRetentionPolicy") or {}
    for field in ("whenDeleted", "whenScaled"):
        where = f"spec.persistentVolumeClaimRetentionPolicy.{field}"
        yield from check_choice(where, retention.get(field), ("Retain", "Delete"))
    for index, claim in enumerate_objects(spec.get("volumeClaimTemplates")):
        where = f"spec.volumeClaimTemplates[{index}].spec"
        yield from problems_of_claim_spec(claim.get("spec") or {}, where)
    for field in ("replicas", "minReadySeconds"):
        yield from check_minimum(f"spec.{field}", spec.get(field))
    start = (spec.get("ordinals") or {}).get("start")
    yield from check_minimum("spec.ordinals.start", start)
    if spec.get("serviceName"):
        yield from check_name("spec.serviceName", spec["serviceName"], problems_of_dns_label)
    yield from problems_of_selector(spec, "statefulset")
    full = _with_claim_volumes(spec)
    yield from problems_of_template(full, "spec.template", always="StatefulSet")
    names = ("selector", "volumeClaimTemplates", "serviceName", "podManagementPolicy")
    yield from check_immutable(spec, old, *names)


def _set_strategy(strategy: Json) -> Causes:
    kind, rolling = strategy.get("type"), strategy.get("rollingUpdate")
    where = "spec.updateStrategy"
    if kind not in (None, "", "RollingUpdate", "OnDelete"):
        rule = "must be 'RollingUpdate' or 'OnDelete'"
        yield causes.invalid(where, printed("apps/v1.StatefulSetUpdateStrategy", strategy), rule)
    elif isinstance(rolling, Mapping):
        path = f"{where}.rollingUpdate"
        if kind == "OnDelete":
            rule = "only allowed for updateStrategy 'RollingUpdate'"
            shown = printed("apps/v1.RollingUpdateStatefulSetStrategy", rolling)
            yield causes.invalid(path, shown, rule)
            return
        yield from check_minimum(f"{path}.partition", rolling.get("partition"))
        most = rolling.get("maxUnavailable")
        yield from check_int_or_percent(f"{path}.maxUnavailable", most, at_most_all=True)
        if most is not None and is_zero(most):
            yield causes.invalid(f"{path}.maxUnavailable", most, "cannot be 0")


def _with_claim_volumes(spec: Json) -> Json:
    """A spec whose template has a volume for each claim, as the pods will have."""
    claims = [
        (each.get("metadata") or {}).get("name")
        for _, each in enumerate_objects(spec.get("volumeClaimTemplates"))
    ]
    template = spec.get("template")
    if not isinstance(template, Mapping):
        return spec
    pod = {
        key: value
        for key, value in (template.get("spec") or {}).items()
        if key not in {"subdomain", "hostname"}
    }
    if claims:
        added = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims]
        own = [each for each in pod.get("volumes") or () if each.get("name") not in claims]
        pod["volumes"] = [*added, *own]
    return {**spec, "template": {**template, "spec": pod}}


def _warn(obj: Json, old: Json | None) -> Warnings:
    yield from spec_template_warnings(obj, old)
    for index, claim in enumerate_objects(value_at(obj, "spec", "volumeClaimTemplates")):
        path = f"spec.volumeClaimTemplates[{index}]"
        yield from storage_warnings(
            claim.get("spec") or {}, path if old is None else f"{path}.Spec"
        )
    if (value_at(obj, "spec", "revisionHistoryLimit") or 0) < 0:
        yield (
            "spec.revisionHistoryLimit: a negative value retains all historical revisions; a "
            "value >= 0 is recommended"
        )


def _cells(obj: Json, since: Since) -> list[Any]:
    ready, desired = count_at(obj, "status", "readyReplicas"), count_at(obj, "spec", "replicas")
    names = containers_text(value_at(obj, *TEMPLATE_SPEC))
    return [name_of(obj), f"{ready}/{desired}", age_of(obj, since), *names]


KIND: Final = Kind(
    "apps",
    "StatefulSet",
    generation="counted",
    name_rule=label_name,
    pod_template=("spec", "template"),
    defaults=(
        spec_defaults(replicas=1, revisionHistoryLimit=10, podManagementPolicy="OrderedReady"),
        rolling_defaults("updateStrategy", partition=0, maxUnavailable=1),
        in_spec(_retention),
        in_spec(_claim_templates),
        in_spec(template_defaults),
    ),
    validate=_validate,
    validate_parts={
        "status": check_counts(
            *COMMON_COUNTS, bounded=("currentReplicas", "updatedReplicas", *AVAILABLE_COUNTS)
        )
    },
    warn=_warn,
    columns=f"Name, Ready, Age, {CONTAINER_COLUMNS}",
    cells=_cells,
)
