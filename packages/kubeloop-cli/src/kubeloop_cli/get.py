"""`kubeloop get`: prints objects as a table or in another format.

Guarantees: the server renders the tables; large collections are listed in pages. If some
objects cannot be read, the others are printed, and each error is one line on stderr.
See also: `watch` (`get --watch`), `outputs` (the formats), `columns` (columns and sorting).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeVar

import click
import msgspec

from kubeloop.clients import PAGE_SIZE, IncludeObject, ResourceClient, Table
from kubeloop.kit import run
from kubeloop.meta import PageProgress
from kubeloop.wire import ResourceInfo

from .failures import ExitCode, report
from .flags import Flags, cluster_flags, connect, pass_flags
from .kinds import (
    Target,
    complete_kind,
    find_kinds,
    parse_targets,
    qualified_name,
    resource_client_of,
)
from .outputs import Output, OutputType, format_objects
from .selection import Selection, selection_flags
from .tables import TableLayout, text_table
from .terminal import DelayedProgress, print_content, print_line, print_table, show_progress

if TYPE_CHECKING:
    from kubeloop.runtime import Client

__all__ = ["Query", "Request", "get", "requests_of"]

T = TypeVar("T")


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """What is read, and how it is printed: the flags of `get`, without those of a watch."""

    targets: Sequence[Target]
    files: tuple[str, ...] = ()
    recursive: bool = False
    selection: Selection = Selection()
    output: Output = Output()
    sort_by: str = ""
    no_headers: bool = False
    show_kind: bool = False
    show_labels: bool = False
    label_columns: tuple[str, ...] = ()
    show_managed_fields: bool = False
    ignore_not_found: bool = False
    chunk_size: int = PAGE_SIZE
    subresource: str = ""

    def layout(self, info: ResourceInfo, *, several: bool) -> TableLayout:
        """The columns of one resource, alone or among several."""
        return TableLayout(
            wide=self.output.format == "wide",
            namespaces=self.selection.all_namespaces and (info.namespaced or several),
            prefix=qualified_name(info, "") if several or self.show_kind else "",
            label_columns=self.label_columns,
            labels=self.show_labels,
        )


class Request(msgspec.Struct, frozen=True):
    """Objects of one resource: those with these names, or the collection."""

    info: ResourceInfo
    client: ResourceClient[dict[str, Any]]
    names: tuple[str, ...] = ()


@click.command()
@click.argument("words", metavar="KIND [NAME]…", nargs=-1, shell_complete=complete_kind)
@selection_flags
@click.option(
    "-o", "--output", type=OutputType(), default="table",
    help="The output format: table, wide, yaml, json, name, jsonpath=TEMPLATE, "
    "jsonpath-as-json=TEMPLATE, jsonpath-file=FILE, custom-columns=HEADER:PATH,… or "
    "custom-columns-file=FILE.",
)  # fmt: skip
@click.option("-w", "--watch", "follow", is_flag=True, help="Print changes after the list.")
@click.option("--watch-only", is_flag=True, help="Print changes, without the list.")
@click.option(
    "--output-watch-events", "events", is_flag=True,
    help="Print the type of each change, with --watch or --watch-only.",
)  # fmt: skip
@click.option("--no-headers", is_flag=True, help="Print no headers.")
@click.option(
    "--sort-by", metavar="PATH", default="",
    help="Sort by a field, such as .metadata.creationTimestamp.",
)  # fmt: skip
@click.option("--show-labels", is_flag=True, help="Add a column with all labels.")
@click.option(
    "-L", "--label-columns", metavar="KEY,…", multiple=True,
    help="Add a column for each of these labels.",
)  # fmt: skip
@click.option("--show-kind", is_flag=True, help="Print the type before each name.")
@click.option("--show-managed-fields", is_flag=True, help="Keep managedFields in yaml and json.")
@click.option(
    "-f", "--filename", "files", metavar="FILE|DIR|URL|-", multiple=True,
    help="Read the objects that these manifests name.",
)  # fmt: skip
@click.option("-R", "--recursive", is_flag=True, help="Use the directories in the directory of -f.")
@click.option("--ignore-not-found", is_flag=True, help="An object that does not exist is no error.")
@click.option(
    "--chunk-size", type=click.IntRange(0), default=PAGE_SIZE, show_default=True,
    help="How many objects a list request returns at most; 0 is all.",
)  # fmt: skip
@click.option("--subresource", default="", help="Read this subresource: status, scale or resize.")
@click.option("--raw", metavar="PATH", help="Print the response to a GET of this path.")
@cluster_flags
@pass_flags
def get(
    flags: Flags,
    /,
    *,
    words: tuple[str, ...],
    raw: str | None,
    follow: bool,
    watch_only: bool,
    events: bool,
    all_namespaces: bool,
    selector: str,
    field_selector: str,
    label_columns: tuple[str, ...],
    files: tuple[str, ...],
    **options: Any,
) -> None:
    """Display one or many resources.

    KIND is a resource type as in kubectl: po, pods, deploy.apps, deployments.v1.apps, a
    comma-separated list, or a category such as all.

    \b
    Examples:
      kubeloop get pods
      kubeloop get pods -w --output-watch-events
      kubeloop get deploy,po -n shop -l app=web
      kubeloop get pod/web-1 -o yaml
      kubeloop get all -A -o wide
      kubeloop get pods --sort-by .metadata.creationTimestamp
      kubeloop get pods -o custom-columns=NAME:.metadata.name,NODE:.spec.nodeName
      kubeloop get nodes -o jsonpath='{.items[*].metadata.name}'
      kubeloop get --raw /readyz
    """
    if raw is not None:
        if words or files:
            raise click.UsageError("--raw cannot be used with resources or files")
        run(_print_raw(flags, raw))
        return
    if not words and not files:
        raise click.UsageError(
            "Missing argument: a resource type (kubeloop api-resources lists them)"
        )
    if words and files:
        raise click.UsageError("resources and -f cannot be used together")
    query = Query(
        targets=parse_targets(words) if words else (),
        files=files,
        selection=Selection(
            all_namespaces=all_namespaces, selector=selector, field_selector=field_selector
        ),
        label_columns=tuple(key for keys in label_columns for key in keys.split(",")),
        **options,
    )
    if query.selection.has_selectors and (files or any(each.names for each in query.targets)):
        raise click.UsageError("name and selector cannot be used together")
    if query.subresource and (files or not all(each.names for each in query.targets)):
        raise click.UsageError("--subresource needs the names of objects")
    if follow or watch_only:
        from .watch import follow_query

        run(follow_query(flags, query, is_listed=not watch_only, events=events))
        return
    if events:
        raise click.UsageError("--output-watch-events needs --watch or --watch-only")
    code = run(_print(flags, query))
    click.get_current_context().exit(code)


async def _print_raw(flags: Flags, path: str) -> None:
    from kubeloop.rest import uri_request

    async with connect(flags) as client:
        response = await client.rest.send(uri_request("GET", path))
    print_content(response.body.decode("utf-8", "replace"))


async def _print(flags: Flags, query: Query) -> ExitCode:
    errors: list[Exception] = []
    async with connect(flags) as client, show_progress("loading") as progress:
        requests = await requests_of(client, query)
        if query.output.is_table:
            tables = await _read(requests, _table_reader(query, progress), query, errors)
            namespace = client.namespace
        else:
            objects = await _read(requests, _object_reader(query, progress), query, errors)
    if not query.output.is_table:
        _print_objects(query, objects, single=_is_single(query))
    elif not _print_tables(query, tables) and not (errors or query.ignore_not_found):
        infos = [request.info for request in requests]
        print_line(_not_found_text(infos, query.selection, namespace), err=True)
    return max([report(each, verbose=bool(flags.verbose)) for each in errors], default=ExitCode.OK)


async def requests_of(client: Client, query: Query) -> list[Request]:
    """What a query reads. Raises: NoResourceMatch, AmbiguousMatch, InvalidArgument, OSError."""
    if query.files:
        return [request async for request in _requests_in(client, query)]
    return [
        Request(
            info,
            resource_client_of(client, info, namespace=query.selection.namespace),
            target.names,
        )
        for target in query.targets
        for info in await find_kinds(client, target.kinds)
    ]


async def _requests_in(client: Client, query: Query) -> AsyncIterator[Request]:
    """The objects that manifests name."""
    from kubeloop.meta import GroupKind

    for obj in _objects_in(query):
        group, _, version = str(obj["apiVersion"]).rpartition("/")
        info = await client.mapper.mapping(GroupKind(group, str(obj["kind"])), version)
        metadata = obj["metadata"]
        at = resource_client_of(client, info, namespace=metadata.get("namespace") or None)
        yield Request(info, at, (str(metadata["name"]),))


def _objects_in(query: Query) -> Iterator[dict[str, Any]]:
    from kubeloop.errors import KubeError

    from .sources import Sources, manifest_entries

    sources = Sources(files=query.files, recursive=query.recursive)
    for _, entry in manifest_entries("get", sources):
        if isinstance(entry, KubeError):
            raise entry
        yield entry


async def _read(
    requests: Sequence[Request],
    read: Callable[[Request, str], Awaitable[T]],
    query: Query,
    errors: list[Exception],
) -> list[tuple[ResourceInfo, T]]:
    """The result for each name, or for each collection; adds errors of single ones to `errors`."""
    from kubeloop.errors import ApiError, NotFound, Unauthorized

    found = []
    for request in requests:
        for name in request.names or ("",):
            try:
                found.append((request.info, await read(request, name)))
            except Unauthorized:
                raise  # every other request would fail the same way
            except ApiError as error:
                if not (query.ignore_not_found and isinstance(error, NotFound)):
                    errors.append(error)
    return found


# --- tables


def _print_tables(query: Query, tables: Sequence[tuple[ResourceInfo, Table]]) -> bool:
    """Print a table for each resource; False if there are no rows."""
    several = len({info for info, _ in tables}) > 1
    is_first = True
    for info, group in groupby(tables, key=lambda pair: pair[0]):
        parts = [table for _, table in group]
        merged = msgspec.structs.replace(
            parts[0], rows=tuple(row for table in parts for row in table.rows)
        )
        if not merged.rows:
            continue
        if query.sort_by:
            from .columns import sort_by

            rows = sort_by(merged.rows, query.sort_by, lambda row: row.object or {})
            merged = msgspec.structs.replace(merged, rows=tuple(rows))
        if not is_first and not query.no_headers:
            click.echo()
        is_first = False
        layout = query.layout(info, several=several)
        print_table(text_table(merged, layout), header=not query.no_headers)
    return not is_first


def _table_reader(
    query: Query, progress: DelayedProgress
) -> Callable[[Request, str], Awaitable[Table]]:
    include: IncludeObject = "Object" if query.sort_by else "Metadata"

    async def page(request: Request, token: str) -> Table:
        return await request.client.table(
            selector=query.selection.selector,
            field_selector=query.selection.field_selector,
            limit=query.chunk_size,
            next_page=token,
            include_object=include,
        )

    async def read(request: Request, name: str) -> Table:
        """One row, or all rows, read in pages."""
        if name:
            if query.subresource:
                at = request.client.subresource(query.subresource)
                return await at.table(name, include_object=include)
            return await request.client.table(name, include_object=include)
        found = await page(request, "")
        rows = list(found.rows)
        paging = PageProgress("list in pages")
        while found.next_page:
            paging.check(found.next_page, _first_key(found))
            progress.advance(len(found.rows), left=found.remaining)
            found = await page(request, found.next_page)
            rows += found.rows
        return msgspec.structs.replace(found, rows=tuple(rows))

    return read


def _first_key(page: Table) -> str | None:
    """Identifies a page by its first row; None for a page without rows."""
    if not page.rows:
        return None
    metadata = (page.rows[0].object or {}).get("metadata") or page.rows[0].cells[:1]
    if isinstance(metadata, dict):
        return f"{metadata.get('namespace')}/{metadata.get('name')}"
    return str(metadata)


def _not_found_text(infos: list[ResourceInfo], selection: Selection, namespace: str) -> str:
    if selection.all_namespaces or not all(info.namespaced for info in infos):
        return "No resources found"
    return f"No resources found in {namespace} namespace."


# --- objects


def _print_objects(
    query: Query,
    found: Sequence[tuple[ResourceInfo, list[dict[str, Any]]]],
    *,
    single: bool,
) -> None:
    objects = [(info, obj) for info, each in found for obj in each]
    if not found:  # not even an empty collection: names that do not exist
        return
    if query.sort_by:
        from .columns import sort_by

        objects = sort_by(objects, query.sort_by, lambda pair: pair[1])
    if not query.show_managed_fields and query.output.format in ("json", "yaml"):
        for _, obj in objects:
            obj["metadata"].pop("managedFields", None)
    if query.output.format == "custom-columns":
        from .columns import custom_table

        table = custom_table(query.output.value, [obj for _, obj in objects])
        print_table(table, header=not query.no_headers)
    else:
        text = format_objects(query.output, objects, single=single and len(objects) == 1)
        print_content(text) if "jsonpath" in query.output.format else click.echo(text, nl=False)


def _is_single(query: Query) -> bool:
    """Whether one object was requested, so that it is not printed as a list of one."""
    if query.files:
        return len(query.files) == 1
    return len(query.targets) == 1 and len(query.targets[0].names) == 1


def _object_reader(
    query: Query, progress: DelayedProgress
) -> Callable[[Request, str], Awaitable[list[dict[str, Any]]]]:
    async def read(request: Request, name: str) -> list[dict[str, Any]]:
        if name:
            client = request.client
            if query.subresource:
                part: Any = await client.subresource(query.subresource).get(name)
                # A scale has a class of its own.
                return [part.to_dict() if query.subresource == "scale" else part]
            return [await client.get(name)]
        found = []
        async for obj in request.client.each(
            selector=query.selection.selector,
            field_selector=query.selection.field_selector,
            page_size=query.chunk_size,
        ):
            progress.advance()
            found.append(obj)
        return found

    return read
