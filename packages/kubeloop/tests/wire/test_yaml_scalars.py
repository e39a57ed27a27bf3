"""What a YAML scalar means; each expectation is what sigs.k8s.io/yaml answered, save base64."""

from __future__ import annotations

import pytest

from kubeloop.wire.yaml import load_document


@pytest.mark.parametrize("text", ["y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "true", "TRUE"])
def test_the_words_of_yaml_1_1_for_yes_are_true(text: str) -> None:
    assert load_document(text) is True


@pytest.mark.parametrize(
    "text", ["n", "N", "no", "No", "NO", "off", "Off", "OFF", "false", "False"]
)
def test_the_words_of_yaml_1_1_for_no_are_false(text: str) -> None:
    assert load_document(text) is False


@pytest.mark.parametrize("text", ["~", "null", "Null", "NULL", "!!null ''"])
def test_the_words_for_nothing_are_none(text: str) -> None:
    assert load_document(f"v: {text}") == {"v": None}


def test_a_key_without_a_value_has_none() -> None:
    assert load_document("a:\nb: 1") == {"a": None, "b": 1}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0644", 420),
        ("0o644", 420),
        ("-0o17", -15),
        ("0x1F", 31),
        ("0X1f", 31),
        ("0b11", 3),
        ("-0b11", -3),
        ("0b-1", -1),
        ("+12", 12),
        ("00", 0),
        ("1_000", 1000),
        ("1__0_", 10),
        ("0x_ff", 255),
        ("+_1", 1),
        ("-9223372036854775808", -(2**63)),
        ("18446744073709551615", 2**64 - 1),
        ('!!int "12"', 12),
    ],
)
def test_integers_are_read_as_go_reads_them(text: str, value: int) -> None:
    found = load_document(text)

    assert found == value
    assert type(found) is int


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e3", 1000.0),
        ("1.5e3", 1500.0),
        ("1E-2", 0.01),
        ("1.", 1.0),
        ("1.e3", 1000.0),
        (".5", 0.5),
        ("+.5", 0.5),
        (".5_0", 0.5),
        ("1_0.5", 10.5),
        ("08", 8.0),
        ("18446744073709551616", 2.0**64),
        ("-9223372036854775809", -(2.0**63)),
        ("+18446744073709551615", 2.0**64),
        ("!!float 1", 1.0),
        ("-0.0", -0.0),
    ],
)
def test_floats_are_read_as_go_reads_them(text: str, value: float) -> None:
    found = load_document(text)

    assert found == value
    assert type(found) is float


@pytest.mark.parametrize(
    "text",
    [
        "22:22",
        "1:30",
        "190:20:30.15",
        "2024-01-01",
        "2024-01-01T10:00:00Z",
        "2024-01-01 10:00:00",
        "1e400",
        "0x10000000000000000",
        "._5",
        ".5__0",
        "0b12",
        "0o8",
        "0x1p4",
        "_1",
        "nUll",
        "yEs",
        "+",
        ".",
        "=",
        "<<",
        "１２",
        "10.0.0.1",
        "1" * 5000,
    ],
)
def test_whatever_only_looks_like_a_number_or_a_date_is_text(text: str) -> None:
    assert load_document(f"v: [{text}]") == {"v": [text]}


@pytest.mark.parametrize("text", ["!!str 12", "'12'", '"12"', "! 12", "!!timestamp 12"])
def test_quoted_and_tagged_text_is_text(text: str) -> None:
    assert load_document(text) == "12"


def test_binary_stays_the_base64_that_json_carries() -> None:
    assert load_document("data: !!binary |\n  aGVs\n  bG8=\n") == {"data": "aGVsbG8="}


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("1", "1"),
        ("0x10", "16"),
        ("true", "true"),
        ("yes", "true"),
        ("off", "false"),
        ("1.50", "1.5"),
        ("1e3", "1000"),
        ("123456.0", "123456"),
        ("1000000.5", "1.0000005e+06"),
        ("0.00001", "1e-05"),
        ("3.14159265358979", "3.1415927"),
        ("-0.0", "-0"),
        (".inf", ".inf"),
        ("-.inf", "-.inf"),
        (".nan", ".nan"),
        ("1e300", ".inf"),
        ("2024-01-01", "2024-01-01"),
        ("'<<'", "<<"),
    ],
)
def test_keys_become_text_as_kubernetes_makes_them(text: str, key: str) -> None:
    assert load_document(f"{text}: v") == {key: "v"}
