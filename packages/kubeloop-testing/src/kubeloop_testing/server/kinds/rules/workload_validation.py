"""Checks that several workloads share: immutable fields, and the counts in their status.

See also: templates and selectors (`template_validation`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ...values import causes
from ..kind import Causes, Json
from .value_rules import check_minimum, check_unchanged

__all__ = ["AVAILABLE_COUNTS", "COMMON_COUNTS", "check_counts", "check_immutable"]


def check_immutable(spec: Json, old: Json | None, *fields: str) -> Causes:
    if old is not None:
        before = old.get("spec") or {}
        for field in fields:
            yield from check_unchanged(f"spec.{field}", spec.get(field), before.get(field))


def check_counts(*fields: str, bounded: tuple[str, ...] = ()) -> Callable[[Json, Json], Causes]:
    """A check of counts; `bounded` ones do not exceed the replicas, nor available the ready."""

    def check(obj: Json, old: Json) -> Causes:
        status, before = obj.get("status") or {}, old.get("status") or {}
        for field in (*fields, *bounded):
            yield from check_minimum(f"status.{field}", status.get(field))
        replicas, ready = status.get("replicas") or 0, status.get("readyReplicas") or 0
        for field in bounded:
            count = status.get(field) or 0
            if count > replicas:
                rule = "cannot be greater than status.replicas"
                yield causes.invalid(f"status.{field}", count, rule)
            if field == "availableReplicas" and count > ready:
                yield causes.invalid(
                    f"status.{field}", count, "cannot be greater than readyReplicas"
                )
        number, former = status.get("collisionCount"), before.get("collisionCount")
        if former is not None and (number or 0) < former:
            yield causes.invalid("status.collisionCount", number or 0, "cannot be decremented")

    return check


AVAILABLE_COUNTS: Final = ("readyReplicas", "availableReplicas")
COMMON_COUNTS: Final = ("replicas", "observedGeneration", "collisionCount", "terminatingReplicas")
