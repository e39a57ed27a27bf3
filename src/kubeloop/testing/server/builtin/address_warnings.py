"""Warnings about addresses and networks that are valid, yet not in canonical notation.

Guarantees: the cases of apimachinery's `GetWarningsForIP` and `GetWarningsForCIDR`.
See also: which addresses are valid (`value_rules`).
"""

from __future__ import annotations

import functools
import ipaddress
from collections.abc import Iterator

__all__ = ["address_warnings", "network_warnings"]


def address_warnings(path: str, value: str) -> Iterator[str]:
    """Warnings about one address."""
    better = _canonical_address(value)
    if better:
        yield f"{path}: the address {value} should be written as {better}"


@functools.lru_cache(1024)
def _canonical_address(value: str) -> str:
    """How an address should be written; "" if it is well written or no address."""
    try:
        address = ipaddress.ip_address(_without_zeros(value))
    except ValueError:
        return ""
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        return "" if str(address) == value else str(address)
    return "" if str(address) == value else str(address)


def _without_zeros(value: str) -> str:
    # Go's older parser ignored leading zeros in IPv4 addresses.
    parts = value.split(".")
    if len(parts) == 4 and all(part.isdecimal() for part in parts):
        return ".".join(str(int(part)) for part in parts)
    return value


def network_warnings(path: str, value: str) -> Iterator[str]:
    """Warnings about one network in CIDR notation."""
    address, slash, bits = value.partition("/")
    try:
        network = ipaddress.ip_network(f"{_without_zeros(address)}{slash}{bits}", strict=False)
    except ValueError:
        return
    if not slash:
        return
    if ipaddress.ip_address(_without_zeros(address)) != network.network_address:
        yield f"{path}: {value} has bits of a host, should it be {network}?"
    elif str(network) != value:
        yield f"{path}: the network {value} should be written as {network}"
