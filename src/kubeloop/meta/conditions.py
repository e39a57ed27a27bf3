"""The conditions in an object's status: how each stands, and since when.

Promises: the time of a condition moves only with its status; a call that changes nothing
says so, so that the caller can save the write; the clock is the caller's.
Elsewhere: writing the status (`kubeloop.clients`).
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
    """A condition of any kind: a pod's and a node's have fields of their own."""

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
    """Let `new` stand in `conditions`, and say whether anything changed.

    Its time is what it says or else `now`, and it counts only where the condition is new
    or its status is. `new` itself stays the caller's.
    """
    existing = find_condition(conditions, new.type)
    if existing is None:
        conditions.append(_dated(new, now))
        return True
    moved = _move(existing, new, now)
    told = _tell(existing, new)
    return moved or told


def remove_condition(conditions: list[C], name: str) -> bool:
    """Remove the condition; False when it was not there."""
    stay = [each for each in conditions if each.type != name]
    removed = len(stay) != len(conditions)
    conditions[:] = stay
    return removed


def _dated(new: Condition, now: datetime) -> Condition:
    added = copy.deepcopy(new)
    added.last_transition_time = new.last_transition_time or now
    return added


def _move(existing: Condition, new: Condition, now: datetime) -> bool:
    if existing.status == new.status:
        return False
    existing.status = new.status
    existing.last_transition_time = new.last_transition_time or now
    return True


def _tell(existing: Condition, new: Condition) -> bool:
    """Take over what explains the status."""
    if _explanation(existing) == _explanation(new):
        return False
    existing.reason, existing.message = new.reason, new.message
    existing.observed_generation = new.observed_generation
    return True


def _explanation(condition: Condition) -> tuple[str, str, int]:
    # A server leaves out generation 0; without this it would seem changed every time.
    return condition.reason, condition.message, condition.observed_generation or 0
