"""Writes what only the Go sources of Kubernetes say: facts of types, and protobuf field numbers.

    python -m kubeloop_generate.go_sources [--check]

Needs Go. tools/go_types prints the facts of the types (`go_types.json`). The numbers
(`protobuf_fields.json`) are those of the `generated.proto` files of the packages that the OpenAPI
document of kube-apiserver names: not every field has a tag in Go, and not every tag is what is
written. `--check` writes nothing, and fails if a file would
change.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from kubeloop.errors import KubeError

from .__main__ import check_version
from .api_server import Json, read_documents
from .document import BadDocument
from .go_structs import GO_TYPES
from .naming import split_definition
from .outputs import update
from .protobuf import NUMBERS

__all__ = ["go_packages", "messages_of"]

PROGRAM = Path(__file__).parents[1] / "go_types"

# A field's number, rule ("optional", "repeated", "map") and type, by its name.
Message = dict[str, tuple[int, str, str]]

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_PACKAGE = re.compile(r"^package ([\w.]+);$", re.MULTILINE)
_MESSAGE = re.compile(r"^message (\w+) \{(.*?)^\}", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r"(optional |repeated |(?=map<))(map<string, [\w.]+>|[\w.]+) (\w+) = (\d+)")


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check the files; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="kubeloop_generate.go_sources",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    check: bool = parser.parse_args(arguments).check
    try:
        documents = read_documents()
        check_version(documents)
        packages = go_packages(documents.openapi)
        types = _go("run", "-trimpath", ".")
        return update({GO_TYPES: types, NUMBERS: _numbers(packages)}, check=check)
    except (KubeError, OSError, ValueError, subprocess.CalledProcessError) as error:
        print(f"cannot generate: {type(error).__name__}: {error}", file=sys.stderr)
        return 2


def _go(*command: str) -> str:
    program = ["go", *command]
    return subprocess.run(
        program, cwd=PROGRAM, stdout=subprocess.PIPE, text=True, check=True
    ).stdout


def go_packages(openapi: Json) -> list[str]:
    """The Go packages of the definitions of a document, sorted: `k8s.io/api/apps/v1`."""
    keys = [key for key in openapi["definitions"] if split_definition(key)]
    return sorted({f"k8s.io/{'/'.join(key.split('.')[2:-1])}" for key in keys})


def _numbers(packages: Iterable[str]) -> str:
    """The content of `protobuf_fields.json`, with one message in each line."""
    modules = dict(
        line.split("|") for line in _go("list", "-m", "-f", "{{.Path}}|{{.Dir}}", "all").split()
    )
    messages: dict[str, Message] = {}
    for package in packages:
        module = "/".join(package.split("/")[:2])
        path = Path(modules[module], package.removeprefix(f"{module}/"), "generated.proto")
        messages |= messages_of(path.read_text("utf-8"))
    version = Path(modules["k8s.io/api"]).name.partition("@")[2]
    lines = [
        f'"{name}":{json.dumps(fields, separators=(",", ":"), sort_keys=True)}'
        for name, fields in sorted(messages.items())
    ]
    source = f"the generated.proto files of Kubernetes' Go modules {version}, by `make go-types`"
    content = ",\n".join(lines)
    return f'{{"source":"{source}",\n"messages":{{\n{content}\n}}}}\n'


def messages_of(proto: str) -> Mapping[str, Message]:
    """The messages of a `generated.proto` file, by their full names.

    Raises:
        BadDocument: it has something that go-to-protobuf does not write.
    """
    text = _COMMENT.sub("", proto)
    package = _PACKAGE.search(text)
    if package is None:
        raise BadDocument("no package found: expected a generated.proto file")
    return {f"{package[1]}.{name}": _message(body) for name, body in _MESSAGE.findall(text)}


def _message(body: str) -> Message:
    message: Message = {}
    for statement in filter(None, (part.strip() for part in body.split(";"))):
        match = _FIELD.fullmatch(statement)
        if match is None:
            raise BadDocument(f"not a field: {statement!r}")
        rule, kind, name, number = match.groups()
        message[name] = (int(number), rule.strip() or "map", kind)
    return message


if __name__ == "__main__":
    sys.exit(main())
