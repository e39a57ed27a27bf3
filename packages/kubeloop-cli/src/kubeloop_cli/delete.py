"""`kubeloop delete`: deletes objects, and waits until they are gone.

Guarantees: an object that cannot be deleted does not prevent the others; nothing is deleted
without a name, a selector, `--all` or a manifest.
"""

# ruff: noqa: ASYNC109 - `timeout` uses the client's clock, and its error names the object

from __future__ import annotations

from typing import Any

import click
import msgspec

from kubeloop.errors import Forbidden, NotFound
from kubeloop.kit import run
from kubeloop.rest import resource_request
from kubeloop.runtime import Client

from .durations import DurationType
from .failures import ExitCode
from .flags import Flags, OptionalValueCommand, cluster_flags, connect, pass_flags
from .kinds import qualified_name
from .outputs import Output
from .sources import (
    ObjectRef,
    Outcomes,
    Sources,
    find_objects,
    object_flags,
    outcome_flags,
    process_each,
    usage_error,
)
from .terminal import print_line, show_progress

__all__ = ["delete"]

_PROPAGATION = {"background": "Background", "foreground": "Foreground", "orphan": "Orphan"}
_CLUSTER_SCOPED = "Warning: deleting cluster-scoped resources, not scoped to the provided namespace"
_WARNING = (
    "Warning: Immediate deletion does not wait for confirmation that the running resource has been"
    " terminated. The resource may continue to run on the cluster indefinitely."
)


@click.command(cls=OptionalValueCommand)
@object_flags("KIND NAME… | KIND/NAME…")
@click.option(
    "--cascade",
    type=click.Choice(list(_PROPAGATION)),
    default="background",
    show_default=True,
    help="What happens to the objects that the object owns.",
)
@click.option(
    "--wait", type=bool, is_flag=False, flag_value=True, default=True, show_default=True,
    help="Wait until the objects are gone.",
)  # fmt: skip
@click.option(
    "--timeout", type=DurationType(), default="0s",
    help="How long to wait for each object; default: no limit.",
)  # fmt: skip
@click.option(
    "--grace-period", type=int, default=-1, help="Seconds for each pod to terminate in order."
)
@click.option("--now", is_flag=True, help="As --grace-period=1.")
@click.option("--force", is_flag=True, help="Delete pods at once, without confirmation.")
@click.option("--ignore-not-found", is_flag=True, help="A missing object is not an error.")
@outcome_flags
@cluster_flags
@pass_flags
def delete(
    flags: Flags,
    /,
    *,
    cascade: str,
    wait: bool,
    timeout: float,
    grace_period: int,
    now: bool,
    force: bool,
    ignore_not_found: bool,
    output: Output | None,
    dry_run: Any,
    **sources: Any,
) -> None:
    """Delete objects by name, by selector, or those of manifests.

    Waits until the objects are gone; --wait=false returns at once.

    \b
    Examples:
      kubeloop delete pod web-1 web-2
      kubeloop delete deploy/web svc/web --cascade=foreground
      kubeloop delete pods,svc -l app=web --dry-run=server
      kubeloop delete -f manifests/ --ignore-not-found
      kubeloop delete pod web-1 --force
    """
    if output is not None and output.format != "name":
        raise usage_error(f"unexpected -o output mode: {output.format} (only -o name is supported)")
    _check_grace(grace_period, now=now, force=force)
    given = Sources(**sources)
    is_selected = given.all_objects or given.selection.has_selectors
    deletion = _Deletion(
        flags=flags,
        body={
            "kind": "DeleteOptions",
            "apiVersion": "v1",
            "propagationPolicy": _PROPAGATION[cascade],
            **_grace(grace_period, now=now, force=force),
            **({"dryRun": ["All"]} if dry_run == "server" else {}),
        },
        outcomes=Outcomes(output=output, dry_run=dry_run),
        is_forced=force,
        ignore_missing=ignore_not_found or is_selected,
    )
    deletes = dry_run == "none"
    code = run(_delete(given, deletion, timeout=timeout or None, wait=wait and deletes))
    click.get_current_context().exit(code)


def _check_grace(grace_period: int, *, now: bool, force: bool) -> None:
    if now and grace_period >= 0:
        raise usage_error("--now and --grace-period cannot be specified together")
    if force and grace_period > 0:
        raise usage_error("--force and --grace-period greater than 0 cannot be specified together")


def _grace(grace_period: int, *, now: bool, force: bool) -> dict[str, int]:
    """The grace period of the request; without one, each object has its own."""
    if force:
        return {"gracePeriodSeconds": 0}
    if now or grace_period == 0:  # as in kubectl: to delete a pod at once needs --force
        return {"gracePeriodSeconds": 1}
    return {"gracePeriodSeconds": grace_period} if grace_period > 0 else {}


class _Deletion(msgspec.Struct, frozen=True, kw_only=True):
    flags: Flags
    body: dict[str, Any]  # of each request
    outcomes: Outcomes
    is_forced: bool
    ignore_missing: bool


async def _delete(
    sources: Sources,
    deletion: _Deletion,
    *,
    timeout: float | None,
    wait: bool,
) -> ExitCode:
    flags = deletion.flags
    deleted: list[tuple[ObjectRef, str]] = []  # with the uid of each
    async with connect(flags) as client:
        found, code = await find_objects(client, flags, "delete", sources)
        _warn(deletion, found)
        if not found and not code:
            print_line("No resources found")

        async def delete_one(ref: ObjectRef) -> None:
            uid = await _delete_one(client, ref, deletion)
            if uid is not None:
                deleted.append((ref, uid))

        code = max(code, await process_each(flags, found, delete_one))
        if wait:
            async with show_progress("waiting for deletion", total=len(deleted)) as progress:

                async def wait_one(item: tuple[ObjectRef, str]) -> None:
                    await _wait_until_gone(client, *item, timeout=timeout)
                    progress.advance()

                code = max(code, await process_each(flags, deleted, wait_one))
    return code


def _warn(deletion: _Deletion, found: list[ObjectRef]) -> None:
    if deletion.is_forced:
        print_line(_WARNING, err=True)
    if deletion.flags.namespace and not all(ref.info.namespaced for ref in found):
        print_line(_CLUSTER_SCOPED, err=True)


async def _delete_one(client: Client, ref: ObjectRef, deletion: _Deletion) -> str | None:
    """Delete one object and print that; returns its uid, None if there was nothing to delete."""
    uid = ""
    if deletion.outcomes.dry_run != "client":
        request = resource_request(
            "delete",
            ref.info,
            namespace=ref.namespace_in(client),
            name=ref.name,
            body=msgspec.json.encode(deletion.body),
        )
        try:
            response = await client.rest.send(request)
        except NotFound:
            if not deletion.ignore_missing:
                raise
            return None
        # The object while it is being deleted, else a Status with its uid.
        answer = response.decode(dict[str, Any])
        uid = str((answer.get("details") or answer.get("metadata") or {}).get("uid") or "")
    _show(client, ref, deletion)
    return uid


def _show(client: Client, ref: ObjectRef, deletion: _Deletion) -> None:
    outcomes = deletion.outcomes
    if outcomes.output is not None:
        print_line(str(ref))
        return
    kind = qualified_name(ref.info, "").removesuffix("/")
    verb = "force deleted" if deletion.is_forced else "deleted"
    namespace = ref.namespace_in(client)
    where = f" from {namespace} namespace" if namespace else ""
    print_line(f'{kind} "{ref.name}" {verb}{where}{outcomes.ending}')


async def _wait_until_gone(
    client: Client,
    ref: ObjectRef,
    uid: str,
    *,
    timeout: float | None,
) -> None:
    """Wait until the object with this uid is gone; another one may have its name by then."""
    resource = ref.client(client)
    try:
        current = await resource.get_or_none(ref.name)
        if current is not None and current["metadata"].get("uid") in (uid, None):
            await resource.wait_for(ref.name, deleted=True, timeout=timeout)
    except Forbidden:
        return  # who may delete an object may not be allowed to see it
