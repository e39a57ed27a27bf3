"""`kubeloop crd`: generates Python classes from CRDs, and CRDs from Python classes."""

from __future__ import annotations

import importlib
import keyword
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from kubeloop.crd import crd_of, module_from_crd
from kubeloop.errors import InvalidArgument
from kubeloop.kit import run
from kubeloop.wire import Kind, Resource, dump_yaml, load_yaml
from kubeloop.wire.apiextensions.v1 import CustomResourceDefinition

from .flags import Flags, cluster_flags, connect, pass_flags, verbose_flag

__all__ = ["crd"]


@click.group()
def crd() -> None:
    """Generate Python classes from CRDs, and CRDs from Python classes."""


# --- CRD to classes


@crd.command(short_help="Generate Python classes from a CRD.")
@click.argument("source", metavar="FILE|NAME|-")
@click.option(
    "--version",
    "version_name",
    default="",
    help="The version to generate; default: the storage version.",
)
@click.option(
    "--timestamps-as-text",
    "timestamps_as_text",
    is_flag=True,
    help="Generate timestamps as str instead of datetime.",
)
@click.option(
    "-o", "--output", type=click.Path(), help="A file to write; for several CRDs, a directory."
)
@cluster_flags
@pass_flags
def generate(
    flags: Flags, *, source: str, version_name: str, timestamps_as_text: bool, output: str | None
) -> None:
    """Generate Python classes from a CRD in a YAML file or in the cluster.

    \b
    Examples:
      kubeloop crd generate website.yaml -o website.py
      kubeloop crd generate websites.example.com
      kubeloop crd generate cert-manager.crds.yaml -o kinds/
    """
    definitions = _definitions(flags, source)
    texts = (
        module_from_crd(definition, version=version_name, timestamps_as_text=timestamps_as_text)
        for definition in definitions
    )
    modules = dict(zip(_file_names(definitions), texts, strict=True))
    is_directory = output is not None and (output.endswith("/") or Path(output).is_dir())
    if output is not None and (len(modules) > 1 or is_directory):
        _write_all(Path(output), modules)
    elif len(modules) > 1:
        raise InvalidArgument(f"{source}: contains {len(modules)} CRDs (name a directory with -o)")
    elif output is not None:
        _write(Path(output), "".join(modules.values()))
    else:
        click.echo("".join(modules.values()), nl=False)


def _definitions(flags: Flags, source: str) -> Sequence[CustomResourceDefinition]:
    if source != "-" and not _is_file(source):
        return [run(_get_crd(flags, source))]
    text = sys.stdin.buffer.read() if source == "-" else _read(source)
    objects = load_yaml(text, source=source)
    found = [obj for obj in objects if isinstance(obj, CustomResourceDefinition)]
    if not found:
        raise InvalidArgument(f"{source}: contains no CustomResourceDefinition")
    return found


def _file_names(definitions: Sequence[CustomResourceDefinition]) -> list[str]:
    """One file name per kind, with the group if several groups have that kind."""
    kinds = [definition.spec.names.kind.lower() for definition in definitions]
    stems = [
        f"{kind}_{definition.spec.group}" if kinds.count(kind) > 1 else kind
        for kind, definition in zip(kinds, definitions, strict=True)
    ]
    plain = [re.sub(r"\W", "_", stem) for stem in stems]
    return [f"{stem}_.py" if keyword.iskeyword(stem) else f"{stem}.py" for stem in plain]


def _is_file(source: str) -> bool:
    """Whether the argument is a path, even of a missing file: no CRD has such a name."""
    return Path(source).exists() or "/" in source or source.endswith((".yaml", ".yml", ".json"))


async def _get_crd(flags: Flags, name: str) -> CustomResourceDefinition:
    if "." not in name:
        raise InvalidArgument(f"{name}: no such file, and not the name of a CRD (plural.group)")
    async with connect(flags) as client:
        return await client.resource(CustomResourceDefinition).get(name)


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InvalidArgument(f"{path}: cannot be read: {error.strerror}") from error


def _write_all(directory: Path, modules: dict[str, str]) -> None:
    for name, text in modules.items():
        _write(directory / name, text)
        click.echo(directory / name)


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidArgument(f"{path}: cannot be written: {error.strerror}") from error


# --- classes to CRD


@crd.command(short_help="Print the CRD for a Python class.")
@click.argument("classes", metavar="MODULE:CLASS…", nargs=-1, required=True)
@verbose_flag
def show(classes: tuple[str, ...]) -> None:
    """Print the CRD for a Python class.

    Several classes become several versions of one CRD; the last one is the storage version.
    Modules are also searched in the current directory.

    \b
    Examples:
      kubeloop crd show website:Website
      kubeloop crd show shop.v1:Order shop.v2:Order | kubeloop apply -f -
    """
    sys.path.insert(0, "")
    click.echo(dump_yaml(crd_of(*map(_import_class, classes))), nl=False)


def _import_class(path: str) -> type[Resource]:
    module_name, colon, name = path.partition(":")
    if not colon or not module_name or not name:
        raise InvalidArgument(f"{path}: expected MODULE:CLASS, such as shop.kinds:Order")
    found = getattr(_import_module(module_name, path), name, None)
    if not isinstance(found, type) or not issubclass(found, Resource) or found is Kind:
        raise InvalidArgument(f"{path}: {module_name} has no subclass of Resource named {name}")
    return found


def _import_module(name: str, path: str) -> Any:
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:  # the module is user code
        reason = f"{type(error).__name__}: {error}"
        raise InvalidArgument(f"{path}: the module cannot be imported: {reason}") from error
