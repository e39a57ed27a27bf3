"""`kubeloop apply`: server-side apply of manifests.

Guarantees: all manifests are read before the first request; each invalid document and each
rejected object is one line on stderr, and the others are still applied. Nothing is pruned
without `--prune`, and nothing after an error.
See also: `kubeloop.clients.ApplySet` (what `--prune` deletes).
"""

from __future__ import annotations

from typing import Any

import click
import msgspec

from kubeloop.clients import ApplySet, PruneFailed, apply_order
from kubeloop.errors import ConfigError, KubeError, TransportError, Unauthorized
from kubeloop.kit import run
from kubeloop.runtime import Client
from kubeloop.wire import InvalidArgument

from .failures import ExitCode, report
from .flags import Flags, OptionalValueCommand, cluster_flags, connect, pass_flags
from .outputs import Output
from .selection import manifest_flags
from .sources import (
    Outcomes,
    Sources,
    in_manifests,
    outcome_flags,
    read_manifests,
    usage_error,
)
from .terminal import show_progress

__all__ = ["apply"]


class _Application(msgspec.Struct, frozen=True, kw_only=True):
    """The options of one call."""

    flags: Flags
    outcomes: Outcomes
    force: bool
    field_manager: str
    apply_set: str  # the parent of the apply set, if there is one


@click.command(cls=OptionalValueCommand)
@manifest_flags
@outcome_flags
@click.option(
    "--force-conflicts", is_flag=True, help="Take ownership of fields that other managers own."
)
@click.option(
    "--field-manager",
    default="kubeloop",
    show_default=True,
    help="The owner of the applied fields.",
)
@click.option(
    "--prune", is_flag=True, help="Delete the members of the apply set that are not applied."
)
@click.option(
    "--applyset", "apply_set", metavar="[KIND/]NAME", default="",
    help="The object that has the list of members: a secret, a config map, a custom object.",
)  # fmt: skip
@click.option("--server-side", is_flag=True, help="Accepted for kubectl's sake: it always is.")
@cluster_flags
@pass_flags
def apply(
    flags: Flags,
    /,
    *,
    output: Output | None,
    dry_run: Any,
    force_conflicts: bool,
    field_manager: str,
    prune: bool,
    apply_set: str,
    server_side: bool,  # noqa: ARG001 - there is no other way
    **sources: Any,
) -> None:
    """Apply manifests with server-side apply.

    Namespaces and CRDs are applied first. Prints for each object whether it was created,
    configured or unchanged, and an error for each that could not be applied. Objects that are
    not in the manifests are not deleted, except with --prune those that an earlier apply of
    the same apply set has applied.

    \b
    Examples:
      kubeloop apply -f shop.yaml
      kubeloop apply -f manifests/ -R --dry-run
      kubeloop apply -k overlays/test
      kubeloop apply -f manifests/ -n shop --prune --applyset=shop
      kubectl get deploy web -o yaml | kubeloop apply -f - --force-conflicts
    """
    if prune != bool(apply_set):
        needed = "--applyset=NAME" if prune else "--prune"
        raise usage_error(f"--{'prune' if prune else 'applyset'} requires {needed}")
    objects, code = read_manifests(flags, "apply", Sources(**sources))
    application = _Application(
        flags=flags,
        outcomes=Outcomes(output=output, dry_run=dry_run),
        force=force_conflicts,
        field_manager=field_manager,
        apply_set=apply_set,
    )
    if objects and not (code and apply_set):  # what cannot be read must not be pruned
        code = max(code, run(_apply(objects, application)))
    click.get_current_context().exit(code)


async def _apply(objects: list[dict[str, Any]], application: _Application) -> ExitCode:
    verbose = bool(application.flags.verbose)
    code = ExitCode.OK
    applied: list[dict[str, Any]] = []
    async with connect(application.flags) as client:
        members = await _open_apply_set(client, application)
        if members is not None:
            objects = await members.prepare(objects)
        by_index = dict(enumerate(objects))
        async with show_progress("applying", total=len(objects)) as progress:
            for index in apply_order(by_index):
                try:
                    applied.append(await _apply_one(client, by_index[index], application))
                except (ConfigError, TransportError, Unauthorized):
                    raise  # every other object would fail the same way
                except KubeError as error:
                    code = max(code, report(error, verbose=verbose))
                progress.advance()
        if members is not None and not code:
            code = await _prune(members, applied, application)
    return code


async def _open_apply_set(client: Client, application: _Application) -> ApplySet | None:
    name, flags = application.apply_set, application.flags
    if not name:
        return None
    parent = await client.mapper.find(name.rpartition("/")[0] or "secrets")
    if parent.namespaced and not flags.namespace:
        raise InvalidArgument(
            "apply --applyset: a namespace is required to use a namespace-scoped ApplySet (add -n)"
        )
    dry_run = application.outcomes.dry_run
    opened = await ApplySet.open(
        client,
        name,
        namespace=flags.namespace or None,
        force=application.force,
        dry_run=dry_run == "server",
    )
    return None if dry_run == "client" else opened  # only the server knows what is pruned


async def _prune(
    members: ApplySet, applied: list[dict[str, Any]], application: _Application
) -> ExitCode:
    """Delete and print the other members; returns the exit code for those that are left."""
    errors: tuple[KubeError, ...] = ()
    try:
        pruned = await members.prune(applied)
    except PruneFailed as failed:
        pruned, errors = failed.pruned, failed.errors
    for each in pruned:
        metadata = {"name": each.key.name, "namespace": each.key.namespace, "uid": each.uid}
        obj = {
            "apiVersion": each.info.api_version,
            "kind": each.info.kind,
            "metadata": {key: value for key, value in metadata.items() if value},
        }
        application.outcomes.show(each.info, obj, "pruned")
    verbose = bool(application.flags.verbose)
    return max((report(error, verbose=verbose) for error in errors), default=ExitCode.OK)


async def _apply_one(
    client: Client, obj: dict[str, Any], application: _Application
) -> dict[str, Any]:
    """Apply and print one object; returns it as the server has it."""
    ref = await in_manifests(client, application.flags, obj)
    outcomes = application.outcomes
    before = await ref.client(client).get_or_none(ref.name)
    if outcomes.dry_run == "client":
        after = before or obj
        outcomes.show(ref.info, after, "created" if before is None else "configured")
    else:
        after = await client.apply(
            obj,
            dry_run=outcomes.is_server_dry_run,
            force=application.force,
            field_manager=application.field_manager,
        )
        outcomes.show(ref.info, after, _outcome(before, after))
    return after


def _outcome(before: dict[str, Any] | None, after: dict[str, Any]) -> str:
    if before is None:
        return "created"
    return "unchanged" if _desired_state(before) == _desired_state(after) else "configured"


def _desired_state(obj: dict[str, Any]) -> dict[str, Any]:
    """An object without its status and the metadata that the server maintains."""
    ignored = ("managedFields", "resourceVersion", "generation")
    metadata = {key: value for key, value in obj["metadata"].items() if key not in ignored}
    return {**obj, "metadata": metadata, "status": None}
