"""The string formats that the API server checks in custom resources (kube-openapi's strfmt).

Guarantees: a format that is not in the table accepts every string, as in the API server.
See also: which formats a schema may use (`schema_nodes`), where they are checked
(`schema_validation`).
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from collections.abc import Callable
from datetime import date
from typing import Final
from urllib.parse import urlsplit

from kubeloop.kit import whole_number
from kubeloop.meta import problems_of_dns_label, problems_of_dns_subdomain
from kubeloop.wire import Duration, InvalidArgument

__all__ = ["has_format"]


def has_format(name: str, text: str) -> bool:
    """Whether `text` has the format `name` (without dashes)."""
    check = _CHECKS.get(name)
    return check is None or check(text)


def _matches(pattern: str, flags: int = 0) -> Callable[[str], bool]:
    match = re.compile(pattern, flags | re.ASCII).fullmatch
    return lambda text: match(text) is not None


def _parses(parse: Callable[[str], object]) -> Callable[[str], bool]:
    """A check whether `parse` accepts a text."""

    def check(text: str) -> bool:
        try:
            parse(text)
        except (ValueError, InvalidArgument):
            return False
        return True

    return check


def _parse_ip(text: str) -> object:
    # Leading zeros are allowed, as in Go before 1.17 (`ParseIPSloppy`).
    return ipaddress.ip_address(_LEADING_ZEROS.sub("", text) if ":" not in text else text)


def _is_ipv4(text: str) -> bool:
    # Also an IPv6 address that ends like one of IPv4, as in kube-openapi.
    return "." in text and "%" not in text and _parses(_parse_ip)(text)


def _is_ipv6(text: str) -> bool:
    # Go's `net.ParseIP` accepts no zone.
    return ":" in text and "%" not in text and _parses(ipaddress.IPv6Address)(text)


def _parse_cidr(text: str) -> object:
    address, slash, bits = text.partition("/")
    if not slash or whole_number(bits) is None:
        raise ValueError(text)
    return ipaddress.ip_interface(f"{_parse_ip(address)}/{bits}")


def _is_uri(text: str) -> bool:
    # Go's `url.ParseRequestURI`: with a scheme, or an absolute path.
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return (
        bool(text)
        and not re.search(r"[\x00-\x20\x7f]", text)
        and (bool(parts.scheme) or text.startswith("/"))
    )


def _is_hostname(text: str) -> bool:
    # kube-openapi's pattern: symbols and all letters of Unicode are allowed, a name without dots
    # has at most one dash, and the last label of others only letters.
    kinds = "".join(map(_host_character, text))
    sizes = [len(label.encode()) for label in text.split(".")]
    return _HOST(kinds) and len(text.encode()) <= 255 and max(sizes) <= 63


def _host_character(character: str) -> str:
    category = unicodedata.category(character)
    if category.startswith("L"):
        return "a"
    if category.startswith("S") or (character.isascii() and character.isdigit()):
        return "0"
    return character if character in "-." else "!"


def _is_date_time(text: str) -> bool:
    # kube-openapi's `IsDateTime`: any case, and any character before the fraction.
    day, _, rest = text.lower().partition("t")
    found = _TIME.fullmatch(rest.partition("t")[0])
    is_time = found is not None and found[1] <= "23" and found[2] <= "59" and found[3] <= "59"
    return is_time and _parses(_parse_date)(day)


def _parse_date(text: str) -> date:
    if not _DATE(text):
        raise ValueError(text)
    return date.fromisoformat(text)


def _is_isbn10(text: str) -> bool:
    plain = re.sub(r"[\s-]", "", text)
    if not re.fullmatch(r"[0-9]{9}[0-9X]", plain):
        return False
    digits = [10 if each == "X" else int(each) for each in plain]
    return sum((index + 1) * digit for index, digit in enumerate(digits)) % 11 == 0


def _is_isbn13(text: str) -> bool:
    plain = re.sub(r"[\s-]", "", text)
    if not re.fullmatch(r"[0-9]{13}", plain):
        return False
    return sum(int(each) * (3 if index % 2 else 1) for index, each in enumerate(plain)) % 10 == 0


def _is_credit_card(text: str) -> bool:
    digits = re.sub(r"[^0-9]+", "", text)
    doubled = [int(each) * (1 + index % 2) for index, each in enumerate(reversed(digits))]
    return _CARD(digits) and sum(each - 9 * (each > 9) for each in doubled) % 10 == 0


_HOST = _matches("[a0](-?[a0]{0,62})?|([a0]([a0-]{0,61}[a0])?[.])+a{2,63}")
_LEADING_ZEROS: Final = re.compile(r"(?<![0-9])0+(?=[0-9])")
_TIME: Final = re.compile(
    "([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|[+-][0-9]{2}:[0-9]{2})", re.DOTALL
)
_DATE = _matches(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_CARD = _matches(
    r"4[0-9]{12}([0-9]{3})?|5[1-5][0-9]{14}|6(011|5[0-9]{2})[0-9]{12}|3[47][0-9]{13}"
    r"|3(0[0-5]|[68][0-9])[0-9]{11}|(2131|1800|35[0-9]{3})[0-9]{11}"
)
_HEX: Final = "[0-9a-f]"
_BYTE: Final = "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_DURATION_IN_WORDS = _matches(
    r"[0-9]+(\.[0-9]+)?\s*(d|days?|h|hours?|hrs?|m|mins?|minutes?|s|secs?|seconds?|ms|millis?"
    r"|milliseconds?|us|µs|micros?|microseconds?|ns|nanos?|nanoseconds?|w|weeks?)"
)

_CHECKS: Final[dict[str, Callable[[str], bool]]] = {
    "bsonobjectid": _matches(f"{_HEX}{{24}}", re.IGNORECASE),
    "byte": _matches("([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})"),
    "cidr": _parses(_parse_cidr),
    "creditcard": _is_credit_card,
    "date": _parses(_parse_date),
    "datetime": _is_date_time,
    "duration": lambda text: _parses(Duration.parse)(text) or _DURATION_IN_WORDS(text),
    "email": _matches(r"[^@\s]+@[^@\s]+|.*<[^@\s<>]+@[^@\s<>]+>"),
    "hexcolor": _matches(r"#?([0-9a-f]{3}|[0-9a-f]{6})", re.IGNORECASE),
    "hostname": _is_hostname,
    "ipv4": _is_ipv4,
    "ipv6": _is_ipv6,
    "isbn": lambda text: _is_isbn10(text) or _is_isbn13(text),
    "isbn10": _is_isbn10,
    "isbn13": _is_isbn13,
    "k8slongname": lambda text: not problems_of_dns_subdomain(text),
    "k8sshortname": lambda text: not problems_of_dns_label(text),
    "mac": _matches(
        rf"{_HEX}{{2}}([:-]{_HEX}{{2}}){{5,7}}|{_HEX}{{4}}(\.{_HEX}{{4}}){{2,3}}", re.IGNORECASE
    ),
    "rgbcolor": _matches(rf"rgb\(\s*{_BYTE}\s*,\s*{_BYTE}\s*,\s*{_BYTE}\s*\)"),
    "ssn": _matches(r"[0-9]{3}[- ][0-9]{2}[- ][0-9]{4}"),
    "uri": _is_uri,
    "uuid": _matches(
        f"{_HEX}{{8}}-?{_HEX}{{4}}-?{_HEX}{{4}}-?{_HEX}{{4}}-?{_HEX}{{12}}", re.IGNORECASE
    ),
    "uuid3": _matches(
        f"{_HEX}{{8}}-?{_HEX}{{4}}-?3{_HEX}{{3}}-?{_HEX}{{4}}-?{_HEX}{{12}}", re.IGNORECASE
    ),
    "uuid4": _matches(
        f"{_HEX}{{8}}-?{_HEX}{{4}}-?4{_HEX}{{3}}-?[89ab]{_HEX}{{3}}-?{_HEX}{{12}}", re.IGNORECASE
    ),
    "uuid5": _matches(
        f"{_HEX}{{8}}-?{_HEX}{{4}}-?5{_HEX}{{3}}-?[89ab]{_HEX}{{3}}-?{_HEX}{{12}}", re.IGNORECASE
    ),
}
