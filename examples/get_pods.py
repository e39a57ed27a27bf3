"""Print the table of `kubectl get -A -o wide` for any kind, with the server's columns.

`python examples/get_pods.py` shows pods, `python examples/get_pods.py apps/v1 Deployment`
deployments.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from kubeloop import ALL_NAMESPACES, Client, run
from kubeloop.clients import Table


async def main() -> None:
    api_version, kind = sys.argv[1:3] if len(sys.argv) > 2 else ("v1", "Pod")
    async with Client() as client:
        table = await client.resource(api_version, kind, namespace=ALL_NAMESPACES).table()
        print_aligned(lines_of(table))


def lines_of(table: Table) -> Iterable[Sequence[str]]:
    """The header and the rows; the namespace is the first column, as with -A."""
    yield ["NAMESPACE", *(column.name.upper() for column in table.columns)]
    for row in table.rows:
        metadata = (row.object or {}).get("metadata", {})
        yield [metadata.get("namespace", ""), *map(str, row.cells)]


def print_aligned(lines: Iterable[Sequence[str]]) -> None:
    lines = list(lines)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        print("   ".join(cells).rstrip())


if __name__ == "__main__":
    run(main())
