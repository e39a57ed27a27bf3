"""`kubeloop wait`: wait until an object is as it is wanted.

Promises: an object that is not there yet is waited for as well; what comes too late is told
by an exit code of its own.
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
from .flags import Flags, cluster_flags, connected, pass_flags
from .kinds import Wanted, collection_of, find_kinds, parse_wanted, qualified
from .selection import wanted_argument
from .terminal import patience, print_line

__all__ = ["wait"]

Goal = dict[str, Any]  # what `wait_for` takes

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
            known = ", ".join(("condition=NAME", "jsonpath=PATH", *_PLAIN_GOALS))
            self.fail(f"{value!r} is not one of {known}", param, ctx)
        return _PLAIN_GOALS[str(value)]


@click.command()
@wanted_argument("KIND/NAME…")
@click.option("--for", "goal", type=GoalType(), required=True, help="What is waited for.")
@click.option(
    "--timeout", type=DurationType(), default="30s", show_default=True, help="For each of them."
)
@click.option("-l", "--selector", "labels", default="", help="All that have these labels now.")
@cluster_flags
@pass_flags
def wait(flags: Flags, wanted: tuple[str, ...], goal: Goal, timeout: float, labels: str) -> None:
    """Wait until objects, there or still to come, are as they are wanted.

    Ends with exit code 3 when that takes too long, and says what was seen last.

    \b
    Examples:
      kubeloop wait pod/web-1 --for condition=Ready --timeout 1m
      kubeloop wait pods -l app=web --for condition=Ready
      kubeloop wait deploy/web --for jsonpath='{.status.readyReplicas}'=2
      kubeloop wait pod web-1 --for delete
    """
    asked = parse_wanted(wanted)
    if labels and any(each.names for each in asked):
        raise click.UsageError("a selector chooses objects, and so does a name: give one of them")
    run(_wait(flags, asked, goal, timeout, labels))


async def _wait(flags: Flags, asked: list[Wanted], goal: Goal, seconds: float, labels: str) -> None:
    async with connected(flags) as client:
        objects = await _objects(client, asked, labels)
        async with patience("waiting", total=len(objects)) as progress:
            for info, name in objects:
                collection: Any = collection_of(client, info)
                await collection.wait_for(name, **goal, timeout=seconds)
                print_line(f"{qualified(info, name)} {'deleted' if 'deleted' in goal else 'met'}")
                progress.advance()


async def _objects(
    client: Client, asked: list[Wanted], labels: str
) -> list[tuple[ResourceInfo, str]]:
    found: list[tuple[ResourceInfo, str]] = []
    for each in asked:
        for info in await find_kinds(client, each.kinds):
            names = each.names or await _names(client, info, labels)
            found += [(info, name) for name in names]
    return found


async def _names(client: Client, info: ResourceInfo, labels: str) -> list[str]:
    if not labels:
        raise InvalidArgument(
            f"wait for {info.plural}: which? (name one, or give a selector with -l)"
        )
    page = await collection_of(client, info).list(selector=labels)
    names = [str(obj["metadata"]["name"]) for obj in page]
    if not names:
        raise CommandFailed(f"wait for {info.plural}: none has the labels {labels}")
    return names
