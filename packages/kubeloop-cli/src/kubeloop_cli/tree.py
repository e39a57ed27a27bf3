"""`kubeloop tree`: the objects that an object owns, or its owners."""

from __future__ import annotations

import click

from kubeloop.clients import ObjectTree
from kubeloop.kit import run
from kubeloop.rest import RESTClient, ignore_warnings
from kubeloop.runtime import Client

from .flags import Flags, cluster_flags, pass_flags
from .kinds import find_kinds, parse_targets, resource_client_of
from .selection import targets_argument
from .terminal import print_line, show_progress

__all__ = ["tree"]


@click.command()
@targets_argument("KIND NAME")
@click.option("--owners", is_flag=True, help="Print its owners instead, up to the last one.")
@cluster_flags
@pass_flags
def tree(flags: Flags, *, words: tuple[str, ...], owners: bool) -> None:
    """Print what an object owns, and what that owns, as a tree.

    Lists the metadata of all kinds in the namespace, custom kinds included.

    \b
    Examples:
      kubeloop tree deploy/web
      kubeloop tree pod web-1 --owners
    """
    targets = parse_targets(words)
    if len(targets) > 1 or len(targets[0].names) != 1:
        raise click.UsageError("tree takes one object: KIND NAME or KIND/NAME")
    kind, name = targets[0].kinds, targets[0].names[0]
    found = run(_tree(flags, kind, name, owners=owners))
    for line in str(found).splitlines():
        print_line(line)
    if found.unread:
        print_line(
            f"warning: could not list {', '.join(found.unread)}: objects may be missing", err=True
        )


async def _tree(flags: Flags, kind: str, name: str, *, owners: bool) -> ObjectTree:
    # Warnings would be about the kinds that are listed, which the user did not ask for.
    rest = RESTClient(flags.config(), warnings=ignore_warnings)
    async with rest, show_progress("loading"):
        client = Client(rest=rest)
        infos = await find_kinds(client, kind)
        if len(infos) > 1:
            raise click.UsageError("tree takes one object: KIND NAME or KIND/NAME")
        obj = await resource_client_of(client, infos[0]).get(name)
        return await (client.owners(obj) if owners else client.children(obj))
