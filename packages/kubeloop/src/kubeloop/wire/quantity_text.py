"""Parses and formats the text of quantities.

Guarantees: `parse_quantity` is exact to the nano and rounds away from zero below it; parsing
the result of `format_quantity` gives the same number.
See also: the class (`quantity`).
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final, NamedTuple

__all__ = [
    "MAX_INT64",
    "NANO",
    "ParsedQuantity",
    "QuantityFormat",
    "divide_up",
    "format_quantity",
    "keeps_text",
    "match_quantity",
    "parse_quantity",
    "times_ten",
]

NANO: Final = 10**9
MAX_INT64: Final = 2**63 - 1

_DECIMAL: Final = {
    "n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18,
}  # fmt: skip
_BINARY: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_SUFFIX: Final = {exponent: suffix for suffix, exponent in _DECIMAL.items()}
_BINARY_SUFFIX: Final = ("", *_BINARY)
# The number of digits up to which client-go keeps the text (API-20); none for Pi and Ei.
_BINARY_DIGITS_KEPT: Final = {"Ki": 11, "Mi": 8, "Gi": 5, "Ti": 2, "Pi": 0, "Ei": 0}

# Bounded repeats keep matching linear for hostile text, and numbers below the 4300 digits that
# Python prints.
_SYNTAX: Final = re.compile(
    r"([+-]?)(?:([0-9]{1,1000})(?:\.([0-9]{0,2000}))?|\.([0-9]{1,2000}))"
    r"([numkMGTPE]|[KMGTPE]i|[eE](?:\+?0{0,9}(?:[12][0-9]{3}|[0-9]{1,3})|-0{0,9}[0-9]{1,4}))?"
)
match_quantity: Final = _SYNTAX.fullmatch  # called 120,000 times for a large list


class QuantityFormat(StrEnum):
    """The format of a number without a given text: 1M, 1Mi or 1e6."""

    DECIMAL_SI = "DecimalSI"
    BINARY_SI = "BinarySI"
    DECIMAL_EXPONENT = "DecimalExponent"


class _Parts(NamedTuple):
    """The parts of a quantity's text."""

    negative: bool
    whole: str  # without leading zeros; "0" if empty
    fraction: str
    suffix: str
    format: QuantityFormat
    exponent: int  # of 2 in BINARY_SI, else of 10


class ParsedQuantity(NamedTuple):
    """A number in nanos and its format."""

    nanos: int
    format: QuantityFormat


def _parts(text: str) -> _Parts:
    found = match_quantity(text)
    assert found is not None, text  # checked when the quantity was made
    sign, whole, fraction, bare_fraction, suffix = found.groups(default="")
    whole, fraction = whole.lstrip("0") or "0", fraction or bare_fraction
    negative = sign == "-"
    if suffix in _DECIMAL:
        format_ = QuantityFormat.DECIMAL_SI
        return _Parts(negative, whole, fraction, suffix, format_, _DECIMAL[suffix])
    if suffix in _BINARY:
        format_ = QuantityFormat.BINARY_SI
        return _Parts(negative, whole, fraction, suffix, format_, _BINARY[suffix])
    format_ = QuantityFormat.DECIMAL_EXPONENT
    return _Parts(negative, whole, fraction, suffix, format_, int(suffix[1:]))


def parse_quantity(text: str) -> ParsedQuantity:
    """Exact to the nano; binary numbers saturate, and those below 1 are decimal (API-17)."""
    parts = _parts(text)
    mantissa = int(parts.whole + parts.fraction)
    if parts.format is QuantityFormat.BINARY_SI:
        nanos = times_ten(mantissa << parts.exponent, 9 - len(parts.fraction))
        nanos = min(nanos, MAX_INT64 * NANO)
    else:
        nanos = times_ten(mantissa, parts.exponent + 9 - len(parts.fraction))
    small = parts.format is QuantityFormat.BINARY_SI and 0 < nanos < NANO
    format_ = QuantityFormat.DECIMAL_SI if small else parts.format
    return ParsedQuantity(-nanos if parts.negative else nanos, format_)


def keeps_text(text: str) -> bool:
    """Whether client-go prints the text unchanged, which it decides by the digits (API-20)."""
    parts = _parts(text)
    digits = parts.whole + parts.fraction
    if parts.format is QuantityFormat.BINARY_SI:
        few = len(digits) <= _BINARY_DIGITS_KEPT[parts.suffix]
        return few and not parts.fraction and int(parts.whole) % 8 != 0
    exponent = parts.exponent - len(parts.fraction)
    plain = len(digits) <= 18 and digits[0] != "0" and not digits.endswith("000")
    return plain and exponent >= -9 and exponent % 3 == 0


def format_quantity(quantity: ParsedQuantity) -> str:
    """The text without a fraction, with the largest suffix that leaves an integer (API-19)."""
    nanos, format_ = quantity
    if nanos == 0:
        return "0"
    if format_ is QuantityFormat.BINARY_SI and _fits_binary(nanos):
        return _binary_text(nanos // NANO)
    return _decimal_text(nanos, exponents=format_ is QuantityFormat.DECIMAL_EXPONENT)


def _fits_binary(nanos: int) -> bool:
    # A binary number above 64 bits would saturate when it is parsed again (API-17).
    return nanos % NANO == 0 and 1024 * NANO <= abs(nanos) <= MAX_INT64 * NANO


def _binary_text(number: int) -> str:
    power = 0
    while number % 1024 == 0 and power < 6:
        number //= 1024
        power += 1
    return f"{number}{_BINARY_SUFFIX[power]}"


def _decimal_text(nanos: int, *, exponents: bool) -> str:
    digits = str(nanos)
    mantissa = digits.rstrip("0")
    exponent = len(digits) - len(mantissa) - 9
    written = exponent - exponent % 3
    if not exponents:
        written = min(written, 18)  # there is no suffix above E
    mantissa += "0" * (exponent - written)
    if exponents:
        return f"{mantissa}e{written}" if written else mantissa
    return mantissa + _DECIMAL_SUFFIX[written]


def times_ten(number: int, exponent: int) -> int:
    """`number` times ten to the power of `exponent`, rounded away from zero."""
    if exponent >= 0:
        return number * int(10**exponent)
    return divide_up(number, int(10**-exponent))


def divide_up(number: int, divisor: int) -> int:
    """The quotient, rounded away from zero."""
    quotient = -(-abs(number) // abs(divisor))
    return quotient if (number < 0) == (divisor < 0) else -quotient
