"""Validation of built-in kinds, and of the metadata of all kinds.

Guarantees: pure; metadata is validated for every kind, custom ones included. Of each kind's own
fields, the common checks of kube-apiserver's `ValidateXxx` functions, not all of them.
See also: the checks (`*_validation`), new objects (`preparation`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..statuses import Cause
from .allocation import Allocator
from .core_validation import CORE, CORE_STATUS
from .group_validation import GROUPS
from .metadata_validation import problems_of_metadata
from .network_validation import NETWORK, NETWORK_STATUS
from .pod_update_validation import problems_of_pod_change
from .preparation import prepare_for_create, prepare_for_update
from .storage_validation import STORAGE
from .volume_validation import VOLUMES
from .workload_validation import WORKLOAD_STATUS, WORKLOADS

__all__ = [
    "Allocator",
    "prepare_for_create",
    "prepare_for_update",
    "validate",
]

_STATUS_GROUPS: Final = frozenset(
    {"", "apps", "autoscaling", "batch", "networking.k8s.io", "policy"}
)
_STATUS_CHECKS: Final = {**CORE_STATUS, **NETWORK_STATUS, **WORKLOAD_STATUS}
_CHECKS: Final = {**CORE, **GROUPS, **NETWORK, **STORAGE, **VOLUMES, **WORKLOADS}


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
    check = _CHECKS.get((group, kind))
    if check is not None:
        found += check(obj, old)
    if (group, kind) == ("", "Pod") and old is not None:
        found += problems_of_pod_change(obj, old, subresource=subresource)
    return _without_repeats(found)


def _without_repeats(found: list[Cause]) -> list[Cause]:
    # kube-apiserver reports the same cause once, even if two of its rules find it.
    return list(dict.fromkeys(found)) if len(found) > 1 else found
