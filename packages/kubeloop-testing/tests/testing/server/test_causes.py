"""The messages of causes: the error type, the value as Go prints it, the rule."""

from __future__ import annotations

from typing import Any

import pytest

from kubeloop_testing.server.values import causes


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("x", '"x"'),
        ('a"b\\n\n', r'"a\"b\\n\n"'),
        ("\x00é\u200b", '"\\x00é\\u200b"'),
        (3, "3"),
        (3.0, "3"),
        (1.5, "1.5"),
        (True, "true"),
        (None, "null"),
        ({"b": 1, "a": ["<"]}, '{"a":["\\u003c"],"b":1}'),
    ],
)
def test_a_value_is_printed_as_go_prints_it(value: Any, shown: str) -> None:
    """The format of kube-apiserver's field errors."""
    assert causes.invalid("f", value, "no").message == f"Invalid value: {shown}: no"


def test_each_error_type_has_its_reason_and_message() -> None:
    causes_found = [
        causes.required("f"),
        causes.required("f", "say it"),
        causes.forbidden("f", "not here"),
        causes.not_supported("f", "x", ("a", "b")),
        causes.duplicate("f", {"port": 80}),
        causes.not_found("f", "x"),
        causes.too_long("f", 1),
        causes.too_many("f", 3, 2),
        causes.type_invalid("f", "string", "wrong"),
    ]

    assert [(each.reason.removeprefix("FieldValue"), each.message) for each in causes_found] == [
        ("Required", "Required value"),
        ("Required", "Required value: say it"),
        ("Forbidden", "Forbidden: not here"),
        ("NotSupported", 'Unsupported value: "x": supported values: "a", "b"'),
        ("Duplicate", 'Duplicate value: {"port":80}'),
        ("NotFound", 'Not found: "x"'),
        ("TooLong", "Too long: may not be more than 1 byte"),
        ("TooMany", "Too many: 3: must have at most 2 items"),
        ("TypeInvalid", 'Invalid value: "string": wrong'),
    ]
