"""Strategic merge patches and JSON merge patches: applied, and computed from two or three versions."""

from __future__ import annotations

import copy
import itertools
import random
from collections.abc import Iterator
from typing import Any

from kubeloop.patches import (
    apply_merge_patch,
    apply_strategic_patch,
    merge_patch_between,
    strategic_patch_between,
    three_way_merge_patch,
    three_way_strategic_patch,
)
from kubeloop.wire import TypeFacts, facts_of
from kubeloop.wire.apps.v1 import Deployment
from kubeloop.wire.core.v1 import ConfigMap, Node, Pod, Service, ServiceAccount
from tests.golden.case import Area, Case

_KINDS = {
    "Pod": Pod,
    "Service": Service,
    "ConfigMap": ConfigMap,
    "ServiceAccount": ServiceAccount,
    "Deployment": Deployment,
    "Node": Node,
}


def _pod(*containers: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "web"}, "spec": {"containers": list(containers), **spec}}


def _c(name: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, **fields}


_POD = _pod(
    _c("a", image="a:1", env=[{"name": "X", "value": "1"}, {"name": "Y", "value": "2"}]),
    _c("b", image="b:1", args=["-v"], ports=[{"containerPort": 80, "protocol": "TCP"}]),
    volumes=[{"name": "v", "emptyDir": {}}, {"name": "w", "hostPath": {"path": "/"}}],
    nodeSelector={"zone": "a"},
    tolerations=[{"key": "k", "operator": "Exists"}],
)
_SPECS: list[dict[str, Any]] = [
    {},
    {"spec": {}},
    {"spec": None},
    {"metadata": {"labels": {"a": "b"}}},
    {"metadata": {"labels": None}},
    {"metadata": None},
    {"spec": {"containers": [_c("a", image="a:2")]}},
    {"spec": {"containers": [_c("c", image="c:1")]}},
    {"spec": {"containers": [_c("b", args=["-q"])]}},
    {"spec": {"containers": [_c("b", args=None)]}},
    {"spec": {"containers": [{"$patch": "delete", "name": "a"}]}},
    {"spec": {"containers": [{"$patch": "delete", "name": "gone"}]}},
    {"spec": {"containers": [{"$patch": "replace"}, _c("z", image="z")]}},
    {"spec": {"containers": [{"$patch": "merge", "name": "a", "image": "a:3"}]}},
    {"spec": {"containers": [{"$patch": "nonsense", "name": "a"}]}},
    {"spec": {"containers": [{"image": "nameless"}]}},
    {"spec": {"containers": []}},
    {"spec": {"containers": None}},
    {"spec": {"containers": "text"}},
    {"spec": {"containers": ["text"]}},
    {"spec": {"containers": [_c("a", env=[{"name": "X", "value": "9"}])]}},
    {"spec": {"containers": [_c("a", env=[{"$patch": "delete", "name": "Y"}])]}},
    {
        "spec": {
            "containers": [_c("a", env=[{"name": "Z", "value": "3"}, {"name": "X", "value": "0"}])]
        }
    },
    {"spec": {"containers": [_c("b", ports=[{"containerPort": 81}])]}},
    {"spec": {"containers": [_c("b", ports=[{"containerPort": 80, "name": "http"}])]}},
    {"spec": {"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}]}},
    {
        "spec": {
            "$setElementOrder/containers": [{"name": "b"}, {"name": "c"}, {"name": "a"}],
            "containers": [_c("c", image="c:1")],
        }
    },
    {"spec": {"$setElementOrder/containers": [{"name": "b"}], "containers": [_c("c")]}},
    {"spec": {"volumes": [{"name": "v", "secret": {"secretName": "s"}}]}},
    {
        "spec": {
            "volumes": [
                {"$retainKeys": ["name", "secret"], "name": "v", "secret": {"secretName": "s"}}
            ]
        }
    },
    {"spec": {"volumes": [{"$retainKeys": ["name"], "name": "v", "secret": {}}]}},
    {"spec": {"nodeSelector": {"$patch": "replace", "disk": "ssd"}}},
    {"spec": {"nodeSelector": {"$patch": "delete"}}},
    {"spec": {"nodeSelector": {"zone": None, "disk": "ssd"}}},
    {"spec": {"tolerations": [{"key": "n"}]}},
    {"spec": {"tolerations": []}},
    {"$patch": "replace", "metadata": {"name": "new"}},
    {"$patch": "delete"},
    {"spec": {"unknown": {"a": 1}}},
    {"spec": {"activeDeadlineSeconds": 5}},
    {"spec": {"securityContext": {"supplementalGroups": [1, 2]}}},
]
_META: list[dict[str, Any]] = [
    {"metadata": {"finalizers": ["a", "b"]}},
    {"metadata": {"finalizers": ["b"]}},
    {"metadata": {"finalizers": ["c", "a"]}},
    {"metadata": {"finalizers": []}},
    {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a"]}},
    {
        "metadata": {
            "$deleteFromPrimitiveList/finalizers": ["a"],
            "$setElementOrder/finalizers": ["c", "b"],
            "finalizers": ["c"],
        }
    },
    {"metadata": {"finalizers": None}},
    {"metadata": {"finalizers": ["a", "a"]}},
    {"metadata": {"ownerReferences": [{"uid": "1", "name": "o"}]}},
    {"metadata": {"ownerReferences": [{"$patch": "delete", "uid": "1"}]}},
]
_SERVICES: list[dict[str, Any]] = [
    {"spec": {"ports": [{"port": 80, "protocol": "TCP"}, {"port": 53, "protocol": "UDP"}]}},
    {"spec": {"ports": [{"port": 80, "targetPort": 8080}]}},
    {"spec": {"ports": [{"port": 443}]}},
    {"spec": {"ports": [{"$patch": "delete", "port": 53}]}},
    {"spec": {"selector": {"a": "b"}}},
    {"spec": {"selector": None}},
]
_PLAIN: list[Any] = [
    {},
    {"a": 1},
    {"a": 2},
    {"a": None},
    {"a": {"b": 1}},
    {"a": {"b": None}},
    {"a": {"b": {"c": 1}, "d": 2}},
    {"a": {"b": {"c": None}}},
    {"a": [1, 2]},
    {"a": [{"b": None}]},
    {"a": []},
    {"a": {}},
    {"b": {"c": {"d": None}}},
    {"a": "text"},
    {"": 1},
    {"a": True, "b": 1.5},
]
_ODD: list[Any] = [[], [1], "a", 1, None, True, [{"a": None}]]


def _objects(seed: int) -> list[dict[str, Any]]:
    """Pods that differ in a few fields, like versions of one object."""
    source = random.Random(seed)
    base = copy.deepcopy(_POD)
    made = []
    for _ in range(3):
        each = copy.deepcopy(base)
        containers = each["spec"]["containers"]
        for _ in range(source.randint(0, 3)):
            match source.randrange(8):
                case 0:
                    containers.append(_c(source.choice("cde"), image="new"))
                case 1 if containers:
                    containers.pop(source.randrange(len(containers)))
                case 2 if containers:
                    containers[0]["image"] = source.choice(["a:1", "a:2", "a:3"])
                case 3:
                    containers.reverse()
                case 4:
                    each["spec"]["nodeSelector"] = {source.choice("xyz"): "1"}
                case 5:
                    each["metadata"]["labels"] = {source.choice("ab"): source.choice("12")}
                case 6:
                    each["metadata"]["finalizers"] = source.sample(["f", "g", "h"], k=2)
                case 7 if containers:
                    containers[-1]["env"] = [{"name": source.choice("XYZ"), "value": "5"}]
        by_name = {one["name"]: one for one in reversed(containers)}  # names are unique
        each["spec"]["containers"] = [one for one in containers if by_name[one["name"]] is one]
        made.append(each)
    return made


def _cases() -> Iterator[Case]:
    for patch in _SPECS:
        for original in ({}, _POD, _pod()):
            yield Case("strategic.apply", {"kind": "Pod", "original": original, "patch": patch})
    for original, patch in itertools.product(_META, _META):
        yield Case("strategic.apply", {"kind": "ConfigMap", "original": original, "patch": patch})
    for original, patch in itertools.product(_SERVICES[:3], _SERVICES):
        yield Case("strategic.apply", {"kind": "Service", "original": original, "patch": patch})
    clean_meta = [each for each in _META if "$" not in str(each)]
    for original, modified in itertools.product(clean_meta, clean_meta):
        given = {"kind": "ConfigMap", "original": original, "modified": modified}
        yield Case("strategic.between", given)
    clean = [each for each in _SERVICES if "$" not in str(each)]
    for original, modified in itertools.product(clean, clean):
        given = {"kind": "Service", "original": original, "modified": modified}
        yield Case("strategic.between", given)
    for seed in range(50):
        original, modified, current = _objects(seed)
        given = {"kind": "Pod", "original": original, "modified": modified}
        yield Case("strategic.between", given)
        for overwrite in (True, False):
            yield Case("strategic.threeWay", {**given, "current": current, "overwrite": overwrite})
        yield Case("merge.threeWay", {**given, "current": current})
    pairs = itertools.product([*_PLAIN, [], [1], "a", 1, True], _PLAIN)
    for original, patch in [*pairs, *itertools.product([{"a": 1}, [1]], _ODD)]:
        yield Case("merge.apply", {"original": original, "patch": patch})
    for original, modified in itertools.product(_PLAIN, _PLAIN):
        yield Case("merge.between", {"original": original, "modified": modified})
    # A server never stores null members.
    stored = [each for each in _PLAIN if "None" not in str(each)]
    for original, modified, current in itertools.product(_PLAIN[:9], _PLAIN[:9], stored[:6]):
        given = {"original": original, "modified": modified, "current": current}
        yield Case("merge.threeWay", given)


def _facts(given: Any) -> TypeFacts:
    return facts_of(_KINDS[given["kind"]])


def _apply(given: Any) -> Any:
    return apply_strategic_patch(given["original"], given["patch"], _facts(given))


def _between(given: Any) -> Any:
    facts, original = _facts(given), given["original"]
    patch = strategic_patch_between(original, given["modified"], facts)
    return apply_strategic_patch(original, patch, facts)


def _three_way(given: Any) -> Any:
    facts, current = _facts(given), given["current"]
    patch = three_way_strategic_patch(
        given["original"], given["modified"], current, facts, overwrite=given["overwrite"]
    )
    return apply_strategic_patch(current, patch, facts)


def _merge_between(given: Any) -> Any:
    original = given["original"]
    return apply_merge_patch(original, merge_patch_between(original, given["modified"]))


def _merge_three_way(given: Any) -> Any:
    current = given["current"]
    patch = three_way_merge_patch(given["original"], given["modified"], current)
    return apply_merge_patch(current, patch)


AREA = Area(
    _cases,
    {
        "strategic.apply": _apply,
        "strategic.between": _between,
        "strategic.threeWay": _three_way,
        "merge.apply": lambda given: apply_merge_patch(given["original"], given["patch"]),
        "merge.between": _merge_between,
        "merge.threeWay": _merge_three_way,
    },
)
