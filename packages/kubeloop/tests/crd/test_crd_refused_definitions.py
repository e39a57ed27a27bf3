"""Definitions that cannot become classes, and their errors."""

from __future__ import annotations

from typing import Any

import pytest

from kubeloop.crd import module_from_crd
from kubeloop.wire import InvalidArgument
from tests.crd.crd_modules import crd


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"group": "not a domain"}, "RFC 1123"),
        ({"group": None}, "spec.group: expected text"),
        ({"scope": "World"}, "spec.scope"),
        ({"names": {"kind": "a b", "plural": "as"}}, "DNS-1035"),
        ({"names": {"kind": "A", "plural": "A/b"}}, "DNS-1035"),
        ({"names": {"kind": "A"}}, "plural: expected text"),
        ({"names": []}, "spec.names: expected an object"),
        ({"versions": []}, "no version"),
        ({"versions": {}}, "expected a list"),
        ({"versions": [{"name": "v1\n"}]}, "DNS-1035"),
        ({"versions": [{"name": "v1", "schema": 1}]}, "expected an object"),
        (
            {"versions": [{"name": "v1", "additionalPrinterColumns": [{"name": 1}]}]},
            "additionalPrinterColumns.name",
        ),
        (
            {
                "versions": [
                    {
                        "name": "v1",
                        "additionalPrinterColumns": [
                            {"name": "a", "jsonPath": ".a", "priority": "x"}
                        ],
                    }
                ]
            },
            "additionalPrinterColumns.priority",
        ),
    ],
)
def test_a_definition_the_server_would_refuse_is_refused(
    change: dict[str, Any], problem: str
) -> None:
    with pytest.raises(InvalidArgument, match=problem):
        module_from_crd(crd({"type": "object"}, **change))


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ({"type": "strange"}, r"properties\[spec\]: not a type of a schema: 'strange'"),
        ({"type": ["string", "null"]}, "not a type of a schema"),
        ({"$ref": "#/definitions/a"}, r"\$ref is not allowed"),
        ([], "expected an object"),
        ({"type": "object", "properties": {"a": 1}}, r"properties\[a\]: expected an object"),
        ({"type": "object", "properties": {"a": {}}, "required": "a"}, "list of names"),
        ({"type": "array", "items": [{}]}, "items: expected an object"),
        ({"type": "object", "properties": {'a"b': {}}}, "a class cannot have a field"),
        ({"type": "object", "properties": {"$extra": {}}}, "a class cannot have a field"),
    ],
)
def test_a_schema_that_classes_cannot_express_is_rejected(schema: Any, problem: str) -> None:
    with pytest.raises(InvalidArgument, match=problem):
        module_from_crd(crd({"type": "object", "properties": {"spec": schema}}))


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {},
        "",
        "just text",
        "{",
        {"kind": "Pod", "apiVersion": "v1"},
        {"kind": "CustomResourceDefinition", "apiVersion": "apiextensions.k8s.io/v1beta1"},
        {"kind": object()},
    ],
    ids=repr,
)
def test_other_objects_than_definitions_are_rejected(data: Any) -> None:
    with pytest.raises(InvalidArgument):
        module_from_crd(data)


@pytest.mark.parametrize("levels", [60, 400, 5000])
def test_a_schema_without_end_is_refused(levels: int) -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "array", "items": schema}

    with pytest.raises(InvalidArgument):
        module_from_crd(crd({"type": "object", "properties": {"spec": schema}}))


@pytest.mark.parametrize("levels", [250, 900])
def test_a_default_without_end_is_refused(levels: int) -> None:
    default: list[Any] = []
    for _ in range(levels):
        default = [default]

    with pytest.raises(InvalidArgument):
        module_from_crd(
            crd(
                {
                    "type": "object",
                    "properties": {"spec": {"type": "array", "items": {}, "default": default}},
                }
            )
        )
