"""Every generated class, and random JSON for any of them."""

from __future__ import annotations

import importlib
from datetime import datetime
from typing import Any

from hypothesis import strategies as st

from kubeloop.wire import Kind, MicroTime, Quantity, class_for, resources
from kubeloop.wire.model import Model, zero_of
from kubeloop.wire.plan import ListOf, MapOf, Node, Object, Value, plan_of

MODULES = sorted(
    {(info.group, info.version) for info in resources()},
)


def every_class() -> list[type[Model]]:
    """All classes of all 33 group versions."""
    from kubeloop.wire._generated.resources import GROUPS

    found: list[type[Model]] = []
    for module in GROUPS.values():
        loaded = importlib.import_module(f"kubeloop.wire._generated.{module}")
        found += [getattr(loaded, name) for name in loaded.__all__]
    return found


def every_kind() -> list[type[Kind]]:
    """The class of every built-in resource."""
    found = [class_for(info.group, info.version, info.kind) for info in resources()]
    return [cls for cls in found if cls is not None]


_WORDS = st.sampled_from(["a", "web", "Ready", "x-1", "ünïcode", ""])
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**31), 2**31) | _WORDS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_WORDS, inner, max_size=2),
    max_leaves=4,
)
# Names that no class of the API has.
_NEW_KEYS = st.sampled_from(["zzNew", "zz-newer", "$extra", "zzItems"])
_SCALARS: dict[Any, st.SearchStrategy[Any]] = {
    str: _WORDS,
    int: st.integers(-(2**31), 2**31 - 1),
    bool: st.booleans(),
    float: st.floats(allow_nan=False, allow_infinity=False, width=32),
    bytes: st.sampled_from(["", "AAEC", "aHVudGVyMg=="]),
    datetime: st.sampled_from(["2024-01-02T03:04:05Z", "1999-12-31T23:59:59Z"]),
    MicroTime: st.just("2024-01-02T03:04:05.000001Z"),
    Quantity: st.sampled_from(["500m", "0.5", "1Gi", "1e3", "0"]),
    int | str: st.integers(0, 100) | st.sampled_from(["http", "25%"]),
    Any: _JSON,
}


def json_for(node: Node, *, depth: int = 3) -> st.SearchStrategy[Any]:
    """Random JSON that a server could send for this node, with unknown keys and nulls."""
    match node:
        case Object():
            return _objects(node.hint, depth)
        case ListOf():
            item = st.none() | json_for(node.item, depth=depth - 1)
            return st.lists(item, max_size=2 if depth > 0 else 0)
        case MapOf():
            value = st.none() | json_for(node.value, depth=depth - 1)
            return st.dictionaries(_WORDS, value, max_size=2 if depth > 0 else 0)
        case Value():
            return _SCALARS[node.hint]


@st.composite
def _objects(draw: st.DrawFn, cls: type[Model], depth: int) -> dict[str, Any]:
    plan = plan_of(cls)
    names = [
        name for name in plan if name not in ("apiVersion", "kind") or not issubclass(cls, Kind)
    ]
    chosen = draw(st.lists(st.sampled_from(names), unique=True, max_size=4)) if names else []
    found = {}
    for name in chosen if depth > 0 else []:
        found[name] = draw(st.none() | json_for(plan[name].node, depth=depth - 1))
    return found | draw(st.dictionaries(_NEW_KEYS, _JSON, max_size=2))


def without_nulls(node: Node, data: Any) -> Any:
    """The expected encoding: no nulls in known fields, everything else unchanged."""
    match node:
        case Object():
            plan = plan_of(node.hint)
            return {
                key: without_nulls(plan[key].node, value) if key in plan else value
                for key, value in data.items()
                if key not in plan or value is not None
            }
        case ListOf():
            return [without_nulls(node.item, _or_zero(node.item, item)) for item in data]
        case MapOf():
            return {
                key: without_nulls(node.value, _or_zero(node.value, v)) for key, v in data.items()
            }
        case Value():
            return data


def _or_zero(node: Node, value: Any) -> Any:
    if value is not None or node.optional:
        return value
    empty = {bytes: "", Quantity: "0"}
    match node:
        case Object() | MapOf():
            return {}
        case ListOf():
            return []
        case Value():
            return empty.get(node.hint, zero_of(node.hint))
