"""From a CustomResourceDefinition to a module of classes."""

from __future__ import annotations

import ast
from datetime import UTC, datetime
from typing import Any

import pytest

from kubeloop.crd import crd_of, module_from_crd, modules_from_crd
from kubeloop.wire import (
    DecodeError,
    FieldFacts,
    InvalidArgument,
    Quantity,
    dump_yaml,
    facts_of,
    resource_of,
)
from kubeloop.wire.apiextensions.v1 import CustomResourceDefinition
from tests.crd.crd_modules import class_in, crd, foreign_code, names_in

SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "A site.\n\nIt is served.",
    "required": ["spec"],
    "properties": {
        "apiVersion": {"type": "string", "description": "the same for every object"},
        "kind": {"type": "string"},
        "metadata": {"type": "object"},
        "spec": {
            "type": "object",
            "required": ["image"],
            "x-kubernetes-validations": [{"rule": "self.replicas < 9", "message": "too many"}],
            "properties": {
                "image": {"type": "string", "description": "What runs.", "minLength": 1},
                "replicas": {"type": "integer", "minimum": 1, "maximum": 10, "default": 1},
                "mode": {"type": "string", "enum": ["fast", "slow"], "default": "fast"},
                "clusterIPs": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
                "from": {"type": "string", "pattern": "^[a-z]+$"},
                "x-odd name": {"type": "boolean"},
                "cpu": {
                    "anyOf": [{"type": "integer"}, {"type": "string"}],
                    "pattern": r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]"
                    r"|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$",
                    "x-kubernetes-int-or-string": True,
                },
                "port": {
                    "anyOf": [{"type": "integer"}, {"type": "string"}],
                    "x-kubernetes-int-or-string": True,
                    "default": 80,
                },
                "ports": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["port"],
                    "items": {
                        "type": "object",
                        "required": ["port"],
                        "properties": {
                            "port": {"type": "integer", "format": "int32"},
                            "datetime": {"type": "string", "format": "date-time"},
                        },
                    },
                },
                "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                "any": {"x-kubernetes-preserve-unknown-fields": True},
                "nothing": {"type": "object"},
                "note": {"type": "string", "nullable": True},
                "tls": {
                    "type": "object",
                    "description": "How it is encrypted.",
                    "default": {},
                    "properties": {"secret": {"type": "string", "format": "byte"}},
                },
                "ratio": {"type": "number", "minimum": 0, "exclusiveMinimum": True, "default": 0.5},
            },
        },
        "status": {
            "type": "object",
            "properties": {"since": {"type": "string", "format": "date-time"}},
        },
    },
}
CRD = crd(
    SCHEMA,
    names={
        "kind": "Website",
        "listKind": "WebsiteList",
        "plural": "websites",
        "singular": "website",
        "shortNames": ["web"],
        "categories": ["all", "shop"],
    },
    version={
        "subresources": {"status": {}, "scale": {
            "specReplicasPath": ".spec.replicas",
            "statusReplicasPath": ".status.replicas",
            "labelSelectorPath": ".status.selector",
        }},
        "additionalPrinterColumns": [
            {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
            {"name": "Note", "type": "string", "jsonPath": ".spec.note", "priority": 1},
        ],
        "selectableFields": [{"jsonPath": ".spec.image"}],
    },
)  # fmt: skip
OBJECT: dict[str, Any] = {
    "apiVersion": "example.com/v1",
    "kind": "Website",
    "metadata": {"name": "shop"},
    "spec": {
        "image": "web:1",
        "replicas": 3,
        "mode": "slow",
        "clusterIPs": ["10.0.0.1"],
        "from": "abc",
        "x-odd name": True,
        "cpu": "500m",
        "port": "http",
        "ports": [{"port": 80, "datetime": "2024-01-02T03:04:05Z", "newer": [None, {"a": 1}]}],
        "labels": {"a": "b"},
        "free": {"x": {"y": [1, None]}},
        "any": [1, "two", {"three": 3.5}],
        "nothing": {"but": "this"},
        "tls": {"secret": "aGVsbG8="},
        "ratio": 0.25,
        "unknown": {"kept": True},
    },
    "status": {"since": "2024-01-02T03:04:05Z"},
}


def test_a_module_is_readable_python() -> None:
    assert module_from_crd(CRD) == EXPECTED


def test_a_module_holds_classes_and_nothing_else() -> None:
    assert foreign_code(module_from_crd(CRD)) == []


def test_classes_of_a_module_give_the_same_definition_back() -> None:
    found = crd_of(class_in(module_from_crd(CRD))).to_dict()

    expected = CustomResourceDefinition.from_dict(CRD).to_dict()
    schema = expected["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    del schema["properties"]["apiVersion"]["description"]  # the same for every object
    assert found == expected


def test_objects_survive_the_classes_whole() -> None:
    website = class_in(module_from_crd(CRD))

    assert website.from_dict(OBJECT).to_dict() == OBJECT


def test_fields_have_python_names_and_types() -> None:
    site: Any = class_in(module_from_crd(CRD)).from_dict(OBJECT)

    assert site.spec.cluster_ips == ["10.0.0.1"]
    assert site.spec.from_ == "abc"
    assert site.spec.x_odd_name is True
    assert site.spec.cpu == Quantity("0.5")
    assert site.spec.tls.secret == b"hello"
    assert site.spec.ports[0].datetime == datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert site.status.since == datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)


def test_what_is_absent_reads_as_empty_or_as_the_default() -> None:
    site: Any = class_in(module_from_crd(CRD))()

    assert site.spec.replicas == 1
    assert site.spec.cluster_ips == []
    assert site.spec.note is None
    assert site.spec.image == ""
    assert site.status.since is None


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ({"replicas": 11}, "<= 10"),
        ({"mode": "other"}, "enum"),
        ({"clusterIPs": ["a", "b", "c"]}, "length <= 2"),
    ],
)
def test_enums_and_bounds_hold_when_objects_are_read(spec: dict[str, Any], problem: str) -> None:
    with pytest.raises(DecodeError, match=problem):
        class_in(module_from_crd(CRD)).from_dict(OBJECT | {"spec": spec})


def test_a_pattern_is_left_to_the_server() -> None:
    """Its syntax is not Python's, and a hostile one would block a client."""
    website = class_in(module_from_crd(CRD))

    site: Any = website.from_dict(OBJECT | {"spec": {"from": "NO MATCH"}})

    assert site.spec.from_ == "NO MATCH"


def test_merge_rules_are_those_of_the_definition() -> None:
    spec = facts_of(class_in(module_from_crd(CRD))).inside("spec")

    assert spec is not None
    assert spec.field("ports") == FieldFacts(list_type="map", list_map_keys=("port",))


def test_the_class_is_the_resource_that_was_defined() -> None:
    info = resource_of(class_in(module_from_crd(CRD)))

    assert (info.group, info.version, info.plural) == ("example.com", "v1", "websites")
    assert info.short_names == ("web",)
    assert [part.name for part in info.subresources] == ["scale", "status"]


@pytest.mark.parametrize("form", [dump_yaml(CRD), dump_yaml(CRD).encode(), CRD], ids=type)
def test_a_definition_may_be_text_or_data_or_an_object(form: Any) -> None:
    from_object = module_from_crd(CustomResourceDefinition.from_dict(CRD))

    assert module_from_crd(form) == from_object


def test_timestamps_can_stay_text() -> None:
    website = class_in(module_from_crd(CRD, timestamps_as_text=True))
    data = OBJECT | {"status": {"since": "2024-01-02T03:04:05.678+01:00"}}

    assert website.from_dict(data).to_dict() == data


def _two_versions() -> dict[str, Any]:
    schema = {"type": "object", "properties": {"spec": {"type": "object"}}}
    return crd(
        schema,
        versions=[
            {"name": "v1", "storage": True, "schema": {"openAPIV3Schema": schema}},
            {"name": "v2", "storage": False, "schema": {"openAPIV3Schema": schema}},
        ],
    )


def test_there_is_a_module_for_each_version() -> None:
    found = modules_from_crd(_two_versions())

    assert {name: class_in(text).__kind_options__["version"] for name, text in found.items()} == {
        "v1": "v1",
        "v2": "v2",
    }


def test_the_storage_version_is_generated_by_default() -> None:
    assert "example.com/v1," in module_from_crd(_two_versions())
    assert "example.com/v2," in module_from_crd(_two_versions(), version="v2")
    with pytest.raises(InvalidArgument, match="no version 'v3' \\(it has v1, v2\\)"):
        module_from_crd(_two_versions(), version="v3")


def _spec(**properties: Any) -> str:
    inner = {"type": "object", "properties": properties}
    return module_from_crd(crd({"type": "object", "properties": {"spec": inner}}))


def test_equal_schemas_of_one_name_share_a_class() -> None:
    ref = {"type": "object", "properties": {"name": {"type": "string"}}}
    text = _spec(
        a={"type": "object", "properties": {"secretRef": ref}},
        b={"type": "object", "properties": {"secretRef": ref, "other": ref}},
    )

    assert text.count("(Model):") == 5  # spec, a, b, one secretRef, other
    assert text.count(": WebsiteSpecASecretRef | None") == 2


def test_colliding_names_become_unique() -> None:
    text = _spec(hostIP={"type": "string"}, hostIp={"type": "string"}, host_ip={"type": "string"})
    site: Any = class_in(text)()

    site.spec.host_ip, site.spec.host_ip_2, site.spec.host_ip_3 = "a", "b", "c"

    assert site.to_dict()["spec"] == {"hostIP": "a", "hostIp": "b", "host_ip": "c"}


@pytest.mark.parametrize("kind", ["Model", "Resource", "Any", "None", "Column", "my-kind"])
def test_a_kind_cannot_hide_what_the_module_needs(kind: str) -> None:
    inner = {"type": "object", "properties": {"a": {"type": "array", "items": {}}}}
    schema = {"type": "object", "properties": {"spec": inner}}
    text = module_from_crd(crd(schema, names={"kind": kind, "plural": "things"}))

    assert crd_of(class_in(text)).spec.names.kind == kind


def test_a_module_without_schema_is_a_kind_without_fields() -> None:
    data = crd({})
    del data["spec"]["versions"][0]["schema"]

    website = class_in(module_from_crd(data))

    assert website.from_dict({"spec": {"a": 1}}).to_dict()["spec"] == {"a": 1}


def test_keywords_at_the_root_are_kept() -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "x-kubernetes-validations": [{"rule": "has(self.spec)"}],
        "properties": {
            "metadata": {"type": "object", "properties": {"name": {"maxLength": 9}}},
            "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        },
    }
    version = crd_of(class_in(module_from_crd(crd(schema)))).to_dict()["spec"]["versions"][0]

    found = version["schema"]["openAPIV3Schema"]
    assert found["x-kubernetes-validations"] == schema["x-kubernetes-validations"]
    assert found["properties"]["metadata"] == schema["properties"]["metadata"]
    assert "subresources" not in version  # a status alone is no subresource


def test_every_name_of_the_module_is_exported() -> None:
    text = module_from_crd(CRD)

    classes = [node.name for node in ast.parse(text).body if isinstance(node, ast.ClassDef)]
    assert sorted(classes) == names_in(text)["__all__"]


EXPECTED = '''\
"""Website of example.com/v1, written from its CustomResourceDefinition."""

from typing import Annotated, Any, Literal

import msgspec

from kubeloop.wire import (
    UNSET,
    Column,
    FieldFacts,
    IntOrString,
    Model,
    Quantity,
    Resource,
    ScalePaths,
    Time,
)

__all__ = [
    "Website",
    "WebsiteSpec",
    "WebsiteSpecNothing",
    "WebsiteSpecPortsItem",
    "WebsiteSpecTls",
    "WebsiteStatus",
]


class WebsiteSpecPortsItem(Model):
    port: Annotated[int, msgspec.Meta(extra_json_schema={"format": "int32"})]
    datetime: Time | None = None


class WebsiteSpecNothing(Model):
    pass


class WebsiteSpecTls(Model):
    """How it is encrypted."""

    secret: bytes | None = None


class WebsiteSpec(Model):
    image: Annotated[str, msgspec.Meta(min_length=1, description="What runs.")]
    replicas: Annotated[int, msgspec.Meta(ge=1, le=10)] = 1
    mode: Literal["fast", "slow"] = "fast"
    cluster_ips: Annotated[list[str], msgspec.Meta(max_length=2)] = msgspec.field(
        default=UNSET,
        name="clusterIPs",
    )
    from_: Annotated[str, msgspec.Meta(extra_json_schema={"pattern": "^[a-z]+$"})] | None = None
    x_odd_name: bool | None = msgspec.field(default=None, name="x-odd name")
    cpu: Quantity | None = None
    port: IntOrString = 80
    ports: Annotated[
        list[WebsiteSpecPortsItem],
        FieldFacts(list_type="map", list_map_keys=("port",)),
    ] = UNSET
    labels: dict[str, str] = UNSET
    free: dict[str, Any] = UNSET
    any: Any = None
    nothing: WebsiteSpecNothing | None = None
    note: Annotated[str, msgspec.Meta(extra_json_schema={"nullable": True})] | None = None
    tls: Annotated[WebsiteSpecTls, msgspec.Meta(extra_json_schema={"default": {}})] | None = None
    ratio: Annotated[float, msgspec.Meta(gt=0)] = 0.5


class WebsiteStatus(Model):
    since: Time | None = None


class Website(
    Resource,
    group="example.com",
    version="v1",
    plural="websites",
    short_names=("web",),
    categories=("all", "shop"),
    columns=(
        Column("Age", ".metadata.creationTimestamp", type="date"),
        Column("Note", ".spec.note", priority=1),
    ),
    selectable_fields=(".spec.image",),
    scale=ScalePaths(label_selector=".status.selector"),
):
    """A site.

    It is served.
    """

    spec: Annotated[
        WebsiteSpec,
        msgspec.Meta(
            extra_json_schema={
                "x-kubernetes-validations": [{"message": "too many", "rule": "self.replicas < 9"}],
            },
        ),
    ]
    status: WebsiteStatus = UNSET
'''
