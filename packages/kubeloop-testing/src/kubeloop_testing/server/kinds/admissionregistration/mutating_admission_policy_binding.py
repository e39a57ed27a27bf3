"""MutatingAdmissionPolicyBinding (admissionregistration.k8s.io).

Defaults, validation, warnings and columns.
"""

from __future__ import annotations

from typing import Final

from ..kind import Causes, Json, Kind
from ..rules.defaults import in_spec
from ..rules.field_rules import check_required
from .policies import (
    BINDING_COLUMNS,
    binding_not_evaluated,
    check_bound,
    check_operations,
    default_binding,
    policy_binding_cells,
)
from .webhooks import static_name_warnings

__all__ = ["KIND"]


def _validate(obj: Json, _: Json | None) -> Causes:
    # `validateMutatingAdmissionPolicyBindingSpec`.
    spec = obj.get("spec") or {}
    yield from check_required("spec.policyName", spec.get("policyName"))
    yield from check_bound(spec)
    yield from check_operations("spec.matchResources", spec.get("matchResources") or {})


KIND: Final = Kind(
    "admissionregistration.k8s.io",
    "MutatingAdmissionPolicyBinding",
    generation="counted",
    requires_version=True,
    defaults=(in_spec(default_binding),),
    validate=_validate,
    warn=static_name_warnings,
    not_evaluated=binding_not_evaluated,
    columns=BINDING_COLUMNS,
    cells=policy_binding_cells,
)
