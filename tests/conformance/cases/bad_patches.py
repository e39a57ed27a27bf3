"""Patches that kube-apiserver rejects, with its sentences."""

from __future__ import annotations

from typing import Any

_MAPS = "/api/v1/namespaces/{ns}/configmaps"
_WEB = "/apis/apps/v1/namespaces/{ns}/deployments/web"
_STRATEGIC = {"Content-Type": "application/strategic-merge-patch+json"}
_MERGE = {"Content-Type": "application/merge-patch+json"}
_JSON = {"Content-Type": "application/json-patch+json"}
_APPLY = {"Content-Type": "application/apply-patch+yaml"}
_CREATE = (
    "POST",
    "/apis/apps/v1/namespaces/{ns}/deployments",
    {
        "metadata": {"name": "web", "labels": {"app": "a"}},
        "spec": {
            "selector": {"matchLabels": {"app": "a"}},
            "template": {
                "metadata": {"labels": {"app": "a"}},
                "spec": {
                    "containers": [
                        {"name": "c", "image": "i", "ports": [{"containerPort": 80}], "args": ["x"]}
                    ]
                },
            },
        },
    },
)


def _strategic(*patches: Any) -> list[tuple[Any, ...]]:
    return [_CREATE, *(("PATCH", f"{_WEB}?dryRun=All", patch, _STRATEGIC) for patch in patches)]


def _merge(*patches: Any) -> list[tuple[Any, ...]]:
    return [_CREATE, *(("PATCH", f"{_WEB}?dryRun=All", patch, _MERGE) for patch in patches)]


def _operations(*patches: Any) -> list[tuple[Any, ...]]:
    """JSON patches of one operation each, or of a list of operations."""
    steps = [patch if isinstance(patch, list | str) else [patch] for patch in patches]
    return [_CREATE, *(("PATCH", f"{_WEB}?dryRun=All", step, _JSON) for step in steps)]


def _applied(*bodies: Any) -> list[tuple[Any, ...]]:
    path = f"{_WEB}?dryRun=All&fieldManager=me"
    return [_CREATE, *(("PATCH", path, body, _APPLY) for body in bodies)]


def _pod(**spec: Any) -> dict[str, Any]:
    return {"spec": {"template": {"spec": spec}}}


def _object(**fields: Any) -> dict[str, Any]:
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, **fields}


CASES: dict[str, list[tuple[Any, ...]]] = {
    "strategic patches that are no objects": _strategic("[]", "1", '"x"', "null", "{", "", "x: y"),
    "strategic patches of the wrong type": _strategic(
        {"spec": 1},
        {"spec": "x"},
        {"spec": []},
        {"spec": {"replicas": "x"}},
        {"spec": {"replicas": 1.5}},
        {"spec": {"replicas": {}}},
        {"spec": {"paused": "yes"}},
        {"spec": {"selector": []}},
        {"spec": {"selector": {"matchLabels": ["a"]}}},
        {"metadata": []},
        {"metadata": {"labels": {"a": 1}}},
        {"metadata": {"labels": "a"}},
        {"metadata": {"name": 1}},
        {"metadata": {"finalizers": "a"}},
        {"metadata": {"finalizers": [1]}},
        {"kind": 1},
        {"kind": "Pod"},
        {"apiVersion": "v2"},
    ),
    "strategic patches of lists": _strategic(
        _pod(containers={}),
        _pod(containers="x"),
        _pod(containers=[1]),
        _pod(containers=["x"]),
        _pod(containers=[{}]),
        _pod(containers=[{"image": "x"}]),
        _pod(containers=[{"name": 1}]),
        _pod(containers=[{"name": "c", "ports": [{}]}]),
        _pod(containers=[{"name": "c", "ports": "x"}]),
        _pod(containers=[{"name": "c", "args": "x"}]),
        _pod(containers=[{"name": "c", "args": [1]}]),
        _pod(containers=[{"name": "c", "env": [{"value": "x"}]}]),
        _pod(containers=[{"name": "c", "resources": {"limits": {"cpu": "x"}}}]),
        _pod(containers=[None]),
    ),
    "directives of strategic patches": _strategic(
        {"$patch": "turn"},
        {"$patch": "delete"},
        {"$patch": 1},
        {"spec": {"$patch": "turn"}},
        {"spec": {"$patch": "replace"}},
        _pod(containers=[{"$patch": "turn"}]),
        _pod(containers=[{"$patch": "turn", "name": "c"}]),
        _pod(containers=[{"$patch": "delete"}]),
        _pod(containers=[{"$patch": "delete", "name": "c"}]),
        _pod(containers=[{"$patch": "merge", "name": "c"}]),
        {"spec": {"$retainKeys": "x"}},
        {"spec": {"$retainKeys": ["x"], "replicas": 1}},
        {"spec": {"$retainKeys": [1]}},
        {"metadata": {"$setElementOrder/finalizers": "x"}},
        {"metadata": {"$setElementOrder/finalizers": ["a"], "finalizers": ["b"]}},
        {"metadata": {"$deleteFromPrimitiveList/finalizers": "x"}},
        {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a"]}},
        {"metadata": {"$deleteFromPrimitiveList/nope": ["a"]}},
        {"$nope": 1},
        _pod(**{"$setElementOrder/containers": [{"name": "b"}], "containers": [{"name": "c"}]}),
        _pod(**{"$setElementOrder/containers": [{"x": "b"}], "containers": [{"name": "c"}]}),
        _pod(**{"$setElementOrder/containers": "x", "containers": [{"name": "c"}]}),
    ),
    "merge patches": _merge(
        "[]",
        "1",
        '"x"',
        "null",
        "{",
        "",
        {"spec": 1},
        {"spec": {"replicas": "x"}},
        {"spec": {"replicas": 1.5}},
        {"spec": {"replicas": 99999999999}},
        {"spec": {"selector": []}},
        {"metadata": {"labels": {"a": 1}}},
        {"metadata": {"labels": ["a"]}},
        {"metadata": None},
        {"metadata": {"name": None}},
        {"metadata": {"name": "other"}},
        {"metadata": {"namespace": "other"}},
        {"metadata": {"uid": "other"}},
        {"metadata": {"resourceVersion": "x"}},
        {"metadata": {"resourceVersion": "1"}},
        {"metadata": {"creationTimestamp": "x"}},
        {"metadata": {"creationTimestamp": 1}},
        {"kind": "Pod"},
        {"kind": None},
        {"apiVersion": "apps/v9"},
        {"spec": {"template": None}},
        {"spec": None},
        {"spec": {"strategy": {"rollingUpdate": {"maxSurge": {}}}}},
        {"spec": {"strategy": {"rollingUpdate": {"maxSurge": 1.5}}}},
    ),
    "bodies of JSON patches": _operations(
        "{}", "1", '"x"', "null", "[", "", "[1]", '["x"]', "[[]]", "[null]", "[{}]"
    ),
    "operations of JSON patches": _operations(
        {"op": "turn", "path": "/a"},
        {"op": 1, "path": "/a"},
        {"op": "", "path": "/a"},
        {"op": "ADD", "path": "/a", "value": 1},
        {"path": "/a", "value": 1},
        {"op": "add", "value": 1},
        {"op": "add", "path": 1, "value": 1},
        {"op": "add", "path": "a", "value": 1},
        {"op": "add", "path": "", "value": 1},
        {"op": "add", "path": "/spec/replicas"},
        {"op": "remove", "path": "/nope"},
        {"op": "remove", "path": "/metadata/labels/nope"},
        {"op": "remove", "path": ""},
        {"op": "remove", "path": "/"},
        {"op": "replace", "path": "/nope", "value": 1},
        {"op": "replace", "path": "/metadata/labels/nope", "value": "x"},
        {"op": "add", "path": "/nope/deep", "value": 1},
        {"op": "add", "path": "/spec/nope/deep/er", "value": 1},
        {"op": "add", "path": "/metadata/labels/a/b", "value": 1},
        {"op": "add", "path": "/metadata/labels/~2", "value": "x"},
        {"op": "move", "path": "/spec/a"},
        {"op": "move", "path": "/spec/a", "from": "/nope"},
        {"op": "move", "path": "/spec/a", "from": "/nope/deep"},
        {"op": "move", "path": "/spec/a", "from": 1},
        {"op": "copy", "path": "/spec/a"},
        {"op": "copy", "path": "/spec/a", "from": "/nope"},
        {"op": "copy", "path": "/nope/b", "from": "/spec/replicas"},
    ),
    "operations of JSON patches on lists": _operations(
        {"op": "add", "path": "/spec/template/spec/containers/5", "value": {}},
        {"op": "add", "path": "/spec/template/spec/containers/x", "value": {}},
        {"op": "add", "path": "/spec/template/spec/containers/-2", "value": {}},
        {"op": "add", "path": "/spec/template/spec/containers/01", "value": {}},
        {"op": "remove", "path": "/spec/template/spec/containers/5"},
        {"op": "remove", "path": "/spec/template/spec/containers/-1"},
        {"op": "remove", "path": "/spec/template/spec/containers/-"},
        {"op": "remove", "path": "/spec/template/spec/containers/x"},
        {"op": "replace", "path": "/spec/template/spec/containers/5", "value": {}},
        {"op": "replace", "path": "/spec/template/spec/containers/0/nope", "value": 1},
        {"op": "replace", "path": "/spec/template/spec/containers/9/image", "value": 1},
        {"op": "test", "path": "/spec/template/spec/containers/9", "value": 1},
        {"op": "move", "path": "/spec/a", "from": "/spec/template/spec/containers/9"},
        {"op": "copy", "path": "/spec/a", "from": "/spec/template/spec/containers/9"},
        {"op": "add", "path": "/spec/template/spec/containers/-", "value": 1},
        {"op": "add", "path": "/spec/template/spec/containers/-", "value": {"name": "C"}},
    ),
    "tests of JSON patches": _operations(
        {"op": "test", "path": "/spec/replicas", "value": 2},
        {"op": "test", "path": "/spec/replicas", "value": "1"},
        {"op": "test", "path": "/spec/nope", "value": 1},
        {"op": "test", "path": "/spec/nope/deep", "value": 1},
        {"op": "test", "path": "/nope", "value": 1},
        {"op": "test", "path": "/metadata/labels/app"},
        {"op": "test", "path": "/metadata/labels/nope", "value": "x"},
        {"op": "test", "path": "/metadata/labels", "value": {"app": "b"}},
        {"op": "test", "path": "/metadata/labels", "value": ["a"]},
        {"op": "test", "path": "", "value": {}},
        {"op": "test", "path": "x", "value": {}},
        {"op": "test"},
        [
            {"op": "replace", "path": "/spec/replicas", "value": 3},
            {"op": "test", "path": "/spec/replicas", "value": 1},
        ],
    ),
    "results of JSON patches": _operations(
        {"op": "replace", "path": "/spec", "value": 1},
        {"op": "replace", "path": "/spec/replicas", "value": "x"},
        {"op": "replace", "path": "/spec/replicas", "value": -1},
        {"op": "replace", "path": "/spec/replicas", "value": 1.5},
        {"op": "replace", "path": "/spec/template/spec/containers", "value": {}},
        {"op": "replace", "path": "/metadata/labels/app", "value": 1},
        {"op": "replace", "path": "/metadata/name", "value": "other"},
        {"op": "remove", "path": "/metadata/name"},
        {"op": "remove", "path": "/metadata"},
        {"op": "remove", "path": "/spec/template"},
        {"op": "remove", "path": "/kind"},
        {"op": "replace", "path": "/kind", "value": "Pod"},
        {"op": "replace", "path": "/apiVersion", "value": "x/y/z"},
        {"op": "add", "path": "/metadata/creationTimestamp", "value": "x"},
    ),
    "applies": _applied(
        "[]",
        "1",
        "x",
        "",
        "{",
        "a: b: c",
        {},
        {"kind": "Deployment"},
        {"apiVersion": "apps/v1"},
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}},
        {"apiVersion": "apps/v9", "kind": "Deployment", "metadata": {"name": "web"}},
        {"apiVersion": "apps/v1", "kind": "Deployment"},
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "other"}},
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"namespace": "other"}},
        _object(nope=1),
        _object(spec=1),
        _object(spec=[]),
        _object(spec={"nope": 1}),
        _object(spec={"replicas": "x"}),
        _object(spec={"replicas": 1.5}),
        _object(spec={"selector": {"matchLabels": {"a": 1}}}),
        _object(spec={"template": {"spec": {"containers": {}}}}),
        _object(spec={"template": {"spec": {"containers": [{}]}}}),
        _object(spec={"template": {"spec": {"containers": [1]}}}),
        _object(spec={"template": {"spec": {"containers": [{"name": "c", "nope": 1}]}}}),
        _object(spec={"template": {"spec": {"containers": [{"name": "c"}, {"name": "c"}]}}}),
        _object(spec={"template": {"spec": {"containers": [{"name": "c", "ports": [{}]}]}}}),
        {**_object(), "metadata": {"name": "web", "managedFields": [{"manager": "x"}]}},
        {**_object(), "metadata": {"name": "web", "resourceVersion": "1"}},
        {**_object(), "metadata": {"name": "web", "uid": "x"}},
        {**_object(), "metadata": {"name": "web", "labels": {"a": 1}}},
        {**_object(), "metadata": {"name": "web", "finalizers": ["a", "a"]}},
    ),
    "options of an apply": [
        _CREATE,
        ("PATCH", f"{_WEB}?dryRun=All", _object(), _APPLY),
        ("PATCH", f"{_WEB}?dryRun=All&fieldManager={'x' * 129}", _object(), _APPLY),
        ("PATCH", f"{_WEB}?dryRun=All&fieldManager=%07", _object(), _APPLY),
        ("PATCH", f"{_WEB}?dryRun=All&force=true", {}, _MERGE),
        ("PATCH", f"{_WEB}?dryRun=All&force=x", {}, _MERGE),
        ("PATCH", f"{_WEB}?dryRun=Some&fieldManager=me", _object(), _APPLY),
        ("PATCH", f"{_WEB}?dryRun=All&fieldManager=me", _object(spec={"replicas": 9}), _APPLY),
        (
            "PATCH",
            f"{_WEB}?dryRun=All&fieldManager=me",
            _object(
                spec={
                    "replicas": 9,
                    "template": {"spec": {"containers": [{"name": "c", "image": "j"}]}},
                }
            ),
            _APPLY,
        ),
        ("PATCH", f"{_WEB}/status?dryRun=All&fieldManager=me", _object(status=1), _APPLY),
        ("PATCH", f"{_WEB}/scale?dryRun=All&fieldManager=me", _object(), _APPLY),
    ],
    "unknown fields in patches": [
        _CREATE,
        *(
            ("PATCH", f"{_WEB}?dryRun=All&fieldValidation={mode}", body, media)
            for mode in ("Strict", "Warn", "Ignore")
            for body, media in (
                ({"spec": {"nope": 1, "Replicas": 2}}, _MERGE),
                ({"spec": {"nope": 1, "Replicas": 2}}, _STRATEGIC),
                ([{"op": "add", "path": "/spec/nope", "value": 1}], _JSON),
                ([{"op": "add", "path": "/spec/nope", "value": 1, "more": 2}], _JSON),
                ('{"spec": {"replicas": 1, "replicas": 2}}', _MERGE),
                ('{"spec": {"replicas": 1, "replicas": 2}}', _STRATEGIC),
                (_object(spec={"nope": 1}), _APPLY),
            )
        ),
    ],
}
