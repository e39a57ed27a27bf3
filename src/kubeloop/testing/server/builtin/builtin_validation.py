"""Validation of built-in kinds, and of the metadata of all kinds.

Guarantees: pure; metadata is validated for every kind, custom ones included. Of each kind's own
fields, the common checks of kube-apiserver's `ValidateXxx` functions, not all of them.
See also: the checks (`metadata_validation`, `pod_validation`, `core_validation`,
`storage_validation`, `workload_validation`, `group_validation`), new objects (`preparation`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..statuses import Cause
from .allocation import Allocator
from .core_validation import CORE
from .csi_validation import CSI
from .group_validation import GROUPS
from .metadata_validation import problems_of_metadata
from .pod_validation import problems_of_pod_change
from .preparation import prepare_for_create, prepare_for_update, with_condition_times
from .storage_validation import STORAGE
from .workload_validation import WORKLOADS

__all__ = [
    "Allocator",
    "prepare_for_create",
    "prepare_for_update",
    "validate",
    "with_condition_times",
]

_CHECKS: Final = {**CORE, **CSI, **GROUPS, **STORAGE, **WORKLOADS}


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
    if check is not None:
        found += check(obj, old)
    if (group, kind) == ("", "Pod") and old is not None:
        found += problems_of_pod_change(obj, old, subresource=subresource)
    return found
