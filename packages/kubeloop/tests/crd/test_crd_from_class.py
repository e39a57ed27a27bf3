"""From a class to the CustomResourceDefinition that a server takes."""

from __future__ import annotations

import enum
import subprocess
import sys
from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
import pytest
from msgspec import Meta

from kubeloop.crd import crd_of, schema_of
from kubeloop.wire import (
    UNSET,
    Column,
    Duration,
    FieldFacts,
    IntOrString,
    MicroTime,
    Model,
    Quantity,
    Resource,
    ScalePaths,
)
from kubeloop.wire.core.v1 import ContainerPort, PodTemplateSpec, Service
from kubeloop.wire.meta.v1 import Condition, LabelSelector


class Size(enum.Enum):
    """How much it gets."""

    SMALL = "small"
    BIG = "big"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Tls(Model):
    """How the site is encrypted.

    How the key gets there is not defined.
    """

    secret_name: str
    oldest: Literal["1.2", "1.3"] = "1.2"


class WebsiteSpec(Model):
    image: str
    replicas: Annotated[int, Meta(ge=1, le=10, description="How many pods.")] = 1
    tls: Tls | None = None
    hosts: Annotated[list[str], Meta(max_length=5), FieldFacts(list_type="set")] = []  # noqa: RUF012 - a struct's field, new for each object


class WebsiteStatus(Model):
    ready: int = UNSET
    conditions: Annotated[list[Condition], FieldFacts(list_type="map", list_map_keys=("type",))] = (
        UNSET
    )


class Website(
    Resource,
    group="example.com",
    version="v1",
    plural="websites",
    short_names=("web",),
    categories=("all",),
    columns=(
        Column("Image", ".spec.image"),
        Column("Ready", ".status.ready", type="integer", priority=1, description="Pods."),
    ),
    scale=ScalePaths(status_replicas=".status.ready"),
    selectable_fields=(".spec.image",),
):
    """A site that is served."""

    spec: WebsiteSpec
    status: WebsiteStatus = UNSET


class OldWebsite(
    Resource,
    group="example.com",
    version="v1beta1",
    kind="Website",
    plural="websites",
    short_names=("web",),
    categories=("all",),
):
    spec: dict[str, Any]


class Zone(Resource, group="example.com", version="v1", plural="zones", namespaced=False):
    name: str = UNSET


def _schema(hint: Any) -> dict[str, Any]:
    """The schema of one optional field that is annotated with `hint`."""
    model = type("Part", (Model,), {"__annotations__": {"field": hint}, "field": UNSET})
    found: dict[str, Any] = schema_of(model)["properties"]["field"]
    return found


def test_a_class_becomes_the_whole_definition() -> None:
    assert crd_of(Website).to_dict() == {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "websites.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {
                "kind": "Website",
                "listKind": "WebsiteList",
                "plural": "websites",
                "singular": "website",
                "shortNames": ["web"],
                "categories": ["all"],
            },
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "subresources": {
                        "scale": {
                            "specReplicasPath": ".spec.replicas",
                            "statusReplicasPath": ".status.ready",
                        },
                        "status": {},
                    },
                    "additionalPrinterColumns": [
                        {"name": "Image", "type": "string", "jsonPath": ".spec.image"},
                        {
                            "name": "Ready",
                            "type": "integer",
                            "jsonPath": ".status.ready",
                            "priority": 1,
                            "description": "Pods.",
                        },
                    ],
                    "selectableFields": [{"jsonPath": ".spec.image"}],
                    "schema": {
                        "openAPIV3Schema": {
                            "type": "object",
                            "description": "A site that is served.",
                            "required": ["spec"],
                            "properties": {
                                "apiVersion": {"type": "string"},
                                "kind": {"type": "string"},
                                "metadata": {"type": "object"},
                                "spec": schema_of(WebsiteSpec),
                                "status": schema_of(WebsiteStatus),
                            },
                        }
                    },
                }
            ],
        },
    }


def test_defaults_bounds_docstrings_and_requirements_are_in_the_schema() -> None:
    assert schema_of(WebsiteSpec) == {
        "type": "object",
        "required": ["image"],
        "properties": {
            "image": {"type": "string"},
            "replicas": {
                "type": "integer",
                "minimum": 1,
                "maximum": 10,
                "default": 1,
                "description": "How many pods.",
            },
            "tls": {
                "type": "object",
                "description": "How the site is encrypted.\n\n"
                "How the key gets there is not defined.",
                "required": ["secretName"],
                "properties": {
                    "secretName": {"type": "string"},
                    "oldest": {"type": "string", "enum": ["1.2", "1.3"], "default": "1.2"},
                },
            },
            "hosts": {
                "type": "array",
                "items": {"type": "string"},
                "maxItems": 5,
                "x-kubernetes-list-type": "set",
            },
        },
    }


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (str, {"type": "string"}),
        (bool, {"type": "boolean"}),
        (int, {"type": "integer"}),
        (float, {"type": "number"}),
        (int | float, {"type": "number"}),
        (bytes, {"type": "string", "format": "byte"}),
        (datetime, {"type": "string", "format": "date-time"}),
        (MicroTime, {"type": "string", "format": "date-time"}),
        (Duration, {"type": "string"}),
        (Any, {"x-kubernetes-preserve-unknown-fields": True}),
        (dict[str, Any], {"type": "object", "x-kubernetes-preserve-unknown-fields": True}),
        (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
        (list[Any], {"type": "array", "items": {"x-kubernetes-preserve-unknown-fields": True}}),
        (
            list[str | None],
            {"type": "array", "items": {"type": "string", "nullable": True}},
        ),
        (str | None, {"type": "string"}),
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
        (Literal[1, 2] | None, {"type": "integer", "enum": [1, 2]}),
        (Size, {"type": "string", "enum": ["small", "big"], "description": "How much it gets."}),
        (Level, {"type": "integer", "enum": [1, 2]}),
        (
            IntOrString,
            {
                "anyOf": [{"type": "integer"}, {"type": "string"}],
                "x-kubernetes-int-or-string": True,
            },
        ),
        (
            Annotated[float, Meta(gt=0, lt=1.5, title="T", examples=[0.5, 1])],
            {
                "type": "number",
                "minimum": 0,
                "exclusiveMinimum": True,
                "maximum": 1.5,
                "exclusiveMaximum": True,
                "title": "T",
                "example": 0.5,
            },
        ),
        (
            Annotated[str, Meta(min_length=1, max_length=9, pattern="^a")] | None,
            {"type": "string", "minLength": 1, "maxLength": 9, "pattern": "^a"},
        ),
        (Annotated[int, Meta(multiple_of=5)], {"type": "integer", "multipleOf": 5}),
        (
            Annotated[dict[str, str], Meta(min_length=1, max_length=2)],
            {
                "type": "object",
                "additionalProperties": {"type": "string"},
                "minProperties": 1,
                "maxProperties": 2,
            },
        ),
        (
            list[Annotated[int, Meta(ge=1)]],
            {"type": "array", "items": {"type": "integer", "minimum": 1}},
        ),
        (
            Annotated[Annotated[str, Meta(description="inner")] | None, Meta(description="outer")],
            {"type": "string", "description": "outer"},
        ),
        (
            Annotated[str, Meta(extra_json_schema={"format": "uuid", "nullable": True})],
            {"type": "string", "format": "uuid", "nullable": True},
        ),
        (
            Annotated[dict[str, str], FieldFacts(map_type="atomic")],
            {
                "type": "object",
                "additionalProperties": {"type": "string"},
                "x-kubernetes-map-type": "atomic",
            },
        ),
    ],
    ids=str,
)
def test_every_annotation_has_its_schema(hint: Any, schema: dict[str, Any]) -> None:
    assert _schema(hint) == schema


def test_an_amount_is_a_number_or_a_text_of_the_apis_own_pattern() -> None:
    schema = _schema(Quantity)

    assert schema.keys() == {"anyOf", "pattern", "x-kubernetes-int-or-string"}
    assert schema["pattern"].startswith(r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|")


class Defaults(Model):
    flag: bool = False
    ratio: float = 0.5
    size: Size = Size.SMALL
    cpu: Quantity = Quantity("100m")
    wait: Duration = Duration.parse("1m30s")
    port: IntOrString = "http"
    tags: list[str] = msgspec.field(default_factory=lambda: ["a"], name="Tags")
    limit: int | None = 5
    key: str | None


def test_defaults_are_written_as_they_would_be_sent() -> None:
    properties = schema_of(Defaults)["properties"]

    found = {name: each["default"] for name, each in properties.items() if "default" in each}
    assert found == {
        "flag": False,
        "ratio": 0.5,
        "size": "small",
        "cpu": "100m",
        "wait": "1m30s",
        "port": "http",
        "Tags": ["a"],
        "limit": 5,
    }


def test_none_is_allowed_if_it_differs_from_absent() -> None:
    schema = schema_of(Defaults)

    nullable = {name for name, each in schema["properties"].items() if each.get("nullable")}
    assert nullable == {"limit", "key"}
    assert schema["required"] == ["key"]


def test_bounds_stay_the_numbers_they_were() -> None:
    text = crd_of(Website).to_yaml()

    assert "maximum: 10\n" in text
    assert "minimum: 1\n" in text


class Uses(Model):
    template: PodTemplateSpec = UNSET
    selector: LabelSelector | None = None
    ports: Annotated[
        list[ContainerPort],
        FieldFacts(list_type="map", list_map_keys=("containerPort",)),
    ] = UNSET
    service: Service | None = None


def test_built_in_types_can_be_parts_of_a_users_kind() -> None:
    schema = schema_of(Uses)

    pod = schema["properties"]["template"]["properties"]["spec"]["properties"]
    container = pod["containers"]["items"]
    assert container["required"] == ["name"]
    assert container["properties"]["ports"]["x-kubernetes-list-map-keys"] == [
        "containerPort",
        "protocol",
    ]
    # The server wants every key of a list to be required or to have a default.
    assert container["properties"]["ports"]["items"]["properties"]["protocol"]["default"] == "TCP"
    assert "default" not in schema["properties"]["service"]
    assert "labels" in schema["properties"]["template"]["properties"]["metadata"]["properties"]


def test_several_classes_are_versions_and_the_last_is_stored() -> None:
    crd = crd_of(OldWebsite, Website)

    found = [(each.name, each.served, each.storage) for each in crd.spec.versions]
    assert found == [("v1beta1", True, False), ("v1", True, True)]


def test_another_version_can_be_the_stored_one() -> None:
    crd = crd_of(OldWebsite, Website, storage=OldWebsite)

    assert [each.storage for each in crd.spec.versions] == [True, False]


def test_a_kind_without_status_has_no_subresources() -> None:
    crd = crd_of(Zone)

    assert crd.spec.scope == "Cluster"
    assert crd.spec.versions[0].subresources is None


class Ruled(
    Resource,
    group="example.com",
    version="v1",
    plural="ruleds",
    status_subresource=False,
    extra_json_schema={
        "x-kubernetes-validations": [{"rule": "self.metadata.name != 'x'"}],
        "properties": {"metadata": {"type": "object", "properties": {"name": {"maxLength": 9}}}},
    },
):
    status: dict[str, str] = UNSET


def test_keywords_without_an_annotation_are_set_at_the_root() -> None:
    version = crd_of(Ruled).to_dict()["spec"]["versions"][0]

    schema = version["schema"]["openAPIV3Schema"]
    assert schema["x-kubernetes-validations"] == [{"rule": "self.metadata.name != 'x'"}]
    assert schema["properties"]["metadata"]["properties"] == {"name": {"maxLength": 9}}
    assert "subresources" not in version


def test_two_definitions_of_one_class_share_nothing() -> None:
    crd_of(Ruled).to_dict()["spec"]["versions"][0]["schema"]["openAPIV3Schema"].clear()
    schema = crd_of(Ruled).spec.versions[0].schema
    assert schema is not None
    assert schema.open_api_v3_schema is not None
    schema.open_api_v3_schema.x_kubernetes_validations.clear()

    assert "x-kubernetes-validations" in crd_of(Ruled).to_yaml()


class Plain(Resource, group="example.com", version="v1", plural="plains"):
    spec: WebsiteSpec
    status: WebsiteStatus


def test_a_status_subresource_is_never_required() -> None:
    """The server drops it on create, and would then reject the object."""
    schema = crd_of(Plain).to_dict()["spec"]["versions"][0]["schema"]["openAPIV3Schema"]

    assert schema["required"] == ["spec"]


@pytest.mark.timeout(60)
def test_generating_classes_is_loaded_on_first_use() -> None:
    program = (
        "import sys, kubeloop.meta, kubeloop.errors\n"
        "assert 'kubeloop.wire.apiextensions.v1' not in sys.modules\n"
        "import kubeloop.crd\n"
        "assert 'kubeloop.crd.classes_from_crd' not in sys.modules\n"
        "assert all(getattr(kubeloop.crd, name) for name in kubeloop.crd.__all__)\n"
    )

    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_default_can_be_the_servers_alone() -> None:
    """An apply does not send, and so does not own, a field that others may set."""
    by_server = Annotated[int, msgspec.Meta(extra_json_schema={"default": 1})]

    assert _schema(by_server | None) == {"type": "integer", "default": 1}
