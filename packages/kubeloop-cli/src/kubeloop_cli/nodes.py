"""`kubeloop cordon`, `uncordon` and `drain`.

Guarantees: all nodes are found before the first of them is changed; `drain` decides as kubectl
which pods are evicted.
See also: `kubeloop.clients` (the decision, and the evictions).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import click

from kubeloop.clients import DrainRefused, DrainStep
from kubeloop.kit import run
from kubeloop.runtime import Client

from .durations import DurationType
from .failures import CommandFailed, ExitCode
from .flags import Flags, OptionalValueCommand, cluster_flags, connect, pass_flags
from .sources import DryRun, Outcomes, dry_run_flag, process_each, usage_error
from .terminal import print_line

__all__ = ["cordon", "drain", "uncordon"]

_FLAGS = {
    "Pods that declare no controller": "--force",
    "DaemonSet-managed Pods": "--ignore-daemonsets",
    "Pods with local storage": "--delete-emptydir-data",
}

_names_argument = click.argument("names", metavar="NODE…", nargs=-1)
_selector_flag = click.option("-l", "--selector", default="", help="All nodes with these labels.")


@click.command(cls=OptionalValueCommand)
@_names_argument
@_selector_flag
@dry_run_flag
@cluster_flags
@pass_flags
def cordon(flags: Flags, /, *, names: tuple[str, ...], selector: str, dry_run: DryRun) -> None:
    """Keep new pods off nodes.

    \b
    Examples:
      kubeloop cordon node-1
      kubeloop cordon -l zone=a
    """
    _run(flags, names, selector, _cordon_each(dry_run, cordon=True))


@click.command(cls=OptionalValueCommand)
@_names_argument
@_selector_flag
@dry_run_flag
@cluster_flags
@pass_flags
def uncordon(flags: Flags, /, *, names: tuple[str, ...], selector: str, dry_run: DryRun) -> None:
    """Allow new pods on nodes again.

    \b
    Examples:
      kubeloop uncordon node-1
      kubeloop uncordon -l zone=a
    """
    _run(flags, names, selector, _cordon_each(dry_run, cordon=False))


@click.command(cls=OptionalValueCommand)
@_names_argument
@_selector_flag
@dry_run_flag
@click.option("--force", is_flag=True, help="Also evict pods without a controller.")
@click.option("--ignore-daemonsets", is_flag=True, help="Leave the pods of daemon sets.")
@click.option(
    "--delete-emptydir-data",
    is_flag=True,
    help="Also evict pods with an emptyDir: its data is lost.",
)
@click.option("--pod-selector", default="", help="Evict only the pods with these labels.")
@click.option(
    "--grace-period", type=int, default=-1, help="Seconds for each pod; default: its own."
)
@click.option(
    "--timeout", type=DurationType(), default="0s", help="How long to try; default: no limit."
)
@click.option(
    "--disable-eviction",
    is_flag=True,
    help="Delete the pods, without regard to disruption budgets.",
)
@click.option(
    "--skip-wait-for-delete-timeout", type=int, default=0,
    help="Do not wait for pods that have been terminating for more seconds.",
)  # fmt: skip
@cluster_flags
@pass_flags
def drain(
    flags: Flags,
    /,
    *,
    names: tuple[str, ...],
    selector: str,
    dry_run: DryRun,
    pod_selector: str,
    grace_period: int,
    timeout: float,
    **choices: Any,
) -> None:
    """Cordon nodes, evict their pods, and wait until the pods are gone.

    An eviction that a disruption budget forbids is repeated every 5 seconds.

    \b
    Examples:
      kubeloop drain node-1 --ignore-daemonsets
      kubeloop drain node-1 --force --delete-emptydir-data --timeout=5m
      kubeloop drain -l zone=a --ignore-daemonsets --dry-run=server
    """
    options = {
        **choices,
        "pod_selector": pod_selector or None,
        "grace_period": grace_period if grace_period >= 0 else None,
        "timeout": timeout or None,
    }

    async def change(client: Client, nodes: Sequence[str]) -> ExitCode:
        code = await _cordon_each(dry_run, cordon=True)(client, nodes)

        async def drain_one(name: str) -> None:
            await _drain(client, name, dry_run, options)

        return max(code, await process_each(flags, nodes, drain_one))

    _run(flags, names, selector, change)


Change = Callable[[Client, Sequence[str]], Awaitable[ExitCode]]


def _run(flags: Flags, names: tuple[str, ...], selector: str, change: Change) -> None:
    if bool(names) == bool(selector):
        raise usage_error("expected either names of nodes or --selector")

    async def main() -> ExitCode:
        async with connect(flags) as client:
            nodes = client.core_v1.nodes()
            if selector:
                found = [
                    str(each.metadata.name) for each in await nodes.list_all(selector=selector)
                ]
            else:
                found = [str((await nodes.get(name)).metadata.name) for name in names]
            return await change(client, found)

    click.get_current_context().exit(run(main()))


def _cordon_each(dry_run: DryRun, *, cordon: bool) -> Change:
    ending = Outcomes(dry_run=dry_run).ending
    what = "cordoned" if cordon else "uncordoned"

    async def change(client: Client, names: Sequence[str]) -> ExitCode:
        nodes = client.core_v1.nodes()
        for name in names:
            send = nodes.cordon if cordon else nodes.uncordon
            changed = await send(name, dry_run=dry_run != "none")
            print_line(f"node/{name} {'' if changed else 'already '}{what}{ending}")
        return ExitCode.OK

    return change


async def _drain(client: Client, name: str, dry_run: DryRun, options: dict[str, Any]) -> None:
    ending = Outcomes(dry_run=dry_run).ending
    nodes = client.core_v1.nodes()
    try:
        if dry_run == "client":
            plan_keys = (
                "force",
                "ignore_daemonsets",
                "delete_emptydir_data",
                "pod_selector",
                "skip_wait_for_delete_timeout",
            )
            plan = await nodes.drain_plan(name, **{key: options[key] for key in plan_keys})
            if plan.refused:
                raise DrainRefused(plan)
            for warning in plan.warnings:
                print_line(f"Warning: {warning}", err=True)
            for pod in plan.evict:
                print_line(f"evicting pod {pod.metadata.namespace}/{pod.metadata.name}{ending}")
        else:
            await nodes.drain(name, progress=_show, dry_run=dry_run == "server", **options)
    except DrainRefused as error:
        reasons = [
            f"cannot delete {reason}{_flag_for(reason)}: {', '.join(map(str, pods))}"
            for reason, pods in error.plan.refused.items()
        ]
        raise CommandFailed(f'unable to drain node "{name}": {"; ".join(reasons)}') from error
    print_line(f"node/{name} drained{ending}")


def _flag_for(reason: str) -> str:
    return f" (use {_FLAGS[reason]} to override)" if reason in _FLAGS else ""


def _show(step: DrainStep) -> None:
    if step.action == "warning":
        print_line(f"Warning: {step.message}", err=True)
    elif step.action in ("retrying", "skipped"):
        print_line(step.message, err=True)
    elif step.action != "cordoned":  # that line is printed already
        print_line(step.message)
