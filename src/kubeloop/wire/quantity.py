"""Amounts of cpu, memory and the like: exact numbers with a suffix.

Guarantees: a quantity keeps the text it was given, so that an object read and sent
back is unchanged; its number is exact to the nano and is only worked out when
someone asks; two quantities are equal when their numbers are, however written.
See also: the rules of texts and numbers (`amount`); where the models' decoder meets
quantities (`codec`).
"""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from typing import Final, final

from .amount import (
    MAX_INT64,
    NANO,
    Amount,
    QuantityFormat,
    divide_up,
    match_quantity,
    may_stay,
    read,
    times_ten,
    write,
)
from .errors import InvalidArgument

__all__ = ["Quantity", "QuantityFormat", "decode_quantity"]

_LARGEST_BITS: Final = 13_000  # 3900 digits; Python prints no integer above 4300


@final
class Quantity:
    """An exact amount such as `500m`, `1.5Gi` or `12e6`; immutable, hashable, ordered.

    `text` is what was given and what models send; `str()` is the text client-go
    shows after parsing. An int or a Decimal is taken as it is, a float as its shortest
    text: `Quantity(0.1)` is 100m.

    Raises:
        InvalidArgument: what was given is no quantity.
    """

    __slots__ = ("_amount", "_text")

    _text: str
    _amount: Amount | None  # None until somebody asks for the number

    def __init__(self, value: str | float | Decimal | Quantity) -> None:
        if isinstance(value, Quantity):
            self._text, self._amount = value._text, value._amount
            return
        text = value if type(value) is str else _text_of(value)
        if match_quantity(text) is None:
            raise _malformed(value)
        self._text = text
        self._amount = None

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
        if abs(exponent + scale) > 999:
            raise InvalidArgument(f"quantity of {number!s:.50}: beyond ten to the power of 999")
        return _from_amount(times_ten(mantissa, exponent + scale + 9), format)

    @property
    def text(self) -> str:
        """The text as given, or the canonical one of a computed quantity."""
        return self._text

    @property
    def format(self) -> QuantityFormat:
        """How the number is written; a binary amount below 1 is decimal."""
        return self._read().format

    @property
    def is_zero(self) -> bool:
        return self._read().nanos == 0

    def canonical(self) -> str:
        """The one text of this number in this format: no fraction, the largest suffix."""
        return write(self._read())

    def value(self) -> int:
        """The number, rounded away from zero to an integer."""
        return self.scaled(0)

    def milli_value(self) -> int:
        """The number in thousandths, rounded away from zero."""
        return self.scaled(-3)

    def scaled(self, exponent: int) -> int:
        """The number in units of ten to the power of `exponent`, rounded away from zero."""
        return times_ten(self._read().nanos, -9 - exponent)

    def as_int(self) -> int:
        """The number, when it is a 64-bit integer.

        Raises:
            InvalidArgument: it has a fraction or does not fit into 64 bits.
        """
        number, fraction = divmod(self._read().nanos, NANO)
        if fraction:
            raise InvalidArgument(
                f"quantity {self._text} is not an integer (use value() to round up)"
            )
        if not -MAX_INT64 - 1 <= number <= MAX_INT64:
            raise InvalidArgument(f"quantity {self._text} does not fit into 64 bits (use value())")
        return number

    def as_decimal(self) -> Decimal:
        """The exact number, whatever the precision of the decimal context."""
        nanos = self._read().nanos
        if nanos % NANO == 0:
            return Decimal(nanos // NANO)
        digits = str(nanos).rstrip("0")
        return Decimal(f"{digits}e{len(str(nanos)) - len(digits) - 9}")

    def in_format(self, format: QuantityFormat) -> Quantity:  # noqa: A002 - the API's word
        """The same number, written in `format`."""
        return _from_amount(self._read().nanos, format)

    def __str__(self) -> str:
        canonical = self.canonical()
        if self._text == canonical or not may_stay(self._text):
            return canonical
        return self._text

    def __repr__(self) -> str:
        return f"Quantity({self._text!r})"

    def __hash__(self) -> int:
        return hash(self._read().nanos)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Quantity):
            return NotImplemented
        return self._text == other._text or self._read().nanos == other._read().nanos

    def __lt__(self, other: Quantity) -> bool:
        if not isinstance(other, Quantity):
            return NotImplemented
        return self._read().nanos < other._read().nanos

    def __le__(self, other: Quantity) -> bool:
        if not isinstance(other, Quantity):
            return NotImplemented
        return self._read().nanos <= other._read().nanos

    def __gt__(self, other: Quantity) -> bool:
        if not isinstance(other, Quantity):
            return NotImplemented
        return self._read().nanos > other._read().nanos

    def __ge__(self, other: Quantity) -> bool:
        if not isinstance(other, Quantity):
            return NotImplemented
        return self._read().nanos >= other._read().nanos

    def __add__(self, other: Quantity) -> Quantity:
        if not isinstance(other, Quantity):
            return NotImplemented
        return _from_amount(self._read().nanos + other._read().nanos, self._format_with(other))

    def __radd__(self, other: int) -> Quantity:
        """`0 + quantity`, with which `sum()` begins; a number of another value has no format."""
        if type(other) is not int or other != 0:
            return NotImplemented
        return self

    def __sub__(self, other: Quantity) -> Quantity:
        if not isinstance(other, Quantity):
            return NotImplemented
        return _from_amount(self._read().nanos - other._read().nanos, self._format_with(other))

    def __mul__(self, factor: int) -> Quantity:
        if not isinstance(factor, int):
            return NotImplemented
        return _from_amount(self._read().nanos * factor, self._read().format)

    __rmul__ = __mul__

    def __truediv__(self, divisor: int) -> Quantity:
        """The part, rounded away from zero to the nano, so that the parts always suffice."""
        if not isinstance(divisor, int):
            return NotImplemented
        return _from_amount(divide_up(self._read().nanos, divisor), self._read().format)

    def __neg__(self) -> Quantity:
        return _from_amount(-self._read().nanos, self._read().format)

    def __abs__(self) -> Quantity:
        return _from_amount(abs(self._read().nanos), self._read().format)

    def __int__(self) -> int:
        """`value()`: rounded away from zero as in client-go, so that it always suffices."""
        return self.value()

    def __float__(self) -> float:
        """The nearest float, infinite where floats end."""
        nanos = self._read().nanos
        try:
            return nanos / NANO
        except OverflowError:
            return float("inf") if nanos > 0 else float("-inf")

    def __copy__(self) -> Quantity:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Quantity:
        return self

    def _read(self) -> Amount:
        amount = self._amount
        if amount is None:
            amount = self._amount = read(self._text)
        return amount

    def _format_with(self, other: Quantity) -> QuantityFormat:
        # Zero has no opinion: a sum that starts at 0 is written like its first summand.
        return other._read().format if self.is_zero else self._read().format


def decode_quantity(value: object) -> Quantity:
    """The quantity that a decoder found: a string, a bare number, or null for zero.

    Equal texts give one shared object: a list of 20,000 pods holds few different ones.
    """
    if isinstance(value, str):
        return _shared(value)
    if value is None:
        return _shared("0")
    if isinstance(value, int | float | Decimal):
        return Quantity(value)
    raise _malformed(value)


@lru_cache(maxsize=4096)
def _shared(text: str) -> Quantity:
    return Quantity(text.strip(" "))  # a decoder's text may carry spaces, as in client-go


def _text_of(value: object) -> str:
    # `bool` is an `int` to Python, but not an amount of anything.
    if isinstance(value, bool) or not isinstance(value, str | int | float | Decimal):
        raise _malformed(value)
    if isinstance(value, int):
        _check_size(value)
    return repr(value) if isinstance(value, float) else str(value)


def _malformed(value: object) -> InvalidArgument:
    return InvalidArgument(
        f"quantity {value!r:.80}: not a number with an optional suffix "
        "(write it like 500m, 1.5, 2Gi or 12e6; suffixes are n u m k M G T P E, Ki Mi Gi Ti Pi Ei)"
    )


def _from_amount(nanos: int, shape: QuantityFormat) -> Quantity:
    _check_size(nanos)
    amount = Amount(nanos, shape)
    quantity = Quantity.__new__(Quantity)
    quantity._text = write(amount)
    quantity._amount = amount
    return quantity


def _exact(number: int | Decimal) -> tuple[int, int]:
    """`number` as a mantissa and an exponent of ten."""
    if isinstance(number, bool) or not isinstance(number, int | Decimal):
        raise _malformed(number)
    if isinstance(number, int):
        _check_size(number)
        return number, 0
    sign, digits, exponent = number.as_tuple()
    if not isinstance(exponent, int) or len(digits) > 1000:  # NaN and infinity have letters there
        raise _malformed(number)
    mantissa = int("".join(map(str, digits)) or "0")
    return (-mantissa if sign else mantissa), exponent


def _check_size(number: int) -> None:
    if number.bit_length() > _LARGEST_BITS:
        raise InvalidArgument(f"quantity: a number of {number.bit_length()} bits is too large")
