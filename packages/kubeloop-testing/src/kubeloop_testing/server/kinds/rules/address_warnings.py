"""Warnings about addresses and networks that are valid, yet not in canonical notation.

Guarantees: the cases of apimachinery's `GetWarningsForIP` and `GetWarningsForCIDR`.
See also: which addresses are valid (`value_rules`).
"""

from __future__ import annotations

import functools
import ipaddress
from collections.abc import Iterator

from .value_rules import without_zeros

__all__ = ["address_warnings", "network_warnings"]


def address_warnings(path: str, value: str) -> Iterator[str]:
    """Warnings about one address."""
    better = _canonical_address(value)
    if better and ":" in better:
        yield (
            f'{path}: IPv6 address "{value}" should be in RFC 5952 canonical format ("{better}")'
        )
    elif better:
        yield f'{path}: non-standard IP address "{value}" is invalid: use "{better}"'


@functools.lru_cache(1024)
def _canonical_address(value: str) -> str:
    """How an address should be written; "" if it is well written or no address."""
    try:
        address = ipaddress.ip_address(without_zeros(value))
    except ValueError:
        return ""
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        return "" if str(address) == value else str(address)
    return "" if str(address) == value else str(address)


def network_warnings(path: str, value: str) -> Iterator[str]:
    """Warnings about one network in CIDR notation."""
    address, slash, bits = value.partition("/")
    try:
        network = ipaddress.ip_network(f"{without_zeros(address)}{slash}{bits}", strict=False)
    except ValueError:
        return
    if not slash:
        return
    if ipaddress.ip_address(without_zeros(address)) != network.network_address:
        yield f"{path}: {value} has bits of a host, should it be {network}?"
    elif str(network) != value:
        yield (
            f'{path}: IPv6 CIDR value "{value}" should be in RFC 5952 canonical format '
            f'("{network}")'
        )
