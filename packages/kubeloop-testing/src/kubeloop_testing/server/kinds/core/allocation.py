"""Allocates cluster IPs and node ports.

Guarantees: an address or port is allocated once: to a stored service, or to a write that has not
ended. A write that stores nothing (it was rejected, or a dry run) leaves nothing allocated.
See also: which services need some (`service_allocation`).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Final, Self, final

from ...values.json_values import value_at

__all__ = ["SERVICE_NETWORK", "Allocator", "Reservation"]

SERVICE_NETWORK: Final = "10.96.0.0/16"


@final
class Allocator:
    """The cluster IPs and node ports that are in use on one server."""

    def __init__(
        self, *, network: str = SERVICE_NETWORK, ports: range = range(30000, 32768)
    ) -> None:
        self.network = ipaddress.IPv4Network(network)
        self.port_range = ports
        self._addresses: set[str] = set()  # of stored services
        self._ports: set[int] = set()
        self._reservations: list[Reservation] = []  # of the writes that have not ended
        self._next_address = 2  # the first one is that of the service `kubernetes`
        self._next_port = 0

    def reserve(self) -> Reservation:
        """What one write allocates, until it ends: `with allocator.reserve() as reservation`."""
        return Reservation(self)

    def begin(self, reservation: Reservation) -> None:
        """Count what a write allocates as in use."""
        self._reservations.append(reservation)

    def end(self, reservation: Reservation) -> None:
        """Free what a write has allocated, and no stored service uses."""
        self._reservations.remove(reservation)

    def adopt(self, service: Mapping[str, Any]) -> None:
        """Mark what a stored service uses as allocated."""
        addresses, ports = _used_by(service)
        self._addresses |= addresses
        self._ports |= ports

    def release(self, service: Mapping[str, Any]) -> None:
        """Free what a service used that was deleted, or that has changed."""
        addresses, ports = _used_by(service)
        self._addresses -= addresses
        self._ports -= ports

    def has_address(self, address: str) -> bool:
        """Whether a cluster IP is in use."""
        return address in self._addresses or any(
            address in each.addresses for each in self._reservations
        )

    def has_port(self, port: int) -> bool:
        """Whether a node port is in use."""
        return port in self._ports or any(port in each.ports for each in self._reservations)

    def free_address(self) -> str:
        """A cluster IP that is not in use. Raises `ValueError` if there is none."""
        size = self.network.num_addresses
        for _ in range(size):
            candidate = str(self.network[self._next_address])
            # Skip the network address and the broadcast address.
            self._next_address = self._next_address % (size - 2) + 1
            if not self.has_address(candidate):
                return candidate
        raise ValueError("range is full")

    def free_port(self) -> int:
        """A node port that is not in use. Raises `ValueError` if there is none."""
        for _ in self.port_range:
            candidate = self.port_range[self._next_port]
            self._next_port = (self._next_port + 1) % len(self.port_range)
            if not self.has_port(candidate):
                return candidate
        raise ValueError("range is full")


@final
class Reservation:
    """The cluster IPs and node ports that one write has allocated, from `with` to its end."""

    def __init__(self, allocator: Allocator) -> None:
        self._allocator = allocator
        self._own: tuple[set[str], set[int]] = set(), set()
        self.addresses: set[str] = set()
        self.ports: set[int] = set()

    def __enter__(self) -> Self:
        self._allocator.begin(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._allocator.end(self)

    def own(self, service: Mapping[str, Any]) -> None:
        """Let the write allocate again what the service has that it changes."""
        self._own = _used_by(service)

    def allocate_address(self, requested: str = "") -> str:
        """Allocate the requested address, or a free one.

        Raises:
            ValueError: the requested one is in use or outside of the network.
        """
        if requested:
            network = self._allocator.network
            if ipaddress.ip_address(requested) not in network:
                raise ValueError(
                    f"the provided IP ({requested}) is not in the valid range. The range of valid "
                    f"IPs is {network}"
                )
            if requested not in self._own[0] and self._allocator.has_address(requested):
                raise ValueError("provided IP is already allocated")
        else:
            requested = self._allocator.free_address()
        self.addresses.add(requested)
        return requested

    def allocate_port(self, requested: int = 0) -> int:
        """Allocate the requested node port, or a free one.

        Raises:
            ValueError: the requested one is in use or out of range.
        """
        if requested:
            valid = self._allocator.port_range
            if requested not in valid:
                raise ValueError(
                    "provided port is not in the valid range. The range of valid ports is "
                    f"{valid[0]}-{valid[-1]}"
                )
            is_own = requested in self._own[1] and requested not in self.ports
            if not is_own and self._allocator.has_port(requested):
                raise ValueError("provided port is already allocated")
        else:
            requested = self._allocator.free_port()
        self.ports.add(requested)
        return requested


def _used_by(service: Mapping[str, Any]) -> tuple[set[str], set[int]]:
    addresses = {ip for ip in value_at(service, "spec", "clusterIPs") or () if ip != "None"}
    ports = {each.get("nodePort", 0) for each in value_at(service, "spec", "ports") or ()}
    check = value_at(service, "spec", "healthCheckNodePort") or 0
    return addresses, {*ports, check} - {0, None}
