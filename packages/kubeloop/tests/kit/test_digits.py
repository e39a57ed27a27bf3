"""Numbers in texts from elsewhere."""

from __future__ import annotations

import pytest

from kubeloop.kit import whole_number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("0080", 80),
        ("9" * 18, 10**18 - 1),
        ("9" * 5000, None),  # `int` raises ValueError
        ("²", None),  # as well, although it is a digit
        ("٣", None),
        ("-1", None),
        ("1_0", None),
        (" 1", None),
        ("", None),
    ],
)
def test_only_ascii_digits_are_a_number(text: str, number: int | None) -> None:
    assert whole_number(text) == number
