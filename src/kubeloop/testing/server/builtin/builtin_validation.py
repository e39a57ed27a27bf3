"""Validation of built-in kinds, and of the metadata of all kinds.

Guarantees: pure; metadata is validated for every kind, custom ones included. Of each kind's own
fields, the common checks of kube-apiserver's `ValidateXxx` functions, not all of them.
See also: the checks, by group (`core_validation`, `csi_validation`, `workload_validation`, …),
new objects (`preparation`).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from ..statuses import Cause
from .class_validation import CLASSES
from .core_validation import CORE, CORE_STATUS
from .field_rules import Check
from .group_validation import GROUPS
from .metadata_validation import problems_of_metadata
from .network_validation import NETWORK, NETWORK_STATUS
from .pod_update_validation import problems_of_pod_change
from .preparation import prepare_for_create, prepare_for_update
from .volume_validation import VOLUMES
from .workload_validation import WORKLOAD_STATUS, WORKLOADS

__all__ = [
    "prepare_for_create",
    "prepare_for_update",
    "validate",
]

# Checks by kind, and checks of one subresource, which replace those of the whole object.
_Checks: TypeAlias = Mapping[tuple[str, str], Check]
_PartChecks: TypeAlias = Mapping[tuple[str, str, str], Check]

_CHECKS: Final[_Checks] = {**CORE, **CLASSES, **GROUPS, **NETWORK, **VOLUMES, **WORKLOADS}
_STATUS_CHECKS: Final = {**CORE_STATUS, **NETWORK_STATUS, **WORKLOAD_STATUS}
_STATUS_GROUPS: Final = frozenset(
    {"", "apps", "autoscaling", "batch", "networking.k8s.io", "policy"}
)
# Imported with the first write of their group: most tests never write one.
_RARE_GROUPS: Final = frozenset(
    {
        "admissionregistration.k8s.io",
        "apiregistration.k8s.io",
        "certificates.k8s.io",
        "flowcontrol.apiserver.k8s.io",
        "resource.k8s.io",
        "storage.k8s.io",
        "storagemigration.k8s.io",
    }
)


@functools.cache
def _rare_checks(group: str) -> tuple[_Checks, _PartChecks]:
    match group:
        case "admissionregistration.k8s.io":
            from .policy_validation import POLICIES, POLICY_STATUSES
            from .webhook_validation import WEBHOOKS

            return {**POLICIES, **WEBHOOKS}, POLICY_STATUSES
        case "certificates.k8s.io":
            from .certificate_validation import CERTIFICATE_PARTS, CERTIFICATES

            return CERTIFICATES, CERTIFICATE_PARTS
        case "flowcontrol.apiserver.k8s.io":
            from .flow_validation import FLOW_STATUSES, FLOWS

            return FLOWS, FLOW_STATUSES
        case "resource.k8s.io":
            from .resource_claim_validation import CLAIM_STATUSES, CLAIMS
            from .slice_validation import SLICE_STATUSES, SLICES

            return {**CLAIMS, **SLICES}, {**CLAIM_STATUSES, **SLICE_STATUSES}
        case "storage.k8s.io":
            from .csi_validation import CSI

            return CSI, {}
    from .registration_validation import REGISTRATION, REGISTRATION_STATUSES

    return REGISTRATION, REGISTRATION_STATUSES


def _check_for(group: str, kind: str, subresource: str | None) -> Check | None:
    if group not in _RARE_GROUPS:
        return _CHECKS.get((group, kind))
    checks, parts = _rare_checks(group)
    found = checks.get((group, kind))
    return parts.get((group, kind, subresource), found) if subresource else found


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
    if subresource == "status" and old is not None and group in _STATUS_GROUPS:
        # A write of the status does not validate the spec, which it cannot change.
        check_status = _STATUS_CHECKS.get((group, kind))
        if check_status is not None:
            found += check_status(obj, old)
        return _without_repeats(found)
    check = _check_for(group, kind, subresource)
    if check is not None:
        found += check(obj, old)
    if (group, kind) == ("", "Pod") and old is not None:
        found += problems_of_pod_change(obj, old, subresource=subresource)
    return _without_repeats(found)


def _without_repeats(found: list[Cause]) -> list[Cause]:
    # kube-apiserver reports the same cause once, even if two of its rules find it.
    if len(found) < 2:
        return found
    return sorted(dict.fromkeys(found), key=lambda cause: cause.declared)
