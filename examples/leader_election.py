"""Run work in one of several processes, while it holds a lease.

    python examples/leader_election.py first     # in one terminal
    python examples/leader_election.py second    # in another one

Stop the first with Ctrl-C: it releases the lease, so the second leads at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys

from kubeloop import Client, run
from kubeloop.election import LeaderElector, LeadershipLost
from kubeloop.wire.coordination.v1 import Lease


async def main() -> None:
    identity = sys.argv[1] if len(sys.argv) > 1 else "first"
    async with Client() as client:
        elector = LeaderElector(
            client.resource(Lease),
            "example-election",
            identity=identity,
            observers=[lambda leader: print(f"{identity}: {leader} leads", flush=True)],
        )
        try:
            async with elector.leadership() as term:
                await work(identity, term.transitions)
        except LeadershipLost as error:
            # The work was cancelled before another candidate could lead.
            sys.exit(str(error))


async def work(identity: str, transitions: int) -> None:
    print(f"{identity}: working, the lease has changed hands {transitions} times", flush=True)
    await asyncio.Event().wait()  # the work that only one process may do


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        run(main())
