"""A quantity's text taken apart, and its number written: the rules, without the class.

Guarantees: `read` is exact up to the nano and rounds away from zero below it; reading
what `write` wrote gives the same number.
See also: the value that people hold is `quantity`.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final, NamedTuple

__all__ = [
    "MAX_INT64",
    "NANO",
    "Amount",
    "QuantityFormat",
    "divide_up",
    "match_quantity",
    "may_stay",
    "read",
    "times_ten",
    "write",
]

NANO: Final = 10**9
MAX_INT64: Final = 2**63 - 1

_DECIMAL: Final = {
    "n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18,
}  # fmt: skip
_BINARY: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_SUFFIX: Final = {exponent: suffix for suffix, exponent in _DECIMAL.items()}
_BINARY_SUFFIX: Final = ("", *_BINARY)
# How many digits before the suffix still keep the text as it is (API-20); none for Pi and Ei.
_BINARY_DIGITS_KEPT: Final = {"Ki": 11, "Mi": 8, "Gi": 5, "Ti": 2, "Pi": 0, "Ei": 0}

# The bounds on the repeats keep a hostile text from costing more than its length.
_SYNTAX: Final = re.compile(
    r"([+-]?)(?:([0-9]{1,2000})(?:\.([0-9]{0,2000}))?|\.([0-9]{1,2000}))"
    r"([numkMGTPE]|[KMGTPE]i|[eE][+-]?0{0,9}[0-9]{1,3})?"
)
match_quantity: Final = _SYNTAX.fullmatch  # asked 120,000 times in a big list


class QuantityFormat(StrEnum):
    """How a number is written when no text was given: 1M, 1Mi or 1e6."""

    DECIMAL_SI = "DecimalSI"
    BINARY_SI = "BinarySI"
    DECIMAL_EXPONENT = "DecimalExponent"


class _Parts(NamedTuple):
    """A quantity's text, taken apart."""

    negative: bool
    whole: str  # without leading zeros, "0" when nothing is left
    fraction: str
    suffix: str
    format: QuantityFormat
    exponent: int  # of 2 in BINARY_SI, else of 10


class Amount(NamedTuple):
    """What a quantity means: how many nanos, and how to write them."""

    nanos: int
    format: QuantityFormat


def _parts(text: str) -> _Parts:
    found = match_quantity(text)
    assert found is not None, text  # checked when the quantity was made
    sign, whole, fraction, bare_fraction, suffix = found.groups(default="")
    whole, fraction = whole.lstrip("0") or "0", fraction or bare_fraction
    negative = sign == "-"
    if suffix in _DECIMAL:
        shape = QuantityFormat.DECIMAL_SI
        return _Parts(negative, whole, fraction, suffix, shape, _DECIMAL[suffix])
    if suffix in _BINARY:
        shape = QuantityFormat.BINARY_SI
        return _Parts(negative, whole, fraction, suffix, shape, _BINARY[suffix])
    shape = QuantityFormat.DECIMAL_EXPONENT
    return _Parts(negative, whole, fraction, suffix, shape, int(suffix[1:]))


def read(text: str) -> Amount:
    """API-17 and API-18: up to the nano, binary saturates, binary below 1 turns decimal."""
    parts = _parts(text)
    mantissa = int(parts.whole + parts.fraction)
    if parts.format is QuantityFormat.BINARY_SI:
        nanos = times_ten(mantissa << parts.exponent, 9 - len(parts.fraction))
        nanos = min(nanos, MAX_INT64 * NANO)
    else:
        nanos = times_ten(mantissa, parts.exponent + 9 - len(parts.fraction))
    small = parts.format is QuantityFormat.BINARY_SI and 0 < nanos < NANO
    shape = QuantityFormat.DECIMAL_SI if small else parts.format
    return Amount(-nanos if parts.negative else nanos, shape)


def may_stay(text: str) -> bool:
    """API-20: client-go's guess whether a text may stay, by its digits alone."""
    parts = _parts(text)
    digits = parts.whole + parts.fraction
    if parts.format is QuantityFormat.BINARY_SI:
        few = len(digits) <= _BINARY_DIGITS_KEPT[parts.suffix]
        return few and not parts.fraction and int(parts.whole) % 8 != 0
    exponent = parts.exponent - len(parts.fraction)
    plain = len(digits) <= 18 and digits[0] != "0" and not digits.endswith("000")
    return plain and exponent >= -9 and exponent % 3 == 0


def write(amount: Amount) -> str:
    """API-19: no fraction, the largest suffix that leaves an integer."""
    nanos, shape = amount
    if nanos == 0:
        return "0"
    if shape is QuantityFormat.BINARY_SI and _fits_binary(nanos):
        return _binary_text(nanos // NANO)
    return _decimal_text(nanos, exponents=shape is QuantityFormat.DECIMAL_EXPONENT)


def _fits_binary(nanos: int) -> bool:
    # A binary text above 64 bits would be cut when it is read again (API-17).
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
