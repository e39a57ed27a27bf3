"""Leadership for code without asyncio: a block that is entered by whoever leads.

Promises: the lease is renewed behind the block's back, and given back only after the block
has ended, whatever happens. A thread cannot be cancelled: when the lease is lost the block
runs on, `ensure()` raises in it, and its end raises `LeadershipLost`.
Elsewhere: the election itself (`kubeloop.election`).
"""

from __future__ import annotations

import os
import socket
import uuid
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, asynccontextmanager
from typing import TYPE_CHECKING

from kubeloop import clients
from kubeloop.rest import RESTClient, default_user_agent
from kubeloop.runtime import Client

from .portal import PORTAL
from .route import Route
from .scope import Scope

if TYPE_CHECKING:  # for those who stand for election, and not for every script
    from kubeloop.election import Leadership
    from kubeloop.runtime import LeaderElection

__all__ = ["Elections"]


class Elections:
    """What a client has besides its groups and verbs: leadership."""

    _route: Route[Client]

    def leadership(self, election: LeaderElection) -> AbstractContextManager[Leadership]:
        """Wait for leadership, and hold it while the block lasts.

            with client.leadership(LeaderElection("reports", namespace="ops")) as term:
                for each in work:
                    term.ensure()
                    do(each)

        Raises: LeadershipLost, by `ensure()` and by the end of the block. `hard_exit` of the
        election is for blocks that do not ask.
        """
        # The portal's, not the client's: closing the client does not end a term.
        return Scope(PORTAL, lambda: _term(self._route.reach(), election), is_patient=True)


@asynccontextmanager
async def _term(client: clients.APIClient, election: LeaderElection) -> AsyncIterator[Leadership]:
    from kubeloop.election import USER_AGENT_SUFFIX, LeaderElector
    from kubeloop.wire.coordination.v1 import Lease

    # A client of its own: no queue of other requests can keep a renewal waiting.
    agent = f"{default_user_agent()}/{USER_AGENT_SUFFIX}"
    async with RESTClient(client.config, clock=client.rest.clock, user_agent=agent) as rest:
        elector = LeaderElector(
            clients.APIClient(rest=rest).resource(Lease, namespace=election.namespace),
            election.name,
            identity=election.identity or _own_identity(),
            times=election.times,
            release=election.release,
            labels=election.labels,
            hard_exit=election.hard_exit,
            clock=rest.clock,
        )
        async with elector.leadership() as term:
            yield term


def _own_identity() -> str:
    """A name that no other process has, and that says where to look for this one."""
    return f"{os.environ.get('POD_NAME') or socket.gethostname()}_{uuid.uuid4()}"
