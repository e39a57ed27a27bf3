"""`kubeloop apply`: server-side apply of manifests.

Guarantees: all manifests are read before the first request; each invalid document and each
rejected object is one line on stderr, and the others are still applied; nothing is pruned.
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
from .flags import Flags, cluster_flags, connect, pass_flags
from .kinds import qualified_name, resource_client_of
from .terminal import print_line, show_progress

__all__ = ["apply"]


@click.command()
@click.option(
    "-f", "--filename", "files", metavar="FILE|DIR|-", multiple=True, required=True,
    help="A manifest, a directory of manifests, or - for stdin.",
)  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Validate on the server, and store nothing.")
@click.option(
    "--force-conflicts", is_flag=True, help="Take ownership of fields that other managers own."
)
@click.option(
    "--field-manager",
    default="kubeloop",
    show_default=True,
    help="The owner of the applied fields.",
)
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
    """Apply manifests with server-side apply.

    Namespaces and CRDs are applied first. Prints for each object whether it was created,
    configured or unchanged, and an error for each that could not be applied. Objects that are
    not in the manifests are not deleted.

    \b
    Examples:
      kubeloop apply -f shop.yaml
      kubeloop apply -f manifests/ --dry-run
      kubectl get deploy web -o yaml | kubeloop apply -f - --force-conflicts
    """
    entries = [entry for file in files for entry in _read(file)]
    if not entries:
        raise InvalidArgument(f"apply {', '.join(files)}: no objects found")
    code = ExitCode.OK
    objects: dict[int, dict[str, Any]] = {}
    for entry in entries:
        if isinstance(entry.content, KubeError):
            code = max(code, report(entry.content, verbose=bool(flags.verbose)))
        else:
            obj = entry.content
            objects[len(objects)] = obj.to_dict() if isinstance(obj, Kind) else obj
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
    ending = " (server dry run)" if options["dry_run"] else ""
    async with connect(flags) as client, show_progress("applying", total=len(objects)) as progress:
        for index in apply_order(objects):
            try:
                name, outcome = await _apply_one(client, objects[index], options)
                print_line(f"{name} {outcome}{ending}")
            except (ConfigError, TransportError, Unauthorized):
                raise  # every other object would fail the same way
            except KubeError as error:
                code = max(code, report(error, verbose=bool(flags.verbose)))
            progress.advance()
    return code


async def _apply_one(
    client: Client, obj: dict[str, Any], options: dict[str, Any]
) -> tuple[str, str]:
    """The name of the object, and created, configured or unchanged."""
    group, _, version = str(obj["apiVersion"]).rpartition("/")
    info = await client.mapper.mapping(GroupKind(group, obj["kind"]), version)
    metadata = obj["metadata"]
    name = str(metadata["name"])
    resource = resource_client_of(client, info, namespace=metadata.get("namespace") or None)
    before = await resource.get_or_none(name)
    after = await client.apply(obj, **options)
    return qualified_name(info, name), _outcome(before, after)


def _outcome(before: dict[str, Any] | None, after: dict[str, Any]) -> str:
    if before is None:
        return "created"
    return "unchanged" if _desired_state(before) == _desired_state(after) else "configured"


def _desired_state(obj: dict[str, Any]) -> dict[str, Any]:
    """An object without its status and the metadata that the server maintains."""
    ignored = ("managedFields", "resourceVersion", "generation")
    metadata = {key: value for key, value in obj["metadata"].items() if key not in ignored}
    return {**obj, "metadata": metadata, "status": None}
