"""Validation of built-in kinds, and of the metadata of all kinds.

Guarantees: pure; metadata is validated for every kind, custom ones included. Of each kind's own
fields, the common checks of kube-apiserver's `ValidateXxx` functions, not all of them.
See also: the checks, by group (`core_validation`, `csi_validation`, `workload_validation`, …),
new objects (`preparation`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..statuses import Cause
from .allocation import Allocator
from .certificate_validation import CERTIFICATE_PARTS, CERTIFICATES
from .claim_validation import CLAIM_STATUSES, CLAIMS
from .class_validation import CLASSES
from .core_validation import CORE
from .csi_validation import CSI
from .flow_validation import FLOW_STATUSES, FLOWS
from .group_validation import GROUPS
from .metadata_validation import problems_of_metadata
from .pod_validation import problems_of_pod_change
from .policy_validation import POLICIES, POLICY_STATUSES
from .preparation import prepare_for_create, prepare_for_update, with_condition_times
from .registration_validation import REGISTRATION, REGISTRATION_STATUSES
from .slice_validation import SLICE_STATUSES, SLICES
from .storage_validation import STORAGE
from .webhook_validation import WEBHOOKS
from .workload_validation import WORKLOADS

__all__ = [
    "Allocator",
    "prepare_for_create",
    "prepare_for_update",
    "validate",
    "with_condition_times",
]

_CHECKS: Final = {
    **CORE,
    **CSI,
    **FLOWS,
    **GROUPS,
    **POLICIES,
    **REGISTRATION,
    **CERTIFICATES,
    **CLAIMS,
    **CLASSES,
    **SLICES,
    **STORAGE,
    **WEBHOOKS,
    **WORKLOADS,
}
# Checks of one subresource, which replace those of the whole object.
_PART_CHECKS: Final = {
    **CERTIFICATE_PARTS,
    **CLAIM_STATUSES,
    **FLOW_STATUSES,
    **POLICY_STATUSES,
    **REGISTRATION_STATUSES,
    **SLICE_STATUSES,
}


def validate(
    group: str,
    kind: str,
    obj: Mapping[str, Any],
    old: Mapping[str, Any] | None = None,
    *,
    subresource: str | None = None,
) -> list[Cause]:
    """What is wrong with `obj`, or with the update from `old`; empty if it is valid.

    `obj` has its defaults. `subresource` is the part that was written, "" for the object
    itself, None if unknown: then a pod may change as through any subresource.
    """
    meta = obj.get("metadata") or {}
    before = None if old is None else old.get("metadata") or {}
    found = list(problems_of_metadata(group, kind, meta, before))
    check = _CHECKS.get((group, kind))
    if subresource:
        check = _PART_CHECKS.get((group, kind, subresource), check)
    if check is not None:
        found += check(obj, old)
    if (group, kind) == ("", "Pod") and old is not None:
        found += problems_of_pod_change(obj, old, subresource=subresource)
    return found
