"""Conditions in the status of an object.

Guarantees: `lastTransitionTime` changes only with the status; a call returns whether it changed
something, so that the caller can skip the write; the caller passes the time.
See also: writing the status (`kubeloop.clients`).
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from datetime import datetime
from typing import Protocol, TypeVar

from kubeloop.wire.meta.v1 import Condition

__all__ = [
    "ConditionLike",
    "find_condition",
    "is_condition",
    "is_condition_false",
    "is_condition_true",
    "remove_condition",
    "set_condition",
]


class ConditionLike(Protocol):
    """A condition of any kind; those of pods and nodes have additional fields."""

    @property
    def type(self) -> str: ...
    @property
    def status(self) -> str: ...


C = TypeVar("C", bound=ConditionLike)


def find_condition(conditions: Iterable[C], name: str) -> C | None:
    """The condition of exactly this type, or None."""
    return next((each for each in conditions if each.type == name), None)


def is_condition(conditions: Iterable[ConditionLike], name: str, status: str) -> bool:
    """Whether the condition is there and has this status."""
    found = find_condition(conditions, name)
    return found is not None and found.status == status


def is_condition_true(conditions: Iterable[ConditionLike], name: str) -> bool:
    """Whether the condition is there and true."""
    return is_condition(conditions, name, "True")


def is_condition_false(conditions: Iterable[ConditionLike], name: str) -> bool:
    """Whether the condition is there and false; one that is missing is neither."""
    return is_condition(conditions, name, "False")


def set_condition(conditions: list[Condition], new: Condition, *, now: datetime) -> bool:
    """Add or replace the condition of this type; returns whether anything changed.

    `lastTransitionTime` is that of `new`, else `now`, and is set only if the condition is new or
    its status changes. `new` is copied.
    """
    existing = find_condition(conditions, new.type)
    if existing is None:
        conditions.append(_with_time(new, now))
        return True
    moved = _move(existing, new, now)
    has_new_reason = _copy_reason(existing, new)
    return moved or has_new_reason


def remove_condition(conditions: list[C], name: str) -> bool:
    """Remove the condition; False when it was not there."""
    stay = [each for each in conditions if each.type != name]
    removed = len(stay) != len(conditions)
    conditions[:] = stay
    return removed


def _with_time(new: Condition, now: datetime) -> Condition:
    added = copy.deepcopy(new)
    added.last_transition_time = new.last_transition_time or now
    return added


def _move(existing: Condition, new: Condition, now: datetime) -> bool:
    if existing.status == new.status:
        return False
    existing.status = new.status
    existing.last_transition_time = new.last_transition_time or now
    return True


def _copy_reason(existing: Condition, new: Condition) -> bool:
    """Copy reason, message and observed generation."""
    if _explanation(existing) == _explanation(new):
        return False
    existing.reason, existing.message = new.reason, new.message
    existing.observed_generation = new.observed_generation
    return True


def _explanation(condition: Condition) -> tuple[str, str, int]:
    # A server omits generation 0; without this it would look changed every time.
    return condition.reason, condition.message, condition.observed_generation or 0
