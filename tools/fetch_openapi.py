"""Reads a cluster's own description of its API into a folder, for `make generate`.

Promises: `swagger.json` is the answer to /openapi/v2 and `discovery.json` holds the
aggregated answers to /api and /apis; neither is changed on the way.
The address is one that needs no credentials, as `kubectl proxy` offers it.
"""

from __future__ import annotations

import json
import sys
import urllib.request
from pathlib import Path

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


def main(cluster: str, folder: Path) -> None:
    """Write the two documents into `folder`, which is made when it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    discovery = {part: get(f"{cluster}/{part}", accept=AGGREGATED) for part in ("api", "apis")}
    write(folder / "swagger.json", get(f"{cluster}/openapi/v2", accept="application/json"))
    write(folder / "discovery.json", discovery)


def get(url: str, *, accept: str) -> object:
    request = urllib.request.Request(url, headers={"Accept": accept})
    with urllib.request.urlopen(request, timeout=60) as answer:
        document: object = json.load(answer)
    return document


def write(path: Path, document: object) -> None:
    path.write_text(json.dumps(document), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1].rstrip("/"), Path(sys.argv[2]))
