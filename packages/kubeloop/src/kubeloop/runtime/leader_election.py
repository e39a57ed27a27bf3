"""The options of a manager's leader election, and the elector they describe.

See also: `kubeloop.election` (the election itself).
"""

from __future__ import annotations

import os
import socket
import uuid
from collections.abc import Callable, Mapping
from typing import final

import msgspec

from kubeloop.clients import APIClient
from kubeloop.election import (
    USER_AGENT_SUFFIX,
    ElectionMetrics,
    ElectionRecorder,
    ElectionTimes,
    LeaderElector,
)
from kubeloop.errors import InvalidArgument
from kubeloop.kit import Clock
from kubeloop.meta import check_dns_subdomain
from kubeloop.rest import RESTClient, default_user_agent
from kubeloop.wire.coordination.v1 import Lease

__all__ = ["LeaderElection", "create_elector", "lease_connection"]


@final
class LeaderElection(msgspec.Struct, frozen=True):
    """Which lease decides who leads: `LeaderElection("website-controller", namespace="ops")`.

    Without a namespace it is the configuration's. Each process needs its own `identity`; the
    default is the name of the pod or host and a random part.

    Raises:
        InvalidArgument: a lease cannot have that name.
    """

    name: str
    namespace: str | None = None
    identity: str = ""
    times: ElectionTimes = msgspec.field(default_factory=ElectionTimes)
    release: bool = True
    labels: Mapping[str, str] = msgspec.field(default_factory=dict)
    hard_exit: Callable[[], object] | None = None

    def __post_init__(self) -> None:
        try:
            check_dns_subdomain(self.name)
        except InvalidArgument as error:
            raise InvalidArgument(f"leader election {self.name!r}: {error}") from error


def lease_connection(client: APIClient) -> RESTClient:
    """A connection for leases only: no queue of other requests can delay a renewal."""
    return RESTClient(
        client.config,
        clock=client.rest.clock,
        user_agent=f"{default_user_agent()}/{USER_AGENT_SUFFIX}",
    )


def create_elector(
    election: LeaderElection,
    client: APIClient,
    *,
    events: ElectionRecorder | None,
    metrics: ElectionMetrics | None,
    clock: Clock,
) -> LeaderElector:
    """The elector of a manager."""
    return LeaderElector(
        client.resource(Lease, namespace=election.namespace),
        election.name,
        identity=election.identity or _default_identity(),
        times=election.times,
        release=election.release,
        labels=election.labels,
        events=events,
        metrics=metrics,
        hard_exit=election.hard_exit,
        clock=clock,
    )


def _default_identity() -> str:
    """Unique, and shows where the process runs."""
    host = os.environ.get("POD_NAME") or socket.gethostname()
    return f"{host}_{uuid.uuid4()}"
