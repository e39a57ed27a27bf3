"""Predicates: which changes add a key.

Guarantees: unless its docstring says otherwise, a predicate only filters updates: adds and
deletes pass, and so do both changes of a re-created object. Only `annotations_changed` decodes
objects.

    @manager.controller(Website, predicates=[any_of(generation_changed, labels_changed)])

See also: `kubeloop.cache` (what a change is).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from kubeloop.cache import Change, ChangeType, SelectorLike
from kubeloop.selectors import as_selector

__all__ = [
    "Predicate",
    "all_of",
    "annotations_changed",
    "any_of",
    "generation_changed",
    "labels_changed",
    "matching",
    "none_of",
    "version_changed",
]

Predicate: TypeAlias = Callable[[Change[Any]], bool]
"""Returns whether a change passes (controller-runtime: `predicate.Predicate`)."""


def generation_changed(change: Change[Any]) -> bool:
    """The spec has changed; writes of the status alone do not pass.

    Kinds without a generation (ConfigMap, Secret) always pass.
    """
    old, new = change.old_entry, change.new_entry
    if _is_not_update(change) or old is None or new is None:
        return True
    return old.generation != new.generation or not new.generation


def labels_changed(change: Change[Any]) -> bool:
    """The labels have changed."""
    old, new = change.old_entry, change.new_entry
    if _is_not_update(change) or old is None or new is None:
        return True
    return old.label_map != new.label_map


def annotations_changed(change: Change[Any]) -> bool:
    """The annotations have changed; decodes both objects."""
    return _is_not_update(change) or _annotations(change.old) != _annotations(change.new)


def version_changed(change: Change[Any]) -> bool:
    """Anything has changed; resyncs do not pass."""
    return not change.is_resync


def matching(selector: SelectorLike) -> Predicate:
    """The labels match, before or after the change; also filters adds and deletes.

    Raises: InvalidArgument when the selector does not parse.
    """
    parsed = as_selector(selector)

    def matches(change: Change[Any]) -> bool:
        states = (change.previous_entry, change.old_entry, change.new_entry)
        return any(state is not None and parsed.matches(state.label_map) for state in states)

    return matches


def any_of(*predicates: Predicate) -> Predicate:
    """Passes if a change passes one of them (controller-runtime: `Or`)."""
    return lambda change: any(passes(change) for passes in predicates)


def all_of(*predicates: Predicate) -> Predicate:
    """Passes if a change passes all of them (controller-runtime: `And`)."""
    return lambda change: all(passes(change) for passes in predicates)


def none_of(*predicates: Predicate) -> Predicate:
    """Passes if a change passes none of them (controller-runtime: `Not`)."""
    return lambda change: not any(passes(change) for passes in predicates)


def _is_not_update(change: Change[Any]) -> bool:
    return change.type is not ChangeType.UPDATED


def _annotations(obj: Any) -> Mapping[str, str]:
    if isinstance(obj, Mapping):
        return (obj.get("metadata") or {}).get("annotations") or {}
    return obj.metadata.annotations or {}
