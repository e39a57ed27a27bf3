"""`kubeloop wait`: waits for a condition on objects.

Guarantees: it also waits for an object that does not exist yet; a timeout has its own exit
code.
"""

from __future__ import annotations

from typing import Any, final

import click

from kubeloop.kit import run

from .durations import DurationType
from .failures import CommandFailed, ExitCode
from .flags import Flags, cluster_flags, connect, pass_flags
from .sources import ObjectRef, Sources, find_objects, object_flags, process_each
from .terminal import print_line, show_progress

__all__ = ["wait"]

Goal = dict[str, Any]  # keyword arguments of `wait_for`

_PLAIN_GOALS: dict[str, Goal] = {
    "create": {"jsonpath": "{.metadata.uid}"},
    "delete": {"deleted": True},
}


@final
class GoalType(click.ParamType[Goal]):
    """`condition=Ready`, `jsonpath={.status.phase}=Running`, `delete`, `create`."""

    name = "goal"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Goal:
        if isinstance(value, dict):
            return value
        word, _, rest = str(value).partition("=")
        if word in ("condition", "jsonpath") and rest:
            return {word: rest}
        if value not in _PLAIN_GOALS:
            allowed = ", ".join(("condition=NAME", "jsonpath=PATH", *_PLAIN_GOALS))
            self.fail(f"{value!r} is not one of {allowed}", param, ctx)
        return _PLAIN_GOALS[str(value)]


@click.command()
@object_flags("KIND NAME… | KIND/NAME…")
@click.option(
    "--for",
    "goal",
    type=GoalType(),
    required=True,
    help="condition=NAME, jsonpath=PATH[=VALUE], create or delete.",
)
@click.option(
    "--timeout",
    type=DurationType(),
    default="30s",
    show_default=True,
    help="How long to wait for each object.",
)
@cluster_flags
@pass_flags
def wait(flags: Flags, /, *, goal: Goal, timeout: float, **sources: Any) -> None:
    """Wait for a condition on one or many resources.

    Also waits for objects that do not exist yet. After the timeout, prints the last state and
    exits with code 3.

    \b
    Examples:
      kubeloop wait pod/web-1 --for condition=Ready --timeout 1m
      kubeloop wait pods -l app=web --for condition=Ready
      kubeloop wait deploy,sts --all -n shop --for jsonpath='{.status.readyReplicas}'=2
      kubeloop wait pod web-1 --for delete
      kubeloop wait -f shop.yaml --for create
    """
    click.get_current_context().exit(run(_wait(flags, Sources(**sources), goal, timeout)))


async def _wait(flags: Flags, sources: Sources, goal: Goal, seconds: float) -> ExitCode:
    async with connect(flags) as client:
        objects, code = await find_objects(client, flags, "wait", sources)
        if not objects and not code and "deleted" not in goal:
            what = sources.selector or sources.field_selector
            which = f"no objects match {what}" if what else "no matching resources found"
            raise CommandFailed(f"wait for {' '.join(sources.words)}: {which}")
        async with show_progress("waiting", total=len(objects)) as progress:

            async def wait_one(ref: ObjectRef) -> None:
                resource: Any = ref.client(client)
                await resource.wait_for(ref.name, **goal, timeout=seconds)
                print_line(f"{ref} condition met")
                progress.advance()

            return max(code, await process_each(flags, objects, wait_one))
