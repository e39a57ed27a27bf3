"""Whether an object of a built-in kind may be stored, and how a new one starts.

Promises: metadata is checked for every kind, custom ones too; of each kind's own fields the
checks that people meet daily, not all that kube-apiserver has. Objects are never changed.
Elsewhere: the checks (`metadata_validation`, `pod_validation`, `core_validation`,
`storage_validation`, `workload_validation`, `group_validation`), new objects (`preparation`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..statuses import Cause
from .allocation import Allocator
from .core_validation import CORE
from .group_validation import GROUPS
from .metadata_validation import problems_of_metadata
from .pod_validation import problems_of_pod_change
from .preparation import dated_conditions, prepare_for_create, prepare_for_update
from .storage_validation import STORAGE
from .workload_validation import WORKLOADS

__all__ = [
    "Allocator",
    "dated_conditions",
    "prepare_for_create",
    "prepare_for_update",
    "validate",
]

_CHECKS: Final = {**CORE, **GROUPS, **STORAGE, **WORKLOADS}


def validate(
    group: str,
    kind: str,
    obj: Mapping[str, Any],
    old: Mapping[str, Any] | None = None,
    *,
    subresource: str | None = None,
) -> list[Cause]:
    """What is wrong with `obj`, or with changing `old` into it; nothing when it is good.

    The object is expected with its defaults filled in. `subresource` is the part that was
    written, "" for the object itself; None when that is not known: then a change of a pod may
    be one that only a subresource makes.
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
