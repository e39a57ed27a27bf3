"""The fields of objects: which ones an object mentions, and which differ between two.

Promises: pure; objects are read and never changed. Numbers are equal by value, and
true is no number.
Elsewhere: what becomes of the sets (`managed`), merging objects (`merging`).
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import msgspec

from kubeloop.wire import InvalidArgument

from .fieldsets import EMPTY, LEAF, FieldSet, Tree, key_element, union, value_element
from .shapes import ABSENT, Shape

__all__ = ["Comparison", "compare", "elements_of", "same", "set_of"]


class Comparison(msgspec.Struct, frozen=True):
    """What one has to do to an object to get another: three sets without a path in common.

    Unlike the set that an object mentions, `added` and `removed` also hold the objects
    and lists that came or went with what is in them.
    """

    added: FieldSet = EMPTY
    modified: FieldSet = EMPTY
    removed: FieldSet = EMPTY

    def __bool__(self) -> bool:
        return bool(self.added or self.modified or self.removed)

    @property
    def taken(self) -> FieldSet:
        """What has a new value."""
        return self.added | self.modified


def set_of(value: Any, shape: Shape) -> FieldSet:
    """Every leaf that `value` mentions, list elements, and keys that are data.

    Raises: InvalidArgument for a list element that cannot be told from others.
    """
    tree = _mentioned(value, shape)
    return FieldSet({element: node for element, node in tree.items() if element != "."})


def _mentioned(value: Any, shape: Shape) -> Tree:
    if isinstance(value, dict):
        return LEAF if shape.whole_map else _mentioned_fields(value, shape)
    if isinstance(value, list) and shape.list_type != "atomic":
        return _mentioned_items(value, shape)
    return LEAF


def _mentioned_fields(value: dict[str, Any], shape: Shape) -> Tree:
    tree: Tree = {}
    for name, each in value.items():
        node = _mentioned(each, shape.field(name))
        if each == {} or not shape.declares(name):
            node = union(node, LEAF)
        if node:
            tree[f"f:{name}"] = node
    return tree


def _mentioned_items(value: list[Any], shape: Shape) -> Tree:
    inside = shape.item()
    tree: Tree = {}
    for element, items in elements_of(value, shape).items():
        # Elements that share a key are owned together, because nothing tells them apart.
        one = len(items) == 1
        tree[element] = union(LEAF, _mentioned(items[0], inside)) if one else LEAF
    return tree


def elements_of(items: list[Any], shape: Shape) -> dict[str, list[Any]]:
    """The elements of a set or a keyed list by path element, in their order.

    Raises: InvalidArgument for one that has no key, or that a set cannot hold.
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
    # A key that is neither given nor has a default is no part of the identity.
    keys = {name: value for name, value in given.items() if value is not ABSENT}
    if not keys:
        wanted = " ".join(f'"{name}"' for name in shape.list_keys)
        raise InvalidArgument(
            f"associative list with keys has an element that omits all key fields [{wanted}] "
            "(and doesn't have default values for any key fields)"
        )
    return keys


# --- the difference of two objects


def compare(old: dict[str, Any], new: dict[str, Any], shape: Shape) -> Comparison:
    """What happened between `old` and `new`.

    Raises: InvalidArgument for a list element that cannot be told from others.
    """
    found = _fields_differ(old, new, shape)
    return Comparison(*map(FieldSet, found)) if found else Comparison()


# What was added, modified and removed below a place; None for nothing.
_Trees: TypeAlias = tuple[Tree, Tree, Tree]
_MODIFIED: Final[_Trees] = ({}, LEAF, {})


def _differ(old: Any, new: Any, shape: Shape) -> _Trees | None:
    if old is new:
        return None
    if isinstance(old, dict) and isinstance(new, dict) and not shape.whole_map:
        return _fields_differ(old, new, shape)
    if isinstance(old, list) and isinstance(new, list) and shape.list_type != "atomic":
        return _items_differ(old, new, shape) if old and new else _emptied(old, new, shape)
    if same(old, new):
        return None
    if old is None or new is None:
        return _emptied(old, new, shape) or _MODIFIED
    return _below(new, shape), LEAF, _below(old, shape)


def _emptied(old: Any, new: Any, shape: Shape) -> _Trees | None:
    """Null and empty differ from a full list or object in what is in it, and no more."""
    came, went = _below(new, shape), _below(old, shape)
    return (came, {}, went) if came or went else None


def _fields_differ(old: dict[str, Any], new: dict[str, Any], shape: Shape) -> _Trees | None:
    found: _Trees = ({}, {}, {})
    for name, value in new.items():
        before = old[name] if name in old else shape.at_rest(name)
        if before is ABSENT:
            found[0][f"f:{name}"] = _everything(value, shape.field(name))
        elif before is not value:
            _note(found, f"f:{name}", _differ(before, value, shape.field(name)))
    for name, value in old.items():
        if name not in new:
            after = shape.at_rest(name)
            if after is ABSENT:
                found[2][f"f:{name}"] = _everything(value, shape.field(name))
            else:
                _note(found, f"f:{name}", _differ(value, after, shape.field(name)))
    return found if any(found) else None


def _items_differ(old: list[Any], new: list[Any], shape: Shape) -> _Trees | None:
    found: _Trees = ({}, {}, {})
    inside = shape.item()
    before, after = elements_of(old, shape), elements_of(new, shape)
    for element in before | after:
        _note(found, element, _item_differs(before.get(element), after.get(element), inside))
    return found if any(found) else None


def _item_differs(old: list[Any] | None, new: list[Any] | None, shape: Shape) -> _Trees | None:
    """The difference of what stands under one key: usually one element or none each."""
    if old and new and len(old) == len(new) == 1:
        return _differ(old[0], new[0], shape)
    if old and new and len(old) > 1 and len(new) > 1:
        return None if same(old, new) else _MODIFIED
    # What came and what went are told apart, also where one element became several.
    return _all_items(new, shape), {}, _all_items(old, shape)


def _all_items(items: list[Any] | None, shape: Shape) -> Tree:
    if not items:
        return {}
    return _everything(items[0], shape) if len(items) == 1 else LEAF


def _note(found: _Trees, element: str, below: _Trees | None) -> None:
    for tree, node in zip(found, below or (), strict=False):
        if node:
            tree[element] = node


def _everything(value: Any, shape: Shape) -> Tree:
    """All paths at and below a place that was not there before."""
    if not isinstance(value, dict | list):
        return LEAF
    below = _below(value, shape)
    return {".": {}, **below} if below else LEAF


def _below(value: Any, shape: Shape) -> Tree:
    if isinstance(value, dict):
        if shape.whole_map:
            return {}
        return {
            f"f:{name}": _everything(each, shape.field(name))
            if isinstance(each, dict | list)
            else LEAF
            for name, each in value.items()
        }
    if isinstance(value, list) and value and shape.list_type != "atomic":
        inside = shape.item()
        found = elements_of(value, shape)
        return {element: _all_items(items, inside) for element, items in found.items()}
    return {}


def same(one: Any, two: Any) -> bool:
    """Whether two JSON values are equal to the API: 1 is 1.0, but not true."""
    if one is two:
        return True
    match one, two:
        case dict(), dict():
            return one.keys() == two.keys() and all(same(one[key], two[key]) for key in one)
        case list(), list():
            return len(one) == len(two) and all(map(same, one, two))
        case (bool(), _) | (_, bool()):
            return False  # equal ones are identical
    return bool(one == two)
