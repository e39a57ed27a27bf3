"""Record the responses of kube-apiserver to the cases.

    python -m tests.conformance                  write the responses into tests/conformance/recordings
    python -m tests.conformance --check          change nothing; fail if a response would change
    python -m tests.conformance storage_rules …  only these areas

It needs kube-apiserver and etcd (`make assets`).
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from typing import Any

from tests.conformance import servers
from tests.conformance.raw_client import RawClient
from tests.conformance.recorder import (
    AREAS,
    cases_of,
    read_recordings,
    respond,
    write_recordings,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Record or check; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="tests.conformance",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("areas", nargs="*", help=f"some of: {', '.join(AREAS)}")
    parser.add_argument("--check", action="store_true", help="fail if a response would change")
    options = parser.parse_args(arguments)
    if unknown := set(options.areas) - set(AREAS):
        parser.error(f"no area {', '.join(sorted(unknown))} (there are: {', '.join(AREAS)})")
    return asyncio.run(_run(options.areas or AREAS, check=options.check))


async def _run(areas: Sequence[str], *, check: bool) -> int:
    has_changed = False
    async with servers.envtest() as server:
        client = RawClient(
            await server.session("admin", ("system:masters",)), server.url, "default"
        )
        for area in areas:
            responses = await _record(client, area)
            before = read_recordings(area)
            changed = sorted(
                name
                for name in responses.keys() | before.keys()
                if responses.get(name) != before.get(name)
            )
            print(f"{area}: {len(responses)} cases, {len(changed)} changed", *changed, sep="\n  ")
            has_changed = has_changed or bool(changed)
            if not check:
                write_recordings(area, responses)
    return int(check and has_changed)


async def _record(client: RawClient, area: str) -> dict[str, list[Any]]:
    """The responses to every case, requested twice: a response that varies cannot be compared."""
    found = {}
    for name, steps in cases_of(area).items():
        found[name] = await respond(client, steps)
        if await respond(client, steps) != found[name]:
            print(f"{area}: {name}: two responses differ", file=sys.stderr)
    return found


if __name__ == "__main__":
    sys.exit(main())
