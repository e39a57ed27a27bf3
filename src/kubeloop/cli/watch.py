"""`kubeloop watch`: what changes.

Promises: it ends when it is told to and not before: a server that goes away is waited for.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, aclosing, nullcontext
from typing import Any

import click
from msgspec.structs import replace

from kubeloop.clients import ResourceClient
from kubeloop.kit import Clock, TaskOwner, run
from kubeloop.rest import RequestSender
from kubeloop.wire import InvalidArgument

from .flags import Flags, cluster_flags, connected, pass_flags
from .following import Changed, Listed, Lost, follow
from .kinds import collection_of, find_kinds, parse_wanted, qualified, resource_name
from .live import LiveTable, Shape
from .outputs import Output, OutputType
from .selection import Selection, selection_flags, wanted_argument
from .views import Lines, View

__all__ = ["watch"]


@click.command()
@wanted_argument("KIND [NAME]")
@selection_flags
@click.option(
    "-o", "--output", type=OutputType("table", "wide"), default="table", help="table or wide."
)
@cluster_flags
@pass_flags
def watch(
    flags: Flags,
    /,
    *,
    wanted: tuple[str, ...],
    output: Output,
    **selectors: Any,
) -> None:
    """What changes, as a live table; into a pipe, as a line for each change.

    It survives restarts of the server, and ends with Ctrl-C.

    \b
    Examples:
      kubeloop watch pods -n shop
      kubeloop watch deploy,po -l app=web
      kubeloop watch pod web-1
      kubeloop watch events -A | grep Warning
    """
    asked = parse_wanted(wanted)
    if len(asked) > 1 or len(asked[0].names) > 1:
        raise click.UsageError("one object, or all of some kinds, can be watched")
    chosen = Selection(**selectors)
    if asked[0].names:
        name = f"metadata.name={asked[0].names[0]}"
        chosen = replace(chosen, fields=",".join(filter(None, (chosen.fields, name))))
    run(_watch(flags, asked[0].kinds, chosen, wide=output.form == "wide"))


async def _watch(flags: Flags, kinds: str, chosen: Selection, *, wide: bool) -> None:
    async with connected(flags) as client, TaskOwner() as tasks:
        infos = await find_kinds(client, kinds)
        for info in infos:
            if "watch" not in info.verbs:
                raise InvalidArgument(f"watch {resource_name(info)}: the server cannot (use get)")
        tables = [
            LiveTable(
                resource_name(info),
                Shape(
                    wide=wide,
                    namespaces=chosen.everywhere and (info.namespaced or len(infos) > 1),
                    prefix=qualified(info, "") if len(infos) > 1 else "",
                ),
            )
            for info in infos
        ]
        with _view(tables, client.rest.clock) as view:
            for info, table in zip(infos, tables, strict=True):
                collection = collection_of(client, info, namespace=chosen.namespace)
                told = _tell(client.rest, collection, table, chosen, view)
                tasks.spawn(told, name=f"watch of {table.title}")
            await view.run()


async def _tell(
    rest: RequestSender,
    collection: ResourceClient[dict[str, Any]],
    table: LiveTable,
    chosen: Selection,
    view: View,
) -> None:
    """Tell the view of one kind, without end."""
    followed = follow(rest, collection, labels=chosen.labels, fields=chosen.fields)
    async with aclosing(followed) as happenings:
        async for happening in happenings:
            match happening:
                case Listed(listed):
                    view.tell(table, table.take_list(listed, rest.clock.now()))
                case Changed(event, row):
                    view.tell(table, [table.take_change(event, row, rest.clock.now())])
                case Lost(reason):
                    view.lost(table, reason)
            sys.stdout.flush()


def _view(tables: Sequence[LiveTable], clock: Clock) -> AbstractContextManager[View]:
    """Drawn in place where the cursor can be moved, else as lines."""
    if sys.stdout.isatty() and os.environ.get("TERM", "") not in ("", "dumb"):
        from .screen import Screen  # and with it rich, which a pipe does not need

        return Screen(tables, clock=clock)
    return nullcontext(Lines())
