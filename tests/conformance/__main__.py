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
    in_any_order,
    read_recordings,
    respond,
    write_recordings,
)

# Of two causes in random order, 9 rounds miss one in 512.
_ROUNDS = 9


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
    """The responses to every case, requested several times: one that varies cannot be compared."""
    found = {}
    for name, steps in cases_of(area).items():
        found[name] = await respond(client, steps)
        for _ in range(_ROUNDS if any(map(_has_order, found[name])) else 1):
            again = await respond(client, steps)
            found[name] = [_common(*pair) for pair in zip(found[name], again, strict=True)]
        if None in found[name]:
            print(f"{area}: {name}: the responses differ", file=sys.stderr)
    return found


def _has_order(response: Any) -> bool:
    body = response.get("body")
    details = body.get("details") if isinstance(body, dict) else None
    causes = details.get("causes") if isinstance(details, dict) else None
    return len(causes or ()) > 1 or len(response.get("warnings", ())) > 1


def _common(one: Any, two: Any) -> Any:
    """The response, if both are equal, or equal in another order; otherwise None."""
    if one == two or one is None:
        return one
    one, two = in_any_order(one), in_any_order(two)
    return one if one == two else None


if __name__ == "__main__":
    sys.exit(main())
