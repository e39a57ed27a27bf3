"""`kubeloop api-resources` and `kubeloop api-versions`: what the server serves."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from kubeloop.discovery import preferred_resources
from kubeloop.kit import run
from kubeloop.meta import GroupVersion
from kubeloop.wire import visible

from .failures import ExitCode, report
from .flags import Flags, cluster_flags, connect, pass_flags
from .outputs import Output, OutputType
from .tables import TextTable
from .terminal import print_line, print_table

__all__ = ["api_resources", "api_versions"]


class _Resource(msgspec.Struct, frozen=True):
    """A resource in its preferred version."""

    group_version: GroupVersion
    name: str
    short_names: tuple[str, ...]
    namespaced: bool
    kind: str
    verbs: tuple[str, ...]
    categories: tuple[str, ...]

    @property
    def full_name(self) -> str:
        group = self.group_version.group
        return f"{self.name}.{group}" if group else self.name


def _words(ctx: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> set[str]:  # noqa: ARG001 - click's signature
    """`--verbs list,get --verbs watch` as one set."""
    return {word for value in values for word in value.split(",") if word}


@click.command("api-resources")
@click.option(
    "--namespaced", type=bool, is_flag=False, flag_value="true", default=None,
    help="Only namespaced resources, or with =false only the others.",
)  # fmt: skip
@click.option("--api-group", help="Only resources of this group; empty is the core group.")
@click.option(
    "--verbs", metavar="VERB,…", multiple=True, callback=_words, help="Only with all these verbs."
)
@click.option(
    "--categories", metavar="NAME,…", multiple=True, callback=_words,
    help="Only in all these categories.",
)  # fmt: skip
@click.option(
    "--sort-by", type=click.Choice(["name", "kind"]), help="The order; default: group and name."
)
@click.option("--no-headers", is_flag=True, help="Print no headers.")
@click.option(
    "-o", "--output", type=OutputType("table", "wide", "name"), default="table",
    help="The output format: table, wide or name.",
)  # fmt: skip
@cluster_flags
@pass_flags
def api_resources(
    flags: Flags, /, *, output: Output, sort_by: str | None, no_headers: bool, **filters: Any
) -> None:
    """List the resource types of the server, with their short names.

    \b
    Examples:
      kubeloop api-resources
      kubeloop api-resources --api-group apps -o wide
      kubeloop api-resources --namespaced=false
      kubeloop api-resources --verbs list,watch -o name
    """
    found, failures = run(_discover(flags))
    chosen = [each for each in found if _matches(each, **filters)]
    chosen.sort(key=lambda each: (each.group_version.group, each.name))
    if sort_by:
        chosen.sort(key=lambda each: str(getattr(each, sort_by)))
    if output.format == "name":
        for each in chosen:
            print_line(each.full_name)
    elif chosen:
        print_table(_table(chosen, wide=output.format == "wide"), header=not no_headers)
    codes = [report(each, verbose=bool(flags.verbose)) for each in failures]
    click.get_current_context().exit(max(codes, default=ExitCode.OK))


async def _discover(flags: Flags) -> tuple[list[_Resource], list[Exception]]:
    """The resources, and the errors of group versions that could not be read."""
    async with connect(flags) as client:
        result = await client.discovery.discover()
    found = [
        _Resource(
            version,
            row.name,
            row.short_names,
            row.namespaced,
            row.kind,
            row.verbs,
            row.categories,
        )
        for version, rows in preferred_resources(result).items()
        for row in rows
        if row.verbs
    ]
    return found, list(result.failures.values())


def _matches(
    resource: _Resource,
    *,
    namespaced: bool | None,
    api_group: str | None,
    verbs: set[str],
    categories: set[str],
) -> bool:
    return (
        namespaced in (None, resource.namespaced)
        and api_group in (None, resource.group_version.group)
        and verbs <= set(resource.verbs)
        and categories <= set(resource.categories)
    )


def _table(found: list[_Resource], *, wide: bool) -> TextTable:
    header = ("NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND")
    rows = [
        (
            each.name,
            ",".join(each.short_names),
            str(each.group_version),
            "true" if each.namespaced else "false",
            each.kind,
            *((",".join(each.verbs), ",".join(each.categories)) if wide else ()),
        )
        for each in found
    ]
    return TextTable(
        (*header, "VERBS", "CATEGORIES") if wide else header,
        tuple(tuple(map(visible, row)) for row in rows),
    )


@click.command("api-versions")
@cluster_flags
@pass_flags
def api_versions(flags: Flags) -> None:
    """List the API versions of the server, as GROUP/VERSION.

    \b
    Examples:
      kubeloop api-versions
    """
    for line in run(_versions(flags)):
        print_line(line)


async def _versions(flags: Flags) -> list[str]:
    async with connect(flags) as client:
        groups = await client.discovery.groups()
    return sorted(str(version) for group in groups for version in group.group_versions)
