"""Generates the models, the clientset and the OpenAPI data of the embedded server.

    python -m kubeloop_generate [--check]

The input is the kube-apiserver of `make assets`, which this starts for a few seconds, and what
`go_sources` has written from the Go sources of the same version. `--check` writes nothing, and
fails if a file would change.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from assets import KUBERNETES

from kubeloop.errors import KubeError

from .api_server import Documents, read_documents
from .clientset import render_clientset
from .discovery import rows_in
from .document import BadDocument, classes_in
from .openapi import NAME, compressed, openapi_data
from .outputs import stale_files, update
from .protobuf import messages_in
from .render import describe, groups_of, render

ROOT = Path(__file__).parents[2]
LIBRARY = "packages/kubeloop/src/kubeloop"
SERVER = "packages/kubeloop-testing/src/kubeloop_testing/server"


def main(arguments: Sequence[str] | None = None) -> int:
    """Generate or check; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="kubeloop_generate",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    options = parser.parse_args(arguments)
    try:
        documents = read_documents()
        check_version(documents)
        return generate(documents, ROOT, check=options.check)
    except (KubeError, OSError, ValueError, KeyError, TypeError) as error:
        print(f"cannot generate: {type(error).__name__}: {error}", file=sys.stderr)
        return 2


def check_version(documents: Documents) -> None:
    """Raise `BadDocument` if the documents are not of the version that tools/assets.py pins."""
    if documents.version != KUBERNETES:
        raise BadDocument(
            f"kube-apiserver is {documents.version}, and tools/assets.py pins {KUBERNETES} "
            "(unset KUBEBUILDER_ASSETS, and run `make assets`)"
        )


def generate(documents: Documents, root: Path, *, check: bool = False) -> int:
    """Generate or check the files in `root`, a clone of the repository; returns the exit code."""
    rows, classes = rows_in(documents.discovery), classes_in(documents.openapi)
    source = describe(documents.version)
    models = render(classes, rows, source=source, messages=messages_in(classes))
    clients = render_clientset(rows, groups_of(rows, classes), source=source)
    library = root / LIBRARY
    files: dict[Path, str | bytes] = {
        **{library / "wire" / name: text for name, text in models.items()},
        **{library / "clients" / name: text for name, text in clients.items()},
    }
    stale = stale_files(library / "wire", files) + stale_files(library / "clients", files)
    files[root / SERVER / "describe/_generated" / NAME] = compressed(
        openapi_data(documents.openapi, documents.openapi_v3, source=source)
    )
    return update(files, check=check, stale=stale)


if __name__ == "__main__":
    sys.exit(main())
