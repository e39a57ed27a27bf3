"""Leadership for code without asyncio: a `with` block that only the leader enters.

Guarantees: the lease is renewed in the loop thread, and always released after the block. A
thread cannot be cancelled: if the lease is lost, the block continues, `ensure()` raises in it,
and its end raises `LeadershipLost`.
See also: `kubeloop.election` (the election).
"""

from __future__ import annotations

import os
import socket
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from kubeloop import clients
from kubeloop.rest import RESTClient, default_user_agent

if TYPE_CHECKING:  # imported only by programs that use an election
    from kubeloop.election import Leadership
    from kubeloop.runtime import LeaderElection

__all__ = ["hold_leadership"]


@asynccontextmanager
async def hold_leadership(
    client: clients.APIClient, election: LeaderElection
) -> AsyncIterator[Leadership]:
    """Wait for leadership, and release it at the end of the block; in the loop thread."""
    from kubeloop.election import USER_AGENT_SUFFIX, LeaderElector
    from kubeloop.wire.coordination.v1 import Lease

    # A separate client: renewals must not wait behind other requests.
    agent = f"{default_user_agent()}/{USER_AGENT_SUFFIX}"
    async with RESTClient(client.config, clock=client.rest.clock, user_agent=agent) as rest:
        elector = LeaderElector(
            clients.APIClient(rest=rest).resource(Lease, namespace=election.namespace),
            election.name,
            identity=election.identity or _default_identity(),
            times=election.times,
            release=election.release,
            labels=election.labels,
            hard_exit=election.hard_exit,
            clock=rest.clock,
        )
        async with elector.leadership() as term:
            yield term


def _default_identity() -> str:
    """A unique name that contains the name of the pod or the host."""
    return f"{os.environ.get('POD_NAME') or socket.gethostname()}_{uuid.uuid4()}"
