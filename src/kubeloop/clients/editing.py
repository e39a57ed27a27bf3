"""What somebody changed in an object, and whether that still fits what became of it.

Promises: pure; the difference sent to the server says nothing about fields that were not
changed; a change is brought into a newer object only where nobody else changed the same
field to something else.
Elsewhere: reading and sending (`verbs`), the patches themselves (`kubeloop.machinery`).
"""

from __future__ import annotations

from typing import Any

import msgspec

from kubeloop.machinery import (
    Conflict,
    GroupResource,
    apply_merge_patch,
    apply_strategic_patch,
    failure,
    merge_patch_between,
    strategic_patch_between,
)
from kubeloop.rest import MERGE_PATCH, STRATEGIC_MERGE_PATCH
from kubeloop.wire import TypeFacts

__all__ = ["Change", "carried_over", "change_between", "merged_into"]

Json = dict[str, Any]

# What the server alone writes, with every change of whoever.
_SERVERS_OWN = ("resourceVersion", "managedFields", "generation")


class Change(msgspec.Struct, frozen=True):
    """A patch, and the format it is in."""

    patch: Json
    content_type: str

    def under(self, version: str) -> Json:
        """The patch for an object that must still be at `version`."""
        metadata = {**(self.patch.get("metadata") or {}), "resourceVersion": version}
        return {**self.patch, "metadata": metadata}


def change_between(before: Json, after: Json, facts: TypeFacts | None) -> Change | None:
    """What makes `before` into `after`; None when nothing does.

    Built-in kinds (those with `facts`) get a strategic patch, which names only the elements
    of a list that changed; all others a merge patch.
    """
    old, new = _tidy(before), _tidy(after)
    if facts is None:
        patch = merge_patch_between(old, new)
        return Change(patch, MERGE_PATCH) if patch else None
    patch = strategic_patch_between(old, new, facts)
    return Change(patch, STRATEGIC_MERGE_PATCH) if patch else None


def carried_over(
    before: Json, after: Json, now: Json, facts: TypeFacts | None, *, what: GroupResource
) -> Json:
    """The newer object `now` with the change from `before` to `after` made in it.

    Raises:
        Conflict: both changed the same field, and to different values.
    """
    old, mine, theirs = _tidy(before), _tidy(after), _tidy(now)
    my_change = change_between(old, mine, facts)
    their_change = change_between(old, theirs, facts)
    if my_change is None or their_change is None:
        return mine if their_change is None else theirs
    together = merged_into(theirs, my_change.patch, facts)
    # Changes that touch the same field differently give another result in another order.
    other_way = merged_into(mine, their_change.patch, facts)
    if _unordered(together, facts) != _unordered(other_way, facts):
        raise _clash(old, mine, theirs, what)
    return together


def merged_into(document: Json, patch: Json, facts: TypeFacts | None) -> Json:
    """The document with a patch in it, by the rules of its kind."""
    if facts is None:
        merged = apply_merge_patch(document, patch)
        assert isinstance(merged, dict)
        return merged
    return apply_strategic_patch(document, patch, facts)


def _tidy(document: Json) -> Json:
    metadata = document.get("metadata")
    if not isinstance(metadata, dict):
        return document
    kept = {key: value for key, value in metadata.items() if key not in _SERVERS_OWN}
    return {**document, "metadata": kept}


def _unordered(value: Any, facts: TypeFacts | None) -> Any:
    """The value with lists that merge in an order of our own: theirs and ours may differ."""
    if not isinstance(value, dict) or facts is None:
        return value
    return {name: _unordered_field(name, field, facts) for name, field in value.items()}


def _unordered_field(name: str, value: Any, facts: TypeFacts) -> Any:
    inside = facts.inside(name)
    if not isinstance(value, list):
        return _unordered(value, inside)
    items = [_unordered(item, inside) for item in value]
    if "merge" in facts.field(name).patch_strategies:
        return sorted(items, key=lambda item: msgspec.json.encode(item, order="deterministic"))
    return items


def _clash(old: Json, mine: Json, theirs: Json, what: GroupResource) -> Conflict:
    ours = set(_paths(merge_patch_between(old, mine)))
    others = set(_paths(merge_patch_between(old, theirs)))
    both = sorted(path for path in ours if any(_touch(path, other) for other in others))
    name = (mine.get("metadata") or {}).get("name", "")
    fields = ", ".join(both) or "the same field"
    text = f"the object was changed meanwhile, and {fields} in another way"
    return Conflict(f"edit {what}/{name}", failure("Conflict", text, resource=what, name=name))


def _touch(one: str, other: str) -> bool:
    return one == other or one.startswith(f"{other}.") or other.startswith(f"{one}.")


def _paths(patch: Json, above: str = "") -> list[str]:
    """The fields that a merge patch sets or removes."""
    found: list[str] = []
    for key, value in patch.items():
        path = f"{above}.{key}" if above else key
        found += _paths(value, path) if isinstance(value, dict) and value else [path]
    return found
