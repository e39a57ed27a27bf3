"""A manager's part in an election: who it is, and its way to the lease.

Elsewhere: the election itself (`kubeloop.election`).
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

__all__ = ["LeaderElection", "elector_for", "lease_connection"]


@final
class LeaderElection(msgspec.Struct, frozen=True):
    """Which lease decides who leads: `LeaderElection("website-controller", namespace="ops")`.

    Without a namespace it is the configuration's. Each process needs an `identity` of its
    own; without one it is the host's name and a random part.

    Raises:
        InvalidArgument: the name is none that a lease can have, or the times contradict.
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
    """A connection for leases alone: no queue of other requests can delay a renewal."""
    return RESTClient(
        client.config,
        clock=client.rest.clock,
        user_agent=f"{default_user_agent()}/{USER_AGENT_SUFFIX}",
    )


def elector_for(
    election: LeaderElection,
    client: APIClient,
    *,
    events: ElectionRecorder | None,
    metrics: ElectionMetrics | None,
    clock: Clock,
) -> LeaderElector:
    """The candidate that stands for this manager."""
    return LeaderElector(
        client.resource(Lease, namespace=election.namespace),
        election.name,
        identity=election.identity or own_identity(),
        times=election.times,
        release=election.release,
        labels=election.labels,
        events=events,
        metrics=metrics,
        hard_exit=election.hard_exit,
        clock=clock,
    )


def own_identity() -> str:
    """A name that no other process has, and that says where to look for this one."""
    host = os.environ.get("POD_NAME") or socket.gethostname()
    return f"{host}_{uuid.uuid4()}"
