"""Bodies and options in unusual notations: which ones are accepted, and what they mean.

Patches whose result cannot be decoded are missing: the error quotes the whole object.
See also: `update_strategies` (metadata that clients send).
"""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]
Step = tuple[Any, ...]

_JSON = {"Content-Type": "application/json"}
_YAML = {"Content-Type": "application/yaml"}
_MERGE = {"Content-Type": "application/merge-patch+json"}
_STRATEGIC = {"Content-Type": "application/strategic-merge-patch+json"}
_OPERATIONS = {"Content-Type": "application/json-patch+json"}
_APPLY = {"Content-Type": "application/apply-patch+yaml"}

_MAPS = "/api/v1/namespaces/{ns}/configmaps"
_PODS = "/api/v1/namespaces/{ns}/pods"
_SECRETS = "/api/v1/namespaces/{ns}/secrets"
_DEPLOYMENTS = "/apis/apps/v1/namespaces/{ns}/deployments"
_DRY = "?dryRun=All"
_APPLIED = f"{_MAPS}/a?dryRun=All&fieldManager=m&force=true"

_MAP: Step = (
    "POST",
    _MAPS,
    {"metadata": {"name": "a", "labels": {"x/y": "1"}}, "data": {"k": "v", "l": "w"}},
)
_POD: Step = (
    "POST",
    _PODS,
    {
        "metadata": {"name": "p", "finalizers": ["example.com/a", "example.com/b"]},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    },
)
_DEPLOYMENT = (
    '{"metadata":{"name":"a"},"spec":{"replicas":REPLICAS,"selector":{"matchLabels":{"app":"a"}},'
    '"template":{"metadata":{"labels":{"app":"a"}},"spec":{"containers":[{"name":"c","image":"i"}]'
    "}}}}"
)


def _posted(path: str, *bodies: str, headers: Object = _JSON) -> list[Step]:
    return [("POST", path + _DRY, body, headers) for body in bodies]


def _scaled(*numbers: str) -> list[Step]:
    return _posted(_DEPLOYMENTS, *(_DEPLOYMENT.replace("REPLICAS", each) for each in numbers))


def _patched(headers: Object, *bodies: str) -> list[Step]:
    return [_MAP, *(("PATCH", f"{_MAPS}/a{_DRY}", body, headers) for body in bodies)]


def _operations(start: Step, path: str, *operations: Object) -> list[Step]:
    return [start, *(("PATCH", path + _DRY, [each], _OPERATIONS) for each in operations)]


def _operation(op: str, path: str, *value: Any, **more: Any) -> Object:
    return {"op": op, "path": path, **({"value": value[0]} if value else {}), **more}


def _on_map(*operations: Object) -> list[Step]:
    return _operations(_MAP, f"{_MAPS}/a", *operations)


def _on_list(*operations: Object) -> list[Step]:
    return _operations(_POD, f"{_PODS}/p", *operations)


def _deleted(*bodies: str | None) -> list[Step]:
    steps: list[Step] = []
    for index, body in enumerate(bodies):
        steps += [
            ("POST", _MAPS, {"metadata": {"name": f"d{index}"}}),
            ("DELETE", f"{_MAPS}/d{index}", body),
        ]
    return steps


_FINALIZERS = "/metadata/finalizers"

CASES: dict[str, list[Step]] = {
    "bytes as base64": [
        (
            "POST",
            f"{_SECRETS}{_DRY}",
            '{"metadata":{"name":"s"},"data":{"a":"' + text + '"}}',
        )
        for text in ("MQ==", "MQ", "MQ==\\n", "M\\nQ==", "\\r\\nMQ==", "MQ= =", "M Q==", "M*==", "")
    ],
    "integers in other notations": _scaled(
        *("1", "1.0", "1e0", "1e3", "10e-1", "1.5", "-0", "2147483648", "1e400", "01", "+1"),
        *('"1"', "null", "true", "[1]", "9223372036854775808", "0x10"),
    ),
    "whole floats in patches": [
        ("POST", _DEPLOYMENTS, _DEPLOYMENT.replace("REPLICAS", "1")),
        ("PATCH", f"{_DEPLOYMENTS}/a{_DRY}", '{"spec":{"replicas":3.0}}', _STRATEGIC),
        ("PATCH", f"{_DEPLOYMENTS}/a{_DRY}", '{"spec":{"replicas":3e0}}', _STRATEGIC),
        ("PATCH", f"{_DEPLOYMENTS}/a/scale{_DRY}", '{"spec":{"replicas":3.0}}', _STRATEGIC),
        (
            "PUT",
            f"{_DEPLOYMENTS}/a/scale{_DRY}",
            '{"metadata":{"name":"a"},"spec":{"replicas":3.0}}',
        ),
    ],
    "nulls": _posted(
        _MAPS,
        '{"metadata":null}',
        '{"metadata":{"name":"a"},"data":null}',
        '{"metadata":{"name":"a"},"data":{"a":null}}',
        '{"metadata":{"name":"a","labels":null}}',
        '{"metadata":{"name":"a","labels":{"a":null}}}',
        '{"metadata":{"name":null}}',
        '{"kind":null,"apiVersion":null,"metadata":{"name":"a"}}',
        '{"metadata":{"name":"a"},"immutable":null}',
        "null",
    ),
    "values of other types": _posted(
        _MAPS,
        '{"metadata":{"name":"a"},"data":{"a":1}}',
        '{"metadata":{"name":"a"},"data":["a"]}',
        '{"metadata":{"name":1}}',
        '{"metadata":{"name":"a"},"immutable":"true"}',
        '{"metadata":{"name":"a"},"immutable":1}',
        '{"metadata":[]}',
        "[]",
        '"x"',
        '{"metadata":{"name":"a","creationTimestamp":"yesterday"}}',
        '{"metadata":{"name":"a","generation":"5"}}',
        '{"metadata":{"name":"a","generation":5.0}}',
    ),
    "names of fields in another case": _posted(
        _MAPS,
        '{"Metadata":{"name":"a"}}',
        '{"metadata":{"Name":"a"}}',
        '{"metadata":{"name":"a"},"DATA":{"a":"b"}}',
        '{"KIND":"ConfigMap","apiversion":"v1","metadata":{"name":"a"}}',
    ),
    "keys that occur twice": [
        *_posted(
            _MAPS,
            '{"metadata":{"name":"a","name":"b"}}',
            '{"metadata":{"name":"a"},"metadata":{"labels":{"x":"y"}}}',
            '{"metadata":{"name":"a"},"data":{"a":"1"},"data":{"b":"2"}}',
        ),
        *_posted(
            _PODS,
            '{"metadata":{"name":"c"},"spec":{"containers":[{"name":"x","image":"i"}],'
            '"containers":[{"name":"x"}]}}',
        ),
    ],
    "warnings beside an error": [
        ("POST", _MAPS, '{"metadata":{"name":"A"},"foo":1}'),
        ("POST", "/api/v1/namespaces/none-{ns}/configmaps", '{"metadata":{"name":"a"},"foo":1}'),
        ("PUT", f"{_MAPS}/z", '{"metadata":{"name":"z"},"foo":1}'),
        _MAP,
        ("POST", _MAPS, '{"metadata":{"name":"a"},"foo":1}'),
        ("PUT", f"{_MAPS}/a", '{"metadata":{"name":"a","resourceVersion":"1"},"foo":1}'),
        ("PATCH", f"{_MAPS}/a", {"foo": 1, "metadata": {"resourceVersion": "1"}}, _MERGE),
    ],
    "bodies that are no JSON": _posted(
        _MAPS,
        "   ",
        '{"metadata":{"name":"a"}} ',
        '{"metadata":{"name":"a"}}x',
        '{"metadata":{"name":"a"},}',
        "metadata:\n  name: a\n",
        '{"metadata":{"name":"a"}',
        '// c\n{"metadata":{"name":"a"}}',
    ),
    "bodies in YAML": _posted(
        _MAPS,
        "metadata:\n  name: a\n",
        '{"metadata":{"name":"a"}}',
        "metadata: {name: a}\ndata: {a: 1}\n",
        'metadata: {name: a}\ndata: {a: "yes"}\n---\nmetadata: {name: b}\n',
        "---\nmetadata: {name: a}\n",
        "metadata: {name: a}\nfoo: bar\n",
        "",
        "- a\n",
        "a: b: c\n",
        headers=_YAML,
    ),
    "options of a deletion": _deleted(
        *(None, "", "{}", '{"kind":"DeleteOptions"}'),
        '{"kind":"DeleteOptions","apiVersion":"meta.k8s.io/v1"}',
        '{"apiVersion":"apps/v1","kind":"DeleteOptions"}',
        '{"apiVersion":"v1","kind":"Status"}',
        *('{"gracePeriodSeconds":"0"}', '{"gracePeriodSeconds":1.5}', '{"foo":1}', "x", "[]"),
        *('{"orphanDependents":true}', '{"propagationPolicy":"x"}', '{"dryRun":["x"]}'),
        *('{"preconditions":{"uid":"x"}}', '{"preconditions":null}', '{"GracePeriodSeconds":0}'),
    ),
    "options of a list": [
        ("GET", f"{_MAPS}?{query}", None)
        for query in (
            *("limit=x", "limit=-1", "limit=1.0", "limit=", "timeoutSeconds=x", "timeout=bad"),
            *("timeout=5", "timeout=5s", "timeout=-1s", "timeout=1h30m", "timeout=0", "timeout="),
            *("pretty=x", "continue=x", "resourceVersion=x", "resourceVersionMatch=x"),
            *("labelSelector=!!", "fieldSelector=x", "fieldSelector=a=b", "foo=bar"),
            *("allowWatchBookmarks=x", "sendInitialEvents=x", "limit=1&limit=x"),
        )
    ],
    "options of a write": [
        ("POST", f"{_MAPS}?{query}", {"metadata": {"name": f"q{index}"}})
        for index, query in enumerate(
            (
                *("dryRun=x", "dryRun=", "dryRun=All&dryRun=x", "dryRun=all", "fieldManager="),
                *("fieldManager=%0a", f"fieldManager={'x' * 129}", "fieldValidation=x"),
                *("force=true", "timeout=bad", "timeout=5&dryRun=All"),
            )
        )
    ],
    "options of other requests": [
        ("POST", _MAPS, {"metadata": {"name": "g"}}),
        *(
            ("GET", f"{_MAPS}/g?{query}", None)
            for query in ("resourceVersion=x", "resourceVersion=0", "timeout=bad", "timeout=5")
        ),
        *(
            ("DELETE", f"{_MAPS}/g?{query}", None)
            for query in ("gracePeriodSeconds=x", "propagationPolicy=x", "dryRun=x", "timeout=bad")
        ),
        ("PATCH", f"{_MAPS}/g?force=x", "{}", _MERGE),
        ("PATCH", f"{_MAPS}/g?timeout=x", "{}", _MERGE),
    ],
    "a version on a new object": [
        ("POST", _MAPS, {"metadata": {"name": "a", "resourceVersion": "5"}}),
        ("POST", f"{_MAPS}{_DRY}", {"metadata": {"name": "a", "resourceVersion": "x"}}),
        ("POST", _MAPS, {"metadata": {"name": "a", "resourceVersion": "x"}}),
        ("POST", _MAPS, {"metadata": {"name": "b", "resourceVersion": "0"}}),
        ("POST", f"{_MAPS}{_DRY}", {"metadata": {"name": "a", "resourceVersion": "5"}}),
    ],
    "operations that add": _on_map(
        _operation("add", "/data/n", "1"),
        _operation("add", "/nope/a", "1"),
        _operation("add", "/metadata/annotations/a", "1"),
        _operation("add", "/data", None),
        _operation("add", "data/n", "1"),
        _operation("add", "/", "1"),
        _operation("add", "/data/a~1b", "1"),
        _operation("add", "/data/a~2b", "1"),
        _operation("add", "/data/n"),
        {"path": "/data/n", "value": "1"},
        {"op": "add", "value": "1"},
        _operation("ADD", "/data/n", "1"),
        {"op": 1, "path": "/data/n"},
        _operation("add", "/data/n", "1", extra=1),
    ),
    "operations that remove and replace": _on_map(
        *(_operation("remove", path) for path in ("/data/k", "/data/nope", "/nope", "/nope/a")),
        *(_operation("remove", path) for path in ("/metadata/labels/x~1y", "", "/data")),
        *(_operation("replace", path, "z") for path in ("/data/k", "/data/nope", "/nope")),
        _operation("replace", "/data", {"q": "r"}),
        _operation("replace", "", {"metadata": {"name": "a"}}),
        _operation("replace", "/data/k"),
    ),
    "operations that test, move and copy": _on_map(
        _operation("test", "/data/k", "v"),
        _operation("test", "/data/k", "x"),
        *(_operation("test", path, None) for path in ("/data/nope", "/nope", "/nope/a")),
        _operation("test", "/data/nope"),
        _operation("test", "/data", {"l": "w", "k": "v"}),
        *(
            {"op": op, "from": source, "path": "/data/m"}
            for op in ("move", "copy")
            for source in ("/data/k", "/data/nope")
        ),
        {"op": "copy", "path": "/data/m"},
        {"op": "move", "from": "/data", "path": "/data/x"},
        {"op": "move", "from": "/data/k", "path": "/data/k"},
    ),
    "operations on lists": _on_list(
        *(
            _operation("add", f"{_FINALIZERS}/{index}", "example.com/c")
            for index in ("-", "0", "2", "3", "-1", "-3", "-4", "01", "x", "+1")
        ),
        *(
            _operation("remove", f"{_FINALIZERS}/{index}")
            for index in ("-1", "-", "-2", "-3", "2", "x")
        ),
        *(
            _operation("replace", f"{_FINALIZERS}/{index}", "example.com/c")
            for index in ("-1", "-", "2")
        ),
        _operation("test", f"{_FINALIZERS}/-1", "example.com/b"),
        _operation("test", f"{_FINALIZERS}/5", None),
        _operation("add", "/spec/containers/0/env/-", {"name": "a"}),
        {"op": "copy", "from": f"{_FINALIZERS}/0", "path": f"{_FINALIZERS}/-"},
        {"op": "move", "from": f"{_FINALIZERS}/-1", "path": f"{_FINALIZERS}/0"},
    ),
    "bodies of JSON patches": _patched(
        _OPERATIONS,
        *("[]", "null", "{}", "x", "", "[null]", "[1]", "[[]]", '"x"', "[{}]"),
        '[{"op":"add","path":"/data/n","value":"1"}]x',
        '[{"op":"add","path":"/data/n","value":"1","value":"2"}]',
    ),
    "bodies of merge patches": _patched(
        _MERGE,
        *("{}", "null", "[]", "x", "", '"x"', '{"data":null}', '{"data":{"k":null,"n":"1"}}'),
        *('{"foo":1}', '{"data":{"n":"1","n":"2"}}'),
        *('{"apiVersion":null}', '{"kind":null}', '{"Data":{"n":"1"}}'),
    ),
    "bodies of strategic merge patches": _patched(
        _STRATEGIC,
        *("{}", "null", "[]", "x", "", '"x"', '{"data":null}', '{"data":{"k":null,"n":"1"}}'),
        *('{"foo":1}', '{"data":{"n":"1","n":"2"}}'),
        *('{"apiVersion":null}', '{"data":{"$patch":"replace","z":"1"}}', '{"$patch":"x"}'),
        *('{"kind":"x"}', '{"apiVersion":"x"}', '{"kind":"Pod"}', '{"kind":null}'),
    ),
    "bodies of an apply": [
        _MAP,
        *(
            ("PATCH", _APPLIED, body, _APPLY)
            for body in (
                *("{}", "null", "[]", "x", ""),
                '{"apiVersion":"v1","kind":"ConfigMap"}',
                '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":null}}',
                '{"apiVersion":"v1","kind":"ConfigMap","data":{"k":"1","k":"2"}}',
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\napiVersion: v1\n",
                '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"}}',
                '{"kind":"ConfigMap","metadata":{"name":"a"}}',
            )
        ),
    ],
}
