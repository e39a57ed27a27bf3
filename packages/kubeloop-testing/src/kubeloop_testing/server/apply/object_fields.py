"""The field set of an object, and the difference of two objects.

Guarantees: pure. Numbers are compared by value, and true is not a number.
See also: ownership (`managed`), merging objects (`merging`).
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import msgspec

from kubeloop.wire import InvalidArgument

from ..values.json_values import json_equal
from .fieldsets import EMPTY, LEAF, FieldSet, Tree, key_element, union, value_element
from .shapes import ABSENT, Shape

__all__ = ["Comparison", "compare", "elements_of", "fields_of"]


class Comparison(msgspec.Struct, frozen=True):
    """The difference of two objects: three disjoint sets.

    Unlike `fields_of`, `added` and `removed` also contain the objects and lists that were
    added or removed with their content.
    """

    added: FieldSet = EMPTY
    modified: FieldSet = EMPTY
    removed: FieldSet = EMPTY

    def __bool__(self) -> bool:
        return bool(self.added or self.modified or self.removed)

    @property
    def new_values(self) -> FieldSet:
        """The fields that have a new value."""
        return self.added | self.modified


def fields_of(value: Any, shape: Shape) -> FieldSet:
    """Every leaf of `value`, its list elements, and its map keys.

    Raises: InvalidArgument for a list element without a key.
    """
    tree = _tree(value, shape)
    return FieldSet({element: node for element, node in tree.items() if element != "."})


def _tree(value: Any, shape: Shape) -> Tree:
    if isinstance(value, dict):
        return LEAF if shape.atomic_map else _fields_tree(value, shape)
    if isinstance(value, list) and shape.list_type != "atomic":
        return _items_tree(value, shape)
    return LEAF


def _fields_tree(value: dict[str, Any], shape: Shape) -> Tree:
    # Struct fields are implied by their content; map keys and empty objects are not.
    tree: Tree = {}
    for name, each in value.items():
        node = _tree(each, shape.field(name))
        if each == {} or not shape.declares(name):
            node = union(node, LEAF)
        if node:
            tree[f"f:{name}"] = node
    return tree


def _items_tree(value: list[Any], shape: Shape) -> Tree:
    inside = shape.item()
    tree: Tree = {}
    for element, items in elements_of(value, shape).items():
        # Elements with the same key are owned together, because nothing distinguishes them.
        is_unique = len(items) == 1
        tree[element] = union(LEAF, _tree(items[0], inside)) if is_unique else LEAF
    return tree


def elements_of(items: list[Any], shape: Shape) -> dict[str, list[Any]]:
    """The items of a set or keyed list by path element, in order.

    Raises: InvalidArgument for an item without a key, or of a type that a set cannot contain.
    """
    found: dict[str, list[Any]] = {}
    for index, item in enumerate(items):
        try:
            element = _element_of(item, shape)
        except InvalidArgument as error:
            raise InvalidArgument(f"element {index}: {error}") from None
        found.setdefault(element, []).append(item)
    return found


def _element_of(item: Any, shape: Shape) -> str:
    # The messages are those of structured-merge-diff's `listItemToPathElement`.
    if shape.list_type == "map":
        return key_element(_keys_of(item, shape))
    match item:
        case dict():
            raise InvalidArgument("associative list without keys has an element that's a map type")
        case list():
            raise InvalidArgument("not supported: associative list with lists as elements")
        case None:
            raise InvalidArgument(
                "associative list without keys has an element that's an explicit null"
            )
    return value_element(item)


def _keys_of(item: Any, shape: Shape) -> dict[str, Any]:
    if item is None:
        raise InvalidArgument("associative list with keys may not have a null element")
    if not isinstance(item, dict):
        raise InvalidArgument("associative list with keys may not have non-map elements")
    inside = shape.item()
    given = {
        name: item[name] if name in item else inside.key_default(name) for name in shape.list_keys
    }
    # A key field without value and default is not part of the identity.
    keys = {name: value for name, value in given.items() if value is not ABSENT}
    if not keys:
        names = " ".join(f'"{name}"' for name in shape.list_keys)
        raise InvalidArgument(
            f"associative list with keys has an element that omits all key fields [{names}] "
            "(and doesn't have default values for any key fields)"
        )
    return keys


# --- the difference of two objects


def compare(old: dict[str, Any], new: dict[str, Any], shape: Shape) -> Comparison:
    """The difference between `old` and `new`.

    Raises: InvalidArgument for a list element without a key.
    """
    found = _fields_differ(old, new, shape)
    return Comparison(*map(FieldSet, found)) if found else Comparison()


# Added, modified and removed paths below a field; None means no difference.
_Trees: TypeAlias = tuple[Tree, Tree, Tree]
_MODIFIED: Final[_Trees] = ({}, LEAF, {})


def _differ(old: Any, new: Any, shape: Shape) -> _Trees | None:
    if old is new:
        return None
    if isinstance(old, dict) and isinstance(new, dict) and not shape.atomic_map:
        return _fields_differ(old, new, shape)
    if isinstance(old, list) and isinstance(new, list) and shape.list_type != "atomic":
        return _items_differ(old, new, shape) if old and new else _content_differs(old, new, shape)
    if json_equal(old, new):
        return None
    if old is None or new is None:
        return _content_differs(old, new, shape) or _MODIFIED
    return _content(new, shape), LEAF, _content(old, shape)


def _content_differs(old: Any, new: Any, shape: Shape) -> _Trees | None:
    """Null or empty on one side: only the content differs, not the list or object itself."""
    added, removed = _content(new, shape), _content(old, shape)
    return (added, {}, removed) if added or removed else None


def _fields_differ(old: dict[str, Any], new: dict[str, Any], shape: Shape) -> _Trees | None:
    found: _Trees = ({}, {}, {})
    for name, value in new.items():
        if name not in old:
            found[0][f"f:{name}"] = _subtree(value, shape.field(name))
        elif old[name] is not value:
            _record(found, f"f:{name}", _differ(old[name], value, shape.field(name)))
    for name, value in old.items():
        if name not in new:
            found[2][f"f:{name}"] = _subtree(value, shape.field(name))
    return found if any(found) else None


def _items_differ(old: list[Any], new: list[Any], shape: Shape) -> _Trees | None:
    found: _Trees = ({}, {}, {})
    inside = shape.item()
    before, after = elements_of(old, shape), elements_of(new, shape)
    for element in before | after:
        _record(found, element, _item_differs(before.get(element), after.get(element), inside))
    return found if any(found) else None


def _item_differs(old: list[Any] | None, new: list[Any] | None, shape: Shape) -> _Trees | None:
    """The difference of the items with one key: usually at most one on each side."""
    if old and new and len(old) == len(new) == 1:
        return _differ(old[0], new[0], shape)
    if old and new and len(old) > 1 and len(new) > 1:
        return None if json_equal(old, new) else _MODIFIED
    # Added and removed are separate, also if one item became several.
    return _all_items(new, shape), {}, _all_items(old, shape)


def _all_items(items: list[Any] | None, shape: Shape) -> Tree:
    if not items:
        return {}
    return _subtree(items[0], shape) if len(items) == 1 else LEAF


def _record(found: _Trees, element: str, below: _Trees | None) -> None:
    for tree, node in zip(found, below or (), strict=False):
        if node:
            tree[element] = node


def _subtree(value: Any, shape: Shape) -> Tree:
    """All paths at and below a field that exists on one side only."""
    if not isinstance(value, dict | list):
        return LEAF
    below = _content(value, shape)
    return {".": {}, **below} if below else LEAF


def _content(value: Any, shape: Shape) -> Tree:
    if isinstance(value, dict):
        if shape.atomic_map:
            return {}
        return {
            f"f:{name}": _subtree(each, shape.field(name))
            if isinstance(each, dict | list)
            else LEAF
            for name, each in value.items()
        }
    if isinstance(value, list) and value and shape.list_type != "atomic":
        inside = shape.item()
        found = elements_of(value, shape)
        return {element: _all_items(items, inside) for element, items in found.items()}
    return {}
