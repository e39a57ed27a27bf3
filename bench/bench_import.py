"""What importing and a first request cost, beside the libraries underneath and the peers."""

from __future__ import annotations

import compileall
from collections.abc import Iterator

from bench.contest import Snippet, attempted, side_by_side
from bench.embedded_server import serving
from bench.measure import ROOT, Row, figure, ratios, spread
from bench.scale import count

NAME = "imports"
GOAL = (
    "import kubeloop within 1.3 of aiohttp and msgspec, with a first request within 60 ms more "
    "than aiohttp; a group version within 60 ms"
)

ROUNDS = count("IMPORTS", 3, full=7)
DEPENDENCIES, PACKAGE = "import aiohttp, msgspec", "import kubeloop"
PEERS = ("lightkube", "kr8s", "kubernetes_asyncio", "kubernetes")
CORE = "import kubeloop.wire.core.v1"
FIRST = """
from kubeloop import Client, run
from kubeloop.wire.core.v1 import ConfigMap

async def work():
    async with Client() as client:
        await client.resource(ConfigMap, namespace="team-0").list()
run(work())
"""


def run() -> Iterator[Row]:
    """With bytecode at hand, as an installed package has it."""
    compileall.compile_dir(ROOT / "packages/kubeloop/src", quiet=2)
    snippets = {
        name: Snippet(name) for name in (DEPENDENCIES, PACKAGE, *(f"import {p}" for p in PEERS))
    }
    costs, failures = attempted(snippets, times=ROUNDS)
    wall = {name: [cost.wall for cost in found] for name, found in costs.items()}
    yield ratios(f"{PACKAGE} / {DEPENDENCIES}", wall[PACKAGE], wall[DEPENDENCIES], at_most=1.3)
    yield _first_request()
    core = side_by_side({CORE: CORE}, setup=f"{DEPENDENCIES}, kubeloop", times=ROUNDS)[CORE]
    took = f"{core.wall * 1000:.0f} ms"
    yield Row(f"{CORE} after that", took, "at most 60 ms", core.wall <= 0.060)
    for name in list(wall)[2:]:
        shares = [each / ours for each, ours in zip(wall[name], wall[DEPENDENCIES], strict=True)]
        yield Row(f"{name} / {DEPENDENCIES}", spread(shares))
    yield from (Row(name, str(why).splitlines()[0]) for name, why in failures.items())
    yield figure(DEPENDENCIES, min(wall[DEPENDENCIES]) * 1000, "ms")


def _first_request() -> Row:
    """From nothing to the first answer, over TLS and with a kubeconfig."""
    with serving():
        costs = side_by_side({"first": FIRST, "beneath": "import aiohttp"}, times=ROUNDS)
    more = costs["first"].wall - costs["beneath"].wall
    what = "import kubeloop and a first request, above import aiohttp"
    return Row(what, f"{more * 1000:.0f} ms", "at most 60 ms", more <= 0.060)
