"""CustomResourceDefinitions: their status, their changes, their end, and what is rejected.

Managed fields are sorted by time and then by name. The managers of the requests are called so
that the order is the same however long kube-apiserver takes to write the status in between.
"""

from __future__ import annotations

from typing import Any

__all__ = ["CASES"]

_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_CRD = f"{_CRDS}/things.{{ns}}.example.com"
_V1 = "/apis/{ns}.example.com/v1/namespaces/{ns}/things"
_MERGE = {"Content-Type": "application/merge-patch+json"}
_APPLY = {"Content-Type": "application/apply-patch+yaml"}
_OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_ESTABLISHED = {"status.conditions.1.status": "True"}

_Step = tuple[Any, ...]


def _version(name: str = "v1", *, storage: bool = True, **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "served": True,
        "storage": storage,
        "schema": {"openAPIV3Schema": _OPEN},
        **more,
    }


def _definition(*versions: dict[str, Any], name: str = "things", **more: Any) -> dict[str, Any]:
    kind = name.removesuffix("s").capitalize()
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{name}.{{ns}}.example.com"},
        "spec": {
            "group": "{ns}.example.com",
            "names": {"plural": name, "kind": kind},
            "scope": "Namespaced",
            "versions": list(versions or (_version(),)),
            **more,
        },
    }


def _of_schema(schema: dict[str, Any], **more: Any) -> list[_Step]:
    """A dry run of a definition with this schema of the spec."""
    root = {"type": "object", "properties": {"spec": schema}}
    return _of_root(root, **more)


def _of_root(schema: dict[str, Any], **more: Any) -> list[_Step]:
    definition = _definition(_version(schema={"openAPIV3Schema": schema}, **more))
    return [("POST", f"{_CRDS}?dryRun=All&fieldManager=a", definition)]


def _of_spec(**more: Any) -> list[_Step]:
    definition = _definition()
    spec = {**definition["spec"], **more}
    spec = {key: value for key, value in spec.items() if value is not ...}
    return [("POST", f"{_CRDS}?dryRun=All&fieldManager=a", {**definition, "spec": spec})]


def _of_version(**more: Any) -> list[_Step]:
    return _of_spec(versions=[_version(**more)])


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _thing(name: str = "a", **fields: Any) -> dict[str, Any]:
    return {
        "apiVersion": "{ns}.example.com/v1",
        "kind": "Thing",
        "metadata": {"name": name},
        **fields,
    }


_STRING = {"type": "string"}
_WEBHOOK = {
    "clientConfig": {"url": "https://127.0.0.1:1/convert"},
    "conversionReviewVersions": ["v1"],
}

_LIFE: dict[str, list[_Step]] = {
    "a new definition": [
        ("POST", f"{_CRDS}?fieldManager=a", _definition()),
        ("WAIT", _CRD, _ESTABLISHED),
        ("GET", _CRD, None),
        ("GET", f"{_CRD}/status", None),
        ("DELETE", _CRD, None),
    ],
    "names of a definition": [
        (
            "POST",
            f"{_CRDS}?fieldManager=a",
            _definition(
                names={
                    "plural": "things",
                    "singular": "one",
                    "kind": "Thing",
                    "listKind": "Things",
                    "shortNames": ["t", "th"],
                    "categories": ["all"],
                }
            ),
        ),
        ("WAIT", _CRD, _ESTABLISHED),
        ("GET", _CRD, None),
        ("WAIT", "/apis/{ns}.example.com/v1", None),
        ("GET", "/apis/{ns}.example.com", None),
        ("DELETE", _CRD, None),
    ],
    "a status that is sent": [
        (
            "POST",
            f"{_CRDS}?fieldManager=a",
            {
                **_definition(),
                "status": {
                    "conditions": [{"type": "Established", "status": "True"}],
                    "storedVersions": ["v0"],
                    "acceptedNames": {"plural": "x", "kind": "X"},
                },
            },
        ),
        ("WAIT", _CRD, _ESTABLISHED),
        (
            "PATCH",
            f"{_CRD}/status?fieldManager=z",
            {
                "metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}},
                "spec": {"scope": "Cluster"},
                "status": {"storedVersions": ["v1", "v9"]},
            },
            _MERGE,
        ),
        (
            "PATCH",
            f"{_CRD}/status?fieldManager=z",
            {"metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}}},
            _MERGE,
        ),
        ("PATCH", f"{_CRD}/status?fieldManager=z", {"status": {"storedVersions": []}}, _MERGE),
        ("GET", _CRD, None),
        ("DELETE", _CRD, None),
    ],
    "an update that changes nothing": [
        ("POST", f"{_CRDS}?fieldManager=a", _definition()),
        ("WAIT", _CRD, _ESTABLISHED),
        ("PATCH", f"{_CRD}?fieldManager=z", {"spec": {"scope": "Namespaced"}}, _MERGE),
        ("PATCH", f"{_CRD}?fieldManager=z", {"metadata": {"labels": {"a": "b"}}}, _MERGE),
        ("DELETE", _CRD, None),
    ],
    "updates that are rejected": [
        ("POST", f"{_CRDS}?fieldManager=a", _definition()),
        ("WAIT", _CRD, _ESTABLISHED),
        ("PATCH", _CRD, {"spec": {"scope": "Cluster"}}, _MERGE),
        ("PATCH", _CRD, {"spec": {"names": {"kind": "Other"}}}, _MERGE),
        ("PATCH", _CRD, {"spec": {"names": {"plural": "others"}}}, _MERGE),
        ("PATCH", _CRD, {"spec": {"group": "other.example.com"}}, _MERGE),
        ("PATCH", _CRD, {"spec": {"versions": [_version("v2")]}}, _MERGE),
        ("PATCH", _CRD, {"spec": {"versions": []}}, _MERGE),
        ("PATCH", _CRD, {"spec": None}, _MERGE),
        ("PATCH", _CRD, {"spec": {"preserveUnknownFields": True}}, _MERGE),
        ("PATCH", f"{_CRD}?fieldManager=z", {"spec": {"preserveUnknownFields": False}}, _MERGE),
        ("PUT", _CRD, _definition()),
        ("DELETE", _CRD, None),
    ],
    "another storage version of a definition": [
        (
            "POST",
            f"{_CRDS}?fieldManager=a",
            _definition(_version(), _version("v2", storage=False)),
        ),
        ("WAIT", _CRD, _ESTABLISHED),
        (
            "PATCH",
            f"{_CRD}?fieldManager=z",
            {"spec": {"versions": [_version(storage=False), _version("v2")]}},
            _MERGE,
        ),
        ("PATCH", _CRD, {"spec": {"versions": [_version("v2")]}}, _MERGE),
        (
            "PATCH",
            f"{_CRD}/status?fieldManager=z",
            {"status": {"storedVersions": ["v2"]}},
            _MERGE,
        ),
        ("PATCH", f"{_CRD}?fieldManager=z", {"spec": {"versions": [_version("v2")]}}, _MERGE),
        ("DELETE", _CRD, None),
    ],
    "a deletion with objects": [
        ("POST", f"{_CRDS}?fieldManager=a", _definition()),
        ("WAIT", _V1, None),
        (
            "POST",
            f"{_V1}?fieldManager=case",
            {**_thing(), "metadata": {"name": "a", "finalizers": ["example.com/x"]}},
        ),
        ("POST", f"{_V1}?fieldManager=case", _thing("b")),
        ("DELETE", f"{_CRD}", None),
        ("WAIT", _CRD, {"status.conditions.2.reason": "InstanceDeletionInProgress"}),
        ("GET", _CRD, None),
        ("WAIT", f"{_V1}/a", {"metadata.deletionGracePeriodSeconds": 0}),
        ("GET", f"{_V1}/a", None),
        ("POST", f"{_V1}?fieldManager=case", _thing("c")),
        ("DELETE", f"{_CRD}", None),
        ("PATCH", f"{_V1}/a", {"metadata": {"finalizers": None}}, _MERGE),
    ],
    "names of another definition": [
        ("POST", f"{_CRDS}?fieldManager=a", _definition()),
        ("WAIT", _CRD, _ESTABLISHED),
        (
            "POST",
            f"{_CRDS}?fieldManager=a",
            _definition(
                name="others", names={"plural": "others", "kind": "Thing", "shortNames": ["thing"]}
            ),
        ),
        ("WAIT", f"{_CRDS}/others.{{ns}}.example.com", {"status.conditions.0.status": "False"}),
        ("GET", f"{_CRDS}/others.{{ns}}.example.com", None),
        ("GET", "/apis/{ns}.example.com/v1/namespaces/{ns}/others", None),
        ("DELETE", _CRD, None),
        ("WAIT", f"{_CRDS}/others.{{ns}}.example.com", _ESTABLISHED),
        ("GET", f"{_CRDS}/others.{{ns}}.example.com", None),
        ("DELETE", f"{_CRDS}/others.{{ns}}.example.com", None),
    ],
    "an apply of a definition": [
        ("PATCH", f"{_CRD}?fieldManager=z", _definition(), _APPLY),
        ("WAIT", _CRD, _ESTABLISHED),
        ("PATCH", f"{_CRD}?fieldManager=z", _definition(), _APPLY),
        (
            "PATCH",
            f"{_CRD}?fieldManager=z",
            _definition(_version(), _version("v2", storage=False)),
            _APPLY,
        ),
        ("PATCH", f"{_CRD}?fieldManager=other", _definition(scope="Cluster"), _APPLY),
        ("DELETE", _CRD, None),
    ],
    "a definition of a protected group": [
        (
            "POST",
            f"{_CRDS}?dryRun=All&fieldManager=a",
            {
                **_definition(),
                "metadata": {"name": "things.{ns}.k8s.io"},
                "spec": {**_definition()["spec"], "group": "{ns}.k8s.io"},
            },
        ),
        (
            "POST",
            f"{_CRDS}?dryRun=All&fieldManager=a",
            {
                **_definition(),
                "metadata": {
                    "name": "things.{ns}.k8s.io",
                    "annotations": {"api-approved.kubernetes.io": "what"},
                },
                "spec": {**_definition()["spec"], "group": "{ns}.k8s.io"},
            },
        ),
        (
            "POST",
            f"{_CRDS}?dryRun=All&fieldManager=a",
            {
                **_definition(),
                "metadata": {
                    "name": "things.{ns}.k8s.io",
                    "annotations": {"api-approved.kubernetes.io": "unapproved, for a test"},
                },
                "spec": {**_definition()["spec"], "group": "{ns}.k8s.io"},
            },
        ),
    ],
    "a finalizer of a definition": [
        (
            "POST",
            f"{_CRDS}?fieldManager=a",
            {
                **_definition(),
                "metadata": {
                    "name": "things.{ns}.example.com",
                    "finalizers": ["example.com/x"],
                    "generation": 5,
                },
            },
        ),
        ("WAIT", _CRD, _ESTABLISHED),
        ("DELETE", _CRD, None),
        ("WAIT", _CRD, {"metadata.finalizers": ["example.com/x"]}),
        # The owners depend on whether the deletion ends in the second in which it began.
        (
            "PATCH",
            f"{_CRD}?fieldManager=z",
            {"metadata": {"finalizers": None, "managedFields": [{}]}},
            _MERGE,
        ),
        ("GET", _CRD, None),
    ],
}

_SPECS: dict[str, list[_Step]] = {
    "a conversion webhook": [
        *_of_spec(conversion={"strategy": "Webhook"}),
        *_of_spec(conversion={"strategy": "Other"}),
        *_of_spec(conversion={}),
        *_of_spec(conversion={"strategy": "None", "webhook": _WEBHOOK}),
        *_of_spec(
            conversion={
                "strategy": "Webhook",
                "webhook": {"clientConfig": {"url": "https://127.0.0.1:1/"}},
            }
        ),
        *_of_spec(
            conversion={
                "strategy": "Webhook",
                "webhook": {**_WEBHOOK, "conversionReviewVersions": []},
            }
        ),
        *_of_spec(
            conversion={
                "strategy": "Webhook",
                "webhook": {**_WEBHOOK, "conversionReviewVersions": ["v2"]},
            }
        ),
        *_of_spec(
            conversion={
                "strategy": "Webhook",
                "webhook": {**_WEBHOOK, "conversionReviewVersions": ["v1", "v1", "1"]},
            }
        ),
        *_of_spec(conversion={"strategy": "Webhook", "webhook": {**_WEBHOOK, "clientConfig": {}}}),
        *_of_spec(
            conversion={
                "strategy": "Webhook",
                "webhook": {**_WEBHOOK, "clientConfig": {"url": "http://a/b"}},
            }
        ),
        *_of_spec(
            conversion={
                "strategy": "Webhook",
                "webhook": {**_WEBHOOK, "clientConfig": {"url": "https://u:p@a/b?x=y#z"}},
            }
        ),
        *_of_spec(
            conversion={
                "strategy": "Webhook",
                "webhook": {**_WEBHOOK, "clientConfig": {"service": {"name": "", "namespace": ""}}},
            }
        ),
        *_of_spec(
            conversion={
                "strategy": "Webhook",
                "webhook": {
                    **_WEBHOOK,
                    "clientConfig": {
                        "url": "https://a/b",
                        "service": {"name": "a", "namespace": "b"},
                    },
                },
            }
        ),
        *_of_spec(
            conversion={
                "strategy": "Webhook",
                "webhook": {
                    **_WEBHOOK,
                    "clientConfig": {
                        "service": {"name": "a", "namespace": "b", "port": 0, "path": "x//y"}
                    },
                },
            }
        ),
    ],
    "names that are not valid": [
        *_of_spec(names={"plural": "Things", "kind": "thing_"}),
        *_of_spec(names={"plural": "things", "kind": "Thing", "listKind": "Thing"}),
        *_of_spec(
            names={
                "plural": "things",
                "kind": "Thing",
                "singular": "A B",
                "shortNames": ["A", ""],
                "categories": ["-"],
            }
        ),
        *_of_spec(names={"plural": "things"}),
        *_of_spec(names=...),
        *_of_spec(scope=...),
        *_of_spec(scope="Global"),
        *_of_spec(group=...),
        *_of_spec(group="nodots"),
        *_of_spec(group="A.b"),
        *_of_spec(versions=...),
        *_of_spec(versions=[]),
        *_of_spec(versions=[_version(), _version()]),
        *_of_spec(versions=[_version(), _version("v2")]),
        *_of_spec(versions=[_version(storage=False)]),
        *_of_spec(versions=[_version("V_1")]),
        *_of_spec(versions=[{**_version(), "served": False}]),
        *_of_spec(versions=[{"name": "v1", "served": True, "storage": True}]),
        *_of_spec(versions=[{"name": "v1", "schema": {"openAPIV3Schema": _OPEN}}]),
        *_of_spec(preserveUnknownFields=True),
        *_of_spec(preserveUnknownFields=False),
        (
            "POST",
            f"{_CRDS}?dryRun=All",
            {**_definition(), "metadata": {"name": "others.{ns}.example.com"}},
        ),
        ("POST", f"{_CRDS}?dryRun=All", {**_definition(), "spec": None}),
        (
            "POST",
            f"{_CRDS}?dryRun=All&fieldValidation=Strict",
            {**_definition(), "spec": {**_definition()["spec"], "x": 1}},
        ),
    ],
    "columns that are not valid": [
        *_of_version(additionalPrinterColumns=[{}]),
        *_of_version(
            additionalPrinterColumns=[{"name": "", "type": "x", "format": "y", "jsonPath": "z"}]
        ),
        *_of_version(
            additionalPrinterColumns=[{"name": "a", "type": "string", "jsonPath": ".a[*"}]
        ),
        *_of_version(
            additionalPrinterColumns=[
                {"name": "a", "type": "date", "jsonPath": ".a", "priority": -1}
            ]
        ),
        *_of_version(additionalPrinterColumns=[]),
    ],
    "subresources that are not valid": [
        *_of_version(subresources={}),
        *_of_version(subresources={"scale": {}}),
        *_of_version(
            subresources={"scale": {"specReplicasPath": "spec", "statusReplicasPath": ".x"}}
        ),
        *_of_version(
            subresources={
                "scale": {
                    "specReplicasPath": ".spec.a[0]",
                    "statusReplicasPath": ".status.b",
                    "labelSelectorPath": ".x",
                }
            }
        ),
        *_of_version(
            subresources={
                "scale": {
                    "specReplicasPath": ".spec.a",
                    "statusReplicasPath": ".status.b",
                    "labelSelectorPath": ".spec.c",
                }
            }
        ),
    ],
    "selectable fields that are not valid": [
        *_of_root(
            _object(
                spec=_object(
                    a=_STRING,
                    o=_object(x=_STRING),
                    l={"type": "array", "items": _STRING},
                    n={"type": "number"},
                )
            ),
            selectableFields=[
                {"jsonPath": path}
                for path in (
                    ".spec.a",
                    ".spec.a",
                    ".spec.o",
                    ".spec.l",
                    ".spec.n",
                    ".spec.x",
                    "spec.a",
                    ".metadata.name",
                    "",
                    ".spec['a']",
                )
            ],
        ),
        *_of_root(
            _object(spec=_object(**{f"f{i}": _STRING for i in range(10)})),
            selectableFields=[{"jsonPath": f".spec.f{i}"} for i in range(10)],
        ),
        *_of_root(
            _object(kind=_STRING, apiVersion=_STRING, spec=_object(a={"type": "boolean"})),
            selectableFields=[
                {"jsonPath": ".spec.a"},
                {"jsonPath": ".kind"},
                {"jsonPath": ".apiVersion"},
            ],
        ),
        *_of_root(
            _object(spec=_object(a={"x-kubernetes-int-or-string": True}, **{"x.y": _STRING})),
            selectableFields=[{"jsonPath": ".spec.a"}, {"jsonPath": ".spec.x\\.y"}],
        ),
    ],
    "selectable fields of one version": [
        *_of_spec(
            versions=[
                _version(selectableFields=[{"jsonPath": ".spec.a"}]),
                _version("v2", storage=False),
            ]
        ),
    ],
    "a deprecation that is not valid": [
        *_of_version(deprecationWarning="x"),
        *_of_version(deprecated=True, deprecationWarning=""),
        *_of_version(deprecated=True, deprecationWarning="x" * 257),
        *_of_version(deprecated=True, deprecationWarning="a\nb"),
        *_of_version(deprecated=True),
    ],
}

_SCHEMAS: dict[str, list[_Step]] = {
    "types that are missing": [
        *_of_schema({}),
        *_of_schema({"type": "null"}),
        *_of_schema({"type": "text"}),
        *_of_schema({"type": "array"}),
        *_of_schema({"type": "array", "items": {}}),
        *_of_schema({"type": "array", "items": [_STRING]}),
        *_of_schema(_object(a={})),
        *_of_schema({"type": "object", "additionalProperties": {}}),
        *_of_root({"type": "string"}),
        *_of_root({}),
        *_of_root({"properties": {}}),
        *_of_root({"type": "object", "additionalProperties": _STRING}),
        *_of_root({"type": "object", "nullable": True}),
        *_of_root(_object(metadata=_STRING)),
        *_of_root(_object(metadata=_object(name=_STRING, labels=_object()))),
        *_of_root(_object(metadata=_object(name={"type": "string", "maxLength": 3}))),
        *_of_root(_object(kind={"type": "integer"}, apiVersion={"type": "string", "default": "x"})),
    ],
    "keywords that are forbidden": [
        *_of_schema({"type": "string", "$ref": "#/x"}),
        *_of_schema({"type": "string", "uniqueItems": True}),
        *_of_schema({"type": "object", "patternProperties": {"a": _STRING}}),
        *_of_schema({"type": "object", "definitions": {"a": _STRING}}),
        *_of_schema({"type": "object", "dependencies": {"a": ["b"]}}),
        *_of_schema({"type": "array", "items": _STRING, "additionalItems": False}),
        *_of_schema(
            {
                "type": "object",
                "id": "x",
                "$schema": "y",
                "title": "t",
                "example": 1,
                "externalDocs": {"url": "u"},
            }
        ),
        *_of_schema({"type": "object", "properties": {"a": _STRING}, "additionalProperties": True}),
        *_of_schema(
            {"type": "object", "properties": {"a": _STRING}, "additionalProperties": False}
        ),
        *_of_schema(
            {"type": "object", "properties": {"a": _STRING}, "additionalProperties": _STRING}
        ),
        *_of_schema({"type": "object", "x-kubernetes-preserve-unknown-fields": False}),
        *_of_schema({"type": "string", "unknown": 1}),
        *_of_schema({"type": "string", "x-other": 1}),
    ],
    "extensions that are not valid": [
        *_of_schema({"type": "string", "x-kubernetes-int-or-string": True}),
        *_of_schema(
            {"x-kubernetes-int-or-string": True, "x-kubernetes-preserve-unknown-fields": True}
        ),
        *_of_schema({"type": "object", "x-kubernetes-embedded-resource": True}),
        *_of_schema({"type": "string", "x-kubernetes-embedded-resource": True}),
        *_of_schema(
            {"x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}
        ),
        *_of_schema(
            {
                "type": "object",
                "x-kubernetes-embedded-resource": True,
                "properties": {"metadata": _object(x=_STRING)},
            }
        ),
        *_of_schema({"type": "object", "x-kubernetes-list-type": "set"}),
        *_of_schema({"type": "array", "items": _STRING, "x-kubernetes-list-type": "other"}),
        *_of_schema({"type": "array", "items": _STRING, "x-kubernetes-list-type": "map"}),
        *_of_schema(
            {
                "type": "array",
                "items": _object(a=_STRING),
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["a", "a", "b"],
            }
        ),
        *_of_schema(
            {
                "type": "array",
                "items": _object(a=_STRING),
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["a"],
            }
        ),
        *_of_schema(
            {
                "type": "array",
                "items": {
                    **_object(a=_object(), b={"type": "string", "nullable": True}),
                    "required": ["a", "b"],
                },
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["a", "b"],
            }
        ),
        *_of_schema({"type": "array", "items": _STRING, "x-kubernetes-list-map-keys": ["a"]}),
        *_of_schema(
            {"type": "array", "items": _object(a=_STRING), "x-kubernetes-list-type": "set"}
        ),
        *_of_schema(
            {
                "type": "array",
                "items": {**_object(a=_STRING), "x-kubernetes-map-type": "atomic"},
                "x-kubernetes-list-type": "set",
            }
        ),
        *_of_schema(
            {
                "type": "array",
                "items": {"type": "array", "items": _STRING},
                "x-kubernetes-list-type": "set",
            }
        ),
        *_of_schema(
            {
                "type": "array",
                "items": {"type": "string", "nullable": True},
                "x-kubernetes-list-type": "set",
            }
        ),
        *_of_schema(
            {
                "type": "array",
                "items": {"type": "array", "items": _STRING, "x-kubernetes-list-type": "set"},
                "x-kubernetes-list-type": "set",
            }
        ),
        *_of_schema({"type": "string", "x-kubernetes-map-type": "atomic"}),
        *_of_schema({"type": "object", "x-kubernetes-map-type": "other"}),
        *_of_schema(
            {"type": "object", "x-kubernetes-map-type": "granular", "properties": {"a": _STRING}}
        ),
    ],
    "alternatives that are not structural": [
        *_of_schema({"type": "object", "anyOf": [{"properties": {"a": _STRING}}]}),
        *_of_schema({**_object(a=_STRING), "anyOf": [{"properties": {"a": _STRING}}]}),
        *_of_schema(
            {
                **_object(a=_STRING),
                "oneOf": [{"properties": {"a": {"default": "x", "description": "d"}}}],
            }
        ),
        *_of_schema({**_object(a=_STRING), "allOf": [{"type": "object", "nullable": True}]}),
        *_of_schema({**_object(a=_STRING), "not": {"additionalProperties": False, "title": "x"}}),
        *_of_schema(
            {
                **_object(a=_STRING),
                "not": {
                    "x-kubernetes-preserve-unknown-fields": True,
                    "x-kubernetes-list-type": "set",
                },
            }
        ),
        *_of_schema(
            {"type": "array", "items": _STRING, "anyOf": [{"items": {"properties": {"x": {}}}}]}
        ),
    ],
    "patterns that Go refuses, or does not": [
        step
        for pattern in (
            *(
                "(?=a)",
                "(?<!a)",
                "(a)\\1",
                "(?>a)",
                "(?P=a)",
                "(?#c)",
                "(?x)a",
                "a{1001}",
                "a{3,2}",
            ),
            *("(a{100}){100}", "(", "a)", "[a", "[b-a]", "[[:foo:]]", "*", "a|*", "a**", "a{2}{3}"),
            *("\\8", "\\C", "\\Z", "\\h", "a\\", "\\x{110000}", "\\p{Foo}", "(?P<a>x)(?P<a>y)"),
            *("(?<1a>x)", "(?i-)", "(?P<>x)", "(?P<a", "[a-\\d]", "\\pX", "(?z:a)", "+", "(|*)"),
            *(
                "^(a+)+$",
                "\\z",
                "\\pL",
                "\\p{Greek}",
                "(?<a>x)",
                "a{,2}",
                "x{0}",
                "[\\d-z]",
                "\\Qa+\\E",
            ),
            *(f"{'(' * depth}{')' * depth}" for depth in (998, 999, 1000, 1001)),
        )
        for step in _of_schema({"type": "string", "pattern": pattern})
    ],
    "patterns and formats": [
        *_of_schema({"type": "string", "pattern": "["}),
        *_of_schema({"type": "string", "pattern": "(?=a)"}),
        *_of_schema({"type": "string", "pattern": "(a)\\1"}),
        *_of_schema({"type": "string", "pattern": "a{2000}"}),
        *_of_schema({"type": "string", "pattern": "\\pL(?P<a>x)\\Q.\\E(?U:a+)[[:^alpha:]]\\C"}),
        *_of_schema({"type": "string", "pattern": "a++"}),
        *_of_schema({"type": "string", "pattern": "^(?i)x(?s).$"}),
        *_of_schema({"type": "string", "format": "unknown"}),
        *_of_schema(
            _object(
                a={"type": "string", "format": "x"},
                b={"type": "integer", "format": "y"},
                c={"type": "string", "format": "x"},
            )
        ),
        *_of_schema({"type": "integer", "format": "int32"}),
        *_of_schema({"type": "string", "format": "int32"}),
    ],
    "defaults that are not valid": [
        *_of_schema({"type": "string", "default": 1}),
        *_of_schema({"type": "string", "default": None}),
        *_of_schema({"type": "string", "nullable": True, "default": None}),
        *_of_schema({"type": "string", "maxLength": 2, "default": "long"}),
        *_of_schema({**_object(a=_STRING), "default": {"b": 1}}),
        *_of_schema({**_object(a=_STRING), "required": ["a"], "default": {}}),
        *_of_schema(
            {**_object(a={"type": "string", "default": "x"}), "required": ["a"], "default": {}}
        ),
        *_of_schema({"type": "array", "items": _STRING, "default": ["a", 1]}),
        *_of_schema({"type": "object", "additionalProperties": {"type": "string", "default": "x"}}),
        *_of_schema({"type": "array", "items": {"type": "string", "default": "x"}}),
        *_of_schema({"type": "array", "items": {**_object(a={"type": "integer", "default": "x"})}}),
        *_of_schema({"type": "string", "enum": ["a"], "default": "b"}),
        *_of_schema({"type": "string", "format": "ipv4", "default": "x"}),
        *_of_schema(
            {
                "type": "array",
                "items": _STRING,
                "x-kubernetes-list-type": "set",
                "default": ["a", "a"],
            }
        ),
        *_of_schema(
            {
                **_OPEN,
                "x-kubernetes-embedded-resource": True,
                "default": {"kind": "x", "metadata": {"name": 1}},
            }
        ),
        *_of_schema(
            {
                **_OPEN,
                "x-kubernetes-embedded-resource": True,
                "default": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}},
            }
        ),
        *_of_root({**_object(spec=_object()), "default": {}}),
        *_of_root(_object(spec=_object(), metadata={"type": "object", "default": {}})),
    ],
    "numbers that are not valid": [
        *_of_schema({"type": "integer", "minimum": 1.5, "maximum": 1}),
        *_of_schema({"type": "number", "multipleOf": 0}),
        *_of_schema({"type": "string", "minLength": -1}),
        *_of_schema({"type": "string", "minLength": 1.5}),
        *_of_schema({"type": "string", "enum": []}),
        *_of_schema({"type": "string", "enum": ["a", "a", 1]}),
        *_of_schema({"type": "object", "required": ["x"]}),
        *_of_schema({"type": "object", "required": []}),
    ],
    "a status and the root": [
        *_of_root(
            {**_object(spec=_object()), "oneOf": [{"required": ["spec"]}]},
            subresources={"status": {}},
        ),
        *_of_root(
            {**_object(spec=_object()), "x-kubernetes-preserve-unknown-fields": True},
            subresources={"status": {}},
        ),
        *_of_root({"type": "array", "items": _STRING}, subresources={"status": {}}),
        *_of_root(
            {**_object(spec=_object()), "title": "x", "description": "y", "required": ["spec"]},
            subresources={"status": {}},
        ),
    ],
    "rules that are not valid without being compiled": [
        *_of_schema({"type": "string", "x-kubernetes-validations": [{"rule": ""}]}),
        *_of_schema(
            {"type": "string", "x-kubernetes-validations": [{"rule": "  ", "message": "x"}]}
        ),
        *_of_schema(
            {"type": "string", "x-kubernetes-validations": [{"rule": "true", "message": " "}]}
        ),
        *_of_schema(
            {"type": "string", "x-kubernetes-validations": [{"rule": "true", "message": "a\nb"}]}
        ),
        *_of_schema({"type": "string", "x-kubernetes-validations": [{"rule": "true &&\ntrue"}]}),
        *_of_schema(
            {"type": "string", "x-kubernetes-validations": [{"rule": "true", "reason": "Other"}]}
        ),
        *_of_schema(
            {
                "type": "string",
                "x-kubernetes-validations": [{"rule": "true", "messageExpression": " "}],
            }
        ),
        *_of_schema(
            {
                **_object(a=_STRING),
                "x-kubernetes-validations": [{"rule": "true", "fieldPath": ".b"}],
            }
        ),
        *_of_schema(
            {**_object(a=_STRING), "x-kubernetes-validations": [{"rule": "true", "fieldPath": "a"}]}
        ),
        *_of_schema(
            {
                "type": "string",
                "x-kubernetes-validations": [{"rule": "true", "optionalOldSelf": True}],
            }
        ),
        *_of_schema(
            {**_object(a=_STRING), "anyOf": [{"x-kubernetes-validations": [{"rule": "true"}]}]}
        ),
    ],
}

CASES: dict[str, list[_Step]] = {**_LIFE, **_SPECS, **_SCHEMAS}
