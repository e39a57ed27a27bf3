"""Objects merged as server-side apply merges them, and cleared of fields again.

Promises: pure; a result shares what did not change with what it was made from, and
nothing of an argument is changed.
Elsewhere: who may change what (`managed`), the sets of fields (`fieldsets`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from kubeloop.wire import InvalidArgument

from .fieldsets import Tree, path_text
from .object_fields import elements_of
from .shapes import ABSENT, DEDUCED, Shape

__all__ = ["merge", "problems_of", "remove", "without_nulls"]


def merge(live: Any, applied: Any, shape: Shape) -> Any:
    """`live` with what `applied` says; ABSENT stands for a side that says nothing.

    Null says nothing to an object or a list whose parts have owners of their own.
    """
    if applied is ABSENT:
        return live
    if isinstance(live, dict) and live and not shape.whole_map and _is_object(applied):
        return _merge_fields(live, applied or {}, shape)
    if isinstance(live, list) and live and shape.list_type != "atomic" and _is_list(applied):
        return _merge_items(live, applied or [], shape)
    return applied


def _is_object(value: Any) -> bool:
    return value is None or isinstance(value, dict)


def _is_list(value: Any) -> bool:
    return value is None or isinstance(value, list)


def _merge_fields(live: dict[str, Any], applied: dict[str, Any], shape: Shape) -> dict[str, Any]:
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
    for element, item in _in_order(_each(theirs, live, shape), mine):
        if element not in mine:
            merged.append(item)
            continue
        # Elements that share a key cannot be merged with: the applied one replaces them.
        found = theirs.get(element, [])
        merged.append(merge(found[0] if len(found) == 1 else ABSENT, mine[element][0], inside))
    return merged


def _each(found: dict[str, list[Any]], items: list[Any], shape: Shape) -> list[tuple[str, Any]]:
    """The elements of a list with their path elements, also those that share one."""
    if len(found) == len(items):
        return [(element, same[0]) for element, same in found.items()]
    return [(next(iter(elements_of([item], shape))), item) for item in items]


def _in_order(
    live: list[tuple[str, Any]], applied: dict[str, list[Any]]
) -> Iterator[tuple[str, Any]]:
    """Applied elements in the order they were applied in, the others where they stood.

    One that was not applied keeps its place after the element before it, and stands
    before applied ones that are new.
    """
    known = {element for element, _ in live}
    shared = [element for element in reversed(applied) if element in known]  # next one last
    waiting = list(reversed(applied))  # next one last
    for element, item in live:
        if element not in applied:
            yield element, item
            continue
        if shared and shared[-1] != element:
            continue  # it has stood, or will stand, where it was applied
        stop = shared.pop() if shared else None
        while waiting:
            following = waiting.pop()
            yield following, None
            if stop in {None, following}:
                break
    for element in reversed(waiting):
        yield element, None


def remove(value: Any, fields: Tree, shape: Shape) -> Any:
    """`value` without the paths of a set; what becomes empty by it becomes null."""
    if isinstance(value, dict) and not shape.whole_map:
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
            # Null, and not gone: it may have an owner of its own.
            rest[name] = left if left or not each else None
    return rest


def _remove_items(value: list[Any], fields: Tree, shape: Shape) -> list[Any]:
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
    """`value` without the nulls that are the same as nothing; itself when there are none."""
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
    """Whether a null stands in a field somewhere below."""
    # Most objects have none, and their text shows it at once.
    return b"null" in msgspec.json.encode(value) and _holds_null(value)


def _holds_null(value: dict[str, Any] | list[Any]) -> bool:
    found = value.values() if isinstance(value, dict) else value
    if value is not found and None in found:
        return True
    return any(_holds_null(each) for each in found if isinstance(each, dict | list))


def problems_of(value: Any, shape: Shape) -> list[str]:
    """What makes an applied object one that cannot be merged, each with its path."""
    return list(_problems(value, shape, ()))


def _problems(value: Any, shape: Shape, path: tuple[str, ...]) -> Iterator[str]:
    if isinstance(value, dict):
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
