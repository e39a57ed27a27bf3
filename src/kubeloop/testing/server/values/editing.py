"""Changing JSON objects without changing them: each step gives a new one that shares the rest.

Promises: nothing given is modified; where nothing changes, the very object comes back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

__all__ = ["Change", "Json", "at", "each", "filled", "within", "without"]

Json: TypeAlias = dict[str, Any]
Change: TypeAlias = Callable[[Json], Json]


def at(obj: Any, *path: str) -> Any:
    """The value at a path of keys; None where nothing is."""
    for step in path:
        obj = obj.get(step) if isinstance(obj, Mapping) else None
    return obj


def filled(obj: Json, defaults: Mapping[str, Any]) -> Json:
    """`obj` with `defaults` where it says nothing, null, or an empty string."""
    missing = {key: said for key, said in defaults.items() if obj.get(key) in (None, "")}
    changed = {key: said for key, said in missing.items() if key not in obj or obj[key] != said}
    return {**obj, **changed} if changed else obj


def without(obj: Json, *keys: str) -> Json:
    """`obj` without some keys."""
    return {key: said for key, said in obj.items() if key not in keys} if obj.keys() & keys else obj


def within(obj: Json, key: str, change: Change, *, make: bool = False) -> Json:
    """`obj` with the object under `key` changed; with `make` also where there was none."""
    before = obj.get(key)
    if not isinstance(before, dict):
        if not make or before is not None:
            return obj
        before = {}
    after = change(before)
    return obj if after is obj.get(key) else {**obj, key: after}


def each(obj: Json, keys: str | Iterable[str], change: Change) -> Json:
    """`obj` with every element of the lists under `keys` changed."""
    for key in (keys,) if isinstance(keys, str) else keys:
        before = obj.get(key)
        if isinstance(before, list):
            after = [change(item) if isinstance(item, dict) else item for item in before]
            if any(new is not old for new, old in zip(after, before, strict=True)):
                obj = {**obj, key: after}
    return obj
