"""`kubeloop cache`: what a cache of some kinds would cost in this cluster.

Promises: it is measured and not estimated: each kind is mirrored once, as a program would,
and let go before the next.
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

from .flags import Flags, cluster_flags, connected, pass_flags
from .kinds import collection_of, find_kinds
from .outputs import Output, OutputType
from .selection import Selection, selection_flags, wanted_argument
from .tables import TextTable
from .terminal import patience, print_table

__all__ = ["cache"]


class Cost(msgspec.Struct, frozen=True):
    """What one kind costs."""

    resource: str
    objects: int
    bytes: int | None  # None: a cache that keeps objects does not know
    seconds: float


@click.group()
def cache() -> None:
    """What a cache of some kinds would cost in this cluster."""


@cache.command(short_help="Objects, bytes and seconds of a cache.")
@wanted_argument("KIND…")
@selection_flags
@click.option(
    "--store-as", type=click.Choice(["bytes", "compressed", "objects"]), default="bytes",
    show_default=True, help="How a cache holds objects.",
)  # fmt: skip
@click.option(
    "-o", "--output", type=OutputType("table", "json"), default="table", help="table or json."
)
@cluster_flags
@pass_flags
def report(
    flags: Flags,
    /,
    *,
    wanted: tuple[str, ...],
    store_as: StorageFormat,
    output: Output,
    everywhere: bool,
    **selectors: str,
) -> None:
    """Objects, bytes and seconds of a cache, measured by filling one for each kind.

    All namespaces, unless -n names one. Seconds are those until the first list is there.

    \b
    Examples:
      kubeloop cache report pods
      kubeloop cache report po,deploy,cm -n shop
      kubeloop cache report secrets --field-selector type=Opaque -o json
    """
    chosen = Selection(everywhere=everywhere or not flags.namespace, **selectors)
    costs = run(_measured(flags, ",".join(wanted), chosen, store_as))
    if output.form == "json":
        click.echo(json.dumps(msgspec.to_builtins(costs), indent=4))
    else:
        print_table(_table(costs))


async def _measured(
    flags: Flags, kinds: str, chosen: Selection, store_as: StorageFormat
) -> list[Cost]:
    costs: list[Cost] = []
    async with connected(flags) as client:
        infos = await find_kinds(client, kinds)
        async with patience("filling caches", total=len(infos)) as progress:
            for info in infos:
                line, seconds = await _filled(client, info, chosen, store_as)
                size = None if store_as == "objects" else line.bytes
                costs.append(Cost(line.resource, line.objects, size, round(seconds, 3)))
                progress.advance()
    return costs


async def _filled(
    client: Client, info: ResourceInfo, chosen: Selection, store_as: StorageFormat
) -> tuple[CacheRow, float]:
    """What the report says of one full cache, and how long it took to fill it."""
    # An informer tries without end; who is refused the list is to be told so.
    collection = collection_of(client, info, namespace=chosen.namespace)
    await collection.list(selector=chosen.labels, field_selector=chosen.fields, limit=1)
    informer = client.informer(
        GroupVersionKind(info.group, info.version, info.kind),
        namespace=chosen.namespace,
        selector=chosen.labels,
        field_selector=chosen.fields,
        store_as=store_as,
    )
    clock = client.rest.clock
    began = clock.now()
    async with informer:
        seconds = clock.now() - began
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
