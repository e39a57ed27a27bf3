"""Every object that can be decoded can be defaulted, prepared, validated and converted."""

from __future__ import annotations

import copy
import json
import random
from contextlib import suppress
from typing import Any

import pytest

from kubeloop.wire import Duration, MicroTime, Quantity
from kubeloop.wire.plan import ListOf, MapOf, Node, Object, plan_of
from kubeloop_testing.server.kinds.core.allocation import Allocator
from kubeloop_testing.server.kinds.strategies import convert
from kubeloop_testing.server.registry import Registry, ServedResource
from kubeloop_testing.server.statuses import StatusError
from kubeloop_testing.server.values.go_order import encode_object
from kubeloop_testing.server.values.go_types import go_type_of
from kubeloop_testing.server.values.unknown_fields import check_types
from tests.testing.server.kind_helpers import (
    default,
    prepare_for_create,
    prepare_for_update,
    validate,
)

Json = dict[str, Any]

KINDS = sorted(
    (each for each in Registry().all() if "create" in each.verbs and each.cls is not None),
    key=lambda each: (each.group, each.version, each.plural),
)
TEXTS = ["", "a", "A b", "10.96.0.5", "None", "25%", "/x", "Always", "NodePort", "ExternalName"]
SCALARS: dict[Any, list[Any]] = {
    str: TEXTS,
    int: [-1, 0, 1, 80, 30000, 2**31 - 1],
    bool: [True, False],
    float: [0.5, -1.0],
    bytes: ["", "aGk="],
    Quantity: ["1", "0", "-1", "500m", 2],
    Duration: ["1s", "0s"],
    MicroTime: ["2024-01-02T03:04:05.000000Z"],
}
ANYTHING: list[Any] = [None, 1, "a", [], {}, {"type": "string"}, [{"a": 1}]]


class ObjectGenerator:
    """Generates decodable objects, the same ones for the same seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def object(self, cls: Any, depth: int = 6) -> Json:
        plan = plan_of(cls)
        names = sorted(plan.keys() - {"apiVersion", "kind"})
        if depth <= 0:
            return {}
        count = self._random.randint(0, min(len(names), 8))
        chosen = self._random.sample(names, count)
        return {name: self._value(plan[name].node, depth - 1) for name in chosen}

    def _value(self, node: Node, depth: int) -> Any:
        match node:
            case Object():
                return self.object(node.hint, depth)
            case ListOf():
                count = self._random.randint(0, 2) if depth > 0 else 0
                return [self._value(node.item, depth) for _ in range(count)]
            case MapOf():
                count = self._random.randint(0, 2) if depth > 0 else 0
                keys = self._random.sample(TEXTS, count)
                return {key: self._value(node.value, depth) for key in keys}
        return self._random.choice(_scalars(node.hint))


def _scalars(hint: Any) -> list[Any]:
    if "datetime" in str(hint):
        return ["2024-01-02T03:04:05Z"]
    if set(getattr(hint, "__args__", ())) == {int, str}:
        return [0, 80, "http", "25%", ""]
    return SCALARS.get(hint, ANYTHING)


def decode_and_default(served: ServedResource, obj: Json) -> Json:
    go_type = go_type_of(served.api_version, served.kind)
    checked = check_types(go_type, {**obj, "apiVersion": served.api_version})
    assert checked.problems == []
    group = served.storage[0]
    stored = convert(checked.object, group, served.kind, served.storage_version)
    return default(group, served.kind, {"metadata": {"name": "x"}, **stored})


@pytest.mark.parametrize("served", KINDS, ids=lambda each: f"{each.api_version}/{each.plural}")
def test_no_decodable_object_crashes_a_rule_or_is_changed(served: ServedResource) -> None:
    group, kind = served.storage[0], served.kind
    for seed in range(40):
        maker = ObjectGenerator(seed)
        old, new = (decode_and_default(served, maker.object(served.cls)) for _ in range(2))
        before = copy.deepcopy((old, new))

        validate(group, kind, new)
        validate(group, kind, new, old)
        with suppress(StatusError), Allocator().reserve() as reservation:
            prepare_for_create(group, kind, new, reservation)
        with suppress(StatusError):
            prepare_for_update(group, kind, new, old)
        shown = convert(new, served.group, kind, served.version)

        assert shown["apiVersion"] == served.api_version
        assert (old, new) == before
        assert json.loads(encode_object(new, served.api_version, kind)) == new
        assert default(group, kind, new) == new
