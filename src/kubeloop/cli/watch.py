"""`kubeloop watch`: shows the changes of resources.

Guarantees: it runs until interrupted; when the server is not reachable, it retries. A pipe
gets one line for each change, and interruptions on stderr.
See also: `screen` (the view for terminals).
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, aclosing, nullcontext
from typing import Any, Protocol, final

import click
from msgspec.structs import replace

from kubeloop.clients import ResourceClient
from kubeloop.kit import Clock, TaskOwner, run
from kubeloop.rest import RequestSender
from kubeloop.wire import InvalidArgument

from .flags import Flags, cluster_flags, connect, pass_flags
from .kinds import find_kinds, parse_targets, qualified_name, resource_client_of, resource_name
from .live_table import LiveRow, LiveTable, TableLayout
from .outputs import Output, OutputType
from .selection import Selection, selection_flags, targets_argument
from .table_watch import Changed, Interrupted, Listed, watch_table
from .tables import TextTable, lines_of, widths_of

__all__ = ["View", "watch"]

_EVENT_WIDTH = 11  # MODIFIED and the padding


@click.command()
@targets_argument("KIND [NAME]")
@selection_flags
@click.option(
    "-o",
    "--output",
    type=OutputType("table", "wide"),
    default="table",
    help="The output format: table or wide.",
)
@cluster_flags
@pass_flags
def watch(
    flags: Flags,
    /,
    *,
    words: tuple[str, ...],
    output: Output,
    **selectors: Any,
) -> None:
    """Watch resources in a live table; in a pipe, print a line for each change.

    Reconnects when the server restarts. Press Ctrl-C to stop.

    \b
    Examples:
      kubeloop watch pods -n shop
      kubeloop watch deploy,po -l app=web
      kubeloop watch pod web-1
      kubeloop watch events -A | grep Warning
    """
    targets = parse_targets(words)
    if len(targets) > 1 or len(targets[0].names) > 1:
        raise click.UsageError("watch takes resource types, or one object")
    selection = Selection(**selectors)
    if targets[0].names:
        name = f"metadata.name={targets[0].names[0]}"
        fields = ",".join(filter(None, (selection.field_selector, name)))
        selection = replace(selection, field_selector=fields)
    run(_watch(flags, targets[0].kinds, selection, wide=output.format == "wide"))


async def _watch(flags: Flags, kinds: str, selection: Selection, *, wide: bool) -> None:
    async with connect(flags) as client, TaskOwner() as tasks:
        infos = await find_kinds(client, kinds)
        for info in infos:
            if "watch" not in info.verbs:
                raise InvalidArgument(
                    f"watch {resource_name(info)}: the server does not support watch (use get)"
                )
        tables = [
            LiveTable(
                resource_name(info),
                TableLayout(
                    wide=wide,
                    namespaces=selection.all_namespaces and (info.namespaced or len(infos) > 1),
                    prefix=qualified_name(info, "") if len(infos) > 1 else "",
                ),
            )
            for info in infos
        ]
        with _view(tables, client.rest.clock) as view:
            for info, table in zip(infos, tables, strict=True):
                resource = resource_client_of(client, info, namespace=selection.namespace)
                updates = _update(client.rest, resource, table, selection, view)
                tasks.spawn(updates, name=f"watch of {table.title}")
            await view.run()


async def _update(
    rest: RequestSender,
    resource: ResourceClient[dict[str, Any]],
    table: LiveTable,
    selection: Selection,
    view: View,
) -> None:
    """Keep the table of one resource current, and pass its changes to the view, forever."""
    updates = watch_table(
        rest, resource, selector=selection.selector, field_selector=selection.field_selector
    )
    async with aclosing(updates):
        async for update in updates:
            match update:
                case Listed(listed):
                    view.show_changes(table, table.replace_rows(listed, rest.clock.now()))
                case Changed(event, row):
                    view.show_changes(table, [table.apply_event(event, row, rest.clock.now())])
                case Interrupted(reason):
                    view.show_interruption(table, reason)
            sys.stdout.flush()


def _view(tables: Sequence[LiveTable], clock: Clock) -> AbstractContextManager[View]:
    """A screen if the cursor can be moved, otherwise lines."""
    if sys.stdout.isatty() and os.environ.get("TERM", "") not in ("", "dumb"):
        from .screen import Screen  # imports rich, which a pipe does not need

        return Screen(tables, clock=clock)
    return nullcontext(LineView())


class View(Protocol):
    """Shows tables and their changes."""

    def show_changes(self, table: LiveTable, changes: Sequence[LiveRow]) -> None: ...
    def show_interruption(self, table: LiveTable, reason: str) -> None: ...
    async def run(self) -> None: ...


@final
class LineView:
    """Prints a line for each change, after a header for each resource."""

    def __init__(self) -> None:
        self._widths: dict[str, list[int]] = {}  # by title: the widths of the first list
        self._interrupted: set[str] = set()

    def show_changes(self, table: LiveTable, changes: Sequence[LiveRow]) -> None:
        rows = [(row.event, *row.cells) for row in changes]
        if table.title in self._interrupted:
            self._interrupted.discard(table.title)
            click.echo(f"{table.title}: watch restored", err=True)
        if table.title not in self._widths:
            header = ("EVENT", *table.header)
            widths = widths_of(TextTable(header, tuple(rows)))
            self._widths[table.title] = [max(widths[0], _EVENT_WIDTH), *widths[1:]]
            rows.insert(0, header)
        for line in lines_of(rows, self._widths[table.title]):
            click.echo(line)

    def show_interruption(self, table: LiveTable, reason: str) -> None:
        if table.title not in self._interrupted:
            self._interrupted.add(table.title)
            click.echo(f"{table.title}: watch interrupted, will retry: {reason}", err=True)

    async def run(self) -> None:
        """Wait until cancelled; nothing is printed between changes."""
        await asyncio.get_running_loop().create_future()
