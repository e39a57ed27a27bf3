"""`kubeloop apply`: server-side apply of manifests.

Guarantees: nothing is sent before all manifests are read; every document that cannot be read
and every object that is refused is one line on the error output, and keeps no other back;
nothing is ever pruned.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from kubeloop.clients import ManifestEntry, apply_order, manifest_entries
from kubeloop.errors import ConfigError, KubeError, TransportError, Unauthorized
from kubeloop.kit import run
from kubeloop.meta import GroupKind
from kubeloop.runtime import Client
from kubeloop.wire import InvalidArgument, Kind

from .failures import ExitCode, report
from .flags import Flags, cluster_flags, connected, pass_flags
from .kinds import collection_of, qualified
from .terminal import patience, print_line

__all__ = ["apply"]


@click.command()
@click.option(
    "-f", "--filename", "files", metavar="FILE|DIR|-", multiple=True, required=True,
    help="A manifest, a folder of them, or the standard input.",
)  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Let the server check, and change nothing.")
@click.option("--force-conflicts", is_flag=True, help="Take over fields that others own.")
@click.option("--field-manager", default="kubeloop", show_default=True, help="Who owns the fields.")
@cluster_flags
@pass_flags
def apply(
    flags: Flags,
    *,
    files: tuple[str, ...],
    dry_run: bool,
    force_conflicts: bool,
    field_manager: str,
) -> None:
    """Server-side apply of manifests; namespaces and CRDs come first.

    Says of each object whether it was created, configured or unchanged, and of each that
    could not be read or applied why. Objects that no longer stand in the manifests are left
    alone.

    \b
    Examples:
      kubeloop apply -f shop.yaml
      kubeloop apply -f manifests/ --dry-run
      kubectl get deploy web -o yaml | kubeloop apply -f - --force-conflicts
    """
    entries = [entry for file in files for entry in _read(file)]
    if not entries:
        raise InvalidArgument(f"apply {', '.join(files)}: there is no object in it")
    code = ExitCode.OK
    objects: dict[int, dict[str, Any]] = {}
    for entry in entries:
        if isinstance(entry.content, KubeError):
            code = max(code, report(entry.content, verbose=bool(flags.verbose)))
        else:
            thing = entry.content
            objects[len(objects)] = thing.to_dict() if isinstance(thing, Kind) else thing
    options = {"dry_run": dry_run, "force": force_conflicts, "field_manager": field_manager}
    if objects:
        code = max(code, run(_apply(flags, objects, options)))
    click.get_current_context().exit(code)


def _read(file: str) -> list[ManifestEntry]:
    return manifest_entries(sys.stdin.buffer.read() if file == "-" else Path(file))


async def _apply(
    flags: Flags, objects: dict[int, dict[str, Any]], options: dict[str, Any]
) -> ExitCode:
    code = ExitCode.OK
    ending = " (dry run)" if options["dry_run"] else ""
    async with connected(flags) as client, patience("applying", total=len(objects)) as progress:
        for index in apply_order(objects):
            try:
                name, outcome = await _apply_one(client, objects[index], options)
                print_line(f"{name} {outcome}{ending}")
            except (ConfigError, TransportError, Unauthorized):
                raise  # the others would fare no better
            except KubeError as error:
                code = max(code, report(error, verbose=bool(flags.verbose)))
            progress.advance()
    return code


async def _apply_one(
    client: Client, thing: dict[str, Any], options: dict[str, Any]
) -> tuple[str, str]:
    """The object's name, and what became of it."""
    group, _, version = str(thing["apiVersion"]).rpartition("/")
    info = await client.mapper.mapping(GroupKind(group, thing["kind"]), version)
    metadata = thing["metadata"]
    name = str(metadata["name"])
    collection = collection_of(client, info, namespace=metadata.get("namespace") or None)
    before = await collection.get_or_none(name)
    after = await client.apply(thing, **options)
    return qualified(info, name), _outcome(before, after)


def _outcome(before: dict[str, Any] | None, after: dict[str, Any]) -> str:
    if before is None:
        return "created"
    return "unchanged" if _stated(before) == _stated(after) else "configured"


def _stated(obj: dict[str, Any]) -> dict[str, Any]:
    """What was asked of an object, without notes on who asked and what became of it."""
    ignored = ("managedFields", "resourceVersion", "generation")
    metadata = {key: value for key, value in obj["metadata"].items() if key not in ignored}
    return {**obj, "metadata": metadata, "status": None}
