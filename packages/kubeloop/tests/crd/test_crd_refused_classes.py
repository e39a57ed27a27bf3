"""Classes that cannot become a CustomResourceDefinition, and their errors."""

from __future__ import annotations

import dataclasses
import types
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, cast

import pytest
from msgspec import Meta

from kubeloop.crd import crd_of, schema_of
from kubeloop.wire import UNSET, Column, FieldFacts, InvalidArgument, Model, Resource, ScalePaths


class Website(Resource, group="example.com", version="v1", plural="websites", short_names=("web",)):
    spec: dict[str, Any]


class Zone(Resource, group="example.com", version="v1", plural="zones"):
    pass


def _schema(hint: Any) -> dict[str, Any]:
    model = type("Part", (Model,), {"__annotations__": {"field": hint}, "field": UNSET})
    return schema_of(model)


class Tree(Model):
    branches: list[Branch]


class Branch(Model):
    tree: Tree | None = None


def test_a_recursive_class_is_rejected_with_its_path() -> None:
    with pytest.raises(InvalidArgument, match=r"Tree\.branches\[\]\.tree: .*Tree → Branch → Tree"):
        schema_of(Tree)


@dataclasses.dataclass
class Plain:
    name: str


@pytest.mark.parametrize(
    ("hint", "advice"),
    [
        (list, "list[str]"),
        (tuple[str, ...], "list[…]"),
        (set[str], 'FieldFacts(list_type="set")'),
        (dict, "dict[str, …]"),
        (dict[int, str], "dict[str, …]"),
        (Plain, "derive Plain from Model"),
        (Decimal, "write str"),
        (object, "Any"),
        (int | bool, "IntOrString"),
        (Literal["a", 1], "only strings"),
        (Literal[True], "only strings"),
        (Annotated[str, Meta(ge=1)], "remove it"),
        (Annotated[bytes, Meta(min_length=1)], "remove it"),
        (Annotated[Any, Meta(pattern="a")], "remove it"),
    ],
    ids=str,
)
def test_an_annotation_that_a_schema_cannot_express_is_rejected_with_a_suggestion(
    hint: Any, advice: str
) -> None:
    with pytest.raises(InvalidArgument) as caught:
        _schema(hint)

    assert str(caught.value).startswith("Part.field: ")
    assert advice in str(caught.value)


class Port(Model):
    name: str | None = None


class Ports(Model):
    loose: Annotated[list[Port], FieldFacts(list_type="map", list_map_keys=("name",))] = UNSET


class Strays(Model):
    stray: Annotated[list[Port], FieldFacts(list_type="map", list_map_keys=("port",))] = UNSET


@pytest.mark.parametrize(
    ("model", "problem"),
    [(Ports, "key name may be absent"), (Strays, "no field port")],
)
def test_the_keys_of_a_list_must_be_in_every_item(model: type[Model], problem: str) -> None:
    with pytest.raises(InvalidArgument, match=problem):
        schema_of(model)


def test_a_default_that_cannot_be_sent_is_refused() -> None:
    zoneless = datetime(2024, 1, 2)  # noqa: DTZ001 - that is what is wrong with it
    model = type("Part", (Model,), {"__annotations__": {"when": datetime}, "when": zoneless})

    with pytest.raises(InvalidArgument, match="the defaults of Part"):
        schema_of(model)


def _kind(**options: Any) -> type[Resource]:
    required = {"group": "example.com", "version": "v1", "kind": "Website", "plural": "websites"}
    return cast("type[Resource]", types.new_class("Other", (Resource,), required | options))


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"group": ""}, "group|name"),
        ({"group": "apps"}, "is not a domain"),
        ({"group": "Example.com"}, "RFC 1123"),
        ({"plural": "Websites"}, "DNS-1035"),
        ({"kind": "Web site"}, "DNS-1035"),
        ({"version": "v1.0"}, "DNS-1035"),
        ({"short_names": ("W",)}, "DNS-1035"),
        ({"columns": (Column("A", "spec.a"),)}, "begin with a dot"),
        ({"columns": (Column("A", ".a", type="text"),)}, "use one of string"),  # type: ignore[arg-type] # meant
        ({"scale": ScalePaths("replicas")}, "begin with a dot"),
        ({"selectable_fields": ("spec.a",)}, "begin with a dot"),
    ],
    ids=str,
)
def test_options_that_the_server_would_reject_are_rejected(
    options: dict[str, Any], problem: str
) -> None:
    with pytest.raises(InvalidArgument, match=problem):
        crd_of(_kind(**options))


@pytest.mark.parametrize(
    ("classes", "problem"),
    [
        ((), "at least one class"),
        ((Website, _kind(version="v2")), "short_names is"),
        ((_kind(), _kind(version="v2", namespaced=False)), "namespaced is True in one"),
        ((_kind(), _kind()), "several classes are version v1"),
        ((_kind(kind="Site"), _kind(version="v2")), "kind is 'Site' in one"),
    ],
)
def test_versions_must_belong_together(classes: tuple[type[Resource], ...], problem: str) -> None:
    with pytest.raises(InvalidArgument, match=problem):
        crd_of(*classes)


def test_the_stored_version_must_be_one_of_them() -> None:
    with pytest.raises(InvalidArgument, match="not one of the versions"):
        crd_of(Website, storage=Zone)


def test_a_class_that_is_no_resource_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="does not name a resource"):
        crd_of(type("Bare", (Resource,), {}))
