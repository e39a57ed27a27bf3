"""`kubeloop wait`: waits for a condition on objects.

Guarantees: it also waits for an object that does not exist yet; a timeout has its own exit
code.
"""

from __future__ import annotations

from typing import Any, final

import click

from kubeloop.errors import InvalidArgument
from kubeloop.kit import run
from kubeloop.runtime import Client
from kubeloop.wire import ResourceInfo

from .durations import DurationType
from .failures import CommandFailed
from .flags import Flags, cluster_flags, connect, pass_flags
from .kinds import Target, find_kinds, parse_targets, qualified_name, resource_client_of
from .selection import targets_argument
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
@targets_argument("KIND/NAME…")
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
@click.option("-l", "--selector", default="", help="Wait for the objects with these labels.")
@cluster_flags
@pass_flags
def wait(flags: Flags, words: tuple[str, ...], goal: Goal, timeout: float, selector: str) -> None:
    """Wait for a condition on one or many resources.

    Also waits for objects that do not exist yet. After the timeout, prints the last state and
    exits with code 3.

    \b
    Examples:
      kubeloop wait pod/web-1 --for condition=Ready --timeout 1m
      kubeloop wait pods -l app=web --for condition=Ready
      kubeloop wait deploy/web --for jsonpath='{.status.readyReplicas}'=2
      kubeloop wait pod web-1 --for delete
    """
    targets = parse_targets(words)
    if selector and any(target.names for target in targets):
        raise click.UsageError("name and selector cannot be used together")
    run(_wait(flags, targets, goal, timeout, selector))


async def _wait(
    flags: Flags, targets: list[Target], goal: Goal, seconds: float, selector: str
) -> None:
    async with connect(flags) as client:
        objects = await _objects(client, targets, selector)
        async with show_progress("waiting", total=len(objects)) as progress:
            for info, name in objects:
                resource: Any = resource_client_of(client, info)
                await resource.wait_for(name, **goal, timeout=seconds)
                outcome = "deleted" if "deleted" in goal else "condition met"
                print_line(f"{qualified_name(info, name)} {outcome}")
                progress.advance()


async def _objects(
    client: Client, targets: list[Target], selector: str
) -> list[tuple[ResourceInfo, str]]:
    found: list[tuple[ResourceInfo, str]] = []
    for target in targets:
        for info in await find_kinds(client, target.kinds):
            names = target.names or await _names(client, info, selector)
            found += [(info, name) for name in names]
    return found


async def _names(client: Client, info: ResourceInfo, selector: str) -> list[str]:
    if not selector:
        raise InvalidArgument(
            f"wait for {info.plural}: no name given (add a name, or a selector with -l)"
        )
    page = await resource_client_of(client, info).list(selector=selector)
    names = [str(obj["metadata"]["name"]) for obj in page]
    if not names:
        raise CommandFailed(f"wait for {info.plural}: no objects match {selector}")
    return names
