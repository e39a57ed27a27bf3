"""Custom objects: pruning, defaulting, validation and conversion, also after schema changes.

Every case defines its own kind, in a group with the namespace in its name.
"""

from __future__ import annotations

from typing import Any

__all__ = ["CASES"]

_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_CRD = f"{_CRDS}/things.{{ns}}.example.com"
_V1 = "/apis/{ns}.example.com/v1/namespaces/{ns}/things"
_V2 = "/apis/{ns}.example.com/v2/namespaces/{ns}/things"
_MERGE = {"Content-Type": "application/merge-patch+json"}
_JSON_PATCH = {"Content-Type": "application/json-patch+json"}
_APPLY = {"Content-Type": "application/apply-patch+yaml"}

_Step = tuple[Any, ...]


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _schema(spec: dict[str, Any], status: dict[str, Any] | None = None) -> dict[str, Any]:
    parts = {"spec": spec} if status is None else {"spec": spec, "status": status}
    return {"type": "object", "properties": parts}


def _version(
    schema: dict[str, Any], name: str = "v1", *, storage: bool = True, **more: Any
) -> dict[str, Any]:
    return {
        "name": name,
        "served": True,
        "storage": storage,
        "schema": {"openAPIV3Schema": schema},
        **more,
    }


def _definition(*versions: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.{ns}.example.com"},
        "spec": {
            "group": "{ns}.example.com",
            "names": {"plural": "things", "kind": "Thing"},
            "scope": "Namespaced",
            "versions": list(versions),
            **more,
        },
    }


def _thing(name: str = "a", version: str = "v1", **fields: Any) -> dict[str, Any]:
    return {
        "apiVersion": f"{{ns}}.example.com/{version}",
        "kind": "Thing",
        "metadata": {"name": name},
        **fields,
    }


def _installed(*versions: dict[str, Any], **more: Any) -> list[_Step]:
    """The steps that define the kind and wait until it is served."""
    waits = [
        ("WAIT", f"/apis/{{ns}}.example.com/{each['name']}/namespaces/{{ns}}/things", None)
        for each in versions
        if each["served"]
    ]
    return [("POST", f"{_CRDS}?fieldManager=a", _definition(*versions, **more)), *waits]


def _changed(*versions: dict[str, Any], until: _Step | None = None) -> list[_Step]:
    """The steps that change the versions of the kind, and wait until that has an effect."""
    patch = ("PATCH", f"{_CRD}?fieldManager=z", {"spec": {"versions": list(versions)}}, _MERGE)
    return [patch] if until is None else [patch, until]


_REMOVED: list[_Step] = [("DELETE", _CRD, None)]


def _case(*steps: _Step | list[_Step]) -> list[_Step]:
    """The steps in order, and the removal of the definition."""
    flat: list[_Step] = []
    for each in (*steps, _REMOVED):
        flat += each if isinstance(each, list) else [each]
    return flat


_SIZE = _object(size={"type": "integer"}, color={"type": "string"})
_COLOR = _object(color={"type": "string", "default": "red"})
_SUB: dict[str, Any] = {"subresources": {"status": {}}}
_OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def _values(schema: dict[str, Any], *values: Any) -> list[_Step]:
    """A kind with one field, and objects with these values of it."""
    installed = _installed(_version(_schema(_object(field=schema))))
    creates: list[_Step] = [
        ("POST", f"{_V1}?fieldManager=case", _thing(f"v{index}", spec={"field": value}))
        for index, value in enumerate(values)
    ]
    return _case(installed, creates, ("GET", _V1, None))


def _strings(form: str, *values: Any) -> list[_Step]:
    return _values({"type": "string", "format": form}, *values)


_READS: dict[str, list[_Step]] = {
    "a field that the schema loses": _case(
        _installed(_version(_schema(_SIZE))),
        ("POST", _V1, _thing(spec={"size": 3, "color": "blue"})),
        ("POST", _V1, _thing("b", spec={"size": 4})),
        _changed(
            _version(
                _schema(
                    _object(size={"type": "integer"}, done={"default": False, "type": "boolean"})
                )
            ),
            until=("WAIT", f"{_V1}/a", {"spec.done": False}),
        ),
        ("GET", f"{_V1}/a", None),
        ("GET", _V1, None),
        ("PATCH", f"{_V1}/a", {"metadata": {"labels": {"x": "y"}}}, _MERGE),
        _changed(
            _version(_schema(_SIZE)),
            until=("WAIT", f"{_V1}/b", {"spec.size": 4, "spec.done": None}),
        ),
        ("GET", f"{_V1}/a", None),
        ("GET", f"{_V1}/b", None),
    ),
    "a field that the schema gets back": _case(
        _installed(_version(_schema(_SIZE))),
        ("POST", _V1, _thing(spec={"size": 3, "color": "blue"})),
        _changed(
            _version(_schema(_object(size={"type": "integer"}))),
            until=("WAIT", f"{_V1}/a", {"spec.color": None}),
        ),
        ("GET", f"{_V1}/a", None),
        _changed(_version(_schema(_SIZE)), until=("WAIT", f"{_V1}/a", {"spec.color": "blue"})),
        ("GET", f"{_V1}/a", None),
    ),
    "an update without a change after a schema change": _case(
        _installed(_version(_schema(_SIZE))),
        ("POST", f"{_V1}?fieldManager=case", _thing(spec={"size": 3, "color": "blue"})),
        _changed(
            _version(_schema(_object(size={"type": "integer"}))),
            until=("WAIT", f"{_V1}/a", {"spec.color": None}),
        ),
        ("PATCH", f"{_V1}/a?fieldManager=case", {}, _MERGE),
        _changed(_version(_schema(_SIZE)), until=None),
        ("GET", f"{_V1}/a", None),
    ),
    "an apply after a schema change": _case(
        _installed(_version(_schema(_SIZE))),
        (
            "PATCH",
            f"{_V1}/a?fieldManager=case",
            _thing(spec={"size": 3, "color": "blue"}),
            _APPLY,
        ),
        _changed(
            _version(_schema(_object(size={"type": "integer"}))),
            until=("WAIT", f"{_V1}/a", {"spec.color": None}),
        ),
        ("GET", f"{_V1}/a", None),
        ("PATCH", f"{_V1}/a?fieldManager=case", _thing(spec={"size": 4}), _APPLY),
        ("PATCH", f"{_V1}/a?fieldManager=other", _thing(spec={"size": 5}), _APPLY),
        ("PATCH", f"{_V1}/a?fieldManager=case", _thing(spec={"color": "red"}), _APPLY),
    ),
    "a default that is added and changed": _case(
        _installed(_version(_schema(_SIZE))),
        ("POST", _V1, _thing(spec={"size": 3})),
        _changed(
            _version(
                _schema(
                    _object(size={"type": "integer"}, color={"type": "string", "default": "red"})
                )
            ),
            until=("WAIT", f"{_V1}/a", {"spec.color": "red"}),
        ),
        ("GET", f"{_V1}/a", None),
        _changed(
            _version(
                _schema(
                    _object(size={"type": "integer"}, color={"type": "string", "default": "blue"})
                )
            ),
            until=("WAIT", f"{_V1}/a", {"spec.color": "blue"}),
        ),
        ("GET", f"{_V1}/a", None),
        ("PATCH", f"{_V1}/a?fieldManager=case", {"spec": {"size": 4}}, _MERGE),
        _changed(
            _version(
                _schema(
                    _object(
                        size={"type": "integer", "default": 1},
                        color={"type": "string", "default": "red"},
                    )
                )
            ),
        ),
        ("GET", f"{_V1}/a", None),
    ),
    "a selectable field with a new default": _case(
        _installed(_version(_schema(_SIZE), selectableFields=[{"jsonPath": ".spec.color"}])),
        ("POST", _V1, _thing(spec={"size": 3})),
        ("POST", _V1, _thing("b", spec={"size": 3, "color": "blue"})),
        ("GET", f"{_V1}?fieldSelector=spec.color%3Dred", None),
        _changed(
            _version(_schema(_COLOR), selectableFields=[{"jsonPath": ".spec.color"}]),
            until=("WAIT", f"{_V1}/a", {"spec.color": "red"}),
        ),
        ("GET", f"{_V1}?fieldSelector=spec.color%3Dred", None),
        ("GET", f"{_V1}?fieldSelector=spec.size%3D3", None),
    ),
}

_V1_AND_V2 = (
    _version(_schema(_object(size={"type": "integer"}, one={"type": "string", "default": "1"}))),
    _version(
        _schema(_object(size={"type": "integer"}, two={"type": "string", "default": "2"})),
        "v2",
        storage=False,
    ),
)

_VERSIONS: dict[str, list[_Step]] = {
    "a create in the storage version, read in both": _case(
        _installed(*_V1_AND_V2),
        ("POST", f"{_V1}?fieldManager=case", _thing(spec={"size": 1, "one": "x", "two": "y"})),
        ("GET", f"{_V1}/a", None),
        ("GET", f"{_V2}/a", None),
        ("GET", _V2, None),
    ),
    "a create in another version": _case(
        _installed(*_V1_AND_V2),
        (
            "POST",
            f"{_V2}?fieldManager=case",
            _thing(version="v2", spec={"size": 1, "one": "x", "two": "y"}),
        ),
        ("GET", f"{_V1}/a", None),
        ("GET", f"{_V2}/a", None),
    ),
    "an update in another version": _case(
        _installed(*_V1_AND_V2),
        ("POST", f"{_V1}?fieldManager=case", _thing(spec={"size": 1, "one": "x"})),
        ("PATCH", f"{_V2}/a?fieldManager=case", {"spec": {"size": 2, "two": "t"}}, _MERGE),
        ("GET", f"{_V1}/a", None),
        ("PATCH", f"{_V2}/a?fieldManager=case", {"spec": {"size": 2}}, _MERGE),
        ("PATCH", f"{_V1}/a?fieldManager=case", {"spec": {"one": "z"}}, _MERGE),
        ("GET", f"{_V2}/a", None),
    ),
    "an apply in both versions": _case(
        _installed(_version(_schema(_SIZE)), _version(_schema(_SIZE), "v2", storage=False)),
        ("PATCH", f"{_V1}/a?fieldManager=case", _thing(spec={"size": 1}), _APPLY),
        (
            "PATCH",
            f"{_V2}/a?fieldManager=other",
            _thing(version="v2", spec={"size": 1, "color": "red"}),
            _APPLY,
        ),
        ("GET", f"{_V1}/a", None),
        (
            "PATCH",
            f"{_V2}/a?fieldManager=case&force=true",
            _thing(version="v2", spec={"size": 3}),
            _APPLY,
        ),
        ("PATCH", f"{_V1}/a?fieldManager=case", _thing(spec={"color": "blue"}), _APPLY),
        ("GET", f"{_V1}/a", None),
    ),
    "a dry run in another version": _case(
        _installed(*_V1_AND_V2),
        (
            "POST",
            f"{_V2}?fieldManager=case&dryRun=All",
            _thing(version="v2", spec={"size": 1, "two": "y"}),
        ),
        ("POST", f"{_V1}?fieldManager=case", _thing(spec={"size": 1, "one": "x"})),
        (
            "PATCH",
            f"{_V2}/a?fieldManager=case&dryRun=All",
            {"spec": {"size": 2, "two": "t"}},
            _MERGE,
        ),
    ),
    "another storage version": _case(
        _installed(*_V1_AND_V2),
        ("POST", f"{_V1}?fieldManager=case", _thing(spec={"size": 1, "one": "x"})),
        _changed(
            {**_V1_AND_V2[0], "storage": False},
            {**_V1_AND_V2[1], "storage": True},
            until=("WAIT", _CRD, {"status.storedVersions": ["v1", "v2"]}),
        ),
        ("GET", f"{_V1}/a", None),
        ("GET", f"{_V2}/a", None),
        ("POST", f"{_V2}?fieldManager=case", _thing("b", "v2", spec={"size": 1})),
        ("WAIT", f"{_V2}/b", {"spec.two": "2"}),
        ("GET", f"{_V1}/b", None),
        ("PATCH", f"{_V2}/a?fieldManager=case", {"metadata": {"labels": {"x": "y"}}}, _MERGE),
        ("GET", f"{_V1}/a", None),
        ("GET", f"{_V2}/a", None),
    ),
    "a status in another version": _case(
        _installed(
            _version(
                _schema(_object(one={"type": "string"}), _object(up={"type": "boolean"})), **_SUB
            ),
            _version(
                _schema(_object(two={"type": "string"}), _object(up={"type": "boolean"})),
                "v2",
                storage=False,
                **_SUB,
            ),
        ),
        ("POST", f"{_V1}?fieldManager=case", _thing(spec={"one": "x"}, status={"up": True})),
        ("PATCH", f"{_V2}/a/status?fieldManager=case", {"status": {"up": True}}, _MERGE),
        ("GET", f"{_V1}/a", None),
        ("GET", f"{_V2}/a/status", None),
    ),
    "a version that is not served": _case(
        _installed(_V1_AND_V2[0], {**_V1_AND_V2[1], "served": False}),
        ("POST", f"{_V1}?fieldManager=case", _thing(spec={"size": 1})),
        ("GET", f"{_V2}/a", None),
    ),
    "a deprecated version": _case(
        _installed(
            {**_V1_AND_V2[0], "deprecated": True},
            {**_V1_AND_V2[1], "deprecated": True, "deprecationWarning": "old"},
        ),
        ("POST", f"{_V1}?fieldManager=case", _thing(spec={"size": 1})),
        ("GET", f"{_V1}/a", None),
        ("GET", f"{_V2}/a", None),
    ),
    "a field selector in another version": _case(
        _installed(
            _version(_schema(_SIZE), selectableFields=[{"jsonPath": ".spec.color"}]),
            _version(
                _schema(_object(size={"type": "integer"})),
                "v2",
                storage=False,
                selectableFields=[{"jsonPath": ".spec.size"}],
            ),
        ),
        ("POST", f"{_V1}?fieldManager=case", _thing(spec={"size": 1, "color": "red"})),
        ("GET", f"{_V1}?fieldSelector=spec.color%3Dred", None),
        ("GET", f"{_V2}?fieldSelector=spec.size%3D1", None),
        ("GET", f"{_V2}?fieldSelector=spec.color%3Dred", None),
    ),
}

_PRUNING: dict[str, list[_Step]] = {
    "unknown fields with each validation": _case(
        _installed(_version(_schema(_SIZE))),
        ("POST", f"{_V1}?fieldManager=case", _thing(spec={"size": 1, "x": 1}, extra=1)),
        (
            "POST",
            f"{_V1}?fieldManager=case&fieldValidation=Strict",
            _thing("b", spec={"size": 1, "x": 1}, extra=1),
        ),
        (
            "POST",
            f"{_V1}?fieldManager=case&fieldValidation=Ignore",
            _thing("c", spec={"size": 1, "x": 1}, extra=1),
        ),
        (
            "POST",
            f"{_V1}?fieldManager=case&fieldValidation=Warn",
            {
                **_thing(spec={"size": 1}),
                "metadata": {"name": "d", "foo": 1, "ownerReferences": [], "labels": None},
            },
        ),
        ("PATCH", f"{_V1}/a?fieldValidation=Warn", {"spec": {"y": 1}}, _MERGE),
    ),
    "fields that are preserved": _case(
        _installed(
            _version(
                _schema(
                    _object(
                        open={**_OPEN, "properties": {"known": _SIZE}},
                        list={"type": "array", "items": _OPEN},
                        map={"type": "object", "additionalProperties": _SIZE},
                        any={"x-kubernetes-preserve-unknown-fields": True},
                    )
                )
            )
        ),
        (
            "POST",
            f"{_V1}?fieldManager=case",
            _thing(
                spec={
                    "open": {"a": {"b": 1}, "known": {"size": 1, "x": 2}},
                    "list": [{"a": 1}],
                    "map": {"k": {"size": 1, "x": 2}},
                    "any": [1, "x", {"y": None}],
                }
            ),
        ),
        ("POST", f"{_V1}?fieldManager=case", _thing("b", spec={"any": 1})),
        ("POST", f"{_V1}?fieldManager=case", _thing("c", spec={"any": None, "open": None})),
        ("GET", f"{_V1}/a", None),
    ),
    "a schema without fields": _case(
        _installed(_version({"type": "object"})),
        ("POST", f"{_V1}?fieldManager=case", _thing(spec={"a": 1})),
        ("GET", f"{_V1}/a", None),
    ),
    "a schema that preserves everything": _case(
        _installed(_version(_OPEN)),
        ("POST", f"{_V1}?fieldManager=case", _thing(spec={"a": None, "b": [None]}, top=1.5)),
        ("GET", f"{_V1}/a", None),
        ("PATCH", f"{_V1}/a?fieldManager=case", {"spec": {"c": {}}, "top": None}, _MERGE),
    ),
    "an embedded resource": _case(
        _installed(
            _version(
                _schema(
                    _object(
                        pod={**_OPEN, "x-kubernetes-embedded-resource": True},
                        strict={
                            "type": "object",
                            "x-kubernetes-embedded-resource": True,
                            "properties": {"spec": _SIZE, "metadata": {"type": "object"}},
                        },
                    )
                )
            )
        ),
        (
            "POST",
            f"{_V1}?fieldManager=case",
            _thing(
                spec={
                    "pod": {
                        "apiVersion": "v1",
                        "kind": "Pod",
                        "spec": {"x": 1},
                        "metadata": {"name": "a", "x": 1},
                    },
                    "strict": {
                        "apiVersion": "x/v1",
                        "kind": "X",
                        "metadata": {"name": "a", "labels": {"a": "b"}, "creationTimestamp": None},
                        "spec": {"size": 1, "x": 2},
                        "y": 1,
                    },
                }
            ),
        ),
        ("POST", f"{_V1}?fieldManager=case", _thing("b", spec={"pod": {"kind": "Pod"}})),
        (
            "POST",
            f"{_V1}?fieldManager=case",
            _thing(
                "c",
                spec={"pod": {"apiVersion": "a/b/c", "kind": "Po d", "metadata": {"name": "A_"}}},
            ),
        ),
        (
            "POST",
            f"{_V1}?fieldManager=case",
            _thing("d", spec={"pod": {"apiVersion": 1, "kind": "Pod"}}),
        ),
        (
            "POST",
            f"{_V1}?fieldManager=case",
            _thing(
                "e",
                spec={"pod": {"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": {"a": 1}}}},
            ),
        ),
        (
            "POST",
            f"{_V1}?fieldManager=case",
            _thing(
                "f",
                spec={
                    "pod": {
                        "apiVersion": "v1",
                        "kind": "Pod",
                        "metadata": {"labels": {"a b": "?"}, "generateName": "X_"},
                    }
                },
            ),
        ),
        ("GET", _V1, None),
    ),
    "metadata of every kind": _case(
        _installed(_version(_schema(_SIZE))),
        (
            "POST",
            f"{_V1}?fieldManager=case",
            {
                **_thing(),
                "metadata": {
                    "name": "a",
                    "labels": {"a": "b"},
                    "annotations": {"c": "d"},
                    "finalizers": ["example.com/x"],
                    "generation": 7,
                    "uid": "x",
                    "selfLink": "x",
                    "creationTimestamp": "2020-01-01T00:00:00Z",
                    "deletionGracePeriodSeconds": 3,
                },
            },
        ),
        ("PATCH", f"{_V1}/a?fieldManager=case", {"metadata": {"generation": 9}}, _MERGE),
        ("PATCH", f"{_V1}/a?fieldManager=case", {"metadata": {"finalizers": []}}, _MERGE),
        ("POST", _V1, {**_thing(), "metadata": {"name": "b", "labels": {"a": 1}}}),
        ("POST", _V1, {**_thing(), "metadata": {"name": "B_"}}),
        ("POST", _V1, {**_thing(), "metadata": {"name": "c", "labels": {"a b": "c d"}}}),
        ("POST", _V1, {**_thing(), "metadata": {}}),
        ("POST", _V1, {**_thing(), "metadata": None}),
    ),
    "a spec of another type": _case(
        _installed(_version(_schema(_SIZE))),
        ("POST", _V1, _thing(spec=1)),
        ("POST", _V1, _thing("b", spec=[])),
        ("POST", _V1, _thing("c", spec=None)),
        ("POST", _V1, _thing("d", spec={})),
        ("POST", _V1, _thing("e")),
        ("POST", _V1, {"kind": "Thing", "metadata": {"name": "f"}}),
        ("POST", _V1, {"apiVersion": "{ns}.example.com/v1", "metadata": {"name": "f"}}),
        ("POST", _V1, {**_thing("g"), "kind": "Other"}),
        ("POST", _V1, {**_thing("h"), "apiVersion": "{ns}.example.com/v3"}),
        ("POST", _V1, [1]),
    ),
}

_DEFAULTS: dict[str, list[_Step]] = {
    "nested defaults": _case(
        _installed(
            _version(
                _schema(
                    {
                        **_object(
                            a={**_object(b={"type": "string", "default": "x"}), "default": {}},
                            c=_object(d={"type": "integer", "default": 5}),
                            list={"type": "array", "items": _COLOR},
                            map={"type": "object", "additionalProperties": _COLOR},
                            flag={"type": "boolean", "default": False},
                            none={"type": "string", "nullable": True, "default": "n"},
                            some={"type": "string", "default": "s"},
                            numbers={
                                "type": "array",
                                "items": {"type": "integer"},
                                "default": [1, 2],
                            },
                        ),
                        "default": {"flag": True},
                    }
                )
            )
        ),
        ("POST", f"{_V1}?fieldManager=case", _thing()),
        (
            "POST",
            f"{_V1}?fieldManager=case",
            _thing("b", spec={"c": {}, "list": [{}, {"color": "b"}], "map": {"k": {}}}),
        ),
        (
            "POST",
            f"{_V1}?fieldManager=case",
            _thing("c", spec={"none": None, "some": None, "a": None, "list": None}),
        ),
        ("PATCH", f"{_V1}/b?fieldManager=case", {"spec": {"flag": None, "numbers": None}}, _MERGE),
        ("PATCH", f"{_V1}/d?fieldManager=case", _thing("d", spec={"c": {}}), _APPLY),
    ),
    "nulls": _case(
        _installed(
            _version(
                _schema(
                    _object(
                        a={"type": "string", "nullable": True},
                        b={"type": "string"},
                        c={"type": "array", "items": {"type": "string"}},
                        d={"type": "array", "items": {"type": "string", "nullable": True}},
                        e={"type": "object", "additionalProperties": {"type": "string"}},
                        f={
                            "type": "object",
                            "additionalProperties": {"type": "string", "nullable": True},
                        },
                        g={
                            "type": "object",
                            "nullable": True,
                            "properties": {"x": {"type": "string", "default": "y"}},
                        },
                        h={"type": "string", "nullable": True, "enum": ["x"]},
                    )
                )
            )
        ),
        (
            "POST",
            f"{_V1}?fieldManager=case",
            _thing(
                "a",
                spec={
                    "a": None,
                    "b": None,
                    "d": [None],
                    "e": {"k": None},
                    "f": {"k": None},
                    "g": None,
                },
            ),
        ),
        ("POST", f"{_V1}?fieldManager=case", _thing("b", spec={"c": [None]})),
        ("POST", f"{_V1}?fieldManager=case", _thing("c", spec={"h": None})),
        (
            "PUT",
            f"{_V1}/a?fieldManager=case",
            {**_thing("a", spec={"a": None}), "metadata": {"name": "a"}},
        ),
    ),
}

_LIMITS: dict[str, list[_Step]] = {
    "numbers of every size": _values(
        {"type": "integer"},
        1,
        1.0,
        1.5,
        9223372036854775807,
        -9223372036854775808,
        "1",
        True,
        None,
        1e3,
        1e19,
    ),
    "numbers with a format": _case(
        _installed(
            _version(
                _schema(
                    _object(
                        i={"type": "integer", "format": "int32"},
                        l={"type": "integer", "format": "int64"},
                        f={"type": "number", "format": "float"},
                        d={"type": "number", "format": "double"},
                    )
                )
            )
        ),
        (
            "POST",
            f"{_V1}?fieldManager=case",
            _thing("a", spec={"i": 2147483647, "l": 5, "f": 1.5, "d": 1}),
        ),
        ("POST", f"{_V1}?fieldManager=case", _thing("b", spec={"i": 2147483648})),
        ("POST", f"{_V1}?fieldManager=case", _thing("c", spec={"f": 1e39})),
        ("POST", f"{_V1}?fieldManager=case", _thing("d", spec={"d": 1e300, "i": -1})),
        ("POST", f"{_V1}?fieldManager=case", _thing("e", spec={"i": 1.0, "d": 1.0})),
    ),
    "limits of numbers": _values(
        {"type": "number", "minimum": 1, "maximum": 10.5, "exclusiveMaximum": True},
        1,
        0.99,
        10.5,
        10.4,
        -5,
    ),
    "multiples": _values({"type": "number", "multipleOf": 0.1}, 0.3, 0.35, 1, 1.1, 100000.1),
    "multiples of integers": _values({"type": "integer", "multipleOf": 3}, 0, 3, 4, -6),
    "lengths in characters": _values(
        {"type": "string", "minLength": 2, "maxLength": 4},
        "a",
        "ab",
        "äöüß",
        "äöüßx",
        "日本",
        "😀",
        "😀😀😀😀😀",
    ),
    "patterns": _values({"type": "string", "pattern": "^[a-z]+$"}, "abc", "abc\n", "ABC", "", "ä"),
    "a pattern with Go's syntax": _values(
        {"type": "string", "pattern": "(?i)^\\pL+\\z"}, "abc", "ÄÖ", "a1"
    ),
    "a pattern with classes": _values(
        {"type": "string", "pattern": "^[[:alpha:]\\d]+(?P<x>-[^[:space:]]*)?$"},
        "a1",
        "a-b",
        "a b",
        "é",
    ),
    "enums": _values({"type": "string", "enum": ["a", "b"]}, "a", "c", "", None),
    "enums of numbers": _values({"type": "integer", "enum": [1, 2]}, 1, 3, 1.0),
    "integers or strings": _values(
        {"x-kubernetes-int-or-string": True}, 1, "1", 1.5, True, None, {}
    ),
    "integers or strings with alternatives": _values(
        {
            "x-kubernetes-int-or-string": True,
            "anyOf": [{"type": "integer"}, {"type": "string"}],
            "pattern": "^[0-9]+%?$",
        },
        1,
        "50%",
        "x",
        1.5,
    ),
    "sizes of lists": _values(
        {"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "integer"}},
        [],
        [1],
        [1, 2, 3],
        [1, "x"],
        {},
    ),
    "sizes of maps": _values(
        {
            "type": "object",
            "minProperties": 1,
            "maxProperties": 2,
            "additionalProperties": {"type": "integer"},
        },
        {},
        {"a": 1},
        {"a": 1, "b": 2, "c": 3},
        {"a": "x"},
        [],
    ),
    "required fields": _values(
        {**_object(a={"type": "string"}, b=_SIZE), "required": ["a", "b"]},
        {},
        {"a": ""},
        {"a": "x", "b": {}},
        {"a": None, "b": {}},
    ),
    "sets": _values(
        {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        ["a", "b"],
        ["a", "a"],
        ["a", "a", "a"],
        [],
    ),
    "maps by keys": _values(
        {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name", "port"],
            "items": {
                **_object(name={"type": "string"}, port={"type": "integer", "default": 80}),
                "required": ["name"],
            },
        },
        [{"name": "a"}, {"name": "b"}],
        [{"name": "a"}, {"name": "a", "port": 80}],
        [{"name": "a"}, {"name": "a", "port": 81}],
        [{"port": 1}, {"port": 1}],
    ),
    "all of, any of, one of, not": _values(
        {
            **_object(a={"type": "string"}, b={"type": "integer"}),
            "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
            "not": {"properties": {"a": {"enum": ["bad"]}}, "required": ["a"]},
        },
        {"a": "x"},
        {"b": 1},
        {},
        {"a": "x", "b": 1},
        {"a": "bad"},
    ),
    "any of": _values(
        {"type": "string", "anyOf": [{"pattern": "^a"}, {"maxLength": 2}]}, "abc", "xy", "xyz"
    ),
    "all of": _values(
        {"type": "string", "allOf": [{"pattern": "^a"}, {"maxLength": 2}]}, "ab", "abc", "xyz"
    ),
    "ratcheting": _case(
        _installed(
            _version(
                _schema(
                    _object(
                        a={"type": "string"},
                        b={"type": "string"},
                        list={"type": "array", "items": {"type": "string"}},
                        map={"type": "object", "additionalProperties": {"type": "string"}},
                    )
                )
            )
        ),
        (
            "POST",
            _V1,
            _thing(spec={"a": "long", "b": "long", "list": ["long", "x"], "map": {"k": "long"}}),
        ),
        _changed(
            _version(
                _schema(
                    {
                        **_object(
                            a={"type": "string", "maxLength": 2},
                            b={"type": "string"},
                            c={"type": "string", "default": "c"},
                            list={"type": "array", "items": {"type": "string", "maxLength": 2}},
                            map={
                                "type": "object",
                                "additionalProperties": {"type": "string", "maxLength": 2},
                            },
                        ),
                        "required": ["d"],
                    }
                )
            ),
            until=("WAIT", f"{_V1}/a", {"spec.c": "c"}),
        ),
        ("PATCH", f"{_V1}/a?fieldManager=case", {"metadata": {"labels": {"a": "b"}}}, _MERGE),
        ("PATCH", f"{_V1}/a?fieldManager=case", {"spec": {"b": "other"}}, _MERGE),
        ("PATCH", f"{_V1}/a?fieldManager=case", {"spec": {"map": {"j": "x"}}}, _MERGE),
        ("PATCH", f"{_V1}/a?fieldManager=case", {"spec": {"list": ["long", "y"]}}, _MERGE),
        ("PATCH", f"{_V1}/a?fieldManager=case", {"spec": {"a": "longer"}}, _MERGE),
        ("PATCH", f"{_V1}/a?fieldManager=case", {"spec": {"a": "ok"}}, _MERGE),
    ),
    "a closed object": _values({"type": "object", "additionalProperties": False}, {}, {"a": 1}),
    "maps of anything": _values(
        {"type": "object", "additionalProperties": True}, {}, {"a": {"b": [1]}}
    ),
    "lists of lists": _values(
        {"type": "array", "items": {"type": "array", "items": _SIZE}},
        [[{"size": 1, "x": 1}]],
        [[1]],
        [[]],
    ),
    "texts": _values({"type": "string"}, "ä\u2028<>&", "\u0000", "\ud83d\ude00", 1, True, [], {}),
    "booleans": _values({"type": "boolean"}, True, "true", 0, None),
    "numbers": _values(
        {"type": "number"},
        1,
        1.0,
        1.5,
        1e100,
        -0.0,
        0.1,
        1e21,
        123456789.125,
        "1",
        100000000000000000000,
    ),
}

_FORMATS: dict[str, list[_Step]] = {
    "dates": _strings("date", "2020-02-29", "2021-02-29", "2020-1-1", ""),
    "times": _strings(
        "date-time",
        "2020-01-01T00:00:00Z",
        "2020-01-01T00:00:00.123+01:00",
        "2020-01-01",
        "2020-01-01 00:00:00Z",
        "2020-01-01t00:00:00z",
        "2020-01-01T24:00:00Z",
    ),
    "bytes": _strings("byte", "YQ==", "YQ", "a-b_", "", "YQ==\n", "é"),
    "addresses of version 4": _strings(
        "ipv4", "1.2.3.4", "1.2.3.256", "01.2.3.4", "::1", "::ffff:1.2.3.4"
    ),
    "addresses of version 6": _strings(
        "ipv6", "::1", "1.2.3.4", "fe80::1%eth0", "::ffff:1.2.3.4", "g::"
    ),
    "CIDRs": _strings("cidr", "10.0.0.0/8", "10.0.0.1/8", "::/0", "10.0.0.0", "10.0.0.0/33"),
    "UUIDs": _strings(
        "uuid", "123e4567-e89b-12d3-a456-426614174000", "123E4567E89B12D3A456426614174000", "x"
    ),
    "UUIDs of version 4": _strings(
        "uuid4", "123e4567-e89b-42d3-a456-426614174000", "123e4567-e89b-12d3-a456-426614174000"
    ),
    "durations": _strings(
        "duration", "1h", "1.5h", "1 day", "3 weeks", "1h30m", "", "x", "1", "-1s"
    ),
    "emails": _strings("email", "a@b.c", "a", "A B <a@b.c>", "a@b"),
    "host names": _strings("hostname", "a.b", "a_b", "-a", "a.b.", "1.2.3.4", ""),
    "URIs": _strings("uri", "http://a/b", "/a", "a", "a b", "mailto:x@y", "//a"),
    "MAC addresses": _strings(
        "mac",
        "01:23:45:67:89:ab",
        "01-23-45-67-89-ab",
        "0123.4567.89ab",
        "x",
        "01:23:45:67:89:AB:cd:ef",
    ),
    "colors": _strings("hexcolor", "#fff", "#FFFFFF", "fff", "#ffff"),
    "colors in RGB": _strings("rgbcolor", "rgb(1,2,3)", "rgb(1, 2, 3)", "rgb(256,0,0)"),
    "book numbers": _strings("isbn", "978-3-16-148410-0", "3161484100", "x"),
    "card numbers": _strings("creditcard", "4111111111111111", "4111-1111-1111-1111", "1"),
    "social security numbers": _strings("ssn", "111-11-1111", "111 11 1111", "1"),
    "object ids": _strings("bsonobjectid", "507f1f77bcf86cd799439011", "507f"),
    "passwords": _strings("password", "x", ""),
    "short names of Kubernetes": _strings("k8s-short-name", "a-b", "A", "a.b", ""),
    "long names of Kubernetes": _strings("k8s-long-name", "a.b", "A", "a_b", ""),
    "an unknown format": _strings("colour", "x"),
}

_STATUS: dict[str, list[_Step]] = {
    "a status with a subresource": _case(
        _installed(
            _version(
                _schema(
                    _SIZE, _object(up={"type": "boolean"}, n={"type": "integer", "default": 3})
                ),
                **_SUB,
            )
        ),
        ("POST", f"{_V1}?fieldManager=m1", _thing(spec={"size": 1}, status={"up": True})),
        (
            "PATCH",
            f"{_V1}/a/status?fieldManager=m2",
            {
                "metadata": {
                    "labels": {"x": "y"},
                    "annotations": {"x": "y"},
                    "finalizers": ["example.com/x"],
                    "ownerReferences": [
                        {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u"}
                    ],
                },
                "spec": {"size": 2},
                "status": {"up": True},
            },
            _MERGE,
        ),
        ("GET", f"{_V1}/a/status", None),
        (
            "PATCH",
            f"{_V1}/a?fieldManager=m3",
            {"spec": {"size": 3}, "status": {"up": False}},
            _MERGE,
        ),
        ("PATCH", f"{_V1}/a/status?fieldManager=m4", {"status": {"up": "x"}}, _MERGE),
        ("PATCH", f"{_V1}/a/status?fieldManager=m5", {"status": None}, _MERGE),
        ("PATCH", f"{_V1}/a/status?fieldManager=m6", {"spec": {"size": "x"}}, _MERGE),
        ("PUT", f"{_V1}/a/status?fieldManager=m7", _thing(spec={"size": 9}, status={"up": True})),
        ("PATCH", f"{_V1}/a/status?fieldManager=t", _thing(status={"up": True}), _APPLY),
        ("DELETE", f"{_V1}/a/status", None),
    ),
    "a status without a subresource": _case(
        _installed(_version(_schema(_SIZE, _object(up={"type": "boolean"})))),
        ("POST", f"{_V1}?fieldManager=case", _thing(spec={"size": 1}, status={"up": True})),
        ("PATCH", f"{_V1}/a?fieldManager=case", {"status": {"up": False}}, _MERGE),
        ("PATCH", f"{_V1}/a/status?fieldManager=s", {"status": {"up": True}}, _MERGE),
        ("GET", f"{_V1}/a/status", None),
        ("GET", f"{_V1}/a/scale", None),
    ),
    "a required status": _case(
        _installed(
            _version(
                {**_schema(_SIZE, _object(up={"type": "boolean"})), "required": ["status", "spec"]},
                **_SUB,
            )
        ),
        ("POST", f"{_V1}?fieldManager=case", _thing(spec={"size": 1}, status={"up": True})),
        ("POST", f"{_V1}?fieldManager=case", _thing("b")),
    ),
    "a scale": _case(
        _installed(
            _version(
                _schema(
                    _object(replicas={"type": "integer"}, selector={"type": "string"}),
                    _object(replicas={"type": "integer"}, selector={"type": "string"}),
                ),
                subresources={
                    "status": {},
                    "scale": {
                        "specReplicasPath": ".spec.replicas",
                        "statusReplicasPath": ".status.replicas",
                        "labelSelectorPath": ".status.selector",
                    },
                },
            )
        ),
        ("POST", f"{_V1}?fieldManager=case", _thing()),
        ("GET", f"{_V1}/a/scale", None),
        ("PATCH", f"{_V1}/a/scale?fieldManager=x", {"spec": {"replicas": 3}}, _MERGE),
        ("GET", f"{_V1}/a", None),
        (
            "PATCH",
            f"{_V1}/a/status?fieldManager=x",
            {"status": {"replicas": 2, "selector": "a=b"}},
            _MERGE,
        ),
        ("GET", f"{_V1}/a/scale", None),
        ("PATCH", f"{_V1}/a/scale?fieldManager=x", {"spec": {"replicas": -1}}, _MERGE),
        (
            "PATCH",
            f"{_V1}/a/scale?fieldManager=x",
            {"metadata": {"labels": {"a": "b"}}, "status": {"replicas": 5}},
            _MERGE,
        ),
        (
            "PUT",
            f"{_V1}/a/scale?fieldManager=x",
            {
                "kind": "Scale",
                "apiVersion": "autoscaling/v1",
                "metadata": {"name": "a"},
                "spec": {"replicas": 4},
            },
        ),
        (
            "PUT",
            f"{_V1}/a/scale?fieldManager=x",
            {
                "kind": "Scale",
                "apiVersion": "autoscaling/v1",
                "metadata": {"name": "b"},
                "spec": {"replicas": 4},
            },
        ),
        (
            "PUT",
            f"{_V1}/a/scale?fieldManager=x",
            {
                "kind": "Scale",
                "apiVersion": "autoscaling/v1",
                "metadata": {"name": "a", "namespace": "{ns}"},
                "spec": {},
            },
        ),
        ("POST", f"{_V1}?fieldManager=case", _thing("b", spec={"replicas": -1})),
        ("POST", f"{_V1}?fieldManager=case", _thing("c", spec={"replicas": 3000000000})),
        ("GET", f"{_V1}/none/scale", None),
    ),
    "a scale without a selector": _case(
        _installed(
            _version(
                _schema(_object(size=_object(n={"type": "integer"})), _OPEN),
                subresources={
                    "scale": {
                        "specReplicasPath": ".spec.size.n",
                        "statusReplicasPath": ".status.n",
                    },
                },
            )
        ),
        ("POST", f"{_V1}?fieldManager=case", _thing(status={"n": 4})),
        ("GET", f"{_V1}/a/scale", None),
        ("PATCH", f"{_V1}/a/scale?fieldManager=x", {"spec": {"replicas": 3}}, _MERGE),
        ("POST", f"{_V1}?fieldManager=case", _thing("b", status={"n": "x"})),
    ),
    "generations": _case(
        _installed(_version(_OPEN, **_SUB)),
        ("POST", f"{_V1}?fieldManager=case", _thing(spec={"size": 1})),
        ("PATCH", f"{_V1}/a?fieldManager=case", {"metadata": {"labels": {"a": "b"}}}, _MERGE),
        ("PATCH", f"{_V1}/a?fieldManager=case", {"extra": 1}, _MERGE),
        ("PATCH", f"{_V1}/a?fieldManager=case", {"spec": {"size": 2}}, _MERGE),
        ("PATCH", f"{_V1}/a/status?fieldManager=case", {"status": {"size": 2}}, _MERGE),
        (
            "PATCH",
            f"{_V1}/a?fieldManager=case",
            {"metadata": {"finalizers": ["example.com/a"]}},
            _MERGE,
        ),
        ("DELETE", f"{_V1}/a", None),
        ("PATCH", f"{_V1}/a?fieldManager=case", {"spec": {"size": 3}}, _MERGE),
        ("PATCH", f"{_V1}/a?fieldManager=case", {"metadata": {"finalizers": None}}, _MERGE),
        ("GET", f"{_V1}/a", None),
    ),
    "generations without the subresource": _case(
        _installed(_version(_OPEN)),
        ("POST", f"{_V1}?fieldManager=case", _thing(spec={"size": 1})),
        ("PATCH", f"{_V1}/a?fieldManager=case", {"status": {"size": 2}}, _MERGE),
        ("PATCH", f"{_V1}/a?fieldManager=case", {"metadata": {"annotations": {"a": "b"}}}, _MERGE),
        ("PATCH", f"{_V1}/a?fieldManager=case", {"other": {"a": "b"}}, _MERGE),
    ),
}

_READY = {
    "type": "object",
    "default": {"conditions": [{"type": "Ready", "status": "Unknown"}]},
    "properties": {
        "phase": {"type": "string", "default": "New"},
        "conditions": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["type"],
            "items": {
                **_object(type={"type": "string"}, status={"type": "string"}),
                "required": ["type"],
            },
        },
    },
}


def _written_with_default(**more: Any) -> list[_Step]:
    """Writes of objects whose status has a default, and reads of them."""
    sent = {"conditions": [{"type": "Ready", "status": "True"}]}
    return _case(
        _installed(_version(_schema(_SIZE, _READY), **more)),
        ("POST", f"{_V1}?fieldManager=m1&dryRun=All", _thing(spec={"size": 1})),
        ("POST", f"{_V1}?fieldManager=m1", _thing(spec={"size": 1})),
        ("GET", f"{_V1}/a", None),
        ("POST", f"{_V1}?fieldManager=m1", _thing("b", status=sent)),
        ("POST", f"{_V1}?fieldManager=m1", _thing("c", status=None)),
        ("POST", f"{_V1}?fieldManager=m1", _thing("d", status={})),
        ("PATCH", f"{_V1}/e?fieldManager=m2", _thing("e", spec={"size": 1}), _APPLY),
        ("PATCH", f"{_V1}/f?fieldManager=m2", _thing("f", status=sent), _APPLY),
        ("PATCH", f"{_V1}/g?fieldManager=m2", _thing("g", status=None), _APPLY),
        ("PATCH", f"{_V1}/h?fieldManager=m2", _thing("h", status={}), _APPLY),
        ("PATCH", f"{_V1}/a?fieldManager=m3", {"spec": {"size": 2}}, _MERGE),
        ("PATCH", f"{_V1}/a?fieldManager=m3", {"status": None}, _MERGE),
        ("PATCH", f"{_V1}/a?fieldManager=m3", {"status": {}}, _MERGE),
        ("PATCH", f"{_V1}/a/status?fieldManager=m4", {"status": {"phase": "Old"}}, _MERGE),
        ("PATCH", f"{_V1}/a/status?fieldManager=m4", {"status": None}, _MERGE),
        ("PATCH", f"{_V1}/a/status?fieldManager=m4", {"status": {"conditions": None}}, _MERGE),
        ("PUT", f"{_V1}/a/status?fieldManager=m5", _thing()),
        ("PUT", f"{_V1}/a?fieldManager=m5", _thing()),
        ("PUT", f"{_V1}/a?fieldManager=m5", _thing(status=None)),
        ("PATCH", f"{_V1}/a/status?fieldManager=m6", _thing(status=sent), _APPLY),
        ("PATCH", f"{_V1}/a/status?fieldManager=m6", _thing(), _APPLY),
        ("GET", _V1, None),
        ("DELETE", f"{_V1}/a", None),
    )


_STATUS_DEFAULTS: dict[str, list[_Step]] = {
    "a default of the status with a subresource": _written_with_default(**_SUB),
    "a default of the status without a subresource": _written_with_default(),
    "a default of the status of objects that exist": _case(
        _installed(_version(_schema(_SIZE, _OPEN), **_SUB)),
        ("POST", f"{_V1}?fieldManager=m1", _thing(spec={"size": 1})),
        _changed(
            _version(_schema(_SIZE, _READY), **_SUB),
            until=("WAIT", f"{_V1}/a", {"status.phase": "New"}),
        ),
        ("GET", f"{_V1}/a", None),
        ("GET", _V1, None),
        ("PATCH", f"{_V1}/a?fieldManager=m2", {"spec": {"size": 2}}, _MERGE),
        ("PATCH", f"{_V1}/a?fieldManager=m2", _thing(spec={"size": 2}), _APPLY),
    ),
    "a default of the status in another version": _case(
        _installed(
            _version(_schema(_SIZE, _READY), **_SUB),
            _version(_schema(_SIZE, _OPEN), "v2", storage=False, **_SUB),
        ),
        ("POST", f"{_V2}?fieldManager=m1", _thing("a", "v2", spec={"size": 1})),
        ("POST", f"{_V1}?fieldManager=m1", _thing("b", spec={"size": 1})),
        ("GET", f"{_V2}/b", None),
        ("GET", f"{_V1}/a", None),
    ),
    "a default of the status in the version that is not stored": _case(
        _installed(
            _version(_schema(_SIZE, _OPEN), **_SUB),
            _version(_schema(_SIZE, _READY), "v2", storage=False, **_SUB),
        ),
        ("POST", f"{_V2}?fieldManager=m1", _thing("a", "v2", spec={"size": 1})),
        ("GET", f"{_V2}/a", None),
        ("GET", f"{_V1}/a", None),
        ("PATCH", f"{_V2}/a?fieldManager=m1", {"spec": {"size": 2}}, _MERGE),
    ),
}

_PATTERNS: dict[str, list[_Step]] = {
    "a pattern with nested repetitions": _values(
        {"type": "string", "pattern": "^(a+)+$"}, "aaa", f"{'a' * 60}!", "a" * 60
    ),
    "a pattern with equal alternatives": _values(
        {"type": "string", "pattern": "^(a|a)*$"}, "aaa", f"{'a' * 60}!"
    ),
    "a pattern with a large repetition": _values(
        {"type": "string", "pattern": "^(\\pL{1,500}){2}$"}, "äb", "1", "é" * 1001
    ),
    "a pattern with the class of a script": _values(
        {"type": "string", "pattern": "^[\\p{Greek}\\P{L}]+\\z"}, "αβγ", "α1", "abc"
    ),
    "a pattern with a literal text": _values(
        {"type": "string", "pattern": "\\A\\Q\\C(?P<a>\\E[]a-c[:digit:]]\\x{e4}$"},
        "\\C(?P<a>]ä",
        "a",
    ),
}

CASES: dict[str, list[_Step]] = {
    **_READS,
    **_VERSIONS,
    **_PRUNING,
    **_DEFAULTS,
    **_LIMITS,
    **_FORMATS,
    **_STATUS,
    **_STATUS_DEFAULTS,
    **_PATTERNS,
}
