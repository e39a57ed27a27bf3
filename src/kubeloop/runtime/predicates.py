"""Which changes are worth a reconcile.

Promises: a predicate looks only at updates, unless it says otherwise: adds and deletes pass,
so both halves of a re-creation do. Nothing is decoded that need not be.

    @manager.controller(Website, predicates=[any_of(generation_changed, labels_changed)])

Elsewhere: what a change is (`kubeloop.cache`).
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
"""Says whether a change passes."""


def generation_changed(change: Change[Any]) -> bool:
    """The spec is another: writes of the status alone do not pass.

    Kinds that have no generation (ConfigMap, Secret) always pass.
    """
    old, new = change.old_entry, change.new_entry
    if _is_no_update(change) or old is None or new is None:
        return True
    return old.generation != new.generation or not new.generation


def labels_changed(change: Change[Any]) -> bool:
    """The labels are others."""
    old, new = change.old_entry, change.new_entry
    if _is_no_update(change) or old is None or new is None:
        return True
    return old.label_map != new.label_map


def annotations_changed(change: Change[Any]) -> bool:
    """The annotations are others; both objects are decoded for it."""
    return _is_no_update(change) or _annotations(change.old) != _annotations(change.new)


def version_changed(change: Change[Any]) -> bool:
    """Anything is other: what is only told again (a resync) does not pass."""
    return not change.is_resync


def matching(selector: SelectorLike) -> Predicate:
    """The labels match, before the change or after it; adds and deletes are asked as well.

    Raises: InvalidArgument when the selector does not parse.
    """
    chosen = as_selector(selector)

    def matches(change: Change[Any]) -> bool:
        states = (change.previous_entry, change.old_entry, change.new_entry)
        return any(state is not None and chosen.matches(state.label_map) for state in states)

    return matches


def any_of(*predicates: Predicate) -> Predicate:
    """One of them lets it pass."""
    return lambda change: any(passes(change) for passes in predicates)


def all_of(*predicates: Predicate) -> Predicate:
    """All of them let it pass."""
    return lambda change: all(passes(change) for passes in predicates)


def none_of(*predicates: Predicate) -> Predicate:
    """None of them lets it pass."""
    return lambda change: not any(passes(change) for passes in predicates)


def _is_no_update(change: Change[Any]) -> bool:
    return change.type is not ChangeType.UPDATED


def _annotations(obj: Any) -> Mapping[str, str]:
    if isinstance(obj, Mapping):
        return (obj.get("metadata") or {}).get("annotations") or {}
    return obj.metadata.annotations or {}
