"""Quantities of CPU, memory and other resources: exact numbers with a suffix.

Guarantees: a quantity keeps its text, so that an object that is read and written back is
unchanged; its number is exact to the nano and parsed on first use; quantities are equal if
their numbers are equal.
See also: parsing and formatting (`quantity_text`), decoding in models (`codec`).
"""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from typing import Final, final

from .errors import InvalidArgument
from .quantity_text import (
    MAX_INT64,
    NANO,
    ParsedQuantity,
    QuantityFormat,
    divide_up,
    format_quantity,
    keeps_text,
    match_quantity,
    parse_quantity,
    times_ten,
)

__all__ = ["Quantity", "QuantityFormat", "cached_quantity", "decode_quantity"]

_LARGEST_BITS: Final = 13_000  # 3900 digits; Python prints no integer above 4300


@final
class Quantity:
    """An exact quantity such as `500m`, `1.5Gi` or `12e6`; immutable, hashable, ordered.

    `text` is the given text, which models encode; `str()` is the text that client-go prints
    after parsing. An int or a Decimal is exact, a float counts as its shortest text:
    `Quantity(0.1)` is 100m.

    Raises:
        InvalidArgument: the value is not a quantity.
    """

    __slots__ = ("_parsed", "_text")

    _text: str
    _parsed: ParsedQuantity | None  # None until the number is needed

    def __init__(self, value: str | float | Decimal | Quantity) -> None:
        if isinstance(value, Quantity):
            self._text, self._parsed = value._text, value._parsed
            return
        text = value if type(value) is str else _text_of(value)
        if match_quantity(text) is None:
            raise _invalid_quantity(value)
        self._text = text
        self._parsed = None

    @classmethod
    def of(
        cls,
        number: int | Decimal,
        *,
        scale: int = 0,
        format: QuantityFormat = QuantityFormat.DECIMAL_SI,  # noqa: A002 - the API's word
    ) -> Quantity:
        """`number` times ten to the power of `scale`, written in `format`.

        Finer than a nano is rounded away from zero.
        Example: `Quantity.of(1536, format=QuantityFormat.BINARY_SI)` is 1536,
        `Quantity.of(500, scale=-3)` is 500m.
        """
        mantissa, exponent = _exact(number)
        if abs(exponent + scale) > 2999:
            raise InvalidArgument(f"quantity of {number!s:.50}: beyond ten to the power of 2999")
        return _from_nanos(times_ten(mantissa, exponent + scale + 9), format)

    @property
    def text(self) -> str:
        """The text as given, or the canonical one of a computed quantity."""
        return self._text

    @property
    def format(self) -> QuantityFormat:
        """The format of the number; a binary quantity below 1 is decimal."""
        return self._parse().format

    @property
    def is_zero(self) -> bool:
        return self._parse().nanos == 0

    def canonical(self) -> str:
        """The canonical text of this number in this format: no fraction, the largest suffix."""
        return format_quantity(self._parse())

    def value(self) -> int:
        """The number, rounded away from zero to an integer."""
        return self.scaled(0)

    def milli_value(self) -> int:
        """The number in thousandths, rounded away from zero."""
        return self.scaled(-3)

    def scaled(self, exponent: int) -> int:
        """The number in units of ten to the power of `exponent`, rounded away from zero."""
        return times_ten(self._parse().nanos, -9 - exponent)

    def as_int(self) -> int:
        """The number, if it is a 64-bit integer.

        Raises:
            InvalidArgument: it has a fraction or does not fit into 64 bits.
        """
        number, fraction = divmod(self._parse().nanos, NANO)
        if fraction:
            raise InvalidArgument(
                f"quantity {self._text} is not an integer (use value() to round up)"
            )
        if not -MAX_INT64 - 1 <= number <= MAX_INT64:
            raise InvalidArgument(f"quantity {self._text} does not fit into 64 bits (use value())")
        return number

    def as_decimal(self) -> Decimal:
        """The exact number, whatever the precision of the decimal context."""
        nanos = self._parse().nanos
        if nanos % NANO == 0:
            return Decimal(nanos // NANO)
        digits = str(nanos).rstrip("0")
        return Decimal(f"{digits}e{len(str(nanos)) - len(digits) - 9}")

    def in_format(self, format: QuantityFormat) -> Quantity:  # noqa: A002 - the API's word
        """The same number, written in `format`."""
        return _from_nanos(self._parse().nanos, format)

    def __str__(self) -> str:
        canonical = self.canonical()
        if self._text == canonical or not keeps_text(self._text):
            return canonical
        return self._text

    def __repr__(self) -> str:
        return f"Quantity({self._text!r})"

    def __hash__(self) -> int:
        return hash(self._parse().nanos)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Quantity):
            return NotImplemented
        return self._text == other._text or self._parse().nanos == other._parse().nanos

    def __lt__(self, other: Quantity) -> bool:
        if not isinstance(other, Quantity):
            return NotImplemented
        return self._parse().nanos < other._parse().nanos

    def __le__(self, other: Quantity) -> bool:
        if not isinstance(other, Quantity):
            return NotImplemented
        return self._parse().nanos <= other._parse().nanos

    def __gt__(self, other: Quantity) -> bool:
        if not isinstance(other, Quantity):
            return NotImplemented
        return self._parse().nanos > other._parse().nanos

    def __ge__(self, other: Quantity) -> bool:
        if not isinstance(other, Quantity):
            return NotImplemented
        return self._parse().nanos >= other._parse().nanos

    def __add__(self, other: Quantity) -> Quantity:
        if not isinstance(other, Quantity):
            return NotImplemented
        return _from_nanos(self._parse().nanos + other._parse().nanos, self._format_with(other))

    def __radd__(self, other: int) -> Quantity:
        """`0 + quantity`, with which `sum()` begins; a number of another value has no format."""
        if type(other) is not int or other != 0:
            return NotImplemented
        return self

    def __sub__(self, other: Quantity) -> Quantity:
        if not isinstance(other, Quantity):
            return NotImplemented
        return _from_nanos(self._parse().nanos - other._parse().nanos, self._format_with(other))

    def __mul__(self, factor: int) -> Quantity:
        if not isinstance(factor, int):
            return NotImplemented
        return _from_nanos(self._parse().nanos * factor, self._parse().format)

    __rmul__ = __mul__

    def __truediv__(self, divisor: int) -> Quantity:
        """The quotient, rounded away from zero to the nano, so that the parts cover the whole."""
        if not isinstance(divisor, int):
            return NotImplemented
        return _from_nanos(divide_up(self._parse().nanos, divisor), self._parse().format)

    def __neg__(self) -> Quantity:
        return _from_nanos(-self._parse().nanos, self._parse().format)

    def __abs__(self) -> Quantity:
        return _from_nanos(abs(self._parse().nanos), self._parse().format)

    def __int__(self) -> int:
        """`value()`: rounded away from zero, as in client-go."""
        return self.value()

    def __float__(self) -> float:
        """The nearest float; infinite beyond the range of floats."""
        nanos = self._parse().nanos
        try:
            return nanos / NANO
        except OverflowError:
            return float("inf") if nanos > 0 else float("-inf")

    def __copy__(self) -> Quantity:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Quantity:
        return self

    def _parse(self) -> ParsedQuantity:
        parsed = self._parsed
        if parsed is None:
            parsed = self._parsed = parse_quantity(self._text)
        return parsed

    def _format_with(self, other: Quantity) -> QuantityFormat:
        # A sum that starts at 0 has the format of its first summand.
        return other._parse().format if self.is_zero else self._parse().format


def decode_quantity(value: object) -> Quantity:
    """The quantity for a decoded value: a string, a number, or null for zero.

    Equal texts share one object: a list of 20,000 pods has few different ones.
    """
    if isinstance(value, str):
        return cached_quantity(value)
    if value is None:
        return cached_quantity("0")
    if isinstance(value, int | float | Decimal):
        return Quantity(value)
    raise _invalid_quantity(value)


@lru_cache(maxsize=4096)
def cached_quantity(text: str) -> Quantity:
    """The quantity for a text; equal texts share one object."""
    return Quantity(text.strip(" "))  # spaces are allowed here, as in client-go


def _text_of(value: object) -> str:
    # `bool` is a subclass of `int`, but not a quantity.
    if isinstance(value, bool) or not isinstance(value, str | int | float | Decimal):
        raise _invalid_quantity(value)
    if isinstance(value, int):
        _check_size(value)
    return repr(value) if isinstance(value, float) else str(value)


def _invalid_quantity(value: object) -> InvalidArgument:
    return InvalidArgument(
        f"quantity {value!r:.80}: not a number with an optional suffix "
        "(write it like 500m, 1.5, 2Gi or 12e6; suffixes are n u m k M G T P E, Ki Mi Gi Ti Pi Ei)"
    )


def _from_nanos(nanos: int, format_: QuantityFormat) -> Quantity:
    _check_size(nanos)
    parsed = ParsedQuantity(nanos, format_)
    quantity = Quantity.__new__(Quantity)
    quantity._text = format_quantity(parsed)
    quantity._parsed = parsed
    return quantity


def _exact(number: int | Decimal) -> tuple[int, int]:
    """`number` as a mantissa and an exponent of ten."""
    if isinstance(number, bool) or not isinstance(number, int | Decimal):
        raise _invalid_quantity(number)
    if isinstance(number, int):
        _check_size(number)
        return number, 0
    sign, digits, exponent = number.as_tuple()
    if not isinstance(exponent, int) or len(digits) > 1000:  # NaN and infinity have letters there
        raise _invalid_quantity(number)
    mantissa = int("".join(map(str, digits)) or "0")
    return (-mantissa if sign else mantissa), exponent


def _check_size(number: int) -> None:
    if number.bit_length() > _LARGEST_BITS:
        raise InvalidArgument(f"quantity: a number of {number.bit_length()} bits is too large")
