"""ValidatingAdmissionPolicyBinding (admissionregistration.k8s.io).

Defaults, validation, warnings and columns.
"""

from __future__ import annotations

from typing import Final

from ...values import causes
from ..kind import Causes, Json, Kind
from ..rules.defaults import in_spec
from ..rules.field_rules import check_required
from .policies import (
    BINDING_COLUMNS,
    binding_not_evaluated,
    check_bound,
    default_binding,
    policy_binding_cells,
)
from .webhooks import static_name_warnings

__all__ = ["KIND"]

_ACTIONS: Final = ("Audit", "Deny", "Warn")


def _validate(obj: Json, _: Json | None) -> Causes:
    # `validateValidatingAdmissionPolicyBindingSpec`.
    spec = obj.get("spec") or {}
    yield from check_bound(spec)
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


KIND: Final = Kind(
    "admissionregistration.k8s.io",
    "ValidatingAdmissionPolicyBinding",
    generation="counted",
    requires_version=True,
    defaults=(in_spec(default_binding),),
    validate=_validate,
    warn=static_name_warnings,
    not_evaluated=binding_not_evaluated,
    columns=BINDING_COLUMNS,
    cells=policy_binding_cells,
)
