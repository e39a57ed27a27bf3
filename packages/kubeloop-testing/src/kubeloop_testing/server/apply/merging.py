"""Merging objects and removing fields, as server-side apply does.

Guarantees: pure; a result shares unchanged parts with the arguments; problems have the words of
structured-merge-diff.
See also: who may change what (`managed`), the sets of fields (`fieldsets`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import msgspec

from kubeloop.wire import InvalidArgument

from .fieldsets import Tree, path_text
from .object_fields import elements_of
from .shapes import ABSENT, DEDUCED, Shape, ValueType

__all__ = ["merge", "problems_of", "remove", "type_problem", "without_nulls"]


def merge(live: Any, applied: Any, shape: Shape) -> Any:
    """`live` merged with `applied`; ABSENT stands for a missing side.

    A null changes nothing in an object or list whose parts have separate owners.
    """
    if applied is ABSENT:
        return live
    if isinstance(live, dict) and live and not shape.atomic_map and _is_object(applied):
        return _merge_fields(live, applied or {}, shape)
    if isinstance(live, list) and live and shape.list_type != "atomic" and _is_list(applied):
        return _merge_items(live, applied or [], shape)
    return applied


def _is_object(value: Any) -> bool:
    return value is None or isinstance(value, dict)


def _is_list(value: Any) -> bool:
    return value is None or isinstance(value, list)


def _merge_fields(live: dict[str, Any], applied: dict[str, Any], shape: Shape) -> dict[str, Any]:
    # Fields that were not applied keep their live value.
    merged = dict(live)
    for name, value in applied.items():
        merged[name] = merge(live.get(name, ABSENT), value, shape.field(name))
    return merged


def _merge_items(live: list[Any], applied: list[Any], shape: Shape) -> list[Any]:
    if not applied:
        return live
    inside = shape.item()
    mine, theirs = elements_of(applied, shape), elements_of(live, shape)
    merged: list[Any] = []
    for element, item in _in_order(_with_elements(theirs, live, shape), mine):
        if element not in mine:
            merged.append(item)
            continue
        # Elements with the same key cannot be merged: the applied one replaces them.
        found = theirs.get(element, [])
        merged.append(merge(found[0] if len(found) == 1 else ABSENT, mine[element][0], inside))
    return merged


def _with_elements(
    by_element: dict[str, list[Any]], items: list[Any], shape: Shape
) -> list[tuple[str, Any]]:
    """The items of a list with their path elements, including items with the same one."""
    if len(by_element) == len(items):
        return [(element, group[0]) for element, group in by_element.items()]
    return [(next(iter(elements_of([item], shape))), item) for item in items]


def _in_order(
    live: list[tuple[str, Any]], applied: dict[str, list[Any]]
) -> Iterator[tuple[str, Any]]:
    """Applied elements in their applied order, the others in their live position.

    An element that was not applied stays after its predecessor, and before applied elements
    that are new: `visitListItems` of structured-merge-diff.
    """
    existing = {element for element, _ in live}
    shared = [element for element in reversed(applied) if element in existing]  # a stack
    waiting = list(reversed(applied))  # a stack
    for element, item in live:
        if element not in applied:
            yield element, item
            continue
        if shared and shared[-1] != element:
            continue  # it moves to its applied position
        stop = shared.pop() if shared else None
        while waiting:
            following = waiting.pop()
            yield following, None
            if stop in {None, following}:
                break
    for element in reversed(waiting):
        yield element, None


def remove(value: Any, fields: Tree, shape: Shape) -> Any:
    """`value` without the paths of a set; objects and lists that become empty become null."""
    if isinstance(value, dict) and not shape.atomic_map:
        return _remove_fields(value, fields, shape)
    if isinstance(value, list) and shape.list_type != "atomic":
        return _remove_items(value, fields, shape)
    return value


def _remove_fields(value: dict[str, Any], fields: Tree, shape: Shape) -> dict[str, Any]:
    rest: dict[str, Any] = {}
    for name, each in value.items():
        node = fields.get(f"f:{name}")
        if node is None:
            rest[name] = each
        elif "." not in node:
            left = remove(each, node, shape.field(name))
            # Null instead of missing: the field itself may have another owner.
            rest[name] = left if left or not each else None
    return rest


def _remove_items(value: list[Any], fields: Tree, shape: Shape) -> list[Any]:
    # An element whose own path is in the set is removed as a whole.
    inside = shape.item()
    rest: list[Any] = []
    for item in value:
        element = next(iter(elements_of([item], shape)))
        node = fields.get(element)
        if node is None:
            rest.append(item)
        elif "." not in node:
            rest.append(remove(item, node, inside))
    return rest


def without_nulls(value: Any, shape: Shape) -> Any:
    """`value` without the nulls that mean "absent"; itself if there are none."""
    if shape is DEDUCED or not isinstance(value, dict | list) or not _has_null(value):
        return value
    if isinstance(value, dict):
        rest = {name: without_nulls(each, shape.field(name)) for name, each in value.items()}
        if not shape.null_is_absent:
            return rest
        return {name: each for name, each in rest.items() if each is not None}
    inside = shape.item()
    return [without_nulls(each, inside) for each in value]


def _has_null(value: dict[str, Any] | list[Any]) -> bool:
    """Whether a field anywhere in `value` is null."""
    # Most objects have none, and a search in the encoded text is faster than a walk.
    return b"null" in msgspec.json.encode(value) and _contains_null(value)


def _contains_null(value: dict[str, Any] | list[Any]) -> bool:
    found = value.values() if isinstance(value, dict) else value
    if value is not found and None in found:
        return True
    return any(_contains_null(each) for each in found if isinstance(each, dict | list))


def problems_of(value: Any, shape: Shape) -> list[str]:
    """Why an applied object cannot be merged, each problem with its path."""
    return list(_problems(value, shape, ()))


def _problems(value: Any, shape: Shape, path: tuple[str, ...]) -> Iterator[str]:
    if (
        shape.value_type != "any"
        and value is not None
        and (found := type_problem(value, shape.value_type))
    ):
        yield f"{path_text(path)}: {found}"
    elif isinstance(value, dict):
        for name, each in value.items():
            here = (*path, f"f:{name}")
            if shape.closed and not shape.declares(name):
                yield f"{path_text(here)}: field not declared in schema"
            else:
                yield from _problems(each, shape.field(name), here)
    elif isinstance(value, list) and shape.list_type != "atomic":
        yield from _list_problems(value, shape, path)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _problems(item, shape.item(), (*path, f"i:{index}"))


def _list_problems(value: list[Any], shape: Shape, path: tuple[str, ...]) -> Iterator[str]:
    try:
        found = elements_of(value, shape)
    except InvalidArgument as error:
        yield f"{path_text(path)}: {error}"
        return
    inside = shape.item()
    for element, items in found.items():
        for _ in items[1:]:
            yield f"{path_text(path)}: duplicate entries for key {path_text([element])}"
        for item in items:
            yield from _problems(item, inside, (*path, element))


# --- values of a type that the merge schema does not have

# Quoted in Go's notations: `&{x}` is `%v` of a value, `&value.valueUnstructured{Value:1}` is `%#v`.
_PYTHON_TYPES: Final[Mapping[ValueType, type | tuple[type, ...]]] = {
    "boolean": bool,
    "list": list,
    "map": dict,
    "numeric": (int, float),
    "string": str,
}


def type_problem(value: Any, expected: ValueType) -> str:
    """Why a value, which is not null, does not have the type; empty if it has."""
    fits = isinstance(value, _PYTHON_TYPES[expected])
    if expected == "numeric" and isinstance(value, bool):  # which is an int in Python
        fits = False
    return "" if fits else _TEXTS[expected](value)


def _go_type(value: Any) -> str:
    match value:
        case bool():
            return "bool"
        case int():
            return "int64"
        case float():
            return "float64"
        case str():
            return "string"
        case list():
            return "[]interface {}"
    return "map[string]interface {}"


def _go_syntax(value: Any) -> str:
    """`%#v` of a JSON value."""
    match value:
        case list():
            return f"[]interface {{}}{{{', '.join(map(_go_syntax, value))}}}"
        case dict():
            items = (f"{_go_syntax(key)}:{_go_syntax(each)}" for key, each in sorted(value.items()))
            return f"map[string]interface {{}}{{{', '.join(items)}}}"
        case None:
            return "interface {}(nil)"
    return msgspec.json.encode(value).decode()


def _go_text(value: Any) -> str:
    """`%v` of a JSON value."""
    match value:
        case str():
            return value
        case list():
            return f"[{' '.join(map(_go_text, value))}]"
        case dict():
            items = (f"{key}:{_go_text(each)}" for key, each in sorted(value.items()))
            return f"map[{' '.join(items)}]"
        case None:
            return "<nil>"
    return msgspec.json.encode(value).decode()


_TEXTS: Final[Mapping[ValueType, Callable[[Any], str]]] = {
    "boolean": lambda value: f"expected boolean, got &{{{_go_text(value)}}}",
    "list": lambda value: f"expected list, got &{{{_go_text(value)}}}",
    "map": lambda value: f"expected map, got &{{{_go_text(value)}}}",
    "numeric": lambda value: f"expected numeric (int or float), got {_go_type(value)}",
    "string": lambda value: (
        f"expected string, got &value.valueUnstructured{{Value:{_go_syntax(value)}}}"
    ),
}
