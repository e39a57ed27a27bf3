"""ValidatingAdmissionPolicy (admissionregistration.k8s.io).

Defaults, validation, warnings and columns.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from ...values import causes
from ..kind import METADATA, Causes, Json, Kind
from ..rules.defaults import in_spec
from ..rules.field_rules import check_conditions, check_known, check_qualified_name, check_required
from ..rules.value_rules import enumerate_objects
from .policies import (
    check_policy,
    check_variables,
    default_policy,
    policy_cells,
    policy_not_evaluated,
)
from .webhooks import check_match_conditions, static_name_warnings

__all__ = ["KIND"]

_REASONS: Final = ("Forbidden", "Invalid", "RequestEntityTooLarge", "Unauthorized")
_AUDIT_ANNOTATIONS: Final = 20


def _validate(obj: Json, _: Json | None) -> Causes:
    # `validateValidatingAdmissionPolicySpec`.
    spec = obj.get("spec") or {}
    yield from check_policy(spec)
    yield from check_match_conditions("spec.matchConditions", spec.get("matchConditions"))
    yield from check_variables(spec.get("variables"))
    validations, annotations = spec.get("validations"), spec.get("auditAnnotations")
    if not validations and not annotations:
        for field in ("validations", "auditAnnotations"):
            rule = "validations or auditAnnotations must contain at least one item"
            yield causes.required(f"spec.{field}", rule)
        return
    for index, each in enumerate_objects(validations):
        yield from _validation(f"spec.validations[{index}]", each)
    yield from _annotations((obj.get("metadata") or {}).get("name") or "", annotations or [])


def _validation(path: str, validation: Json) -> Causes:
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


def _validate_status(obj: Json, _: Json | None) -> Causes:
    # `validateValidatingAdmissionPolicyStatus`.
    status = obj.get("status") or {}
    warnings = (status.get("typeChecking") or {}).get("expressionWarnings")
    for index, each in enumerate_objects(warnings):
        path = f"status.typeChecking.expressionWarnings[{index}]"
        yield from check_required(f"{path}.warning", each.get("warning"))
        yield from check_required(f"{path}.fieldRef", (each.get("fieldRef") or "").strip())
    yield from check_conditions("status.conditions", status.get("conditions"))


KIND: Final = Kind(
    "admissionregistration.k8s.io",
    "ValidatingAdmissionPolicy",
    generation="counted",
    requires_version=True,
    kept_by_status=METADATA,
    defaults=(in_spec(default_policy),),
    validate=_validate,
    validate_parts={"status": _validate_status},
    warn=static_name_warnings,
    not_evaluated=policy_not_evaluated,
    columns="Name, Validations:integer, ParamKind, Age",
    cells=policy_cells("validations"),
)
