"""Validation of where a pod may run: affinity, tolerations, spread constraints, gates.

Guarantees: the causes of `validateAffinity`, `ValidateTolerations`,
`validateTopologySpreadConstraints` and `validateSchedulingGates`.
See also: the rest of a pod's spec (`pod_validation`), the selectors of volumes
(`core.persistent_volume`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from kubeloop.meta import (
    problems_of_dns_label,
    problems_of_dns_subdomain,
    problems_of_label_key,
    problems_of_label_value,
)

from ...values import causes
from ..kind import Causes, Json
from .value_rules import (
    check_choice,
    check_label_key,
    check_name,
    check_selector,
    enumerate_objects,
)

__all__ = [
    "EFFECTS",
    "check_node_selector",
    "check_toleration",
    "problems_of_placement",
    "problems_of_tolerations",
]

EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
_ACTIONS: Final = ("DoNotSchedule", "ScheduleAnyway")
_OPERATORS: Final = ("Equal", "Exists")


def problems_of_placement(spec: Json, path: str) -> Causes:
    """What is wrong with the affinity, the gates and the spread constraints of a pod."""
    affinity = spec.get("affinity")
    if isinstance(affinity, Mapping):
        yield from _affinity(affinity, f"{path}.affinity")
    for index, each in enumerate_objects(spec.get("readinessGates")):
        where = f"{path}.readinessGates[{index}].conditionType"
        yield from check_label_key(where, each.get("conditionType") or "")
    yield from _gates(spec, f"{path}.schedulingGates")
    yield from _spread(spec, f"{path}.topologySpreadConstraints")


def _gates(spec: Json, path: str) -> Causes:
    seen: set[str] = set()
    for index, each in enumerate_objects(spec.get("schedulingGates")):
        name = each.get("name") or ""
        yield from check_label_key(f"{path}[{index}]", name)
        if name in seen:
            yield causes.duplicate(f"{path}[{index}]", name)
        seen.add(name)


def _affinity(affinity: Json, path: str) -> Causes:
    node = affinity.get("nodeAffinity")
    if isinstance(node, Mapping):
        where = f"{path}.nodeAffinity"
        if isinstance(node.get(_REQUIRED), Mapping):
            yield from check_node_selector(node[_REQUIRED], f"{where}.{_REQUIRED}")
        for index, each in enumerate_objects(node.get(_PREFERRED)):
            below = f"{where}.{_PREFERRED}[{index}]"
            yield from _weight(each, below)
            term = each.get("preference") or {}
            yield from _node_term(term, f"{below}.preference", checks_values=False)
    for kind in ("podAffinity", "podAntiAffinity"):
        terms = affinity.get(kind)
        if isinstance(terms, Mapping):
            yield from _pod_terms(terms, f"{path}.{kind}")


def _weight(term: Json, path: str) -> Causes:
    weight = term.get("weight") or 0
    if not 1 <= weight <= 100:
        yield causes.invalid(f"{path}.weight", weight, "must be in the range 1-100")


def check_node_selector(selector: Json, path: str) -> Causes:
    """The terms of a node selector, of which there is at least one."""
    where = f"{path}.nodeSelectorTerms"
    if not selector.get("nodeSelectorTerms"):
        yield causes.required(where, "must have at least one node selector term")
    for index, term in enumerate_objects(selector.get("nodeSelectorTerms")):
        yield from _node_term(term, f"{where}[{index}]", checks_values=True)


def _node_term(term: Json, path: str, *, checks_values: bool) -> Causes:
    for index, each in enumerate_objects(term.get("matchExpressions")):
        where = f"{path}.matchExpressions[{index}]"
        yield from _node_expression(each, where, checks_values=checks_values)
    for index, each in enumerate_objects(term.get("matchFields")):
        yield from _node_field(each, f"{path}.matchFields[{index}]")


def _node_expression(term: Json, path: str, *, checks_values: bool) -> Causes:
    # `ValidateNodeSelectorRequirement`.
    operator, values = term.get("operator") or "", term.get("values") or []
    if operator in {"In", "NotIn"}:
        if not values:
            rule = "must be specified when `operator` is 'In' or 'NotIn'"
            yield causes.required(f"{path}.values", rule)
    elif operator in {"Exists", "DoesNotExist"}:
        if values:
            rule = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            yield causes.forbidden(f"{path}.values", rule)
    elif operator in {"Gt", "Lt"}:
        if len(values) != 1:
            rule = "must be specified single value when `operator` is 'Lt' or 'Gt'"
            yield causes.required(f"{path}.values", rule)
    else:
        yield causes.invalid(f"{path}.operator", operator, "not a valid selector operator")
    yield from check_label_key(f"{path}.key", term.get("key") or "")
    for index, value in enumerate(values if checks_values else ()):
        yield from check_name(f"{path}.values[{index}]", value, problems_of_label_value)


def _node_field(term: Json, path: str) -> Causes:
    # `ValidateNodeFieldSelectorRequirement`: nodes can be selected by their names only.
    operator, values = term.get("operator") or "", term.get("values") or []
    if operator in {"In", "NotIn"}:
        if len(values) != 1:
            rule = (
                "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
            )
            yield causes.required(f"{path}.values", rule)
    else:
        yield causes.invalid(f"{path}.operator", operator, "not a valid selector operator")
    if term.get("key") != "metadata.name":
        rule = "not a valid field selector key"
        yield causes.invalid(f"{path}.key", term.get("key") or "", rule)
        return
    for index, value in enumerate(values):
        yield from check_name(f"{path}.values[{index}]", value, problems_of_dns_subdomain)


def _pod_terms(terms: Json, path: str) -> Causes:
    for index, each in enumerate_objects(terms.get(_REQUIRED)):
        yield from _pod_term(each, f"{path}.{_REQUIRED}[{index}]")
    for index, each in enumerate_objects(terms.get(_PREFERRED)):
        where = f"{path}.{_PREFERRED}[{index}]"
        yield from _weight(each, where)
        yield from _pod_term(each.get("podAffinityTerm") or {}, f"{where}.podAffinityTerm")


def _pod_term(term: Json, path: str) -> Causes:
    # `validatePodAffinityTerm`.
    for field in ("labelSelector", "namespaceSelector"):
        yield from check_selector(f"{path}.{field}", term.get(field))
    for name in term.get("namespaces") or ():
        yield from check_name(f"{path}.namespace", name, problems_of_dns_label)
    selector, key = term.get("labelSelector"), term.get("topologyKey") or ""
    matching, differing = term.get("matchLabelKeys") or [], term.get("mismatchLabelKeys") or []
    yield from _label_keys(f"{path}.matchLabelKeys", matching, selector)
    yield from _label_keys(f"{path}.mismatchLabelKeys", differing, selector)
    yield from _keys_in_selector(path, matching, selector)
    for index, each in enumerate(matching):
        if each in differing:
            where = f"{path}.matchLabelKeys[{index}]"
            yield causes.invalid(where, each, "exists in both matchLabelKeys and mismatchLabelKeys")
    if not key:
        yield causes.required(f"{path}.topologyKey", "can not be empty")
    yield from check_label_key(f"{path}.topologyKey", key)


def _label_keys(path: str, keys: list[str], selector: Any) -> Causes:
    if keys and selector is None:
        yield causes.forbidden(path, "must not be specified when labelSelector is not set")
        return
    for index, key in enumerate(keys):
        yield from check_label_key(f"{path}[{index}]", key)


def _keys_in_selector(path: str, keys: list[str], selector: Any) -> Causes:
    # At creation, matchLabelKeys become expressions: only a second occurrence is a conflict.
    if not isinstance(selector, Mapping):
        return
    seen = set(selector.get("matchLabels") or ())
    for _, each in enumerate_objects(selector.get("matchExpressions")):
        key = each.get("key")
        if key in keys and key in seen:
            where = f"{path}[{keys.index(key)}]"
            yield causes.invalid(where, key, "is in both matchLabelKeys and labelSelector")
        seen.add(key)


def problems_of_tolerations(spec: Json, path: str) -> Causes:
    """What is wrong with the tolerations of a pod."""
    for index, each in enumerate_objects(spec.get("tolerations")):
        where = f"{path}.tolerations[{index}]"
        if each.get("key"):
            yield from check_name(f"{where}.key", each["key"], problems_of_label_key)
        yield from check_toleration(where, each)


def check_toleration(path: str, each: Json) -> Causes:
    """A toleration; the form of its key is checked apart (`KeyFormatCovered`)."""
    # `ValidateTolerations`.
    key, operator = each.get("key") or "", each.get("operator") or ""
    value, effect = each.get("value") or "", each.get("effect") or ""
    if not key and operator != "Exists":
        rule = (
            "operator must be Exists when `key` is empty, which means "
            '"match all values and all keys"'
        )
        yield causes.invalid(f"{path}.operator", operator, rule)
    if each.get("tolerationSeconds") is not None and effect != "NoExecute":
        rule = "effect must be 'NoExecute' when `tolerationSeconds` is set"
        yield causes.invalid(f"{path}.effect", effect, rule)
    if operator in {"", "Equal"}:
        problems = problems_of_label_value(value)
        if problems:
            yield causes.invalid(f"{path}.operator", value, ";".join(problems))
    elif operator == "Exists":
        if value:
            rule = "value must be empty when `operator` is 'Exists'"
            yield causes.invalid(f"{path}.operator", value, rule)
    else:
        yield causes.not_supported(f"{path}.operator", operator, _OPERATORS)
    yield from check_choice(f"{path}.effect", effect, EFFECTS)


def _spread(spec: Json, path: str) -> Causes:
    constraints = enumerate_objects(spec.get("topologySpreadConstraints"))
    for index, each in constraints:
        where = f"{path}[{index}]"
        yield from _constraint(each, where)
        same = (each.get("topologyKey"), each.get("whenUnsatisfiable"))
        later = [(two.get("topologyKey"), two.get("whenUnsatisfiable")) for _, two in constraints]
        if same in later[index + 1 :]:
            shown = f"{{{same[0] or ''}, {same[1] or ''}}}"
            yield causes.duplicate(f"{where}.{{topologyKey, whenUnsatisfiable}}", shown)


def _constraint(each: Json, path: str) -> Causes:
    # `validateTopologySpreadConstraints`.
    skew, action = each.get("maxSkew") or 0, each.get("whenUnsatisfiable") or ""
    if skew <= 0:
        yield causes.invalid(f"{path}.maxSkew", skew, "must be greater than zero")
    if not each.get("topologyKey"):
        yield causes.required(f"{path}.topologyKey", "can not be empty")
    if action not in _ACTIONS:
        yield causes.not_supported(f"{path}.whenUnsatisfiable", action, _ACTIONS)
    domains = each.get("minDomains")
    if domains is not None:
        if domains <= 0:
            yield causes.invalid(f"{path}.minDomains", domains, "must be greater than zero")
        if action != "DoNotSchedule":
            rule = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}"
            yield causes.invalid(f"{path}.minDomains", domains, rule)
    for field in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
        yield from check_choice(f"{path}.{field}", each.get(field), ("Honor", "Ignore"))
    keys, selector = each.get("matchLabelKeys") or [], each.get("labelSelector")
    yield from _label_keys(f"{path}.matchLabelKeys", keys, selector)
    yield from _keys_in_selector(path, keys, selector)
    yield from check_selector(f"{path}.labelSelector", selector)
