"""Values of other types than the merge schema has."""

from __future__ import annotations

from typing import Any

import pytest

from kubeloop_testing.server.apply.merging import type_problem
from kubeloop_testing.server.apply.shapes import ValueType

_GOT = "expected string, got &value.valueUnstructured{{Value:{}}}"


@pytest.mark.parametrize(
    ("expected", "value", "text"),
    [
        ("string", 1, "expected string, got &value.valueUnstructured{Value:1}"),
        ("string", {"a": None}, _GOT.format('map[string]interface {}{"a":interface {}(nil)}')),
        ("string", ["x", 1], _GOT.format('[]interface {}{"x", 1}')),
        ("numeric", True, "expected numeric (int or float), got bool"),
        ("numeric", [], "expected numeric (int or float), got []interface {}"),
        ("numeric", {}, "expected numeric (int or float), got map[string]interface {}"),
        ("boolean", 1, "expected boolean, got &{1}"),
        ("list", {"a": None}, "expected list, got &{map[a:<nil>]}"),
        ("map", ["a", 1], "expected map, got &{[a 1]}"),
    ],
)
def test_a_value_of_another_type_is_quoted_as_go_does(
    expected: ValueType, value: Any, text: str
) -> None:
    assert type_problem(value, expected) == text


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        ("string", ""),
        ("numeric", 1.5),
        ("numeric", 0),
        ("boolean", False),
        ("list", []),
        ("map", {}),
    ],
)
def test_a_value_of_its_type_has_no_problem(expected: ValueType, value: Any) -> None:
    assert type_problem(value, expected) == ""
