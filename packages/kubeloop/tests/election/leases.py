"""A server's leases in memory, with every fault a network and a server can have."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import final

import msgspec

from kubeloop.errors import ApiError, ConnectError, StreamBroken, api_error
from kubeloop.errors import failure as status
from kubeloop.kit import Clock, ManualClock
from kubeloop.meta import GroupResource
from kubeloop.wire.coordination.v1 import Lease, LeaseSpec
from kubeloop.wire.meta.v1 import ObjectMeta

NAME = "controller"
LEASES = GroupResource("coordination.k8s.io", "leases")


def error_response(action: str, reason: str) -> ApiError:
    return api_error(action, status(reason, "injected by the test", resource=LEASES, name=NAME))


def lease_of(holder: str, *, duration: int = 15, transitions: int = 3, **spec: object) -> Lease:
    return Lease(
        metadata=ObjectMeta(name=NAME, namespace="shop", resource_version="1"),
        spec=LeaseSpec(
            holder_identity=holder,
            lease_duration_seconds=duration,
            lease_transitions=transitions,
            **spec,  # type: ignore[arg-type] # a test's own fields
        ),
    )


@final
class Server:
    """Stores the one lease; each write gets a new version."""

    def __init__(self, lease: Lease | None = None) -> None:
        self.lease = copy.deepcopy(lease)
        self.version = 1
        self.log: list[str] = []

    @property
    def spec(self) -> LeaseSpec:
        assert self.lease is not None
        return self.lease.spec

    def get(self) -> Lease:
        self.log.append("GET")
        if self.lease is None:
            raise error_response("GET lease", "NotFound")
        return copy.deepcopy(self.lease)

    def create(self, lease: Lease) -> Lease:
        self.log.append("CREATE")
        if self.lease is not None:
            raise error_response("POST lease", "AlreadyExists")
        return self._put(lease)

    def update(self, lease: Lease) -> Lease:
        self.log.append("UPDATE")
        if self.lease is None:
            raise error_response("PUT lease", "NotFound")
        if lease.metadata.resource_version != self.lease.metadata.resource_version:
            raise error_response("PUT lease", "Conflict")
        return self._put(lease)

    def touch(self, change: Callable[[Lease], None]) -> None:
        """Change the lease from outside."""
        assert self.lease is not None
        change(self.lease)
        self._put(self.lease)

    def _put(self, lease: Lease) -> Lease:
        self.version += 1
        self.lease = Lease.from_dict(lease.to_dict())  # what serialization keeps
        self.lease.metadata.resource_version = str(self.version)
        self.lease.metadata.namespace = "shop"
        return copy.deepcopy(self.lease)


class NetworkFaults(msgspec.Struct):
    """Faults of the network between one candidate and the server."""

    slow_there: float = 0.0  # seconds until the server has the request
    slow_back: float = 0.0  # seconds until the response arrives
    is_cut: bool = False  # no connection at all
    loses_responses: bool = False
    fails_with: str = ""  # a reason


@final
class FakeLeases:
    """One candidate's client: a `LeaseClient`."""

    def __init__(self, server: Server, clock: Clock | None = None) -> None:
        self._server = server
        self._clock = clock or ManualClock()
        self.faults = NetworkFaults()
        self.requests: list[str] = []

    async def get(self, name: str, /) -> Lease:
        return await self._send("GET", self._server.get)

    async def create(self, lease: Lease, /) -> Lease:
        return await self._send("CREATE", lambda: self._server.create(lease))

    async def update(self, lease: Lease, /) -> Lease:
        return await self._send("UPDATE", lambda: self._server.update(lease))

    async def _send(self, verb: str, act: Callable[[], Lease]) -> Lease:
        self.requests.append(verb)
        faults = self.faults
        if faults.is_cut:
            raise ConnectError(f"{verb}: connection refused")
        if faults.fails_with:
            raise error_response(verb, faults.fails_with)
        await self._clock.sleep(faults.slow_there)
        response = act()
        await self._clock.sleep(faults.slow_back)
        if faults.loses_responses or self.faults.is_cut:
            raise StreamBroken(f"{verb}: the connection ended inside the response")
        return response
