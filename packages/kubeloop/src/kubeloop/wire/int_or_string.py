"""Fields that hold a number or a string: ports by name, percentages.

Guarantees: a number that does not fit into 32 bits is an error; a percentage is computed with
integers and rounded as the caller requests.
See also: the type `IntOrString`, which is `int | str` (`kubeloop.wire`).
"""

from __future__ import annotations

import re
from typing import Final

from .errors import InvalidArgument

__all__ = ["check_int_or_string", "parse_int_or_string", "scaled_value"]

_MIN: Final = -(2**31)
_MAX: Final = 2**31 - 1
_NUMBER: Final = re.compile(r"([+-]?)0*([0-9]{1,10})")
_PERCENT: Final = re.compile(r"([+-]?[0-9]{1,18})%")


def parse_int_or_string(text: str) -> int | str:
    """The number in `text` if it fits into 32 bits, otherwise `text` itself."""
    found = _NUMBER.fullmatch(text)
    if found is None:
        return text
    number = int(found[1] + found[2])
    return number if _MIN <= number <= _MAX else text


def check_int_or_string(value: object) -> int | str:
    """`value`, if it is valid in such a field.

    Raises:
        InvalidArgument: it is neither a string nor a 32-bit integer.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidArgument(f"expected an integer or a string, found {type(value).__name__}")
    if not _MIN <= value <= _MAX:
        raise InvalidArgument("expected an integer of 32 bits, found a larger one")
    return value


def scaled_value(value: int | str, total: int, *, round_up: bool) -> int:
    """An integer itself, or a percentage such as `25%` of `total`.

    Raises:
        InvalidArgument: a string that is not a percentage, or an integer beyond 32 bits.
    """
    checked = check_int_or_string(value)
    if isinstance(checked, int):
        return checked
    percent = _PERCENT.fullmatch(checked)
    if percent is None:
        raise InvalidArgument(f"{checked!r:.80} is not a percentage (write an integer, or 25%)")
    share = int(percent[1]) * total
    return -(-share // 100) if round_up else share // 100
