"""Which fields a class says must be there, and names of its own on the wire."""

from __future__ import annotations

import msgspec
import pytest

from kubeloop.wire import UNSET, Model, Resource, ScalePaths, required_fields, resource_of
from kubeloop.wire.apps.v1 import DeploymentSpec
from kubeloop.wire.core.v1 import Container, ContainerPort, Pod, PodTemplateSpec
from kubeloop.wire.meta.v1 import Condition, ObjectMeta
from kubeloop.wire.naming import attribute, camel, class_name


class Part(Model):
    bare: str
    renamed: int = msgspec.field(name="reNamed")
    unset: str = UNSET
    empty: list[str] = []  # noqa: RUF012 - a struct's field, new for each object
    none: str | None = None
    value: int = 1


class Derived(Part):
    bare: str = "now with a value"
    more: list[str]


class Gadget(
    Resource,
    group="example.com",
    version="v1",
    plural="gadgets",
    scale=ScalePaths(),
    status_subresource=False,
):
    status: Part = UNSET


def test_fields_without_a_value_are_required() -> None:
    assert required_fields(Part) == {"bare", "reNamed"}


def test_a_derived_class_can_give_a_value_to_what_was_required() -> None:
    assert required_fields(Derived) == {"reNamed", "more"}


@pytest.mark.parametrize(
    ("cls", "required"),
    [
        (ContainerPort, {"containerPort"}),
        (Container, {"name"}),
        (Condition, {"type", "status", "reason", "message"}),
        (ObjectMeta, set()),
        (Pod, set()),
        (PodTemplateSpec, set()),
        (DeploymentSpec, {"selector", "template"}),
    ],
)
def test_built_in_models_require_what_has_no_other_form(
    cls: type[Model], required: set[str]
) -> None:
    assert required_fields(cls) == required


def test_a_required_field_with_a_name_of_its_own_may_be_absent_too() -> None:
    part = Part.from_dict({"bare": "x"})

    assert part.renamed == 0
    assert part.to_dict() == {"bare": "x", "value": 1}
    assert Part.from_dict({"reNamed": 5}).renamed == 5


def test_a_kind_may_have_a_status_without_the_subresource() -> None:
    assert [part.name for part in resource_of(Gadget).subresources] == ["scale"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Website", "Website"),
        ("clusterIPs", "ClusterIPs"),
        ("tls-config", "TlsConfig"),
        ("8ball", "Part8ball"),
        ("é", "Part"),
        ("", "Part"),
    ],
)
def test_classes_are_named_after_what_they_describe(text: str, name: str) -> None:
    assert class_name(text) == name


@pytest.mark.parametrize("wire", ["１２", "é", "٣", "a２b", "²"])
def test_attributes_hold_no_letters_that_python_would_change(wire: str) -> None:
    assert attribute(wire).isascii()


@pytest.mark.parametrize("name", ["a_b", "from_", "field_8ball", "a1b_c2d", "x_2", "cluster_ip"])
def test_camel_is_what_msgspec_makes_of_an_attribute(name: str) -> None:
    (found,) = msgspec.defstruct("Any", [name], rename="camel").__struct_encode_fields__

    assert camel(name) == found
