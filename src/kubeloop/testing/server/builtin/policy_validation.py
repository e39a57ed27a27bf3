"""Validation of admission policies and their bindings.

Guarantees: the checks of kube-apiserver's `pkg/apis/admissionregistration/validation` with its
paths, reasons and order, except that CEL expressions are not compiled.
See also: rules and conditions (`webhook_validation`).
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

from ..values import causes
from .field_rules import (
    Check,
    Raw,
    check_conditions,
    check_known,
    check_qualified_name,
    check_required,
)
from .value_rules import Causes, check_name, check_selector, enumerate_objects
from .webhook_validation import check_match_conditions, check_rule

__all__ = ["POLICIES", "POLICY_STATUSES"]

_GROUP: Final = "admissionregistration.k8s.io"
_FAILURES: Final = ("Fail", "Ignore")
_ACTIONS: Final = ("Audit", "Deny", "Warn")
_REASONS: Final = ("Forbidden", "Invalid", "RequestEntityTooLarge", "Unauthorized")
_MUTABLE: Final = ("*", "CREATE", "UPDATE")
_PATCHES: Final = {"ApplyConfiguration": "applyConfiguration", "JSONPatch": "jsonPatch"}
_AUDIT_ANNOTATIONS: Final = 20
_IDENTIFIER: Final = re.compile("[_a-zA-Z][_a-zA-Z0-9]*")
_RESERVED: Final = frozenset(
    re.findall(
        "[a-z]+",
        "true false null in as break const continue else for function if import let loop package "
        "namespace return var void while",
    )
)


def _start(spec: Raw) -> Causes:
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


def _validating(obj: Raw, _: Raw | None) -> Causes:
    # `validateValidatingAdmissionPolicySpec`.
    spec = obj.get("spec") or {}
    yield from _start(spec)
    yield from check_match_conditions("spec.matchConditions", spec.get("matchConditions"))
    yield from _variables(spec.get("variables"))
    validations, annotations = spec.get("validations"), spec.get("auditAnnotations")
    if not validations and not annotations:
        for field in ("validations", "auditAnnotations"):
            rule = "validations or auditAnnotations must contain at least one item"
            yield causes.required(f"spec.{field}", rule)
        return
    for index, each in enumerate_objects(validations):
        yield from _validation(f"spec.validations[{index}]", each)
    yield from _annotations((obj.get("metadata") or {}).get("name") or "", annotations or [])


def _param_kind(path: str, kind: Raw) -> Causes:
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


def _match_resources(path: str, match: Raw) -> Causes:
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


def _variables(variables: Any) -> Causes:
    for index, each in enumerate_objects(variables):
        path, name = f"spec.variables[{index}]", each.get("name") or ""
        if not name.strip():
            yield causes.required(f"{path}.name", "name is not specified")
        elif not _IDENTIFIER.fullmatch(name) or name in _RESERVED:
            yield causes.invalid(f"{path}.name", name, "must be a valid CEL identifier")
        expression = (each.get("expression") or "").strip()
        yield from check_required(f"{path}.expression", expression, "expression is not specified")


def _validation(path: str, validation: Raw) -> Causes:
    # `validateValidation`.
    expression = (validation.get("expression") or "").strip()
    yield from check_required(f"{path}.expression", expression, "expression is not specified")
    for field in ("messageExpression", "message"):
        text = validation.get(field) or ""
        if text and not text.strip():
            yield causes.invalid(f"{path}.{field}", text, "must be non-empty if specified")
        elif field == "message" and re.search("[\n\r]", text.strip()):
            yield causes.invalid(f"{path}.{field}", text, "must not contain line breaks")
    yield from check_known(f"{path}.reason", validation.get("reason"), _REASONS)


def _annotations(policy: str, annotations: Sequence[Any]) -> Causes:
    # `validateAuditAnnotation`.
    path = "spec.auditAnnotations"
    if len(annotations) > _AUDIT_ANNOTATIONS:
        rule = f"must not have more than {_AUDIT_ANNOTATIONS} auditAnnotations"
        yield causes.invalid(path, annotations, rule)
    seen: set[str] = set()
    for index, each in enumerate_objects(annotations):
        key = each.get("key") or ""
        yield from check_qualified_name(f"{path}[{index}].key", f"{policy}/{key}")
        where = f"{path}[{index}].valueExpression"
        yield from check_required(where, (each.get("valueExpression") or "").strip())
        if key in seen:
            yield causes.duplicate(f"{path}[{index}].key", key)
        seen.add(key)


def _mutating(obj: Raw, _: Raw | None) -> Causes:
    # `validateMutatingAdmissionPolicySpec`.
    spec = obj.get("spec") or {}
    yield from _start(spec)
    constraints = spec.get("matchConstraints") or {}
    yield from _mutable_operations("spec.matchConstraints", constraints)
    yield from check_match_conditions("spec.matchConditions", spec.get("matchConditions"))
    yield from _variables(spec.get("variables"))
    yield from check_required(
        "spec.mutations", spec.get("mutations"), "mutations must contain at least one item"
    )
    for index, each in enumerate_objects(spec.get("mutations")):
        yield from _mutation(f"spec.mutations[{index}]", each)
    policy = spec.get("reinvocationPolicy")
    yield from check_required("spec.reinvocationPolicy", policy)
    yield from check_known("spec.reinvocationPolicy", policy or None, ("IfNeeded", "Never"))


def _mutable_operations(path: str, match: Raw) -> Causes:
    # Only creates and updates can be mutated.
    for _, rule in enumerate_objects(match.get("resourceRules")):
        for operation in rule.get("operations") or ():
            if operation not in _MUTABLE:
                yield causes.not_supported(f"{path}.resourceRules.operations", operation, _MUTABLE)


def _mutation(path: str, mutation: Raw) -> Causes:
    # `validateMutation`.
    kind = mutation.get("patchType") or ""
    own = _PATCHES.get(kind)
    if own is None:
        if kind:
            yield causes.not_supported(f"{path}.patchType", kind, sorted(_PATCHES))
        else:
            yield causes.required(f"{path}.patchType")
        return
    if mutation.get(own) is None:
        yield causes.required(f"{path}.{own}", f"must be specified when patchType is {kind}")
    else:
        expression = (mutation[own].get("expression") or "").strip()
        yield from check_required(f"{path}.{own}.expression", expression)
    other = next(each for each in _PATCHES.values() if each != own)
    if mutation.get(other) is not None:
        rule = f"must not be specified when patchType is {kind}"
        yield causes.invalid(f"{path}.{other}", f"{{{other}}}", rule)


# --- bindings


def _binding(obj: Raw, _: Raw | None) -> Causes:
    # `validateValidatingAdmissionPolicyBindingSpec`.
    spec = obj.get("spec") or {}
    yield from _bound(spec)
    actions = spec.get("validationActions") or []
    for index, each in enumerate(actions):
        if each not in _ACTIONS:
            yield causes.not_supported(f"spec.validationActions[{index}]", each, _ACTIONS)
        if each in actions[:index]:
            yield causes.duplicate(f"spec.validationActions[{index}]", each)
    if {"Deny", "Warn"} <= set(actions):
        rule = (
            "must not contain both Deny and Warn (repeating the same validation failure "
            "information in the API response and headers serves no purpose)"
        )
        yield causes.invalid("spec.validationActions", actions, rule)
    yield from check_required("spec.policyName", spec.get("policyName"))
    yield from check_required("spec.validationActions", actions)


def _bound(spec: Raw) -> Causes:
    name = spec.get("policyName") or ""
    if name:
        yield from check_name("spec.policyName", name, problems_of_dns_subdomain)
    if spec.get("paramRef") is not None:
        yield from _param_ref("spec.paramRef", spec["paramRef"])
    if spec.get("matchResources") is not None:
        yield from _match_resources("spec.matchResources", spec["matchResources"])


def _param_ref(path: str, reference: Raw) -> Causes:
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


def _mutating_binding(obj: Raw, _: Raw | None) -> Causes:
    # `validateMutatingAdmissionPolicyBindingSpec`.
    spec = obj.get("spec") or {}
    yield from check_required("spec.policyName", spec.get("policyName"))
    yield from _bound(spec)
    yield from _mutable_operations("spec.matchResources", spec.get("matchResources") or {})


def _status(obj: Raw, _: Raw | None) -> Causes:
    # `validateValidatingAdmissionPolicyStatus`.
    status = obj.get("status") or {}
    warnings = (status.get("typeChecking") or {}).get("expressionWarnings")
    for index, each in enumerate_objects(warnings):
        path = f"status.typeChecking.expressionWarnings[{index}]"
        yield from check_required(f"{path}.warning", each.get("warning"))
        yield from check_required(f"{path}.fieldRef", (each.get("fieldRef") or "").strip())
    yield from check_conditions("status.conditions", status.get("conditions"))


POLICIES: Final[dict[tuple[str, str], Check]] = {
    (_GROUP, "MutatingAdmissionPolicy"): _mutating,
    (_GROUP, "MutatingAdmissionPolicyBinding"): _mutating_binding,
    (_GROUP, "ValidatingAdmissionPolicy"): _validating,
    (_GROUP, "ValidatingAdmissionPolicyBinding"): _binding,
}
POLICY_STATUSES: Final[dict[tuple[str, str, str], Check]] = {
    (_GROUP, "ValidatingAdmissionPolicy", "status"): _status,
}
