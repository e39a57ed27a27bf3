"""MutatingAdmissionPolicy (admissionregistration.k8s.io).

Defaults, validation, warnings and columns.
"""

from __future__ import annotations

from typing import Final

from ...values import causes
from ..kind import Causes, Json, Kind
from ..rules.defaults import in_spec
from ..rules.field_rules import check_known, check_required
from ..rules.value_rules import enumerate_objects
from .policies import (
    check_operations,
    check_policy,
    check_variables,
    default_policy,
    policy_cells,
    policy_not_evaluated,
)
from .webhooks import check_match_conditions, static_name_warnings

__all__ = ["KIND"]

_PATCHES: Final = {"ApplyConfiguration": "applyConfiguration", "JSONPatch": "jsonPatch"}


def _validate(obj: Json, _: Json | None) -> Causes:
    # `validateMutatingAdmissionPolicySpec`.
    spec = obj.get("spec") or {}
    yield from check_policy(spec)
    constraints = spec.get("matchConstraints") or {}
    yield from check_operations("spec.matchConstraints", constraints)
    yield from check_match_conditions("spec.matchConditions", spec.get("matchConditions"))
    yield from check_variables(spec.get("variables"))
    yield from check_required(
        "spec.mutations", spec.get("mutations"), "mutations must contain at least one item"
    )
    for index, each in enumerate_objects(spec.get("mutations")):
        yield from _mutation(f"spec.mutations[{index}]", each)
    policy = spec.get("reinvocationPolicy")
    yield from check_required("spec.reinvocationPolicy", policy)
    yield from check_known("spec.reinvocationPolicy", policy or None, ("IfNeeded", "Never"))


def _mutation(path: str, mutation: Json) -> Causes:
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


KIND: Final = Kind(
    "admissionregistration.k8s.io",
    "MutatingAdmissionPolicy",
    generation="counted",
    requires_version=True,
    defaults=(in_spec(default_policy),),
    validate=_validate,
    warn=static_name_warnings,
    not_evaluated=policy_not_evaluated,
    columns="Name, Mutations:integer, ParamKind, Age",
    cells=policy_cells("mutations"),
)
