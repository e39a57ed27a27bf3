"""`kubeloop get`: what there is.

Promises: tables are the server's own; long collections are fetched in pages, so that a
server is never asked for all of them at once.
"""

from __future__ import annotations

from typing import Any

import click
import msgspec

from kubeloop.clients import PAGE_SIZE, ResourceClient, Table
from kubeloop.kit import run
from kubeloop.meta import PageProgress
from kubeloop.runtime import Client
from kubeloop.wire import ResourceInfo

from .flags import Flags, cluster_flags, connected, pass_flags
from .kinds import Wanted, collection_of, find_kinds, parse_wanted, qualified
from .outputs import Output, OutputType, printed
from .selection import Selection, selection_flags, wanted_argument
from .tables import text_table
from .terminal import Patience, patience, print_content, print_line, print_table

__all__ = ["get"]


@click.command()
@wanted_argument("KIND [NAME]…")
@selection_flags
@click.option(
    "-o", "--output", type=OutputType(), default="table",
    help="table, wide, yaml, json, name or jsonpath=TEMPLATE.",
)  # fmt: skip
@click.option("--show-managed-fields", is_flag=True, help="Who owns which field, in yaml and json.")
@cluster_flags
@pass_flags
def get(
    flags: Flags,
    /,
    *,
    wanted: tuple[str, ...],
    output: Output,
    show_managed_fields: bool,
    **selectors: Any,
) -> None:
    """What there is, in the columns of kubectl.

    KIND is what kubectl takes: po, pods, deploy.apps, deployments.v1.apps, several with
    commas, or a category such as all.

    \b
    Examples:
      kubeloop get pods
      kubeloop get deploy,po -n shop -l app=web
      kubeloop get pod/web-1 -o yaml
      kubeloop get all -A -o wide
      kubeloop get nodes -o jsonpath='{.items[*].metadata.name}'
    """
    chosen = Selection(**selectors)
    asked = parse_wanted(wanted)
    if chosen.is_narrow and any(each.names for each in asked):
        raise click.UsageError("a selector chooses objects, and so does a name: give one of them")
    if output.is_table:
        run(_print_tables(flags, asked, chosen, output))
    else:
        run(_print_objects(flags, asked, chosen, output, managed=show_managed_fields))


# --- tables


async def _print_tables(
    flags: Flags, asked: list[Wanted], chosen: Selection, output: Output
) -> None:
    async with connected(flags) as client, patience("asking the server") as progress:
        found = [
            (info, await _table(client, info, each, chosen, progress))
            for each in asked
            for info in await find_kinds(client, each.kinds)
        ]
        namespace = client.namespace
    filled = [(info, table) for info, table in found if table.rows]
    for index, (info, table) in enumerate(filled):
        if index:
            click.echo()
        text = text_table(
            table,
            wide=output.form == "wide",
            namespaces=chosen.everywhere and (info.namespaced or len(found) > 1),
            prefix=qualified(info, "") if len(found) > 1 else "",
        )
        print_table(text)
    if not filled:
        print_line(_nothing(found, chosen, namespace), err=True)


async def _table(
    client: Client, info: ResourceInfo, each: Wanted, chosen: Selection, progress: Patience
) -> Table:
    collection = collection_of(client, info, namespace=chosen.namespace)
    if not each.names:
        return await _whole_table(collection, chosen, progress)
    tables = [await collection.table(name) for name in each.names]
    return Table(tables[0].columns, tuple(row for table in tables for row in table.rows))


async def _whole_table(
    collection: ResourceClient[dict[str, Any]], chosen: Selection, progress: Patience
) -> Table:
    """Every row, page by page."""
    page = await _page(collection, chosen, "")
    rows = list(page.rows)
    checked = PageProgress("list in pages")
    while page.next_page:
        checked.check(page.next_page, _first_key(page))
        progress.advance(len(page.rows), left=page.remaining)
        page = await _page(collection, chosen, page.next_page)
        rows += page.rows
    return msgspec.structs.replace(page, rows=tuple(rows))


def _first_key(page: Table) -> str | None:
    """What tells a page from others; None for one without rows."""
    if not page.rows:
        return None
    metadata = (page.rows[0].object or {}).get("metadata") or page.rows[0].cells[:1]
    if isinstance(metadata, dict):
        return f"{metadata.get('namespace')}/{metadata.get('name')}"
    return str(metadata)


async def _page(collection: ResourceClient[dict[str, Any]], chosen: Selection, token: str) -> Table:
    return await collection.table(
        selector=chosen.labels, field_selector=chosen.fields, limit=PAGE_SIZE, next_page=token
    )


def _nothing(found: list[tuple[ResourceInfo, Table]], chosen: Selection, namespace: str) -> str:
    if chosen.everywhere or not any(info.namespaced for info, _ in found):
        return "No resources found"
    return f"No resources found in {namespace} namespace"


# --- objects


async def _print_objects(
    flags: Flags, asked: list[Wanted], chosen: Selection, output: Output, *, managed: bool
) -> None:
    async with connected(flags) as client, patience("asking the server") as progress:
        found = [
            (info, obj)
            for each in asked
            for info in await find_kinds(client, each.kinds)
            for obj in await _objects(client, info, each, chosen, progress)
        ]
    if not managed:
        for _, obj in found:
            obj["metadata"].pop("managedFields", None)
    single = len(asked) == 1 and len(asked[0].names) == 1 and len(found) == 1
    text = printed(output, found, single=single)
    if not text:
        return
    if output.form == "jsonpath":
        print_content(text)
    else:
        click.echo(text)


async def _objects(
    client: Client, info: ResourceInfo, each: Wanted, chosen: Selection, progress: Patience
) -> list[dict[str, Any]]:
    collection = collection_of(client, info, namespace=chosen.namespace)
    if each.names:
        return [await collection.get(name) for name in each.names]
    found = []
    async for obj in collection.each(selector=chosen.labels, field_selector=chosen.fields):
        progress.advance()
        found.append(obj)
    return found
