"""`kubeloop rollout`: restarts, follows, undoes and pauses rollouts.

See also: `kubeloop.clients.Rollout` (what each of them does).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Any, TypeVar

import click

from kubeloop.clients import Rollout
from kubeloop.errors import InvalidArgument
from kubeloop.runtime import Client
from kubeloop.wire import class_for, dump_yaml

from .durations import DurationType
from .failures import CommandFailed
from .flags import Flags, OptionalValueCommand, cluster_flags, pass_flags
from .kinds import resource_name
from .outputs import Output
from .sources import ObjectRef, Outcomes, Sources, object_flags, outcome_flags, run_on_objects
from .terminal import print_content, print_line

__all__ = ["rollout"]

F = TypeVar("F", bound=Callable[..., Any])

_KINDS = ("Deployment", "StatefulSet", "DaemonSet")


@click.group()
def rollout() -> None:
    """Restart, follow, undo or pause the rollout of a workload.

    For deployments, stateful sets and daemon sets; only deployments can be paused.
    """


rollout.command_class = OptionalValueCommand
_workloads = object_flags("KIND [NAME…] | KIND/NAME…")


def _run(
    flags: Flags,
    verb: str,
    sources: dict[str, Any],
    process: Callable[[ObjectRef, Rollout], Awaitable[None]],
) -> None:
    async def on_object(client: Client, ref: ObjectRef) -> None:
        kind = class_for(ref.info.group, ref.info.version, ref.info.kind)
        if ref.info.group != "apps" or ref.info.kind not in _KINDS or kind is None:
            raise InvalidArgument(
                f"rollout {verb} {ref}: only deployments, stateful sets and daemon sets have"
                " rollouts"
            )
        resource: Any = client.resource(kind, namespace=ref.namespace)
        await process(ref, resource.rollout(ref.name))

    def check(client: Client, found: Sequence[ObjectRef]) -> None:
        if not found:
            print_line(f"No resources found in {client.namespace} namespace.", err=True)

    run_on_objects(
        flags, f"rollout {verb}", Sources(**sources), on_object, check=check, needs_names=False
    )


def _plain(obj: ObjectRef) -> dict[str, Any]:
    return {"metadata": {"name": obj.name}}


@rollout.command(short_help="Wait for a rollout, and print its progress.")
@_workloads
@click.option(
    "-w", "--watch", type=bool, is_flag=False, flag_value=True, default=True, show_default=True,
    help="Wait until the rollout is complete.",
)  # fmt: skip
@click.option(
    "--timeout", type=DurationType(), default="0s",
    help="How long to wait for each object; default: no limit.",
)  # fmt: skip
@cluster_flags
@pass_flags
def status(flags: Flags, /, *, watch: bool, timeout: float, **sources: Any) -> None:
    """Wait until a rollout is complete, and print each change of its progress.

    A rollout that exceeds its progress deadline is an error, which names what its pods wait for.

    \b
    Examples:
      kubeloop rollout status deploy/web
      kubeloop rollout status ds/agent --watch=false
      kubeloop rollout status deploy -l app=web --timeout=5m
    """

    async def process(_: ObjectRef, target: Rollout) -> None:
        if not watch:
            print_line((await target.status()).message)
            return
        last = ""
        async with aclosing(target.progress(timeout=timeout or None)) as statuses:
            async for found in statuses:
                if found.message != last:  # it also changes when a problem of a pod does
                    print_line(last := found.message)

    _run(flags, "status", sources, process)


@rollout.command(short_help="Replace all pods.")
@_workloads
@outcome_flags
@cluster_flags
@pass_flags
def restart(flags: Flags, /, *, output: Output | None, dry_run: Any, **sources: Any) -> None:
    """Replace all pods of a workload, as its update strategy demands.

    \b
    Examples:
      kubeloop rollout restart deploy/web
      kubeloop rollout restart deploy -l app=web
    """
    outcomes = Outcomes(output=output, dry_run=dry_run)

    async def process(ref: ObjectRef, target: Rollout) -> None:
        if dry_run != "client":
            await target.restart(dry_run=outcomes.is_server_dry_run)
        outcomes.show(ref.info, _plain(ref), "restarted")

    _run(flags, "restart", sources, process)


@rollout.command(short_help="Restore an earlier revision.")
@_workloads
@click.option(
    "--to-revision",
    type=click.IntRange(min=0),
    default=0,
    help="The revision to restore; default: the previous one.",
)
@outcome_flags
@cluster_flags
@pass_flags
def undo(
    flags: Flags, /, *, to_revision: int, output: Output | None, dry_run: Any, **sources: Any
) -> None:
    """Restore the template of the previous revision, or of another one.

    \b
    Examples:
      kubeloop rollout undo deploy/web
      kubeloop rollout undo deploy/web --to-revision=3
    """
    outcomes = Outcomes(output=output, dry_run=dry_run)

    async def process(ref: ObjectRef, target: Rollout) -> None:
        # Without a request to change it, the server can still say whether it would be.
        restored = await target.undo(to_revision=to_revision, dry_run=dry_run != "none")
        what = "rolled back"
        if restored is None:
            number = to_revision or (await target.history())[-2].number
            what = f"skipped rollback (current template already matches revision {number})"
        outcomes.show(ref.info, _plain(ref), what)

    _run(flags, "undo", sources, process)


@rollout.command(short_help="Print the revisions.")
@_workloads
@click.option(
    "--revision", type=click.IntRange(min=0), default=0,
    help="Print the template of this revision, as YAML.",
)  # fmt: skip
@cluster_flags
@pass_flags
def history(flags: Flags, /, *, revision: int, **sources: Any) -> None:
    """Print the revisions that can be restored.

    \b
    Examples:
      kubeloop rollout history deploy/web
      kubeloop rollout history deploy/web --revision=3
    """

    async def process(ref: ObjectRef, target: Rollout) -> None:
        revisions = await target.history()
        if not revisions:
            print_line(f"{ref} with revision #{revision}" if revision else f"{ref} ")
            print_line("No rollout history found.")
            return
        if not revision:
            print_line(f"{ref} ")
            print_line("REVISION  CHANGE-CAUSE")
            for each in revisions:
                print_line(f"{each.number!s:<8}  {each.change_cause or '<none>'}")
            click.echo()
            return
        for each in revisions:
            if each.number == revision:
                print_line(f"{ref} with revision #{revision}")
                print_content(dump_yaml(each.template.to_dict()))
                return
        raise CommandFailed(f"rollout history {ref}: unable to find the specified revision")

    _run(flags, "history", sources, process)


@rollout.command(short_help="Pause the rollout of a deployment.")
@_workloads
@outcome_flags
@cluster_flags
@pass_flags
def pause(flags: Flags, /, *, output: Output | None, dry_run: Any, **sources: Any) -> None:
    """Pause a deployment: its changes start no rollout until it is resumed.

    \b
    Examples:
      kubeloop rollout pause deploy/web
    """
    outcomes = Outcomes(output=output, dry_run=dry_run)

    async def process(ref: ObjectRef, target: Rollout) -> None:
        if not await target.pause(dry_run=dry_run != "none"):
            raise CommandFailed(f'{resource_name(ref.info)} "{ref.name}" is already paused')
        outcomes.show(ref.info, _plain(ref), "paused")

    _run(flags, "pause", sources, process)


@rollout.command(short_help="Resume a paused deployment.")
@_workloads
@outcome_flags
@cluster_flags
@pass_flags
def resume(flags: Flags, /, *, output: Output | None, dry_run: Any, **sources: Any) -> None:
    """Resume a paused deployment.

    \b
    Examples:
      kubeloop rollout resume deploy/web
    """
    outcomes = Outcomes(output=output, dry_run=dry_run)

    async def process(ref: ObjectRef, target: Rollout) -> None:
        if not await target.resume(dry_run=dry_run != "none"):
            raise CommandFailed(f'{resource_name(ref.info)} "{ref.name}" is not paused')
        outcomes.show(ref.info, _plain(ref), "resumed")

    _run(flags, "resume", sources, process)
