"""Definitions of kinds that are rejected."""

from __future__ import annotations

from typing import Any

from tests.conformance.raw_client import MERGE, RawClient
from tests.conformance.rejections import Rejected, check, rows
from tests.conformance.widgets import DEFINITIONS, definition, version

Object = dict[str, Any]
MERGED = {"Content-Type": MERGE}


def schema_of(**properties: Any) -> list[Object]:
    spec = {"type": "object", "properties": properties}
    return [version(spec=spec, selectableFields=[], additionalPrinterColumns=[])]


def crd(**spec: Any) -> Object:
    return definition("things", "Thing", **spec)


# fmt: off
TABLE = (
    Rejected("a definition whose name is not its plural and group", "POST", DEFINITIONS,
        {**crd(), "metadata": {"name": "other.conformance.example.com"}}, code=422,
        reason="Invalid",
        about={"name": "other.conformance.example.com", "group": "apiextensions.k8s.io",
            "kind": "CustomResourceDefinition"},
        causes=[("metadata.name", "FieldValueInvalid")],
        says='CustomResourceDefinition.apiextensions.k8s.io "other.conformance.example.com" is '
             'invalid: metadata.name: Invalid value:'),
    Rejected("a definition without versions", "POST", DEFINITIONS,
        {**crd(), "spec": {**crd()["spec"], "versions": []}}, code=422, reason="Invalid",
        about={"name": "things.conformance.example.com", "group": "apiextensions.k8s.io",
            "kind": "CustomResourceDefinition"},
        causes=[("spec.versions", "FieldValueInvalid"), ("status.storedVersions",
            "FieldValueInvalid")],
        says='CustomResourceDefinition.apiextensions.k8s.io "things.conformance.example.com" is '
             'invalid: [spec.versions: Invalid value: '),
    Rejected("a definition with two storage versions", "POST", DEFINITIONS,
        crd(versions=[version("v1"), version("v2")]), code=422, reason="Invalid",
        about={"name": "things.conformance.example.com", "group": "apiextensions.k8s.io",
            "kind": "CustomResourceDefinition"},
        causes=[("spec.versions", "FieldValueInvalid"), ("status.storedVersions",
            "FieldValueInvalid")],
        says='CustomResourceDefinition.apiextensions.k8s.io "things.conformance.example.com" is '
             'invalid: [spec.versions: Invalid value:'),
    Rejected("a definition without a storage version", "POST", DEFINITIONS,
        crd(versions=[version("v1", storage=False)]), code=422, reason="Invalid",
        about={"name": "things.conformance.example.com", "group": "apiextensions.k8s.io",
            "kind": "CustomResourceDefinition"},
        causes=[("spec.versions", "FieldValueInvalid"), ("status.storedVersions",
            "FieldValueInvalid")],
        says='CustomResourceDefinition.apiextensions.k8s.io "things.conformance.example.com" is '
             'invalid: [spec.versions: Invalid value:'),
    Rejected("a definition with one version twice", "POST", DEFINITIONS,
        crd(versions=[version("v1"), version("v1", storage=False)]), code=422, reason="Invalid",
        about={"name": "things.conformance.example.com", "group": "apiextensions.k8s.io",
            "kind": "CustomResourceDefinition"},
        causes=[("spec.versions", "FieldValueInvalid")],
        says='CustomResourceDefinition.apiextensions.k8s.io "things.conformance.example.com" is '
             'invalid: spec.versions: Invalid value:'),
    Rejected("a definition without a schema", "POST", DEFINITIONS,
        crd(versions=[version("v1", schema=None)]), code=422, reason="Invalid",
        about={"name": "things.conformance.example.com", "group": "apiextensions.k8s.io",
            "kind": "CustomResourceDefinition"},
        causes=[("spec.selectableFields", "FieldValueInvalid"),
            ("spec.versions[0].schema.openAPIV3Schema", "FieldValueRequired")],
        says='CustomResourceDefinition.apiextensions.k8s.io "things.conformance.example.com" is '
             'invalid: [spec.versions[0].schema.openAPIV3Schema: Required value,'),
    Rejected("a definition of an unknown scope", "POST", DEFINITIONS, crd(scope="Galaxy"), code=422,
        reason="Invalid",
        about={"name": "things.conformance.example.com", "group": "apiextensions.k8s.io",
            "kind": "CustomResourceDefinition"},
        causes=[("spec.scope", "FieldValueNotSupported")],
        says='CustomResourceDefinition.apiextensions.k8s.io "things.conformance.example.com" is '
             'invalid: spec.scope: Unsupported value: "Galaxy": supported values:'),
    Rejected("a definition without a kind", "POST", DEFINITIONS, crd(names={"plural": "things"}),
        code=422, reason="Invalid",
        about={"name": "things.conformance.example.com", "group": "apiextensions.k8s.io",
            "kind": "CustomResourceDefinition"},
        causes=[("spec.names.kind", "FieldValueRequired"), ("spec.names.listKind",
            "FieldValueRequired"), ("spec.names.singular", "FieldValueRequired")],
        says='CustomResourceDefinition.apiextensions.k8s.io "things.conformance.example.com" is '
             'invalid: [spec.names.singular: Required value, spec.names.kind:'),
    Rejected("a definition whose version is no name", "POST", DEFINITIONS,
        crd(versions=[version("V_1")]), code=422, reason="Invalid",
        about={"name": "things.conformance.example.com", "group": "apiextensions.k8s.io",
            "kind": "CustomResourceDefinition"},
        causes=[("spec.version", "FieldValueInvalid"), ("spec.versions[0].name",
            "FieldValueInvalid")],
        says='CustomResourceDefinition.apiextensions.k8s.io "things.conformance.example.com" is '
             'invalid: [spec.versions[0].name: Invalid value: "V_1": a DNS-1035'),
    Rejected("a schema without a type", "POST", DEFINITIONS, crd(versions=schema_of(a={})),
        code=422, reason="Invalid",
        about={"name": "things.conformance.example.com", "group": "apiextensions.k8s.io",
            "kind": "CustomResourceDefinition"},
        causes=[("spec.validation.openAPIV3Schema.properties[spec].properties[a].type",
            "FieldValueRequired")],
        says='CustomResourceDefinition.apiextensions.k8s.io "things.conformance.example.com" is '
             'invalid:'),
    Rejected("a schema with an unknown type", "POST", DEFINITIONS,
        crd(versions=schema_of(a={"type": "thing"})), code=422, reason="Invalid",
        about={"name": "things.conformance.example.com", "group": "apiextensions.k8s.io",
            "kind": "CustomResourceDefinition"},
        causes=[("spec.validation.openAPIV3Schema.properties[spec].properties[a].type",
            "FieldValueNotSupported")],
        says='CustomResourceDefinition.apiextensions.k8s.io "things.conformance.example.com" is '
             'invalid:'),
    Rejected("a list in a schema without items", "POST", DEFINITIONS,
        crd(versions=schema_of(a={"type": "array"})), code=422, reason="Invalid",
        about={"name": "things.conformance.example.com", "group": "apiextensions.k8s.io",
            "kind": "CustomResourceDefinition"},
        causes=[("spec.validation.openAPIV3Schema.properties[spec].properties[a].items",
            "FieldValueRequired")],
        says='CustomResourceDefinition.apiextensions.k8s.io "things.conformance.example.com" is '
             'invalid:'),
    Rejected("a schema with properties and additional properties", "POST", DEFINITIONS,
        crd(versions=schema_of(a={"type": "object", "properties": {"b": {"type": "string"}},
            "additionalProperties": {"type": "string"}})),
        code=422, reason="Invalid",
        about={"name": "things.conformance.example.com", "group": "apiextensions.k8s.io",
            "kind": "CustomResourceDefinition"},
        causes=[("spec.validation.openAPIV3Schema.properties[spec].properties[a].additionalProperties", "FieldValueForbidden")],
        says='CustomResourceDefinition.apiextensions.k8s.io "things.conformance.example.com" is '
             'invalid:'),
    Rejected("a default that the schema forbids", "POST", DEFINITIONS,
        crd(versions=schema_of(a={"type": "integer", "default": "x"})), code=422, reason="Invalid",
        about={"name": "things.conformance.example.com", "group": "apiextensions.k8s.io",
            "kind": "CustomResourceDefinition"},
        causes=[("spec.validation.openAPIV3Schema.properties[spec].properties[a].default",
            "FieldValueTypeInvalid")],
        says='CustomResourceDefinition.apiextensions.k8s.io "things.conformance.example.com" is '
             'invalid:'),
    Rejected("a map list without keys", "POST", DEFINITIONS,
        crd(versions=schema_of(a={"type": "array", "x-kubernetes-list-type": "map",
            "items": {"type": "object", "properties": {"n": {"type": "string"}},
            "required": ["n"]}})),
        code=422, reason="Invalid",
        about={"name": "things.conformance.example.com", "group": "apiextensions.k8s.io",
            "kind": "CustomResourceDefinition"},
        causes=[("spec.validation.openAPIV3Schema.properties[spec].properties[a].x-kubernetes-list-map-keys", "FieldValueRequired")],
        says='CustomResourceDefinition.apiextensions.k8s.io "things.conformance.example.com" is '
             'invalid:'),
    Rejected("a map list whose key is not required", "POST", DEFINITIONS,
        crd(versions=schema_of(a={"type": "array", "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["n"], "items": {"type": "object",
            "properties": {"n": {"type": "string"}}}})),
        code=422, reason="Invalid",
        about={"name": "things.conformance.example.com", "group": "apiextensions.k8s.io",
            "kind": "CustomResourceDefinition"},
        causes=[("spec.validation.openAPIV3Schema.properties[spec].properties[a].items.properties[n].default", "FieldValueRequired")],
        says='CustomResourceDefinition.apiextensions.k8s.io "things.conformance.example.com" is '
             'invalid:'),
    Rejected("an unknown list type", "POST", DEFINITIONS,
        crd(versions=schema_of(a={"type": "array", "x-kubernetes-list-type": "bag",
            "items": {"type": "string"}})),
        code=422, reason="Invalid",
        about={"name": "things.conformance.example.com", "group": "apiextensions.k8s.io",
            "kind": "CustomResourceDefinition"},
        causes=[("spec.validation.openAPIV3Schema.properties[spec].properties[a].x-kubernetes-list-type", "FieldValueNotSupported")],
        says='CustomResourceDefinition.apiextensions.k8s.io "things.conformance.example.com" is '
             'invalid:'),
    Rejected("a pattern that cannot be read", "POST", DEFINITIONS,
        crd(versions=schema_of(a={"type": "string", "pattern": "("})), code=422, reason="Invalid",
        about={"name": "things.conformance.example.com", "group": "apiextensions.k8s.io",
            "kind": "CustomResourceDefinition"},
        causes=[("spec.validation.openAPIV3Schema.properties[spec].properties[a].pattern",
            "FieldValueInvalid")],
        says='CustomResourceDefinition.apiextensions.k8s.io "things.conformance.example.com" is '
             'invalid:'),
    Rejected("unique items in a schema", "POST", DEFINITIONS,
        crd(versions=schema_of(a={"type": "array", "uniqueItems": True,
            "items": {"type": "string"}})),
        code=422, reason="Invalid",
        about={"name": "things.conformance.example.com", "group": "apiextensions.k8s.io",
            "kind": "CustomResourceDefinition"},
        causes=[("spec.validation.openAPIV3Schema.properties[spec].properties[a].uniqueItems",
            "FieldValueForbidden")],
        says='CustomResourceDefinition.apiextensions.k8s.io "things.conformance.example.com" is '
             'invalid:'),
    Rejected("a reference in a schema", "POST", DEFINITIONS,
        crd(versions=schema_of(a={"$ref": "#/x"})), code=422, reason="Invalid",
        about={"name": "things.conformance.example.com", "group": "apiextensions.k8s.io",
            "kind": "CustomResourceDefinition"},
        causes=[("spec.validation.openAPIV3Schema.properties[spec].properties[a].$ref",
            "FieldValueForbidden")],
        says='CustomResourceDefinition.apiextensions.k8s.io "things.conformance.example.com" is '
             'invalid:'),
    Rejected("a selectable field that is not in the schema", "POST", DEFINITIONS,
        crd(versions=[version(selectableFields=[{"jsonPath": ".spec.nope"}])]), code=422,
        reason="Invalid",
        about={"name": "things.conformance.example.com", "group": "apiextensions.k8s.io",
            "kind": "CustomResourceDefinition"},
        causes=[("spec.selectableFields[0].jsonPath", "FieldValueInvalid")],
        says='CustomResourceDefinition.apiextensions.k8s.io "things.conformance.example.com" is '
             'invalid: spec.selectableFields[0].jsonPath: Invalid value:'),
    Rejected("a printer column without a path", "POST", DEFINITIONS,
        crd(versions=[version(additionalPrinterColumns=[{"name": "A", "type": "string"}])]),
        code=422, reason="Invalid",
        about={"name": "things.conformance.example.com", "group": "apiextensions.k8s.io",
            "kind": "CustomResourceDefinition"},
        causes=[("spec.additionalPrinterColumns[0].JSONPath", "FieldValueRequired")],
        says='CustomResourceDefinition.apiextensions.k8s.io "things.conformance.example.com" is '
             'invalid: spec.additionalPrinterColumns[0].JSONPath: Required value'),
    Rejected("a printer column of an unknown type", "POST", DEFINITIONS,
        crd(versions=[version(additionalPrinterColumns=[{"name": "A", "type": "picture",
            "jsonPath": ".spec.size"}])]),
        code=422, reason="Invalid",
        about={"name": "things.conformance.example.com", "group": "apiextensions.k8s.io",
            "kind": "CustomResourceDefinition"},
        causes=[("spec.additionalPrinterColumns[0].type", "FieldValueInvalid")],
        says='CustomResourceDefinition.apiextensions.k8s.io "things.conformance.example.com" is '
             'invalid: spec.additionalPrinterColumns[0].type: Invalid value:'),
    Rejected("a scale without a path for its replicas", "POST", DEFINITIONS,
        crd(versions=[version(subresources={"scale": {"statusReplicasPath": ".status.replicas"}})]),
        code=422, reason="Invalid",
        about={"name": "things.conformance.example.com", "group": "apiextensions.k8s.io",
            "kind": "CustomResourceDefinition"},
        causes=[("spec.subresources.scale.specReplicasPath", "FieldValueRequired")],
        says='CustomResourceDefinition.apiextensions.k8s.io "things.conformance.example.com" is '
             'invalid: spec.subresources.scale.specReplicasPath: Required value'),
    Rejected("a scale whose path leaves the spec", "POST", DEFINITIONS,
        crd(versions=[version(subresources={"scale": {"specReplicasPath": ".status.replicas",
            "statusReplicasPath": ".status.replicas"}})]),
        code=422, reason="Invalid",
        about={"name": "things.conformance.example.com", "group": "apiextensions.k8s.io",
            "kind": "CustomResourceDefinition"},
        causes=[("spec.subresources.scale.specReplicasPath", "FieldValueInvalid")],
        says='CustomResourceDefinition.apiextensions.k8s.io "things.conformance.example.com" is '
             'invalid: spec.subresources.scale.specReplicasPath: Invalid value:'),
    Rejected("a group of Kubernetes without approval", "POST", DEFINITIONS,
        {**crd(), "metadata": {"name": "things.apps.k8s.io"}, "spec": {**crd()["spec"],
            "group": "apps.k8s.io"}},
        code=422, reason="Invalid",
        about={"name": "things.apps.k8s.io", "group": "apiextensions.k8s.io",
            "kind": "CustomResourceDefinition"},
        causes=[("metadata.annotations[api-approved.kubernetes.io]", "FieldValueRequired")],
        says='CustomResourceDefinition.apiextensions.k8s.io "things.apps.k8s.io" is invalid: '
             'metadata.annotations[api-approved.kubernetes.io]: Required value:'),
    Rejected("another scope of a definition", "PATCH",
        f"{DEFINITIONS}/widgets.conformance.example.com", {"spec": {"scope": "Cluster"}},
        headers={"Content-Type": "application/merge-patch+json"}, code=422, reason="Invalid",
        about={"name": "widgets.conformance.example.com", "group": "apiextensions.k8s.io",
            "kind": "CustomResourceDefinition"},
        causes=[("spec.scope", "FieldValueInvalid")],
        says='CustomResourceDefinition.apiextensions.k8s.io "widgets.conformance.example.com" is '
             'invalid: spec.scope: Invalid value: "Cluster": field is immutable'),
    Rejected("another kind of a definition", "PATCH",
        f"{DEFINITIONS}/widgets.conformance.example.com", {"spec": {"names": {"kind": "Gizmo"}}},
        headers={"Content-Type": "application/merge-patch+json"}, code=422, reason="Invalid",
        about={"name": "widgets.conformance.example.com", "group": "apiextensions.k8s.io",
            "kind": "CustomResourceDefinition"},
        causes=[("spec.names.kind", "FieldValueInvalid")],
        says='CustomResourceDefinition.apiextensions.k8s.io "widgets.conformance.example.com" is '
             'invalid: spec.names.kind: Invalid value: "Gizmo": field is'),
    Rejected("a stored version taken out of a definition", "PATCH",
        f"{DEFINITIONS}/widgets.conformance.example.com", {"spec": {"versions": [version("v2")]}},
        headers={"Content-Type": "application/merge-patch+json"}, code=422, reason="Invalid",
        about={"name": "widgets.conformance.example.com", "group": "apiextensions.k8s.io",
            "kind": "CustomResourceDefinition"},
        causes=[("status.storedVersions[0]", "FieldValueInvalid")],
        says='CustomResourceDefinition.apiextensions.k8s.io "widgets.conformance.example.com" is '
             'invalid: status.storedVersions[0]: Invalid value: "v1": missing'),
    Rejected("a definition with a root that is no object", "POST", DEFINITIONS,
        crd(versions=[version("v1", schema={"openAPIV3Schema": {"type": "string"}})]), code=422,
        reason="Invalid",
        about={"name": "things.conformance.example.com", "group": "apiextensions.k8s.io",
            "kind": "CustomResourceDefinition"},
        causes=[("spec.selectableFields[0].jsonPath", "FieldValueInvalid"),
            ("spec.validation.openAPIV3Schema.type", "FieldValueInvalid"),
            ("spec.validation.openAPIV3Schema.type", "FieldValueInvalid")],
        says='CustomResourceDefinition.apiextensions.k8s.io "things.conformance.example.com" is '
             'invalid: [spec.validation.openAPIV3Schema.type: Invalid value:'),
)
# fmt: on


@rows(*TABLE)
async def test_a_definition_is_rejected(populated: RawClient, row: Rejected) -> None:
    await check(populated, row)
