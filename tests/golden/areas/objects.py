"""References, owners and conditions."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from kubeloop.events import object_reference
from kubeloop.meta import (
    GroupVersionKind,
    controller_of,
    controller_ref,
    find_condition,
    is_condition_false,
    is_condition_true,
    is_controlled_by,
    remove_condition,
    set_condition,
)
from kubeloop.wire import decode
from kubeloop.wire.core.v1 import ConfigMap
from kubeloop.wire.meta.v1 import Condition, ObjectMeta
from tests.golden.case import Area, Case

_METADATA: list[dict[str, Any]] = [
    {},
    {"name": "web"},
    {"name": "web", "namespace": "shop"},
    {"name": "web", "namespace": "shop", "uid": "u1", "resourceVersion": "5"},
]


_OWNED: list[dict[str, Any]] = [
    {},
    {"ownerReferences": []},
    {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": "1"}]},
    {
        "ownerReferences": [
            {"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": "1", "controller": False},
            {"apiVersion": "v1", "kind": "Pod", "name": "b", "uid": "2", "controller": True},
            {"apiVersion": "v1", "kind": "Pod", "name": "c", "uid": "3", "controller": True},
        ]
    },
]


_EARLIER, _LATER = "2024-01-01T00:00:00Z", "2024-01-02T00:00:00Z"


def _condition(name: str, status: str, **more: Any) -> dict[str, Any]:
    base = {"type": name, "status": status, "reason": "R", "message": "m"}
    return {**base, "lastTransitionTime": _EARLIER, **more}


_CONDITIONS: list[list[dict[str, Any]]] = [
    [],
    [_condition("Ready", "True")],
    [_condition("Ready", "False"), _condition("Synced", "Unknown")],
    [_condition("Ready", "True"), _condition("Ready", "False")],
    [_condition("ready", "True", observedGeneration=3)],
]


_NEW = [
    _condition("Ready", "True", lastTransitionTime=_LATER),
    _condition("Ready", "False", lastTransitionTime=_LATER),
    _condition("Ready", "True", lastTransitionTime=_LATER, reason="Other"),
    _condition("Ready", "True", lastTransitionTime=_LATER, message="other"),
    _condition("Ready", "True", lastTransitionTime=_LATER, observedGeneration=2),
    _condition("Ready", "", lastTransitionTime=_LATER),
    _condition("Other", "Unknown", lastTransitionTime=_LATER),
]


def _reference(given: Any) -> Any:
    return object_reference(given).to_dict()


def _owner_reference(given: Any) -> Any:
    owner = ConfigMap(metadata=decode(ObjectMeta, json.dumps(given["Owner"]).encode()))
    kind = GroupVersionKind(given["Group"], given["Version"], given["Kind"])
    return controller_ref(owner, gvk=kind).to_dict()


def _owned(metadata: Any) -> ConfigMap:
    return ConfigMap(metadata=decode(ObjectMeta, json.dumps(metadata).encode()))


def _controller(metadata: Any) -> Any:
    found = controller_of(_owned(metadata))
    return None if found is None else found.to_dict()


def _controlled(given: Any) -> bool:
    owner = ConfigMap(metadata=ObjectMeta(uid=given["UID"]))
    return is_controlled_by(_owned(given["Object"]), owner)


def _read_conditions(given: Any) -> list[Condition]:
    return [Condition.from_dict(each) for each in given["Conditions"]]


def _write_conditions(conditions: list[Condition]) -> Any:
    return [{**each.to_dict(), **_generation(each)} for each in conditions]


def _generation(condition: Condition) -> dict[str, int]:
    return (
        {"observedGeneration": condition.observed_generation}
        if condition.observed_generation
        else {}
    )


def _set(given: Any) -> Any:
    conditions = _read_conditions(given)
    new = Condition.from_dict(given["New"])
    changed = set_condition(conditions, new, now=datetime(2024, 1, 3, tzinfo=UTC))
    return {"changed": changed, "conditions": _write_conditions(conditions)}


def _remove(given: Any) -> Any:
    conditions = _read_conditions(given)
    removed = remove_condition(conditions, given["Type"])
    return {"removed": removed, "conditions": _write_conditions(conditions)}


def _is(given: Any) -> list[bool]:
    conditions = _read_conditions(given)
    name = given["Type"]
    return [
        is_condition_true(conditions, name),
        is_condition_false(conditions, name),
        find_condition(conditions, name) is not None,
    ]


def _cases() -> Iterator[Case]:
    for version, kind, metadata in itertools.product(
        ("v1", "apps/v1", "a/b/c", ""), ("Pod", "Widget", ""), _METADATA
    ):
        if metadata != _METADATA[-1] and not (version and kind):
            continue  # one shows it
        yield Case("reference.of", {"apiVersion": version, "kind": kind, "metadata": metadata})
    for metadata in _METADATA[1:]:
        owner = {"Owner": metadata, "Group": "apps", "Version": "v1", "Kind": "Deployment"}
        yield Case("owner.reference", owner)
    for metadata in _OWNED:
        yield Case("owner.controller", metadata)
        for uid in ("1", "2", "3", ""):
            yield Case("owner.controlledBy", {"Object": metadata, "UID": uid})
    for conditions in _CONDITIONS:
        for new in _NEW:
            yield Case("conditions.set", {"Conditions": conditions, "New": new})
        for name in ("Ready", "ready", "Gone", ""):
            yield Case("conditions.remove", {"Conditions": conditions, "Type": name})
            yield Case("conditions.is", {"Conditions": conditions, "Type": name})


AREA = Area(
    _cases,
    {
        "reference.of": _reference,
        "owner.reference": _owner_reference,
        "owner.controller": _controller,
        "owner.controlledBy": _controlled,
        "conditions.set": _set,
        "conditions.remove": _remove,
        "conditions.is": _is,
    },
)
