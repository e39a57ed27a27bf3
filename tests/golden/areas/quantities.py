"""Quantities and fields that hold a number or a string."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator
from typing import Any

from kubeloop.errors import InvalidArgument
from kubeloop.wire import (
    Quantity,
    QuantityFormat,
    check_int_or_string,
    decode,
    parse_int_or_string,
    scaled_value,
)
from kubeloop.wire.core.v1 import ResourceRequirements
from tests.golden.case import Area, Case

_NUMBERS = [
    *("0", "1", "-1", "+1", "00", "01", "1.", ".1", ".", "1.5", "1.50", "-.5", "0.5", "0.001"),
    *("0.0000000001", "1.000000001", "1.0000000001", "10", "12", "100", "128", "1000", "1024"),
    *("1023", "1025", "1536", "999", "1001", "1000000", "1048576", "1.25", "2.5", "0.1", "3.999"),
    *("9223372036854775807", "9223372036854775808", "-9223372036854775808", "123456789.987654321"),
    *("1e3", "1E3", "1e-3", "1e+3", "1.5e3", "1e", "e3", "1e1.5", "1e0", "1e18", "1e19", "1e-9"),
    *("1e-10", "-1e3", "12e6", "--1", "+-1", "1 ", " 1", "1_0", "1,0", "", "a", "0x10", "1e99"),
]
_EXPONENTS = [
    *("999", "1000", "1001", "1002", "2147", "4000", "9998", "9999", "09999", "10000", "99999"),
    *("-999", "-1000", "-9999", "-10000", "+2147", "9223372036854775808"),
]
_SUFFIXES = ["", *"numkMGTPEKmi", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "ki", "Zi", "B", " Ki", "mi"]
_PAIRED = [
    *("0", "1", "-1", "500m", "1500m", "1Gi", "1G", "1.5Gi", "1Mi", "1024Ki", "100n", "1e3", "1k"),
    *(
        "0.5",
        "-250m",
        "1Ei",
        "8Ei",
        "9223372036854775807",
        "1E",
        "12e6",
        "0Ki",
        "1Ti",
        "3u",
        "100M",
    ),
]
_WHOLE = [
    *("1.5", "-1.5", "0.001", "-0.001", "1n", "-1n", "1.000000001", "999999999n", "1Ki", "1.5Ki"),
    *(
        "9007199254740993",
        "9223372036854775",
        "9223372036854776",
        "-9223372036854775807",
        "1Pi",
        "2Pi",
    ),
    *("9223372036854775808", "-1Ei", "9223372036854775.807", "123456789.987654321", "1e18", "1e19"),
    *("0m", "1000m", "0.5Mi", "1000000000n", "1P"),
]
_JSON = [
    *("1", "1.5", "-1", "0", "1e3", "1E3", "null", '""', '"1"', '" 1"', '"1 "', '"1Gi"', "true"),
    *("[]", "{}", '"1.5Gi"', '"500m"', '"a"', "0.1", "1.0", "100000000000000000000", '"\\u0031"'),
]
_INTSTR_TEXTS = [
    *("", "0", "1", "-1", "+1", "01", "80", "http", "25%", "1.5", " 1", "1 ", "2147483647", "1_0"),
    *("2147483648", "-2147483648", "-2147483649", "99999999999999999999", "0x10", "1e3", "\u0663"),
]
_INTSTR_JSON = [
    *("0", "1", "-1", "80", '"80"', '"http"', '""', "1.5", "1.0", "1e2", "null", "true", "[]"),
    *("2147483647", "2147483648", "-2147483649", '"25%"', "{}"),
]
_SCALED: list[Any] = [
    *(0, 1, -1, 5, 100, "0%", "1%", "25%", "50%", "33%", "100%", "101%", "-25%", "+25%", "25", "a"),
    *("%", "25 %", " 25%", "25.5%", "", "1%%", "99999999999%", "0x10%", "010%"),
]


def _texts() -> dict[str, None]:
    made = dict.fromkeys(
        number + suffix
        for number, suffix in itertools.product(_NUMBERS, _SUFFIXES)
        if suffix in ("", "m", "k", "Ki", "Mi", "n", "Ei") or number in ("1", "1.5", "-.5", "1000")
    )
    made |= dict.fromkeys(
        f"{mantissa}e{exponent}"
        for mantissa, exponent in itertools.product(("0", "4", "-1.5", "400"), _EXPONENTS)
    )
    source = random.Random(7)
    for _ in range(150):
        digits = str(source.randint(0, 10 ** source.randint(1, 19)))
        fraction = (
            f".{source.randint(0, 10 ** source.randint(1, 12))}" if source.random() < 0.5 else ""
        )
        made[f"{source.choice(['', '-'])}{digits}{fraction}{source.choice(_SUFFIXES[:15])}"] = None
    return made


def _cases() -> Iterator[Case]:
    for text in _texts():
        yield Case("quantity.parse", text)
    for text in [*_PAIRED, *_WHOLE]:
        for operation in ("quantity.value", "quantity.milliValue", "quantity.integer"):
            yield Case(operation, text)
    for text in _JSON:
        yield Case("quantity.decode", text)
    for pair in itertools.product(_PAIRED, _PAIRED):
        yield Case("quantity.pair", pair)
    for text, scale in itertools.product(_PAIRED[:17], (-9, -6, -3, 0, 3, 6, 9)):
        yield Case("quantity.scaled", {"Text": text, "Scale": scale})
    for text, factor in itertools.product(_PAIRED[:15], (0, 1, -1, 2, 7, 1000)):
        yield Case("quantity.times", {"Text": text, "Factor": factor})
    for number, scale in itertools.product((0, 1, -1, 500, 1024, 1536, 1000000), (-9, -3, 0, 3, 6)):
        for shape in ("DecimalSI", "BinarySI", "DecimalExponent"):
            yield Case("quantity.new", {"Number": number, "Scale": scale, "Format": shape})
    yield from _numbers_or_strings()


def _numbers_or_strings() -> Iterator[Case]:
    for text in _INTSTR_TEXTS:
        yield Case("intstr.parse", text)
    for text in _INTSTR_JSON:
        yield Case("intstr.decode", text)
    for value, total, up in itertools.product(_SCALED, (0, 1, 3, 10, 101, 1000), (True, False)):
        yield Case("intstr.scaled", {"Value": value, "Total": total, "RoundUp": up})


def _quantity(parsed: Quantity) -> Any:
    zero = Quantity("0")
    return {
        "text": str(parsed),
        "format": parsed.format.value,
        "sign": (parsed > zero) - (parsed < zero),
        "zero": parsed.is_zero,
        "negative": str(-parsed),
    }


def _integer(text: str) -> int | None:
    try:
        return Quantity(text).as_int()
    except InvalidArgument:
        return None


def _decode(text: str) -> Any:
    found = decode(ResourceRequirements, f'{{"limits": {{"cpu": {text}}}}}'.encode())
    assert found.limits is not None
    return _quantity(found.limits["cpu"])


def _pair(given: list[str]) -> Any:
    first, second = Quantity(given[0]), Quantity(given[1])
    return {
        "compare": (first > second) - (first < second),
        "equal": first == second,
        "sum": str(first + second),
        "difference": str(first - second),
    }


def _new(given: Any) -> str:
    shape = QuantityFormat(given["Format"])
    return str(Quantity.of(given["Number"], scale=given["Scale"], format=shape))


AREA = Area(
    _cases,
    {
        "quantity.parse": lambda text: _quantity(Quantity(text)),
        "quantity.value": lambda text: Quantity(text).value(),
        "quantity.milliValue": lambda text: Quantity(text).milli_value(),
        "quantity.integer": _integer,
        "quantity.decode": _decode,
        "quantity.pair": _pair,
        "quantity.scaled": lambda given: Quantity(given["Text"]).scaled(given["Scale"]),
        "quantity.times": lambda given: str(Quantity(given["Text"]) * given["Factor"]),
        "quantity.new": _new,
        "intstr.parse": parse_int_or_string,
        "intstr.decode": lambda text: check_int_or_string(json.loads(text)),
        "intstr.scaled": lambda given: scaled_value(
            given["Value"], given["Total"], round_up=given["RoundUp"]
        ),
    },
)
