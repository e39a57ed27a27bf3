"""What importing costs, beside the libraries underneath and the official client."""

from __future__ import annotations

import compileall

from bench.measure import ROOT, Row, figure, ratio, side_by_side

NAME = "imports"
GOAL = "import kubeloop within 1.3 of aiohttp and msgspec; a group version within 60 ms"

SNIPPETS = {
    "beneath": "import aiohttp, msgspec",
    "door": "import kubeloop",
    "official": "import kubernetes",
}
AFTER = {"core": "import kubeloop.wire.core.v1"}


def run() -> list[Row]:
    """With bytecode at hand, as an installed package has it."""
    compileall.compile_dir(ROOT / "src", quiet=2)
    costs = side_by_side(SNIPPETS, times=7)
    core = side_by_side(AFTER, setup="import aiohttp, msgspec, kubeloop", times=7)["core"]
    return [
        ratio(
            "import kubeloop / import aiohttp, msgspec",
            costs["door"].wall,
            costs["beneath"].wall,
            at_most=1.3,
        ),
        Row(
            "import kubeloop.wire.core.v1 after that",
            f"{core.wall * 1000:.0f} ms",
            "at most 60 ms",
            core.wall <= 0.060,
        ),
        figure("import kubernetes (the official client)", costs["official"].wall * 1000, "ms"),
        figure("import aiohttp, msgspec", costs["beneath"].wall * 1000, "ms"),
    ]
