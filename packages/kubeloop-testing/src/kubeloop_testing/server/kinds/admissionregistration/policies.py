"""What admission policies and their bindings have in common.

Guarantees: the checks of kube-apiserver's `pkg/apis/admissionregistration/validation` with its
paths and reasons; expressions are not compiled.
See also: webhooks (`webhooks`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from kubeloop.meta import (
    problems_of_dns_1035_label,
    problems_of_dns_subdomain,
    problems_of_path_segment,
)
from kubeloop.wire import JsonObject

from ...values import causes
from ...values.json_values import map_field, map_items, value_at, with_defaults
from ..kind import Causes, Cells, Json, Since, Warnings
from ..rules.cell_text import age_of, items_at, name_of
from ..rules.field_rules import check_known, check_required
from ..rules.value_rules import check_name, check_selector, enumerate_objects
from .webhooks import SELECTORS, check_rule, default_rule

__all__ = [
    "BINDING_COLUMNS",
    "binding_not_evaluated",
    "check_bound",
    "check_operations",
    "check_policy",
    "check_variables",
    "default_binding",
    "default_policy",
    "policy_binding_cells",
    "policy_cells",
    "policy_not_evaluated",
]


def _default_match(value: JsonObject) -> JsonObject:
    rules = ("resourceRules", "excludeResourceRules")
    return map_items(with_defaults(value, SELECTORS), rules, default_rule)


def default_policy(spec: JsonObject) -> JsonObject:
    spec = with_defaults(spec, {"failurePolicy": "Fail"})
    return map_field(spec, "matchConstraints", _default_match)


def default_binding(spec: JsonObject) -> JsonObject:
    return map_field(spec, "matchResources", _default_match)


_FAILURES: Final = ("Fail", "Ignore")
_MUTABLE: Final = ("*", "CREATE", "UPDATE")
_IDENTIFIER: Final = re.compile("[_a-zA-Z][_a-zA-Z0-9]*")
_RESERVED: Final = frozenset(
    re.findall(
        "[a-z]+",
        "true false null in as break const continue else for function if import let loop package "
        "namespace return var void while",
    )
)


def check_policy(spec: Json) -> Causes:
    """What both kinds of policies have in common, up to their match constraints."""
    yield from check_required("spec.failurePolicy", spec.get("failurePolicy"))
    yield from check_known("spec.failurePolicy", spec.get("failurePolicy"), _FAILURES)
    if spec.get("paramKind") is not None:
        yield from _param_kind("spec.paramKind", spec["paramKind"])
    constraints = spec.get("matchConstraints")
    if constraints is None:
        yield causes.required("spec.matchConstraints")
    else:
        yield from _match_resources("spec.matchConstraints", constraints)
        where = "spec.matchConstraints.resourceRules"
        yield from check_required(where, constraints.get("resourceRules"))


def _param_kind(path: str, kind: Json) -> Causes:
    # `validateParamKind`.
    api_version, name = kind.get("apiVersion") or "", kind.get("kind") or ""
    group, _, version = api_version.rpartition("/")
    where = f"{path}.apiVersion"
    yield from check_required(where, api_version)
    if "/" in group:
        yield causes.invalid(where, api_version, f"unexpected GroupVersion string: {api_version}")
    elif api_version:
        if group:
            yield from _joined(where, group, problems_of_dns_subdomain(group))
        if version:
            yield from _joined(where, version, problems_of_dns_1035_label(version))
        else:
            yield causes.invalid(where, api_version, "version must be specified")
    yield from check_required(f"{path}.kind", name)
    if name:
        problems = problems_of_dns_1035_label(name.lower())
        what = "may have mixed case, but should otherwise match: "
        yield from _joined(f"{path}.kind", name, [what + each for each in problems])


def _joined(path: str, value: str, problems: Sequence[str]) -> Causes:
    if problems:
        yield causes.invalid(path, value, ",".join(problems))


def _match_resources(path: str, match: Json) -> Causes:
    # `validateMatchResources`.
    yield from check_known(f"{path}.matchPolicy", match.get("matchPolicy"), ("Equivalent", "Exact"))
    for field in ("namespaceSelector", "objectSelector"):
        yield from check_selector(f"{path}.{field}", match.get(field))
    for field in ("resourceRules", "excludeResourceRules"):
        for index, rule in enumerate_objects(match.get(field)):
            where, seen = f"{path}.{field}[{index}]", set()
            for number, name in enumerate(rule.get("resourceNames") or ()):
                own = f"{where}.resourceNames[{number}]"
                yield from check_name(own, name, problems_of_path_segment)
                if name in seen:
                    yield causes.duplicate(own, name)
                seen.add(name)
            yield from check_rule(where, rule)


def check_variables(variables: Any) -> Causes:
    for index, each in enumerate_objects(variables):
        path, name = f"spec.variables[{index}]", each.get("name") or ""
        if not name.strip():
            yield causes.required(f"{path}.name", "name is not specified")
        elif not _IDENTIFIER.fullmatch(name) or name in _RESERVED:
            yield causes.invalid(f"{path}.name", name, "must be a valid CEL identifier")
        expression = (each.get("expression") or "").strip()
        yield from check_required(f"{path}.expression", expression, "expression is not specified")


def check_operations(path: str, match: Json) -> Causes:
    # Only creates and updates can be mutated.
    for _, rule in enumerate_objects(match.get("resourceRules")):
        for operation in rule.get("operations") or ():
            if operation not in _MUTABLE:
                yield causes.not_supported(f"{path}.resourceRules.operations", operation, _MUTABLE)


def check_bound(spec: Json) -> Causes:
    name = spec.get("policyName") or ""
    if name:
        yield from check_name("spec.policyName", name, problems_of_dns_subdomain)
    if spec.get("paramRef") is not None:
        yield from _param_ref("spec.paramRef", spec["paramRef"])
    if spec.get("matchResources") is not None:
        yield from _match_resources("spec.matchResources", spec["matchResources"])


def _param_ref(path: str, reference: Json) -> Causes:
    # `validateParamRef`.
    name, selector = reference.get("name") or "", reference.get("selector")
    action, rule = (
        reference.get("parameterNotFoundAction"),
        "name and selector are mutually exclusive",
    )
    if name:
        yield from check_name(f"{path}.name", name, problems_of_path_segment)
        if selector is not None:
            yield causes.forbidden(f"{path}.name", rule)
    yield from check_selector(f"{path}.selector", selector)
    if name and selector is not None:
        yield causes.forbidden(f"{path}.selector", rule)
    if not name and selector is None:
        yield causes.required(path, "one of name or selector must be specified")
    where = f"{path}.parameterNotFoundAction"
    yield from check_required(where, action)
    yield from check_known(where, action or None, ("Deny", "Allow"))


def policy_not_evaluated(_: Json) -> Warnings:
    """CEL, which policies consist of."""
    yield (
        "this server does not evaluate CEL: the policy is stored, and neither rejects nor "
        "changes any request"
    )


def binding_not_evaluated(obj: Json) -> Warnings:
    """The policy of a binding."""
    name = (obj.get("spec") or {}).get("policyName", "")
    yield f'this server does not evaluate CEL: the policy "{name}" has no effect'


def policy_cells(field: str) -> Cells:
    """The cells of an admission policy; `field` is "validations" or "mutations"."""

    def cells(obj: Json, since: Since) -> list[Any]:
        kind = value_at(obj, "spec", "paramKind")
        parameter = (
            f"{value_at(kind, 'apiVersion')}/{value_at(kind, 'kind')}" if kind else "<unset>"
        )
        return [name_of(obj), len(items_at(obj, "spec", field)), parameter, age_of(obj, since)]

    return cells


def policy_binding_cells(obj: Json, since: Since) -> list[Any]:
    reference = value_at(obj, "spec", "paramRef")
    name = value_at(reference, "name")
    parameter = f"{value_at(reference, 'namespace') or '*'}/{name}" if name else "<unset>"
    return [name_of(obj), value_at(obj, "spec", "policyName") or "", parameter, age_of(obj, since)]


BINDING_COLUMNS: Final = "Name, PolicyName, ParamRef, Age"
