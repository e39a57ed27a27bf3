"""The values of YAML scalars: the rules that reading and writing share.

Guarantees: plain text has the value that the tools of Kubernetes give it (words of YAML 1.1,
Go's numbers, no sexagesimals, dates are text); every value is valid in JSON except `.inf` and
`.nan`, which the reader rejects because it knows their position.
See also: documents to values (`yaml`), values to documents (`yaml_writing`).
"""

from __future__ import annotations

import base64
import binascii
import math
import re
import struct
from typing import Final, TypeAlias

__all__ = [
    "MAX_DEPTH",
    "NEVER_RAW",
    "SURROGATE",
    "TAGS",
    "Scalar",
    "key_text",
    "resolve",
    "resolve_tagged",
]

Scalar: TypeAlias = str | int | float | bool | None

# Nested collections: far more than any object of the API has, and within Python's stack.
MAX_DEPTH: Final = 200

# Characters that must be escaped in YAML text: all but c-printable of YAML 1.1. Not a negated
# set: `re` needs milliseconds to compile large ranges.
NEVER_RAW: Final = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]"
)
SURROGATE: Final = re.compile(r"[\ud800-\udfff]")

_WORDS: Final[dict[str, Scalar]] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "off", "Off", "OFF"), False),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
}

_PREFIXED = re.compile(r"[-+]?0(?:[xX][0-9a-fA-F]+|[oO][0-7]+|[bB][01]+)")
_OCTAL = re.compile(r"[-+]?0[0-7]+")
_DECIMAL = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,19})")
_SIGNED_INSIDE = re.compile(r"0b[-+][01]+")  # a quirk of go-yaml, imitated
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
# After a leading point Go allows an underscore only between two digits.
_FRACTION = re.compile(r"\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?")

_STANDARD = "tag:yaml.org,2002:"
_TYPES: Final[dict[str, type]] = {
    f"{_STANDARD}null": type(None),
    f"{_STANDARD}bool": bool,
    f"{_STANDARD}int": int,
    f"{_STANDARD}float": float,
}
_TEXTS: Final = frozenset({"!", f"{_STANDARD}str", f"{_STANDARD}timestamp"})
_BINARY: Final = f"{_STANDARD}binary"
TAGS: Final = _TEXTS | _TYPES.keys() | {_BINARY}  # the tags that a scalar may have


def resolve(text: str) -> Scalar:
    """The value of unquoted text without a tag."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "+-.0123456789":
        return text
    number = _number(text)
    return text if number is None else number


def resolve_tagged(tag: str, text: str) -> Scalar:
    """The value of text with one of `TAGS`; base64 stays text, as in JSON.

    Raises:
        ValueError: the text does not match the tag; the message does not quote it.
    """
    if tag in _TEXTS:
        return text
    if tag == _BINARY:
        return _base64(text)
    wanted, value = _TYPES[tag], resolve(text)
    if wanted is float and type(value) is int:
        return float(value)
    if type(value) is not wanted:
        raise ValueError(f"found text that is not the !!{tag.removeprefix(_STANDARD)} it is called")
    return value


def key_text(value: Scalar) -> str | None:
    """The JSON key for a YAML key; None for a null."""
    match value:
        case None | str():
            return value
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return _float_key(value)


def _number(text: str) -> int | float | None:
    if text[0] == "." and not _FRACTION.fullmatch(text):
        return None
    plain = text.replace("_", "")
    whole = _integer(plain)
    if whole is not None:
        return whole
    # An integer beyond 64 bits is a float; a float beyond 64 bits is text.
    value = float(plain) if _FLOAT.fullmatch(plain) else math.inf
    return None if math.isinf(value) else value


def _integer(plain: str) -> int | None:
    if _DECIMAL.fullmatch(plain) or _PREFIXED.fullmatch(plain):
        value = int(plain, 0)
    elif _OCTAL.fullmatch(plain):
        value = int(plain, 8)
    elif _SIGNED_INSIDE.fullmatch(plain):
        value = int(plain[2:], 2)  # noqa: FURB166  # Python accepts no sign after the prefix
    else:
        return None
    # With a sign it must fit into int64, without one into uint64.
    limit = 2**63 if plain[0] in "+-" else 2**64
    return value if -(2**63) <= value < limit else None


def _base64(text: str) -> str:
    packed = "".join(text.split())
    try:
        base64.b64decode(packed, validate=True)
    except (binascii.Error, ValueError):  # ValueError: not even ASCII
        raise ValueError("found text under !!binary that is not base64") from None
    return packed


def _float_key(value: float) -> str:
    """Go's `%g` with the fewest digits for a 32-bit float, as sigs.k8s.io/yaml does."""
    narrow = _narrow(value)
    if not math.isfinite(narrow):
        return ".nan" if math.isnan(narrow) else ".inf" if narrow > 0 else "-.inf"
    digits = next(n for n in range(9) if n == 8 or _narrow(float(f"{narrow:.{n}e}")) == narrow)
    scientific = f"{narrow:.{digits}e}"
    exponent = int(scientific.partition("e")[2])
    if not -4 <= exponent < 6:
        return scientific
    return f"{float(scientific):.{max(digits - exponent, 0)}f}"


def _narrow(value: float) -> float:
    try:
        narrow: float = struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return narrow
