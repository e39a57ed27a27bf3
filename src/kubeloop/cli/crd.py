"""`kubeloop crd`: Python classes from CRDs, and CRDs from Python classes."""

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

from .flags import Flags, cluster_flags, connected, pass_flags, verbose_flag

__all__ = ["crd"]


@click.group()
def crd() -> None:
    """Python classes from CRDs, and CRDs from Python classes."""


# --- from a CRD to classes


@crd.command(short_help="Write the classes of a CRD.")
@click.argument("source", metavar="FILE|NAME|-")
@click.option("--version", "version_name", default="", help="Which; else the stored one.")
@click.option("--moments-as-text", is_flag=True, help="Leave dates the text that they are.")
@click.option(
    "-o", "--output", type=click.Path(), help="A file; for several CRDs, a folder of modules."
)
@cluster_flags
@pass_flags
def generate(
    flags: Flags, *, source: str, version_name: str, moments_as_text: bool, output: str | None
) -> None:
    """Write the classes of a CRD, which is in a YAML file or in the cluster.

    \b
    Examples:
      kubeloop crd generate website.yaml -o website.py
      kubeloop crd generate websites.example.com
      kubeloop crd generate cert-manager.crds.yaml -o kinds/
    """
    definitions = _definitions(flags, source)
    texts = (
        module_from_crd(definition, version=version_name, moments_as_text=moments_as_text)
        for definition in definitions
    )
    modules = dict(zip(_file_names(definitions), texts, strict=True))
    is_folder = output is not None and (output.endswith("/") or Path(output).is_dir())
    if output is not None and (len(modules) > 1 or is_folder):
        _write_all(Path(output), modules)
    elif len(modules) > 1:
        raise InvalidArgument(f"{source}: {len(modules)} CRDs are in it (give a folder with -o)")
    elif output is not None:
        _write(Path(output), "".join(modules.values()))
    else:
        click.echo("".join(modules.values()), nl=False)


def _definitions(flags: Flags, source: str) -> Sequence[CustomResourceDefinition]:
    if source != "-" and not _is_file(source):
        return [run(_installed(flags, source))]
    text = sys.stdin.buffer.read() if source == "-" else _bytes_of(source)
    things = load_yaml(text, source=source)
    found = [thing for thing in things if isinstance(thing, CustomResourceDefinition)]
    if not found:
        raise InvalidArgument(f"{source}: no CustomResourceDefinition is in it")
    return found


def _file_names(definitions: Sequence[CustomResourceDefinition]) -> list[str]:
    """The kind's name; the group's behind it where several groups have such a kind."""
    kinds = [definition.spec.names.kind.lower() for definition in definitions]
    stems = [
        f"{kind}_{definition.spec.group}" if kinds.count(kind) > 1 else kind
        for kind, definition in zip(kinds, definitions, strict=True)
    ]
    plain = [re.sub(r"\W", "_", stem) for stem in stems]
    return [f"{stem}_.py" if keyword.iskeyword(stem) else f"{stem}.py" for stem in plain]


def _is_file(source: str) -> bool:
    """Whether a file is meant, also where it is not there: no CRD is called so."""
    return Path(source).exists() or "/" in source or source.endswith((".yaml", ".yml", ".json"))


async def _installed(flags: Flags, name: str) -> CustomResourceDefinition:
    if "." not in name:
        raise InvalidArgument(f"{name}: no such file, and no CRD's name (those are plural.group)")
    async with connected(flags) as client:
        return await client.resource(CustomResourceDefinition).get(name)


def _bytes_of(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InvalidArgument(f"{path}: it cannot be read: {error.strerror}") from error


def _write_all(folder: Path, modules: dict[str, str]) -> None:
    for name, text in modules.items():
        _write(folder / name, text)
        click.echo(folder / name)


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidArgument(f"{path}: it cannot be written: {error.strerror}") from error


# --- from classes to a CRD


@crd.command(short_help="Print the CRD of a class.")
@click.argument("classes", metavar="MODULE:CLASS…", nargs=-1, required=True)
@verbose_flag
def show(classes: tuple[str, ...]) -> None:
    """Print the CRD of a class; more classes are more versions, the last one is stored.

    Modules are looked for in the current folder, too.

    \b
    Examples:
      kubeloop crd show website:Website
      kubeloop crd show shop.v1:Order shop.v2:Order | kubeloop apply -f -
    """
    sys.path.insert(0, "")
    click.echo(dump_yaml(crd_of(*map(_class_at, classes))), nl=False)


def _class_at(place: str) -> type[Resource]:
    module_name, colon, name = place.partition(":")
    if not colon or not module_name or not name:
        raise InvalidArgument(f"{place}: expected MODULE:CLASS, as in shop.kinds:Order")
    found = getattr(_module(module_name, place), name, None)
    if not isinstance(found, type) or not issubclass(found, Resource) or found is Kind:
        raise InvalidArgument(f"{place}: {module_name} has no class {name} derived from Resource")
    return found


def _module(name: str, place: str) -> Any:
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:  # code that we did not write
        said = f"{type(error).__name__}: {error}"
        raise InvalidArgument(f"{place}: the module cannot be imported: {said}") from error
