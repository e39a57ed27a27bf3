"""`kubeloop cache`: the memory and time that informers need in this cluster.

Guarantees: values are measured, not estimated: an informer for each resource fills its cache
once, and is closed before the next one starts.
"""

from __future__ import annotations

import json

import click
import msgspec

from kubeloop.cache import CacheRow, StorageFormat, cache_report
from kubeloop.kit import run
from kubeloop.meta import GroupVersionKind
from kubeloop.runtime import Client
from kubeloop.wire import ResourceInfo, visible

from .flags import Flags, cluster_flags, connect, pass_flags
from .kinds import find_kinds, resource_client_of
from .outputs import Output, OutputType
from .selection import Selection, selection_flags, targets_argument
from .tables import TextTable
from .terminal import print_table, show_progress

__all__ = ["cache"]


class Cost(msgspec.Struct, frozen=True):
    """The size of the cache of one resource, and the time to fill it."""

    resource: str
    objects: int
    bytes: int | None  # None: unknown, for a cache that stores objects
    seconds: float


@click.group()
def cache() -> None:
    """Measure the memory and time that a cache needs in this cluster."""


@cache.command(short_help="Fill a cache and report objects, bytes and seconds.")
@targets_argument("KIND…")
@selection_flags
@click.option(
    "--store-as", type=click.Choice(["bytes", "compressed", "objects"]), default="bytes",
    show_default=True, help="The storage format of the cache.",
)  # fmt: skip
@click.option(
    "-o",
    "--output",
    type=OutputType("table", "json"),
    default="table",
    help="The output format: table or json.",
)
@cluster_flags
@pass_flags
def report(
    flags: Flags,
    /,
    *,
    words: tuple[str, ...],
    store_as: StorageFormat,
    output: Output,
    all_namespaces: bool,
    **selectors: str,
) -> None:
    """Fill a cache for each resource type, and report objects, bytes and seconds.

    Covers all namespaces, unless -n selects one. Seconds is the time until the cache has synced.

    \b
    Examples:
      kubeloop cache report pods
      kubeloop cache report po,deploy,cm -n shop
      kubeloop cache report secrets --field-selector type=Opaque -o json
    """
    selection = Selection(all_namespaces=all_namespaces or not flags.namespace, **selectors)
    costs = run(_measure(flags, ",".join(words), selection, store_as))
    if output.format == "json":
        click.echo(json.dumps(msgspec.to_builtins(costs), indent=4))
    else:
        print_table(_table(costs))


async def _measure(
    flags: Flags, kinds: str, selection: Selection, store_as: StorageFormat
) -> list[Cost]:
    costs: list[Cost] = []
    async with connect(flags) as client:
        infos = await find_kinds(client, kinds)
        async with show_progress("filling caches", total=len(infos)) as progress:
            for info in infos:
                line, seconds = await _fill(client, info, selection, store_as)
                size = None if store_as == "objects" else line.bytes
                costs.append(Cost(line.resource, line.objects, size, round(seconds, 3)))
                progress.advance()
    return costs


async def _fill(
    client: Client, info: ResourceInfo, selection: Selection, store_as: StorageFormat
) -> tuple[CacheRow, float]:
    """The report of one filled cache, and the seconds that it took."""
    # An informer retries forever; a list that is forbidden must be an error here.
    resource = resource_client_of(client, info, namespace=selection.namespace)
    await resource.list(
        selector=selection.selector, field_selector=selection.field_selector, limit=1
    )
    informer = client.informer(
        GroupVersionKind(info.group, info.version, info.kind),
        namespace=selection.namespace,
        selector=selection.selector,
        field_selector=selection.field_selector,
        store_as=store_as,
    )
    clock = client.rest.clock
    started = clock.now()
    async with informer:
        seconds = clock.now() - started
        return cache_report([informer]).rows[0], seconds


def _table(costs: list[Cost]) -> TextTable:
    sizes = [cost.bytes for cost in costs if cost.bytes is not None]
    total = Cost(
        "total",
        sum(cost.objects for cost in costs),
        sum(sizes) if sizes else None,
        sum(cost.seconds for cost in costs),
    )
    listed = costs if len(costs) == 1 else [*costs, total]
    return TextTable(
        ("RESOURCE", "OBJECTS", "BYTES", "SECONDS"),
        tuple(
            (visible(cost.resource), str(cost.objects), _size(cost), f"{cost.seconds:.3f}")
            for cost in listed
        ),
    )


def _size(cost: Cost) -> str:
    return "-" if cost.bytes is None else str(cost.bytes)
