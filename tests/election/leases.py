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


def refusal(action: str, reason: str) -> ApiError:
    return api_error(action, status(reason, "as the test wants it", resource=LEASES, name=NAME))


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
    """Holds the one lease, and gives each write a new version."""

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
            raise refusal("GET lease", "NotFound")
        return copy.deepcopy(self.lease)

    def create(self, lease: Lease) -> Lease:
        self.log.append("CREATE")
        if self.lease is not None:
            raise refusal("POST lease", "AlreadyExists")
        return self._put(lease)

    def update(self, lease: Lease) -> Lease:
        self.log.append("UPDATE")
        if self.lease is None:
            raise refusal("PUT lease", "NotFound")
        if lease.metadata.resource_version != self.lease.metadata.resource_version:
            raise refusal("PUT lease", "Conflict")
        return self._put(lease)

    def touch(self, change: Callable[[Lease], None]) -> None:
        """Change the lease from outside."""
        assert self.lease is not None
        change(self.lease)
        self._put(self.lease)

    def _put(self, lease: Lease) -> Lease:
        self.version += 1
        self.lease = Lease.from_dict(lease.to_dict())  # what the wire keeps of it
        self.lease.metadata.resource_version = str(self.version)
        self.lease.metadata.namespace = "shop"
        return copy.deepcopy(self.lease)


class Weather(msgspec.Struct):
    """How a candidate's requests fare now."""

    slow_there: float = 0.0  # seconds until the server has the request
    slow_back: float = 0.0  # seconds until the answer is here
    is_cut: bool = False  # no connection at all
    loses_answers: bool = False
    fails_with: str = ""  # a reason


@final
class Store:
    """One candidate's way to the server: a `LeaseStore`."""

    def __init__(self, server: Server, clock: Clock | None = None) -> None:
        self._server = server
        self._clock = clock or ManualClock()
        self.weather = Weather()
        self.requests: list[str] = []

    async def get(self, name: str, /) -> Lease:
        return await self._send("GET", self._server.get)

    async def create(self, lease: Lease, /) -> Lease:
        return await self._send("CREATE", lambda: self._server.create(lease))

    async def update(self, lease: Lease, /) -> Lease:
        return await self._send("UPDATE", lambda: self._server.update(lease))

    async def _send(self, verb: str, act: Callable[[], Lease]) -> Lease:
        self.requests.append(verb)
        weather = self.weather
        if weather.is_cut:
            raise ConnectError(f"{verb}: connection refused")
        if weather.fails_with:
            raise refusal(verb, weather.fails_with)
        await self._clock.sleep(weather.slow_there)
        answer = act()
        await self._clock.sleep(weather.slow_back)
        if weather.loses_answers or self.weather.is_cut:
            raise StreamBroken(f"{verb}: the connection ended inside the answer")
        return answer
