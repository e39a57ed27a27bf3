"""Whether a strategic patch is in the way of what others have changed.

Guarantees: two patches conflict where both speak of the same field and do not say
the same. Scalar merge lists and orders never conflict: both sides can be had.
"""

from __future__ import annotations

from .errors import PatchError
from .strategic_lists import identities
from .strategic_terms import PATCH, Place, is_directive
from .values import Json, JsonObject, equal

__all__ = ["refuse_conflicts"]


def refuse_conflicts(patch: JsonObject, changed: JsonObject, place: Place) -> None:
    """Raise PatchError, with failure "conflict", at the first field both would set.

    Both are computed patches, so that their lists hold one kind of element each.
    """
    if patch.get(PATCH) != changed.get(PATCH):
        raise _conflict(place)
    for field, value in patch.items():
        if field in changed and not is_directive(field):
            _compare(value, changed[field], field, place)


def _compare(left: Json, right: Json, field: str, place: Place) -> None:
    inner = place.inside(field)
    match left, right:
        case dict(), dict() if not place.has(field, "replace"):
            refuse_conflicts(left, right, inner)
        case list(), list() if place.has(field, "merge"):
            _compare_elements(left, right, place.rules(field).patch_merge_key, inner)
        case _ if not equal(left, right):
            raise _conflict(inner)


def _compare_elements(left: list[Json], right: list[Json], key: str, place: Place) -> None:
    if not key:
        return
    if _replaces(left) or _replaces(right):
        if not equal(left, right):
            raise _conflict(place)
        return
    others = dict(zip(identities(right, key, place), right, strict=True))
    for index, name in enumerate(identities(left, key, place)):
        if name in others:
            refuse_conflicts(left[index], others[name], place.element(index))


def _replaces(elements: list[Json]) -> bool:
    return any(element.get(PATCH) == "replace" for element in elements)


def _conflict(place: Place) -> PatchError:
    return place.failure(
        "others have changed this since: read the object again, or overwrite",
        failure="conflict",
    )
