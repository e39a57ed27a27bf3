"""`kubeloop watch` and `kubeloop get --watch`: show the changes of resources.

Guarantees: they run until interrupted; when the server is not reachable, they retry. `watch`
prints one line for each change to a pipe, and interruptions to stderr; `get --watch` prints
what kubectl prints.
See also: `screen` (the view for terminals).
"""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, aclosing, nullcontext
from typing import Any, Protocol, final

import click
from msgspec.structs import replace

from kubeloop.clients import ResourceClient, Selectors
from kubeloop.kit import Clock, TaskOwner, run
from kubeloop.rest import RequestSender
from kubeloop.wire import InvalidArgument
from kubeloop.wire.text import escape_json

from .flags import Flags, cluster_flags, connect, pass_flags
from .get import Query, Request, requests_of
from .kinds import find_kinds, parse_targets, qualified_name, resource_client_of, resource_name
from .live_table import LiveRow, LiveTable
from .outputs import Output, OutputType, format_objects
from .selection import Selection, selection_flags, targets_argument
from .table_watch import Changed, Interrupted, Listed, changes_after, watch_table
from .tables import TableLayout, lines_of, widths_of
from .terminal import print_content

__all__ = ["View", "follow_query", "watch"]

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
            widths = widths_of([header, *rows])
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


# --- get --watch


async def follow_query(flags: Flags, query: Query, *, is_listed: bool, events: bool) -> None:
    """Print the objects of a query if `is_listed`, then their changes, until cancelled.

    `events` prints the type of each change. Raises: NotFound for an object that does not exist.
    """
    async with connect(flags) as client:
        requests = await requests_of(client, query)
        if len(requests) > 1 or len(requests[0].names) > 1:
            raise click.UsageError("a watch takes one resource type, or one object")
        request = requests[0]
        for name in request.names:
            await request.client.get(name)  # an object that does not exist is an error
            selection = replace(query.selection, field_selector=f"metadata.name={name}")
            query = replace(query, selection=selection)
        if query.output.is_table:
            await _follow_table(client.rest, request, query, is_listed=is_listed, events=events)
        else:
            await _follow_objects(request, query, is_listed=is_listed, events=events)


async def _follow_table(
    rest: RequestSender,
    request: Request,
    query: Query,
    *,
    is_listed: bool,
    events: bool,
) -> None:
    layout = query.layout(request.info, several=False)
    table = LiveTable(resource_name(request.info), layout)
    view = _TableLines(events=events, has_header=not query.no_headers)
    updates = watch_table(
        rest,
        request.client,
        selector=query.selection.selector,
        field_selector=query.selection.field_selector,
        include_object="Object" if query.sort_by else "Metadata",
    )
    async with aclosing(updates):
        async for update in updates:
            match update:
                case Listed(listed):
                    if query.sort_by:
                        from .columns import sort_by

                        rows = sort_by(listed.rows, query.sort_by, lambda row: row.object or {})
                        listed = replace(listed, rows=tuple(rows))
                    changes = table.replace_rows(listed, rest.clock.now())
                    if is_listed:
                        view.print(table, changes)
                    is_listed = True  # a list after an interruption has only what was missed
                case Changed(event, row):
                    view.print(table, [table.apply_event(event, row, rest.clock.now())])
                case Interrupted(reason):
                    click.echo(f"{table.title}: watch interrupted, will retry: {reason}", err=True)
            sys.stdout.flush()


@final
class _TableLines:
    """Prints rows in columns that become wider when a cell needs it, as kubectl does."""

    def __init__(self, *, events: bool, has_header: bool) -> None:
        self._events = events
        self._has_header = has_header
        self._widths = [_EVENT_WIDTH] if events else []

    def print(self, table: LiveTable, changes: Sequence[LiveRow]) -> None:
        rows = [(row.event, *row.cells) if self._events else row.cells for row in changes]
        if not rows:
            return
        if self._has_header:
            rows.insert(0, ("EVENT", *table.header) if self._events else table.header)
            self._has_header = False
        found = widths_of(rows)
        before = self._widths + [0] * (len(found) - len(self._widths))
        self._widths = [max(pair) for pair in zip(before, found, strict=True)]
        for line in lines_of(rows, self._widths):
            click.echo(line)


async def _follow_objects(request: Request, query: Query, *, is_listed: bool, events: bool) -> None:
    selectors: Selectors = {
        "selector": query.selection.selector,
        "field_selector": query.selection.field_selector,
    }
    write = _object_writer(request, query, events=events)
    listed = await request.client.list_all(**selectors)
    for obj in listed if is_listed else ():
        write("ADDED", obj)
    sys.stdout.flush()
    changes = changes_after(listed, request.client, selectors)
    async with aclosing(changes):
        async for event, obj in changes:
            write(event, obj)
            sys.stdout.flush()


def _object_writer(
    request: Request, query: Query, *, events: bool
) -> Callable[[str, dict[str, Any]], None]:
    """Prints one object after the other in the format of the query."""
    output, count = query.output, itertools.count()

    def write(event: str, obj: dict[str, Any]) -> None:
        is_first = next(count) == 0
        if not query.show_managed_fields and output.format in ("json", "yaml"):
            obj["metadata"].pop("managedFields", None)
        shown = {"type": event, "object": obj} if events and output.format != "name" else obj
        if output.format == "custom-columns":
            from .columns import custom_table
            from .terminal import print_table

            table = custom_table(output.value, [shown])
            print_table(table, header=is_first and not query.no_headers)
            return
        if output.format == "json" and events:  # one event is one line
            import json

            click.echo(escape_json(json.dumps(shown, separators=(",", ":"), ensure_ascii=False)))
            return
        if output.format == "yaml" and not is_first:
            click.echo("---")
        text = format_objects(output, [(request.info, shown)], single=True)
        print_content(text) if "jsonpath" in output.format else click.echo(text, nl=False)

    return write
