"""`kubeloop events`: prints events in the order in which they happened.

Guarantees: the columns and the order of `kubectl events`; a watch runs until interrupted.
See also: `get` (events in the order of their names, as a table of the server).
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any, final

import click

from kubeloop.clients import ALL_NAMESPACES, Selectors
from kubeloop.kit import run
from kubeloop.wire import InvalidArgument, ResourceInfo, parse_time, resource_for, visible

from .flags import Flags, cluster_flags, connect, pass_flags
from .kinds import complete_kind, find_kinds, parse_targets, resource_client_of
from .live_table import age_text
from .outputs import Output, OutputType, format_objects
from .table_watch import changes_after
from .tables import lines_of, widths_of
from .terminal import print_content, print_line

__all__ = ["age_of", "event_age", "events", "sorted_events"]

_TYPES = {"normal": "Normal", "warning": "Warning"}


def _types(ctx: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> set[str]:
    words = [word for value in values for word in value.split(",") if word]
    for word in words:
        if word.lower() not in _TYPES:
            raise click.BadParameter(f"{word!r} is not Normal or Warning", ctx, parameter)
    return {_TYPES[word.lower()] for word in words}


@click.command()
@click.option(
    "--for", "target", metavar="KIND/NAME", shell_complete=complete_kind,
    help="Only events about this object.",
)  # fmt: skip
@click.option(
    "--types", metavar="TYPE,…", multiple=True, callback=_types, help="Only Normal or Warning."
)
@click.option("-A", "--all-namespaces", is_flag=True, help="Use all namespaces.")
@click.option("-w", "--watch", "follow", is_flag=True, help="Print new events after the list.")
@click.option("--no-headers", is_flag=True, help="Print no headers.")
@click.option(
    "-o", "--output",
    type=OutputType("table", "yaml", "json", "name", "jsonpath", "jsonpath-as-json"),
    default="table",
    help="The output format: table, yaml, json, name, jsonpath=TEMPLATE or "
    "jsonpath-as-json=TEMPLATE.",
)  # fmt: skip
@click.option("--show-managed-fields", is_flag=True, help="Keep managedFields in yaml and json.")
@cluster_flags
@pass_flags
def events(
    flags: Flags,
    /,
    *,
    target: str | None,
    types: set[str],
    all_namespaces: bool,
    follow: bool,
    no_headers: bool,
    output: Output,
    show_managed_fields: bool,
) -> None:
    """Display events, the oldest first.

    \b
    Examples:
      kubeloop events
      kubeloop events --for pod/web-1 --watch
      kubeloop events -A --types Warning
      kubeloop events -o jsonpath='{.items[*].reason}'
    """
    if target is not None and "/" not in target:
        raise click.UsageError(f"--for {target}: expected KIND/NAME, such as pod/web-1")
    writer = _Writer(
        output, namespaces=all_namespaces, header=not no_headers, managed=show_managed_fields
    )
    run(_events(flags, target, types, writer, follow=follow))


async def _events(
    flags: Flags, target: str | None, types: set[str], writer: _Writer, *, follow: bool
) -> None:
    async with connect(flags) as client:
        selectors: Selectors = {}
        if target is not None:
            parsed = parse_targets([target])[0]
            (kind, *_) = await find_kinds(client, parsed.kinds)
            selectors["field_selector"] = (
                f"involvedObject.kind={kind.kind},involvedObject.name={parsed.names[0]}"
            )
        resource = resource_client_of(
            client, _events_info(), namespace=ALL_NAMESPACES if writer.namespaces else None
        )
        listed = await resource.list_all(**selectors)
        found = sorted_events(each for each in listed if not types or each.get("type") in types)
        if found:
            writer.write(found, single=False)
        elif not follow:
            where = "" if writer.namespaces else f" in {client.namespace} namespace"
            print_line(f"No events found{where}.", err=True)
        if follow:
            sys.stdout.flush()
            changes = changes_after(listed, resource, selectors)
            async with aclosing(changes):
                async for change, event in changes:
                    if change != "DELETED" and (not types or event.get("type") in types):
                        writer.write([event], single=True)
                        sys.stdout.flush()


def _events_info() -> ResourceInfo:
    info = resource_for("", "v1", "Event")
    assert info is not None, "events are built in"
    return info


@final
class _Writer:
    """Prints events as rows, or in another format."""

    def __init__(self, output: Output, *, namespaces: bool, header: bool, managed: bool) -> None:
        self.namespaces = namespaces
        self._output = output
        self._header = header
        self._managed = managed
        self._widths: list[int] = []
        self._count = itertools.count()

    def write(self, found: list[dict[str, Any]], *, single: bool) -> None:
        if self._output.is_table:
            self._write_rows(found)
            return
        info = _events_info()
        for each in found:
            if not self._managed and "jsonpath" not in self._output.format:
                each["metadata"].pop("managedFields", None)
        if self._output.format == "yaml" and next(self._count):
            click.echo("---")
        print_content(format_objects(self._output, [(info, each) for each in found], single=single))

    def _write_rows(self, found: list[dict[str, Any]]) -> None:
        now = datetime.now(UTC)
        rows = [self._row(each, now) for each in found]
        if self._header:
            first = ("NAMESPACE",) if self.namespaces else ()
            rows.insert(0, (*first, "LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"))
            self._header = False
        widths = widths_of(rows)
        self._widths = [max(pair) for pair in zip(self._widths or widths, widths, strict=True)]
        for line in lines_of(rows, self._widths):
            click.echo(line)

    def _row(self, event: dict[str, Any], now: datetime) -> tuple[str, ...]:
        involved = event.get("involvedObject") or {}
        first = (str(event["metadata"].get("namespace") or ""),) if self.namespaces else ()
        cells = (
            *first,
            event_age(event, now),
            str(event.get("type") or ""),
            str(event.get("reason") or ""),
            f"{involved.get('kind') or ''}/{involved.get('name') or ''}",
            str(event.get("message") or "").strip(),
        )
        return tuple(map(visible, cells))


# --- times


def sorted_events(found: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Events in the order in which they happened last."""
    return sorted(found, key=_last_seen)


def _last_seen(event: dict[str, Any]) -> str:
    series = event.get("series") or {}
    seen = series.get("lastObservedTime") or event.get("lastTimestamp") or event.get("eventTime")
    return str(seen or "").removesuffix("Z")  # with and without fractions of a second


def event_age(event: dict[str, Any], now: datetime) -> str:
    """`5s`, or `5s (x3 over 2m)` for an event that happened again."""
    first = age_of(event.get("eventTime") or event.get("firstTimestamp"), now)
    if series := event.get("series"):
        return (
            f"{age_of(series.get('lastObservedTime'), now)} (x{series.get('count')} over {first})"
        )
    if (event.get("count") or 0) > 1:
        return f"{age_of(event.get('lastTimestamp'), now)} (x{event['count']} over {first})"
    return first


def age_of(moment: str | None, now: datetime) -> str:
    """The time since a timestamp of the API, as kubectl prints it."""
    if not moment:
        return "<unknown>"
    try:
        return age_text((now - parse_time(moment)).total_seconds())
    except InvalidArgument:
        return "<unknown>"
