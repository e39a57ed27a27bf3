"""Checks that many kinds share: numbers, ports, percentages, choices, selectors, names.

Guarantees: each check yields the causes of kube-apiserver for a field path, and nothing for a
value that is valid or absent (unless it is required).
See also: metadata (`metadata_validation`), when kinds are validated (`strategies`).
"""

from __future__ import annotations

import functools
import ipaddress
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from kubeloop.meta import problems_of_label_key, problems_of_label_value
from kubeloop.wire import InvalidArgument, Quantity

from ...values import causes
from ...values.go_values import printed
from ...values.json_values import json_equal
from ..kind import Causes
from .names import IP_RULE

__all__ = [
    "check_at_most_all",
    "check_choice",
    "check_cidr",
    "check_config_key",
    "check_endpoint_ip",
    "check_int_or_percent",
    "check_ip",
    "check_label_key",
    "check_labels",
    "check_minimum",
    "check_name",
    "check_port",
    "check_port_or_name",
    "check_quantity",
    "check_range",
    "check_relative_path",
    "check_selector",
    "check_unchanged",
    "enumerate_objects",
    "has_parent_step",
    "ip_family",
    "is_ip_address",
    "is_network",
    "is_zero",
    "parse_quantity",
    "without_zeros",
]

_is_key = re.compile("[-._a-zA-Z0-9]+").fullmatch
_OPERATORS: Final = ("DoesNotExist", "Exists", "In", "NotIn")


def enumerate_objects(value: Any) -> list[tuple[int, Mapping[str, Any]]]:
    """The objects of a list with their indexes; none if it is not a list."""
    items = value if isinstance(value, list) else []
    return [(index, item) for index, item in enumerate(items) if isinstance(item, Mapping)]


def is_ip_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


@functools.lru_cache(4096)
def ip_family(text: str) -> str:
    """The family of an address: "IPv4", "IPv6", or "" if it is invalid."""
    # StrictIPCIDRValidation: no leading zeros, no zones, no IPv4 addresses in IPv6 notation.
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        return ""
    if isinstance(found, ipaddress.IPv6Address):
        return "" if found.scope_id is not None or found.ipv4_mapped is not None else "IPv6"
    return "IPv4"


def check_ip(path: str, value: str) -> Causes:
    """A valid IP address, as `IsValidIPForLegacyField`."""
    if not ip_family(value):
        yield causes.invalid(path, value, _address_problem(value, "be") or IP_RULE)


def _address_problem(text: str, verb: str) -> str:
    """Why an address that older versions accepted is rejected; empty for any other text."""
    try:
        address = ipaddress.ip_address(without_zeros(text))
    except ValueError:
        return ""
    if isinstance(address, ipaddress.IPv6Address):
        is_mapped = address.ipv4_mapped is not None and address.scope_id is None
        return f"must not {verb} an IPv4-mapped IPv6 address" if is_mapped else ""
    return "must not have leading 0s"


def check_cidr(path: str, value: str) -> Causes:
    """A network such as 10.0.0.0/8, without bits of a host, as `IsValidCIDRForLegacyField`."""
    if not is_network(value):
        yield causes.invalid(path, value, _network_problem(value))


def _network_problem(text: str) -> str:
    address, _, bits = text.partition("/")
    try:
        ipaddress.ip_network(f"{without_zeros(address)}/{int(bits)}", strict=False)
    except ValueError:
        return "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
    if str(int(bits)) != bits or without_zeros(address) != address:
        return "must not have leading 0s in IP or prefix length"
    if ":" in address and (problem := _address_problem(address, "have")):
        return problem
    return "must not have bits set beyond the prefix length"


def without_zeros(value: str) -> str:
    """An IPv4 address without leading zeros, which Go's older parser ignored."""
    parts = value.split(".")
    if len(parts) == 4 and all(part.isascii() and part.isdecimal() for part in parts):
        return ".".join(str(int(part)) for part in parts)
    return value


@functools.lru_cache(1024)
def is_network(text: str) -> bool:
    """Whether a text is a network in CIDR notation."""
    address, slash, bits = text.partition("/")
    if not slash or not bits.isascii() or not bits.isdecimal() or str(int(bits)) != bits:
        return False
    try:
        return bool(ip_family(address)) and bool(ipaddress.ip_network(text))
    except ValueError:
        return False


def check_endpoint_ip(path: str, value: str) -> Causes:
    """An address that traffic can be sent to, as `ValidateEndpointIP`."""
    try:
        address = ipaddress.ip_address(value)
    except ValueError:
        address = None
    if address is None or getattr(address, "scope_id", None) is not None:
        yield causes.invalid(path, value, "must be a valid IP address")
        return
    if address.is_unspecified:
        yield causes.invalid(path, value, f"may not be unspecified ({address})")
    for addresses, what in _LOCAL_RANGES:
        if address in ipaddress.ip_network(addresses):
            yield causes.invalid(path, value, f"may not be in the {what}")


# The ranges, and what kube-apiserver says about them.
_LOCAL_RANGES: Final = (
    ("127.0.0.0/8", "loopback range (127.0.0.0/8, ::1/128)"),
    ("::1/128", "loopback range (127.0.0.0/8, ::1/128)"),
    ("169.254.0.0/16", "link-local range (169.254.0.0/16, fe80::/10)"),
    ("fe80::/10", "link-local range (169.254.0.0/16, fe80::/10)"),
    ("224.0.0.0/24", "link-local multicast range (224.0.0.0/24, ff02::/10)"),
    ("ff02::/16", "link-local multicast range (224.0.0.0/24, ff02::/10)"),
)


def check_range(path: str, value: Any, lowest: int, highest: int) -> Causes:
    """A number between two limits; nothing for a missing one."""
    if isinstance(value, int) and not lowest <= value <= highest:
        yield causes.invalid(path, value, f"must be between {lowest} and {highest}, inclusive")


def has_parent_step(path: str) -> bool:
    """Whether a file path contains a `..` step."""
    return ".." in path.split("/")


def check_relative_path(path: str, value: str, *, reserved: bool = False) -> Causes:
    """A path below a directory; `reserved` also rejects names that start with two dots."""
    # `validateLocalDescendingPath` and `ValidateLocalNonReservedPath`.
    if value.startswith("/"):
        yield causes.invalid(path, value, "must be a relative path")
    if has_parent_step(value):
        yield causes.invalid(path, value, "must not contain '..'")
    if reserved and value.startswith("..") and not value.startswith("../"):
        yield causes.invalid(path, value, "must not start with '..'")


def check_choice(
    path: str, value: Any, allowed: Iterable[str], *, required: bool = False
) -> Causes:
    if value in (None, ""):
        if required:
            yield causes.required(path)
    elif value not in allowed:
        yield causes.not_supported(path, value, allowed)


def check_minimum(path: str, value: Any, lowest: int = 0) -> Causes:
    if isinstance(value, int) and value < lowest:
        yield causes.invalid(path, value, f"must be greater than or equal to {lowest}")


def check_unchanged(path: str, value: Any, before: Any, go_type: str = "") -> Causes:
    """A field that cannot change; `go_type` is the type of a struct, or of a list of them."""
    # `ValidateImmutableField`.
    if not json_equal(value, before):
        shown = printed(go_type, value) if go_type else value
        yield causes.invalid(path, shown, causes.IMMUTABLE)


def check_name(path: str, value: Any, rule: Callable[[str], list[str]]) -> Causes:
    """Check `value` with a rule of `kubeloop.meta.names`."""
    yield from (causes.invalid(path, value, problem) for problem in rule(str(value)))


def check_label_key(path: str, value: Any) -> Causes:
    """A qualified name: the key of a label, the type of a condition."""
    yield from check_name(path, value or "", problems_of_label_key)


def check_port(path: str, value: Any) -> Causes:
    # `IsValidPortNum`.
    if not isinstance(value, int) or not 1 <= value <= 65535:
        yield causes.invalid(path, value, "must be between 1 and 65535, inclusive")


def check_port_or_name(path: str, value: Any) -> Causes:
    if isinstance(value, str):
        yield from (causes.invalid(path, value, problem) for problem in _port_name(value))
    else:
        yield from check_port(path, value)


def _port_name(value: str) -> Iterator[str]:
    # `IsValidPortName`.
    if len(value) > 15:
        yield "must be no more than 15 characters"
    if not re.fullmatch("[-a-z0-9]+", value):
        yield "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"
    if not re.search("[a-z]", value):
        yield "must contain at least one letter (a-z)"
    if "--" in value:
        yield "must not contain consecutive hyphens"
    if value.startswith("-") or value.endswith("-"):
        yield "must not begin or end with a hyphen"


def check_int_or_percent(path: str, value: Any, *, at_most_all: bool = False) -> Causes:
    """A non-negative number or a percentage; with `at_most_all`, of at most 100%."""
    if value is None:
        return
    if isinstance(value, str):
        if not re.fullmatch("[0-9]+%", value):
            yield causes.invalid(
                path,
                value,
                "a valid percent string must be a numeric string followed by an ending '%' "
                "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
            )
        elif at_most_all:
            yield from check_at_most_all(path, value)
    else:
        yield from check_minimum(path, value)


def check_at_most_all(path: str, value: Any) -> Causes:
    """A percentage of at most 100%; nothing for other values."""
    if isinstance(value, str) and re.fullmatch("[0-9]+%", value) and int(value[:-1]) > 100:
        yield causes.invalid(path, value, "must not be greater than 100%")


def is_zero(value: Any) -> bool:
    """Whether a number or percentage is zero or missing."""
    return value in (0, "0%", None)


def check_quantity(path: str, value: Any) -> Causes:
    """A valid quantity that is not negative."""
    found = parse_quantity(value)
    if found is None:
        yield causes.invalid(path, value, "must be a quantity")
    elif found < _ZERO:
        yield causes.invalid(path, value, "must be greater than or equal to 0")


@functools.lru_cache(4096)
def parse_quantity(value: Any) -> Quantity | None:
    """The quantity; None if it is invalid. Cached, because few values occur in many objects."""
    try:
        return Quantity(value)
    except InvalidArgument:
        return None


_ZERO: Final = Quantity("0")


def check_labels(path: str, value: Any) -> Causes:
    for key, label in (value or {}).items():
        if _is_valid_label(key, label):
            continue
        yield from check_label_key(path, key)
        yield from (
            causes.invalid(path, label, problem) for problem in problems_of_label_value(label)
        )


@functools.lru_cache(4096)
def _is_valid_label(key: str, value: str) -> bool:
    # Cached, because few labels occur in many objects.
    return not problems_of_label_key(key) and not problems_of_label_value(value)


def check_selector(path: str, value: Any) -> Causes:
    """A label selector: its labels and its expressions."""
    if not isinstance(value, Mapping):
        return
    yield from check_labels(f"{path}.matchLabels", value.get("matchLabels"))
    for index, term in enumerate_objects(value.get("matchExpressions")):
        yield from _expression(f"{path}.matchExpressions[{index}]", term)


def _expression(path: str, term: Mapping[str, Any]) -> Causes:
    # `ValidateLabelSelectorRequirement`.
    operator, values = term.get("operator") or "", term.get("values")
    if operator in {"In", "NotIn"} and not values:
        rule = "must be specified when `operator` is 'In' or 'NotIn'"
        yield causes.required(f"{path}.values", rule)
    elif operator in {"Exists", "DoesNotExist"} and values:
        rule = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
        yield causes.forbidden(f"{path}.values", rule)
    elif operator not in _OPERATORS:
        yield causes.invalid(f"{path}.operator", operator, "not a valid selector operator")
    yield from check_label_key(f"{path}.key", term.get("key") or "")
    for index, each in enumerate(values or ()):
        where = f"{path}.values[{index}]"
        yield from (
            causes.invalid(where, each, problem) for problem in problems_of_label_value(each)
        )


def check_config_key(path: str, key: str) -> Causes:
    """A key of a config map or secret: each can become a file name."""
    # `IsConfigMapKey`.
    if len(key) > 253:
        yield causes.invalid(path, key, "must be no more than 253 characters")
    if not _is_key(key):
        rule = (
            "a valid config key must consist of alphanumeric characters, '-', '_' or '.' "
            "(e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is "
            "'[-._a-zA-Z0-9]+')"
        )
        yield causes.invalid(path, key, rule)
    elif key == ".":
        yield causes.invalid(path, key, "must not be '.'")
    elif key.startswith(".."):
        rule = "must not be '..'" if key == ".." else "must not start with '..'"
        yield causes.invalid(path, key, rule)
