"""What a short script and a command cost from nothing to the first answer, over TLS."""

from __future__ import annotations

import compileall
import sys
from collections.abc import Iterator

from bench.contest import Command, Contestant, Snippet, attempted, in_rounds
from bench.embedded_server import serving
from bench.measure import ROOT, Cost, Row, figures, ratio_of_turns
from bench.scale import count

NAME = "transport: start"
GOAL = (
    "import and a first request within 0.8 of lightkube's CPU; `kubeloop get pods` within twice "
    "an import of asyncio, ssl and msgspec"
)

ROUNDS = count("STARTS", 15, full=30)
PODS = 24  # of the server, two for each namespace

OURS, LIGHTKUBE, BLOCKING = "kubeloop", "lightkube", "lightkube, blocking"
FIRST_REQUESTS: dict[str, Contestant] = {
    OURS: Snippet("""
from kubeloop import Client, run
from kubeloop.wire.core.v1 import Pod

async def work():
    async with Client() as client:
        return len(await client.resource(Pod, namespace="team-0").list())
assert run(work()) == 2
"""),
    LIGHTKUBE: Snippet("""
import asyncio
from lightkube import AsyncClient
from lightkube.resources.core_v1 import Pod

async def work():
    return len([pod async for pod in AsyncClient().list(Pod, namespace="team-0")])
assert asyncio.run(work()) == 2
"""),
    BLOCKING: Snippet("""
from lightkube import Client
from lightkube.resources.core_v1 import Pod
assert len(list(Client().list(Pod, namespace="team-0"))) == 2
"""),
}
GET, IMPORT = "kubeloop get pods", "import asyncio, ssl, msgspec"
COMMANDS: dict[str, Contestant] = {
    GET: Command((sys.executable, "-m", "kubeloop_cli", "get", "pods", "--namespace", "team-0")),
    IMPORT: Command((sys.executable, "-c", IMPORT)),
}


def run() -> Iterator[Row]:
    """With bytecode at hand, as an installed package has it."""
    compileall.compile_dir(ROOT / "packages/kubeloop/src", quiet=2)
    with serving(PODS):
        requests, failures = attempted(FIRST_REQUESTS, times=ROUNDS)
        commands = in_rounds(COMMANDS, times=ROUNDS)
    what = "import of a client and Pod, and a first request"
    for name in (LIGHTKUBE, BLOCKING):
        if name in requests:
            goal = 0.8 if name == LIGHTKUBE else None
            us, them = _cpu(requests[OURS]), _cpu(requests[name])
            yield ratio_of_turns(f"{what}, CPU / {name}", us, them, at_most=goal)
    yield from (Row(name, str(why).splitlines()[0]) for name, why in failures.items())
    us, them = _cpu(commands[GET]), _cpu(commands[IMPORT])
    yield ratio_of_turns(f"{GET}, CPU / {IMPORT}", us, them, at_most=2.0)
    for name, costs in requests.items():
        yield figures(f"{what}, {name}", [cost.cpu * 1000 for cost in costs], "ms CPU")
    for name, costs in commands.items():
        yield figures(f"{name}, whole process", [cost.cpu * 1000 for cost in costs], "ms CPU")


def _cpu(costs: list[Cost]) -> list[float]:
    return [cost.cpu for cost in costs]
