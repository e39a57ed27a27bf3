"""Allocates cluster IPs and node ports.

Guarantees: an address or port is allocated once until it is released.
See also: which services need some (`preparation`).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import Any, Final, final

from ..values.json_values import value_at

__all__ = ["SERVICE_NETWORK", "Allocator"]

SERVICE_NETWORK: Final = "10.96.0.0/16"


@final
class Allocator:
    """The allocated cluster IPs and node ports of one server."""

    def __init__(
        self, *, network: str = SERVICE_NETWORK, ports: range = range(30000, 32768)
    ) -> None:
        self._network = ipaddress.IPv4Network(network)
        self._port_range = ports
        self._addresses: set[str] = set()
        self._ports: set[int] = set()
        self._next_address = 2  # the first one is that of the service `kubernetes`
        self._next_port = 0

    def allocate_address(self, requested: str = "") -> str:
        """Allocate the requested address, or a free one.

        Raises:
            ValueError: the requested one is in use or outside of the network.
        """
        if requested:
            if ipaddress.ip_address(requested) not in self._network:
                raise ValueError(
                    f"the provided IP ({requested}) is not in the valid range. The range of valid "
                    f"IPs is {self._network}"
                )
            if requested in self._addresses:
                raise ValueError("provided IP is already allocated")
        else:
            requested = self._free_address()
        self._addresses.add(requested)
        return requested

    def allocate_port(self, requested: int = 0) -> int:
        """Allocate the requested node port, or a free one.

        Raises:
            ValueError: the requested one is in use or out of range.
        """
        if requested:
            if requested not in self._port_range:
                low, high = self._port_range[0], self._port_range[-1]
                raise ValueError(
                    "provided port is not in the valid range. The range of valid ports is "
                    f"{low}-{high}"
                )
            if requested in self._ports:
                raise ValueError("provided port is already allocated")
        else:
            requested = self._free_port()
        self._ports.add(requested)
        return requested

    def adopt(self, service: Mapping[str, Any]) -> None:
        """Mark what a stored service uses as allocated, after a restart."""
        addresses, ports = _used_by(service)
        self._addresses |= addresses
        self._ports |= ports

    def release(self, service: Mapping[str, Any]) -> None:
        """Free what a deleted service used."""
        addresses, ports = _used_by(service)
        self._addresses -= addresses
        self._ports -= ports

    def _free_address(self) -> str:
        size = self._network.num_addresses
        for _ in range(size):
            candidate = str(self._network[self._next_address])
            # Skip the network address and the broadcast address.
            self._next_address = self._next_address % (size - 2) + 1
            if candidate not in self._addresses:
                return candidate
        raise ValueError("range is full")

    def _free_port(self) -> int:
        for _ in self._port_range:
            candidate = self._port_range[self._next_port]
            self._next_port = (self._next_port + 1) % len(self._port_range)
            if candidate not in self._ports:
                return candidate
        raise ValueError("range is full")


def _used_by(service: Mapping[str, Any]) -> tuple[set[str], set[int]]:
    addresses = {ip for ip in value_at(service, "spec", "clusterIPs") or () if ip != "None"}
    ports = {each.get("nodePort", 0) for each in value_at(service, "spec", "ports") or ()}
    check = value_at(service, "spec", "healthCheckNodePort") or 0
    return addresses, {*ports, check} - {0, None}
