"""How results are written: scalars as they are, maps and lists as JSON.

See also: what results are (`walk`).
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from .walk import plain

__all__ = ["print_json", "print_text"]


def print_text(results: list[Any]) -> str:
    """The results of one action, joined by single spaces.

    Raises:
        TypeError, ValueError, RecursionError: JSON cannot say them.
    """
    return " ".join(map(_text, results))


def print_json(results: list[Any]) -> str:
    """The results of one action as an indented array, ended by a newline.

    Raises:
        TypeError, ValueError, RecursionError: JSON cannot say them.
    """
    return _json(results, indent=4) + "\n"


def _json(value: Any, **layout: Any) -> str:
    text = json.dumps(_ready(value), ensure_ascii=False, allow_nan=False, sort_keys=True, **layout)
    return text.translate(_ESCAPED)


# What Go writes as an escape in any JSON; outside of strings none of these occurs.
_ESCAPED = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def _text(value: Any) -> str:
    value = plain(value)
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return _float_text(value)
    return _json(value, separators=(",", ":"))


def _ready(value: Any) -> Any:
    """`value` with floats that are whole as integers, the way Go writes them."""
    value = plain(value)
    match value:
        case dict():
            return {str(key): _ready(item) for key, item in value.items()}
        case list():
            return [_ready(item) for item in value]
        case float() if value.is_integer() and abs(value) < 1e21:
            return int(value)
    return value


def _float_text(value: float) -> str:
    """A float the way Go prints it: 1, 2.5, 1e+06."""
    shortest = Decimal(repr(value))
    if not shortest.is_finite() or not shortest:
        return repr(value).removesuffix(".0")
    digits = "".join(map(str, shortest.as_tuple().digits)).rstrip("0")
    exponent = shortest.adjusted()
    if -4 <= exponent < 6:
        return f"{shortest:f}".removesuffix(".0")
    sign = "-" if value < 0 else ""
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{fraction}e{exponent:+03d}"
