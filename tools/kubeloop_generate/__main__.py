"""Generates the models of `kubeloop.wire` from files, or from a running cluster.

    python -m kubeloop_generate --swagger swagger.json --discovery discovery.json
    python -m kubeloop_generate --cluster http://127.0.0.1:8001     (kubectl proxy)

`--check` writes nothing, and fails if a file would change.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .clientset import render_clientset
from .discovery import ResourceRow, legacy_rows, rows_in
from .document import BadDocument, ClassFacts, classes_in
from .openapi import NAME, compressed, openapi_data
from .protobuf import Messages, messages_in
from .render import describe, groups_of, render

_AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


def main(arguments: Sequence[str] | None = None) -> int:
    """Generate or check; returns the exit code."""
    options = _options(arguments)
    try:
        document, rows = _from_cluster(options) if options.cluster else _from_files(options)
        version = str(document.get("info", {}).get("version", "of unknown version"))
        if set(version) - set("abcdefghijklmnopqrstuvwxyz0123456789.+- "):
            raise BadDocument(f"not a version: {version!r}")
        classes, source = classes_in(document), describe(version.partition("+")[0])
        outputs = {
            options.out: render(classes, rows, source=source, messages=_messages(options, classes))
        }
        if options.clients:
            modules = groups_of(rows, classes)
            outputs[options.clients] = render_clientset(rows, modules, source=source)
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"cannot generate: {type(error).__name__}: {error}", file=sys.stderr)
        return 2
    action = _compare if options.check else _write
    code = max(action(files, out) for out, files in outputs.items())
    if options.openapi:
        data = openapi_data(document, source=source)
        code = max(code, _update_openapi(data, options.openapi / NAME, check=options.check))
    return code


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="kubeloop_generate",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--swagger", type=Path, help="the response of /openapi/v2")
    parser.add_argument(
        "--discovery", type=Path, action="append", help="aggregated discovery; can be repeated"
    )
    parser.add_argument("--protobuf", type=Path, help="protobuf field numbers, as JSON")
    parser.add_argument("--cluster", help="URL of a cluster or of kubectl proxy")
    parser.add_argument("--token-file", type=Path, help="bearer token for --cluster")
    parser.add_argument("--out", type=Path, default=Path("src/kubeloop/wire"))
    parser.add_argument(
        "--clients",
        type=Path,
        help="the package of the clients; default: beside --out, if that is wire",
    )
    parser.add_argument(
        "--openapi",
        type=Path,
        help="the folder for OpenAPI as data; default: in the embedded server, if --out is wire",
    )
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    options = parser.parse_args(arguments)
    if not options.cluster and not (options.swagger and options.discovery):
        parser.error("--swagger and --discovery, or --cluster, are required")
    if options.clients is None and options.out.name == "wire":
        options.clients = options.out.parent / "clients"
    if options.openapi is None and options.out.name == "wire":
        options.openapi = options.out.parent / "testing/server/describe/_generated"
    return options


def _messages(options: argparse.Namespace, classes: Sequence[ClassFacts]) -> Messages | None:
    if not options.protobuf:
        return None
    return messages_in(json.loads(options.protobuf.read_text("utf-8")), classes)


def _from_files(options: argparse.Namespace) -> tuple[Mapping[str, Any], list[ResourceRow]]:
    documents = [json.loads(path.read_text("utf-8")) for path in options.discovery]
    return json.loads(options.swagger.read_text("utf-8")), rows_in(documents)


def _from_cluster(options: argparse.Namespace) -> tuple[Mapping[str, Any], list[ResourceRow]]:
    token = options.token_file.read_text("utf-8").strip() if options.token_file else ""

    def get(path: str, accept: str = "application/json") -> Mapping[str, Any]:
        request = urllib.request.Request(options.cluster.rstrip("/") + path)
        request.add_header("Accept", accept)
        if token:
            request.add_header("Authorization", f"Bearer {token}")
        with urllib.request.urlopen(request, timeout=60) as response:
            found: Mapping[str, Any] = json.load(response)
            return found

    document = get("/openapi/v2")
    lists = [get(path, f"{_AGGREGATED},application/json") for path in ("/api", "/apis")]
    if all(found.get("kind") == "APIGroupDiscoveryList" for found in lists):
        return document, rows_in(lists)
    rows = [
        row
        for version in lists[0]["versions"]
        for row in legacy_rows("", version, get(f"/api/{version}"))
    ]
    for group in lists[1]["groups"]:
        for version in group["versions"]:
            found = get(f"/apis/{version['groupVersion']}")
            rows += legacy_rows(group["name"], version["version"], found)
    return document, rows


def _write(files: Mapping[str, str], out: Path) -> int:
    for path in _stale(files, out):
        path.unlink()
    for name, text in files.items():
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    print(f"{len(files)} files written to {out}")
    return 0


def _update_openapi(data: bytes, path: Path, *, check: bool) -> int:
    # Compared before compression: other versions of zlib write other bytes.
    if path.is_file() and gzip.decompress(path.read_bytes()) == data:
        return 0
    if check:
        print(f"would change: {path.name}", file=sys.stderr)
        return 1
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(compressed(data))
    return 0


def _compare(files: Mapping[str, str], out: Path) -> int:
    changed = [
        name
        for name, text in files.items()
        if not (out / name).is_file() or (out / name).read_text("utf-8") != text
    ]
    changed += [str(path.relative_to(out)) for path in _stale(files, out)]
    for name in changed:
        print(f"would change: {name}", file=sys.stderr)
    print(f"{len(files)} files compared, {len(changed)} would change")
    return 1 if changed else 0


def _stale(files: Mapping[str, str], out: Path) -> list[Path]:
    """Generated files that are no longer generated."""
    marker = "by tools/kubeloop_generate. Do not edit."
    return [
        path
        for path in sorted(out.rglob("*.py"))
        if str(path.relative_to(out)) not in files
        and marker in path.read_text("utf-8").partition("\n")[0]
        and path.name
        != "protobuf.py"  # a cluster does not serve the field numbers; keep the old ones
    ]


if __name__ == "__main__":
    sys.exit(main())
