"""Validation of the failure policies and success policies of jobs.

Guarantees: the causes of `validatePodFailurePolicy` and `validateSuccessPolicy`.
See also: the rest of a job (`job_spec`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from kubeloop.kit import whole_number

from ...statuses import Cause
from ...values import causes
from ..kind import Causes, Json
from ..rules.value_rules import check_choice, check_label_key, check_minimum, enumerate_objects

__all__ = ["problems_of_failure_policy", "problems_of_success_policy"]

_ACTIONS: Final = ("Count", "FailIndex", "FailJob", "Ignore")
_MAX_RULES: Final = 20
_MAX_INDEXES: Final = 64 * 1024


def problems_of_failure_policy(spec: Json, path: str) -> Causes:
    """What is wrong with the pod failure policy of a job."""
    rules = (spec.get("podFailurePolicy") or {}).get("rules") or []
    if len(rules) > _MAX_RULES:
        yield causes.too_many(f"{path}.rules", len(rules), _MAX_RULES)
    pod = (spec.get("template") or {}).get("spec") or {}
    names = {
        each.get("name")
        for group in ("containers", "initContainers")
        for _, each in enumerate_objects(pod.get(group))
    }
    for index, rule in enumerate_objects(rules):
        yield from _failure_rule(rule, spec, f"{path}.rules[{index}]", names)


def _failure_rule(rule: Json, spec: Json, path: str, names: set[Any]) -> Causes:
    action, codes = rule.get("action"), rule.get("onExitCodes")
    conditions = rule.get("onPodConditions")
    if action == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
        yield causes.invalid(
            f"{path}.action", action, "requires the backoffLimitPerIndex to be set"
        )
    if not action:
        listed = " ".join(map(causes.quoted, _ACTIONS))
        yield causes.required(f"{path}.action", f"valid values: [{listed}]")
    else:
        yield from check_choice(f"{path}.action", action, _ACTIONS)
    if isinstance(codes, Mapping):
        yield from _exit_codes(codes, f"{path}.onExitCodes", names)
    for index, each in enumerate_objects(conditions):
        where = f"{path}.onPodConditions[{index}]"
        yield from check_label_key(f"{where}.type", each.get("type") or "")
        statuses = ("False", "True", "Unknown")
        yield from check_choice(f"{where}.status", each.get("status"), statuses, required=True)
    if bool(conditions) == (codes is not None):
        # The value is left out of this message, as kube-apiserver does.
        rule_text = "Invalid value: specifying one of OnExitCodes and OnPodConditions is required"
        if conditions:
            rule_text = (
                "Invalid value: specifying both OnExitCodes and OnPodConditions is not supported"
            )
        yield Cause(path, "FieldValueInvalid", rule_text)


def _exit_codes(codes: Json, path: str, names: set[Any]) -> Causes:
    operator, values = codes.get("operator"), codes.get("values") or []
    yield from check_choice(f"{path}.operator", operator, ("In", "NotIn"), required=True)
    name = codes.get("containerName")
    if name is not None and name not in names:
        yield causes.invalid(
            f"{path}.containerName",
            name,
            "must be one of the container or initContainer names in the pod template",
        )
    if not values:
        yield causes.invalid(f"{path}.values", values, "at least one value is required")
    elif len(values) > 255:
        yield causes.too_many(f"{path}.values", len(values), 255)
    for index, value in enumerate(values):
        if operator == "In" and value == 0:
            rule = "must not be 0 for the In operator"
            yield causes.invalid(f"{path}.values[{index}]", value, rule)
        if value in values[:index]:
            yield causes.duplicate(f"{path}.values[{index}]", value)
    if values != sorted(values):
        yield causes.invalid(f"{path}.values", values, "must be ordered")


def problems_of_success_policy(spec: Json, path: str) -> Causes:
    """What is wrong with the success policy of a job."""
    policy = spec.get("successPolicy") or {}
    if spec.get("completionMode") != "Indexed":
        yield causes.invalid(path, dict(policy), "requires indexed completion mode")
        return
    rules = policy.get("rules") or []
    if not rules:
        yield causes.required(f"{path}.rules", "at least one rule must be specified")
    if len(rules) > _MAX_RULES:
        yield causes.too_many(f"{path}.rules", len(rules), _MAX_RULES)
    for index, rule in enumerate_objects(rules):
        completions = spec.get("completions") or 0
        yield from _success_rule(rule, completions, f"{path}.rules[{index}]")


def _success_rule(rule: Json, completions: int, path: str) -> Causes:
    indexes, count = rule.get("succeededIndexes"), rule.get("succeededCount")
    where = f"{path}.succeededCount"
    if indexes is None and count is None:
        yield causes.required(
            path, "at least one of succeededCount or succeededIndexes must be specified"
        )
    total: int | None = 0
    if indexes is not None:
        if len(indexes) > _MAX_INDEXES:
            yield causes.too_long(f"{path}.succeededIndexes", _MAX_INDEXES)
        total = _count_indexes(indexes, completions)
        if total is None:
            rule_text = "must be increasing indexes below completions, such as 1,3-5"
            yield causes.invalid(f"{path}.succeededIndexes", indexes, rule_text)
    if count is not None:
        yield from check_minimum(where, count)
        if count > completions:
            yield causes.invalid(where, count, f"must be at most {completions}")
        if indexes is not None and count > (total or 0):
            rule_text = (
                f"must be less than or equal to {total or 0} (the number of indexes in the "
                "specified succeededIndexes field)"
            )
            yield causes.invalid(where, count, rule_text)


def _count_indexes(text: str, completions: int) -> int | None:
    """How many indexes a list of indexes and ranges has; None if it is invalid."""
    total, last = 0, -1
    for part in text.split(",") if text else ():
        low, dash, high = part.partition("-")
        high = high if dash else low
        first, end = whole_number(low), whole_number(high)
        if first is None or end is None:
            return None
        if first <= last or end < first or end >= completions or (dash and first == end):
            return None
        total += end - first + 1
        last = end
    return total
