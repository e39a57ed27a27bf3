"""Scalar types of the API that JSON does not have."""

from __future__ import annotations

from typing import TypeAlias

from .quantity import Quantity, QuantityFormat
from .times import Duration, MicroTime, Time, format_micro_time, format_time, parse_time

__all__ = [
    "Duration",
    "IntOrString",
    "MicroTime",
    "Quantity",
    "QuantityFormat",
    "Time",
    "format_micro_time",
    "format_time",
    "parse_time",
]

# A port or a percentage: `80`, `"http"`, `"25%"`. msgspec distinguishes the two by itself.
IntOrString: TypeAlias = int | str
