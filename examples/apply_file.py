"""Apply YAML files with any number of documents, with server-side apply.

    python examples/apply_file.py                     # the example next to this file
    python examples/apply_file.py mine.yaml folder/

Namespaces and CRDs are applied first, whatever the order of the documents. Applying the same
files again changes nothing.
"""

from __future__ import annotations

import sys
from pathlib import Path

from kubeloop import Client, run
from kubeloop.clients import AnyObject
from kubeloop.wire import Kind

SHOP = str(Path(__file__).with_name("shop.yaml"))


async def main() -> None:
    async with Client(field_manager="example") as client:
        for path in sys.argv[1:] or [SHOP]:
            for obj in await client.apply(path):
                print(describe(obj))


def describe(obj: AnyObject) -> str:
    """Built-in kinds are returned as objects of their class, all others as dicts."""
    data = obj.to_dict() if isinstance(obj, Kind) else obj
    namespace = data["metadata"].get("namespace", "-")
    return f"{data['kind']:<12} {namespace:<14} {data['metadata']['name']}"


if __name__ == "__main__":
    run(main())
