"""Numbers in texts from elsewhere: headers, names, annotations.

Guarantees: no error. `int` reads digits of every script, and raises for `²`, which is a digit for
`str.isdigit`, and for more than 4,300 digits.
"""

from __future__ import annotations

__all__ = ["whole_number"]

_MAX_DIGITS = 18  # fits 64 bits


def whole_number(text: str) -> int | None:
    """The number that ASCII digits represent; None for other texts and for more than 18 digits.

    >>> whole_number("8080"), whole_number("²"), whole_number("-1")
    (8080, None, None)
    """
    is_number = text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS
    return int(text) if is_number else None
