"""Cluster addresses and node ports: which are free, and who has them.

Promises: an address or a port is given out once until it is released.
Elsewhere: which services want some (`preparation`).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import Any, final

from ..values.json_values import value_at

__all__ = ["Allocator"]


@final
class Allocator:
    """Gives out cluster addresses and node ports, and knows which are taken."""

    def __init__(
        self, *, network: str = "10.96.0.0/16", ports: range = range(30000, 32768)
    ) -> None:
        self._network = ipaddress.IPv4Network(network)
        self._port_range = ports
        self._addresses: set[str] = set()
        self._ports: set[int] = set()
        self._next_address = 2  # the first one is the API server's own service
        self._next_port = 0

    def address(self, wanted: str = "") -> str:
        """A free address, or the one that is wanted.

        Raises:
            ValueError: the wanted one is taken or outside of the network.
        """
        if wanted:
            if ipaddress.ip_address(wanted) not in self._network:
                raise ValueError(
                    f"the provided IP ({wanted}) is not in the valid range. The range of valid "
                    f"IPs is {self._network}"
                )
            if wanted in self._addresses:
                raise ValueError("provided IP is already allocated")
        else:
            wanted = self._free_address()
        self._addresses.add(wanted)
        return wanted

    def port(self, wanted: int = 0) -> int:
        """A free node port, or the one that is wanted.

        Raises:
            ValueError: the wanted one is taken or out of range.
        """
        if wanted:
            if wanted not in self._port_range:
                low, high = self._port_range[0], self._port_range[-1]
                raise ValueError(
                    "provided port is not in the valid range. The range of valid ports is "
                    f"{low}-{high}"
                )
            if wanted in self._ports:
                raise ValueError("provided port is already allocated")
        else:
            wanted = self._free_port()
        self._ports.add(wanted)
        return wanted

    def adopt(self, service: Mapping[str, Any]) -> None:
        """Remember what a stored service holds, after a restart."""
        addresses, ports = _held(service)
        self._addresses |= addresses
        self._ports |= ports

    def release(self, service: Mapping[str, Any]) -> None:
        """Take back what a deleted service held."""
        addresses, ports = _held(service)
        self._addresses -= addresses
        self._ports -= ports

    def _free_address(self) -> str:
        size = self._network.num_addresses
        for _ in range(size):
            candidate = str(self._network[self._next_address])
            # The first address is the network's own, the last one is for broadcasts.
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


def _held(service: Mapping[str, Any]) -> tuple[set[str], set[int]]:
    addresses = {ip for ip in value_at(service, "spec", "clusterIPs") or () if ip != "None"}
    ports = {each.get("nodePort", 0) for each in value_at(service, "spec", "ports") or ()}
    check = value_at(service, "spec", "healthCheckNodePort") or 0
    return addresses, {*ports, check} - {0, None}
