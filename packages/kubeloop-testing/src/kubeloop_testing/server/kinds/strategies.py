"""What kube-apiserver's strategies do with an object, by its kind.

Conversion, defaults, preparation of a write, validation, warnings.
Guarantees: pure, apart from a line of the log for what this server does not evaluate; objects are
never changed in place; metadata is validated for every kind, custom ones included. Of each kind's
own fields, the common checks of kube-apiserver's `ValidateXxx` functions, not all of them.
See also: the rules of a kind (its module), the order of the steps (`verbs.writing`).
"""

from __future__ import annotations

import functools
import logging
from typing import Any, Final

from kubeloop.wire import JsonObject, resources

from ..statuses import Cause
from ..values.json_values import without
from .kind import Json, Kind
from .registry import kind_of
from .rules.metadata_validation import problems_of_metadata

__all__ = [
    "convert",
    "default",
    "prepare_for_create",
    "validate",
    "warnings_of",
]

log = logging.getLogger(__name__)


def convert(obj: dict[str, Any], group: str, kind: str, to_version: str) -> dict[str, Any]:
    """Convert `obj` to `to_version`; returns the same object if it has that version already.

    `group` is the one to convert to: events are served in two groups. Versions of most kinds
    differ only in `apiVersion`; a round trip is lossless.
    """
    target = f"{group}/{to_version}" if group else to_version
    source = obj.get("apiVersion")
    if source == target:
        return obj
    change = kind_of(group, kind).convert
    if change is not None and isinstance(source, str):
        obj = change(obj, source, target)
    return {**obj, "apiVersion": target}


def default(kind: Kind, obj: dict[str, Any]) -> dict[str, Any]:
    """`obj` with the defaults of its kind and version."""
    for change in kind.defaults:
        obj = change(obj)
    return obj


# --- preparation

_WITH_STATUS: Final = frozenset(
    (info.group, info.kind)
    for info in resources()
    if any(part.name == "status" for part in info.subresources)
)


def prepare_for_create(kind: Kind, obj: dict[str, Any]) -> dict[str, Any]:
    """`obj` prepared for storage; it has its defaults, its name and its uid already."""
    if (kind.group, kind.kind) in _WITH_STATUS and not kind.keeps_new_status:
        first = _initial_status(kind)
        obj = without(obj, "status") if first is None else {**obj, "status": first}
    return obj if kind.prepare_new is None else kind.prepare_new(obj)


@functools.cache
def _initial_status(kind: Kind) -> JsonObject | None:
    """The status of a new object of the kind."""
    status: JsonObject | None = default(kind, {}).get("status")
    return status


# --- validation and warnings


def validate(
    kind: Kind, obj: Json, old: Json | None = None, *, subresource: str | None = None
) -> list[Cause]:
    """What is wrong with `obj`, or with the update from `old`; empty if it is valid.

    `obj` has its defaults. `subresource` is the part that was written, "" for the object
    itself, None if unknown: then a pod may change as through any subresource.
    """
    meta = obj.get("metadata") or {}
    before = None if old is None else old.get("metadata") or {}
    causes = list(problems_of_metadata(kind, meta, before))
    check_part = kind.validate_parts.get(subresource or "")
    if check_part is not None and old is not None:
        # A write of a part does not validate the rest, which it cannot change.
        return _without_repeats([*causes, *check_part(obj, old)])
    if kind.validate is not None:
        causes += kind.validate(obj, old)
    if kind.validate_change is not None and old is not None:
        causes += kind.validate_change(obj, old, subresource)
    return _without_repeats(causes)


def _without_repeats(causes: list[Cause]) -> list[Cause]:
    # kube-apiserver reports the same cause once, even if two of its rules find it.
    if len(causes) < 2:
        return causes
    return sorted(dict.fromkeys(causes), key=lambda cause: cause.declared)


def warnings_of(kind: Kind, obj: Json, old: Json | None, *, subresource: str = "") -> list[str]:
    """The warnings about `obj`, or about its update from `old`; each text once.

    What this server does not evaluate is logged, too.
    """
    warn = {"": kind.warn, "status": kind.warn_status}.get(subresource)
    warnings = [] if warn is None else list(dict.fromkeys(warn(obj, old)))
    return warnings if subresource else [*warnings, *_not_evaluated(kind, obj, old)]


def _not_evaluated(kind: Kind, obj: Json, old: Json | None) -> list[str]:
    """What `obj` requests, and `old` did not, that has no effect on this server."""
    if kind.not_evaluated is None:
        return []
    before = set() if old is None else set(kind.not_evaluated(old))
    requests = [text for text in kind.not_evaluated(obj) if text not in before]
    for text in requests:
        log.warning("%s %s: %s", kind.kind, obj["metadata"].get("name", ""), text)
    return requests
