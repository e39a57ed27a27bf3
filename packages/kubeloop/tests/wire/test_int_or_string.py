"""Numbers or strings: what is a number, and what a percentage comes to."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.wire import check_int_or_string, parse_int_or_string, scaled_value
from kubeloop.wire.errors import InvalidArgument


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("80", 80),
        ("-1", -1),
        ("+5", 5),
        ("007", 7),
        ("0" * 5000 + "1", 1),
        ("2147483647", 2**31 - 1),
        ("-2147483648", -(2**31)),
        ("2147483648", "2147483648"),
        ("http", "http"),
        ("50%", "50%"),
        ("", ""),
        (" 80", " 80"),
        ("8_0", "8_0"),
        ("1.0", "1.0"),
        ("\u0661", "\u0661"),
        ("9" * 5000, "9" * 5000),
    ],
)
def test_a_text_that_is_a_number_of_32_bits_becomes_one(text: str, value: int | str) -> None:
    """API-22: IntOrString."""
    assert parse_int_or_string(text) == value
    assert type(parse_int_or_string(text)) is type(value)


@pytest.mark.parametrize(
    ("value", "up", "down"),
    [("50%", 3, 2), (5, 5, 5), ("0%", 0, 0), ("100%", 5, 5), ("1%", 1, 0), ("-50%", -2, -3), (-1, -1, -1)],
)  # fmt: skip
def test_a_percentage_of_the_total_is_rounded_as_asked(
    value: int | str, up: int, down: int
) -> None:
    """API-C8, API-22: percentages of IntOrString."""
    assert scaled_value(value, 5, round_up=True) == up
    assert scaled_value(value, 5, round_up=False) == down


@pytest.mark.parametrize(
    "value", ["5", "", "%", "5 %", "5%%", "x%", "1.5%", "\u0661%", None, 2**31, True]
)
def test_what_is_no_percentage_and_no_integer_is_an_error(value: int | str) -> None:
    """API-C8: "5" as percent is an error"""
    with pytest.raises(InvalidArgument):
        scaled_value(value, 5, round_up=True)


def test_the_error_names_the_text_and_what_to_write() -> None:
    with pytest.raises(InvalidArgument, match=r"'5' is not a percentage .*25%"):
        scaled_value("5", 5, round_up=True)


@pytest.mark.parametrize("value", [0, 2**31 - 1, -(2**31), "", "http"])
def test_what_fits_is_handed_back(value: int | str) -> None:
    """API-22: IntOrString."""
    assert check_int_or_string(value) == value


@pytest.mark.parametrize("value", [2**31, -(2**31) - 1, True, 1.0, None, b"x"])
def test_values_beyond_32_bits_and_other_types_are_rejected(value: object) -> None:
    """API-22: a number has 32 bits"""
    with pytest.raises(InvalidArgument):
        check_int_or_string(value)


@given(st.integers(-1000, 1000), st.integers(0, 10**12))
def test_a_percentage_is_exact(percent: int, total: int) -> None:
    exact = Fraction(percent * total, 100)

    assert scaled_value(f"{percent}%", total, round_up=True) == ceil(exact)
    assert scaled_value(f"{percent}%", total, round_up=False) == floor(exact)
