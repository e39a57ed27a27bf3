"""`kubeloop get`: prints objects as a table or in another format.

Guarantees: the server renders the tables; large collections are listed in pages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
import msgspec

from kubeloop.clients import PAGE_SIZE, ResourceClient, Table
from kubeloop.kit import run
from kubeloop.meta import PageProgress
from kubeloop.wire import ResourceInfo

from .flags import Flags, cluster_flags, connect, pass_flags
from .kinds import Target, find_kinds, parse_targets, qualified_name, resource_client_of
from .outputs import Output, OutputType, format_objects
from .selection import Selection, selection_flags, targets_argument
from .tables import text_table
from .terminal import DelayedProgress, print_content, print_line, print_table, show_progress

if TYPE_CHECKING:
    from kubeloop.runtime import Client

__all__ = ["get"]


@click.command()
@targets_argument("KIND [NAME]…")
@selection_flags
@click.option(
    "-o", "--output", type=OutputType(), default="table",
    help="The output format: table, wide, yaml, json, name or jsonpath=TEMPLATE.",
)  # fmt: skip
@click.option("--show-managed-fields", is_flag=True, help="Keep managedFields in yaml and json.")
@cluster_flags
@pass_flags
def get(
    flags: Flags,
    /,
    *,
    words: tuple[str, ...],
    output: Output,
    show_managed_fields: bool,
    **selectors: Any,
) -> None:
    """Display one or many resources.

    KIND is a resource type as in kubectl: po, pods, deploy.apps, deployments.v1.apps, a
    comma-separated list, or a category such as all.

    \b
    Examples:
      kubeloop get pods
      kubeloop get deploy,po -n shop -l app=web
      kubeloop get pod/web-1 -o yaml
      kubeloop get all -A -o wide
      kubeloop get nodes -o jsonpath='{.items[*].metadata.name}'
    """
    selection = Selection(**selectors)
    targets = parse_targets(words)
    if selection.has_selectors and any(target.names for target in targets):
        raise click.UsageError("name and selector cannot be used together")
    if output.is_table:
        run(_print_tables(flags, targets, selection, output))
    else:
        run(_print_objects(flags, targets, selection, output, managed=show_managed_fields))


# --- tables


async def _print_tables(
    flags: Flags, targets: list[Target], selection: Selection, output: Output
) -> None:
    async with connect(flags) as client, show_progress("loading") as progress:
        found = [
            (info, await _table(client, info, target, selection, progress))
            for target in targets
            for info in await find_kinds(client, target.kinds)
        ]
        namespace = client.namespace
    nonempty = [(info, table) for info, table in found if table.rows]
    for index, (info, table) in enumerate(nonempty):
        if index:
            click.echo()
        text = text_table(
            table,
            wide=output.format == "wide",
            namespaces=selection.all_namespaces and (info.namespaced or len(found) > 1),
            prefix=qualified_name(info, "") if len(found) > 1 else "",
        )
        print_table(text)
    if not nonempty:
        print_line(_not_found_text(found, selection, namespace), err=True)


async def _table(
    client: Client,
    info: ResourceInfo,
    target: Target,
    selection: Selection,
    progress: DelayedProgress,
) -> Table:
    resource = resource_client_of(client, info, namespace=selection.namespace)
    if not target.names:
        return await _read_table(resource, selection, progress)
    tables = [await resource.table(name) for name in target.names]
    return Table(tables[0].columns, tuple(row for table in tables for row in table.rows))


async def _read_table(
    resource: ResourceClient[dict[str, Any]], selection: Selection, progress: DelayedProgress
) -> Table:
    """All rows, read in pages."""
    page = await _page(resource, selection, "")
    rows = list(page.rows)
    paging = PageProgress("list in pages")
    while page.next_page:
        paging.check(page.next_page, _first_key(page))
        progress.advance(len(page.rows), left=page.remaining)
        page = await _page(resource, selection, page.next_page)
        rows += page.rows
    return msgspec.structs.replace(page, rows=tuple(rows))


def _first_key(page: Table) -> str | None:
    """Identifies a page by its first row; None for a page without rows."""
    if not page.rows:
        return None
    metadata = (page.rows[0].object or {}).get("metadata") or page.rows[0].cells[:1]
    if isinstance(metadata, dict):
        return f"{metadata.get('namespace')}/{metadata.get('name')}"
    return str(metadata)


async def _page(
    resource: ResourceClient[dict[str, Any]], selection: Selection, token: str
) -> Table:
    return await resource.table(
        selector=selection.selector,
        field_selector=selection.field_selector,
        limit=PAGE_SIZE,
        next_page=token,
    )


def _not_found_text(
    found: list[tuple[ResourceInfo, Table]], selection: Selection, namespace: str
) -> str:
    if selection.all_namespaces or not any(info.namespaced for info, _ in found):
        return "No resources found"
    return f"No resources found in {namespace} namespace"


# --- objects


async def _print_objects(
    flags: Flags, targets: list[Target], selection: Selection, output: Output, *, managed: bool
) -> None:
    async with connect(flags) as client, show_progress("loading") as progress:
        found = [
            (info, obj)
            for target in targets
            for info in await find_kinds(client, target.kinds)
            for obj in await _objects(client, info, target, selection, progress)
        ]
    if not managed:
        for _, obj in found:
            obj["metadata"].pop("managedFields", None)
    single = len(targets) == 1 and len(targets[0].names) == 1 and len(found) == 1
    text = format_objects(output, found, single=single)
    if not text:
        return
    if output.format == "jsonpath":
        print_content(text)
    else:
        click.echo(text)


async def _objects(
    client: Client,
    info: ResourceInfo,
    target: Target,
    selection: Selection,
    progress: DelayedProgress,
) -> list[dict[str, Any]]:
    resource = resource_client_of(client, info, namespace=selection.namespace)
    if target.names:
        return [await resource.get(name) for name in target.names]
    found = []
    async for obj in resource.each(
        selector=selection.selector, field_selector=selection.field_selector
    ):
        progress.advance()
        found.append(obj)
    return found
