"""Merge lists of a strategic patch: their directives and their order.

Guarantees: the order is the API server's. Elements the patch names come in the
order it names them, the others as they stood, and one of the others goes first
only where both stood on the server and it stood earlier; so a new element lands
before the remaining old ones.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable

import msgspec

from .strategic_terms import PATCH, Place, element_identity, scalar_identity
from .values import Json, JsonObject

__all__ = [
    "SplitElements",
    "arranged",
    "identities",
    "merged_scalars",
    "ranks",
    "refuse_disorder",
    "split_elements",
]

_UNDIRECTED = object()


class SplitElements(msgspec.Struct, frozen=True):
    """The elements of a patched list: those to merge, and what the others direct."""

    plain: list[JsonObject]
    deleted: frozenset[Hashable]
    replace: bool


def split_elements(elements: list[JsonObject], key: str, place: Place) -> SplitElements:
    """Part the elements from the directives among them.

    Raises: PatchError for `$patch: merge` and any other that lists do not know.
    """
    deleted: set[Hashable] = set()
    replace = False
    for index, element in enumerate(elements):
        match element.get(PATCH, _UNDIRECTED):
            case "delete":
                deleted.add(element_identity(element, key, place.element(index)))
            case "replace":
                replace = True
            case found if found is not _UNDIRECTED:
                raise place.element(index).failure(
                    f"{PATCH} in a list element has to be 'delete' or 'replace'"
                )
    plain = [element for element in elements if PATCH not in element]
    return SplitElements(plain, frozenset(deleted), replace)


def merged_scalars(old: list[Json], new: list[Json], place: Place) -> list[Json]:
    """Both lists, every value once."""
    both = [*old, *new]
    return [both[rank] for rank in ranks(identities(both, "", place)).values()]


def refuse_disorder(elements: list[Json], order: list[Json], *, key: str, place: Place) -> None:
    """Raise PatchError unless the elements to merge are a sub-sequence of `order`."""
    named = [item for item in elements if not (key and item.get(PATCH) == "delete")]
    if not named or not order:
        return
    rest = iter(identities(order, key, place))
    # `in` on an iterator reads on from where the last search ended.
    if not all(name in rest for name in identities(named, key, place)):
        raise place.failure(
            "the list and its $setElementOrder disagree: name every element there, in one order"
        )


def arranged(
    merged: list[Json], *, order: list[Json], server: list[Json], key: str, place: Place
) -> list[Json]:
    """The merged elements in the order that `order` and the server's list ask for."""
    wished = ranks(identities(order, key, place))
    stood = ranks(identities(server, key, place))
    elements = list(zip(identities(merged, key, place), merged, strict=True))
    named = sorted((e for e in elements if e[0] in wished), key=lambda e: wished[e[0]])
    others = deque(e for e in elements if e[0] not in wished)
    result = []
    for name, element in named:
        while others and stood.get(others[0][0], len(stood)) < stood.get(name, -1):
            result.append(others.popleft()[1])
        result.append(element)
    return result + [element for _, element in others]


def identities(elements: list[Json], key: str, place: Place) -> list[Hashable]:
    """What tells the elements of a merge list apart: their merge keys, or themselves."""
    if not key:
        return [scalar_identity(element, place) for element in elements]
    return [element_identity(element, key, place) for element in elements]


def ranks(names: list[Hashable]) -> dict[Hashable, int]:
    """Where each name stands first."""
    ranks: dict[Hashable, int] = {}
    for rank, name in enumerate(names):
        ranks.setdefault(name, rank)
    return ranks
